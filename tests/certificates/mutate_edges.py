#!/usr/bin/env python3
"""Tampers with certificates of edges of robots, and demands that two judges rule alike.

A fresh server of the binary CLEARANCE is asked about edges of the Panda among boxes, of two small robots with slides,
mimics and turned origins, of a hand whose links are channels taken as they are, of a robot of cylinders among cylinders,
cones and ellipsoids, of such robots beside a cloud, and of all these on bases that are matrices as far from rotations as is
let in, among boxes at such matrices, most of these with rules: ignored pairs, paddings, and a box that a link carries. Half
of the edges are asked in the scene of a session that says the same as the cell, and judged in the cell that is told. The
judges are its VerifyCertificate and `clients/python/clearance_edges.py`, which reads the URDFs itself. Every answer has to be accepted as it is. What is changed at random may stay true: of what both
accept of it, no sampled configuration may be in contact. What is made false on purpose, by the rules of docs/robots.md
or by a contact on the way, has to be refused by both. A seed gives the same mutations everywhere. Needs grpcio.
usage: mutate_edges.py CLEARANCE [--each 150] [--made-false 150] [--seed 1]
"""
import copy, re
from collections import Counter, defaultdict

from google.protobuf import json_format

from tampering import ROOT, main, print_table  # first: it says where the verifiers are
import clearance_edges as ce  # noqa: E402
import clearance_scenes as cs  # noqa: E402
from clearance_solids import Solid  # noqa: E402
from clearance_verify import Refused, matrix_pose, quaternion_pose  # noqa: E402

SMALL = """<robot name="small"><link name="base"><collision><origin xyz="0 0 -0.2"/><geometry><box size="0.6 0.6 0.3"/>
</geometry></collision></link><link name="mast"><collision><origin xyz="0 0 0.5" rpy="0.1 0 0.2"/><geometry>
<box size="0.1 0.1 0.9"/></geometry></collision></link><link name="arm"><collision><origin xyz="0.4 0 0"/><geometry>
<box size="0.8 0.06 0.08"/></geometry></collision></link><link name="left"><collision><geometry><box size="0.05 0.02 0.2"/>
</geometry></collision></link><link name="right"><collision><geometry><box size="0.05 0.02 0.2"/></geometry></collision>
</link><joint name="turn" type="continuous"><origin xyz="0 0 0.1" rpy="0.05 -0.3 0.7"/><parent link="base"/>
<child link="mast"/><axis xyz="0 0 1"/></joint><joint name="swing" type="revolute"><origin xyz="0.1 0 0.9" rpy="1.2 0 0"/>
<parent link="mast"/><child link="arm"/><axis xyz="0.1 1 0.3"/><limit lower="-3" upper="3"/></joint>
<joint name="grip" type="prismatic"><origin xyz="0.8 0 0"/><parent link="arm"/><child link="left"/><axis xyz="0 1 0"/>
<limit lower="0.015" upper="0.2"/></joint><joint name="follow" type="prismatic"><origin xyz="0.8 0 0"/>
<parent link="arm"/><child link="right"/><axis xyz="0 -2 0"/><mimic joint="grip" multiplier="0.5" offset="0.012"/>
</joint></robot>"""


HAND = """<robot name="hand"><link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="palm"><collision>
<geometry><mesh filename="u.obj"/></geometry></collision></link><link name="finger"><collision><origin xyz="0.1 0 0"/>
<geometry><mesh filename="u.obj" scale="-1 0.5 1"/></geometry></collision></link><joint name="x" type="prismatic">
<parent link="base"/><child link="a"/><axis xyz="1 0 0"/><limit lower="-0.8" upper="0.8"/></joint><joint name="y"
type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/><limit lower="-0.8" upper="0.8"/></joint>
<joint name="z" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/><limit lower="0" upper="0.8"/></joint>
<joint name="turn" type="continuous"><origin xyz="0 0 0" rpy="0.1 0.2 0"/><parent link="c"/><child link="palm"/>
<axis xyz="0.6 0 0.8"/></joint><joint name="curl" type="continuous"><origin xyz="0.4 0 0.1" rpy="0 0.3 0"/>
<parent link="palm"/><child link="finger"/><axis xyz="1 0 0"/></joint></robot>"""


ROUND = """<robot name="round"><link name="base"><collision><origin xyz="0 0 -0.2"/><geometry><box size="0.6 0.6 0.3"/>
</geometry></collision></link><link name="mast"><collision><origin xyz="0 0 0.5" rpy="0.1 0 0.2"/><geometry>
<capsule radius="0.07" length="0.8"/></geometry></collision></link><link name="arm"><collision><origin xyz="0.4 0 0"
rpy="0 1.5 0.1"/><geometry><capsule radius="0.04" length="0.6"/></geometry></collision></link><link name="hand"><collision>
<geometry><sphere radius="0.09"/></geometry></collision></link><joint name="turn" type="continuous"><origin xyz="0 0 0.1"
rpy="0.05 -0.3 0.7"/><parent link="base"/><child link="mast"/><axis xyz="0 0 1"/></joint><joint name="swing" type="revolute">
<origin xyz="0.1 0 0.9" rpy="1.2 0 0"/><parent link="mast"/><child link="arm"/><axis xyz="0.1 1 0.3"/>
<limit lower="-3" upper="3"/></joint><joint name="reach" type="prismatic"><origin xyz="0.8 0 0"/><parent link="arm"/>
<child link="hand"/><axis xyz="0 1 0"/><limit lower="0.015" upper="0.2"/></joint></robot>"""


# The same of cylinders.
TUBES = ROUND.replace('name="round"', 'name="tubes"').replace("<capsule", "<cylinder").replace(
    '<sphere radius="0.09"/>', '<cylinder radius="0.09" length="0.1"/>')


