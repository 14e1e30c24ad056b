"""One suite, asked of the engine in this process and of a server that is started from the same package.

Run: python -m unittest discover -s clients/wheel/tests    (with the wheel installed)"""
import asyncio
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import clearance
import numpy as np
from clearance import _wire, aio, client, messages, verifying
from clearance.errors import Code

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PANDA = os.path.join(TOP, "data", "panda")
TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])


def arm():
    """Six joints in a row, each with a box of 0.3 m: quick to register, whatever the build."""
    links = "".join(f'<link name="link{i}"><collision><origin xyz="0 0 0.15"/><geometry><box size="0.08 0.08 0.26"/></geometry>'
                    "</collision></link>" for i in range(7))
    joints = "".join(f'<joint name="joint{i}" type="revolute"><parent link="link{i}"/><child link="link{i + 1}"/>'
                     f'<origin xyz="0 0 0.3"/><axis xyz="{i % 2} {(i + 1) % 2} 0"/>'
                     '<limit lower="-2.5" upper="2.5" effort="1" velocity="1"/></joint>' for i in range(6))
    return clearance.Robot.from_urdf(f'<robot name="arm">{links}{joints}</robot>')


def panda():
    return clearance.Robot.from_urdf(os.path.join(PANDA, "panda.urdf"), os.path.join(PANDA, "panda.srdf"),
                                     package_dirs=PANDA, treatment=clearance.Treatment.HULL)


def boxes(count=8, seed=3):
    random = np.random.default_rng(seed)
    return [clearance.box(0.1, 0.15, 0.2).at([random.choice([-1, 1]) * random.uniform(0.4, 0.8), random.uniform(-0.8, 0.8),
                                              random.uniform(0, 1.1)]) for _ in range(count)]


class Server:
    """`python -m clearance serve`."""

    def __init__(self, *flags, port=0):
        self.process = subprocess.Popen([sys.executable, "-m", "clearance", "serve", "--listen", f"127.0.0.1:{port}", *flags],
                                        stdout=subprocess.PIPE, text=True, cwd=TOP)
        self.line = self.process.stdout.readline()
        self.address = self.line.split("listening on ")[1].split(" ")[0]

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(30)
        self.process.stdout.close()
        return self.process.returncode


