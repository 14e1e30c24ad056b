"""Height fields that are none, or only just; and what cannot be asked of them."""
import struct

from solids import BAD, LATER, beside


def field(rows=4, columns=5, **more): return {'rows': rows, 'columns': columns, 'spacingX': 1, 'spacingY': 0.5, 'heights': [0.125 * (k % 3) for k in range(rows * columns)] if rows * columns < 1 << 20 else [], **more}


def fields(wire, report):
    """Heights that are no numbers, lists of any other length, holes that are nowhere, grids of 2^64 cells, and the smallest and largest that are some."""
    keep = lambda given, **more: wire.call('RegisterPolytopes', {'polytopes': [{'heightField': given, **more}]}, timeout=40)
    path = 'polytopes[0].heightField.'.replace('heightField', 'height_field')
    good = field()['heights']
    for wrong in ('NaN', 'Infinity', '-Infinity'): report.refused(f'a height of {wrong}', keep(field(heights=good[:7] + [wrong] + good[8:])), BAD, field=path + 'heights[7]')
    for count in (0, 1, 19, 21): report.refused(f'{count} heights', keep(field(heights=[0] * count)), BAD, field=path + 'heights')
    for rows, columns in ((0, 5), (1, 5), (2**32 - 1, 2**32 - 1), (2**16, 2**16), (2**31, 2)): report.refused(f'{rows} rows of {columns}', keep(field(rows, columns)), BAD, field=path + 'rows')
    for columns in (0, 1): report.refused(f'{columns} columns', keep(field(4, columns)), BAD, field=path + 'columns')
    for name, of in (('spacingX', 'spacing_x'), ('spacingY', 'spacing_y')):
        for wrong in (0, -1, 'NaN', 'Infinity', 1e300): report.refused(f'{name} of {wrong}', keep(field(**{name: wrong})), BAD, field=path + of)
    for holes, at in (([12], '[0]'), ([0, 2**32 - 1], '[1]'), (list(range(12)), '')): report.refused(f'holes {holes}', keep(field(holes=holes)), BAD, field=path + 'holes' + at)
    report.refused('a diagonal', keep(field(diagonal=9)), BAD, field=path + 'diagonal')
    report.refused('as a hull', keep(field(), treatment='MESH_TREATMENT_HULL'), BAD, field='polytopes[0].treatment')
    big = wire.limit('heights_max')
    report.refused('too many', keep({**field(2, big), 'heights': []}), BAD, 'LIMIT_EXCEEDED')
    largest = struct.unpack('<f', b'\xff\xff\x7f\x7f')[0]
    made = {'flat': field(heights=[0] * 20), 'spikes': field(heights=[largest * (-1) ** k for k in range(20)]), 'tiny': field(spacingX=5e-324, spacingY=5e-324, heights=[1e-45 * k for k in range(20)]),
            'wide': field(spacingX=2.0**957, spacingY=2.0**957), 'holes': field(holes=[k for k in range(12) if k % 5]), 'long': field(2, 50_000)}
    for name, given in made.items():
        reply = keep(given, alias=f'attack/h-{name}', moveAlias=True)
        report.holds(reply.code == 'OK' and reply.message.reports[0].polytope.id.startswith('h1-'), f'{name}: {reply}')
    others = [{'alias': f'attack/h-{name}'} for name in made] + [{'rounded': {'radius': r}} for r in (5e-324, 1.0, 2.0**960)] + [{'vertices': {'xyz': [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]}}]
    for one in made: beside(wire, report, f'attack/h-{one}', others)
    p, q = {'alias': 'attack/h-flat'}, {'alias': 'attack/h-holes'}
    report.refused('along', wire.call('MeasureDistanceAlong', {'p': p, 'q': q, 'direction': {'x': 1}}), LATER, field='p')
    reply = wire.call('MeasurePenetration', {'p': p, 'q': q})
    report.holds(reply.code == 'OK' and 0 <= reply.message.depth.lower <= reply.message.depth.upper, f'a depth: {reply}')
    reply = wire.call('FindFirstCollision', {'bodies': [{'body': p}, {'body': q}, {'body': {'rounded': {'radius': 2.0**960}}, 'motion': {'linear': {'velocity': {'x': -2.0**960}}}}]})
    report.holds(reply.code == 'OK' and (reply.message.uncertified or reply.message.stopped), f'among several: {reply}')
    report.refused('lists of many', wire.call('GetPolytope', {'alias': 'attack/h-long', 'withVertices': True}), LATER)
    forged = {'verdict': 'VERDICT_SEPARATED', 'certificate': {'solid': {'separated': {}}}}
    reply = wire.call('VerifyCertificate', {'collision': {'question': {'p': {'alias': 'attack/h-long'}, 'q': q}, 'answer': forged}})
    report.holds(reply.code != 'OK' or not reply.message.valid, f'a proof about what is not listed: {reply}')
    for name in made: wire.call('DeletePolytope', {'alias': f'attack/h-{name}'})
