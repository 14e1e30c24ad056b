"""What notebooks show: pages with recordings in them."""
import base64
import gzip
import html
import os
import re
import sys
import tempfile
import types
import unittest
import warnings
from unittest import mock

import clearance
import numpy as np
from clearance import messages, recording, showing
from test_clearance import CUBE, arm, boxes


def records(content):
    """Topics and messages of a recording that is not cut into chunks."""
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    assert content.startswith(b"\x89MCAP0\r\n")
    at, topics, told = 8, {}, []
    while at < len(content) - 8:
        opcode, length = content[at], int.from_bytes(content[at + 1:at + 9], "little")
        body = content[at + 9:at + 9 + length]
        at += 9 + length
        if opcode == 4:
            size = int.from_bytes(body[4:8], "little")
            topics[int.from_bytes(body[:2], "little")] = body[8:8 + size].decode()
        elif opcode == 5:
            topic = topics[int.from_bytes(body[:2], "little")]
            told.append((topic, getattr(messages, recording._TOPICS[topic]).FromString(body[22:])))
    assert content[at:] == b"\x89MCAP0\r\n"
    return told


def inside(shown):
    """The recording in what a notebook is given."""
    frame = re.fullmatch(r'<iframe srcdoc="([^"]*)"[^>]*></iframe>', shown)
    page = html.unescape(frame[1])
    viewer = gzip.decompress(base64.b64decode(re.search(r'atob\("([^"]*)"', page)[1]))
    assert b"<title>clearance</title>" in viewer and b"<head>" in viewer
    return base64.b64decode(re.search(r'id="recording" type="text/plain">([^<]*)<', page)[1])