def hand(is_surface=False):
    """With a channel as its mesh: its points and triangles, and what these are."""
    profile = [(-2, -2), (2, -2), (2, 2), (1, 2), (1, -1), (-1, -1), (-1, 2), (-2, 2)]
    triangles = [[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 6], [0, 6, 7]]
    triangles += [[a + 8, c + 8, b + 8] for a, b, c in triangles]
    for k in range(8):
        triangles += [[k, k + 8, (k + 1) % 8], [(k + 1) % 8, k + 8, (k + 1) % 8 + 8]]
    points = [(x / 16, y / 16, z / 16) for y in (-3, 3) for x, z in profile]
    return HAND, "", {"u.obj": (points, triangles, is_surface)}

def obj(points, triangles, _):
    corners = "".join("v {!r} {!r} {!r}\n".format(*point) for point in points)
    return (corners + "".join("f {} {} {}\n".format(*(v + 1 for v in t)) for t in triangles)).encode()

def panda():
    folder = ROOT / "data" / "panda"
    read = lambda name: (folder / name).read_text()
    files = {path.name: path.read_bytes() for path in sorted((folder / "collision").glob("*.stl"))}
    return read("panda.urdf"), read("panda.srdf"), files

def changed_urdf(draw, urdf):
    """With the axis of a joint turned, or an origin moved."""
    pattern = draw.choice((r'<axis xyz="([^"]*)"', r'<origin[^>]*xyz="([^"]*)"', r'<origin[^>]*rpy="([^"]*)"'))
    found = [at for at in re.finditer(pattern, urdf) if "<joint" in urdf[:at.start()].rsplit("</", 1)[-1]]
    at = draw.choice(found or list(re.finditer(pattern, urdf)))
    values = [float(x) + draw.choice((0.0, draw.uniform(-0.3, 0.3))) for x in at[1].split()]
    if not any(values):
        values[0] = 0.1
    return urdf[:at.start(1)] + " ".join(map(repr, values)) + urdf[at.end(1):]


class Scene:
    """A cell for both judges."""

    def __init__(self, wire, robots, boxes, sources, radius=0.0, more=(), rules=None):
        """more: obstacles that are no boxes, each as JSON, as the other judge has it, and where it is. rules: a `Rules`."""
        told = lambda size: {"rounded": {"box": size, "radius": radius}} if radius else {"box": size}
        self.json = {"robots": [{"robotId": key, "base": pose_json(*base)} for key, base in robots],
                     "obstacles": [{**told(dict(zip("xyz", size))), "pose": pose_json(at, turn)} for size, at, turn in boxes]
                     + [{**told, "pose": pose_json(at, turn)} for told, _, at, turn in more]}
        made = lambda points: ce.Rounded(points, radius) if radius else points
        still = [(made([tuple((0.5 if i >> k & 1 else -0.5) * size[k] for k in range(3)) for i in range(8)]),
                  pose_of(at, turn)) for size, at, turn in boxes]
        still += [(body, pose_of(at, turn)) for _, body, at, turn in more]
        self.radius, self.sources, self.session = radius, sources, None
        loaded = [(sources[key], pose_of(*base)) for key, base in robots]
        told = rules.told(self.json, [robot for (robot, _), _ in loaded]) if rules else {}
        self.cell = ce.Cell([(robot, base) for (robot, _), base in loaded], still, **told)
        self.scope_name = rules.scope if rules else "ALL"
        self.scope = {"ALL": {}, "WORLD": {"pairScope": 1}, "SELF": {"pairScope": 2}}[rules.scope if rules else "ALL"]
        self.wire, self.robots, self.boxes, self.vertices, first = wire, robots, boxes, {}, 0
        self.more, self.registered = more, {}
        for (robot, corners), _ in loaded:
            self.vertices.update({first + part: points for part, points in corners.items()})
            first += len(robot.parts)

    def opened(self):
        """A session that says the same, as a question names it."""
        if self.session is None:
            self.session = f"scene-{id(self)}"
            reply = self.wire.call("OpenSession", {"sessionId": self.session, "state": self.state(), "replace": True})
            assert reply.code == "OK", reply
        return {"scene": {"sessionId": self.session, "adjacentLinks": self.json.get("adjacentLinks", False)}}

    def part(self, told):
        if "cloud" in told:
            made = self.wire.call("RegisterPolytopes", {"polytopes": [{"cloud": told["cloud"]}]})
            key = made.message.reports[0].polytope.id
            self.registered = {key: next(body for _, body, *_ in self.more if hasattr(body, "is_surface"))}
            return {"id": key}
        return {"rounded": told["rounded"]} if "rounded" in told else {"rounded": {"box": told["box"]}}

    def state(self):
        bodies, robots, loads, links = [], [], 0, {}
        for k, told in enumerate(self.json["obstacles"]):
            bodies.append({"id": 1 + k, "parts": [self.part(told)], "pose": told["pose"], "fixed": True,
                           "margin": told.get("padding", 0.0)})
        for k, told in enumerate(self.json["robots"]):
            robot, attached = self.sources[told["robotId"]][0], []
            links.update({(k, name): 1000 * (k + 1) + at for at, name in enumerate(robot.links)})
            for load in told.get("attached", []):
                body = {"id": 900 + loads, "parts": [self.part(load["body"])], "margin": load["body"].get("padding", 0.0)}
                bodies.append(body)
                attached.append({"bodyId": 900 + loads, "link": load["link"], "pose": load["body"]["pose"],
                                 "touchLinks": load["touchLinks"]})
                loads += 1
            robots.append({"id": 1000 * (k + 1), "name": f"robot {k}", "robotId": told["robotId"], "base": told["base"],
                           "paddings": told.get("paddings", []), "attached": attached})
        def named(body):
            if "obstacleIndex" in body:
                return 1 + body["obstacleIndex"]
            return 900 + body["attachedIndex"] if "attachedIndex" in body else links[0, body["link"]]
        ignored = [{"a": named(both["first"]), "b": named(both["second"])} for both in self.json.get("ignoredPairs", [])]
        return {"bodies": bodies, "robots": robots, "rules": {"ignoredPairs": ignored}}

