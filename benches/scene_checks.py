#!/usr/bin/env python3
"""A planner's single check in the scene of a session whose cloud changes ten times a second.

    python3 benches/scene_checks.py SERVER [--points N,N,...] [--seconds S]

SERVER is a release binary; grpcio and grpcio-tools are needed. A Panda carries a tool among a cylinder, a ball, a bin that
is a surface, and a cloud of N points, which a process of its own registers anew and puts into the scene by a frame every
tenth of a second. Meanwhile one configuration a message, and one edge of a tenth of the way to another configuration, are
asked on a stream each and by calls; beside these an empty call, which is what gRPC takes of each. Told are the wall time from Python (p50, p99 and the slowest), the server's own time
for an answer (`cost.elapsed`, p50), and the processor time of the server for each, frames included. A check that is the
first after a frame waits for what is built anew; the others do not, so this is what p99 and the slowest tell.
"""
import argparse, importlib, multiprocessing, pathlib, random, re, subprocess, sys, tempfile, time

TOP = pathlib.Path(__file__).resolve().parent.parent
PANDA = TOP / 'data' / 'panda'
TOOL, BIN, CLOUD, ARM = 1, 4, 5, 100


def stubs(folder):
    import grpc_tools
    from grpc_tools import protoc
    files = [str(path) for path in sorted((TOP / 'proto').glob('clearance/v1/*.proto'))]
    well_known = pathlib.Path(grpc_tools.__file__).parent / '_proto'
    if protoc.main(['', f'-I{TOP / "proto"}', f'-I{well_known}', f'--python_out={folder}', f'--grpc_python_out={folder}', *files]):
        sys.exit('the stubs could not be generated')


class Client:
    """The stubs of a server, and a scene of one session."""

    def __init__(self, folder, address):
        sys.path.insert(0, folder)
        import grpc
        load = lambda name: importlib.import_module(f'clearance.v1.{name}')
        self.g, self.pb, self.poly, self.query = map(load, ('geometry_pb2', 'robot_service_pb2', 'polytope_service_pb2', 'query_service_pb2'))
        self.ses, self.rob = map(load, ('session_service_pb2', 'session_robot_pb2'))
        channel = grpc.insecure_channel(address)
        self.robots = load('robot_service_pb2_grpc').RobotServiceStub(channel)
        self.shapes = load('polytope_service_pb2_grpc').PolytopeServiceStub(channel)
        self.sessions = load('session_service_pb2_grpc').SessionServiceStub(channel)

    def registered(self, **shape):
        request = self.poly.RegisterPolytopesRequest(polytopes=[self.poly.PolytopeSpec(**shape)])
        return self.shapes.RegisterPolytopes(request).reports[0].polytope.id

    def cloud(self, points, seed):
        draw = random.Random(seed).uniform
        xyz = [x for _ in range(points) for x in (draw(.6, 1), draw(-1, 1), draw(0, .2))]
        return self.registered(cloud=self.g.PointCloud(radius=.005, xyz_single=xyz))

    def opened(self, cloud):
        """The scene, and the limits of the robot's values."""
        g, ses, query = self.g, self.ses, self.query
        at = lambda x, y, z: g.Vector3(x=x, y=y, z=z)
        read = lambda name: (PANDA / name).read_bytes()
        names = ['hand'] + [f'link{k}' for k in range(8)]
        meshes = [self.pb.RobotMesh(name=f'{k}.stl', content=read(f'collision/{k}.stl')) for k in names]
        asked = self.pb.RegisterRobotRequest(urdf=read('panda.urdf'), srdf=read('panda.srdf'), meshes=meshes, mesh_treatment=1)
        panda = self.robots.RegisterRobot(asked).robot
        corners = [x for z in (0, .15) for a, b in ((-.2, -.2), (.2, -.2), (.2, .2), (-.2, .2)) for x in (a, b, z)]
        quads = [(0, 1, 2, 3)] + [(k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4) for k in range(4)]
        faces = [k for a, b, c, d in quads for k in (a, b, c, a, c, d)]
        surface = self.registered(mesh=self.poly.Mesh(vertices=g.Points(xyz=corners), triangles=faces), treatment='MESH_TREATMENT_SURFACE')
        named = lambda **core: query.PlacedBody(rounded=g.RoundedShape(**core))
        parts = [(named(box=at(.04, .04, .1)), at(0, 0, 2)), (named(cylinder=g.Cylinder(radius_xy=.05, length=.3)), at(.4, .4, .15)),
                 (named(radius=.1), at(.4, -.4, .1)), (query.PlacedBody(id=surface), at(.45, 0, 0)), (query.PlacedBody(id=cloud), at(0, 0, 0))]
        bodies = [ses.Body(id=k, fixed=k > TOOL, parts=[part], pose=g.Pose(translation=place)) for k, (part, place) in enumerate(parts, TOOL)]
        touch = ['panda_leftfinger', 'panda_rightfinger']
        tool = self.rob.AttachedBody(body_id=TOOL, link='panda_hand', pose=g.Pose(translation=at(0, 0, .12)), touch_links=touch)
        arm = self.rob.SessionRobot(id=ARM, robot_id=panda.id, fixed_base=True, attached=[tool])
        opened = self.sessions.OpenSession(ses.OpenSessionRequest(state=ses.SessionState(bodies=bodies, robots=[arm])))
        limits = [(one.lower, one.upper) for one in panda.variables]
        return dict(session_id=opened.session_id, session_key=opened.session_key), limits

    def change(self, scene, frame_id, cloud):
        change = self.ses.BodyChange(id=CLOUD, parts=[self.query.PlacedBody(id=cloud)])
        frame = self.ses.Frame(frame_id=frame_id, changed_bodies=[change])
        report = self.sessions.StepSession(self.ses.StepSessionRequest(frames=[frame], **scene)).reports[0]
        if report.status.code:
            sys.exit(f'a frame was refused: {report.status.message}')


