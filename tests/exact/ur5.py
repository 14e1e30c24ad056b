#!/usr/bin/env python3
"""Compares what a server says of a UR5 among obstacles with coal on the same triangles; rationals decide where they differ.

A fresh server of the binary CLEARANCE is asked which pairs are in contact in random configurations of a UR5 whose meshes
are what their files say, among boxes, channels that bound a region and channels that are mere surfaces. coal is asked the
same about the triangles of both bodies, in the poses that the server takes (`clients/python` places them by the same
formula). Where the two differ, an oracle decides by rationals (meshes.py): ours has to be right in all. Then edges among
the same obstacles: none may be undecided at a tolerance of 1e-6, and of some the certificates are verified by
`clients/python`. Needs grpcio, numpy, and the packages `coal` and `example-robot-data`; without these it says so and ends.
usage: ur5.py CLEARANCE [--configurations 10000] [--edges 10000] [--proofs 40] [--seed 1]
"""
import argparse, math, pathlib, random, struct, sys, sysconfig, time
from collections import Counter

try:
    import coal
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

from asking import VERDICTS, helpers
from bodies import Body, Two
from client import Wire
import clearance_edges as ce
from clearance_solids import Solid
from clearance_verify import quaternion_pose

SHARE = pathlib.Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots/ur_description"
TREATMENTS = {True: "MESH_TREATMENT_SURFACE", False: "MESH_TREATMENT_POLYHEDRON"}
AT_ONCE = 500  # configurations in a call
TOLERANCE = 1e-6


def stl(content):
    """The points and triangles of a binary STL file, with equal points as one."""
    count, = struct.unpack_from("<I", content, 80)
    corners = [tuple(struct.unpack_from("<3f", content, 84 + 50 * k + 12 + 12 * i)) for k in range(count) for i in range(3)]
    place = {}
    named = [place.setdefault(tuple(x + 0.0 for x in v), len(place)) for v in corners]
    return list(place), [named[k:k + 3] for k in range(0, len(named), 3)]


def channel(size, wall):
    """A channel along y that is open above, as points and triangles."""
    s, w = size, wall
    profile = [(-s, -s), (s, -s), (s, s), (s - w, s), (s - w, w - s), (w - s, w - s), (w - s, s), (-s, s)]
    triangles = [[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 6], [0, 6, 7]]
    triangles += [[a + 8, c + 8, b + 8] for a, b, c in triangles]
    for k in range(8):
        triangles += [[k, k + 8, (k + 1) % 8], [(k + 1) % 8, k + 8, (k + 1) % 8 + 8]]
    return [(x, y, z) for y in (-1.5 * s, 1.5 * s) for x, z in profile], triangles


