"""Meshes that are to be kept as solids and bound nothing, or bound something only to be slow; and what cannot be asked of solids."""
import base64, struct, time

BAD, MISSING, LATER = 'INVALID_ARGUMENT', 'NOT_FOUND', 'UNIMPLEMENTED'

CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
FACES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]


def beside(wire, report, alias, others):
    """What may be asked of a body beside each of some others is answered soon, and the server lives on."""
    for other in others:
        for method in ('CheckCollision', 'MeasureDistance', 'FindFirstContact'):
            two = {'p': {'alias': alias}, 'q': {**other, 'pose': {'translation': {'z': 0 if method == 'CheckCollision' else 1e-9}}}}
            if method == 'FindFirstContact': two['qMotion'] = {'screw': {'axis': {'z': 1}, 'angle': 1, 'velocity': {'z': -1}}}
            started = time.monotonic()
            reply = wire.call(method, two, timeout=3)
            took = time.monotonic() - started
            report.holds(reply.code in ('OK', 'DEADLINE_EXCEEDED') and took < 6 * wire.slow, f'{method} of {alias} and {other}: {took:.1f} s, {reply.code}')
    report.holds(wire.call('GetServerInfo', {}).code == 'OK', f'alive after {alias}')


def mesh(corners, faces): return {'vertices': {'xyz': [c for corner in corners for c in corner]}, 'triangles': [i for face in faces for i in face]}


def many(places, corners=CORNERS):
    """A tetrahedron at every place, as one mesh."""
    return mesh([[c + d for c, d in zip(corner, place)] for place in places for corner in corners],
                [[4 * k + i for i in face] for k in range(len(places)) for face in FACES])


