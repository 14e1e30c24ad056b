"""Judges what is proven of cylinders, cones and ellipsoids twice, and tampers with it. Used by `tests/exact/curved.py`.

The judges are the server's VerifyCertificate and `clients/python`. A mutation changes the answer, its proof or the
question. Both judges have to rule alike on each, and what they accept of the same question must not be false.
"""
import copy, functools
from types import SimpleNamespace

from tampering import moved  # first: it says where the verifiers are
import clearance_curved as cu
import clearance_solids as cs
import mutate_solids
from clearance_poses import Refused, require
from polyhedra import motion_of, pose_of
from reference import extremes
from verifiers import convex

REACH = 2.0 ** 20  # of a half space that does not say
WORDS = [[f"VERDICT_{word}" for word in ("SEPARATED", "TOUCHING", "OVERLAPPING")],
         [f"OUTCOME_{word}" for word in ("CONTACT", "NO_CONTACT", "UNDECIDED")],
         [f"DIRECTION_FRAME_{word}" for word in ("WORLD", "P", "Q")]]
UNPROVEN = ("cost", "closestP", "closestQ", "normal", "direction", "point", "faceContact", "stopped")  # no claims of two convex bodies


# ---- bodies
def curved_of(told):
    """What a body of a question is, if it is curved."""
    shape = told.get("rounded", {})
    scale = [shape.get("scale", {}).get(k, 0.0) for k in "xyz"] if "scale" in shape else [1.0] * 3
    if "ellipsoid" in shape:
        form, half = "ellipsoid", [shape["ellipsoid"][k] for k in "xyz"]
    else:
        form = next((form for form in ("cylinder", "cone") if form in shape), None)
        if form is None:
            return None
        half = [shape[form]["radiusXy"], shape[form]["radiusXy"], shape[form]["length"] / 2]
    half = [a * b for a, b in zip(half, scale)]
    return form, [abs(half[0]), abs(half[1]), half[2] if form == "cone" else abs(half[2])], shape.get("radius", 0.0)


def points_of(told):
    """The polytope of a body that is not curved, and its radius."""
    shape = told["rounded"]
    radius = shape.get("radius", 0.0)
    if "halfSpace" in shape:
        ends = (-REACH, REACH)
        return [[x, y, z] for x in ends for y in ends for z in (-2 * REACH, 0.0)], radius
    xyz = shape.get("vertices", {}).get("xyz", [0.0] * 3)
    return extremes([xyz[k:k + 3] for k in range(0, len(xyz), 3)]), radius


@functools.lru_cache(maxsize=64)  # most changes leave most lists as they are
def are_vertices(points):
    return [tuple(point) for point in extremes(points)] == list(points)


def python(kind, question, answer):
    """Why `clients/python` refuses an answer; none if it accepts."""
    try:
        told = [question["p"], question["q"]]
        curved = [curved_of(body) for body in told]
        poses = [pose_of(body.get("pose", {})) for body in told]
        ways = [motion_of(question.get(f"{side}Motion")) for side in "pq"]

        def judge(points, of_side):
            bodies = []
            for body, shape, given in zip(told, curved, points):
                bodies.append(points_of(body) if shape is None else (given, shape[2]))
                require(shape is None or are_vertices(tuple(map(tuple, given))), "vertices are missing, or not in order")
            (p, radius_p), (q, radius_q) = bodies
            convex(kind, p, q, poses, [radius_p, radius_q], SimpleNamespace(ways=ways), question, of_side)

        cu.verify_curved(kind, curved, question, answer, judge)
    except (Refused, LookupError, TypeError, ValueError, AttributeError, OverflowError) as why:
        return str(why) or repr(why)


def beside(bodies, kind, question, answer):
    """The same of a curved body beside any other one: what is claimed of the polytopes, whoever judges such bodies decides."""
    try:
        told = [question["p"], question["q"]]
        curved = [curved_of(body) for body in told]

        def judge(points, of_side):
            asked, of_side = dict(question), dict(of_side)
            for side, shape, given in zip("pq", curved, points):
                if shape is not None:
                    require(are_vertices(tuple(map(tuple, given))), "vertices are missing, or not in order")
                    asked[side] = {"points": given, "radius": shape[2], "pose": question[side].get("pose", {})}
            solids = [bodies.of(asked[side]) for side in "pq"]
            if any(solid.triangles is not None for solid, *_ in solids):
                why = mutate_solids.python(bodies, kind, asked, of_side)
                return require(why is None, why)
            (_, p, radius_p), (_, q, radius_q) = solids
            poses = [pose_of(asked[side].get("pose", {})) for side in "pq"]
            ways = [motion_of(question.get(f"{side}Motion")) for side in "pq"]
            convex(kind, p, q, poses, [radius_p, radius_q], SimpleNamespace(ways=ways), question, of_side)

        cu.verify_curved(kind, curved, question, answer, judge)
    except (Refused, LookupError, TypeError, ValueError, AttributeError, OverflowError) as why:
        return str(why) or repr(why)


