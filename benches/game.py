#!/usr/bin/env python3
"""A game's scene on the service at 60 Hz: how late reports are, and which contacts sampling would have missed.

    python3 benches/game.py [--server BINARY] [--seconds N] [--rounds N]

2,000 bodies move among 500 fixed ones in a hall of 240 by 240 by 24 m, whose walls turn them back: 400 projectiles of
10 cm at 200 m/s, 400 of 20 cm at 60 m/s, 1,200 hulls of 1 m at up to 6 m/s; half of the fixed bodies are walls 10 cm
thick. All spin. The server has one compute thread; the client is this script, which works out and encodes each frame on
the same processors while the scene runs. Four questions in turn, round by round, each the median of the rounds:

- no first contacts: verdicts at the frames alone, which is what sampling sees;
- chosen: the 800 projectiles are `continuous`;
- all: every pair is asked when it meets;
- slop: no first contacts, and a contact begins where the distance is at most 1 cm and ends beyond 2 cm.

Late is the time from handing a frame to gRPC until its report is there. A contact is missed by sampling if it began and
ended between two frames: the pair is apart at both. Packages are those of `planner.py`.
"""
import argparse, os, queue, statistics, subprocess, sys, tempfile, time, types

import planner
from planner import TARGET, TOP, grpc, np

HALL = np.array([240.0, 240.0, 24.0])
HERTZ = 60
# How many, the radius in metres, and the speed in metres a second.
MOVERS = [(400, .1, 200.0), (400, .2, 60.0), (1_200, 1.0, 6.0)]
FAST = MOVERS[0][0] + MOVERS[1][0]
FIXED = 500
QUESTIONS = ['none', 'chosen', 'all', 'slop']


def hulls(rng, radius, count=20):
    """The corners of hulls of 30 to 150 vertices, as in the other scenes of the benches."""
    out = []
    for _ in range(count):
        points = rng.normal(size=(rng.integers(30, 151), 3))
        out.append(points / np.linalg.norm(points, axis=1, keepdims=True) * rng.uniform(.6, 1, 3) * radius)
    return out


def box(size):
    corner = np.array(size) / 2
    return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * corner


class Game:
    """The bodies, and where they are in each frame."""

    def __init__(self, seed=11):
        rng = np.random.default_rng(seed)
        self.shapes = [hull for _, radius, _ in MOVERS for hull in hulls(rng, radius)]
        self.shapes += [box([8, .1, 4]), box([3, 3, 4])]
        counts = [count for count, _, _ in MOVERS]
        self.count = sum(counts)
        kind = np.repeat(np.arange(len(MOVERS)), counts)
        self.shape = kind * 20 + np.arange(self.count) % 20
        self.place = rng.uniform(1, HALL - 1, (self.count, 3))
        speed = np.repeat([speed for _, _, speed in MOVERS], counts)
        speed[kind == 2] *= rng.uniform(.1, 1, (kind == 2).sum())
        self.velocity = unit(rng.normal(size=(self.count, 3))) * speed[:, None]
        self.turn = unit(rng.normal(size=(self.count, 4)))
        # Half a turn a second, about an axis of the hall.
        half = np.pi / 2 / HERTZ
        self.spin = np.hstack([np.full((self.count, 1), np.cos(half)), np.sin(half) * unit(rng.normal(size=(self.count, 3)))])
        self.fixed_place = rng.uniform([4, 4, 2], HALL - [4, 4, 2], (FIXED, 3))
        angle = rng.uniform(0, np.pi, FIXED)
        self.fixed_turn = np.stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)], axis=1)
        self.fixed_shape = 60 + np.arange(FIXED) % 2
        self.ids = np.arange(1, self.count + 1, dtype=np.uint32)

    def go_on(self):
        self.place += self.velocity / HERTZ
        out = ((self.place < 1) & (self.velocity < 0)) | ((self.place > HALL - 1) & (self.velocity > 0))
        self.velocity[out] *= -1
        w, x, y, z = self.turn.T
        a, b, c, d = self.spin.T
        self.turn = unit(np.stack([a*w - b*x - c*y - d*z, a*x + b*w + c*z - d*y, a*y - b*z + c*w + d*x,
                                   a*z + b*y - c*x + d*w], axis=1))


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def messages():
    """All messages and stubs of the service, whatever file of the API they are in."""
    import importlib
    names = [path.stem for path in (TOP / 'proto' / 'clearance' / 'v1').glob('*.proto')]
    modules = [importlib.import_module(f'clearance.v1.{name}_{kind}') for name in names for kind in ('pb2', 'pb2_grpc')]
    return types.SimpleNamespace(**{name: held for module in modules for name, held in vars(module).items()})


