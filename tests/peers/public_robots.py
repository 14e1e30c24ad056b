#!/usr/bin/env python3
"""Reads the robots of whole folders, and puts where their links are beside another reading.

Every `.urdf` below FOLDERS is registered with its meshes by a fresh server of the binary CLEARANCE (by UploadRobot, if it
has that): it loads, or the server says exactly what is wrong. Of what loads some configurations are asked for the poses of
all links; these are read here from the same file with the libm's sines, and the greatest difference in any of the twelve
numbers, over the reach of the robot, has to be within 1e-12. Meshes are their hulls, which is fastest, or as they are. Told are the counts, and each that does not load with its
words. Packages of PyPI with such files: example-robot-data, dexmate-urdf, fourier-robot-descriptions, icub-models,
airo-models, hello-robot-stretch-urdf, armar, jvrc-description. Needs grpcio, grpcio-reflection and numpy.
usage: public_robots.py CLEARANCE FOLDER... [--configurations 10] [--as-they-are]
"""
import argparse, collections, importlib.machinery, importlib.util, math, pathlib, random, re, sys, time
import xml.etree.ElementTree as ElementTree

try:
    import numpy as np
except ImportError:  # whoever takes the files alone needs none
    np = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "attack" / "malformed")]
from client import Wire  # noqa: E402

loader = importlib.machinery.SourceFileLoader("doc_examples", str(ROOT / ".ci" / "doc_examples"))
helpers = importlib.util.module_from_spec(importlib.util.spec_from_loader("doc_examples", loader))
loader.exec_module(helpers)

WITHIN = 1e-12  # of the reach
CHUNK = 1 << 20


# ---- the files
class Files:
    """All files below a folder, by their last step."""

    def __init__(self, folder):
        self.by_name = collections.defaultdict(list)
        for path in folder.rglob("*"):
            if path.is_file():
                self.by_name[path.name].append(path)

    def find(self, name):
        """The file that shares most of its last steps with a name of a mesh."""
        steps = re.sub(r"^(package|model|file)://", "", name).replace("\\", "/").split("/")
        def shared(path):
            pairs = zip(reversed(path.parts), reversed(steps))
            return next((k for k, (a, b) in enumerate(pairs) if a != b), len(steps))
        return max(self.by_name.get(steps[-1], []), key=shared, default=None)

def meshes_of(urdf, files):
    collisions = "".join(re.findall(r"<collision.*?</collision>", urdf, re.S))
    names = sorted(set(re.findall(r'<mesh[^>]*filename\s*=\s*["\']([^"\']*)["\']', collisions)))
    found = [(name, files.find(name)) for name in names]
    return [(name, path.read_bytes()) for name, path in found if path is not None]

def register(wire, urdf, meshes, treatment):
    if "UploadRobot" not in wire.methods:
        request = wire.make("RegisterRobot", {"urdf": urdf, "meshTreatment": treatment})
        for name, content in meshes:
            request.meshes.add(name=name, content=content)
        reply = wire.call("RegisterRobot", request, timeout=60)
        return reply, reply.message and reply.message.robot
    make = lambda **part: wire.type("clearance.v1.UploadRobotRequest")(**part)
    robot = wire.type("clearance.v1.RegisterRobotRequest")(urdf=urdf, mesh_treatment=treatment)
    parts = [make(robot=robot)]
    for name, content in meshes:
        parts.append(make(file=name))
        parts += [make(chunk=content[k:k + CHUNK]) for k in range(0, len(content), CHUNK)]
    reply = wire.call("UploadRobot", parts, timeout=60)
    return reply, reply.message and reply.message.registered.robot


# ---- another reading
def vector(text, default):
    return np.array([float(word) for word in text.replace(",", " ").split()] if text else default)

def turn(axis, angle):
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * (k @ k)

def pose(rotation, translation):
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = rotation, translation
    return made

def origin_of(element):
    at = element.find("origin")
    if at is None:
        return np.eye(4)
    roll, pitch, yaw = vector(at.get("rpy"), [0.0] * 3)
    rotation = turn((0, 0, 1), yaw) @ turn((0, 1, 0), pitch) @ turn((1, 0, 0), roll)
    return pose(rotation, vector(at.get("xyz"), [0.0] * 3))

def declared(urdf):
    """With a name for each prefix that is used and has none, which this parser insists on."""
    tags = " ".join(re.findall(r"<[^!?][^>]*>", urdf))
    used = set(re.findall(r"[<\s/]([A-Za-z_][\w.-]*):[A-Za-z_]", re.sub(r"\"[^\"]*\"|'[^']*'", '""', tags)))
    names = "".join(f' xmlns:{prefix}="urn:{prefix}"' for prefix in sorted(used - {"xmlns", "xml"}) if f"xmlns:{prefix}" not in urdf)
    return re.sub(r"<robot\b", lambda at: at.group() + names, urdf, count=1)

