#!/usr/bin/env python3
"""Asks a cell and a session that say the same about robots, and demands the same answers to the last bit.

Each robot stands among 20 boxes with paddings, carries a tool, and some pairs are ignored: once as a cell that comes with every
call, and once as the scene of a session. COUNT configurations of each are asked, a tenth of them as ends of edges as well,
in messages of 500: verdicts, contacts with their verdicts, who is within the margin, the bits of both ends of all clearances,
and of edges the outcome and the bits of how far they are free and where the contact is. Before every message a frame moves
three boxes of the session, and the cell says where they are now. The Panda of `data/panda` is asked, and the URDFs that are
named; their meshes are looked for below FOLDERS. Needs grpcio and grpcio-reflection.
usage: same_scene.py CLEARANCE [--urdf FILE]... [--folder FOLDER]... [--count 20000] [--seed 1]
"""
import argparse, collections, pathlib, random, struct, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from public_robots import ROOT, Files, Wire, drawn, helpers, meshes_of  # noqa: E402

BOXES, ARM, TOOL, MESSAGE = 20, 1000, 500, 500


def bits(numbers):
    return struct.pack(f"<{len(numbers)}d", *numbers)

def corners(size):
    return {"xyz": [(0.5 if i >> k & 1 else -0.5) * size[k] for i in range(8) for k in range(3)]}

def at(place):
    return {"translation": dict(zip("xyz", place))}


