#!/usr/bin/env python3
"""OMPL plans for a Panda arm, with the service as its judge, beside pinocchio and coal.

    python3 examples/ompl_paths.py [--problems N] [--seconds S] [--seed N] [--picture FILE] [--server BINARY]

The arm stands among 50 boxes, or among 30 thin things beside: sheets of 2 mm and wires of 2 by 2 mm. RRT-Connect and PRM
look for paths between random free configurations, with three judges of a motion from one configuration to another:

- `coal, 51 samples`: pinocchio and coal in process, 51 configurations of the motion, ends included.
- `service, 51 samples`: the same 51 configurations in one `CheckConfigurations`.
- `service, proven`: `CheckEdges`, which proves the motion of the joints free or says where its first contact is.

Each path is then given to `CheckPath`, which tells what a sampled path is in truth; where one is in contact, coal is
asked about the very configuration of the contact. All times are wall time from Python.

The service is that of `benches/planner.py`, which fetches pinocchio, coal, numpy and grpcio into `target/planner-venv`;
OMPL is fetched there too.
"""
import argparse, dataclasses, os, pathlib, statistics, subprocess, sys, tempfile, time

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / 'benches'))
import planner
from planner import np, pin

try:
    from ompl import base as ob, geometric as og, util as ou
except ImportError:
    subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', 'ompl'], check=True)
    os.execv(sys.executable, [sys.executable, *sys.argv])

JOINTS = len(planner.LIMITS)
FINGERS = .02
SAMPLES = np.linspace(0, 1, 51)[:, None]
PLANNERS = {'RRT-Connect': og.RRTConnect, 'PRM': og.PRM}


def thin_things(count=30, seed=7):
    """Sheets of 2 mm and wires of 2 by 2 mm where the arm moves, as `planner.boxes` gives boxes."""
    rng, placed = np.random.default_rng(seed), planner.boxes(count, seed)
    sizes = [np.array([.3, .3, .002] if i % 2 else [.5, .002, .002]) for i in range(count)]
    return [(rng.permutation(size), at) for size, (_, at) in zip(sizes, placed)]


class Coal:
    """Pinocchio and coal, in process: what they say at 51 samples, which proves nothing about the motion between."""
    name = 'coal, 51 samples'

    def __init__(self, peer):
        self.peer = peer

    def free(self, q):
        return not self.peer.collides(q[:self.peer.model.nq])

    def moves(self, a, b):
        return all(self.free(q) for q in a + SAMPLES * (b - a))


class Sampled:
    """The service at the same 51 samples, in one call."""
    name = 'service, 51 samples'

    def __init__(self, service, cell):
        self.service, self.cell = service, cell
        self.separated = service.geometry.VERDICT_SEPARATED

    def verdicts(self, configurations):
        request = self.service.pb.CheckConfigurationsRequest(cell=self.cell, values=configurations.ravel())
        return self.service.robots.CheckConfigurations(request).verdicts

    def free(self, q):
        return all(verdict == self.separated for verdict in self.verdicts(q))

    def moves(self, a, b):
        return self.free(a + SAMPLES * (b - a))


class Proven(Sampled):
    """The service's proof about the whole motion; the ends are configurations of it."""
    name = 'service, proven'

    def moves(self, a, b):
        request = self.service.pb.CheckEdgesRequest(cell=self.cell, starts=a, ends=b)
        return list(self.service.robots.CheckEdges(request).outcomes) == [self.service.geometry.OUTCOME_NO_CONTACT]


def values(state):
    """A state of OMPL as joint values of the robot: its seven joints and the finger."""
    return np.append(state[:JOINTS], FINGERS)


class Motions(ob.MotionValidator):
    """A judge as OMPL calls it."""

    def __init__(self, information, judge):
        super().__init__(information)
        self.judge, self.asked = judge, 0

    def checkMotion(self, a, b, *_):
        self.asked += 1
        return self.judge.moves(values(a), values(b))


@dataclasses.dataclass
class Plan:
    seconds: float
    asked: int
    waypoints: np.ndarray


def plan(kind, judge, start, goal, limit):
    """OMPL's first path from start to goal, or nothing within `limit` seconds."""
    space, bounds = ob.RealVectorStateSpace(JOINTS), ob.RealVectorBounds(JOINTS)
    for joint, (low, high) in enumerate(planner.LIMITS):
        bounds.setLow(joint, low)
        bounds.setHigh(joint, high)
    space.setBounds(bounds)
    setup = og.SimpleSetup(space)
    information = setup.getSpaceInformation()
    setup.setStateValidityChecker(lambda state: judge.free(values(state)))
    motions = Motions(information, judge)
    information.setMotionValidator(motions)
    ends = [space.allocState(), space.allocState()]
    for state, q in zip(ends, (start, goal)):
        for joint in range(JOINTS):
            state[joint] = float(q[joint])
    setup.setStartAndGoalStates(*ends)
    setup.setPlanner(PLANNERS[kind](information))
    begun = time.perf_counter()
    solved = setup.solve(limit)
    seconds = time.perf_counter() - begun
    if not solved or not setup.haveExactSolutionPath():
        return None
    return Plan(seconds, motions.asked, np.array([values(state) for state in setup.getSolutionPath().getStates()]))