def state(pb, game, ids, question):
    """The session's bodies where the game begins."""
    def body(index, shape, place, turn, **more):
        pose = pb.Pose(translation=pb.Vector3(x=place[0], y=place[1], z=place[2]),
                       rotation=pb.Quaternion(w=turn[0], x=turn[1], y=turn[2], z=turn[3]))
        return pb.Body(id=index, parts=[pb.PlacedBody(id=ids[shape])], pose=pose, **more)
    moving = [body(i + 1, game.shape[i], game.place[i], game.turn[i], continuous=question == 'chosen' and i < FAST)
              for i in range(game.count)]
    fixed = [body(game.count + i + 1, game.fixed_shape[i], game.fixed_place[i], game.fixed_turn[i], fixed=True)
             for i in range(FIXED)]
    slop = dict(begin_margin=.01, release_margin=.02) if question == 'slop' else {}
    return pb.SessionState(bodies=moving + fixed, **slop)


class Contacts:
    """Which pairs are in contact, from the events alone, and which contacts no frame sees."""

    def __init__(self, pb):
        self.began = pb.CONTACT_EVENT_KIND_BEGAN
        self.held, self.all, self.missed, self.undecided = set(), 0, 0, 0
        self.unknown = pb.CONTACT_EVENT_KIND_UNDECIDED

    def note(self, report):
        before, begun = set(self.held), set()
        for event in report.events:
            pair = event.a, event.b
            if event.kind == self.unknown:
                self.undecided += 1
            elif event.kind == self.began:
                self.all += 1
                self.held.add(pair)
                begun.add(pair)
            else:
                self.held.discard(pair)
        self.missed += len(begun - before - self.held)


def play(service, pb, question, frames):
    """Milliseconds that each report was late, the processor time a frame, and the contacts."""
    game = Game()
    polytopes = pb.PolytopeServiceStub(service.channel)
    specs = [pb.PolytopeSpec(vertices=pb.Points(xyz=shape.ravel())) for shape in game.shapes]
    reply = polytopes.RegisterPolytopes(pb.RegisterPolytopesRequest(polytopes=specs))
    ids = [report.polytope.id for report in reply.reports]
    sessions = pb.SessionServiceStub(service.channel)
    options = pb.ReportOptions(pairs=pb.PAIR_SELECTION_NONE, first_contacts=question == 'all')
    contacts = Contacts(pb)
    opened = sessions.OpenSession(pb.OpenSessionRequest(
        session_id='game', state=state(pb, game, ids, question), report=options, replace=True))
    contacts.note(opened.report)
    contacts.all = contacts.missed = 0
    outbox = queue.SimpleQueue()
    replies = sessions.StreamSession(iter(outbox.get, None))
    outbox.put(pb.StreamSessionRequest(session_id='game', session_key=opened.session_key, take_over=True))
    late, start, spent = [], time.perf_counter(), service.processor_time()
    for frame_id in range(1, frames + 1):
        game.go_on()
        packed = pb.PackedPoses(ids=game.ids, translations=game.place.ravel(), rotations=game.turn.ravel())
        request = pb.StreamSessionRequest(frame=pb.Frame(frame_id=frame_id, packed_poses=packed))
        time.sleep(max(0.0, start + frame_id / HERTZ - time.perf_counter()))
        sent = time.perf_counter()
        outbox.put(request)
        report = next(reply.report for reply in replies if reply.HasField('report'))
        late.append((time.perf_counter() - sent) * 1e3)
        if report.HasField('status'):
            sys.exit(f'frame {frame_id}: {report.status}')
        contacts.note(report)
    spent = (service.processor_time() - spent) / frames * 1e3
    outbox.put(None)
    sessions.CloseSession(pb.CloseSessionRequest(session_id='game', session_key=opened.session_key))
    return late, spent, contacts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--server', default=str(TARGET / 'release' / 'clearance'))
    parser.add_argument('--seconds', type=int, default=10)
    parser.add_argument('--rounds', type=int, default=3)
    asked = parser.parse_args()
    if not os.path.exists(asked.server):
        subprocess.run(['cargo', 'build', '--release', '--quiet'], cwd=TOP, check=True)
    with tempfile.TemporaryDirectory() as scratch:
        service = planner.Service(asked.server, scratch, '--compute-threads', '1')
        try:
            pb = messages()
            rounds = [[play(service, pb, question, asked.seconds * HERTZ) for question in QUESTIONS]
                      for _ in range(asked.rounds)]
        finally:
            service.stop()
    print(f'{asked.seconds * HERTZ} frames at {HERTZ} Hz, medians of {asked.rounds} rounds, milliseconds')
    print(f'{"first contacts":15} {"p50":>6} {"p99":>6} {"worst":>6} {"server a frame":>15} {"contacts":>9} '
          f'{"missed by sampling":>19} {"undecided":>10}')
    for index, question in enumerate(QUESTIONS):
        runs = [one[index] for one in rounds]
        middle = lambda figure: statistics.median(figure(*run) for run in runs)
        at = lambda share: middle(lambda late, _, __: float(np.quantile(late, share)))
        counts = {(seen.all, seen.missed, seen.undecided) for _, _, seen in runs}
        if len(counts) != 1:
            sys.exit(f'{question}: the rounds told different contacts: {counts}')
        (all_of_them, missed, undecided), = counts
        print(f'{question:15} {at(.5):6.2f} {at(.99):6.2f} {at(1):6.2f} {middle(lambda _, spent, __: spent):15.2f} '
              f'{all_of_them:9} {missed:19} {undecided:10}')


if __name__ == '__main__':
    main()