class Place:
    """A robot with its boxes, as a cell and as a session."""

    def __init__(self, wire, robot, draw, name):
        self.wire, self.robot, self.draw, self.name, self.frame = wire, robot, draw, name, 0
        self.names = {link.name: index for index, link in enumerate(robot.links)}
        with_parts = sorted({part.link for part in robot.parts})
        last, before, first = (robot.links[with_parts[k]].name for k in (-1, -2, 0))
        middle = robot.links[with_parts[len(with_parts) // 2]].name
        self.places, sizes = [self.somewhere() for _ in range(BOXES)], [[draw.uniform(0.05, 0.3) for _ in range(3)] for _ in range(BOXES)]
        margins, tool = [draw.choice((0.0, 0.02, 0.05)) for _ in range(BOXES)], [0.04, 0.05, 0.12]
        paddings = [{"link": middle, "padding": 0.03}]
        obstacles = [{"vertices": corners(size), "pose": at(place), "padding": margin}
                     for size, place, margin in zip(sizes, self.places, margins)]
        carried = {"link": last, "touchLinks": [before], "body": {"vertices": corners(tool), "pose": at((0, 0, 0.1)), "padding": 0.01}}
        ignored = [{"first": {"link": middle}, "second": {"obstacleIndex": 2}}, {"first": {"link": first}, "second": {"link": last}},
                   {"first": {"attachedIndex": 0}, "second": {"obstacleIndex": 3}}]
        self.cell = {"robots": [{"robotId": robot.id, "paddings": paddings, "attached": [carried]}], "obstacles": obstacles,
                     "ignoredPairs": ignored}
        link = lambda name: ARM + self.names[name]
        bodies = [{"id": 1 + k, "fixed": True, "parts": [{"vertices": corners(size)}], "pose": at(place), "margin": margin}
                  for k, (size, place, margin) in enumerate(zip(sizes, self.places, margins))]
        bodies.append({"id": TOOL, "parts": [{"vertices": corners(tool)}], "margin": 0.01})
        hung = {"bodyId": TOOL, "link": last, "pose": at((0, 0, 0.1)), "touchLinks": [before]}
        arm = {"id": ARM, "robotId": robot.id, "values": self.values(1), "attached": [hung], "paddings": paddings, "fixedBase": True}
        pairs = [{"a": link(middle), "b": 3}, {"a": link(first), "b": link(last)}, {"a": TOOL, "b": 4}]
        opened = wire.call("OpenSession", {"state": {"bodies": bodies, "robots": [arm], "rules": {"ignoredPairs": pairs}}})
        assert opened.code == "OK", opened
        self.key = {"sessionId": opened.message.session_id, "sessionKey": opened.message.session_key}
        self.scene = {**self.key, "robots": [ARM]}

    def somewhere(self):
        draw = self.draw
        return [draw.choice((-1, 1)) * draw.uniform(0.3, 0.9), draw.uniform(-0.9, 0.9), draw.uniform(-0.1, 1.2)]

    def values(self, count):
        return [drawn(self.draw, variable) for _ in range(count) for variable in self.robot.variables]

    def move(self):
        """Three boxes go elsewhere, in both."""
        self.frame += 1
        moved = self.draw.sample(range(BOXES), 3)
        for k in moved:
            self.places[k] = self.somewhere()
            self.cell["obstacles"][k]["pose"] = at(self.places[k])
        poses = [{"id": 1 + k, "pose": at(self.places[k])} for k in moved]
        told = self.wire.call("StepSession", {**self.key, "frames": [{"frameId": str(self.frame), "poses": poses}]})
        assert told.code == "OK" and not told.message.reports[0].refused_items, told

    def called(self, number):
        """A body of the cell as the session calls it."""
        parts = len(self.robot.parts)
        return ARM + self.robot.parts[number].link if number < parts else TOOL if number == parts else number - parts

    def both(self, method, asked):
        """The answers of the cell and of the session."""
        answers = []
        for where in ({"cell": self.cell}, {"scene": self.scene}):
            reply = self.wire.call(method, {**where, **asked, "reportLimits": True, "replyBytesMax": 64 << 20}, timeout=120)
            assert reply.code == "OK", f"{self.name}: {reply}"
            answers.append(reply.message)
        assert answers[1].frame_id == self.frame, "the scene is that of another frame"
        return answers

    def pairs(self, indices, answer, is_cell):
        """By question and pair of bodies, the worst verdict of their parts."""
        told, name = collections.defaultdict(int), self.called if is_cell else int
        for k, a, b, verdict in zip(indices, answer.contact_firsts, answer.contact_seconds, answer.contact_verdicts):
            pair = k, name(a), name(b)
            told[pair] = max(told[pair], verdict)
        return told


def compared(place, count, seen):
    """What differs in a message of so many configurations."""
    values, wrong = place.values(count), []
    demand = lambda same, what: wrong.append(what) if not same else None
    cell, scene = place.both("CheckConfigurations", {"values": values, "mode": "CHECK_MODE_ALL_PAIRS"})
    demand(list(cell.verdicts) == list(scene.verdicts), "verdicts")
    demand(list(cell.within_margin_indices) == list(scene.within_margin_indices), "who is within the margin")
    contacts = [place.pairs(answer.contact_indices, answer, is_cell) for answer, is_cell in ((cell, True), (scene, False))]
    demand(contacts[0] == contacts[1], "contacts")
    near = place.both("CheckConfigurations", {"values": values, "mode": "CHECK_MODE_CLEARANCE", "withGradient": True})
    for name in ("clearance_lowers", "clearance_uppers", "gradients"):
        demand(len({bits(getattr(answer, name)) for answer in near}) == 1, name)
    named = [place.called(number) for number in near[0].clearance_firsts], [place.called(number) for number in near[0].clearance_seconds]
    demand(named == (list(near[1].clearance_firsts), list(near[1].clearance_seconds)), "the nearest pair")
    width = len(place.robot.variables)
    starts, ends = values[:count // 20 * width], values[count // 20 * width:count // 10 * width]
    ends = [0.7 * a + 0.3 * b for a, b in zip(starts, ends)]
    edges = place.both("CheckEdges", {"starts": starts, "ends": ends})
    demand(list(edges[0].outcomes) == list(edges[1].outcomes), "outcomes of edges")
    for name in ("free_until", "contact_at"):
        demand(len({bits(getattr(answer, name)) for answer in edges}) == 1, f"{name} of edges")
    seen.update(configurations=count, free=list(cell.verdicts).count(1), contacts=len(contacts[0]), edges=edges[0].count,
                frames=1, **{"edges free": list(edges[0].outcomes).count(2)})
    return wrong


def registered(wire, urdf, srdf, meshes):
    request = wire.make("RegisterRobot", {"urdf": urdf, "srdf": srdf, "meshTreatment": 1})
    for name, content in meshes:
        request.meshes.add(name=name, content=content)
    reply = wire.call("RegisterRobot", request, timeout=120)
    assert reply.code == "OK", reply
    return reply.message.robot


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    parser.add_argument("--urdf", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--folder", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    asked, port = parser.parse_args(), helpers.free_port()
    server, bad = helpers.start(asked.clearance, port, "--message-bytes-max", str(64 << 20)), 0
    try:
        wire, panda, files = Wire(f"127.0.0.1:{port}", 4), ROOT / "data" / "panda", [Files(folder) for folder in asked.folder]
        robots = [("panda", (panda / "panda.urdf").read_text(), (panda / "panda.srdf").read_text(), [Files(panda)])]
        robots += [(path.stem, path.read_text(), "", files or [Files(path.parent)]) for path in asked.urdf]
        for name, urdf, srdf, folders in robots:
            meshes = {mesh: content for folder in folders for mesh, content in meshes_of(urdf, folder)}
            place = Place(wire, registered(wire, urdf, srdf, sorted(meshes.items())), random.Random(asked.seed), name)
            seen, left, wrong = collections.Counter(), asked.count, collections.Counter()
            while left > 0:
                place.move()
                wrong.update(compared(place, min(left, MESSAGE), seen))
                left -= MESSAGE
            told = ", ".join(f"{count} {word}" for word, count in seen.items())
            print(f"{name}: {told}; {dict(wrong) if wrong else 'all the same'}", flush=True)
            bad += bool(wrong)
    finally:
        server.terminate()
        server.wait(30)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