class Reading:
    """The joints of a URDF; none of those that are planar or float."""

    def __init__(self, urdf):
        root = ElementTree.fromstring(declared(urdf.strip()))
        self.links = [link.get("name") for link in root.findall("link")]
        self.joints = {joint.get("name"): joint for joint in root.findall("joint")}
        self.into = {joint.find("child").get("link"): joint for joint in self.joints.values()}
        kinds = {joint.get("type") for joint in self.joints.values()}
        self.is_read = not kinds & {"planar", "floating"}

    def value(self, joint, values):
        mimic = joint.find("mimic")
        if mimic is None:
            return values[joint.get("name")]
        of = self.value(self.joints[mimic.get("joint")], values)
        return float(mimic.get("multiplier", 1)) * of + float(mimic.get("offset", 0))

    def placed(self, link, values, known):
        if link in known:
            return known[link]
        joint = self.into.get(link)
        if joint is None:
            known[link] = np.eye(4)
            return known[link]
        at = self.placed(joint.find("parent").get("link"), values, known) @ origin_of(joint)
        if joint.get("type") != "fixed":
            axis = joint.find("axis")
            axis = vector(None if axis is None else axis.get("xyz"), [1.0, 0.0, 0.0])
            axis, value = axis / math.sqrt(axis @ axis), self.value(joint, values)
            at = at @ (pose(np.eye(3), axis * value) if joint.get("type") == "prismatic" else pose(turn(axis, value), [0.0] * 3))
        known[link] = at
        return at

def drawn(draw, variable):
    low = max(variable.lower, -3.0) if variable.HasField("lower") else -3.0
    high = min(variable.upper, 3.0) if variable.HasField("upper") else 3.0
    return draw.uniform(low, high) if low <= high else variable.lower

def difference(wire, robot, urdf, count):
    """The greatest of any number over the reach; none: a kind of joint that is not read here."""
    reading, draw = Reading(urdf), random.Random(1)
    if not reading.is_read:
        return None
    rows = [[drawn(draw, variable) for variable in robot.variables] for _ in range(count)]
    asked = {"cell": {"robots": [{"robotId": robot.id}]}, "values": [x for row in rows for x in row], "withLinkPoses": True,
             "reportLimits": True, "replyBytesMax": 64 << 20}
    reply = wire.call("CheckConfigurations", asked, timeout=120)
    if reply.code != "OK":
        return f"{reply.code}: {reply.words}"
    told = np.array(reply.message.link_poses).reshape(count, len(robot.links), 12)
    worst = 0.0
    for row, poses in zip(rows, told):
        known, values = {}, {variable.name: x for variable, x in zip(robot.variables, row)}
        theirs = [reading.placed(link.name, values, known) for link in robot.links]
        reach = 1 + max(abs(at[:3, 3]).max() for at in theirs)
        flat = np.array([np.concatenate([at[:3, :3].ravel(), at[:3, 3]]) for at in theirs])
        worst = max(worst, abs(flat - poses).max() / reach)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--configurations", type=int, default=10)
    parser.add_argument("--as-they-are", action="store_true")
    asked, port = parser.parse_args(), helpers.free_port()
    server = helpers.start(asked.clearance, port, "--robot-bytes-max", str(2 << 30))
    counts, reasons, wrong = collections.Counter(), collections.Counter(), []
    try:
        wire = Wire(f"127.0.0.1:{port}", 4)
        if "UploadRobot" not in wire.methods:
            server.terminate()
            server.wait(30)
            server = helpers.start(asked.clearance, port, "--message-bytes-max", str(128 << 20), "--robot-bytes-max", str(2 << 30))
            wire = Wire(f"127.0.0.1:{port}", 4)
        for folder in asked.folders:
            files = Files(folder)
            for path in sorted(folder.rglob("*.urdf")):
                name, urdf = path.relative_to(folder.parent), path.read_text(errors="replace")
                begun = time.perf_counter()
                reply, robot = register(wire, urdf, meshes_of(urdf, files), 0 if asked.as_they_are else 1)
                registered = time.perf_counter()
                counts["files"] += 1
                if reply.code != "OK":
                    is_told = reply.code == "INVALID_ARGUMENT" and bool(reply.fields)
                    counts["refused with field and reason" if is_told else "failed"] += 1
                    reasons[re.sub(r'"[^"]*"|\d+', "…", reply.words)[:70]] += 1
                    print(f"not    {name}: {reply.code} {reply.fields[:2]}: {reply.words[:300]}", flush=True)
                    wrong += [] if is_told else [f"{name}: {reply.code}: {reply.words[:200]}"]
                    continue
                counts["loads"] += 1
                worst = difference(wire, robot, urdf, asked.configurations) if robot.variables else 0.0
                if isinstance(worst, float) or isinstance(worst, np.floating):
                    counts["kinematics the same"] += bool(worst <= WITHIN)
                    if not worst <= WITHIN:
                        wrong.append(f"{name}: differs by {worst:.1e} of the reach")
                else:
                    counts["kinematics not read here" if worst is None else "kinematics not asked"] += 1
                words = f"{worst:.1e}" if isinstance(worst, float) else worst
                times = f"{registered - begun:.1f} s and {time.perf_counter() - registered:.1f} s"
                print(f"loads  {name}: {len(robot.links)} links, {len(robot.parts)} parts, {len(robot.notes)} notes; {words}; {times}", flush=True)
                wire.call("DeleteRobot", {"id": robot.id})
    finally:
        server.terminate()
        server.wait(30)
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    for reason, count in reasons.most_common():
        print(f"  {count:4}  {reason}")
    for line in wrong:
        print(f"wrong: {line}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