def block(x, y, z):
    """A box as points and triangles."""
    points = [tuple((0.5 if i >> k & 1 else -0.5) * size for k, size in enumerate((x, y, z))) for i in range(8)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return points, [list(t) for a, b, d, e in faces for t in ((a, b, d), (a, d, e))]


class Obstacle:
    def __init__(self, wire, draw, number):
        self.is_surface = number % 3 == 2
        sides = [draw.uniform(0.05, 0.25) for _ in range(3)]
        of_channel = channel(draw.uniform(0.06, 0.16), draw.uniform(0.01, 0.04))
        self.points, self.triangles = block(*sides) if number % 3 == 0 else of_channel
        if self.is_surface:
            self.triangles = self.triangles[:-1]
        way, up = draw.uniform(0.25, 0.85), draw.uniform(-0.2, 0.9)
        turn = draw.uniform(-math.pi, math.pi)
        self.at = [way * math.cos(turn), way * math.sin(turn), up]
        self.turn = [draw.gauss(0, 1) for _ in range(4)]
        mesh = {"vertices": {"xyz": [x for point in self.points for x in point]}, "triangles": sum(self.triangles, [])}
        spec = {"mesh": mesh, "treatment": TREATMENTS[self.is_surface]}
        made = wire.call("RegisterPolytopes", {"polytopes": [spec]})
        assert made.code == "OK", made
        self.id = made.message.reports[0].polytope.id

    def asked(self):
        return {"id": self.id, "pose": {"translation": dict(zip("xyz", self.at)), "rotation": dict(zip("wxyz", self.turn))}}

    def kept(self):
        made = ce.surface if self.is_surface else ce.region
        return made(self.points, self.triangles), quaternion_pose(self.at, self.turn)


def of_coal(solid, hulls):
    """The triangles of a body; of a box its hull's."""
    model, triangles = coal.BVHModelOBBRSS(), solid.triangles or hulls
    model.beginModel(len(triangles), len(solid.points))
    model.addVertices(numpy.array(solid.points, dtype=float))
    model.addTriangles(numpy.array(triangles))
    model.endModel()
    return model


class Scene:
    """The robot and its obstacles, for the server, for coal, and for the oracle."""

    def __init__(self, wire, draw, count):
        self.wire, self.draw = wire, draw
        urdf = (SHARE / "urdf/ur5_robot.urdf").read_text()
        srdf = (SHARE / "srdf/ur5.srdf").read_text()
        files = {path.name: path.read_bytes() for path in sorted((SHARE / "meshes/ur5/collision").glob("*.stl"))}
        request = wire.make("RegisterRobot", {"urdf": urdf, "srdf": srdf})
        for name, content in files.items():
            request.meshes.add(name=name, content=content)
        reply = wire.call("RegisterRobot", request)
        assert reply.code == "OK", reply
        self.robot = reply.message.robot
        for note in self.robot.notes:
            print(note)
        # Each mesh as the server says that it is taken.
        made = {"m": ce.region, "s": ce.surface}
        kinds = {part.mesh.rsplit("/", 1)[-1]: part.polytope_id[0] for part in self.robot.parts if part.mesh}
        kept = {name: made[kinds[name]](*stl(content)) for name, content in files.items()}
        obstacles = [Obstacle(wire, draw, number) for number in range(count)]
        base = quaternion_pose([0.0] * 3, [1.0, 0.0, 0.0, 0.0])
        self.cell = ce.Cell([(ce.Robot(urdf, srdf, kept), base)], [one.kept() for one in obstacles])
        self.json = {"robots": [{"robotId": self.robot.id}], "obstacles": [one.asked() for one in obstacles]}
        self.solids = [self.solid(body) for body in range(len(self.cell.bodies))]
        self.models = [of_coal(solid, None) for solid in self.solids]
        self.limits = [(v.lower, v.upper) for v in self.robot.variables]

    def solid(self, body):
        known = self.cell.solids.get(body)
        if known:
            return known
        # A box by its corners.
        points = sorted(set(map(tuple, self.cell.bodies[body][2])))
        faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        return Solid(points, [list(t) for a, b, c, d in faces for t in ((a, b, c), (a, c, d))])

    def values(self):
        return [self.draw.uniform(*limits) for limits in self.limits]

    def poses(self, values):
        """Where every body is: twelve numbers each, as the server has them."""
        frames = self.cell.place(values)
        return [at if frame is None else ce.compose(frames[frame], at) for frame, at, _ in self.cell.bodies]

    def by_coal(self, values):
        poses = self.poses(values)
        places = [coal.Transform3s(numpy.array(rows, dtype=float), numpy.array(at, dtype=float)) for rows, at in poses]
        request, met = coal.CollisionRequest(), set()
        for a, b in self.cell.pairs:
            if coal.collide(self.models[a], places[a], self.models[b], places[b], request, coal.CollisionResult()):
                met.add((a, b))
        return met, poses

    def exactly(self, pair, poses):
        """How two bodies stand, by rationals."""
        def body(k):
            solid, (rows, at) = self.solids[k], poses[k]
            made = Body({}, solid.points, [list(t) for t in solid.triangles], at=at, rows=[x for row in rows for x in row])
            made.is_region = not solid.is_surface
            return made
        return Two(*map(body, pair)).verdict()


def verdicts(scene, count, tally):
    wrong = []
    for first in range(0, count, AT_ONCE):
        many = [scene.values() for _ in range(min(AT_ONCE, count - first))]
        asked = {"cell": scene.json, "mode": "CHECK_MODE_ALL_PAIRS", "values": sum(many, [])}
        start = time.perf_counter()
        reply = scene.wire.call("CheckConfigurations", asked, 300)
        tally["server, ms"] += round(1e3 * (time.perf_counter() - start))
        assert reply.code == "OK" and not reply.message.refused, reply
        told, found = reply.message, [{} for _ in many]
        pairs = zip(told.contact_indices, told.contact_firsts, told.contact_seconds, told.contact_verdicts)
        for at, a, b, verdict in pairs:
            found[at][a, b] = VERDICTS[verdict]
        for values, ours in zip(many, found):
            start = time.perf_counter()
            theirs, poses = scene.by_coal(values)
            tally["coal, ms"] += round(1e3 * (time.perf_counter() - start))
            tally.update(configurations=1, free=not ours, pairs=len(scene.cell.pairs), contacts=len(ours))
            for pair in sorted(theirs ^ set(ours)):
                tally["differences"] += 1
                exact, said = scene.exactly(pair, poses), ours.get(pair, "SEPARATED")
                tally["coal is wrong"] += (exact != "SEPARATED") != (pair in theirs)
                if exact != said:
                    wrong.append(f"{pair} is {exact}, and the server says {said}: {[x.hex() for x in values]}")
    return wrong


def edges(scene, count, proofs, tally):
    wrong = []
    for first in range(0, count, AT_ONCE):
        starts = [scene.values() for _ in range(min(AT_ONCE, count - first))]
        size = scene.draw.choice((0.05, 0.3))
        ends = [[min(max(q + scene.draw.uniform(-size, size), low), high) for q, (low, high) in zip(start, scene.limits)]
                for start in starts]
        asked = {"cell": scene.json, "starts": sum(starts, []), "ends": sum(ends, []), "tolerance": TOLERANCE}
        reply = scene.wire.call("CheckEdges", asked, 300)
        assert reply.code == "OK", reply
        names = ["refused", "in contact", "free", "undecided"]
        tally.update(f"edges {names[outcome]}" for outcome in reply.message.outcomes)
        wrong += [f"edge {first + k} is {names[outcome]}" for k, outcome in enumerate(reply.message.outcomes)
                  if outcome not in (1, 2)]
    for _ in range(proofs):
        start = scene.values()
        end = [min(max(q + scene.draw.uniform(-0.05, 0.05), low), high) for q, (low, high) in zip(start, scene.limits)]
        asked = {"cell": scene.json, "starts": start, "ends": end, "tolerance": TOLERANCE, "certificate": True}
        reply = scene.wire.call("CheckEdges", asked, 300)
        assert reply.code == "OK", reply
        why = verified(scene, start, end, reply.message)
        tally["certificates"] += why is None
        if why:
            wrong.append(f"a certificate: {why}")
    return wrong


def verified(scene, start, end, answer):
    """Why `clients/python` refuses a certificate, if it does."""
    from google.protobuf.json_format import MessageToDict
    certificate = answer.certificates[0]
    if not certificate.pieces and not certificate.HasField("contact"):
        return "there is none"
    pieces = [{"end": piece.end, "speeds": list(piece.speeds), "firsts": list(piece.firsts), "seconds": list(piece.seconds),
               "directions": list(piece.directions), "gaps": list(piece.gaps), "closings": list(piece.closings),
               "covers": [MessageToDict(cover) for cover in piece.covers]} for piece in certificate.pieces]
    told = certificate.contact
    contact = MessageToDict(told) if certificate.HasField("contact") else None
    if contact is not None and "solid" not in contact:
        return None  # of two polytopes: the other scripts verify these
    pair = (answer.near_firsts[0], answer.near_seconds[0]) if answer.outcomes[0] == 1 else None
    claim = {"free_until": answer.free_until[0], "contact": pair and (answer.contact_at[0], pair)}
    try:
        ce.verify_edge(scene.cell, start, end, 0.0, claim, {"pieces": pieces, "contact": contact})
    except ce.Refused as why:
        return str(why)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    parser.add_argument("--configurations", type=int, default=10_000)
    parser.add_argument("--edges", type=int, default=10_000)
    parser.add_argument("--proofs", type=int, default=40, help="edges whose certificates are verified")
    parser.add_argument("--obstacles", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not SHARE.is_dir():
        print(f"skipped: no {SHARE.name} in the package example-robot-data")
        return
    port = helpers.free_port()
    server = helpers.start(options.clearance, port, "--log", "error")
    tally = Counter()
    try:
        wire = Wire(f"127.0.0.1:{port}", 4)
        for method in wire.pool.FindServiceByName("clearance.v1.RobotService").methods:
            wire.methods[method.name] = (f"/clearance.v1.RobotService/{method.name}", method)
        scene = Scene(wire, random.Random(options.seed), options.obstacles)
        wrong = verdicts(scene, options.configurations, tally)
        print(dict(tally), flush=True)
        wrong += edges(scene, options.edges, options.proofs, tally)
    finally:
        server.terminate()
        server.wait(30)
    print(dict(tally))
    for line in wrong[:20]:
        print("WRONG:", line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