class Rules:
    """What a cell says of pairs, drawn once for all cells of one kind of robot: a box that the last link carries, pairs that
    are ignored, paddings, and which pairs are asked."""

    def __init__(self, draw, scope):
        self.scope, self.at = scope, ([draw.uniform(-0.1, 0.1) for _ in range(3)], [1.0] + [draw.uniform(-1, 1) for _ in range(3)])
        self.size = [draw.uniform(0.05, 0.15) for _ in range(3)]
        self.paddings = [draw.choice((0.0, 0.02, 0.05)) for _ in range(4)]
        self.adjacent = draw.random() < 0.5

    def told(self, cell, robots):
        """Says it in a cell, and gives what the other judge has."""
        with_parts = sorted({link for link, *_ in robots[0].parts})
        last, before, first = (robots[0].links[with_parts[k]] for k in (-1, -2, 0))
        named = {"last": ("link", 0, last), "first": ("link", 0, first), "tool": ("carried", 0)}
        self.of_link, self.of_tool, *of_still = self.paddings
        paddings = {named["last"]: self.of_link, named["tool"]: self.of_tool}
        for k, padding in enumerate(of_still):
            cell["obstacles"][k]["padding"] = padding
            paddings["still", k] = padding
        tool = {"box": dict(zip("xyz", self.size)), "pose": pose_json(*self.at), "padding": self.of_tool}
        cell["robots"][0]["paddings"] = [{"link": last, "padding": self.of_link}]
        cell["robots"][0]["attached"] = [{"link": last, "touchLinks": [before], "body": tool}]
        cell["ignoredPairs"] = [{"first": {"link": last}, "second": {"obstacleIndex": 0}},
                                {"first": {"obstacleIndex": 1}, "second": {"attachedIndex": 0}},
                                {"first": {"link": first}, "second": {"link": last}}]
        cell["adjacentLinks"] = self.adjacent
        ignored = [(named["last"], ("still", 0)), (("still", 1), named["tool"]), (named["first"], named["last"])]
        corners = [tuple((0.5 if i >> k & 1 else -0.5) * self.size[k] for k in range(3)) for i in range(8)]
        carried = [ce.Carried(0, last, pose_of(*self.at), corners, [before])]
        return dict(carried=carried, ignored=ignored, paddings=paddings, adjacent_links=self.adjacent, scope=self.scope)

def pose_json(at, turn):
    """A turn is a quaternion, or a matrix by its rows."""
    pose = {"translation": dict(zip("xyz", at))}
    if len(turn) == 4:
        return {**pose, "rotation": dict(zip("wxyz", turn))}
    return {**pose, "rotationMatrix": {"rows": list(turn)}}

def pose_of(at, turn):
    return quaternion_pose(at, turn) if len(turn) == 4 else matrix_pose(at, turn)

def skewed(draw, turn):
    """The rows of a matrix that is a rotation but for as much as is let in: RᵀR - I is 1e-6 in all entries that are not
    zero, with any signs."""
    rows = quaternion_pose([0.0] * 3, turn)[0]
    same = draw.choice((1, -1, 0))
    off = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for k in range(i + 1):
            off[i][k] = off[k][i] = (1e-6 - 1e-14) * (same if same and i == k else draw.choice((-1, 0, 1)))
    square = [[sum(off[i][j] * off[j][k] for j in range(3)) for k in range(3)] for i in range(3)]
    longer = [[(i == k) + off[i][k] / 2 - square[i][k] / 8 for k in range(3)] for i in range(3)]
    return [sum(rows[i][j] * longer[j][k] for j in range(3)) for i in range(3) for k in range(3)]


class Robots:
    """Registered robots: what the Python judge reads, by id."""

    def __init__(self, wire):
        self.wire, self.known, self.hulls = wire, {}, {}

    def add(self, urdf, srdf="", files=None):
        files = files or {}
        request = self.wire.make("RegisterRobot", {"urdf": urdf, "srdf": srdf})
        for name, content in files.items():
            is_kept = isinstance(content, tuple)
            request.meshes.add(name=name, content=obj(*content) if is_kept else content)
            request.mesh_treatment = (4 if content[2] else 3) if is_kept else 1
        reply = self.wire.call("RegisterRobot", request)
        assert reply.code == "OK", reply
        kept = lambda points, triangles, is_surface: (ce.surface if is_surface else ce.region)(points, triangles)
        made = lambda content: kept(*content) if isinstance(content, tuple) else ce.stl_points(content)
        meshes = {name: made(content) for name, content in files.items()}
        robot = ce.Robot(urdf, srdf, meshes)
        hulls = [index for index, part in enumerate(robot.parts)
                 if reply.message.robot.parts[index].mesh and not isinstance(part[3], Solid)]
        corners = {index: self.corners(reply.message.robot.parts[index].mesh, meshes) for index in hulls}
        self.known[reply.message.robot.id] = robot, corners
        return reply.message.robot

    def corners(self, name, meshes):
        """The corners of a mesh's hull, as the server says: the judge sees that they are points of it."""
        name = name.rsplit("/", 1)[-1]
        if name not in self.hulls:
            made = {"vertices": {"xyz": [x for point in meshes[name] for x in point]}}
            made = self.wire.call("RegisterPolytopes", {"polytopes": [made]})
            assert made.code == "OK", made
            got = self.wire.call("GetPolytope", {"id": made.message.reports[0].polytope.id, "withVertices": True})
            xyz = list(got.message.vertices.xyz)
            self.hulls[name] = [tuple(xyz[k:k + 3]) for k in range(0, len(xyz), 3)]
        return self.hulls[name]


# ---- the judges
class Claim:
    def __init__(self, scene, question, answer, asked=None):
        self.scene, self.question, self.answer = scene, question, answer
        self.asked = asked or scene  # where it was asked

    def copy(self):
        return Claim(self.scene, copy.deepcopy(self.question), copy.deepcopy(self.answer), self.asked)

    def told(self):
        """The answer; one about a scene tells the cell that the claim is about by now."""
        if self.scene is self.asked or not self.answer.HasField("scene_cell"):
            return self.answer
        answer = copy.deepcopy(self.answer)
        answer.scene_cell.cell.Clear()
        json_format.ParseDict(self.scene.json, answer.scene_cell.cell)
        return answer

    def cell(self, answer):
        """What the claim is about, and the numbers of the bodies in contact."""
        if not answer.HasField("scene_cell"):
            return self.scene.cell, lambda: (answer.near_firsts[0], answer.near_seconds[0])
        told, scene = json_format.MessageToDict(answer), json_format.MessageToDict(answer.scene_cell)
        robots = {key: self.scene.sources[key][0] for key, _ in self.scene.robots}
        cell = cs.read(scene, robots, self.asked.registered, self.scene.scope_name)
        return cell, lambda: cs.contact(told, scene, 0)

    def same(self, other):
        return (self.scene is other.scene and self.question == other.question
                and self.answer.SerializeToString() == other.answer.SerializeToString())

