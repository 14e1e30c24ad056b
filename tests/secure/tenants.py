#!/usr/bin/env python3
"""Nothing of a tenant's is seen, changed or inferred by another, by any method.

One tenant registers bodies and a robot and opens a session on one of two servers. A stranger then sends the same calls to both,
each naming something of the first: whatever it is answered, it is answered the same where there is nothing of that kind, word for
word, but for times and numbers that are drawn. Afterwards the first tenant finds all as it was.

Which fields name something is read from the descriptors, and so is by which methods they can be reached: each of these has a row,
and the owner is answered otherwise there than the stranger, so that the row shows something.

Needs grpcio.
usage: tenants.py CLEARANCE
"""
import argparse, pathlib, re, sys, tempfile

from calling import Bring, CUBE, Report, Server, key_line, put, reflected
import grpc
from google.protobuf import json_format

NAMES = re.compile(r"^(ids?|alias|robot_id|session_id)$")
# What is drawn, and what time it is or took.
DRAWN = {"incarnation", "elapsed", "startTime", "openTime", "lastCallTime"}
URDF = ('<robot name="r"><link name="a"><collision><geometry><box size="1 1 1"/></geometry></collision></link><link name="b"><collision>'
        '<geometry><box size="1 1 1"/></geometry></collision></link><joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        '<origin xyz="0 0 3"/><axis xyz="1 0 0"/></joint></robot>')
# Whose values say nothing of anybody, or that name no thing of a tenant's.
ELSEWHERE = {
    # Of all tenants, for admins alone.
    "GetServerMetrics",
    # Have no field that names something; what they list is compared all the same.
    "GetServerInfo", "ListPolytopes", "ListRobots", "ListSessions", "Check",
}


def points(scale):
    return {"xyz": [scale * x for x in CUBE]}


class Owner:
    """A tenant with something of everything."""

    def __init__(self, wire, channel):
        self.wire, self.channel = wire, channel
        bodies = [{"alias": "body", "vertices": points(1)},
                  {"alias": "mesh", "treatment": "MESH_TREATMENT_SURFACE",
                   "mesh": {"vertices": {"xyz": [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]}, "triangles": [0, 1, 2, 0, 1, 3]}},
                  {"alias": "field", "heightField": {"rows": 3, "columns": 3, "spacingX": 1, "spacingY": 1, "heights": [0] * 9}}]
        reports = self.ask("RegisterPolytopes", {"polytopes": bodies}).reports
        self.body, self.mesh, self.field = (report.polytope.id for report in reports)
        robot = self.ask("RegisterRobot", {"urdf": URDF}).robot
        self.robot, self.part = robot.id, robot.parts[0].polytope_id
        self.other_robot = self.ask("RegisterRobot", {"urdf": URDF.replace("1 1 1", "1 1 2")}).robot.id
        self.opening = {"sessionId": "game", "historyFrames": 4, "state": {
            "bodies": [{"id": 1, "parts": [{"id": self.body}]}, {"id": 2, "parts": [{"alias": "body"}], "pose": {"translation": {"x": 3}}}],
            "robots": [{"id": 10, "robotId": self.robot, "base": {"translation": {"y": 9}}}]}}
        self.ask("OpenSession", self.opening)
        frame = {"frameId": "1", "poses": [{"id": 2, "pose": {"translation": {"x": 2}}}]}
        self.ask("StepSession", {"sessionId": "game", "frames": [frame]})

    def ask(self, method, request):
        reply = self.wire.call(method, request, 20, self.channel)
        assert reply.code == "OK", f"{method}: {reply}"
        return reply.message

    def state(self):
        """All that it can see of what it has."""
        asked = [("GetPolytope", {"id": id, "withVertices": True}) for id in (self.body, self.mesh, self.field)]
        asked += [("GetPolytope", {"alias": alias}) for alias in ("body", "mesh", "field")]
        asked += [("GetRobot", {"id": self.robot}), ("GetRobot", {"id": self.other_robot}), ("GetSession", {"sessionId": "game"}),
                  ("ListPolytopes", {}), ("ListRobots", {}), ("ListSessions", {}), ("GetServerInfo", {}),
                  ("FindMissingPolytopes", {"ids": [self.body, self.mesh, self.field]})]
        return [plain(self.ask(method, request)) for method, request in asked]


def rows(owner, answers):
    """Calls by method that name what is the owner's. `answers`: what it was told, for claims about that."""
    near = {"vertices": points(1), "pose": {"translation": {"x": 0.5}}}
    far = {"vertices": points(1), "pose": {"translation": {"x": 4}}}
    names = ({"id": owner.body}, {"alias": "body"})
    pairs = [{"p": p, "q": far} for p in names] + [{"p": far, "q": q} for q in names]
    moving = {"linear": {"velocity": {"x": -6}}}
    along = [pair | {"direction": {"x": 1}} for pair in pairs]
    first = [pair | {"qMotion": moving} for pair in pairs]
    yield "CheckCollision", pairs
    yield "MeasureDistance", pairs
    yield "MeasureDistanceAlong", along
    yield "MeasurePenetration", [{"p": p, "q": near} for p in names]
    yield "FindFirstContact", first
    collision = [{"bodies": [{"body": p}, {"body": far, "motion": moving}]} for p in names]
    yield "FindFirstCollision", collision
    yield "BatchQuery", [{"items": [{kind: question} for kind, question in (
        ("checkCollision", pairs[k]), ("measureDistance", pairs[k]), ("measureDistanceAlong", along[k]), ("measurePenetration", pairs[k]),
        ("findFirstContact", first[k]))]} for k in range(4)]

    parts = [[{"cell": {"robots": [{"robotId": owner.robot}]}}],
             [{"cell": {"robots": [{"robotId": answers["their robot"]}], "obstacles": [{**name, "pose": {"translation": {"x": 5}}}]}}
              for name in names],
             [{"cell": {"robots": [{"robotId": answers["their robot"], "attached": [{"link": "b", "body": name}]}]}} for name in names],
             [{"scene": {"sessionId": "game"}}, {"scene": {"sessionId": "game", "robots": [10], "frameId": "1"}}]]
    cells = [cell for part in parts for cell in part]
    yield "CheckConfigurations", [cell | {"values": [0.5], "mode": "CHECK_MODE_CLEARANCE"} for cell in cells]
    yield "StreamConfigurations", [[{"check": cell | {"values": [0.5]}}] for cell in cells]
    edges = [cell | {"starts": [0], "ends": [0.5]} for cell in cells]
    yield "CheckEdges", edges
    yield "StreamEdges", [[{"check": edge}] for edge in edges]
    yield "CheckPath", [cell | {"waypoints": [0, 0.5, 1]} for cell in cells]

    yield "VerifyCertificate", [{"collision": {"question": question, "answer": answers["CheckCollision"]}} for question in pairs] + [
        {"distance": {"question": question, "answer": answers["MeasureDistance"]}} for question in pairs] + [
        {"penetration": {"question": {"p": p, "q": near}, "answer": answers["MeasurePenetration"]}} for p in names] + [
        {"distanceAlong": {"question": question, "answer": answers["MeasureDistanceAlong"]}} for question in along] + [
        {"firstContact": {"question": question, "answer": answers["FindFirstContact"]}} for question in first] + [
        {"firstCollision": {"question": question, "answer": answers["FindFirstCollision"]}} for question in collision] + [
        {"edges": {"question": edge | {"certificate": True}, "answer": answers["CheckEdges"]}} for edge in edges]

    yield "RegisterPolytopes", [
        {"polytopes": [{"alias": "body", "vertices": points(2)}]}, {"polytopes": [{"alias": "body", "moveAlias": True, "vertices": points(3)}]},
        {"polytopes": [{"vertices": points(1)}]}, {"polytopes": [{"vertices": points(1), "expectedId": owner.body}], "validateOnly": True},
        *({"polytopes": [{"heightPatch": {**name, "rows": 1, "columns": 1, "heights": [5]}}]} for name in ({"id": owner.field}, {"alias": "field"}))]
    yield "UploadPolytope", [
        [{"header": {"spec": {"alias": "mesh"}, "content": "UPLOAD_CONTENT_POINTS_F64_LE"}}, {"chunk": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}],
        *([{"header": {"spec": {"heightPatch": {**name, "rows": 1, "columns": 1}}, "content": "UPLOAD_CONTENT_HEIGHTS_F32_LE"}},
           {"chunk": "AAAAAA=="}] for name in ({"id": owner.field}, {"alias": "field"}))]
    yield "DecomposeMesh", [{"id": owner.mesh}, {"alias": "field"}]
    yield "GetPolytope", [{"id": owner.mesh}, {"alias": "field"}, {"id": owner.mesh, "withVertices": True, "withFacets": True},
                           {"id": owner.part, "robotId": owner.robot}]
    yield "FindMissingPolytopes", [{"ids": [owner.body, owner.mesh, owner.field, owner.mesh]}]
    yield "FindMissingRobots", [{"ids": [owner.robot, owner.robot]}]
    yield "GetRobot", [{"id": owner.robot}]
    yield "SuggestAllowedPairs", [{"robotId": owner.robot, "samples": 10}]
    robots = [{"urdf": URDF.replace('<box size="1 1 1"/>', '<mesh filename="m.stl"/>', 1), "meshes": [{"name": "m.stl", "id": owner.mesh}]},
              {"urdf": URDF.replace("1 1 1", "1 1 2")}]
    yield "RegisterRobot", robots
    yield "UploadRobot", [[{"robot": robot}] for robot in robots]
    yield "GetSession", [{"sessionId": "game"}]
    yield "WatchSession", [{"sessionId": "game"}]
    yield "QueryScene", [{"sessionId": "game", "queries": [{"point": {}}]},
                         {"sessionId": "game", "queries": [{"overlap": name} for name in names]},
                         {"sessionId": "game", "moment": {"frameId": "1"}, "queries": [{"nearest": {"body": name}} for name in names]}]
    frame = {"frameId": "2", "keyframe": False, "poses": [{"id": 2, "pose": {"translation": {"x": 7}}}]}
    yield "StepSession", [{"sessionId": "game", "frames": [frame]}, {"sessionId": "game", "takeOver": True, "frames": [frame]},
                          {"sessionId": "game", "incarnation": answers["incarnation"], "takeOver": True, "frames": [frame]}]
    yield "StreamSession", [[{"sessionId": "game", "frame": frame}], [{"sessionId": "game", "takeOver": True, "frame": frame}],
                            *([{"open": opening}] for opening in openings(owner, "streamed"))]
    yield "OpenSession", openings(owner, "opened")
    # Whoever opened it above has one of this name by now, and moves and closes that one.
    more = [{"id": 5, "parts": [name]} for name in names]
    yield "StepSession", [{"sessionId": "game", "frames": [frame]},
                          *({"sessionId": "game", "frames": [{"frameId": str(k + 5), "baseFrameId": "0", "addedBodies": [body]}]}
                            for k, body in enumerate(more)),
                          {"sessionId": "game", "frames": [{"frameId": "9", "keyframe": True, "addedRobots": [{"id": 50, "robotId": owner.robot}]}]}]
    yield "StreamSession", [[{"sessionId": "game", "frame": {"frameId": "3", "changedBodies": [{"id": 2, "parts": [name]}]}}] for name in names]
    yield "CloseSession", [{"sessionId": "game"}]
    yield "CloseSession", [{"sessionId": "game"}]
    yield "DeletePolytope", [{"id": owner.mesh}, {"alias": "field"}, {"id": owner.mesh, "allowMissing": True}]
    yield "DeleteRobot", [{"id": owner.robot}, {"id": owner.robot, "allowMissing": True}]


def openings(owner, id):
    def state(name):
        return {"sessionId": id, "replace": True, "state": {"bodies": [{"id": 1, "parts": [name]}]}}
    return [state({"id": owner.mesh}), state({"alias": "field"}),
            {"sessionId": id, "replace": True, "state": {"robots": [{"id": 10, "robotId": owner.robot}]}},
            {"sessionId": "game", "state": {"bodies": [{"id": 2, "parts": [{"vertices": points(1)}]}]}},
            {"sessionId": "game", "replace": True}]


def plain(message):
    """What a message says, without what is drawn and without times."""
    def without(value):
        if isinstance(value, dict):
            return {name: without(inner) for name, inner in value.items() if name not in DRAWN}
        return [without(inner) for inner in value] if isinstance(value, list) else value
    messages = message if isinstance(message, list) else [message]
    return [without(json_format.MessageToDict(one)) for one in messages]


def said(reply):
    """What a call was answered, whatever it was."""
    return (reply.code, reply.reason, reply.fields, reply.words, sorted(reply.metadata.items()),
            plain(reply.message) if reply.message is not None else None)


def reached(descriptor, seen=None):
    """The fields that name something, of a message and all that it may have in it."""
    seen = set() if seen is None else seen
    found = set()
    if descriptor.full_name in seen:
        return found
    seen.add(descriptor.full_name)
    for field in descriptor.fields:
        if field.message_type is not None:
            # What a claim says was answered is not looked up.
            if not field.message_type.name.endswith("Response"):
                found |= reached(field.message_type, seen)
        elif field.cpp_type == field.CPPTYPE_STRING and NAMES.match(field.name):
            found.add(f"{descriptor.name}.{field.name}")
    return found


def named(message):
    """Those of them that a message has set."""
    found = set()
    for field, value in message.ListFields():
        if field.message_type is not None:
            for one in value if not hasattr(value, "DESCRIPTOR") else [value]:
                found |= named(one)
        elif field.cpp_type == field.CPPTYPE_STRING and NAMES.match(field.name):
            found.add(f"{message.DESCRIPTOR.name}.{field.name}")
    return found


def look(wire, channels, report):
    """`channels`: by tenant, one for each of the two servers; of the owner only the first is used."""
    owner = Owner(wire, channels["owner"][0])
    watch = wire.stub("WatchSession", owner.channel)(wire.make("WatchSession", {"sessionId": "game"}), timeout=20)
    answers = {"incarnation": str(next(watch).incarnation)}
    watch.cancel()
    far = {"vertices": points(1), "pose": {"translation": {"x": 4}}}
    pair = {"p": {"id": owner.body}, "q": far}
    told = lambda method, request: json_format.MessageToDict(owner.ask(method, request))
    moving = {"linear": {"velocity": {"x": -6}}}
    questions = {"CheckCollision": pair, "MeasureDistance": pair, "MeasurePenetration": pair | {"q": {"vertices": points(1), "pose": {"translation": {"x": 0.5}}}},
                 "MeasureDistanceAlong": pair | {"direction": {"x": 1}}, "FindFirstContact": pair | {"qMotion": moving},
                 "FindFirstCollision": {"bodies": [{"body": pair["p"]}, {"body": far, "motion": moving}]},
                 "CheckEdges": {"cell": {"robots": [{"robotId": owner.robot}]}, "starts": [0], "ends": [0.5], "certificate": True}}
    answers |= {method: told(method, request) for method, request in questions.items()}
    # A robot that everybody has, for cells with something else of the owner's.
    common = URDF.replace("1 1 1", "1 2 1")
    for who in channels:
        for channel in channels[who]:
            answers["their robot"] = wire.call("RegisterRobot", {"urdf": common}, 20, channel).message.robot.id
    # First what the owner is told: of that the server may keep something.
    own = {(method, str(request)): said(wire.call(method, request, 20, owner.channel)) for method, requests in rows(owner, answers)
           if method != "WatchSession" and not is_change(method) for request in requests}
    before = owner.state()
    count, covered = 0, {}
    for method, requests in rows(owner, answers):
        way = wire.methods[method][1]
        for request in requests:
            some = [wire.make(method, part) for part in request] if way.client_streaming else [wire.make(method, request)]
            covered.setdefault(method, set()).update(*map(named, some))
            here, there = (said(wire.call(method, request, 20, channel)) for channel in channels["stranger"])
            report.holds(here == there, f"{method} {str(request)[:150]}: {str(here)[:300]}\n      in place of {str(there)[:300]}")
            count += 1
            # A claim about edges has no scene, whosever that is.
            of_scene = method == "VerifyCertificate" and "scene" in str(request)
            told = own.get((method, str(request)))
            report.holds(told != here or of_scene, f"{method} {str(request)[:150]}: the owner is told nothing else: {str(told)[:200]}")
            for list in ("ListPolytopes", "ListRobots", "ListSessions", "GetServerInfo"):
                if is_change(method):
                    here, there = (said(wire.call(list, {}, 20, channel)) for channel in channels["stranger"])
                    report.holds(here == there, f"{list} after {method}: {str(here)[:300]}\n      in place of {str(there)[:300]}")
    for method, (_, way) in wire.methods.items():
        report.holds(method in covered or method in ELSEWHERE, f"{method} has no row")
        missing = reached(way.input_type) - covered.get(method, set())
        report.holds(not missing or method in ELSEWHERE, f"no row of {method} has {sorted(missing)}")
    for method in ELSEWHERE - {"Check", "GetServerMetrics"}:
        report.holds(not reached(wire.methods[method][1].input_type), f"{method} names something")
        here, there = (said(wire.call(method, {}, 20, channel)) for channel in channels["stranger"])
        report.holds(here == there, f"{method}: {here} in place of {there}")
    refused = wire.call("GetServerMetrics", {}, 20, channels["stranger"][0])
    report.holds(refused.code == "PERMISSION_DENIED", f"GetServerMetrics: {refused}")
    after = owner.state()
    report.holds(before == after, f"the owner's have changed: {[pair for pair in zip(before, after) if pair[0] != pair[1]]}")
    print(f"{count} calls by {len(covered)} methods with what is another's, by {len(set().union(*covered.values()))} fields that name something: "
          f"each told as if it were not there; {len(own)} that the owner is told otherwise; its own {len(before)} answers are the same afterwards")


def is_change(method):
    """Those the owner does not call here, since they change what there is."""
    return method in ("RegisterPolytopes", "UploadPolytope", "DecomposeMesh", "RegisterRobot", "UploadRobot", "OpenSession", "StreamSession", "StepSession",
                      "CloseSession", "DeletePolytope", "DeleteRobot")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    options = parser.parse_args()
    report, wire = Report(), reflected(options.clearance)
    with tempfile.TemporaryDirectory() as folder:
        keys = {name: key_line(options.clearance, name, tenant, "write") for name, tenant in
                (("owner", "acme"), ("stranger", "bolt"))}
        put(pathlib.Path(folder, "keys"), "".join(f"{line}\n" for _, line in keys.values()))
        flags = ["--api-keys", pathlib.Path(folder, "keys")]
        with Server(options.clearance, folder, *flags) as first, Server(options.clearance, folder, *flags) as second:
            channels = {name: [Bring.over(grpc.insecure_channel(server.address), key) for server in (first, second)]
                        for name, (key, _) in keys.items()}
            look(wire, channels, report)
    sys.exit(1 if report.broken else 0)


if __name__ == "__main__":
    main()
