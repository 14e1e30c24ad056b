"""Meshes that are to be kept as surfaces and are none, or are some only to be slow; and what cannot be asked of surfaces."""
import math

from solids import BAD, CORNERS, FACES, LATER, MISSING, beside, mesh


def fan(count):
    """Triangles about one axis, of which each two cross in it."""
    around = [[math.cos(k), math.sin(k), 0] for k in range(count)]
    return mesh([p for x, y, _ in around for p in ([x, y, 0], [-x, -y, -1], [-x, -y, 1])], [[3 * k, 3 * k + 1, 3 * k + 2] for k in range(count)])


def surfaces(wire, report):
    """Triangles that are no surface, surfaces without an area, and very many triangles that all meet."""
    keep = lambda given, **more: wire.call('RegisterPolytopes', {'polytopes': [{'mesh': given, 'treatment': 'MESH_TREATMENT_SURFACE', **more}]}, timeout=40)
    for wrong in ('NaN', 'Infinity', '-Infinity', 1e300): report.refused(f'a corner at {wrong}', keep(mesh([[wrong, 0, 0]] + CORNERS[1:], FACES)), BAD, field='polytopes[0].mesh.vertices.xyz[0]')
    for triangles in ([], [0, 1], [0, 1, 4], [0, 1, 2**32 - 1]): report.refused(f'triangles {triangles}', keep({**mesh(CORNERS, []), 'triangles': triangles}), BAD)
    report.refused('points', wire.call('RegisterPolytopes', {'polytopes': [{'vertices': {'xyz': [0, 0, 0]}, 'treatment': 'MESH_TREATMENT_SURFACE'}]}), BAD, field='polytopes[0].treatment')
    count = 100_000
    made = {'point': mesh([[1, 1, 1]] * 3, [[0, 1, 2]] * count), 'needle': mesh([[0, 0, 0], [1e-300, 0, 0], [1, 0, 0]], FACES[:1]), 'fan': fan(3000),
            'sheet': mesh([[k % 101, k // 101, 0] for k in range(101 * 101)], [t for k in range(100 * 101) if k % 101 < 100 for t in ([k, k + 1, k + 102], [k, k + 102, k + 101])]),
            'tiny': mesh([[5e-324 * c for c in corner] for corner in CORNERS], FACES), 'huge': mesh([[2.0**960 * c for c in corner] for corner in CORNERS], FACES)}
    for name, given in made.items():
        reply = keep(given, alias=f'attack/s-{name}', moveAlias=True)
        report.holds(reply.code == 'OK' and reply.message.reports[0].polytope.id.startswith('s1-'), f'{name}: {reply}')
    reply = wire.call('GetPolytope', {'alias': 'attack/s-point'})
    report.holds(reply.code == 'OK' and (reply.message.polytope.face_count, reply.message.polytope.dimension) == (1, 0), f'a point {count} times: {reply}')
    wire.call('RegisterPolytopes', {'polytopes': [{'mesh': mesh(CORNERS, FACES), 'treatment': 'MESH_TREATMENT_POLYHEDRON', 'alias': 'attack/s-solid', 'moveAlias': True}]})
    others = [{'alias': f'attack/s-{name}'} for name in (*made, 'solid')] + [{'rounded': {'radius': r}} for r in (5e-324, 1.0, 2.0**960)]
    for one in made: beside(wire, report, f'attack/s-{one}', others)
    p, q = {'alias': 'attack/s-fan'}, {'alias': 'attack/s-solid', 'pose': {'translation': {'x': 9}}}
    report.refused('along', wire.call('MeasureDistanceAlong', {'p': p, 'q': q, 'direction': {'x': 1}}), LATER, field='p')
    reply = wire.call('MeasurePenetration', {'p': p, 'q': q})
    report.holds(reply.code == 'OK' and 0 <= reply.message.depth.lower <= reply.message.depth.upper, f'a depth: {reply}')
    opened = wire.call('OpenSession', {'state': {'bodies': [{'id': 1, 'parts': [p]}, {'id': 2, 'parts': [q]}]}})
    report.holds(opened.code == 'OK', f'in a session: {opened}')
    wire.call('CloseSession', {'sessionId': opened.message.session_id, 'sessionKey': opened.message.session_key})
    reply = wire.call('FindFirstCollision', {'bodies': [{'body': p}, {'body': q}, {'body': {'rounded': {'radius': 2.0**960}}, 'motion': {'linear': {'velocity': {'x': -2.0**960}}}}]})
    report.holds(reply.code == 'OK' and (reply.message.uncertified or reply.message.stopped), f'among several: {reply}')
    report.refused('unknown', wire.call('CheckCollision', {'p': {'id': 's1-' + '0' * 64}, 'q': q}), MISSING, field='p.id')
    # Weights of a point that are none, and a proof of what is inside a surface.
    for weights in ([0, 0, 0], [-1, 1, 1], [1e308, 5e-324, 1], ['NaN', 1, 1], [1, 1]):
        forged = {'verdict': 'VERDICT_OVERLAPPING', 'certificate': {'solid': {'innerPiece': {'triangle': [0, 1, 2], 'weights': weights}}}}
        reply = wire.call('VerifyCertificate', {'collision': {'question': {'p': p, 'q': q}, 'answer': forged}})
        report.holds(reply.code == BAD or reply.code == 'OK' and not reply.message.valid, f'weights {weights}: {reply}')
    for name in made: wire.call('DeletePolytope', {'alias': f'attack/s-{name}'})