def rust(wire, claim):
    """The refusal; none if it accepts."""
    answer = claim.told()
    place = claim.asked.opened() if answer.HasField("scene_cell") else {"cell": claim.scene.json}
    question = wire.make("CheckEdges", {**place, "certificate": True, **claim.scene.scope, **claim.question})
    request = wire.make("VerifyCertificate", {})
    request.edges.question.CopyFrom(question)
    request.edges.answer.CopyFrom(answer)
    reply = wire.call("VerifyCertificate", request)
    if reply.code == "OK":
        return reply.message.refusal or (None if reply.message.valid else "refused")
    # Of margins below 0 no claim speaks.
    assert reply.code == "INVALID_ARGUMENT" or reply.code == "UNIMPLEMENTED" and "below 0" in reply.words, reply
    return reply.words

def lists(message):
    names = ("speeds", "firsts", "seconds", "directions", "gaps", "closings", "first_hulls", "second_hulls")
    covers = [json_format.MessageToDict(cover) for cover in message.covers]
    return {"end": message.end, "covers": covers, **{name: list(getattr(message, name)) for name in names}}

def proof_of(contact):
    word = contact.WhichOneof("proof")
    proof = getattr(contact, word)
    if word in ("solid", "rounded"):
        return {word: json_format.MessageToDict(proof)}
    pairs = lambda wire: [[pair.i, pair.j] for pair in wire]
    certificate = {"pairs": pairs(getattr(proof, "pairs", ()))}
    if word != "overlapping":
        form = proof.direction.WhichOneof("form")
        direction = getattr(proof.direction, form)
        if form == "vector":
            certificate["direction"] = [direction.x, direction.y, direction.z]
        else:
            certificate.update(direction_pairs=pairs(direction.pairs), direction_sign=-1 if direction.negative else 1)
            if form == "edge_normal":
                certificate["direction_axis"] = direction.axis - 1
    return {"verdict": word.upper(), "certificate": certificate, "margin_pairs": pairs(getattr(proof, "margin_pairs", ()))}

def triples(points):
    xyz = list(points.xyz)
    ce.require(xyz and len(xyz) % 3 == 0, "no list of points")
    return [tuple(xyz[k:k + 3]) for k in range(0, len(xyz), 3)]

def python(claim):
    answer, question = claim.told(), claim.question
    try:
        cell, numbers = claim.cell(answer)
        ce.verify_coverage(cell, json_format.MessageToDict(answer.coverage))
        certificate, contact = answer.certificates[0], None
        if len(answer.near_indices) and answer.contact_at[0] == answer.contact_at[0]:
            contact = answer.contact_at[0], numbers()
        if answer.outcomes[0] == 2:  # no contact
            ce.require(answer.free_until[0] >= 1 and contact is None, "not free until the end")
        proof = proof_of(certificate.contact) if certificate.HasField("contact") else None
        shown = {"pieces": [lists(piece) for piece in certificate.pieces], "contact": proof}
        shown["hulls"] = [{"body": hull.body, "outer": triples(hull.outer), "outer_triangles": list(hull.outer_triangles)}
                          for hull in certificate.hulls]
        for name in ("first_inside", "second_inside"):
            if certificate.HasField(name):
                shown[name] = triples(getattr(certificate, name))
        ce.verify_edge(cell, question["starts"], question["ends"], question["margin"],
                       {"free_until": answer.free_until[0], "contact": contact}, shown, claim.scene.vertices)
    except (Refused, LookupError, TypeError, ValueError, AttributeError, ZeroDivisionError) as why:
        return str(why) or repr(why)


# ---- what is changed: each takes a claim and changes it, or raises LookupError
def any_piece(draw, claim):
    return draw.choice(claim.answer.certificates[0].pieces)

def less(draw):
    return 1 - 10 ** draw.uniform(-6, -0.1)

def speed(draw, claim):
    speeds = any_piece(draw, claim).speeds
    part = draw.choice([k for k, x in enumerate(speeds) if x > 0])
    speeds[part] *= less(draw)

def closing(draw, claim):
    closings = any_piece(draw, claim).closings
    closings[draw.choice([k for k, x in enumerate(closings) if x > 0])] *= less(draw)

def piece_dropped(draw, claim):
    pieces = claim.answer.certificates[0].pieces
    del pieces[draw.randrange(len(pieces))]

def piece_end(draw, claim):
    any_piece(draw, claim).end *= 1 + draw.choice((-1, 1)) * 10 ** draw.uniform(-9, -0.5)

def direction(draw, claim):
    piece = any_piece(draw, claim)
    at = 3 * draw.randrange(len(piece.gaps))
    way = draw.randrange(3)
    for k in range(at, at + 3):
        if way == 0:
            piece.directions[k] = -piece.directions[k]
        else:
            piece.directions[k] += draw.uniform(-1, 1) * 10 ** draw.uniform(-9, 0)

def any_cover(draw, claim):
    return draw.choice(draw.choice([piece for piece in claim.answer.certificates[0].pieces if piece.covers]).covers)

def cover_dropped(draw, claim):
    covers = draw.choice([piece for piece in claim.answer.certificates[0].pieces if piece.covers]).covers
    del covers[draw.randrange(len(covers))]

def cover_step(draw, claim):
    steps = any_cover(draw, claim).steps
    at = draw.randrange(len(steps))
    if draw.random() < 0.5:
        del steps[at]
    elif steps[at].split:
        steps[at].split = 3 - steps[at].split
    else:
        steps[at].split = draw.choice((1, 2))