@dataclasses.dataclass
class Row:
    """What one judge reached on all problems."""
    plans: list = dataclasses.field(default_factory=list)
    proven: int = 0
    colliding: int = 0
    confirmed: int = 0
    undecided: int = 0

    def take(self, found, scene):
        self.plans.append(found)
        service, outcomes = scene.service, scene.service.geometry
        answer = service.robots.CheckPath(service.pb.CheckPathRequest(cell=scene.cell, waypoints=found.waypoints.ravel()))
        self.proven += answer.outcome == outcomes.OUTCOME_NO_CONTACT
        self.undecided += answer.outcome == outcomes.OUTCOME_UNDECIDED
        if answer.outcome != outcomes.OUTCOME_CONTACT:
            return None
        self.colliding += 1
        contact = scene.contact(found.waypoints, answer)
        self.confirmed += not Coal(scene.peer).free(contact)
        return contact

    def line(self, problems):
        found = len(self.plans)
        if not found:
            return f'found 0 of {problems}'
        seconds = sorted(each.seconds for each in self.plans)
        asked = statistics.median(each.asked for each in self.plans)
        return (f'found {found} of {problems}, first path after {statistics.median(seconds):.3f} s '
                f'(slowest {seconds[-1]:.2f}), {asked:.0f} motions asked; in truth {self.proven} free, '
                f'{self.colliding} in contact ({self.confirmed} so by coal at that configuration), {self.undecided} undecided')


class Scene:
    """The arm among things, for the service and for its peer."""

    def __init__(self, name, service, things, scratch):
        self.name, self.service, self.things = name, service, things
        self.cell, self.peer = service.cell(things), planner.Peer(things, scratch)
        self.judges = [Coal(self.peer), Sampled(service, self.cell), Proven(service, self.cell)]

    def problems(self, count, seed):
        """Random pairs of free configurations."""
        q = planner.configurations(40 * count, seed)
        verdicts = np.array(self.judges[1].verdicts(q))
        free = q[verdicts == self.service.geometry.VERDICT_SEPARATED]
        if len(free) < 2 * count:
            sys.exit(f'{self.name}: only {len(free)} of {len(q)} configurations are free')
        return free[:2 * count].reshape(count, 2, -1)

    def contact(self, waypoints, answer):
        """The configuration of a path's first contact."""
        edges = answer.edges
        edge, at = next((i, t) for i, t in zip(edges.near_indices, edges.contact_at) if t == t)
        a, b = waypoints[edge], waypoints[edge + 1]
        return a + at * (b - a)


def compare(scene, asked):
    """All planners with all judges on the same problems, in turn; a sampled path that is in contact, and a proven one."""
    problems, shown = scene.problems(asked.problems, asked.seed), {}
    for kind in PLANNERS:
        rows = {judge.name: Row() for judge in scene.judges}
        for start, goal in problems:
            for judge in scene.judges:
                if (found := plan(kind, judge, start, goal, asked.seconds)) is None:
                    continue
                contact = rows[judge.name].take(found, scene)
                longest = shown.get('proven')
                if isinstance(judge, Proven) and (longest is None or len(found.waypoints) > len(longest)):
                    shown['proven'] = found.waypoints
                if contact is not None:
                    shown.setdefault('contact', (found.waypoints, contact))
        for name, row in rows.items():
            print(f'{scene.name}, {kind}, {name}: {row.line(asked.problems)}', flush=True)
    return shown


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--server', default=str(planner.TARGET / 'release' / 'clearance'))
    parser.add_argument('--problems', type=int, default=20, help='pairs of configurations a scene')
    parser.add_argument('--seconds', type=float, default=20, help='the longest search for one path')
    parser.add_argument('--seed', type=int, default=5)
    parser.add_argument('--picture', help='an SVG file for one proven path')
    asked = parser.parse_args()
    if not os.path.exists(asked.server):
        subprocess.run(['cargo', 'build', '--release', '--quiet'], cwd=TOP, check=True)
    ou.setLogLevel(ou.LogLevel.LOG_ERROR)
    ou.RNG.setSeed(asked.seed)
    with tempfile.TemporaryDirectory() as scratch:
        service = planner.Service(asked.server, scratch)
        try:
            scenes = {'50 boxes': planner.boxes(), '50 boxes and 30 thin things': planner.boxes() + thin_things()}
            for name, things in scenes.items():
                scene = Scene(name, service, things, scratch)
                shown = compare(scene, asked)
        finally:
            service.stop()
        if asked.picture and 'proven' in shown:
            import ompl_picture
            pathlib.Path(asked.picture).write_text(ompl_picture.draw(scene.peer, scene.things, shown['proven']))
            print(f'drew {asked.picture}')


if __name__ == '__main__':
    main()
