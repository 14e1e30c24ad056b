#!/usr/bin/env python3
"""Asks every method of a fresh server thousands of things with clients of default settings, and demands that each gets its
reply: no message that is longer than such a client takes, and no status that is lost on the way.

The questions reach from the smallest to those whose answers would be tens of megabytes, and many are wrong: their statuses
have long names in them. Python's client asks all of them; grpcurl and, where npm has @grpc/grpc-js, Node ask some of the
same. A seed asks the same questions everywhere. Needs grpcio, and grpcurl beside it.
usage: default_clients.py CLEARANCE [--python 10000] [--grpcurl 200] [--node 2000] [--seed 1]
"""
import argparse, json, math, pathlib, random, shutil, subprocess, sys, tempfile
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "certificates"))
from tampering import ROOT, helpers  # first: it says where the others are
import grpc  # noqa: E402
from client import SERVICES, Wire  # noqa: E402

SERVICES.append("clearance.v1.RobotService")
LONG = "a_name_that_is_long_" * 40
SLIDER = """<robot name="slider"><link name="rail"/><link name="cart"><collision><geometry><box size="1 1 1"/></geometry>
</collision></link><joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" velocity="2"/></joint></robot>"""


def ball(count):
    """Points of a ball, all of which are vertices."""
    xyz = []
    for k in range(count):
        z = (2 * k + 1) / count - 1
        wide, turn = math.sqrt(1 - z * z), 2.399963 * k
        xyz += [wide * math.cos(turn), wide * math.sin(turn), z]
    return {"xyz": xyz}


