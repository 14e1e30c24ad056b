#!/usr/bin/env python3
"""The service beside pinocchio and coal on a planner's day: a Panda among 50 boxes.

    python3 benches/planner.py [--server BINARY] [--rounds N] [--configurations N] [--edges N]

Needs nothing but Python, cargo and, the first time, the network: pinocchio, coal, numpy and grpcio are fetched into
`target/planner-venv`, and the release binary is built if it is not there. What is compared: verdicts and signed least
clearances of random configurations, both on the same pairs, in turn, round by round, each the median of the rounds.

- Ours is the service as it is built for use, over gRPC from Python: the processor time of the whole server process,
  reading the wire and writing answers included, per core. Cells and robots are sent once.
- Theirs is in process, loops in C++ and one call a configuration from Python: the processor time of that thread. Its
  tree gives verdicts, its pair-by-pair distances the least clearance. Meshes are hulls in both.

Edges are only ours: proven along the whole path. Coal's at 51 samples of each are timed beside them and prove nothing.
"""
import argparse, os, pathlib, re, statistics, subprocess, sys, tempfile, time

TOP = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get('CARGO_TARGET_DIR', TOP / 'target'))
PANDA = TOP / 'data' / 'panda'
PACKAGES = ['numpy', 'grpcio', 'grpcio-tools', 'pin', 'coal']
# The joints' limits as the scene draws them; the fingers stay 2 cm open.
LIMITS = [(-2.8973, 2.8973), (-1.7628, 1.7628), (-2.8973, 2.8973), (-3.0718, -0.0698), (-2.8973, 2.8973), (-0.0175, 3.7525),
          (-2.8973, 2.8973)]
MESHES = [f'link{i}' for i in range(8)] + ['hand']


def in_venv():
    """Starts this script again in an environment that has its packages."""
    venv = TARGET / 'planner-venv'
    python = venv / 'bin' / 'python'
    if pathlib.Path(sys.prefix).resolve() == venv.resolve():
        sys.exit(f'{venv} lacks a package that was installed; remove it and try again')
    ready = venv / 'ready'
    if not ready.exists():
        print(f'fetching {", ".join(PACKAGES)} into {venv}', file=sys.stderr)
        for command in ([sys.executable, '-m', 'venv', venv], [python, '-m', 'pip', 'install', '-q', *PACKAGES]):
            if subprocess.run(command).returncode:
                sys.exit(f'{" ".join(PACKAGES)} could not be fetched: this bench needs the network once, or an '
                         'interpreter that has them')
        ready.touch()
    os.execv(python, [python, *sys.argv])


try:
    import coal, grpc, grpc_tools, numpy as np, pinocchio as pin
    from grpc_tools import protoc
except ImportError:
    in_venv()


def boxes(count=50, seed=1):
    """Full sizes and 4x4 placements in the robot's base frame, metres, none in the base itself."""
    rng, out = np.random.default_rng(seed), []
    while len(out) < count:
        size, centre = rng.uniform(.04, .2, 3), rng.uniform([-.8, -.8, 0.0], [.8, .8, 1.1])
        if np.linalg.norm(centre[:2]) < .38:
            continue
        w, x, y, z = (a := rng.normal(size=4)) / np.linalg.norm(a)
        placed = np.eye(4)
        placed[:3, :3] = [[1 - 2*(y*y + z*z), 2*(x*y - w*z), 2*(x*z + w*y)],
                          [2*(x*y + w*z), 1 - 2*(x*x + z*z), 2*(y*z - w*x)],
                          [2*(x*z - w*y), 2*(y*z + w*x), 1 - 2*(x*x + y*y)]]
        placed[:3, 3] = centre
        out.append((size, placed))
    return out


def configurations(count, seed=2):
    rng, limits = np.random.default_rng(seed), np.array(LIMITS)
    return np.hstack([rng.uniform(limits[:, 0], limits[:, 1], (count, 7)), np.full((count, 1), .02)])


def edges(count, least, most, seed=3):
    """Pairs of configurations whose joints differ by `least` to `most` radians in sum, before limits cut them."""
    rng, limits = np.random.default_rng(seed), np.array(LIMITS)
    a = configurations(count, seed)
    d = rng.normal(size=(count, 7))
    d *= rng.uniform(least, most, (count, 1)) / np.abs(d).sum(1, keepdims=True)
    b = a.copy()
    b[:, :7] = np.clip(a[:, :7] + d, limits[:, 0], limits[:, 1])
    return a, b


