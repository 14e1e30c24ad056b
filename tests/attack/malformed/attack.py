#!/usr/bin/env python3
"""Attacks a running server and says what broke: bad numbers, bad bytes, floods, half-sent frames, abandoned sessions.

usage: tests/attack/malformed/attack.py HOST:PORT [--pid PID] [--stop] [--points N] [--only NAME,...] [--slow FACTOR]
  --pid     the server's process: it must stay alive, and its memory bounded
  --stop    at the end: SIGTERM while streams are open; the process must drain and end
  --points  vertices of the largest upload (a million)
  --slow    by how much all time bounds are stretched (debug builds)
Knows the service by reflection alone. Every attack is bounded in count and time; only what the contract says is
accepted, and after every attack the server must answer health, GetServerInfo and a question quickly.
Exits non-zero if anything broke."""
import argparse, array, os, random, resource, signal, socket, struct, sys, threading, time

import grpc
from google.protobuf import json_format

from client import OPEN_BYTES, Raw, Reply, Report, Wire, alive, iter_then_wait, until, varint
from clouds import clouds, round_cells
from fields import fields
from solids import solids
from surfaces import surfaces

BAD, FULL, MISSING = 'INVALID_ARGUMENT', 'RESOURCE_EXHAUSTED', 'NOT_FOUND'
MIB = 1 << 20


# ---- the attacks: functions of (wire, report), in the order of the list at the end ----------------------------------

CUBE = {'vertices': {'xyz': [c for k in range(8) for c in (k & 1, k >> 1 & 1, k >> 2)]}}


def at(x, body=CUBE): return {**body, 'pose': {'translation': {'x': x}}}


QUESTIONS = ['CheckCollision', 'MeasureDistance', 'MeasureDistanceAlong', 'MeasurePenetration', 'FindFirstContact']


def numbers(wire, report):
    """Numbers that are none, rotations that are none, bodies that are none, in every question."""
    pose = lambda **pose: {**CUBE, 'pose': pose}
    bodies = [(pose(translation={'y': value}), BAD, 'q.pose.translation.y') for value in ('NaN', 'Infinity', '-Infinity', 1e300)]
    bodies += [({'vertices': {'xyz': [0, 0, 0, 1, value, 0]}}, BAD, 'q.vertices.xyz[4]') for value in ('NaN', 'Infinity', -1.7e308)]
    bodies += [(pose(rotation=q), BAD, 'q.pose.rotation') for q in ({}, {'w': 'NaN'}, {'w': 1e-300}, {'x': 1e200}, {'x': 1e308, 'y': 1e308}, {'z': 5e-324})]
    skew = [1, 0.01, 0, 0, 1, 0, 0, 0, 1]
    bodies += [(pose(rotationMatrix={'rows': rows}), BAD, 'q.pose.rotation_matrix')
               for rows in (skew, [0] * 9, ['NaN'] * 9, [1e308] * 9, [1, 0, 0, 0, 1, 0, 0, 0, -1])]
    bodies += [(pose(rotationMatrix={'rows': rows}), BAD, None) for rows in ([], [1] * 8, [1] * 10)]
    bodies += [({'vertices': {'xyz': xyz}}, BAD, None) for xyz in ([], [1], [1, 2, 3, 4])]
    bodies += [({}, BAD, 'q'), ({'id': 'x'}, BAD, 'q.id'), ({'id': 'p1-' + '0' * 64}, MISSING, 'q.id'), ({'id': 'p1-' + 'Z' * 64}, (BAD, MISSING), 'q.id'),
               ({'id': 'p1-' + '0' * 100_000}, (BAD, MISSING), None), ({'alias': 'no-such-alias'}, MISSING, 'q.alias'),
               ({'alias': 'a' * 50_000 + '\n'}, (BAD, MISSING), None), ({'compound': {}}, (BAD, 'UNIMPLEMENTED'), None)]
    for method in QUESTIONS:
        extra = {'direction': {'x': 1}} if method == 'MeasureDistanceAlong' else {}
        for body, code, field in bodies: report.refused(f'{method} {str(body)[:80]}', wire.call(method, {'p': CUBE, 'q': body, **extra}), code, field=field)
    for direction in ({}, {'x': 'NaN'}, {'x': 'Infinity'}): report.refused(f'along {direction}', wire.call('MeasureDistanceAlong', {'p': CUBE, 'q': CUBE, 'direction': direction}), BAD)
    for margin in (-1e300, 'NaN', '-Infinity'): report.refused(f'margin {margin}', wire.call('CheckCollision', {'p': CUBE, 'q': CUBE, 'margin': margin}), BAD, field='margin')
    for motion in ({'screw': {'angle': 1}}, {'screw': {'angle': 'NaN', 'axis': {'x': 1}}}, {'screw': {'angle': 1, 'axis': {'x': 'Infinity'}}},
                   {'linear': {'velocity': {'z': 'NaN'}}}, {'toPose': {'end': {'rotation': {}}}}):
        report.refused(f'motion {motion}', wire.call('FindFirstContact', {'p': CUBE, 'q': at(3), 'pMotion': motion}), BAD)
    for key in ('timeTolerance', 'clearanceTolerance', 'margin', 'pDeviation'):
        # A margin may be below 0, as far as numbers may be.
        for value in (-1e300 if key == 'margin' else -1, 'NaN'): report.refused(f'{key} {value}', wire.call('FindFirstContact', {'p': CUBE, 'q': at(3), key: value}), BAD)
    for options in ({'method': 'm' * 10_000}, {'budget': {'time': '-3s'}}): report.refused(f'options {str(options)[:60]}', wire.call('CheckCollision', {'p': CUBE, 'q': CUBE, 'options': options}), BAD)