class Shown(unittest.TestCase):
    def test_answers_about_two_bodies_are_shown_with_their_proof(self):
        engine = clearance.local()
        p, q = clearance.box(1, 1, 1), clearance.points(CUBE).at([2, 0, 0])
        for answer in (engine.collide(p, q), engine.distance(p, q)):
            told = records(inside(answer._repr_html_()))
            (report,) = [message for topic, message in told if topic == "/clearance/report"]
            (pair,) = report.pairs
            self.assertEqual((pair.a, pair.b, pair.verdict), (1, 2, 1))
            self.assertTrue(pair.HasField("certificate") and pair.HasField("closest_a"))
            (watched,) = [message for topic, message in told if topic == "/clearance/watch"]
            self.assertEqual([body.pose.translation.x for body in watched.state.bodies], [0, 2])

    def test_motions_are_shown_to_their_end(self):
        engine, cube = clearance.local(), clearance.box(1, 1, 1)
        turn = [np.cos(1.0), 0, 0, np.sin(1.0)]
        for motion, end, frames in [(clearance.linear([4, 0, 0]), [4, 0, 0], 1),
                                    (clearance.to_pose([3, 1, 0], turn), [3, 1, 0], 1),
                                    (clearance.screw([0, 0, 1], 3.0, [1, 0, 0], [0, 1, 0]),
                                     [1 + np.sin(3.0), 1 - np.cos(3.0), 0], 2)]:
            answer = engine.first_contact(cube, cube.at([9, 0, 0]), motion)
            watched = [message for topic, message in records(inside(answer._repr_html_())) if topic == "/clearance/watch"]
            self.assertEqual(len(watched), 1 + frames)
            np.testing.assert_allclose(watched[-1].frame.packed_poses.translations[:3], end, atol=1e-12)
        matrix = clearance.to_pose([0, 0, 0], turn).at(0.5, [0, 0, 0], None)[1]
        np.testing.assert_allclose(matrix[:2, :2], [[np.cos(1), -np.sin(1)], [np.sin(1), np.cos(1)]], atol=1e-12)

    def test_robots_cells_and_their_answers_are_shown(self):
        robot = arm()
        cell = clearance.Cell([(robot, [0, 0, 0]), (robot, [3, 0, 0], [0, 0, 0, 1.0])], {"post": clearance.ball(0.1).at([1, 1, 1])})
        for what, robots, bodies in [(robot, 1, 0), (cell, 2, 1)]:
            told = records(inside(what._repr_html_()))
            state = next(message.state for topic, message in told if topic == "/clearance/watch")
            self.assertEqual((len(state.robots), len(state.bodies)), (robots, bodies))
            self.assertEqual(sum(topic == "/clearance/robot" for topic, _ in told), 1)
            self.assertGreaterEqual(sum(topic == "/clearance/shape" for topic, _ in told), 1)
        one = clearance.Cell(robot, boxes())
        values = robot.sample(100, 1)
        values[2, 1] = np.nan
        answer = clearance.local().check(one, values)
        watched = [message for topic, message in records(inside(answer._repr_html_())) if topic == "/clearance/watch"]
        self.assertEqual(len(watched), showing.FRAMES_MAX)
        np.testing.assert_array_equal(watched[2].frame.robot_moves[0].values, values[3])
        edges = clearance.local().check_edges(one, values[3:5], values[3:5] + 0.01)
        watched = [message for topic, message in records(inside(edges._repr_html_())) if topic == "/clearance/watch"]
        self.assertEqual(len(watched), 4)

    def test_a_session_is_shown_as_it_is_and_as_it_was_recorded(self):
        cube = clearance.box(1, 1, 1)
        bodies = [clearance.Body(1, cube, name="wall", fixed=True), clearance.Body(2, cube.registered(), [4, 0, 0])]
        with clearance.local().session(bodies) as plain, clearance.local().session(bodies, record=True) as session:
            for x in (3, 2, 0):
                plain.step([2], [[x, 0, 0]])
                session.step([2], [[x, 0, 0]])
            session.step(added=[clearance.Body(3, clearance.capsule(1, 0.25).registered(), [0, 0, 9])])
            now = records(inside(plain._repr_html_()))
            self.assertEqual([topic for topic, _ in now], ["/clearance/shape", "/clearance/watch"])
            self.assertEqual(now[1][1].state.bodies[1].pose.translation.x, 0)
            whole = records(inside(session._repr_html_()))
            count = lambda topic: sum(one == topic for one, _ in whole)
            topics = ("/clearance/open", "/clearance/frame", "/clearance/watch", "/clearance/report", "/clearance/shape")
            self.assertEqual([count(topic) for topic in topics], [1, 4, 5, 5, 2])
            frames = [message.frame_id for topic, message in whole if topic == "/clearance/frame"]
            self.assertEqual(frames, [1, 2, 3, 4])
        self.assertEqual(len(session.recording), 17)
        session._repr_html_()  # It stays when the session is closed.

    def test_recordings_are_bounded(self):
        cube = clearance.box(1, 1, 1)
        bodies = [clearance.Body(at, cube, [2.0 * at, 0, 0]) for at in range(1, 200)]
        with clearance.local().session(bodies, record=200_000) as session:
            for frame in range(40):
                session.step(np.arange(1, 200), np.random.default_rng(frame).uniform(-9, 9, (199, 3)))
            content = session.recording.content()
            self.assertLess(len(content), 200_200)
            self.assertGreater(session.recording.left_out, 0)
            records(content)
        noise = np.random.default_rng(1).bytes(2 * showing.PACKED_MAX)
        page = showing.Page(b"\x89MCAP0\r\n" + noise)
        self.assertTrue(page.is_cut)
        self.assertLess(len(page._repr_html_()), 8 << 20)

    def test_pages_are_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            path, file = os.path.join(folder, "a.html"), os.path.join(folder, "a.mcap.gz")
            page = clearance.show([clearance.box(1, 1, 1), clearance.ball(0.5).at([2, 0, 0])])
            page.save(path)
            with open(path) as saved:
                self.assertEqual(saved.read(), page.html())
            with clearance.local().session([clearance.Body(1, clearance.ball(1))], record=True) as session:
                session.recording.save(file)
            with open(file, "rb") as saved:
                content = saved.read()
            topics = [topic for topic, _ in records(content)]
            self.assertEqual(topics, ["/clearance/open", "/clearance/watch", "/clearance/report"])
            self.assertEqual(inside(clearance.show(file)._repr_html_()), content)
        live = clearance.show("http://127.0.0.1:1/?a=1&b=\"2\"")
        self.assertIn('src="http://127.0.0.1:1/?a=1&amp;b=&quot;2&quot;"', live._repr_html_())
        self.assertIs(clearance.show(live), live)

    def test_what_cannot_be_recorded_does_not_end_a_session(self):
        with clearance.local().session([clearance.Body(1, clearance.ball(1))], record=True) as session:
            session._watch._asked.session_id = "nobody"
            session._watch.end()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.assertEqual(session.step([1], [[1, 0, 0]]).frame_id, 1)
                self.assertEqual(session.step([1], [[2, 0, 0]]).frame_id, 2)
            self.assertEqual([one.category for one in caught], [RuntimeWarning])