def solids(wire, report):
    """Meshes that bound nothing, meshes of many slivers and shells, and every question about a solid."""
    keep = lambda given, **more: wire.call('RegisterPolytopes', {'polytopes': [{'mesh': given, 'treatment': 'MESH_TREATMENT_POLYHEDRON', **more}]}, timeout=40)
    flipped = [face[::-1] for face in FACES]
    inner = [[0.25 + c / 8 for c in corner] for corner in CORNERS] # near the slanted face, but inside
    none = [('open', mesh(CORNERS, FACES[:3])), ('few', mesh(CORNERS, FACES[:1])), ('inside out', mesh(CORNERS, flipped)), ('one face twice', mesh(CORNERS, FACES + FACES[:1])),
            ('a face turned', mesh(CORNERS, FACES[:3] + [FACES[3][::-1]])), ('one corner thrice', mesh(CORNERS, FACES[:3] + [[2, 2, 2]])),
            ('flat', mesh([[x, y, 0] for x, y, _ in CORNERS[:3]] + [[.3, .3, 0]], FACES)), ('one point', mesh([[1, 1, 1]] * 4, FACES)),
            ('there and back', mesh(CORNERS[:3], [[0, 1, 2], [0, 2, 1]] * 2)), ('crossing itself', many([[0, 0, 0], [.1, .1, .1]])),
            ('touching itself', many([[0, 0, 0], [.2, .2, -1]])), ('a solid in a solid', mesh(CORNERS + inner, FACES + [[i + 4 for i in face] for face in FACES])),
            ('a hollow outside', mesh(CORNERS + [[c + 9 for c in corner] for corner in CORNERS], FACES + [[i + 4 for i in face] for face in flipped]))]
    for what, given in none: report.refused(what, keep(given), BAD, 'NOT_A_POLYHEDRON', 'polytopes[0]')
    for wrong in ('NaN', 'Infinity', '-Infinity', 1e300): report.refused(f'a corner at {wrong}', keep(mesh([[wrong, 0, 0]] + CORNERS[1:], FACES)), BAD, field='polytopes[0].mesh.vertices.xyz[0]')
    for triangles in ([], [0, 1], [0, 1, 4], [0, 1, 2**32 - 1]): report.refused(f'triangles {triangles}', keep({**mesh(CORNERS, []), 'triangles': triangles}), BAD)
    report.refused('points', wire.call('RegisterPolytopes', {'polytopes': [{'vertices': {'xyz': [0, 0, 0]}, 'treatment': 'MESH_TREATMENT_POLYHEDRON'}]}), BAD, field='polytopes[0].treatment')
    report.refused('a file that is open', wire.call('RegisterPolytopes', {'polytopes': [{'file': {'content': base64.b64encode(bytes(80) + struct.pack('<I', 1) + struct.pack('<12fH', *[0] * 3, *[0, 0, 0, 1, 0, 0, 0, 1, 0], 0)).decode()},
                                                    'treatment': 'MESH_TREATMENT_POLYHEDRON'}]}), BAD, 'NOT_A_POLYHEDRON')
    hollow = mesh(CORNERS + inner, FACES + [[i + 4 for i in face] for face in flipped])
    for what, given, shells in (('a hollow', hollow, 2), ('shells that share a corner', many([[0, 0, 0], [1, 0, 0]]), 2), ('of the least numbers', mesh([[5e-324 * c for c in corner] for corner in CORNERS], FACES), 1),
                                ('of the greatest', mesh([[2.0**960 * c for c in corner] for corner in CORNERS], FACES), 1), ('one', mesh(CORNERS, FACES), 1)):
        reply = keep(given, alias=f'attack/{what.replace(" ", "-")}', moveAlias=True)
        report.holds(reply.code == 'OK' and reply.message.reports[0].polytope.shell_count == shells, f'{what}: {reply}')

    # Slivers side by side whose boxes all meet: refused or kept in a bounded time. Shells in a plane, on their like.
    comb = many([[0, 2e-5 * k, 0] for k in range(6000)], [[0, 0, 0], [1e-6, 0, 0], [1e-6, 1e-6, 0], [1, 1, 1]])
    reply = keep(comb, alias='attack/comb', moveAlias=True)
    report.holds(reply.code == 'OK' or reply.code == BAD and reply.reason == 'LIMIT_EXCEEDED', f'a comb of slivers: {reply}')
    carpet = [[2 * (k % 64), 2 * (k // 64), 0] for k in range(4096)]
    for alias, corners in (('attack/above', CORNERS), ('attack/below', [[0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, -1]])):
        reply = keep(many(carpet, corners), alias=alias, moveAlias=True)
        report.holds(reply.code == 'OK', f'{alias}: {reply}')
    reply = wire.call('CheckCollision', {'p': {'alias': 'attack/above'}, 'q': {'alias': 'attack/below'}})
    report.holds(reply.code == 'OK' and reply.message.verdict == 2 and reply.message.uncertified, f'carpets: {reply}')

    solid, other = {'alias': 'attack/a-hollow'}, {'alias': 'attack/one', 'pose': {'translation': {'x': 9}}}
    ask = lambda method, field, code=LATER, **more: report.refused(f'{method} {more}', wire.call(method, {'p': solid, 'q': other, **more}), code, field=field)
    ask('MeasureDistanceAlong', 'p', direction={'x': 1})
    reply = wire.call('MeasurePenetration', {'p': solid, 'q': other})
    report.holds(reply.code == 'OK' and 0 <= reply.message.depth.lower <= reply.message.depth.upper, f'a depth: {reply}')
    ask('CheckCollision', 'margin', BAD, margin='NaN'); ask('MeasureDistance', 'margin', BAD, margin=-1e300)
    for key in ('margin', 'pDeviation', 'qDeviation'):
        for slack in (1e-300, 2.0**960): report.holds(wire.call('FindFirstContact', {'p': solid, 'q': other, key: slack}).code == 'OK', f'{key} {slack}')
    for angle in (1e-300, 1e300): report.holds(wire.call('FindFirstContact', {'p': solid, 'q': other, 'qMotion': {'screw': {'angle': angle, 'axis': {'x': 1}}}}).code in ('OK', BAD), f'angle {angle}')
    for alias in ('attack/of-the-least-numbers', 'attack/of-the-greatest'):
        for q in (other, {'alias': alias, 'pose': {'translation': {'x': 2.0**959}}}, {'rounded': {'radius': 2.0**960}}, {'rounded': {'radius': 5e-324}, 'pose': {'translation': {'y': -5e-324}}}):
            reply = wire.call('MeasureDistance', {'p': {'alias': alias}, 'q': q, 'margin': 2.0**960})
            report.holds(reply.code == 'OK' and reply.message.verdict > 0 and reply.message.distance.lower <= reply.message.distance.upper, f'{alias} beside {q}: {reply}')
    # All faces of one are as near those of the other; slivers beside slivers; within a second's deadline or done.
    for p, q, z in (('attack/above', 'attack/below', -1e-3), ('attack/above', 'attack/above', 3), ('attack/comb', 'attack/comb', 1.0001), ('attack/comb', 'attack/above', 2)):
        two = {'p': {'alias': p}, 'q': {'alias': q, 'pose': {'translation': {'z': z}}}}
        turning = {'screw': {'axis': {'z': 1}, 'angle': 1, 'velocity': {'z': -z}}}
        for method, more in (('MeasureDistance', {}), ('CheckCollision', {'margin': abs(z) / 2}), ('FindFirstContact', {'qMotion': turning})):
            started = time.monotonic()
            reply = wire.call(method, {**two, **more}, timeout=5)
            took = time.monotonic() - started
            report.holds(reply.code in ('OK', MISSING, 'DEADLINE_EXCEEDED') and took < 8 * wire.slow, f'{method} of {p} and {q}: {took:.1f} s, {reply.code}')
            report.holds(wire.call('GetServerInfo', {}).code == 'OK', f'alive after {method} of {p} and {q}')
    ask('CheckCollision', 'options.method', BAD, options={'method': 'gjk'})
    for velocity in (0, 5e-324, -8, 2.0**960): report.holds(wire.call('FindFirstContact', {'p': solid, 'q': other, 'qMotion': {'linear': {'velocity': {'x': velocity}}}}).code == 'OK', f'velocity {velocity}')
    report.refused('ranges in a session', wire.call('OpenSession', {'state': {'bodies': [{'id': 1, 'parts': [solid]}]}, 'report': {'along': {'x': 1}}}), LATER, field='report.along')
    flat = {'vertices': {'xyz': [0, 0, 0, 1, 0, 0, 0, 1, 0]}}
    report.refused('a flat part beside it', wire.call('OpenSession', {'state': {'bodies': [{'id': 1, 'parts': [solid]}, {'id': 2, 'parts': [flat]}]}}), LATER, field='state.bodies[1].parts[0]')
    report.refused('unknown', wire.call('CheckCollision', {'p': {'id': 'm1-' + '0' * 64}, 'q': other}), MISSING, field='p.id')
    row = [{'body': {'alias': 'attack/one', 'pose': {'translation': {'x': 3 * k}}}, 'motion': {'linear': {'velocity': {'x': -k}}}} for k in range(300)]
    reply = wire.call('FindFirstCollision', {'bodies': row})
    report.holds(reply.code == 'OK' and reply.message.outcome == 2, f'a row of 300 that closes up and never meets: {reply}')
    report.refused('100,000 bodies', wire.call('FindFirstCollision', b'\x0a\x00' * 100_000), BAD, 'LIMIT_EXCEEDED', 'bodies')
    crowd = [{'body': {'alias': alias}} for alias in ('attack/above', 'attack/below') * 30]
    reply = wire.call('FindFirstCollision', {'bodies': crowd})
    report.holds(reply.code == 'OK' and reply.message.t_contact == 0 and (reply.message.p, reply.message.q) == (0, 1), f'carpets on each other: {reply}')
    report.refused('carpets without end', wire.call('FindFirstCollision', {'bodies': crowd * 10}), BAD, 'LIMIT_EXCEEDED', 'bodies')
    # A proof of the hull, which fills the hollow, is none of the solid.
    inside = {'p': solid, 'q': {'vertices': {'xyz': [c for corner in inner for c in corner]}}}
    forged = {'verdict': 'VERDICT_OVERLAPPING', 'certificate': {'overlapping': {'pairs': [{'i': i, 'j': i} for i in range(4)]}}}
    reply = wire.call('VerifyCertificate', {'collision': {'question': inside, 'answer': forged}})
    report.holds(reply.code == 'OK' and not reply.message.valid, f'forged: {reply}')
    for alias in ('attack/above', 'attack/below'): wire.call('DeletePolytope', {'alias': alias})