def bytes_that_are_none(wire, report):
    """Bytes that are no message, to every method; and methods that do not exist."""
    random.seed(5)
    junk = [b'\xff' * 7, b'\x0a\x7f', b'{"p": {}}', b'\x0a' + b'\xff' * 10, b'\x00', b'\x0b' * 200, b'\x0f\x01']
    junk += [b'\x07' + random.randbytes(random.randint(1, 300)) for _ in range(8)] # wire type 7 does not exist
    nested = b''
    for _ in range(150): nested = b'\x0a' + varint(len(nested)) + nested           # deeper than any decoder goes
    for method, (path, descriptor) in wire.methods.items():
        for data in junk:
            reply = wire.call(method, [data] if descriptor.client_streaming else data)
            report.holds(reply.code == BAD and (reply.reason == 'MALFORMED_MESSAGE'), f'{path} with {data[:12]!r}: {reply}')
        reply = wire.call(method, [nested] if descriptor.client_streaming else nested)
        report.holds(reply.code in ('OK', BAD, MISSING, FULL, 'UNIMPLEMENTED'), f'{path} with nested bytes: {reply}')
    for path in ('/clearance.v1.QueryService/Nonsense', '/no.such.Service/Method', '/', '//', '/clearance.v1.QueryService', '/' + 'x' * 4000, '/%00%ff/..'):
        call = wire.channel.unary_unary(path)
        try: call(b'', timeout=10 * wire.slow); code = 'OK'
        except grpc.RpcError as error: code = error.code().name
        report.holds(code == 'UNIMPLEMENTED', f'{path[:40]}: {code}')


def too_large(wire, report):
    """Messages beyond the limit to every method; a batch of 100,000; headers beyond the limit."""
    large = b'\x82\x7d' + varint(5 * MIB) + bytes(5 * MIB) # an unknown field of 5 MiB
    for method, (path, descriptor) in wire.methods.items():
        if method == 'Check': continue
        reply = wire.call(method, [large] if descriptor.client_streaming else large)
        report.refused(f'5 MiB to {path}', reply, FULL, 'LIMIT_EXCEEDED')
        report.holds(str(5 * MIB) not in reply.metadata.values() and 'message_bytes_max' in reply.metadata.values(), f'5 MiB to {path}: names no limit: {reply.metadata}')
    items = b'\x0a\x00' * 100_000
    report.refused('batch of 100,000', wire.call('BatchQuery', items), BAD, 'LIMIT_EXCEEDED', 'items')
    full = wire.call('BatchQuery', b'\x0a\x00' * wire.limit('batch_items_max'))
    report.holds(full.code == 'OK' and all(answer.status.code == 3 for answer in full.message.answers), f'a batch of empty items: {full}')
    report.holds(wire.call('BatchQuery', {}).code == 'OK', 'an empty batch')
    report.refused('100,000 ids', wire.call('FindMissingPolytopes', {'ids': ['x'] * 100_000}), BAD)
    report.refused('50,000 specs', wire.call('RegisterPolytopes', b'\x0a\x00' * 50_000), BAD)
    points = 'points ' * 4000
    try: wire.stub('GetServerInfo')(wire.make('GetServerInfo', {}), timeout=10, metadata=[('x-large', points)]); code = 'OK'
    except grpc.RpcError as error: code = error.code().name
    report.holds(code == FULL, f'large headers: {code}')


def upload(wire, report):
    """A million vertices in chunks; uploads that lie."""
    count, limit, rng = wire.options.points, wire.limit('points_max'), random.Random(1)
    block = array.array('d', (rng.random() for _ in range(30_000))).tobytes()
    rest = array.array('d', (rng.random() for _ in range(3 * count - 30_000))).tobytes()
    chunks = [chunk(wire, part) for part in [block] + [rest[k:k + MIB] for k in range(0, len(rest), MIB)]]
    reply = wire.call('UploadPolytope', [{'header': {'content': 'UPLOAD_CONTENT_POINTS_F64_LE', 'validateOnly': True}}] + chunks, timeout=40)
    report.holds(reply.code == 'OK' and reply.message.report.points_given == count <= limit or count > limit and reply.code == BAD, f'{count} points: {reply}')
    header = lambda **more: {'header': {'content': 'UPLOAD_CONTENT_POINTS_F64_LE', **more}}
    lies = [[], [{}], [header()], [header(), header()], [chunk(wire, block)], [header(content='UPLOAD_CONTENT_UNSPECIFIED'), chunk(wire, block)],
            [header(), chunk(wire, block[:-1])], [header(totalBytes=2**63), chunk(wire, block)], [header(totalBytes=1), chunk(wire, block)],
            [header(spec={'vertices': {'xyz': [1, 2, 3]}}), chunk(wire, block)], [header(), chunk(wire, struct.pack('<3d', 0, float('nan'), 0))],
            [header(spec={'alias': 'no spaces please'}), chunk(wire, block)], [header(spec={'expectedId': 'p1-' + 'a' * 64}), chunk(wire, block)]]
    for parts in lies: report.refused(f'upload {str(parts)[:90]}', wire.call('UploadPolytope', parts), BAD)
    # Connections that die in the middle give their places back.
    for _ in range(40):
        channel = grpc.insecure_channel(wire.address, OPEN_BYTES)
        stop = threading.Event()
        parts = iter_then_wait([wire.make('UploadPolytope', header()), chunk(wire, block)], stop)
        future = wire.stub('UploadPolytope', channel).future(parts, timeout=10)
        time.sleep(0.005); channel.close(); stop.set(); future.cancel()
    good = [header(validateOnly=True), chunk(wire, block[:240])]
    until(5 * wire.slow, lambda: wire.call('UploadPolytope', good).code == 'OK')
    reply = wire.call('UploadPolytope', good)
    report.holds(reply.code == 'OK', f'an upload after 40 that died: {reply}')