class Rerun(types.ModuleType):
    """A double of rerun that notes what it is told."""

    def __init__(self):
        super().__init__("rerun")
        self.told, self.now = [], {}
        for name in ("Transform3D", "Mesh3D", "Points3D", "Clear"):
            setattr(self, name, lambda *given, name=name, **named: (name, given, named))
        self.Radius = types.SimpleNamespace(ui_points=lambda points: points)

    def RecordingStream(self, name):
        return self

    def set_time(self, name, **value):
        self.now[name] = value

    def log(self, path, what):
        self.told.append((self.now["frame"]["sequence"], path, what))

    def flush(self):
        pass

    def escape_entity_path_part(self, part):
        return part.replace(" ", "\\ ")


class ToRerun(unittest.TestCase):
    def test_bodies_are_triangles_that_move(self):
        robot = arm()
        bodies = [clearance.Body(1, clearance.points(CUBE).registered(), name="crate"), clearance.Body(2, clearance.capsule(1, 0.25)),
                  clearance.Body(3, clearance.cylinder(0.5, 2).registered()), clearance.Body(4, clearance.cloud(CUBE, 0.1))]
        arms = [clearance.RobotBody(100, robot, np.zeros(6), [9, 0, 0], name="arm")]
        with clearance.local().session(bodies, arms, record=True) as session:
            session.step([1], [[0, 0, 2]], [[0.0, 1, 0, 0]], robots={100: [np.pi / 2, 0, 0, 0, 0, 0]})
            session.step(removed_body_ids=[2])
            content = session.recording.content()
        double = Rerun()
        with mock.patch.dict(sys.modules, rerun=double):
            self.assertIs(clearance.to_rerun(content), double)
        told = {(frame, path, what[0]): what[2] for frame, path, what in double.told}
        mesh = told[0, "world/crate/0", "Mesh3D"]
        self.assertEqual((mesh["vertex_positions"].shape, len(mesh["triangle_indices"])), ((8, 3), 12))
        self.assertEqual(told[0, "world/body\\ 4/0", "Points3D"]["radii"], 0.1)
        for path, low, high in [("world/body\\ 2/0", [-0.25, -0.25, -0.75], [0.25, 0.25, 0.75]),
                                ("world/body\\ 3/0", [-0.5, -0.5, -1], [0.5, 0.5, 1])]:
            vertices = told[0, path, "Mesh3D"]["vertex_positions"]
            np.testing.assert_allclose([vertices.min(axis=0), vertices.max(axis=0)], [low, high], atol=0.01)
        moved = told[1, "world/crate", "Transform3D"]
        np.testing.assert_allclose(moved["translation"], [0, 0, 2])
        np.testing.assert_allclose(moved["mat3x3"], np.diag([1.0, -1, -1]))
        self.assertIn((1, "world/arm/link6", "Transform3D"), told)
        self.assertIn((2, "world/body\\ 2", "Clear"), told)

    def test_recordings_are_read_as_far_as_they_go(self):
        with clearance.local().session([clearance.Body(1, clearance.ball(1))], record=True) as session:
            for x in range(20):
                session.step([1], [[x, 0, 0]])
            content = session.recording.content()
        whole = [topic for topic, _, _ in recording.read(content)]
        self.assertEqual(whole, [topic for topic, _ in records(content)])
        most = 0
        for end in range(8, len(content), 997):
            for cut in (content[:end], gzip.compress(content)[:end]):
                told = [one.topic for one in recording.read(cut)] if cut[:2] != b"\x1f\x8b" or end > 400 else []
                self.assertEqual(told, whole[:len(told)])
                most = max(most, len(told))
        self.assertGreater(most, 40)
        self.assertRaises(ValueError, recording.read, b"GIF89a")


if __name__ == "__main__":
    unittest.main()