class Service:
    """A server of ours, the calls, and its processor time."""

    def __init__(self, binary, scratch, *flags):
        proto = TOP / 'proto'
        files = [str(path) for path in sorted(proto.glob('clearance/v1/*.proto'))]
        well_known = pathlib.Path(grpc_tools.__file__).parent / '_proto'
        if protoc.main(['', f'-I{proto}', f'-I{well_known}', f'--python_out={scratch}', f'--grpc_python_out={scratch}', *files]):
            sys.exit('the stubs could not be generated')
        sys.path.insert(0, scratch)
        from clearance.v1 import geometry_pb2, robot_service_pb2, robot_service_pb2_grpc
        self.geometry, self.pb = geometry_pb2, robot_service_pb2
        command = [binary, 'serve', '--listen', '127.0.0.1:0', *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        address = None
        for line in self.process.stdout:
            if found := re.search(r'127\.0\.0\.1:[1-9]\d*', line):
                address = found[0]
                break
        if not address:
            sys.exit(f'{binary} did not start')
        # What it says later is of no use here, and must not fill the pipe.
        import threading
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.channel = grpc.insecure_channel(address, options=[('grpc.max_receive_message_length', -1)])
        self.robots = robot_service_pb2_grpc.RobotServiceStub(self.channel)

    def cell(self, placed_boxes):
        pb, vector = self.pb, lambda v: self.geometry.Vector3(x=v[0], y=v[1], z=v[2])
        read = lambda name: (PANDA / name).read_bytes()
        meshes = [pb.RobotMesh(name=f'{name}.stl', content=read(f'collision/{name}.stl')) for name in MESHES]
        request = pb.RegisterRobotRequest(urdf=read('panda.urdf'), srdf=read('panda.srdf'), meshes=meshes)
        request.mesh_treatment = 1  # the hulls of the meshes, as the peers have them
        robot = self.robots.RegisterRobot(request).robot
        obstacles = []
        for size, at in placed_boxes:
            pose = self.geometry.Pose(translation=vector(at[:3, 3]))
            pose.rotation_matrix.rows.extend(at[:3, :3].ravel())
            obstacles.append(pb.RobotObstacle(box=vector(size), pose=pose))
        return pb.RobotCell(robots=[pb.RobotInstance(robot_id=robot.id)], obstacles=obstacles)

    def processor_time(self):
        """Seconds that all its threads have run."""
        total = 0
        for task in pathlib.Path(f'/proc/{self.process.pid}/task').iterdir():
            total += int((task / 'schedstat').read_text().split()[0])
        return total * 1e-9

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Peer:
    """Pinocchio and coal on the same scene and pairs."""

    def __init__(self, placed_boxes, scratch):
        text = (PANDA / 'panda.urdf').read_text()
        text = re.sub(r'filename="[^"]*?([^/"]+\.stl)"', lambda found: f'filename="{PANDA}/collision/{found[1]}"', text)
        urdf = os.path.join(scratch, 'panda.urdf')
        pathlib.Path(urdf).write_text(text)
        self.model = pin.buildModelFromUrdf(urdf, mimic=True)
        self.geometry = pin.buildGeomFromUrdf(self.model, urdf, pin.GeometryType.COLLISION)
        for held in self.geometry.geometryObjects:
            if isinstance(held.geometry, coal.BVHModelBase):
                held.geometry.buildConvexHull(True, 'Qt')
                held.geometry = held.geometry.convex
        for i, (size, at) in enumerate(placed_boxes):
            self.geometry.addGeometryObject(pin.GeometryObject(f'box{i}', 0, 0, pin.SE3(at), coal.Box(*size)))
        self.geometry.addAllCollisionPairs()
        pin.removeCollisionPairs(self.model, self.geometry, str(PANDA / 'panda.srdf'))
        for pair in list(self.geometry.collisionPairs):
            a, b = self.geometry.geometryObjects[pair.first], self.geometry.geometryObjects[pair.second]
            if a.parentFrame == b.parentFrame or a.parentJoint == b.parentJoint == 0:
                self.geometry.removeCollisionPair(pair)
        self.data, self.results = self.model.createData(), pin.GeometryData(self.geometry)
        self.tree = pin.BroadPhaseManager_DynamicAABBTreeCollisionManager(self.model, self.geometry, self.results)

    def collides(self, q):
        return pin.computeCollisions(self.model, self.data, self.tree, q, True)

    def clearance(self, q):
        pair = pin.computeDistances(self.model, self.data, self.geometry, self.results, q)
        return self.results.distanceResults[pair].min_distance


def timed(clock, run):
    start = clock()
    answer = run()
    return clock() - start, answer


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--server', default=str(TARGET / 'release' / 'clearance'))
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--configurations', type=int, default=10_000)
    parser.add_argument('--edges', type=int, default=10_000, help='of at most 1 rad, and as many of 2 to 6')
    asked = parser.parse_args()
    if not os.path.exists(asked.server):
        subprocess.run(['cargo', 'build', '--release', '--quiet'], cwd=TOP, check=True)
    with tempfile.TemporaryDirectory() as scratch:
        service = Service(asked.server, scratch)
        try:
            one = Service(asked.server, scratch, '--compute-threads', '1')
            try:
                all_cores([one, service], configurations(asked.configurations))
            finally:
                one.stop()
            compare(service, Peer(boxes(), scratch), asked)
        finally:
            service.stop()


def compare(service, peer, asked):
    pb, cell = service.pb, service.cell(boxes())
    q = configurations(asked.configurations)
    few = q[:max(1, len(q) // 10)]
    verdicts = pb.CheckConfigurationsRequest(cell=cell, values=q.ravel())
    clearances = pb.CheckConfigurationsRequest(cell=cell, values=q.ravel(), mode=pb.CHECK_MODE_CLEARANCE)
    check = service.robots.CheckConfigurations
    size = peer.model.nq
    ours_of = lambda request: timed(service.processor_time, lambda: check(request))
    theirs_of = lambda run, some: timed(time.thread_time, lambda: [run(v) for v in some[:, :size]])
    check(verdicts), check(clearances)  # Warms up.
    spent = {name: [] for name in ('boolean', 'clearance', 'tree', 'distances')}
    for _ in range(asked.rounds):
        ours, free = ours_of(verdicts)
        theirs, collide = theirs_of(peer.collides, q)
        spent['boolean'].append(ours / len(q)), spent['tree'].append(theirs / len(q))
        ours, near = ours_of(clearances)
        theirs, least = theirs_of(peer.clearance, few)
        spent['clearance'].append(ours / len(q)), spent['distances'].append(theirs / len(few))
    rate = {name: 1 / statistics.median(times) for name, times in spent.items()}
    print(f'{len(q)} configurations, {len(peer.geometry.collisionPairs)} pairs, {asked.rounds} rounds in turn; a second and core:')
    print(f'verdicts {rate["boolean"]:,.0f}, coal\'s tree {rate["tree"]:,.0f}')
    print(f'signed least clearances {rate["clearance"]:,.0f}, coal\'s distances {rate["distances"]:,.0f}')
    ours = np.array(free.verdicts) != service.geometry.VERDICT_SEPARATED
    print(f'verdicts that differ: {int((ours != np.array(collide)).sum())} of {len(q)}, {int(ours.sum())} in contact')
    lower = np.array(near.clearance_lowers)[:len(few)]
    apart = lower > 0
    print(f'clearances apart that differ by more than 1e-5 m: {int((np.abs(lower - least)[apart] > 1e-5).sum())} of {int(apart.sum())}')
    one_at_a_time(service, cell, q)
    proven = paths(service, peer, cell, asked)
    print(f'ratio booleans {rate["boolean"] / rate["tree"]:.1f}')
    print(f'ratio clearance {rate["clearance"] / rate["distances"]:.1f}')
    print(proven)


def one_at_a_time(service, cell, q):
    """Wall time of a call with one configuration: unary with its cell, and a message of a stream."""
    pb, count = service.pb, min(2000, len(q))
    request = pb.CheckConfigurationsRequest(cell=cell)

    def unary(values):
        del request.values[:]
        request.values.extend(values)
        return service.robots.CheckConfigurations(request)

    def messages():
        yield pb.StreamConfigurationsRequest(check=pb.CheckConfigurationsRequest(cell=cell, values=q[0]))
        for values in q[1:count]:
            asked.wait()
            asked.clear()
            yield pb.StreamConfigurationsRequest(check=pb.CheckConfigurationsRequest(values=values))

    import threading
    asked = threading.Event()
    walls = {'unary': [], 'in a stream': []}
    for values in q[:count]:
        walls['unary'].append(timed(time.perf_counter, lambda: unary(values))[0])
    answers = service.robots.StreamConfigurations(messages())
    next(answers)
    for _ in range(count - 1):
        start = time.perf_counter()
        asked.set()
        next(answers)
        walls['in a stream'].append(time.perf_counter() - start)
    for name, times in walls.items():
        times.sort()
        p50, p99 = (times[int(len(times) * part)] * 1e3 for part in (.5, .99))
        print(f'one configuration a call, {name}: p50 {p50:.3f} ms, p99 {p99:.3f} ms, from Python')


def all_cores(services, q):
    """How much faster a large batch is on all cores than on one, by the server's own clock, in turn."""
    large = np.tile(q, (max(1, 50_000 // len(q)), 1))
    cells = [service.cell(boxes()) for service in services]
    for name in ('CHECK_MODE_FIRST_PAIR', 'CHECK_MODE_CLEARANCE'):
        times = [[], []]
        for _ in range(5):
            for service, cell, taken in zip(services, cells, times):
                mode = service.pb.CheckMode.Value(name)
                request = service.pb.CheckConfigurationsRequest(cell=cell, values=large.ravel(), mode=mode)
                elapsed = service.robots.CheckConfigurations(request).cost.elapsed
                taken.append(elapsed.seconds + elapsed.nanos * 1e-9)
        one, every = map(statistics.median, times)
        print(f'{name.lower()}, {len(large)} in a call: {len(large) / every:,.0f} a second on {os.cpu_count()} cores, '
              f'{one / every:.2f} times as many as on one')


def paths(service, peer, cell, asked):
    """Edges proven, and coal's verdicts at 51 samples of some of them."""
    pb, size = service.pb, peer.model.nq
    outcome = service.geometry.Outcome
    rates, undecided, total = [], 0, 0
    for least, most in ((.2, 1), (2, 6)):
        a, b = edges(asked.edges, least, most)
        request = pb.CheckEdgesRequest(cell=cell, starts=a.ravel(), ends=b.ravel())
        service.robots.CheckEdges(request)
        runs = [timed(service.processor_time, lambda: service.robots.CheckEdges(request)) for _ in range(asked.rounds)]
        rate = len(a) / statistics.median(run[0] for run in runs)
        any_contact = pb.CheckEdgesRequest(cell=cell, starts=a.ravel(), ends=b.ravel(), any_contact=True)
        short = [timed(service.processor_time, lambda: service.robots.CheckEdges(any_contact)) for _ in range(asked.rounds)]
        any_rate = len(a) / statistics.median(run[0] for run in short)
        if [o == outcome.OUTCOME_NO_CONTACT for o in short[0][1].outcomes] != [o == outcome.OUTCOME_NO_CONTACT for o in runs[0][1].outcomes]:
            sys.exit('any contact is asked for, and other edges are free')
        outcomes = [outcome.Name(o) for o in runs[0][1].outcomes]
        open_ = outcomes.count('OUTCOME_UNDECIDED')
        free = np.array([o == 'OUTCOME_NO_CONTACT' for o in outcomes])
        some = min(300, len(a))
        steps = np.linspace(0, 1, 51)[:, None]
        sampled = lambda: [any(peer.collides(v) for v in a[i, :size] + steps * (b - a)[i, :size]) for i in range(some)]
        theirs, hits = timed(time.thread_time, sampled)
        wrong = int((np.array(hits) & free[:some]).sum())
        print(f'edges of {least} to {most} rad: {rate:,.0f} proven or bracketed a second and core, {any_rate:,.0f} proven free '
              f'or with any contact, {int(free.sum())} free, '
              f'{outcomes.count("OUTCOME_CONTACT")} in contact, {open_} undecided of {len(a)}; '
              f'coal at 51 samples {some / theirs:,.0f}, of ours proven free {wrong} of {some} sampled in contact')
        rates.append(rate)
        undecided, total = undecided + open_, total + len(a)
    return f'edges {rates[0]:,.0f} per core-second, undecided {undecided} of {total}'


if __name__ == '__main__':
    main()