def chunk(wire, data): return wire.type('clearance.v1.UploadPolytopeRequest')(chunk=data)


def meshes(wire, report):
    """Mesh files that lie about themselves."""
    stl = lambda count, body=b'': bytes(80) + struct.pack('<I', count) + body
    triangle = struct.pack('<12fH', *range(12), 0)
    files = [stl(2**32 - 1), stl(2**32 - 1, triangle * 4), stl(0), stl(3, triangle), bytes(80), b'', b'solid', b'solid x\nfacet', b'solid x\nendsolid x\n',
             stl(1, struct.pack('<12fH', *[float('nan')] * 12, 0)), stl(1, struct.pack('<12fH', *[float('inf')] * 12, 0))]
    corner = b'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n'
    objs = [b'', b'v', b'v 1 2', b'v 1 2 x', b'v nan 0 0\n', b'v 1e999 0 0\n', b'f 1 2 3\n', b'\xff\xfe\x00']
    objs += [corner + b'f ' + face for face in (b'0 1 2', b'1 2 5', b'-5 1 2', b'1 2 99999999999999999999', b'1 2 4294967297', b'1 2 -9223372036854775808', b'1 2', b'1 2 3.5')]
    document = lambda inside: b'<COLLADA>' + inside + b'</COLLADA>'
    daes = [b'<COLLADA', b'<COLLADA>', b'<other/>', document(b'<scene><instance_visual_scene url="#x"/></scene>'), document(b'<!DOCTYPE a>'), document(b'<a>' * 10_000),
            document(b'<asset><unit meter="nan"/></asset>'), document(b'\xff'), document(b''),
            document(b'<library_visual_scenes><visual_scene id="s"><node id="n"><instance_node url="#n"/><instance_node url="#n"/></node></visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene>'),
            document(b'<library_geometries><geometry id="g"><mesh><triangles><p>0 1 2</p></triangles></mesh></geometry></library_geometries>')]
    for kind, contents in (('STL', files), ('OBJ', objs), ('COLLADA', daes), ('UNSPECIFIED', files + objs + daes)):
        for content in contents:
            spec = wire.type('clearance.v1.PolytopeSpec')(treatment=1)
            spec.file.content, spec.file.format = content, {'STL': 1, 'OBJ': 2, 'COLLADA': 3, 'UNSPECIFIED': 0}[kind]
            request = wire.type('clearance.v1.RegisterPolytopesRequest')(polytopes=[spec], validate_only=True)
            reply = wire.call('RegisterPolytopes', request)
            report.holds(reply.code == BAD and any(field.startswith('polytopes[0]') for field in reply.fields), f'{kind} {content[:24]!r}..{content[-24:]!r}: {reply}')
    for scale in (0, -1, 'NaN', 'Infinity', 1e308):
        reply = wire.call('RegisterPolytopes', {'validateOnly': True, 'polytopes': [{'file': {'format': 'MESH_FORMAT_OBJ', 'content': 'diAwIDAgMAp2IDEgMCAwCg==', 'scale': scale}, 'treatment': 1}]})
        report.refused(f'scale {scale}', reply, BAD)
    for triangles in ([0, 1], [0, 1, 4], [0, 1, 2**32 - 1], []):
        mesh = {'vertices': {'xyz': [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]}, 'triangles': triangles}
        report.refused(f'mesh {triangles}', wire.call('RegisterPolytopes', {'validateOnly': True, 'polytopes': [{'mesh': mesh}]}), BAD)
    for convexity in ('NaN', -1): report.refused(f'convexity {convexity}', wire.call('RegisterPolytopes', {'validateOnly': True, 'polytopes': [{'mesh': mesh, 'convexityTolerance': convexity}]}), BAD)