def judges(wire, kind, question, answer):
    yield "VerifyCertificate", mutate_solids.rust(wire, kind, question, answer)
    yield "clients/python", python(kind, question, answer)


# ---- mutations
def leaves(told, path=()):
    """The places of all numbers and words."""
    if isinstance(told, dict):
        for key, value in told.items():
            if path or key not in UNPROVEN:
                yield from leaves(value, path + (key,))
    elif isinstance(told, list):
        for at, value in enumerate(told):
            yield from leaves(value, path + (at,))
    else:
        yield path


def at(told, path):
    for key in path:
        told = told[key]
    return told


def changed(draw, value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return max(value + draw.choice((-1, 1, 1, 2)), 0)
    if isinstance(value, float):
        return moved(draw, value) if value and draw.random() < 0.9 else draw.choice((0.0, 1.0, -1.0, 5e-324))
    words = next((words for words in WORDS if value in words), [value])
    return draw.choice(words)


def proof_in(answer):
    certificate = answer["certificate"]
    return certificate.get("curved") or next(told["curved"] for told in certificate.values() if isinstance(told, dict) and "curved" in told)


def tampered(draw, question, answer):
    """Both, changed in one place, and what was done; none: nothing came of it."""
    question, answer = copy.deepcopy(question), copy.deepcopy(answer)
    proof = proof_in(answer)
    way = draw.choice(["said", "said", "side", "side", "hull", "triangles", "vertex", "swap", "drop", "question"])
    hulls = [proof[side] for side in "pq" if side in proof]
    hull = draw.choice(hulls)
    if way in ("hull", "vertex"):
        names = [name for name in ("outer", "inner") if name in hull]
        xyz = hull[draw.choice(names)]["xyz"]
        place = draw.randrange(len(xyz))
        if way == "hull":
            xyz[place] = changed(draw, float(xyz[place]))
        else:
            del xyz[place // 3 * 3:place // 3 * 3 + 3]
    elif way == "triangles":
        triangles = hull.get("outerTriangles")
        if not triangles:
            return None
        place = draw.randrange(len(triangles) // 3) * 3
        if draw.random() < 0.5:
            triangles[place], triangles[place + 1] = triangles[place + 1], triangles[place]
        else:
            triangles[place] = changed(draw, triangles[place])
    elif way == "swap":
        if draw.random() < 0.5 and len(hulls) == 2:
            proof["p"], proof["q"] = proof["q"], proof["p"]
        else:
            sides = {new: proof.pop(old) for old, new in (("outer", "inner"), ("inner", "outer")) if old in proof}
            proof.update(sides)
    elif way == "drop":
        del proof[draw.choice([name for name in proof])]
    elif way == "question":
        name = draw.choice("pq")
        places = [path for path in leaves(question[name], (name,)) if isinstance(at(question, path), float)]
        path = draw.choice(places)
        at(question, path[:-1])[path[-1]] = changed(draw, at(question, path))
    else:
        names = [name for name in cu.SIDES if name in proof]
        told = answer if way == "said" else proof[draw.choice(names)][0]
        places = [path for path in leaves(told) if way != "said" or path[0] != "certificate"]
        path = draw.choice(places)
        at(told, path[:-1])[path[-1]] = changed(draw, at(told, path))
    return way, question, answer


class Tampering:
    """Judges answers, and `each` changes of every one."""

    def __init__(self, wire, draw, each, count, false_of):
        self.wire, self.draw, self.each, self.count, self.false_of = wire, draw, each, count, false_of

    def __call__(self, case, kind, question, answer):
        if "certificate" not in answer:
            if answer.get("stopped") != "STOPPED_UNRESOLVED":
                yield "nobody", "there is no certificate"
            return
        refused = False
        for who, why in judges(self.wire, kind, question, answer):
            refused |= why is not None
            yield who, why
        for _ in range(0 if refused else self.each):
            made = tampered(self.draw, question, answer)
            if made is None or made[1:] == (question, answer):
                continue
            way, asked, told = made
            self.count["mutations"] += 1
            (_, rust), (_, python) = judges(self.wire, kind, asked, told)
            if (rust is None) != (python is None):
                yield "one of both", f"{way}: VerifyCertificate says {rust}, clients/python {python}: {asked} {told}"
            elif rust is None:
                self.count["accepted"] += 1
                false = self.false_of(case, kind, told) if asked == question else None
                if false:
                    yield "neither", f"{way}: {false} in {told}"