def camera(folder, address, scene, points, frames):
    """A new cloud every tenth of a second. Says how many frames there were."""
    client, start, before = Client(folder, address), time.monotonic(), None
    clouds = [client.cloud(points, seed) for seed in (1, 2)]
    while frames.value >= 0:
        frame_id = frames.value + 1
        client.change(scene, frame_id, clouds[frame_id % 2])
        with frames.get_lock():
            frames.value = frame_id if frames.value >= 0 else frames.value
        time.sleep(max(0, start + frame_id * .1 - time.monotonic()))


def elapsed(answer):
    cost = getattr(answer, 'cost', None)
    return cost.elapsed.seconds + cost.elapsed.nanos * 1e-9 if cost else 0.


def processor_time(process):
    """Seconds that all threads of a process have run."""
    tasks = pathlib.Path(f'/proc/{process.pid}/task').iterdir()
    return sum(int((task / 'schedstat').read_text().split()[0]) for task in tasks) * 1e-9


def in_turn(messages, stream):
    """Asks messages of a stream one by one; the times from asking to the answer, and what the server says it took."""
    import queue
    waiting = queue.SimpleQueue()
    answers = stream(iter(waiting.get, None))
    times = []
    for message in messages:
        start = time.perf_counter()
        waiting.put(message)
        told = next(answers)
        times.append((time.perf_counter() - start, elapsed(told.answer)))
    waiting.put(None)
    return times


def by_calls(messages, call):
    times = []
    for message in messages:
        start = time.perf_counter()
        told = call(message)
        times.append((time.perf_counter() - start, elapsed(told)))
    return times


def measured(client, scene, limits, count):
    """What is asked, with a function that asks a number of them."""
    pb, draw = client.pb, random.Random(3).uniform
    values = lambda: [draw(*ends) for ends in limits]
    where = pb.RobotScene(**scene)
    configuration = lambda: pb.CheckConfigurationsRequest(scene=where, values=values())

    def edge():
        start, end = values(), values()
        return pb.CheckEdgesRequest(scene=where, starts=start, ends=[.9 * a + .1 * b for a, b in zip(start, end)])

    streamed = lambda message, ask: lambda: message(check=ask())
    kinds = [('a configuration, stream', streamed(pb.StreamConfigurationsRequest, configuration), in_turn, client.robots.StreamConfigurations),
             ('a configuration, call', configuration, by_calls, client.robots.CheckConfigurations)]
    if hasattr(client.robots, 'StreamEdges'):
        kinds.append(('an edge, stream', streamed(pb.StreamEdgesRequest, edge), in_turn, client.robots.StreamEdges))
    kinds.append(('an edge, call', edge, by_calls, client.robots.CheckEdges))
    kinds.append(('an empty call', pb.FindMissingRobotsRequest, by_calls, client.robots.FindMissingRobots))
    for name, ask, how, method in kinds:
        messages = [ask() for _ in range(count)]
        yield name, lambda: how(messages, method)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('server'), parser.add_argument('--points', default='1000,10000,100000'), parser.add_argument('--seconds', type=float, default=4)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stubs(folder)
        process = subprocess.Popen([asked.server, 'serve', '--listen', '127.0.0.1:0'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            address = next(found[0] for line in process.stdout if (found := re.search(r'127\.0\.0\.1:[1-9]\d*', line)))
            for points in map(int, asked.points.split(',')):
                client = Client(folder, address)
                scene, limits = client.opened(client.cloud(points, 0))
                frames = multiprocessing.get_context('spawn').Value('q', 0)
                seer = multiprocessing.get_context('spawn').Process(target=camera, args=(folder, address, scene, points, frames))
                seer.start()
                while not frames.value:
                    time.sleep(.05)
                for name, run in measured(client, scene, limits, 200):
                    times, begin, first, spent = [], time.monotonic(), frames.value, processor_time(process)
                    while time.monotonic() < begin + asked.seconds:
                        times += run()
                    rate = (frames.value - first) / (time.monotonic() - begin)
                    spent = (processor_time(process) - spent) / len(times)
                    walls, own = (sorted(column) for column in zip(*times))
                    p50, p99 = (walls[int(len(walls) * part)] * 1e3 for part in (.5, .99))
                    print(f'{points} points, {rate:.1f} frames a second, {name}: p50 {p50:.3f} ms, p99 {p99:.3f} ms, '
                          f'slowest {walls[-1] * 1e3:.1f} ms of {len(walls)}; the server\'s own p50 {own[len(own) // 2] * 1e3:.3f} ms, '
                          f'its processors {spent * 1e3:.3f} ms each', flush=True)
                frames.value = -1 << 40
                seer.join()
        finally:
            process.terminate()


if __name__ == '__main__':
    main()