def deep_ranges(wire, report):
    """Coordinates from subnormal to 2^960: exact verdicts all the same, each with a proof that the server accepts."""
    big, tiny = 2.0**960, 5e-324
    box = lambda low, high: {'vertices': {'xyz': [c for k in range(8) for c in (high if k & 1 else low, high if k & 2 else low, high if k & 4 else low)]}}
    cases = [(box(0, big), box(-big, 0), 'TOUCHING'), (box(0, big), box(-big, -tiny), 'SEPARATED'), (box(0, tiny), box(-tiny, 0), 'TOUCHING'),
             (box(-tiny, tiny), box(0, tiny), 'OVERLAPPING'), (box(-big, big), box(-tiny, tiny), 'OVERLAPPING'), (box(0, tiny), box(2 * tiny, 3 * tiny), 'SEPARATED'),
             (box(-1e-150, 1e-150), box(1e150, 2e150), 'SEPARATED'), (box(0, big), box(0, tiny), 'OVERLAPPING')]
    for p, q, verdict in cases:
        for method in QUESTIONS[:4]:
            question = {'p': p, 'q': q, **({'direction': {'x': 1}} if 'Along' in method else {})}
            reply = wire.call(method, question)
            ok = reply.code == 'OK' and wire.pool.FindEnumTypeByName('clearance.v1.Verdict').values_by_number[reply.message.verdict].name == 'VERDICT_' + verdict
            report.holds(ok, f'{method} {str(p)[:60]} {str(q)[:60]}: {verdict} expected: {reply}')
            if ok and method == 'CheckCollision':
                claim = {'collision': {'question': question, 'answer': json_format.MessageToDict(reply.message)}}
                proof = wire.call('VerifyCertificate', claim)
                report.holds(proof.code == 'OK' and proof.message.valid, f'proof of {verdict}: {proof} {proof.message}')
    for motion in ({'linear': {'velocity': {'x': big}}}, {'linear': {'velocity': {'x': tiny}}}, {'screw': {'angle': 1e300, 'axis': {'z': 1}}},
                   {'screw': {'angle': 1, 'axis': {'z': tiny}}}, {'screw': {'angle': 1e-300, 'axis': {'z': 1e300}}}):
        reply = wire.call('FindFirstContact', {'p': CUBE, 'q': at(3), 'pMotion': motion, 'options': {'budget': {'steps': 100_000}}})
        report.holds(reply.code in ('OK', BAD, 'DEADLINE_EXCEEDED'), f'first contact with {motion}: {reply}')


def forged(wire, report):
    """Certificates that nobody made: never accepted, never fatal."""
    question = {'p': CUBE, 'q': at(3)}
    pair = lambda i, j: {'i': i, 'j': j}
    top = 2**32 - 1
    proofs = [{}, {'separated': {}}, {'separated': {'direction': {'vector': {}}}}, {'separated': {'direction': {'vector': {'x': 'NaN'}}}}, {'overlapping': {}},
              {'overlapping': {'pairs': [pair(top, top)] * 4}}, {'overlapping': {'pairs': [pair(0, 0)] * 10_000}}, {'touching': {'pairs': [pair(8, 0)]}},
              {'separated': {'direction': {'normal': {'pairs': [pair(0, 9), pair(top, 0), pair(1, 1)]}}}}, {'separated': {'direction': {'edgeNormal': {'pairs': [], 'axis': 'AXIS_X'}}}}]
    for proof in proofs:
        for verdict in ('VERDICT_SEPARATED', 'VERDICT_TOUCHING', 'VERDICT_OVERLAPPING', 'VERDICT_UNSPECIFIED'):
            reply = wire.call('VerifyCertificate', {'collision': {'question': question, 'answer': {'verdict': verdict, 'certificate': proof}}})
            report.holds(reply.code == BAD or reply.code == 'OK' and not reply.message.valid, f'forged {verdict} {str(proof)[:60]}: {reply}')
    link = {'t0': 'NaN', 't1': 1, 'frame': 'DIRECTION_FRAME_P', 'direction': {'vector': {'x': 1}}}
    for answer in ({}, {'outcome': 'OUTCOME_NO_CONTACT', 'certificate': {'chain': [link]}}, {'outcome': 'OUTCOME_CONTACT', 'tFree': 'NaN', 'tContact': 'Infinity'},
                   {'outcome': 'OUTCOME_NO_CONTACT', 'certificate': {'chain': [{**link, 't0': 0, 't1': 1}] * 2000}}):
        reply = wire.call('VerifyCertificate', {'firstContact': {'question': {**question, 'pMotion': {'linear': {'velocity': {'x': 9}}}}, 'answer': answer}})
        report.holds(reply.code == BAD or reply.code == 'OK' and not reply.message.valid, f'forged first contact {str(answer)[:60]}: {reply}')
    for answer in ({'depth': {'upper': 'NaN'}}, {'verdict': 'VERDICT_OVERLAPPING', 'certificate': {'surface': {'corners': [pair(0, 0)], 'triangles': [0, 1, top]}}}):
        reply = wire.call('VerifyCertificate', {'penetration': {'question': {'p': CUBE, 'q': CUBE}, 'answer': answer}})
        report.holds(reply.code == BAD or reply.code == 'OK' and not reply.message.valid, f'forged depth {str(answer)[:60]}: {reply}')
    report.refused('no claim', wire.call('VerifyCertificate', {}), BAD)


