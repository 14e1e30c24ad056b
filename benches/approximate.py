#!/usr/bin/env python3
"""The service beside a planner's library that approximates: a Panda among boxes, verdicts and edges, in turn.

    python3 benches/approximate.py PROGRAM [--server BINARY] [--rounds N] [--count N] [--boxes N ...]

PROGRAM CASES KIND OUT answers for the other library, on one thread, without an engine of its own around it. It reads
CASES, little-endian: u32 boxes, of each f64 centre[3], axes[3][3] (a row an axis), half lengths[3]; u32 configurations, of
each f64[7]; then twice (the short edges, the long ones) u32 edges, f64[7] of each start, f64[7] of each end. KIND is
`verdicts`, `short` or `long`. It prints nanoseconds of thread time an item, the least of five passes, and writes a byte an
item to OUT: 1 for free.

Ours is the processor time of the whole server, the wire included, and proves what it says: of edges that each is free all the
way, or names a configuration in contact. The other library's answers are compared with these, so that its speed stands
beside what it gets wrong. Boxes are smaller as they become more, so that about as much of the space is full.
"""
import argparse, os, pathlib, statistics, struct, subprocess, sys, tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import planner
from planner import np

KINDS = {'verdicts': None, 'short': (.2, 1), 'long': (2, 6)}


def scaled_boxes(count):
    """As many boxes as asked for, about as full as fifty."""
    scale = (50 / count) ** (1 / 3)
    return [(size * scale, at) for size, at in planner.boxes(count)]


def write_cases(path, boxes, q, edges):
    with open(path, 'wb') as out:
        out.write(struct.pack('<I', len(boxes)))
        for size, at in boxes:
            out.write(np.concatenate([at[:3, 3], at[:3, :3].T.ravel(), size / 2]).astype('<f8').tobytes())
        out.write(struct.pack('<I', len(q)) + np.ascontiguousarray(q[:, :7]).astype('<f8').tobytes())
        for a, b in edges:
            out.write(struct.pack('<I', len(a)))
            for ends in (a, b):
                out.write(np.ascontiguousarray(ends[:, :7]).astype('<f8').tobytes())


def requests_of(service, cell, q, edges):
    """The question of each kind, and how an answer says what is free."""
    pb = service.pb
    requests = {'verdicts': (service.robots.CheckConfigurations, pb.CheckConfigurationsRequest(cell=cell, values=q.ravel()),
                             lambda answer: np.array(answer.verdicts) == service.geometry.VERDICT_SEPARATED)}
    for (kind, _), (a, b) in zip(list(KINDS.items())[1:], edges):
        request = pb.CheckEdgesRequest(cell=cell, starts=a.ravel(), ends=b.ravel(), any_contact=True)
        requests[kind] = (service.robots.CheckEdges, request,
                          lambda answer: np.array(answer.outcomes) == service.geometry.OUTCOME_NO_CONTACT)
    return requests


def among(count, service, asked, scratch):
    boxes, q = scaled_boxes(count), planner.configurations(asked.count)
    edges = [planner.edges(asked.count, *KINDS[kind]) for kind in ('short', 'long')]
    cases, out = os.path.join(scratch, 'cases'), os.path.join(scratch, 'out')
    write_cases(cases, boxes, q, edges)
    cell = service.cell(boxes)
    for kind, (call, request, free_of) in requests_of(service, cell, q, edges).items():
        call(request)  # Warms up.
        ours, theirs = [], []
        for _ in range(asked.rounds):
            spent, answer = planner.timed(service.processor_time, lambda: call(request))
            ours.append(spent / asked.count)
            printed = subprocess.run([asked.program, cases, kind, out], check=True, capture_output=True, text=True).stdout
            theirs.append(float(printed) * 1e-9)
        free, said = free_of(answer), np.frombuffer(pathlib.Path(out).read_bytes(), np.uint8) == 1
        ours, theirs = 1 / statistics.median(ours), 1 / statistics.median(theirs)
        print(f'| {count} | {kind} | {ours:,.0f} | {theirs:,.0f} | {ours / theirs:.2f} | {int((said & ~free).sum())} of '
              f'{int(said.sum())} | {int((~said & free).sum())} of {int((~said).sum())} |', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('program')
    parser.add_argument('--server', default=str(planner.TARGET / 'release' / 'clearance'))
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--count', type=int, default=10_000, help='configurations, short edges and long ones, each')
    parser.add_argument('--boxes', type=int, nargs='+', default=[5, 50, 500, 2000])
    asked = parser.parse_args()
    print('| boxes | | ours a second and core, proven | theirs | ratio | called free, in contact in truth | refused, free in truth |')
    print('|--:|---|--:|--:|--:|--:|--:|')
    with tempfile.TemporaryDirectory() as scratch:
        service = planner.Service(asked.server, scratch)
        try:
            for count in asked.boxes:
                among(count, service, asked, scratch)
        finally:
            service.stop()


if __name__ == '__main__':
    main()