class Answers:
    """What every engine answers."""

    engine: clearance.Engine

    def test_verdicts_are_exact(self):
        ball, box = clearance.ball(0.5), clearance.box(1, 1, 1)
        for x, verdict in [(np.nextafter(1, 2), "SEPARATED"), (1, "TOUCHING"), (np.nextafter(1, 0), "OVERLAPPING")]:
            told = self.engine.collide(box, ball.at([x, 0, 0]))
            self.assertEqual(told.verdict.name, verdict)
            self.assertEqual(bool(told), verdict != "SEPARATED")
            self.assertIsNone(told.within_margin)
        near = self.engine.collide(box, ball.at([1.25, 0, 0]), margin=0.25)
        self.assertTrue(near.within_margin)
        self.assertFalse(self.engine.collide(box, ball.at([1.25, 0, 0]), margin=0.2499).within_margin)

    def test_all_kinds_of_bodies_are_taken(self):
        class Mesh:  # As trimesh has it.
            vertices, faces = TETRAHEDRON, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])

        far = clearance.box(0.1, 0.1, 0.1).at([0, 0, 9])
        for body in [TETRAHEDRON, clearance.points(CUBE), clearance.capsule(1, 0.2), clearance.cylinder(0.3, 1),
                     clearance.cone(0.3, 1), clearance.ellipsoid(1, 2, 3), clearance.half_space(),
                     clearance.rounded(CUBE, 0.1), clearance.cloud(CUBE), clearance.cloud(CUBE.astype(np.float32), 0.1),
                     Mesh(), clearance.mesh(Mesh()), clearance.points(CUBE).registered()]:
            self.assertEqual(self.engine.collide(body, far).verdict, clearance.Verdict.SEPARATED)
            self.assertEqual(self.engine.collide(body, clearance.ball(0.5)).verdict, clearance.Verdict.OVERLAPPING)

    def test_a_mesh_is_what_it_is(self):
        outer, inner = CUBE * 4 - 2, CUBE * 3 - 1.5
        cube = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
                [1, 5, 7], [1, 7, 3]]
        hollow = np.array(cube + [[a + 8, c + 8, b + 8] for a, b, c in cube])
        shell = clearance.mesh(np.concatenate([outer, inner]), hollow)
        ball = clearance.ball(0.5)
        self.assertEqual(self.engine.collide(shell, ball).verdict.name, "SEPARATED", "it is in the hollow")
        hull = clearance.mesh(np.concatenate([outer, inner]), hollow, clearance.Treatment.HULL)
        self.assertEqual(self.engine.collide(hull, ball).verdict.name, "OVERLAPPING")
        open_box = clearance.mesh(CUBE, np.array(cube[:-2]))
        self.assertTrue(self.engine.register(open_box).startswith("s1-"))

    def test_places_are_said_in_three_ways(self):
        turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
        whole = np.eye(4)
        whole[:3, :3], whole[:3, 3] = turn, [3, 0, 0]
        long, q = clearance.box(4, 1, 1), clearance.box(1, 1, 1)
        root = np.sqrt(0.5)
        for place in [long.at([3, 0, 0], turn), long.at(whole), long.at([3, 0, 0], [root, 0, 0, root])]:
            told = self.engine.distance(place, q)
            self.assertLessEqual(told.lower, told.upper)
            self.assertAlmostEqual(told.lower, 2.0, 12)
        for wrong in [([0, 0], None), ([0, 0, 0], [1, 0]), (np.ones((4, 4)), None)]:
            self.assertRaises(ValueError, long.at, *wrong)

    def test_distances_enclose_and_have_points(self):
        told = self.engine.distance(clearance.box(1, 1, 1), clearance.ball(0.5).at([3, 0, 0]))
        self.assertLessEqual(told.lower, 2.0)
        self.assertGreaterEqual(told.upper, 2.0)
        self.assertAlmostEqual(np.linalg.norm(told.points[0] - told.points[1]), 2.0, 9)

    def test_first_contacts_are_bracketed(self):
        cube = clearance.box(1, 1, 1)
        told = self.engine.first_contact(cube, cube.at([3, 0, 0]), clearance.linear([4, 0, 0]))
        self.assertEqual(told.outcome, clearance.Outcome.CONTACT)
        self.assertTrue(told.t_free <= 0.5 <= told.t_contact)
        away = self.engine.first_contact(cube, cube.at([3, 0, 0]), q_motion=clearance.to_pose([9, 0, 0]))
        self.assertEqual(away.outcome, clearance.Outcome.NO_CONTACT)
        turning = self.engine.first_contact(clearance.box(4, 0.1, 0.1), cube.at([0, 2, 0]), clearance.screw([0, 0, 1], 1.6))
        self.assertEqual(turning.outcome, clearance.Outcome.CONTACT)

    def test_answers_are_verified_and_false_ones_are_not(self):
        inner = np.concatenate([CUBE, [[0.5, 0.5, 0.5], [0.5, 0.5, 0.0]], CUBE[:2]])
        bodies = [clearance.points(inner), clearance.box(1, 1, 1), clearance.ball(0.5), clearance.capsule(1, 0.25)]
        turn = [0.5, 0.5, -0.5, 0.5]
        for p in bodies:
            for q in bodies:
                for x in (0.0, 0.75, 1.0, 2.5):
                    self.engine.collide(p, q.at([x, 0, 0], turn), verify=True)
                    self.engine.distance(p, q.at([x, 0, 0], turn), verify=True)
        p, q = clearance.placed(bodies[1]), clearance.placed(bodies[0].at([2, 0, 0]))
        self.engine.collide(p, q, margin=2.0, verify=True)
        told = self.engine.collide(p, q, certificate=True).message
        verifying.collision(p, q, None, told)
        with self.assertRaises(clearance.NotVerified):
            verifying.collision(p, clearance.placed(bodies[0].at([0.5, 0, 0])), None, told)
        far = clearance.points(np.concatenate([CUBE, [[-9.0, 0.5, 0.5]]])).at([2, 0, 0])
        with self.assertRaises(clearance.NotVerified):  # One point more, which the certificate does not know.
            verifying.collision(p, far, None, told)
        told.verdict = 2
        with self.assertRaises(clearance.NotVerified):
            verifying.collision(p, q, None, told)
        plain = self.engine.collide(p, q).message
        self.assertRaises(clearance.NotVerified, verifying.collision, p, q, None, plain)
        self.assertRaises(clearance.NotVerified, self.engine.collide, p, clearance.cylinder(1, 1), verify=True)

    def test_refusals_name_code_field_and_reason(self):
        with self.assertRaises(clearance.Error) as caught:
            self.engine.collide(clearance.points([[0, 0, np.nan]]), clearance.ball(1))
        error = caught.exception
        self.assertEqual((error.code, error.reason), (Code.INVALID_ARGUMENT, "BAD_FIELD"))
        self.assertTrue(error.field.startswith("p.vertices"), error.field)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.field), (str(error), error.field))
        with self.assertRaises(clearance.Error) as caught:
            self.engine.call("PolytopeService/GetPolytope", {"id": "p1-" + "0" * 64})
        self.assertEqual((caught.exception.code, caught.exception.reason), (Code.NOT_FOUND, "UNKNOWN_POLYTOPE"))
        with self.assertRaises(clearance.Error) as caught:
            self.engine.call("QueryService/CheckCollision", b"\xff\xff")
        self.assertEqual(caught.exception.reason, "MALFORMED_MESSAGE")
        with self.assertRaises(clearance.Error) as caught:
            self.engine.call("QueryService/CheckCollision", bytes(5 << 20))
        self.assertEqual(caught.exception.reason, "LIMIT_EXCEEDED")
        self.assertEqual(caught.exception.metadata["limit"], "message_bytes_max")
        self.assertRaises(ValueError, self.engine.call, "QueryService/Nothing")
        self.assertRaises(ValueError, self.engine.call, "ServerService/GetServerInfo", timeout=-1.0)

    def test_any_method_takes_messages_fields_and_bytes(self):
        asked = messages.CheckCollisionRequest()
        for body, x in ((asked.p, 0.0), (asked.q, 1.0)):
            body.vertices.xyz.extend(CUBE.ravel())
            body.pose.translation.x = x
        told = self.engine.call("QueryService/CheckCollision", asked)
        self.assertEqual(told.verdict, messages.Verdict.Value("VERDICT_TOUCHING"))
        raw = self.engine.call("QueryService/CheckCollision", asked.SerializeToString())
        self.assertIsInstance(raw, bytes)
        self.assertEqual(messages.CheckCollisionResponse.FromString(raw).verdict, told.verdict)
        self.assertTrue(self.engine.info().build.version)

    def test_configurations_are_checked_in_every_mode(self):
        robot, cell = self.robot, self.cell
        values = robot.sample(300, 1)
        free = self.engine.check(cell, values)
        self.assertEqual((len(free), free.verdicts.shape), (300, (300,)))
        self.assertTrue(0 < free.free.sum() < 300)
        clearances = self.engine.check(cell, values, mode=clearance.Mode.CLEARANCE, gradient=True)
        np.testing.assert_array_equal(free.free, clearances.lower > 0)
        self.assertTrue((clearances.lower <= clearances.upper).all())
        self.assertEqual((clearances.gradients.shape, clearances.normals.shape), ((300, robot.dof), (300, 3)))
        named = {clearances.name(number) for number in clearances.pairs.ravel()}
        self.assertTrue(named <= set(robot.links) | set(cell.obstacles), named)
        links = self.engine.check(cell, values, mode=clearance.Mode.LINK_CLEARANCE)
        self.assertEqual(links.lower.shape[0], 300)
        np.testing.assert_array_equal(links.lower.min(axis=1), clearances.lower)
        every = self.engine.check(cell, values, mode=clearance.Mode.ALL_PAIRS)
        np.testing.assert_array_equal(np.unique(every.contacts[:, 0]), np.flatnonzero(~free.free))
        alone = self.engine.check(robot, values[7])
        self.assertEqual(alone.count, 1)

    def test_long_lists_are_cut_and_put_together(self):
        values = self.robot.sample(120, 2)
        values[77, 2] = 99.0
        ends = values * 0.9 + self.robot.sample(120, 4) * 0.1
        modes = list(clearance.Mode)
        whole = [self.engine.check(self.cell, values, mode=mode, gradient=True) for mode in modes]
        edges = self.engine.check_edges(self.cell, values, ends)
        kept = client._VALUE_BYTES
        client._VALUE_BYTES = 8 * self.robot.dof * 37
        try:
            cut = [self.engine.check(self.cell, values, mode=mode, gradient=True) for mode in modes]
            cut_edges = self.engine.check_edges(self.cell, values, ends)
        finally:
            client._VALUE_BYTES = kept
        for one, other in [*zip(whole, cut), (edges, cut_edges)]:
            self.assertEqual(one._lists, other._lists)
            (refused,) = one.refused
            self.assertEqual((refused.index, refused.count, refused.code), (77, 1, Code.INVALID_ARGUMENT))
        limits = self.engine.check(self.cell, values, report_limits=True)
        self.assertEqual(limits.beyond_limits.tolist(), [[77, 2]])
        self.assertTrue(0 < edges.free.sum() < 120)
        self.assertTrue((edges.free_until[edges.free] == 1).all())
        self.assertEqual(len(edges.contact_at), len(edges.near))

    def test_arrays_of_any_kind_are_taken_and_wrong_shapes_are_not(self):
        values = self.robot.sample(40, 5)
        expected = self.engine.check(self.cell, values).verdicts
        strided = np.zeros((80, self.robot.dof))
        strided[::2] = values
        for other in [np.asfortranarray(values), strided[::2], values.tolist(), values.copy().astype(">f8")]:
            np.testing.assert_array_equal(self.engine.check(self.cell, other).verdicts, expected)
        self.assertEqual(self.engine.check(self.cell, np.zeros((0, self.robot.dof))).count, 0)
        for wrong in [values[:, :-1], values.ravel(), values[None]]:
            self.assertRaises(ValueError, self.engine.check, self.cell, wrong)
        self.assertRaises(ValueError, self.engine.check_edges, self.cell, values, values[:-1])

    def test_several_robots_stand_in_one_cell(self):
        both = clearance.Cell([(self.robot, [0, 0, 0]), (self.robot, [5, 0, 0], [0, 0, 0, 1.0])], {"post": clearance.ball(0.1)})
        self.assertEqual(both.dof, 2 * self.robot.dof)
        told = self.engine.check(both, np.zeros((3, both.dof)), report_limits=True, mode=clearance.Mode.CLEARANCE)
        self.assertEqual(told.count, 3)
        self.assertEqual(both.names[-1], "post")

    def test_streams_go_both_ways(self):
        with self.engine.stream("RobotService/StreamConfigurations") as stream:
            cell = {"robots": [{"robot_id": self.engine.register(self.robot)}]}
            stream.send({"check": {"cell": cell, "values": self.robot.sample(3, 1).ravel()}})
            self.assertEqual(stream.receive().answer.count, 3)
            stream.send({"check": {"values": self.robot.sample(2, 1).ravel()}})
            told = stream.receive()
            self.assertEqual((told.first_index, told.answer.count), (3, 2))
            stream.end()
            self.assertEqual(list(stream), [])
        self.assertRaises(RuntimeError, stream.send, {})
        wrong = self.engine.stream("RobotService/StreamConfigurations")
        wrong.send({})
        with self.assertRaises(clearance.Error) as caught:
            wrong.receive()
        self.assertEqual(caught.exception.field, "check")

    def test_a_scene_goes_on_frame_by_frame(self):
        cube = clearance.box(1, 1, 1)
        bodies = [clearance.Body(1, cube, name="wall", fixed=True), clearance.Body(2, cube, [4, 0, 0], name="cart")]
        with self.engine.session(bodies, report={"first_contacts": True, "pairs": "PAIR_SELECTION_ALL"}) as session:
            self.assertEqual((session.checked_pairs, session.first.events), (1, []))
            first = session.step([2], [[2, 0, 0]])
            self.assertEqual((first.events, first.verdicts.tolist()), ([], [1]))
            # Through the wall in one frame.
            (began, ended) = session.step([2], np.array([[-2.0, 0, 0]]), [[1.0, 0, 0, 0]]).events
            self.assertEqual((began.kind, began.a, began.b, ended.kind), ("BEGAN", 1, 2, "ENDED"))
            self.assertTrue(began.time[0] <= 0.25 <= began.time[1])
            with self.assertRaises(clearance.Error) as caught:
                session.step(removed_body_names=["nobody"])
            self.assertTrue(caught.exception.field.startswith("removed_body_names"), caught.exception.field)
            added = session.step(added=[clearance.Body(3, clearance.ball(0.1).at([0, 0, 2]))])
            self.assertEqual(added.counts["separated"], 3)
            self.assertEqual(sorted(body.id for body in session.state().bodies), [1, 2, 3])
            asked = {"session_id": session.id, "session_key": session.key,
                     "queries": [{"ray": {"origin": {"z": 9}, "displacement": {"z": -20}}}]}
            self.assertEqual(len(self.engine.call("SessionService/QueryScene", asked).answers), 1)
            self.assertRaises(ValueError, session.step, [1, 2], [[0, 0, 0]])
        with self.assertRaises(clearance.Error):
            session.step()

    def test_robots_of_a_scene_move_by_their_joints(self):
        arm = clearance.RobotBody(100, self.robot, np.zeros(6), name="arm", fixed_base=True)
        post = clearance.Body(1, clearance.box(0.1, 0.1, 0.1), [0.6, 0, 1.0], fixed=True)
        with self.engine.session([post], [arm], {"first_contacts": True}) as session:
            events = session.step(robots={100: [2.0, 0, 0, 0, 0, 0]}).events
            self.assertIn("BEGAN", {event.kind for event in events})
            self.assertTrue({event.b_link for event in events} <= set(self.robot.links), events)

    def test_a_signal_ends_what_waits(self):
        def ring(*_):
            raise TimeoutError("rung")

        before = signal.signal(signal.SIGALRM, ring)
        try:
            stream = self.engine.stream("RobotService/StreamConfigurations")
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            begin = time.monotonic()
            self.assertRaises(TimeoutError, stream.receive)
            self.assertLess(time.monotonic() - begin, 5)
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_whoever_waits_has_not_pythons_lock(self):
        stream = self.engine.stream("RobotService/StreamConfigurations")
        told = []
        waiter = threading.Thread(target=lambda: told.append(stream.receive()))
        waiter.start()
        time.sleep(0.2)
        self.assertEqual(told, [])
        stream.end()
        waiter.join(10)
        self.assertEqual(told, [None])

    def test_threads_ask_at_once(self):
        values = self.robot.sample(200, 6)
        expected = self.engine.check(self.cell, values).verdicts.tolist()
        told = [None] * 4

        def ask(at):
            told[at] = self.engine.check(self.cell, values).verdicts.tolist()

        threads = [threading.Thread(target=ask, args=(at,)) for at in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(told, [expected] * 4)

    def test_times_are_kept(self):
        with self.assertRaises(clearance.Error) as caught:
            self.engine.check(self.cell, self.robot.sample(20000, 1), mode=clearance.Mode.CLEARANCE, timeout=1e-4)
        self.assertEqual(caught.exception.code, Code.DEADLINE_EXCEEDED)

    def test_tasks_of_asyncio_wait_for_it(self):
        async def ask():
            engine = aio.of(self.engine)
            told = await asyncio.gather(*(engine.collide(clearance.ball(1), clearance.ball(1).at([x, 0, 0])) for x in (1, 3)))
            session = await engine.session([clearance.Body(1, clearance.ball(1))])
            async with session:
                report = await session.step([1], [[1, 0, 0]])
            return [one.verdict.name for one in told], report.frame_id

        self.assertEqual(asyncio.run(ask()), (["OVERLAPPING", "SEPARATED"], 1))

    def test_what_was_forgotten_is_registered_again(self):
        values = self.robot.sample(10, 1)
        expected = self.engine.check(self.cell, values).verdicts.tolist()
        self.engine.call("RobotService/DeleteRobot", {"id": self.engine.register(self.robot)})
        self.assertEqual(self.engine.check(self.cell, values).verdicts.tolist(), expected)


class Local(Answers, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.engine, cls.robot = clearance.local(), arm()
        cls.cell = clearance.Cell(cls.robot, boxes())

    def test_limits_are_set_by_name(self):
        small = clearance.local(message_bytes_max=1000)
        with self.assertRaises(clearance.Error) as caught:
            small.collide(clearance.points(np.zeros((100, 3))), clearance.ball(1))
        self.assertEqual(caught.exception.metadata["limit"], "message_bytes_max")
        self.assertRaises(ValueError, clearance.local, nothing_max=1)
        self.assertIs(clearance.local(), clearance.local())

    def in_child(self, ask):
        """What a child of this process exits with; it is not waited for without end."""
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if ask() else 3)
            except BaseException:
                import traceback
                traceback.print_exc()
                os._exit(4)
        for _ in range(600):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.05)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "it hung"

    def test_a_process_that_is_forked_starts_its_own_engine(self):
        values = self.robot.sample(3000, 8)
        expected = self.engine.check(self.cell, values).verdicts.tolist()
        stream = self.engine.stream("RobotService/StreamConfigurations")
        session = self.engine.session([clearance.Body(1, clearance.ball(1))])

        def ask():
            own = self.engine.check(self.cell, values).verdicts.tolist() == expected
            for old in (stream.receive, session.step):
                try:
                    old()
                    return False
                except RuntimeError:
                    pass
            # A child of its own, too.
            return own and self.in_child(lambda: self.engine.check(self.cell, values).verdicts.tolist() == expected) == 0

        done = threading.Event()

        def busy():
            while not done.is_set():
                self.engine.check(self.cell, values)

        thread = threading.Thread(target=busy)
        thread.start()
        try:
            told = [self.in_child(ask) for _ in range(5)]
        finally:
            done.set()
            thread.join()
        self.assertEqual(told, [0] * 5)
        self.assertEqual(self.engine.check(self.cell, values).verdicts.tolist(), expected)
        session.close()