def pages(wire, report):
    """Page sizes and page tokens that nobody gave out."""
    for method in ('ListPolytopes', 'ListSessions'):
        for size in (2**31 - 1, 1_000_000): report.holds(wire.call(method, {'pageSize': size}).code == 'OK', f'{method} with page size {size}')
        for size in (-1, -2**31): report.refused(f'{method} with page size {size}', wire.call(method, {'pageSize': size}), BAD)
        for token in ('x', '\x00', '-', 'p1-' + 'g' * 64, 'A' * 100_000, '☃', '../../etc/passwd'):
            reply = wire.call(method, {'pageToken': token})
            report.holds(reply.code in (BAD, 'OK'), f'{method} with token {token[:20]!r}: {reply}')


def scene(*xs, **more): return {'bodies': [{'id': k + 1, 'parts': [CUBE], 'pose': {'translation': {'x': x}}} for k, x in enumerate(xs)], **more}


def opened(wire, report, state, **more):
    reply = wire.call('OpenSession', {'state': state, 'idleTimeout': '60s', **more})
    report.holds(reply.code == 'OK', f'a session: {reply}')
    return reply.message.session_id if reply.message else ''


def frames(wire, report):
    """Frames that are none: ids, lengths, bodies, rules. Each is refused by itself and the session goes on."""
    session = opened(wire, report, scene(0, 3))
    step = lambda frame: wire.call('StepSession', {'sessionId': session, 'frames': [frame]})
    applied = 0

    def refused(what, frame, code=3):
        nonlocal applied
        reply = step({**frame, 'baseFrameId': applied})
        if reply.code == 'OK' and not reply.message.reports[0].status.code:
            applied = frame['frameId']
        ok = reply.code == BAD or reply.code == 'OK' and (reply.message.reports[0].status.code == code
                                                        or any(item.code for item in reply.message.reports[0].refused_items))
        report.holds(ok, f'{what}: {reply} {str(reply.message)[:200]}')
    refused('frame 0', {'frameId': 0})
    one = {'translations': [0, 0, 0], 'ids': [1]}
    for packed in ({**one, 'ids': [1, 2]}, {**one, 'translations': [0, 0]}, {**one, 'translations': []}, {**one, 'rotations': [1, 0, 0]}, {**one, 'rotationMatrices': [1] * 8},
                   {**one, 'rotations': [1, 0, 0, 0], 'rotationMatrices': [1, 0, 0, 0, 1, 0, 0, 0, 1]}, {'translations': [1, 2, 3]}, {**one, 'translations': ['NaN', 0, 0]},
                   {**one, 'rotations': [0, 0, 0, 0]}, {'ids': [99], 'translations': [0, 0, 0]}, {**one, 'teleportedIds': [2]}, {'ids': [1, 1], 'translations': [0] * 6}):
        refused(f'packed {packed}', {'frameId': 2, 'packedPoses': packed}, 3)
    for number, (name, frame) in enumerate({'pose of nobody': {'poses': [{'id': 7}]}, 'twice': {'poses': [{'id': 1}, {'id': 1}]}, 'both forms': {'poses': [{'id': 1}], 'packedPoses': one},
                        'body twice': {'addedBodies': [{'id': 1, 'parts': [CUBE]}]}, 'new body twice': {'addedBodies': [{'id': 5, 'parts': [CUBE]}] * 2},
                        'no parts': {'addedBodies': [{'id': 6}]}, 'unknown polytope': {'addedBodies': [{'id': 6, 'parts': [{'alias': 'none-such'}]}]},
                        'remove nobody': {'removedBodyIds': [77]}, 'pair of one': {'rules': {'ignoredPairs': [{'a': 1, 'b': 1}]}},
                        'NaN deviation': {'poses': [{'id': 1, 'deviation': 'NaN'}]}, 'bad tolerance': {'report': {'timeTolerance': 'NaN', 'firstContacts': True}}}.items()):
        refused(name, {'frameId': 1000 + number, **frame}, 5 if name in ('pose of nobody', 'unknown polytope') else 3)
    reply = step({'frameId': 10**6, 'baseFrameId': 12345})
    report.holds(reply.code == 'OK' and reply.message.reports[0].status.code == 9, f'an unknown base: {reply}')
    last = 2**64 - 1
    reply = step({'frameId': last, 'poses': [{'id': 1}]})
    report.holds(reply.code == 'OK' and reply.message.reports[0].status.code == 9, f'a frame that may miss others: {reply}')
    reply = step({'frameId': last, 'baseFrameId': applied, 'poses': [{'id': 1}]})
    report.holds(reply.code == 'OK' and not reply.message.reports[0].status.code, f'frame 2^64-1: {reply} {str(reply.message)[:200]}')
    again = step({'frameId': last})
    for both in (reply, again): both.message.reports[0].ClearField('cost')
    report.holds(again.message == reply.message, f'frame 2^64-1 again: the same report: {reply.message} {again.message}')
    report.holds(step({'frameId': 5}).message.reports[0].status.code == 9, 'a frame after the last possible one is stale')
    report.refused('too many frames', wire.call('StepSession', b'\x0a' + varint(len(session)) + session.encode() + b'\x12\x00' * 100_000), BAD)
    wire.call('CloseSession', {'sessionId': session})
    for name, state in {'ids twice': {'bodies': [{'id': 1, 'parts': [CUBE]}] * 2}, 'no parts': {'bodies': [{'id': 1}]}, 'NaN margin': {'bodies': [{'id': 1, 'parts': [CUBE], 'margin': 'NaN'}]},
                        'too many parts': {'bodies': [{'id': 1, 'parts': [{'vertices': {'xyz': [0, 0, 0]}}] * 1000}]}, 'contact of nobody': scene(0, contacts=[{'pair': {'a': 1, 'b': 9}}]),
                        'negative release': scene(0, releaseMargin=-1)}.items():
        report.refused(f'open with {name}', wire.call('OpenSession', {'state': state}), (BAD, MISSING))
    for more in ({'sessionId': 'x' * 101}, {'sessionId': 'a b'}, {'sessionId': '☃'}, {'method': 'magic'}, {'idleTimeout': '-1s'}, {'budget': {'time': '-1s'}}):
        report.refused(f'open with {more}', wire.call('OpenSession', {'state': scene(0), **more}), BAD)
    for method in ('GetSession', 'StepSession', 'CloseSession'): report.refused(f'{method} of nobody', wire.call(method, {'sessionId': 'nobody'}), MISSING)