def cover_direction(draw, claim):
    link = draw.choice([step for step in any_cover(draw, claim).steps if step.chain]).chain[0]
    form = link.direction.WhichOneof("form")
    if form != "vector":
        pair = draw.choice(getattr(link.direction, form).pairs)
        pair.i += 1
        return
    name = draw.choice("xyz")
    known = getattr(link.direction.vector, name)
    setattr(link.direction.vector, name, known + draw.uniform(-1, 1) * 10 ** draw.uniform(-9, 0))

def cover_order(draw, claim):
    cover = any_cover(draw, claim)
    order = draw.choice([order for order in (cover.p_order, cover.q_order) if len(order) > 1])
    a, b = draw.sample(range(len(order)), 2)
    order[a], order[b] = order[b], order[a]

def gap(draw, claim):
    gaps = any_piece(draw, claim).gaps
    gaps[draw.randrange(len(gaps))] *= 1 + draw.choice((-1, 1)) * 10 ** draw.uniform(-6, 0)

def pair_left_out(draw, claim):
    piece = any_piece(draw, claim)
    at = draw.randrange(len(piece.gaps))
    for values, count in ((piece.firsts, 1), (piece.seconds, 1), (piece.gaps, 1), (piece.closings, 1), (piece.directions, 3),
                          (piece.first_hulls, 1), (piece.second_hulls, 1)):
        del values[at * count:(at + 1) * count]

def pair_renamed(draw, claim):
    piece = any_piece(draw, claim)
    values = draw.choice((piece.firsts, piece.seconds))
    at = draw.randrange(len(values))
    values[at] = max(0, values[at] + draw.choice((-1, 1)))

def free_until(draw, claim):
    until = claim.answer.free_until[0]
    claim.answer.free_until[0] = min(1.0, until + 10 ** draw.uniform(-9, 0)) if draw.random() < 0.8 else until - 0.01

def contact(draw, claim):
    certificate, way = claim.answer.certificates[0], draw.randrange(4)
    if not certificate.HasField("contact"):
        raise LookupError
    if way == 0:
        certificate.ClearField("contact")
    elif way == 1:
        claim.answer.contact_at[0] += draw.choice((-1, 1)) * 10 ** draw.uniform(-12, -1)
    elif way == 2:
        claim.answer.near_seconds[0] += draw.choice((-1, 1))
    else:
        proof = getattr(certificate.contact, certificate.contact.WhichOneof("proof"))
        form = proof.WhichOneof("proof") if hasattr(proof, "crossing") else None
        if form == "crossing":
            named = draw.choice((proof.crossing.p, proof.crossing.q))
            named[draw.randrange(len(named))] += 1
            return
        if form in ("overlapping_pieces", "touching_pieces"):
            pairs = getattr(proof, form).pairs
            if draw.random() < 0.5:
                draw.choice(pairs).i += 1
            else:
                del pairs[draw.randrange(len(pairs))]
            return
        pair = draw.choice(getattr(proof, "pairs", None) or proof.margin_pairs)
        pair.j += 1

def margin(draw, claim):
    claim.question["margin"] = draw.choice((0.0, claim.question["margin"] + 10 ** draw.uniform(-6, 0), -0.1))

def joint_value(draw, claim):
    values = claim.question[draw.choice(("starts", "ends"))]
    values[draw.randrange(len(values))] += draw.uniform(-1, 1) * 10 ** draw.uniform(-6, 0)

def robot(draw, claim):
    claim.scene = draw.choice(claim.scene.others)

def box_moved(draw, claim):
    claim.scene = draw.choice(claim.scene.moved)

def any_hull(draw, claim):
    return draw.choice(claim.answer.certificates[0].hulls)

def hull_corner(draw, claim):
    xyz = any_hull(draw, claim).outer.xyz
    xyz[draw.randrange(len(xyz))] += draw.uniform(-1, 1) * 10 ** draw.uniform(-12, -1)

