#!/usr/bin/env python3
"""Compares what a server says of links and obstacles with round edges with an exact reference, in cells of robots.

A fresh server of the binary CLEARANCE gets robots of one link, a ball, a capsule, any polytope with a radius, or a mesh, and
cells with another body: as an obstacle, the other way round, and both as links of two robots. The pairs are those of
rounded_cases.py, most of them made to touch or to be an ulp off, and meshes with balls and capsules at their corners. Verdicts
and clearances are judged by rationals; paths of sliding joints, exactly where they first come within the radii and a margin.
Certificates of paths are verified by the server and by `clients/python`, and so are changed ones, which have to be refused
by both or by neither; with `--falsify` every answer is made false, and every certificate is shown of a thicker body.
Needs grpcio, and is faster with gmpy2.
usage: rounded_cells.py CLEARANCE [--each 60] [--seed 1] [--falsify]
"""
import math
from fractions import Fraction

from asking import OUTCOMES, VERDICTS, chosen, draw_of, main, register
from bodies import IDENTITY, ROTATIONS, Body, Two, turned_back
from reference import InUnits, Root
from rounded_cases import FAMILIES as PAIRS
from rounded_cases import Case, added, dot, dyadic, rounded, ulp_off, vector
from solid_cases import HOLLOWS, SHAPES
import clearance_edges as ce
import mutate_edges as tampering
from clearance_verify import matrix_pose

JOINT = '<joint name="{k}" type="prismatic"><parent link="{a}"/><child link="{b}"/><axis xyz="{axis}"/>' \
        '<limit lower="-64" upper="64" velocity="1"/></joint>'
AXES = [("x", "0", "1", "1 0 0"), ("y", "1", "2", "0 1 0"), ("z", "2", "3", "0 0 1")]
JOINTS = "".join(JOINT.format(k=k, a=a, b=b, axis=axis) for k, a, b, axis in AXES)
SLIDER = '<robot name="slider"><link name="0"/><link name="1"/><link name="2"/><link name="3"><collision><geometry>{shape}' \
         "</geometry></collision></link>" + JOINTS + "</robot>"
NARROW = Fraction(1, 1 << 30)
LONGEST = 1e6  # metres, of a length in a URDF


def shape_of(body):
    """How a URDF says a ball or a capsule; None: it is registered and named as a mesh."""
    told = body.source.get("rounded", {"vertices": None})
    if not 0 < body.radius <= LONGEST or {"vertices", "box"} & set(told) or told.get("length", 0) > LONGEST:
        return None
    if "length" in told:
        return f'<capsule radius="{body.radius!r}" length="{told["length"]!r}"/>'
    return f'<sphere radius="{body.radius!r}"/>'


def read(body):
    """As the verifier has it."""
    if body.triangles:
        return (ce.region if body.is_region else ce.surface)(body.points, body.triangles)
    return ce.Rounded(body.points, body.radius) if body.radius else body.points


class World:
    """Registers what cases need, and knows what it registered."""

    def __init__(self, wire):
        self.wire, self.corners = wire, {}

    def registered(self, body):
        if "id" in body.source:
            return body.source["id"]
        if body.triangles:
            treatment = "MESH_TREATMENT_POLYHEDRON" if body.is_region else "MESH_TREATMENT_SURFACE"
            mesh = {"vertices": xyz(body.points), "triangles": [v for t in body.triangles for v in t]}
            spec = {"mesh": mesh, "treatment": treatment}
        else:
            spec = body.source if "rounded" in body.source else {"vertices": xyz(body.points)}
        found, = register(self.wire, [spec])
        return found

    def hull(self, body):
        """The corners of a polytope, as the server numbers them."""
        key = tuple(map(tuple, body.points))
        if key not in self.corners:
            found, = register(self.wire, [{"vertices": xyz(body.points)}])
            told = list(self.wire.call("GetPolytope", {"id": found, "withVertices": True}).message.vertices.xyz)
            self.corners[key] = [tuple(told[k:k + 3]) for k in range(0, len(told), 3)]
        return self.corners[key]

    def robot(self, body):
        """Its id, and what the verifier reads."""
        shape = shape_of(body)
        urdf = SLIDER.format(shape=shape or '<mesh filename="part"/>')
        meshes = [] if shape else [{"name": "part", "id": self.registered(body)}]
        reply = self.wire.call("RegisterRobot", {"urdf": urdf, "meshes": meshes})
        assert reply.code == "OK", reply
        return reply.message.robot.id, ce.Robot(urdf, meshes={"part": read(body)})