def streams(wire, report):
    """Take-over races, streams without a beginning, and clients that never read."""
    session = opened(wire, report, scene(0, 3))
    for parts in ([], [{}], [{'frame': {'frameId': 1}}], [{'sessionId': 'nobody'}]):
        reply = wire.call('StreamSession', parts)
        report.holds(reply.code == 'OK' and not parts or reply.code in (BAD, MISSING), f'stream {parts}: {reply}')
    outcomes, stop = [], threading.Event()

    def racer(channel):
        first = wire.make('StreamSession', {'sessionId': session, 'takeOver': True})
        try:
            for _ in wire.stub('StreamSession', channel)(iter_then_wait([first], stop), timeout=20 * wire.slow): pass
            outcomes.append('OK')
        except grpc.RpcError as error: outcomes.append(error.code().name)
    channels = [grpc.insecure_channel(wire.address, [('grpc.use_local_subchannel_pool', 1)]) for _ in range(12)]
    racers = [threading.Thread(target=racer, args=(channel,)) for channel in channels]
    for thread in racers: thread.start()
    until(8 * wire.slow, lambda: len(outcomes) == 11)
    report.holds(sorted(outcomes) == ['ABORTED'] * 11, f'of 12 streams that take over one stays: {outcomes}')
    refusal = wire.call('StreamSession', [{'sessionId': session}])
    report.refused('a second stream', refusal, 'ABORTED', 'SESSION_ATTACHED')
    stop.set()
    for thread in racers: thread.join(10)
    until(5, lambda: not wire.call('GetSession', {'sessionId': session}).message.summary.attached)
    report.holds(wire.call('StepSession', {'sessionId': session, 'frames': [{'frameId': 5}]}).code == 'OK', 'a step after the streams')
    for channel in channels: channel.close()
    before = wire.rss()
    deaf_clients(wire, report, 8)
    grown = wire.rss() - before
    report.holds(grown < 256 * MIB, f'clients that never read cost {grown // MIB} MiB')
    wire.call('CloseSession', {'sessionId': session})


def deaf_clients(wire, report, count):
    """Each sends 20,000 frames with large reports and lets the server send nothing back."""
    path = wire.methods['StreamSession'][0]
    state = scene(*[0.5 * k for k in range(12)])
    first = wire.make('StreamSession', {'open': {'state': state, 'report': {'pairs': 'PAIR_SELECTION_ALL', 'certificates': True}, 'idleTimeout': '5s'}}).SerializeToString()
    sockets = [Raw(wire.address, window=0) for _ in range(count)]
    for raw in sockets:
        raw.headers(1, path); raw.message(1, first)
        raw.socket.setblocking(False)
    end = time.monotonic() + 2
    for number in range(1, 20_000):
        frame = wire.make('StreamSession', {'frame': {'frameId': number, 'poses': [{'id': 1}]}}).SerializeToString()
        for raw in sockets:
            try: raw.message(1, frame)
            except (BlockingIOError, ConnectionError): pass
        if time.monotonic() > end: break
    report.holds(wire.call('CheckCollision', {'p': CUBE, 'q': CUBE}, timeout=5).code == 'OK', 'a question beside clients that never read')
    for raw in sockets: raw.socket.close()


