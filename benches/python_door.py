#!/usr/bin/env python3
"""What Python adds: the same questions from Python and from Rust, in the process, and from Python over the wire.

    python3 benches/python_door.py [--configurations N] [--rounds N]

Needs the wheel (docs/python.md) and cargo. Questions: two bodies given by their sizes; one configuration of a Panda among 50
boxes with its cell; and many configurations of it, on a stream of messages of a MiB. Rust gets the requests that Python sends
(`benches/door.rs`, through the same services) and reads no answer; Python makes its arrays. Each figure is the least of the
rounds, which others on the machine disturb least; small questions are the mean of 2,000 calls of a round."""
import argparse, os, pathlib, re, subprocess, sys, tempfile, time

import clearance
import numpy as np
from clearance import _wire, client, messages

TOP = pathlib.Path(__file__).resolve().parent.parent
CALLS = 2000


def scene():
    random = np.random.default_rng(1)
    robot = clearance.Robot.from_urdf(TOP / 'data/panda/panda.urdf', TOP / 'data/panda/panda.srdf',
                                      package_dirs=TOP / 'data/panda', treatment=clearance.Treatment.HULL)
    place = lambda: [random.choice([-1, 1]) * random.uniform(.4, .8), random.uniform(-.8, .8), random.uniform(0, 1.1)]
    return robot, clearance.Cell(robot, [clearance.box(.1, .15, .2).at(place()) for _ in range(50)])


def least(rounds, ask, count=1):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(count): ask()
        times.append((time.perf_counter() - begin) / count)
    return min(times)


class Recorder:
    """Instead of an engine: keeps what would be sent."""

    def __init__(self, engine): self.engine, self.sent = engine, []

    def __getattr__(self, name): return getattr(self.engine, name)

    def call(self, method, request, timeout=None):
        self.sent.append((method, request))
        return self.engine.call(method, request, timeout)


def write(folder, name, method, requests):
    parts = [method.encode(), *requests]
    (folder / name).write_bytes(b''.join(len(part).to_bytes(4, 'little') + part for part in parts))


def requests(folder, p, q, cell, values):
    """The requests that Python sends, as files for Rust."""
    engine = clearance.Engine(Recorder(clearance.local()._engine))
    engine.collide(p, q)
    write(folder, '1-small-two bodies', *[(method, [sent]) for method, sent in engine._engine.sent][0])
    first, others = engine._head(cell, messages.CheckConfigurationsRequest, mode=1, with_gradient=False, report_limits=False)
    write(folder, '0-once-robot', '/clearance.v1.RobotService/RegisterRobot', [cell.robots[0].request])
    one = first + _wire.numbers(3, values[0])
    write(folder, '2-small-one configuration', '/clearance.v1.RobotService/CheckConfigurations', [one])
    rows = client._VALUE_BYTES // (8 * cell.dof)
    heads = [first] + [others] * len(values)
    cut = [values[at:at + rows] for at in range(0, len(values), rows)]
    stream = [_wire.delimited(1, head + _wire.numbers(3, part)) for head, part in zip(heads, cut)]
    write(folder, '3-stream-many configurations', '/clearance.v1.RobotService/StreamConfigurations', stream)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--configurations', type=int, default=100_000)
    parser.add_argument('--rounds', type=int, default=15)
    options = parser.parse_args()
    robot, cell = scene()
    values = robot.sample(options.configurations, 2)
    p, q = clearance.placed(clearance.box(1, 1, 1)), clearance.ball(.5).at([1.2, 0, 0])
    server = subprocess.Popen([sys.executable, '-m', 'clearance', 'serve', '--listen', '127.0.0.1:0'], stdout=subprocess.PIPE, text=True)
    address = re.search(r'listening on (\S+)', server.stdout.readline()).group(1)
    try:
        engines = {'in the process': clearance.local(), 'over the wire': clearance.connect(address)}
        rows = {}
        for name, engine in engines.items():
            rows[name] = [
                least(options.rounds, lambda: engine.collide(p, q), CALLS),
                least(options.rounds, lambda: engine.check(cell, values[0]), CALLS),
                least(options.rounds, lambda: engine.check(cell, values).verdicts),
            ]
    finally:
        server.terminate(); server.wait()
    with tempfile.TemporaryDirectory() as folder:
        requests(pathlib.Path(folder), p, q, cell, values)
        told = subprocess.run(['cargo', 'bench', '--quiet', '--bench', 'door', '--', folder], cwd=TOP, text=True,
                              stdout=subprocess.PIPE, check=True).stdout
    rust = dict(line.split('\t') for line in told.splitlines())
    rows['Rust, in the process'] = [float(time) for name, time in sorted(rust.items()) if not name.startswith('0')]
    print(f'{"":24}{"two bodies":>14}{"one configuration":>20}{options.configurations:>12,} configurations')
    for name, (two, one, many) in rows.items():
        print(f'{name:24}{two * 1e6:11.1f} µs{one * 1e6:17.1f} µs{many * 1e3:16.1f} ms')


if __name__ == '__main__': main()
