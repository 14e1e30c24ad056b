#!/usr/bin/env python3
"""Rays at the meshes of a case file, packed, and their registration, over the wire.

    python3 wire.py SERVER STUBS [FILE=cases.bin] [ROUNDS=3]

SERVER is the binary, STUBS a folder with what `grpc_tools.protoc` makes of `proto`, FILE what `mesh-peers` wrote.
Prints medians of the rounds: processor time of all threads of the server for a registration, milliseconds, and for a
ray, microseconds; how long a registration took on the clock; and how many rays differ from the answers of the file.
"""
import pathlib
import socket
import statistics
import struct
import subprocess
import sys
import time

import grpc
import numpy

CALL = 20_000
CALLS = 5
MESH, RAY = 1, 4


def read(path):
    """The shapes, and the rows as (what is asked, shapes, places, right answers)."""
    data = pathlib.Path(path).read_bytes()
    at = 4

    def words(count):
        nonlocal at
        found = numpy.frombuffer(data, '<u4', count, at)
        at += 4 * count
        return found

    def numbers(count):
        nonlocal at
        found = numpy.frombuffer(data, '<f8', count, at)
        at += 8 * count
        return found

    shapes, rows = [], []
    for _ in range(words(1)[0]):
        kind, _ = words(1)[0], numbers(1)
        vertices = numbers(3 * int(words(1)[0]))
        shapes.append((kind, vertices, words(3 * int(words(1)[0]))))
    for _ in range(words(1)[0]):
        asked, a, b, count = (int(word) for word in words(4))
        rows.append((asked, (a, b), numbers(20 * count).reshape(count, 20), numbers(count)))
    return shapes, rows


def spent(pid):
    tasks = pathlib.Path(f'/proc/{pid}/task').iterdir()
    return sum(int((task / 'schedstat').read_text().split()[0]) for task in tasks) * 1e-9


def main():
    server, stubs = sys.argv[1:3]
    path = sys.argv[3] if len(sys.argv) > 3 else 'cases.bin'
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    sys.path.insert(0, stubs)
    from clearance.v1 import geometry_pb2 as geometry
    from clearance.v1 import polytope_service_pb2 as polytopes, polytope_service_pb2_grpc as polytopes_grpc
    from clearance.v1 import query_service_pb2 as queries, scene_query_pb2 as scenes
    from clearance.v1 import session_service_pb2 as sessions, session_service_pb2_grpc as sessions_grpc

    shapes, rows = read(path)
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([server, 'serve', '--listen', f'127.0.0.1:{port}'], stdout=subprocess.DEVNULL)
    try:
        large = [('grpc.max_receive_message_length', -1), ('grpc.max_send_message_length', -1)]
        channel = grpc.insecure_channel(f'127.0.0.1:{port}', large)
        grpc.channel_ready_future(channel).result(30)
        register = polytopes_grpc.PolytopeServiceStub(channel)
        ask = sessions_grpc.SessionServiceStub(channel)
        times = {}
        for number in range(rounds):
            for asked, (_, mesh), places, right in rows:
                if asked != RAY:
                    continue
                _, vertices, triangles = shapes[mesh]
                # A body of its own in each round, which is not known yet.
                points = geometry.Points(xyz=(vertices * (1 + number * 2.0 ** -40)).tolist())
                spec = polytopes.PolytopeSpec(treatment=polytopes.MESH_TREATMENT_POLYHEDRON)
                spec.mesh.CopyFrom(polytopes.Mesh(vertices=points, triangles=triangles.tolist()))
                request = polytopes.RegisterPolytopesRequest(polytopes=[spec])
                before, start = spent(process.pid), time.perf_counter()
                reply = register.RegisterPolytopes(request)
                clock = time.perf_counter() - start
                report = reply.reports[0]
                if not report.polytope.id:
                    sys.exit(f'refused: {report}')
                seen = times.setdefault(len(triangles) // 3, ([], [], [], []))
                seen[0].append((spent(process.pid) - before) * 1e3)
                seen[1].append(clock * 1e3)
                w, x, y, z = places[0][10:14]
                pose = geometry.Pose(rotation=geometry.Quaternion(w=w, x=x, y=y, z=z))
                part = queries.PlacedBody(id=report.polytope.id)
                body = sessions.Body(id=1, parts=[part], pose=pose)
                state = sessions.SessionState(bodies=[body])
                ask.OpenSession(sessions.OpenSessionRequest(session_id='rays', state=state, replace=True))
                many = numpy.resize(places, (CALL, 20))
                rays = scenes.PackedRays(origins=many[:, 0:3].ravel(), displacements=many[:, 14:17].ravel())
                request = scenes.QuerySceneRequest(session_id='rays', packed_rays=rays)
                reply = ask.QueryScene(request)
                before = spent(process.pid)
                for _ in range(CALLS):
                    reply = ask.QueryScene(request)
                seen[2].append((spent(process.pid) - before) * 1e6 / CALL / CALLS)
                hits = reply.packed_hits
                found = numpy.full(CALL, numpy.inf)
                found[list(hits.rays)] = hits.time_lower
                wanted = numpy.resize(right, CALL)
                with numpy.errstate(invalid='ignore'):
                    same = (found == wanted) | (abs(found - wanted) < 1e-9)
                seen[3].append(int((~same).sum()))
        for triangles, (register_cpu, register_clock, ray, wrong) in times.items():
            median = statistics.median
            print(f'{triangles:7} triangles: registered in {median(register_cpu):7.1f} ms of the processor, '
                  f'{median(register_clock):7.1f} ms on the clock; {median(ray):6.3f} us a ray, '
                  f'{max(wrong)} of {CALL} differ by more than 1e-9')
    finally:
        process.terminate()
        process.wait()


main()