def half_sent(wire, report):
    """Frames cut anywhere, prefixes that lie, connections that say nothing, garbage in place of HTTP/2."""
    query, stream = wire.methods['CheckCollision'][0], wire.methods['StreamSession'][0]
    before = wire.rss()
    raws = []
    for path in (query, stream, wire.methods['UploadPolytope'][0]):
        for data, length, end in ((b'abc', 100, 0), (b'abc', 100, 1), (b'', 2**32 - 1, 0), (b'x', 2**32 - 1, 1), (b'', 4 * MIB, 0)):
            raw = Raw(wire.address); raw.headers(1, path); raw.message(1, data, length, end); raws.append(raw)
        raw = Raw(wire.address); raw.headers(1, path); raw.frame(0, 0, 1, b'abc', length=16_000); raws.append(raw) # a frame cut off
        raw = Raw(wire.address); raw.headers(1, path); raw.frame(0, 1, 1, b'\x09\x00\x00\x00\x00'); raws.append(raw) # no such compression
        raw = Raw(wire.address); raw.headers(1, path); raw.frame(3, 0, 1, struct.pack('>I', 8)); raws.append(raw)    # reset at once
    for _ in range(50):
        raw = Raw(wire.address)
        try:
            for stream_id in range(1, 200, 2): raw.headers(stream_id, query); raw.frame(3, 0, stream_id, struct.pack('>I', 8)) # rapid resets
        except OSError: pass # the server may hang up
        raws.append(raw)
    for garbage in (b'GET / HTTP/1.1\r\n\r\n', b'\x16\x03\x01\x02\x00\x01\x00', os.urandom(5000), b'PRI * HTTP/2.0\r\n\r\n'):
        silent = socket.create_connection(wire.address.rsplit(':', 1), timeout=5); silent.sendall(garbage); raws.append(silent)
    grown = wire.rss() - before
    report.holds(grown < 128 * MIB, f'prefixes that announce gigabytes cost {grown // MIB} MiB')
    vital(wire, report, 'half-sent frames')
    for raw in raws: (raw if isinstance(raw, socket.socket) else raw.socket).close()


def abandoned(wire, report):
    """10,000 sessions opened and abandoned: as many as the limit says, then RESOURCE_EXHAUSTED; all of them expire."""
    total, limit = 10_000, wire.limit('sessions_max')
    before, codes, stub = wire.rss(), {}, wire.stub('OpenSession')
    request = wire.make('OpenSession', {'state': scene(0, 3), 'idleTimeout': '6s'})
    for start in range(0, total, 250):
        for future in [stub.future(request, timeout=20 * wire.slow) for _ in range(250)]:
            try: future.result(); code = 'OK'
            except grpc.RpcError as error:
                code = error.code().name
                if codes.get(code, 0) < 3: # the details of a few are enough
                    reply = Reply(wire, code, error=error)
                    report.holds(code == FULL and reply.retry and reply.reason in ('LIMIT_EXCEEDED', 'BUSY'), f'one session too many: {reply}, retry {reply.retry}')
            codes[code] = codes.get(code, 0) + 1
    held = wire.call('ListSessions', {'pageSize': 1}).message.total_size
    grown = wire.rss() - before
    report.holds(held <= limit, f'{held} sessions are open, and the limit is {limit}')
    report.holds(set(codes) == {'OK', FULL} or set(codes) == {'OK'} and codes['OK'] < limit, f'10,000 sessions: {codes}')
    report.holds(grown < 512 * MIB, f'10,000 abandoned sessions cost {grown // MIB} MiB')
    left = until(9 + 3 * wire.slow, lambda: not wire.call('ListSessions', {}).message.sessions)
    report.holds(left, f'abandoned sessions expire: {wire.call("ListSessions", {}).message.total_size} are left')


def crowd(wire, report):
    """1,000 calls at once, calls with a deadline of a millisecond, and calls that are cancelled."""
    stub = wire.stub('CheckCollision')
    request = wire.make('CheckCollision', {'p': CUBE, 'q': at(3)})

    def codes(futures):
        found = {}
        for future in futures:
            try: future.result(); code = 'OK'
            except grpc.FutureCancelledError: code = 'CANCELLED'
            except grpc.RpcError as error: code = error.code().name
            found[code] = found.get(code, 0) + 1
        return found
    found = codes([stub.future(request, timeout=20 * wire.slow) for _ in range(1000)])
    report.holds(set(found) <= {'OK', FULL} and found.get('OK', 0) >= 100, f'1,000 calls at once: {found}')
    sphere = random.Random(3)
    many = wire.make('MeasurePenetration', {'p': {'vertices': {'xyz': [sphere.gauss(0, 1) for _ in range(6000)]}}, 'q': {'vertices': {'xyz': [sphere.gauss(0, 1) for _ in range(6000)]}}})
    found = codes([wire.stub('MeasurePenetration').future(many, timeout=0.001) for _ in range(200)])
    report.holds(set(found) <= {'OK', FULL, 'DEADLINE_EXCEEDED'}, f'deadlines of a millisecond: {found}')
    futures = [stub.future(request, timeout=20) for _ in range(300)]
    for future in futures: future.cancel()
    found = codes(futures)
    report.holds(set(found) <= {'OK', FULL, 'CANCELLED'}, f'cancelled calls: {found}')


def in_use(wire, report):
    """A polytope cannot be deleted under a session, and aliases cannot be stolen."""
    points = [random.random() for _ in range(30)]
    alias = f'attack-{os.getpid()}'
    reply = wire.call('RegisterPolytopes', {'polytopes': [{'vertices': {'xyz': points}, 'alias': alias}]})
    report.holds(reply.code == 'OK', f'registered: {reply}')
    report.refused('an alias that is taken', wire.call('RegisterPolytopes', {'polytopes': [{**CUBE, 'alias': alias}]}), 'ALREADY_EXISTS', 'ALIAS_TAKEN')
    for bad in ('a b', 'x' * 201, '☃', '\n'): report.refused(f'alias {bad[:10]!r}', wire.call('RegisterPolytopes', {'polytopes': [{**CUBE, 'alias': bad}]}), BAD)
    session = opened(wire, report, {'bodies': [{'id': 1, 'parts': [{'alias': alias}]}]})
    report.refused('delete in use', wire.call('DeletePolytope', {'alias': alias}), 'FAILED_PRECONDITION', 'POLYTOPE_IN_USE')
    wire.call('CloseSession', {'sessionId': session})
    report.holds(wire.call('DeletePolytope', {'alias': alias}).code == 'OK', 'delete after use')
    report.refused('delete twice', wire.call('DeletePolytope', {'alias': alias}), MISSING)
    for method in ('GetPolytope', 'DeletePolytope'): report.refused(f'{method} of nothing', wire.call(method, {}), BAD)