def questions(draw, robot):
    """One question after the other, each a method and its request: of every method the smallest, some that are wrong, and
    those whose answers are the longest."""
    at = lambda: {"translation": {k: draw.uniform(-3, 3) for k in "xyz"}}
    body = lambda: {draw.choice(("alias", "alias", "alias", "id")): draw.choice(("ball", "big", "huge", LONG, "nobody")), "pose": at()}
    two = lambda: {"p": body(), "q": body()}
    names = lambda: draw.choice(("ball", "big", "huge", LONG))
    ids = lambda count: [f"p1-{draw.getrandbits(256):064x}" for _ in range(count)]
    session = lambda: draw.choice(("crowd", "crowd", LONG))
    cell = lambda: {"robots": [{"robotId": draw.choice((robot, robot, LONG))}], "obstacles": [
        {"box": {"x": 1, "y": 2, "z": 2}, "pose": {"translation": {"x": 3.0}}} for _ in range(draw.choice((1, 40)))]}
    many = lambda: [draw.uniform(-9, 9) for _ in range(draw.choice((1, 100, 50_000)))]
    report = lambda: {"pairs": draw.choice(("PAIR_SELECTION_ALL", "PAIR_SELECTION_CHANGED")), "certificates": draw.random() < 0.5,
                      "distances": True, "depths": draw.random() < 0.5, "placedParts": True, "packed": draw.random() < 0.5}
    frame = [0]

    def step():
        frame[0] += 1
        return {"sessionId": session(), "frames": [{"frameId": frame[0], "report": report(),
                "poses": [{"id": 1 + k, "pose": at()} for k in range(draw.choice((1, 300)))]}]}

    rays = lambda: [x for _ in range(draw.choice((1, 20_000))) for x in (draw.uniform(-3, 3), draw.uniform(-3, 3), -9.0)]

    def scene():
        origins = rays()
        return {"sessionId": session(), "hits": "HIT_SELECTION_ALL", "certificates": draw.random() < 0.5,
                "queries": [{"overlap": body()} for _ in range(draw.choice((1, 400)))],
                "packedRays": {"origins": origins, "displacements": [0.0, 0.0, 18.0] * (len(origins) // 3)}}

    urdf = lambda: SLIDER.replace('size="1 1 1"', f'size="1 1 {draw.choice((1, 2, -1))}"').replace(
        "</robot>", f'<link name="{LONG}"><collision><geometry><mesh filename="{LONG}.stl"/></geometry></collision></link></robot>')
    first = lambda: {**two(), "qMotion": {"screw": {"velocity": {"x": draw.uniform(-5, 5)}, "axis": {"z": 1.0}, "angle": draw.uniform(-3, 3)}}}
    kinds = {
        "RegisterPolytopes": lambda: {"polytopes": [{"vertices": ball(draw.choice((4, 100))), "alias": draw.choice(("x", LONG))}
                                                   for _ in range(draw.choice((1, 5)))], "validateOnly": True},
        "GetPolytope": lambda: {"alias": names(), "withVertices": draw.random() < 0.7, "withFacets": draw.random() < 0.7},
        "ListPolytopes": lambda: {"pageSize": draw.choice((0, 1, 1000, -1)), "pageToken": draw.choice(("", "", LONG))},
        "DeletePolytope": lambda: {"alias": draw.choice((LONG, "nobody"))},
        "FindMissingPolytopes": lambda: {"ids": ids(draw.choice((1, 9_000))) + [LONG] * draw.choice((0, 1))},
        "CheckCollision": two, "MeasureDistance": two, "MeasureDistanceAlong": lambda: {**two(), "direction": {"x": 1.0}},
        "MeasurePenetration": lambda: {**two(), "withSurface": True}, "FindFirstContact": first,
        "FindFirstCollision": lambda: {"bodies": [{"body": body()} for _ in range(draw.choice((2, 9)))]},
        "BatchQuery": lambda: {"items": [{"measurePenetration": {**two(), "withSurface": True}} for _ in range(draw.choice((1, 30)))]},
        "VerifyCertificate": lambda: {"distance": {"question": two(), "answer": {"verdict": "VERDICT_SEPARATED"}}},
        "GetServerInfo": dict, "GetServerMetrics": dict,
        "RegisterRobot": lambda: {"urdf": urdf(), "validateOnly": True},
        "GetRobot": lambda: {"id": draw.choice((robot, LONG))},
        "ListRobots": lambda: {"pageSize": draw.choice((0, 1000))}, "DeleteRobot": lambda: {"id": LONG},
        "FindMissingRobots": lambda: {"ids": [robot] * draw.choice((1, 9_000)) + [LONG] * draw.choice((0, 1))},
        "SuggestAllowedPairs": lambda: {"robotId": draw.choice((robot, LONG)), "samples": draw.choice((0, 100, 1_000_000)), "seed": draw.randrange(9)},
        "CheckConfigurations": lambda: {"cell": cell(), "mode": draw.choice(("CHECK_MODE_ALL_PAIRS", "CHECK_MODE_LINK_CLEARANCE")),
                                        "values": many(), "withGradient": True, "reportLimits": True},
        "CheckEdges": lambda: {"cell": cell(), **dict(zip(("starts", "ends"), [[draw.uniform(-9, 9) for _ in range(n)] for n in [draw.choice((1, 900))] * 2])),
                               "certificate": draw.random() < 0.7},
        "CheckPath": lambda: {"cell": cell(), "waypoints": [draw.uniform(-9, 9) for _ in range(draw.choice((2, 900)))],
                              "certificate": True, "allEdges": True},
        "OpenSession": lambda: {"sessionId": "crowd", "state": {"bodies": []}},
        "StepSession": step, "QueryScene": scene, "GetSession": lambda: {"sessionId": session()},
        "ListSessions": lambda: {"sessionKeys": [LONG] * draw.choice((0, 90))},
        "CloseSession": lambda: {"sessionId": LONG},
    }
    order = sorted(kinds)
    while True:
        for method in order:
            yield method, kinds[method]()


def lost(code, words, has_details):
    """Why a reply did not arrive as it was sent, if it did not."""
    words = words or ""
    for sign in ("larger than max", "received metadata size exceeds", "message length too large", "headers too"):
        if sign in words.lower():
            return f"{code}: {words[:200]}"
    if code != "OK" and not has_details:
        return f"{code} without details: {words[:200]}"


def prepare(wire):
    """Bodies of all sizes, a robot, and a session of many bodies."""
    for alias, count in (("ball", 60), ("big", 3_000), ("huge", 150_000)):
        parts = [{"header": {"content": "UPLOAD_CONTENT_POINTS_F64_LE", "spec": {"alias": alias}}}]
        import base64, struct
        xyz = ball(count)["xyz"]
        data = struct.pack(f"<{len(xyz)}d", *xyz)
        parts += [{"chunk": base64.b64encode(data[k:k + 1_000_000]).decode()} for k in range(0, len(data), 1_000_000)]
        reply = wire.call("UploadPolytope", parts, timeout=60)
        assert reply.code == "OK", reply
    reply = wire.call("RegisterRobot", {"urdf": SLIDER})
    assert reply.code == "OK", reply
    bodies = [{"id": 1 + k, "parts": [{"alias": "ball"}], "pose": {"translation": {"x": 0.01 * k}}} for k in range(300)]
    opened = wire.call("OpenSession", {"sessionId": "crowd", "state": {"bodies": bodies}, "replace": True})
    assert opened.code == "OK", opened
    return reply.message.robot.id


def by_python(wire, asked):
    counts, wrong = Counter(), []
    for method, request in asked:
        reply = wire.call(method, request, timeout=60, channel=wire.default)
        counts[reply.code] += 1
        why = lost(reply.code, reply.words, reply.reason)
        if why:
            wrong.append(f"{method}: {why}: {json.dumps(request)[:300]}")
    return counts, wrong


def by_grpcurl(address, asked):
    command = pathlib.Path(sys.executable).parent / "grpcurl"
    if not command.exists():
        return None
    services = {"P": "Polytope", "R": "Robot"}
    counts, wrong = Counter(), []
    for path, request in asked:
        done = subprocess.run([command, "-plaintext", "-d", "@", address, path], input=json.dumps(request), capture_output=True, text=True)
        counts["OK" if done.returncode == 0 else "refused"] += 1
        why = lost("OK" if done.returncode == 0 else "ERROR", done.stderr, "Details:" in done.stderr or "ErrorInfo" in done.stderr)
        if why:
            wrong.append(f"{path}: {why}")
    return counts, wrong


NODE = r"""
const grpc = require('@grpc/grpc-js'), loader = require('@grpc/proto-loader'), fs = require('fs');
const [address, proto, file] = process.argv.slice(2);
const names = fs.readdirSync(proto + '/clearance/v1').map((name) => 'clearance/v1/' + name);
const api = grpc.loadPackageDefinition(loader.loadSync(names, {includeDirs: [proto], keepCase: false, longs: String, enums: String})).clearance.v1;
const clients = {};
const counts = {}, wrong = [];
(async () => {
  for (const line of fs.readFileSync(file, 'utf8').trim().split('\n')) {
    const [path, request] = JSON.parse(line), [service, method] = path.replace('clearance.v1.', '').split('/');
    const client = clients[service] ??= new api[service](address, grpc.credentials.createInsecure());
    const name = method[0].toLowerCase() + method.slice(1);
    await new Promise((done) => client[name](request, (error) => {
      const code = error ? grpc.status[error.code] : 'OK';
      counts[code] = (counts[code] ?? 0) + 1;
      const details = error && error.metadata && error.metadata.get('grpc-status-details-bin').length > 0;
      const words = error ? error.details : '';
      if (/larger than max|exceeds|too large/i.test(words) && !/limit [a-z_]+ =/.test(words) && !/reply_bytes_max/.test(words) || error && !details) wrong.push(`${path}: ${code}: ${words.slice(0, 200)}`);
      done();
    }));
  }
  console.log(JSON.stringify([counts, wrong]));
})();
"""


def by_node(address, asked):
    if not shutil.which("npm"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        got = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "@grpc/grpc-js", "@grpc/proto-loader"], cwd=folder, capture_output=True, text=True)
        if got.returncode:
            print("without Node: its packages cannot be fetched")
            return None
        (folder / "ask.js").write_text(NODE)
        (folder / "asked").write_text("\n".join(json.dumps(one) for one in asked))
        done = subprocess.run(["node", "ask.js", address, str(ROOT / "proto"), "asked"], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    for name, count in (("python", 10_000), ("grpcurl", 200), ("node", 2_000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=count)
    options = parser.parse_args()
    port = helpers.free_port()
    server, address = helpers.start(options.clearance, port), f"127.0.0.1:{port}"
    try:
        wire = Wire(address, 4)
        wire.default = grpc.insecure_channel(address)
        robot = prepare(wire)
        draw = random.Random(options.seed)
        source = questions(draw, robot)
        asked = [next(source) for _ in range(max(options.python, options.grpcurl, options.node))]
        paths = [(wire.methods[method][0][1:], request) for method, request in asked]
        found = {"Python": by_python(wire, asked[:options.python]), "grpcurl": by_grpcurl(address, paths[:options.grpcurl]),
                 "Node": by_node(address, paths[:options.node])}
    finally:
        server.terminate()
        server.wait(30)
    wrong = []
    for name, result in found.items():
        print(f"{name}: {dict(result[0]) if result else 'not here'}")
        wrong += [f"{name}: {line}" for line in (result[1] if result else [])]
    for line in wrong[:20]:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