def xyz(points):
    return {"xyz": [x for point in points for x in point]}


def pose_json(body):
    pose = {"translation": dict(zip("xyz", body.at))}
    return pose if body.rows == IDENTITY else {**pose, "rotationMatrix": {"rows": list(body.rows)}}


def pose_of(body):
    return matrix_pose(list(body.at), list(body.rows))


def obstacle(world, body):
    source = {"id": world.registered(body)} if body.triangles or "id" in body.source else body.source
    return {**source, "pose": pose_json(body)}


class Scene:
    """A cell of two bodies, the first as a link and the second in one of two ways, for both judges."""

    scope = {}  # all pairs

    def __init__(self, world, bodies, both_move):
        self.bodies, self.wire = bodies, world.wire
        self.robots = [world.robot(body) for body in (bodies if both_move else bodies[:1])]
        standing = [{"robotId": key, "base": pose_json(body)} for (key, _), body in zip(self.robots, bodies)]
        self.json = {"robots": standing}
        still = []
        if not both_move:
            self.json["obstacles"] = [obstacle(world, bodies[1])]
            still = [(read(bodies[1]), pose_of(bodies[1]))]
        self.cell = ce.Cell([(made, pose_of(body)) for (_, made), body in zip(self.robots, bodies)], still)
        self.vertices = {k: world.hull(body) for k, body in enumerate(bodies) if not body.triangles}
        self.width = 3 * len(self.robots)

    def forget(self):
        for key, _ in self.robots:
            self.wire.call("DeleteRobot", {"id": key})


# ---- configurations
class Stand:
    """Exactly how two bodies stand, and how far apart or deep they are, if that is known."""

    def __init__(self, p, q):
        self.two = two = Two(p, q)
        self.verdict = two.verdict()
        self.value = None
        if self.verdict == "SEPARATED" or two.square > 0:
            self.value = InUnits(Root(two.square, -two.radii), two.unit)
        elif not (p.triangles or q.triangles):
            self.value = InUnits(Root(two.core_depth(), -two.radii, -1), two.unit)
        if (p.triangles or q.triangles) and self.verdict != "SEPARATED":
            self.value = None  # how deep a mesh is, is bracketed by 0 and its hull


def judge(stand, told):
    verdict, lower, upper = told
    false = [] if VERDICTS[verdict] == stand.verdict else [f"{VERDICTS[verdict]} and not {stand.verdict}"]
    if stand.value is None:
        return false + ([] if lower <= 0 == upper else [f"[{lower!r}, {upper!r}] holds no depth"])
    if stand.value.compared(lower) < 0 or stand.value.compared(upper) > 0:
        false.append(f"{stand.value.decimal()} is not in [{lower!r}, {upper!r}]")
    if abs(upper) > 2.0 ** -900 and Fraction(upper) - Fraction(lower) > NARROW * abs(Fraction(upper)):
        false.append(f"[{lower!r}, {upper!r}] is wide")
    return false


def falsified(draw, stand, told):
    verdict, lower, upper = told
    way = draw.randrange(3)
    if way == 0:
        return draw.choice([k for k in (1, 2, 3) if k != verdict]), lower, upper
    if way == 1 and stand.value is not None:
        return verdict, math.nextafter(upper, math.inf), math.nextafter(upper, math.inf)
    return verdict, lower, math.nextafter(upper, math.inf) if stand.value is None else math.nextafter(lower, -math.inf)