def hull_triangle(draw, claim):
    triangles = any_hull(draw, claim).outer_triangles
    at = 3 * draw.randrange(len(triangles) // 3)
    way = draw.randrange(3)
    if way == 0:
        del triangles[at:at + 3]
    elif way == 1:
        triangles[at], triangles[at + 1] = triangles[at + 1], triangles[at]
    else:
        triangles[at] += 1

def hull_renamed(draw, claim):
    piece = any_piece(draw, claim)
    hulls = draw.choice((piece.first_hulls, piece.second_hulls))
    at = draw.randrange(len(hulls))
    if draw.random() < 0.3:
        any_hull(draw, claim).body += 1
    hulls[at] = draw.choice((0, hulls[at] + 1, max(0, hulls[at] - 1)))

def any_inside(draw, claim):
    certificate = claim.answer.certificates[0]
    return draw.choice([name for name in ("first_inside", "second_inside") if certificate.HasField(name)])

def inside_moved(draw, claim):
    xyz = getattr(claim.answer.certificates[0], any_inside(draw, claim)).xyz
    xyz[draw.randrange(len(xyz))] += draw.uniform(-1, 1) * 10 ** draw.uniform(-14, -1)

def inside_left_out(draw, claim):
    claim.answer.certificates[0].ClearField(any_inside(draw, claim))

def hull_shrunk(draw, claim):
    """No polytope stands out of its body by a tenth at the ends of its axes."""
    xyz = any_hull(draw, claim).outer.xyz
    size = draw.uniform(0.5, 0.9)
    xyz[:] = [x * size for x in xyz]

def inside_grown(draw, claim):
    xyz = getattr(claim.answer.certificates[0], any_inside(draw, claim)).xyz
    size = draw.uniform(1.1, 3)
    xyz[:] = [x * size for x in xyz]

def rules_dropped(draw, claim):
    """The same of a cell without these rules, with what is left out there."""
    if not claim.scene.bare:
        raise LookupError
    claim.scene = claim.scene.bare
    claim.answer.coverage.CopyFrom(claim.scene.coverage)

def any_left_out(draw, claim):
    coverage = claim.answer.coverage
    return coverage, draw.randrange(len(coverage.firsts))

def left_out_unsaid(draw, claim):
    coverage, at = any_left_out(draw, claim)
    for values in (coverage.firsts, coverage.seconds, coverage.rules):
        del values[at]

def left_out_by_another_rule(draw, claim):
    coverage, at = any_left_out(draw, claim)
    coverage.rules[at] = draw.choice([rule for rule in (1, 2, 3, 4) if rule != coverage.rules[at]])

def left_out_and_covered(draw, claim):
    coverage, pairs = claim.answer.coverage, claim.scene.cell.pairs
    (a, b), rule = draw.choice(pairs), draw.choice((1, 2, 3, 4))
    at = sum(pair < (a, b) for pair in zip(coverage.firsts, coverage.seconds))
    coverage.firsts.insert(at, a)
    coverage.seconds.insert(at, b)
    coverage.rules.insert(at, rule)
    coverage.covered -= draw.choice((0, 1))

def covered_otherwise(draw, claim):
    claim.answer.coverage.covered += draw.choice((-1, 1, 7))

KINDS = {"the rules dropped": rules_dropped, "a polytope's corner moved": hull_corner, "a polytope's triangle changed": hull_triangle,
         "a polytope renamed": hull_renamed, "a point inside moved": inside_moved,
         "a speed made smaller": speed, "a closing made smaller": closing, "a piece dropped": piece_dropped,
         "a piece's end moved": piece_end, "a direction changed": direction, "a gap changed": gap,
         "a cover dropped": cover_dropped, "a cover's step changed": cover_step,
         "a cover's direction changed": cover_direction, "a cover's order changed": cover_order,
         "a pair left out": pair_left_out, "a pair renamed": pair_renamed, "free for longer": free_until,
         "the contact changed": contact, "the margin changed": margin, "a joint value changed": joint_value,
         "a joint's axis or origin turned": robot, "a box moved": box_moved}


# ---- what is made false: each raises LookupError where a change has not made the claim false for certain
def apart(claim):
    """Whether every listed gap is more than its pair can close, by the claim's own numbers, and the pieces join."""
    reached, radii = 0.0, claim.scene.cell.radii
    keep = lambda *pair: claim.scene.cell.margin(pair, claim.question["margin"]) + sum(radii[body] for body in pair if body < len(radii))
    for piece in claim.answer.certificates[0].pieces:
        most = [keep(a, b) + closing * (piece.end - reached) / 2
                for a, b, closing in zip(piece.firsts, piece.seconds, piece.closings)]
        if piece.end <= reached or any(gap <= reach for gap, reach in zip(piece.gaps, most)):
            return False
        reached = piece.end
    return reached >= claim.answer.free_until[0]

def needed(true):
    if true:
        raise LookupError

def needed_piece_dropped(draw, claim):
    piece_dropped(draw, claim)
    needed(apart(claim))

def piece_beyond_its_bound(draw, claim):
    pieces = claim.answer.certificates[0].pieces
    at = draw.randrange(len(pieces))
    pieces[at].end += draw.uniform(0, 1) * ((pieces[at + 1].end if at + 1 < len(pieces) else 1.0) - pieces[at].end)
    needed(apart(claim))

def margin_above_the_gaps(draw, claim):
    claim.question["margin"] += 10 ** draw.uniform(-6, 0)
    needed(apart(claim))

def gap_below_its_closing(draw, claim):
    gap(draw, claim)
    needed(apart(claim))

def unstretched(draw, claim):
    """A piece, and what both bounds of speeds are in its middle: as they have to be, and as if no base stretched."""
    cell, question = claim.scene.cell, claim.question
    needed(max(cell.stretches) < 1 + 1e-8)
    pieces = claim.answer.certificates[0].pieces
    at = draw.randrange(len(pieces))
    start, end = pieces[at - 1].end if at else 0.0, pieces[at].end
    middle = start + 0.5 * (end - start)
    rigid = copy.copy(cell)
    rigid.stretches, rigid.stretch = [1.0] * len(cell.stretches), [1.0] * len(cell.stretch)
    both = [ce.Edge(of, question["starts"], question["ends"], question["margin"]) for of in (cell, rigid)]
    placed, half = both[0].at(middle)[0], max(middle - start, end - middle)
    speeds = lambda part: [edge.speed(part, None, placed, half) for edge in both]
    return pieces[at], speeds, lambda pair, along: [edge.closing(pair, placed, half, along) for edge in both]

def speed_of_a_rigid_base(draw, claim):
    piece, speeds, _ = unstretched(draw, claim)
    part = draw.randrange(len(piece.speeds))
    least, rigid = speeds(part)
    needed(least <= rigid * (1 + 1e-8))
    piece.speeds[part] = rigid * (1 + 1e-9)

def closing_of_a_rigid_base(draw, claim):
    piece, _, closings = unstretched(draw, claim)
    at = draw.randrange(len(piece.firsts))
    pair = piece.firsts[at], piece.seconds[at]
    least, rigid = closings(pair, piece.directions[3 * at:3 * at + 3])
    needed(least <= rigid * (1 + 1e-8))
    piece.closings[at] = rigid * (1 + 1e-9)

def gap_beyond_the_scene(draw, claim):
    """Nothing here is ten metres from anything."""
    gaps = any_piece(draw, claim).gaps
    gaps[draw.randrange(len(gaps))] = draw.uniform(10, 1e3)

def direction_turned_away(draw, claim):
    """Who is ahead along a direction is behind along its opposite, however long that is."""
    piece, size = any_piece(draw, claim), -10 ** draw.uniform(-3, 3)
    at = 3 * draw.randrange(len(piece.gaps))
    needed(not any(piece.directions[at:at + 3]))
    for k in range(at, at + 3):
        piece.directions[k] *= size

def free_beyond_its_pieces(draw, claim):
    until = claim.answer.free_until[0]
    claim.answer.free_until[0] = draw.uniform(until, 1)
    needed(apart(claim))

def contact_unproven(draw, claim):
    certificate = claim.answer.certificates[0]
    needed(not certificate.HasField("contact"))
    certificate.ClearField("contact")

def obstacle_left_out(draw, claim):
    obstacles = claim.answer.scene_cell.cell.obstacles
    del obstacles[draw.randrange(len(obstacles))]

def contact_of_another_body(draw, claim):
    needed(not claim.answer.HasField("scene_cell"))
    named = draw.choice((claim.answer.near_firsts, claim.answer.near_seconds, claim.answer.scene_cell.near_seconds))
    named[0] += draw.choice((1, 2, 5000))
    needed(claim.answer.contact_at[0] != claim.answer.contact_at[0])

def into_contact(change):
    """Such changes that a configuration on the way is in contact: an exact verdict, which no certificate has a part in."""
    def changed(draw, claim):
        change(draw, claim)
        needed(not samples_in_contact(claim.scene.wire, claim))
    return changed

def joint_value_far(draw, claim):
    values = claim.question[draw.choice(("starts", "ends"))]
    values[draw.randrange(len(values))] += draw.uniform(-2, 2)

def box_in_the_way(draw, claim):
    claim.scene = draw.choice(claim.scene.blocked)

def needed_cover_dropped(draw, claim):
    """Then the direction, which is zero, shows nothing, or there is a cover too few for those that follow."""
    cover_dropped(draw, claim)

FALSE = {"a pair left out unsaid": left_out_unsaid, "a pair left out by another rule": left_out_by_another_rule,
         "a covered pair said to be left out": left_out_and_covered, "more or less pairs covered": covered_otherwise,
         "a polytope shrunk": hull_shrunk, "points beyond a body": inside_grown, "points inside left out": inside_left_out,
         "a speed below its bound": speed, "a closing below its bound": closing,
         "a speed as of a rigid base": speed_of_a_rigid_base, "a closing as of a rigid base": closing_of_a_rigid_base,
         "an obstacle left out of the cell told": obstacle_left_out, "a contact of another body": contact_of_another_body,
         "a needed piece dropped": needed_piece_dropped, "a piece beyond its bound": piece_beyond_its_bound,
         "a cover left out": needed_cover_dropped, "a needed pair left out": pair_left_out, "a direction turned away": direction_turned_away,
         "a gap below its closing": gap_below_its_closing, "a gap beyond the scene": gap_beyond_the_scene,
         "free beyond its pieces": free_beyond_its_pieces, "a margin above the gaps": margin_above_the_gaps,
         "a contact unproven": contact_unproven, "a joint's axis turned into contact": into_contact(robot),
         "joint values into contact": into_contact(joint_value_far), "a box in the way": into_contact(box_in_the_way)}


def scenes(wire, draw):
    robots = Robots(wire)
    turned = lambda: [1.0] + [draw.uniform(-1, 1) for _ in range(3)]
    plain = lambda turn: turn
    box = lambda low, high: ([draw.uniform(0.05, 0.3) for _ in range(3)],
                             [draw.choice((-1, 1)) * draw.uniform(low, high), draw.uniform(-high, high), draw.uniform(0, 1)], turned())
    small = SMALL, "", {}
    of_panda = panda(), [([0.0, 0.0, 0.0], [1.0, 0, 0, 0])], [box(0.4, 0.8) for _ in range(12)]
    of_small = (small, [([0.0, 0.0, 0.0], [1.0, 0, 0, 0]), ([1.3, 0.2, 0.1], turned())],
                [box(0.7, 1.5) for _ in range(8)])
    stretch = lambda turn: skewed(draw, turn)
    of_hand, of_sheets = ((hand(is_surface), [([0.0, 0.0, 0.0], [1.0, 0, 0, 0])],
                           [([draw.uniform(0.01, 0.04) for _ in range(3)],
                             [*(draw.uniform(-0.7, 0.7) for _ in range(2)), 0.4], turned()) for _ in range(10)])
                          for is_surface in (False, True))
    of_round = (ROUND, "", {}), [([0.0, 0.0, 0.0], [1.0, 0, 0, 0]), ([1.3, 0.2, 0.1], turned())], of_small[2]
    of_tubes = (TUBES, "", {}), of_round[1], of_small[2]
    somewhere = lambda: [draw.choice((-1, 1)) * draw.uniform(0.5, 1.3), draw.uniform(-1.3, 1.3), draw.uniform(0, 1)]
    def curved():
        a, b, c = (draw.uniform(0.08, 0.25) for _ in range(3))
        radius = draw.choice((0.0, 0.03))
        return draw.choice((
            ({"rounded": {"cylinder": {"radiusXy": a, "length": 2 * c}, "radius": radius}}, ce.Curved("cylinder", [a, a, c], radius)),
            ({"rounded": {"cone": {"radiusXy": a, "length": 2 * c}, "radius": radius}}, ce.Curved("cone", [a, a, c], radius)),
            ({"rounded": {"ellipsoid": dict(zip("xyz", (a, b, c))), "radius": radius}}, ce.Curved("ellipsoid", [a, b, c], radius))))
    def balls():
        points = [tuple(somewhere()) for _ in range(30)]
        radius = draw.choice((0.0, 0.05))
        cloud = {"xyz": [x for point in points for x in point], "radius": radius}
        return {"cloud": cloud}, ce.cloud(points, radius)
    few = lambda made, count: [(*made(), somewhere(), turned()) for _ in range(count)]
    all_of = [(*of, ()) for of in (of_panda, of_small, of_hand, of_sheets, of_round)]
    all_of += [(*of_tubes, few(curved, 6)), (*of_tubes, [(*balls(), [0.0] * 3, turned())]),
               (*of_small, few(curved, 5) + [(*balls(), [0.0] * 3, turned())])]
    ruled = [False] * len(all_of) + [k % 8 != 6 for k in range(len(all_of))]
    for ((source, places, boxes, more), made), has_rules in zip(
            ((of, made) for made in (plain, stretch) for of in all_of), ruled):
        rules = Rules(draw, draw.choice(("ALL", "ALL", "WORLD", "SELF"))) if has_rules else None
        more = [(told, body, at, made(turn)) for told, body, at, turn in more]
        places = [(at, made(turn)) for at, turn in places]
        boxes = [(size, at, made(turn)) for size, at, turn in boxes]
        urdf, srdf, files = source
        described = robots.add(*source)
        standing = [(described.id, base) for base in places]
        radius = 0.05 if urdf is ROUND else 0.0
        scene = Scene(wire, standing, boxes, robots.known, radius, more, rules)
        scene.bare = rules and Scene(wire, standing, boxes, robots.known, radius, more)
        if rules:
            values = [0.0] * scene.bare.cell.width
            asked = {"cell": scene.bare.json, "starts": values, "ends": values, "certificate": True, "reportLimits": True}
            reply = wire.call("CheckEdges", asked)
            assert reply.code == "OK", reply
            scene.bare.coverage = reply.message.coverage
        scene.variables = [(v.lower if v.HasField("lower") else -3.0, v.upper if v.HasField("upper") else 3.0)
                           for _ in places for v in described.variables]
        # A hand begins at a box, which may be in the channel.
        scene.places = [at for _, at, _ in boxes] if source[0] is HAND else []
        others = [robots.add(changed_urdf(draw, urdf), srdf, files).id for _ in range(12)]
        scene.others = [Scene(wire, [(key, base) for base in places], boxes, robots.known, radius, more, rules) for key in others]
        scene.moved = []
        for _ in range(12):
            other = copy.deepcopy(boxes)
            other[draw.randrange(len(other))][1][draw.randrange(3)] += draw.uniform(-1, 1) * 10 ** draw.uniform(-2, 0.3)
            scene.moved.append(Scene(wire, standing, other, robots.known, radius, more, rules))
        scene.blocked = []
        for _ in range(12):
            large = [draw.uniform(0.5, 0.9) for _ in range(3)], [draw.uniform(-0.6, 0.6) for _ in range(3)], turned()
            # Not the first two, which rules ignore.
            other = [*boxes[:-1], large]
            scene.blocked.append(Scene(wire, standing, other, robots.known, radius, more, rules))
        yield scene

def claims_of(wire, draw, scene, count):
    for _ in range(4 * count if scene.places else count):
        starts = [draw.uniform(*ends) for ends in scene.variables]
        size = draw.choice((0.05, 0.2, 0.6))
        if scene.places:
            starts[:3], size = (x + draw.uniform(-0.06, 0.06) for x in draw.choice(scene.places)), 0.1
        ends = [q + draw.uniform(-size, size) if draw.random() < 0.8 else q for q in starts]
        question = {"starts": starts, "ends": ends, "margin": draw.choice((0.0, 0.0, 0.01))}
        place = scene.opened() if draw.random() < 0.5 else {"cell": scene.json}
        reply = wire.call("CheckEdges", {**place, "certificate": True, **scene.scope, **question})
        assert reply.code == "OK", reply
        yield Claim(scene, question, reply.message)

def samples_in_contact(wire, claim):
    """What is sampled where both judges accept that the path is free."""
    until, (a, b) = claim.answer.free_until[0], (claim.question[name] for name in ("starts", "ends"))
    if until <= 0:
        return 0
    values = [p + until * k / 40 * (q - p) for k in range(40) for p, q in zip(a, b)]
    reply = wire.call("CheckConfigurations", {"cell": claim.scene.json, "values": values, "reportLimits": True, **claim.scene.scope})
    assert reply.code == "OK", reply
    return sum(verdict != 1 for verdict in reply.message.verdicts)


def tampered(wire, draw, claims, kinds, each, certainly):
    """A table of what the judges said to `each` mutations of every kind, and what is wrong about that."""
    counts, wrong = defaultdict(Counter), []
    for name, change in kinds.items():
        tries = 0
        while counts[name]["made"] < each and (tries := tries + 1) < 120 * each:
            known = draw.choice(claims)
            claim = known.copy()
            try:
                change(draw, claim)
            except (LookupError, ValueError):
                continue  # this one has nothing of the kind
            if claim.same(known):
                continue
            ours, theirs = rust(wire, claim), python(claim)
            unlike = (ours is None) != (theirs is None)
            counts[name].update(made=1, refused=ours is not None, unlike=unlike)
            if unlike:
                wrong.append(f"{name}: Rust {ours or 'accepts'}, Python {theirs or 'accepts'}\n  {claim.question}")
            elif ours is None and (certainly or samples_in_contact(wire, claim)):
                counts[name]["false"] += 1
                wrong.append(f"{name}: accepted, and it is false\n  {claim.question}")
        if counts[name]["made"] < each:
            wrong.append(f"{name}: only {counts[name]['made']} could be made")
    print_table("made false" if certainly else "changed at random", counts)
    return wrong


def run(wire, draw, options):
    for service in ("RobotService", "SessionService"):
        for method in wire.pool.FindServiceByName(f"clearance.v1.{service}").methods:
            wire.methods[method.name] = (f"/clearance.v1.{service}/{method.name}", method)
    wrong, claims, seen = [], [], Counter()
    for scene in scenes(wire, draw):
        for claim in claims_of(wire, draw, scene, 40):
            for name, why in (("Rust", rust(wire, claim)), ("Python", python(claim))):
                if why is not None:
                    wrong.append(f"as it was answered: {name}: {why}\n  {claim.question}")
            certificate = claim.answer.certificates[0]
            pieces = certificate.pieces
            seen.update(["edges", ("", "ending in contact", "free", "undecided")[claim.answer.outcomes[0]]])
            seen.update(pieces=len(pieces), gaps=sum(len(piece.gaps) for piece in pieces))
            # Of those that begin in contact, what is proven by points in curved bodies.
            if pieces or any(certificate.HasField(name) for name in ("first_inside", "second_inside")):
                claims.append(claim)
    print(", ".join(f"{count} {word}" for word, count in seen.items()))
    wrong += tampered(wire, draw, claims, KINDS, options.each, False)
    return wrong + tampered(wire, draw, claims, FALSE, options.made_false, True)


if __name__ == "__main__":
    main(__doc__, run, each=150, made_false=150)
