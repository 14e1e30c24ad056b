#!/usr/bin/env python3
"""What Python adds: the same questions from Python and from Rust, in the process, and from Python over the wire.

    python3 benches/python_door.py [--configurations N] [--rounds N] [--frames N]

Needs the wheel (docs/python.md) and cargo. Questions: two bodies given by their sizes; one configuration of a Panda among 50
boxes with its cell; many configurations of it, on a stream of messages of a MiB; and a frame of 100 hulls that all move. Where the
packages `coal` and `vamp-planner` are installed, a call of theirs is timed in the same run: coal's of a box and a ball, and VAMP's of a
Panda, which it makes of balls, among as many boxes. Rust gets the requests that Python sends
(`benches/door.rs`, through the same services) and reads no answer; Python makes its arrays. Each figure is the least of the
rounds, which others on the machine disturb least; small questions are the mean of 2,000 calls of a round."""
import argparse, os, pathlib, re, subprocess, sys, tempfile, time

import clearance
import numpy as np
from clearance import _wire, client, messages, session

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


BODIES = 100


def bodies():
    """Hulls of 30 points that fly in a box of 6 m, some of which meet."""
    random = np.random.default_rng(4)
    shapes = [clearance.points(random.uniform(-.3, .3, (30, 3))).registered() for _ in range(10)]
    return [clearance.Body(at + 1, shapes[at % 10], place) for at, place in enumerate(random.uniform(-3, 3, (BODIES, 3)))]


def poses(count):
    """Where they are in each frame: translations, and quaternions."""
    random = np.random.default_rng(5)
    places = random.uniform(-3, 3, (BODIES, 3)) + np.cumsum(random.normal(0, .01, (count, BODIES, 3)), axis=0)
    turns = random.normal(size=(1, BODIES, 4)) + np.cumsum(random.normal(0, .01, (count, BODIES, 4)), axis=0)
    return list(zip(places, turns))


def frames(engine, moves):
    """The time of a frame."""
    ids = np.arange(1, BODIES + 1)
    with engine.session(bodies()) as scene:
        begin = time.perf_counter()
        for places, turns in moves: scene.step(ids, places, turns)
        return (time.perf_counter() - begin) / len(moves)


def of_coal(rounds):
    """A call of coal's Python bindings."""
    try: import coal
    except ImportError: return None
    box, ball, at, there = coal.Box(1, 1, 1), coal.Sphere(.5), coal.Transform3s(), coal.Transform3s()
    there.setTranslation(np.array([1.2, 0, 0]))
    request, result = coal.CollisionRequest(), coal.CollisionResult()

    def ask():
        result.clear()
        coal.collide(box, at, ball, there, request, result)

    return least(rounds, ask, CALLS)


def of_vamp(rounds, cell):
    """A call of VAMP's Python bindings, of seven joint values."""
    try: import vamp
    except ImportError: return None
    around = vamp.Environment()
    for body in cell.obstacles.values(): around.add_cuboid(vamp.Cuboid(list(body.told[0]), [0, 0, 0], [.05, .075, .1]))
    values = [0, -.5, 0, -2.2, 0, 1.8, .8]
    return least(rounds, lambda: vamp.panda.validate(values, around), CALLS)


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


def requests(folder, p, q, cell, values, moves):
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
    specs = {body.parts.key: _wire.delimited(1, body.parts.spec()) for body in bodies()}
    write(folder, '0-once-shapes', '/clearance.v1.PolytopeService/RegisterPolytopes', [b''.join(specs.values())])
    state = b''.join(_wire.delimited(1, body.message(engine)) for body in bodies())
    about = {'session_id': 'frames', 'session_key': 'of-the-bench-' + '0' * 32}
    opened = messages.OpenSessionRequest(**about, replace=True, report={'packed': True}).SerializeToString()
    steps = [opened + _wire.delimited(2, state)]
    for at, (places, turns) in enumerate(moves, 1):
        packed = _wire.delimited(session._PACKED, session._packed(np.arange(1, BODIES + 1), places, turns, None))
        steps.append(messages.StepSessionRequest(**about).SerializeToString()
                     + _wire.delimited(2, messages.Frame(frame_id=at).SerializeToString() + packed))
    write(folder, '4-session-frames', '/clearance.v1.SessionService/StepSession', steps)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--configurations', type=int, default=100_000)
    parser.add_argument('--rounds', type=int, default=15)
    parser.add_argument('--frames', type=int, default=300)
    options = parser.parse_args()
    robot, cell = scene()
    values, moves = robot.sample(options.configurations, 2), poses(options.frames)
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
                min(frames(engine, moves) for _ in range(options.rounds)),
            ]
    finally:
        server.terminate(); server.wait()
    with tempfile.TemporaryDirectory() as folder:
        requests(pathlib.Path(folder), p, q, cell, values, moves)
        told = subprocess.run(['cargo', 'bench', '--quiet', '--bench', 'door', '--', folder], cwd=TOP, text=True,
                              stdout=subprocess.PIPE, check=True).stdout
    rust = dict(line.split('\t') for line in told.splitlines())
    rows['Rust, in the process'] = [float(time) for name, time in sorted(rust.items()) if not name.startswith('0')]
    rows["coal's bindings"], rows["VAMP's bindings"] = [of_coal(options.rounds)], [None, of_vamp(options.rounds, cell)]
    print(f'{"":24}{"two bodies":>14}{"one configuration":>20}{options.configurations:>12,} configurations{BODIES:>8} bodies')
    for name, times in rows.items():
        two, one, many, frame = times + [None] * (4 - len(times))
        told = [f'{two * 1e6:11.1f} µs' if two else ' ' * 14, f'{one * 1e6:17.1f} µs' if one else ' ' * 20,
                f'{many * 1e3:24.1f} ms' if many else '', f'{frame * 1e6:12.1f} µs' if frame else '']
        if any(times): print(f'{name:24}' + ''.join(told))


if __name__ == '__main__': main()