class Remote(Answers, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.engine, cls.robot = clearance.connect(cls.server.address), arm()
        cls.cell = clearance.Cell(cls.robot, boxes())
        cls.engine.register(cls.robot)

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0

    def test_both_ways_tell_the_same(self):
        values = self.robot.sample(400, 9)
        for mode in clearance.Mode:
            told = [engine.check(self.cell, values, mode=mode, gradient=True) for engine in (self.engine, clearance.local())]
            self.assertEqual(told[0]._lists, told[1]._lists)

    def test_a_restart_is_not_noticed(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
        server = Server(port=port)
        engine = clearance.connect(server.address, attempts=10)
        cell, values = clearance.Cell(self.robot, boxes()), self.robot.sample(50, 3)
        expected = engine.check(cell, values).verdicts.tolist()
        cube = clearance.box(1, 1, 1)
        bodies = [clearance.Body(1, cube, fixed=True), clearance.Body(2, cube, [4, 0, 0])]
        session = engine.session(bodies, report={"first_contacts": True})
        session.step([2], [[2, 0, 0]])
        server.stop(signal.SIGKILL)
        server = Server(port=port)
        began, ended = session.step([2], [[-2, 0, 0]]).events
        self.assertEqual((began.kind, ended.kind), ("BEGAN", "ENDED"))
        self.assertEqual(engine.check(cell, values).verdicts.tolist(), expected)
        session.close()
        self.assertEqual(server.stop(), 0)

    def test_nobody_there_is_told_at_once(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            with self.assertRaises(clearance.Error) as caught:
                clearance.connect(f"127.0.0.1:{taken.getsockname()[1]}")
        self.assertEqual(caught.exception.code, Code.UNAVAILABLE)

    def test_tls_is_spoken(self):
        with tempfile.TemporaryDirectory() as folder:
            cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
            made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                                   "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                                   "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE",
                                   "-keyout", key, "-out", cert], capture_output=True)
            self.assertEqual(made.returncode, 0, made.stderr)
            server = Server("--tls-cert", cert, "--tls-key", key)
            port = server.address.rpartition(":")[2]
            for tls in (cert, {"authorities": open(cert).read(), "server_name": "localhost"}):
                engine = clearance.connect(f"127.0.0.1:{port}", tls=tls)
                self.assertTrue(engine.collide(clearance.ball(1), clearance.ball(1)))
            with self.assertRaises(clearance.Error):
                clearance.connect(f"http://127.0.0.1:{port}", attempts=1).info()
            server.stop()


class Package(unittest.TestCase):
    def test_lists_are_written_as_the_runtime_writes_them(self):
        numbers = [0, 1, 127, 128, 16383, 16384, (1 << 21) - 1, 1 << 21, (1 << 28) - 1, 1 << 28, (1 << 32) - 1]
        expected = messages.Mesh(triangles=numbers).SerializeToString()
        self.assertEqual(_wire.counts(2, numbers), expected)
        self.assertRaises(ValueError, _wire.counts, 2, [1 << 32])
        self.assertEqual(_wire.numbers(1, [1.5, -2]), messages.Points(xyz=[1.5, -2]).SerializeToString())
        self.assertEqual(_wire.fixed(1, [7, 1 << 31]), messages.PackedPoses(ids=[7, 1 << 31]).SerializeToString())

    def test_the_panda_is_read_with_its_meshes(self):
        robot = panda()
        self.assertEqual((robot.name, robot.dof, len(robot.links)), ("panda", 8, 13))
        self.assertTrue((robot.lower < robot.upper).all())
        named = robot.description.states[0]
        values = dict(zip(named.joints, named.values))
        ready = [values.get(name, 0.02) for name in robot.variables]
        self.assertEqual(clearance.local().check(robot, ready).free.tolist(), [True])

    def test_meshes_of_a_urdf_are_found(self):
        urdf = ('<robot name="r"><link name="base"><collision><geometry><mesh filename="package://arm/meshes/a.stl"/>'
                "</geometry></collision></link></robot>")
        with open(os.path.join(PANDA, "collision", "finger.stl"), "rb") as file:
            finger = file.read()
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "arm", "meshes"))
            with open(os.path.join(folder, "arm", "meshes", "a.stl"), "wb") as file:
                file.write(finger)
            inside = os.path.join(folder, "arm")
            for dirs in [folder, [folder], inside, {"arm": inside}]:
                robot = clearance.Robot.from_urdf(urdf, package_dirs=dirs, treatment=clearance.Treatment.HULL)
                self.assertEqual((robot.name, robot.links, robot.dof), ("r", ["base"], 0))
            for dirs in [None, {"leg": inside}, []]:
                self.assertRaises(FileNotFoundError, clearance.Robot.from_urdf, urdf, package_dirs=dirs)

    def test_stubs_that_were_generated_stay_importable(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "clearance", "v1"))
            with open(os.path.join(folder, "clearance", "v1", "made_pb2.py"), "w") as file:
                file.write("made = 7")
            path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
            code = "import clearance, clearance.v1.made_pb2 as stub; print(stub.made, clearance.Verdict(2).name)"
            told = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, text=True,
                                  capture_output=True, check=True)
        self.assertEqual(told.stdout, "7 TOUCHING\n")

    def test_the_command_tells_its_version_and_refuses_what_it_does_not_know(self):
        run = lambda *words: subprocess.run([sys.executable, "-m", "clearance", *words], capture_output=True, text=True)
        self.assertEqual(run("--version").stdout, f"clearance {clearance.__version__}\n")
        self.assertEqual(run("dance").returncode, 2)
        self.assertEqual(run("serve", "--no-such-flag").returncode, 2)
        taken = run("serve", "--listen", "127.0.0.1")
        self.assertEqual((taken.returncode, "names no port" in taken.stderr), (1, True), taken.stderr)
        self.assertEqual(run("serve", "--help").returncode, 0)


if __name__ == "__main__":
    unittest.main()
