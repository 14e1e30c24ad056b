"""Clouds and round bodies in cells that are none, or are some only to be slow or large; and changes that cannot be made."""
import array, time

BAD, FULL, LATER = 'INVALID_ARGUMENT', 'RESOURCE_EXHAUSTED', 'DEADLINE_EXCEEDED'

SLIDER = '''<robot name="cloud-slider"><link name="rail"/><link name="cart"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/><limit lower="-9" upper="9" velocity="2"/></joint></robot>'''

MODES = ('CHECK_MODE_FIRST_PAIR', 'CHECK_MODE_ALL_PAIRS', 'CHECK_MODE_CLEARANCE', 'CHECK_MODE_LINK_CLEARANCE')


def clouds(wire, report):
    """Numbers that are none, changes out of range, very many points that are one, very large radii, and points without end."""
    robot = wire.call('RegisterRobot', {'urdf': SLIDER}).message.robot.id
    cell = lambda *given: {'robots': [{'robotId': robot}], 'obstacles': [{'cloud': one} for one in given]}
    check = lambda *given, **more: {'cell': cell(*given), 'values': [0.0, 1.0], **more}
    good = {'xyz': [3, 0, 0], 'radius': 0.25}
    for wrong in ('NaN', 'Infinity', '-Infinity', 1e300, -1.7e308):
        report.refused(f'a point at {wrong}', wire.call('CheckConfigurations', check(good, {'xyz': [0, wrong, 0]})), BAD, field='cell.obstacles[1].cloud.xyz[1]')
        report.refused(f'a radius of {wrong}', wire.call('CheckConfigurations', check({**good, 'radius': wrong})), BAD, field='cell.obstacles[0].cloud.radius')
    report.refused('single NaN', wire.call('CheckConfigurations', check({'xyzSingle': [0, 0, 'NaN']})), BAD, field='cell.obstacles[0].cloud.xyz_single[2]')
    report.refused('a negative radius', wire.call('CheckConfigurations', check({**good, 'radius': -5e-324})), BAD, field='cell.obstacles[0].cloud.radius')
    for numbers in ([], [1], [1, 2, 3, 4]): report.refused(f'{len(numbers)} numbers', wire.call('CheckConfigurations', check({'xyz': numbers})), BAD)
    report.refused('both lists', wire.call('CheckConfigurations', check({'xyz': [1, 2, 3], 'xyzSingle': [1, 2, 3]})), BAD, field='cell.obstacles[0].cloud.xyz_single')

    changed = lambda *changes: wire.call('StreamConfigurations', [{'check': check(good)}, {'check': {'values': [0.0]}, 'cloudChanges': list(changes)}], timeout=40)
    last = 2**32 - 1
    for change, field in (({'obstacle': 1}, 'obstacle'), ({'obstacle': last}, 'obstacle'), ({'first': 2}, 'first'), ({'first': last, 'removed': last}, 'first'),
                          ({'removed': 2}, 'removed'), ({'first': 1, 'removed': last}, 'removed'), ({'removed': 1}, 'removed'),
                          ({'xyz': [0, 0, 'NaN']}, 'xyz[2]'), ({'xyz': [0, 0]}, 'xyz'), ({'xyz': [0, 0, 0], 'xyzSingle': [0, 0, 0]}, 'xyz_single')):
        report.refused(f'a change {change}', changed(change), BAD, field=f'cloud_changes[0].{field}')
    report.refused('the second change', changed({'removed': 1, 'xyz': [9, 9, 9]}, {'first': 1, 'removed': 1}), BAD, field='cloud_changes[1].removed')
    report.refused('before a cell', wire.call('StreamConfigurations', [{'check': {'values': [0.0]}, 'cloudChanges': [{}]}]), BAD, field='check.cell')
    report.refused('too many changes', changed(*[{'first': 1}] * (wire.limit('cloud_changes_max') + 1)), BAD)

    made = {'tiny': {'xyz': [5e-324, 0, -5e-324], 'radius': 5e-324}, 'huge': {'xyz': [2.0**957, 0, 0], 'radius': 2.0**957},
            'everywhere': {'xyz': [2.0**957, -2.0**957, 0, 5e-324, 0, 0], 'radius': 0.0}, 'wide': {'xyz': [k * 1e-3 for k in range(30_000)], 'radius': 1e200}}
    count = 250_000
    one_point = wire.type('clearance.v1.CheckConfigurationsRequest')(values=[0.0, 1.0, 2.25, 2.5, 9.0])
    one_point.cell.robots.add(robot_id=robot)
    one_point.cell.obstacles.add().cloud.xyz_single.extend(array.array('f', [3, 0, 0]) * count)
    one_point.cell.obstacles[0].cloud.radius = 0.25
    for mode in MODES:
        for name, given in made.items():
            started = time.monotonic()
            reply = wire.call('CheckConfigurations', check(given, mode=mode, withGradient=True), timeout=10)
            took = time.monotonic() - started
            report.holds(reply.code in ('OK', LATER) and took < 11 * wire.slow, f'{name} in {mode}: {took:.1f} s, {reply.code}')
        one_point.mode = MODES.index(mode) + 1
        started = time.monotonic()
        reply = wire.call('CheckConfigurations', one_point, timeout=20)
        took = time.monotonic() - started
        report.holds(reply.code == 'OK' and list(reply.message.verdicts) == [1, 1, 2, 3, 1] and took < 10 * wire.slow, f'one point {count} times in {mode}: {took:.1f} s, {reply}')
    reply = wire.call('CheckConfigurations', one_point, timeout=0.01 / wire.slow)
    report.holds(reply.code in (LATER, 'OK'), f'a deadline in the middle: {reply}')

    bodies(wire, report)

    # Ever more points: refused at the limit, with the field.
    stream = wire.type('clearance.v1.StreamConfigurationsRequest')
    messages = [stream(check=one_point)]
    for _ in range(wire.limit('cloud_points_max') // count):
        more = stream(check={'values': [0.0]})
        more.cloud_changes.add().xyz_single.extend(array.array('f', [3, 0, 0]) * count)
        messages.append(more)
    report.refused('points without end', wire.call('StreamConfigurations', messages, timeout=60), (BAD, FULL))
    report.holds(wire.call('GetServerInfo', {}).code == 'OK', 'alive')
    wire.call('DeleteRobot', {'id': robot})


def bodies(wire, report):
    """Registered clouds: numbers that are none, very many points that are one, and very large radii beside everything."""
    spec = lambda **cloud: {'polytopes': [{'cloud': cloud}]}
    for cloud, field in (({'xyz': [0, 'NaN', 0]}, 'cloud.xyz[1]'), ({'xyzSingle': [0, 0, 'Infinity']}, 'cloud.xyz_single[2]'), ({'xyz': [0, 0, 1e300]}, 'cloud.xyz[2]'),
                         ({'xyz': [0, 0]}, 'cloud.xyz'), ({}, 'cloud'), ({'xyz': [0, 0, 0], 'xyzSingle': [0, 0, 0]}, 'cloud.xyz_single'),
                         ({'xyz': [0, 0, 0], 'radius': 'NaN'}, 'cloud.radius'), ({'xyz': [0, 0, 0], 'radius': -5e-324}, 'cloud.radius'), ({'xyz': [0, 0, 0], 'radius': 1e300}, 'cloud.radius')):
        report.refused(f'a cloud {cloud}', wire.call('RegisterPolytopes', spec(**cloud)), BAD, field=f'polytopes[0].{field}')
    report.refused('a cloud as a surface', wire.call('RegisterPolytopes', {'polytopes': [{'cloud': {'xyz': [0, 0, 0]}, 'treatment': 'MESH_TREATMENT_SURFACE'}]}), BAD, field='polytopes[0].treatment')

    count = 1_000_000
    upload = wire.type('clearance.v1.UploadPolytopeRequest')
    points = (array.array('d', [3, 0, 0]) * count).tobytes()
    parts = [{'header': {'content': 'UPLOAD_CONTENT_POINTS_F64_LE', 'spec': {'cloud': {'radius': 0.25}}}}, *(upload(chunk=points[k:k + (1 << 20)]) for k in range(0, len(points), 1 << 20))]
    started = time.monotonic()
    reply = wire.call('UploadPolytope', parts, timeout=60)
    took = time.monotonic() - started
    is_one = reply.code == 'OK' and reply.message.report.polytope.vertex_count == 1 and reply.message.report.points_dropped == count - 1
    report.holds(is_one and took < 20 * wire.slow, f'one point {count} times: {took:.1f} s, {reply.code}')
    made = {'tiny': {'xyz': [5e-324, 0, -5e-324], 'radius': 5e-324}, 'huge': {'xyz': [2.0**957, 0, 0], 'radius': 2.0**957},
            'everywhere': {'xyz': [2.0**957, -2.0**957, 0, 5e-324, 0, 0], 'radius': 0.0}, 'wide': {'xyz': [k * 1e-3 for k in range(3_000)], 'radius': 1e200},
            'plane': {'xyz': [c for k in range(3_000) for c in (k % 60, k // 60, 0)], 'radius': 0.5}}
    ids = {name: wire.call('RegisterPolytopes', spec(**cloud)).message.reports[0].polytope.id for name, cloud in made.items()}
    others = [{'vertices': {'xyz': [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]}}, {'rounded': {'radius': 1e200}}, *({'id': id} for id in ids.values())]
    turn = {'screw': {'axis': {'z': 1}, 'angle': 1, 'velocity': {'x': 1}}}
    for name, id in ids.items():
        for other in others:
            for method, more in (('CheckCollision', {'margin': 0.5}), ('MeasureDistance', {}), ('FindFirstContact', {'pMotion': turn})):
                started = time.monotonic()
                reply = wire.call(method, {'p': {'id': id}, 'q': other, **more}, timeout=10)
                took = time.monotonic() - started
                report.holds(reply.code in ('OK', LATER) and took < 11 * wire.slow, f'{name} beside {other} in {method}: {took:.1f} s, {reply.code}')
    for id in ids.values(): wire.call('DeletePolytope', {'id': id})
BALL = '<robot name="round-slider"><link name="rail"/><link name="cart"><collision><geometry>%s</geometry></collision></link>' + SLIDER.split('</link>\n', 1)[1]


def round_cells(wire, report):
    """Radii that are none, very large, very small and of URDFs, beside links of the same."""
    robot = wire.call('RegisterRobot', {'urdf': BALL % '<sphere radius="0.5"/>'}).message.robot.id
    cell = lambda *given: {'robots': [{'robotId': robot}], 'obstacles': [{'rounded': one} for one in given]}
    check = lambda *given, **more: {'cell': cell(*given), 'values': [0.0, 1.0], **more}
    good = {'radius': 0.25, 'vertices': {'xyz': [3, 0, 0]}}
    for wrong in ('NaN', 'Infinity', '-Infinity', 1e300, 1.7e308, -1.0, -5e-324, 2.0**960 * (1 + 2.0**-52)):
        report.refused(f'a radius of {wrong}', wire.call('CheckConfigurations', check(good, {**good, 'radius': wrong})), BAD, field='cell.obstacles[1].rounded.radius')
        report.refused(f'a length of {wrong}', wire.call('CheckConfigurations', check({'length': wrong, 'radius': 1})), BAD, field='cell.obstacles[0].rounded.length')
        report.refused(f'a box of {wrong}', wire.call('CheckConfigurations', check({'box': {'x': 1, 'y': wrong}})), BAD, field='cell.obstacles[0].rounded.box.y')
        for name, size in (('cylinder', 'radiusXy'), ('cone', 'length')):
            sizes = {'radiusXy': 1, 'length': 1, size: wrong}
            field = 'cell.obstacles[0].rounded.' + name + '.' + ('radius_xy' if size == 'radiusXy' else size)
            report.refused(f'a {name} of {wrong}', wire.call('CheckConfigurations', check({name: sizes})), BAD, field=field)
        report.refused(f'an ellipsoid of {wrong}', wire.call('CheckConfigurations', check({'ellipsoid': {'x': 1, 'y': wrong, 'z': 1}})), BAD, field='cell.obstacles[0].rounded.ellipsoid.y')
    report.refused('a point that is none', wire.call('CheckConfigurations', check({'vertices': {'xyz': [0, 'NaN', 0]}, 'radius': 1})), BAD, field='cell.obstacles[0].rounded.vertices.xyz[1]')
    report.refused('no point', wire.call('CheckConfigurations', check({'vertices': {}, 'radius': 1})), BAD)
    many = {'vertices': {'xyz': [0.0] * 3 * (wire.limit('inline_points_max') // 2 + 1)}, 'radius': 1}
    report.refused('too many points of two', wire.call('CheckConfigurations', check(many, many)), BAD, field='cell.obstacles[1].rounded.vertices')
    for wrong in ('NaN', 'inf', '-1', '1e300', '1e999', ''):
        report.refused(f'a sphere of {wrong}', wire.call('RegisterRobot', {'urdf': BALL % f'<sphere radius="{wrong}"/>'}), BAD, field='urdf')
        report.refused(f'a capsule of {wrong}', wire.call('RegisterRobot', {'urdf': BALL % f'<capsule radius="1" length="{wrong}"/>'}), BAD, field='urdf')

    made = {'tiny': {'radius': 5e-324}, 'huge': {'radius': 2.0**960}, 'huge and far': {'vertices': {'xyz': [2.0**960, 0, 0]}, 'radius': 2.0**960},
            'long': {'length': 2.0**960, 'radius': 1e-300}, 'wide': {'box': {'x': 1e200, 'y': 1e-200, 'z': 0}, 'radius': 1e150}, 'none': {'radius': 0}}
    for mode in MODES:
        for name, given in made.items():
            started = time.monotonic()
            reply = wire.call('CheckConfigurations', check(given, mode=mode, withGradient=True), timeout=10)
            took = time.monotonic() - started
            report.holds(reply.code in ('OK', LATER) and took < 11 * wire.slow, f'{name} in {mode}: {took:.1f} s, {reply.code}')
    for name, given in made.items():
        asked = {'cell': cell(given), 'starts': [-9.0], 'ends': [9.0], 'certificate': True}
        reply = wire.call('CheckEdges', asked, timeout=10)
        report.holds(reply.code in ('OK', LATER), f'an edge beside {name}: {reply}')
    report.holds(wire.call('GetServerInfo', {}).code == 'OK', 'alive')
    wire.call('DeleteRobot', {'id': robot})