def ask_of_stands(world, tally, options, draw, family, case):
    count, stand = tally.of(family), Stand(case.p, case.q)
    for bodies, both_move in (((case.p, case.q), False), ((case.q, case.p), False), ((case.p, case.q), True)):
        scene = Scene(world, bodies, both_move)
        asked = {"cell": scene.json, "values": [0.0] * scene.width, "mode": "CHECK_MODE_CLEARANCE"}
        replies = [world.wire.call("CheckConfigurations", asked) for _ in range(2)]
        pairs = world.wire.call("CheckConfigurations", {**asked, "mode": "CHECK_MODE_ALL_PAIRS"})
        scene.forget()
        if any(reply.code != "OK" for reply in (*replies, pairs)):
            tally.wrong(family, f"refused: {replies} {pairs}", asked)
            continue
        first, second = (reply.message for reply in replies)
        told = first.verdicts[0], first.clearance_lowers[0], first.clearance_uppers[0]
        count["answers"] += 1
        count[stand.verdict] += 1
        if options.falsify:
            told = falsified(draw, stand, told)
            count["falsified"] += 1
        found = judge(stand, told)
        if not options.falsify:
            again = second.verdicts[0], second.clearance_lowers[0], second.clearance_uppers[0]
            found += [] if again == told else ["another answer from warm"]
            found += [] if pairs.message.verdicts[0] == told[0] else ["another verdict of all pairs"]
        count["found"] += bool(found) and options.falsify
        if found and not options.falsify:
            tally.wrong(family, "; ".join(found), asked)


# ---- paths
def moved(body, by, **told):
    """The body elsewhere: exactly, if need be at no f64 numbers."""
    at = [Fraction(x) + Fraction(y) for x, y in zip(body.at, by)]
    found = Body(body.source, body.points, body.triangles, body.radius, at, body.rows, **told)
    found.is_region = body.is_region
    return found


def reached(body, start, end, t):
    """Where the joints put the body at t, by f64 numbers."""
    values = [b if t >= 1 else a + t * (b - a) for a, b in zip(start, end)]
    at = list(body.at)
    for k, value in enumerate(values):
        at = [x + body.rows[3 * i + k] * value for i, x in enumerate(at)]
    found = Body(body.source, body.points, body.triangles, body.radius, at, body.rows)
    found.is_region = body.is_region
    return found


def judge_path(case, start, end, way, answer):
    """What is false of an answer about the path of P from `-way` to `way` of where it is."""
    outcome, until = OUTCOMES[answer.outcomes[0]], answer.free_until[0]
    path = Two(moved(case.p, [-x for x in way], moves=[2 * x for x in way]), case.q, case.margin)
    false = ["it is not free up to there"] if until > 0 and path.comes_within(0.0, until) else []
    if outcome == "NO_CONTACT":
        false += [] if until == 1 else ["not free to the end"]
    if outcome == "CONTACT":
        there = Two(reached(case.p, start, end, answer.contact_at[0]), case.q, case.margin)
        false += [] if there.square <= there.reach ** 2 else ["no contact there"]
        false += [] if 0 <= answer.contact_at[0] - until <= 1e-6 else ["a wide bracket"]
    return outcome, false


def ask_of_path(world, tally, options, draw, family, case):
    count, scene = tally.of(family), Scene(world, (case.p, case.q), False)
    way = [dyadic(draw, 2) for _ in range(3)]
    seen = turned_back(case.p.rows, way)
    start, end = [-x for x in seen], list(seen)
    margin = draw.choice((0.0, 0.0, 0.125))
    case = Case(case.p, case.q, margin)
    question = {"starts": start, "ends": end, "margin": margin, "tolerance": 1e-6}
    reply = world.wire.call("CheckEdges", {"cell": scene.json, "certificate": True, **question})
    count["cases"] += 1
    if reply.code != "OK":
        return tally.wrong(family, f"refused: {reply}", question)
    outcome, false = judge_path(case, start, end, way, reply.message)
    count["undecided"] += outcome == "UNDECIDED"
    count["answers"] += 1
    claim = tampering.Claim(scene, question, reply.message)
    certificate = reply.message.certificates[0]
    is_certified = bool(certificate.pieces) or certificate.HasField("contact")
    count["uncertified"] += not is_certified
    if options.falsify:
        thicker = thickened(world, draw, case, is_certified and outcome == "NO_CONTACT", claim)
        if thicker:
            count["falsified"] += 1
            count["found"] += all(judged is not None for judged in (tampering.rust(world.wire, thicker), tampering.python(thicker)))
            thicker.scene.forget()
    else:
        if is_certified:
            count["proofs"] += 1
            false += [f"refused: {why}" for why in (tampering.rust(world.wire, claim), tampering.python(claim)) if why]
            false += alike(world.wire, draw, claim)
        if false:
            tally.wrong(family, "; ".join(false), {"cell": scene.json, **question})
    scene.forget()


