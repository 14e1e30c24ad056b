#!/usr/bin/env python3
"""Asks a server whether the starts and goals of published planning problems of a UR5 are free.

The problems are those of MotionBenchMaker as KavrakiLab/vamp publishes them: FOLDER is its `resources/ur5`, with the URDF,
the SRDF, the meshes and `problems.tar.bz2`. Their cylinders stand as polytopes of 64 sides around them. Every start and
goal is asked about with the robot's meshes as their files say, and with their hulls; what meets by the meshes is listed.
Of the 1,400 there are 19 that meet by their triangles; all others have to be free. Needs grpcio and pyyaml; without these or the folder it says so and ends.
usage: ur5_problems.py CLEARANCE FOLDER
"""
import math, pathlib, sys, tarfile
from collections import Counter

try:
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

from asking import VERDICTS, helpers
from client import Wire

SIDES = 64
PUBLISHED, IN_CONTACT = 1_400, 19
NAMES = {0: "MESH_TREATMENT_UNSPECIFIED", 1: "MESH_TREATMENT_HULL"}


def corners(kind, sizes):
    """A box by its corners, or a polytope around a cylinder along z."""
    if kind == "box":
        return [(0.5 if i >> k & 1 else -0.5) * size for i in range(8) for k, size in enumerate(sizes)]
    height, radius = sizes
    outer = radius / math.cos(math.pi / SIDES) * (1 + 1e-12)
    turns = [2 * math.pi * k / SIDES for k in range(SIDES)]
    return [x for z in (-height / 2, height / 2) for turn in turns
            for x in (outer * math.cos(turn), outer * math.sin(turn), z)]


def obstacles(scene):
    """The bodies of a scene; a pose is x, y, z and a quaternion x, y, z, w."""
    for thing in scene["world"]["collision_objects"]:
        for part, pose in zip(thing["primitives"], thing["primitive_poses"]):
            yield {"vertices": {"xyz": corners(part["type"], part["dimensions"])},
                   "pose": {"translation": dict(zip("xyz", map(float, pose["position"]))),
                            "rotation": dict(zip("xyzw", map(float, pose["orientation"])))}}


def problems(folder):
    """By name: a scene, and the joint values of its start and of its goal."""
    read = {}
    with tarfile.open(folder / "problems.tar.bz2") as archive:
        for member in archive:
            if member.name.endswith(".yaml"):
                read[member.name] = yaml.load(archive.extractfile(member), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    for name, request in sorted(read.items()):
        if "/request" not in name:
            continue
        scene = read[name.replace("request", "scene")]
        state = request["start_state"]["joint_state"]
        start = dict(zip(state["name"], map(float, state["position"])))
        aims = {one["joint_name"]: float(one["position"]) for one in request["goal_constraints"][0]["joint_constraints"]}
        yield name, list(obstacles(scene)), [start, {**start, **aims}]


def registered(wire, folder, treatment):
    urdf, srdf = ((folder / f"ur5.{kind}").read_text() for kind in ("urdf", "srdf"))
    request = wire.make("RegisterRobot", {"urdf": urdf, "srdf": srdf})
    for path in sorted(folder.glob("meshes/**/*")):
        if path.suffix.lower() == ".stl" and str(path.relative_to(folder)) in urdf:
            request.meshes.add(name=str(path.relative_to(folder)), content=path.read_bytes())
    request.mesh_treatment = treatment
    reply = wire.call("RegisterRobot", request)
    assert reply.code == "OK", reply
    return reply.message.robot


def run(wire, folder):
    robots = {treatment: registered(wire, folder, treatment) for treatment in NAMES}
    for note in robots[0].notes:
        print(note)
    tally = Counter()
    for name, things, ends in problems(folder):
        free = {}
        for treatment, robot in robots.items():
            values = [end.get(variable.name, 0.0) for end in ends for variable in robot.variables]
            cell = {"robots": [{"robotId": robot.id}], "obstacles": things}
            asked = {"cell": cell, "mode": "CHECK_MODE_ALL_PAIRS", "values": values, "reportLimits": True}
            reply = wire.call("CheckConfigurations", asked, 60)
            assert reply.code == "OK" and not reply.message.refused, reply
            told = reply.message
            free[treatment] = [verdict == 1 for verdict in told.verdicts]
            if treatment:
                continue
            for at, a, b, verdict in zip(told.contact_indices, told.contact_firsts, told.contact_seconds, told.contact_verdicts):
                links = [robot.links[robot.parts[k].link].name if k < len(robot.parts) else f"obstacle {k - len(robot.parts)}"
                         for k in (a, b)]
                print(f"{name}, {('start', 'goal')[at]}: {links[0]} and {links[1]} are {VERDICTS[verdict]}")
        for by_mesh, by_hull in zip(free[0], free[1]):
            tally.update(asked=1, free=by_mesh, free_by_hulls=by_hull, hulls_alone_meet=by_mesh and not by_hull)
            assert by_mesh or not by_hull, f"{name}: hulls are free and meshes are not"
    print(dict(tally))
    return tally["asked"] == PUBLISHED and tally["free"] == PUBLISHED - IN_CONTACT


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2])
    if not (folder / "problems.tar.bz2").is_file():
        print(f"skipped: no problems.tar.bz2 in {folder}")
        return
    port = helpers.free_port()
    server = helpers.start(sys.argv[1], port, "--log", "error", "--message-bytes-max", "64000000")
    try:
        wire = Wire(f"127.0.0.1:{port}", 4)
        for method in wire.pool.FindServiceByName("clearance.v1.RobotService").methods:
            wire.methods[method.name] = (f"/clearance.v1.RobotService/{method.name}", method)
        is_right = run(wire, folder)
    finally:
        server.terminate()
        server.wait(30)
    sys.exit(0 if is_right else 1)


if __name__ == "__main__":
    main()