def silent(wire, report):
    """Connections that never say a word do not keep others out, at least not for long."""
    count, raws = wire.limit('connections_max') + 20, []
    address = wire.address.rsplit(':', 1)
    try:
        for _ in range(min(count, 3000)):
            raws.append(socket.create_connection(address, timeout=2))
    except OSError: pass # full, which is allowed
    patience = 30
    try:
        fresh = grpc.insecure_channel(wire.address, [('grpc.use_local_subchannel_pool', 1)])
        start = time.monotonic()
        reply = wire.call('GetServerInfo', {}, timeout=patience, channel=fresh)
        if reply.code == 'UNAVAILABLE': reply = wire.call('GetServerInfo', {}, timeout=patience, channel=fresh)
        report.holds(reply.code == 'OK', f'{len(raws)} silent connections keep a client out for {time.monotonic() - start:.1f} s: {reply}')
        fresh.close()
    finally:
        for raw in raws: raw.close()


def vital(wire, report, after):
    """Health, GetServerInfo and a question: quickly. The process: alive, and not grown out of bounds."""
    for method, request in (('Check', {}), ('GetServerInfo', {}), ('CheckCollision', {'p': CUBE, 'q': at(3)})):
        start = time.monotonic()
        reply = wire.call(method, request, timeout=10)
        seconds = time.monotonic() - start
        report.holds(reply.code == 'OK' and seconds < 2 * wire.slow, f'after {after}: {method} after {seconds:.2f} s: {reply}')
        if method == 'Check' and reply.code == 'OK': report.holds(reply.message.status == 1, f'after {after}: health is {reply.message.status}')
    report.holds(wire.rss() < 2048 * MIB, f'after {after}: {wire.rss() // MIB} MiB')


def stop(wire, report):
    """SIGTERM while streams are open: each is told, and the process ends in time although one client never hangs up."""
    told, done, never = [], threading.Event(), threading.Event()

    def talk(hang_up):
        first = wire.make('StreamSession', {'open': {'state': scene(0, 3)}})
        try:
            for reply in wire.stub('StreamSession')(iter_then_wait([first], hang_up, 60), timeout=60):
                if reply.notice == 1: told.append(True)
        except grpc.RpcError: pass
    for k in range(10): threading.Thread(target=talk, args=(done if k else never,), daemon=True).start()
    until(10, lambda: wire.call('ListSessions', {}).message.total_size >= 10)
    start = time.monotonic()
    os.kill(wire.options.pid, signal.SIGTERM)
    until(5, lambda: len(told) == 10)
    report.holds(len(told) == 10, f'{len(told)} of 10 streams were told of the drain')
    done.set()
    report.holds(until(wire.drain + 5, lambda: not alive(wire.options.pid)), f'the process has not ended {time.monotonic() - start:.1f} s after SIGTERM')
    print(f'{"stop":20} ended {time.monotonic() - start:.1f} s after SIGTERM')
    never.set()


ATTACKS = [numbers, bytes_that_are_none, too_large, meshes, solids, surfaces, clouds, round_cells, fields, deep_ranges, forged, pages, in_use, frames, streams, half_sent, upload, crowd, abandoned, silent]


def main():
    parser = argparse.ArgumentParser(); add = parser.add_argument
    add('address'); add('--pid', type=int); add('--stop', action='store_true')
    add('--points', type=int, default=1_000_000); add('--slow', type=float, default=1); add('--only', default='')
    options = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    wire, report = Wire(options.address, options.slow), Report()
    wire.options, wire.drain = options, wire.limit('drain_seconds_max')

    def rss():
        if not options.pid: return 0
        with open(f'/proc/{options.pid}/statm') as file: return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')
    wire.rss = rss
    begin = time.monotonic()
    for attack in ATTACKS:
        if options.only and attack.__name__ not in options.only.split(','): continue
        start, checks = time.monotonic(), report.checks
        try: attack(wire, report)
        except Exception as error: report.holds(False, f'{attack.__name__} failed: {type(error).__name__}: {error} (line {error.__traceback__.tb_next.tb_lineno})')
        vital(wire, report, attack.__name__)
        print(f'{attack.__name__:20} {report.checks - checks:5} checks  {time.monotonic() - start:5.1f} s  {rss() // MIB:5} MiB', flush=True)
        if options.pid and not alive(options.pid): report.holds(False, f'the process died of {attack.__name__}'); break
    if options.stop and options.pid: stop(wire, report)
    print(f'{report.checks} checks, {len(report.broken)} broken, {time.monotonic() - begin:.1f} s')
    sys.exit(bool(report.broken))


if __name__ == '__main__': main()