def alike(wire, draw, claim):
    """What is wrong with what both judges say of some changes."""
    found = []
    for name in draw.sample(sorted(tampering.KINDS), 4):
        changed = claim.copy()
        try:
            tampering.KINDS[name](draw, changed)
        except (LookupError, ValueError, AttributeError):
            continue  # this one has nothing of the kind
        ours, theirs = tampering.rust(wire, changed), tampering.python(changed)
        if (ours is None) != (theirs is None):
            found.append(f"{name}: Rust {ours or 'accepts'}, Python {theirs or 'accepts'}")
    return found


def thickened(world, draw, case, is_free, claim):
    """The same claim about an obstacle that holds the link all the way."""
    if not is_free or case.q.triangles:
        return None
    far = max(abs(x - y) for x, y in zip(case.p.at, case.q.at)) + 2.0 ** draw.randrange(5, 40)
    told = {"vertices": xyz(case.q.points)}
    thick = rounded(told, case.q.points, case.q.radius + far, at=case.q.at, rows=case.q.rows)
    return tampering.Claim(Scene(world, (case.p, thick), False), claim.question, claim.answer)


# ---- cases
def of_meshes(draw):
    """A ball or a capsule at a corner of a mesh or in its hollow, touching or an ulp off."""
    points, triangles = draw.choice(SHAPES + HOLLOWS)
    is_region = draw.random() < 0.6
    mesh = Body({}, points, triangles if is_region else triangles[1:], rows=draw.choice(ROTATIONS),
                at=[dyadic(draw, 4) for _ in range(3)])
    mesh.is_region = is_region
    s, length = vector(draw)
    t = abs(dyadic(draw, 1, 4)) or 0.25
    way = [x * draw.choice((-1, 1)) for x in draw.sample(s, 3)]
    corner = max(points, key=lambda x: dot(x, way)) if draw.random() < 0.6 else draw.choice(points)
    centre = added(list(corner), way, t + (0 if draw.random() < 0.5 else draw.randrange(-4, 9) / 8))
    radius = t * length if draw.random() < 0.6 else abs(ulp_off(draw, t * length))
    pill = [(0.0, 0.0, -0.5), (0.0, 0.0, 0.5)] if draw.random() < 0.4 else [(0.0, 0.0, 0.0)]
    told = {"length": 1.0} if len(pill) > 1 else {}
    at = added([sum(mesh.rows[3 * i + k] * centre[k] for k in range(3)) for i in range(3)], mesh.at)
    round_one = rounded(told, pill, radius, at=at)
    return Case(*draw.sample([mesh, round_one], 2))


def of_pairs(made):
    def case(draw):
        found = made(draw)
        # Robots move here, and nothing else.
        found.p.moves = found.q.moves = (0.0,) * 3
        return Case(found.p, found.q)
    return case


# Those of moving bodies have nothing of their own here.
LEFT_OUT = {"grazing", "balls that meet", "many points", "margins"}
STANDS = {name: of_pairs(made) for name, made in PAIRS.items() if name not in LEFT_OUT} | {"meshes": of_meshes}
PATHS = {"paths: touching": of_pairs(PAIRS["touching"]), "paths: one in another": of_pairs(PAIRS["one in another"]),
         "paths: flat cores": of_pairs(PAIRS["flat cores"]), "paths: meshes": of_meshes}


def run(wire, tally, options):
    for method in wire.pool.FindServiceByName("clearance.v1.RobotService").methods:
        wire.methods[method.name] = (f"/clearance.v1.RobotService/{method.name}", method)
    world = World(wire)
    for family, made in chosen(STANDS | PATHS, options).items():
        draw = draw_of(options, family)
        for _ in range(options.each):
            if family in PATHS:
                ask_of_path(world, tally, options, draw, family, made(draw))
            else:
                tally.of(family)["cases"] += 1
                ask_of_stands(world, tally, options, draw, family, made(draw))


if __name__ == "__main__":
    main(__doc__, run, each=60)
