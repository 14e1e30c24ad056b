#!/usr/bin/env python3
"""Loads the robots of `example-robot-data` and puts their kinematics beside pinocchio's.

Every URDF of the package is registered with its meshes by a fresh server of the binary CLEARANCE: it loads, or the
server says exactly what is missing. And FRAMES (`cargo build --example frames`) places its links
in some configurations: the greatest difference from pinocchio in any of the twelve numbers, over the reach of the robot.
Needs grpcio, pin and example-robot-data.
usage: robots.py CLEARANCE FRAMES [--configurations 10] [--only NAME]
"""
import argparse, importlib.machinery, importlib.util, pathlib, re, subprocess, sys

import numpy as np
import pinocchio

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "attack" / "malformed")]
from client import Wire  # noqa: E402

loader = importlib.machinery.SourceFileLoader("doc_examples", str(ROOT / ".ci" / "doc_examples"))
helpers = importlib.util.module_from_spec(importlib.util.spec_from_loader("doc_examples", loader))
loader.exec_module(helpers)

WITHIN = 1e-12  # of the reach


def robots_folder():
    for folder in sys.path:
        found = pathlib.Path(folder) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
        if found.is_dir():
            return found
    sys.exit("example-robot-data is not there")

def register(wire, folder, path):
    """The number of links and parts, or what the server says."""
    urdf = path.read_text()
    request = wire.make("RegisterRobot", {"urdf": urdf, "validateOnly": True})
    collisions = "".join(re.findall(r"<collision.*?</collision>", urdf, re.S))
    for name in sorted(set(re.findall(r'<mesh[^>]*filename="([^"]*)"', collisions))):
        steps = re.sub(r"^(package|model|file)://", "", name).split("/")
        places = [folder.parent / "robots" / "/".join(steps[k:]) for k in range(len(steps))]
        places += [path.parent / "/".join(steps), folder / "/".join(steps)]
        at = next((place for place in places if place.is_file()), None)
        if at is not None:
            request.meshes.add(name=name, content=at.read_bytes())
    reply = wire.call("RegisterRobot", request, timeout=60)
    if reply.code != "OK":
        return None, f"{reply.code}: {reply.words}"
    robot = reply.message.robot
    hulls = sum(part.HasField("convex") and not part.convex for part in robot.parts)
    return robot, f"{len(robot.links)} links, {len(robot.variables)} values, {len(robot.parts)} parts, {hulls} hulls of concave meshes"

def worst_difference(frames, path, count):
    """The greatest difference of any number from pinocchio's, over the reach."""
    said = subprocess.run([frames, str(path), str(count)], capture_output=True, text=True)
    if said.returncode:
        return None, said.stderr.strip().splitlines()[-1]
    try:
        model = pinocchio.buildModelFromUrdf(str(path))
    except ValueError as problem:
        return None, f"pinocchio: {str(problem).splitlines()[-1]}"
    data, joints, worst = model.createData(), [], 0.0
    for line in said.stdout.splitlines():
        word, rest = line.split(" ", 1)
        if word == "joint":
            joints.append(rest.split(" "))
        elif word == "values":
            values = [float(x) for x in rest.split()]
            pinocchio.framesForwardKinematics(model, data, placed(model, joints, values))
            reach = 1 + max(np.abs(at.translation).max() for at in data.oMf)
        else:
            *numbers, name = rest.split(" ", 12)
            at = data.oMf[model.getFrameId(name, pinocchio.FrameType.BODY)]
            theirs = np.concatenate([at.rotation.ravel(), at.translation])
            worst = max(worst, np.abs(np.array(numbers, float) - theirs).max() / reach)
    return worst, ""

def placed(model, joints, values):
    """Our joint values as pinocchio has them: mimics are joints of their own there."""
    q, known = pinocchio.neutral(model), {name: float(values[int(first)]) for kind, first, name, *mimic in joints
                                          if not mimic and kind in ("Revolute", "Continuous", "Prismatic")}
    for _ in joints:
        for kind, first, name, *mimic in joints:
            if mimic and mimic[0] in known and kind != "Fixed":
                known[name] = float(mimic[1]) * known[mimic[0]] + float(mimic[2])
    for name, value in known.items():
        index = model.getJointId(name)
        at = model.joints[index].idx_q
        if model.joints[index].nq == 2:
            q[at:at + 2] = np.cos(value), np.sin(value)
        else:
            q[at] = value
    return q


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    parser.add_argument("frames")
    parser.add_argument("--configurations", type=int, default=10)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    folder, port = robots_folder(), helpers.free_port()
    server = helpers.start(asked.clearance, port, "--message-bytes-max", str(128 << 20))
    loaded, wrong, total = 0, 0, 0
    try:
        wire = Wire(f"127.0.0.1:{port}", 4)
        for method in wire.pool.FindServiceByName("clearance.v1.RobotService").methods:
            wire.methods[method.name] = (f"/clearance.v1.RobotService/{method.name}", method)
        for path in sorted(folder.rglob("*.urdf")):
            name = str(path.relative_to(folder))
            if asked.only not in name:
                continue
            robot, words = register(wire, folder, path)
            worst, problem = worst_difference(asked.frames, path, asked.configurations)
            total, loaded = total + 1, loaded + (robot is not None)
            wrong += worst is not None and not worst <= WITHIN
            beside = f"{worst:.1e} of pinocchio" if worst is not None else problem
            print(f"{'loads' if robot else 'not'}  {name}: {words}; {beside}", flush=True)
    finally:
        server.terminate()
        server.wait(30)
    print(f"{loaded} of {total} robots load, {wrong} differ from pinocchio by more than {WITHIN} of their reach")
    sys.exit(1 if wrong or loaded < min(total, 20) else 0)


if __name__ == "__main__":
    main()
