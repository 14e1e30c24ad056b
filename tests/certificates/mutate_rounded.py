#!/usr/bin/env python3
"""Tampers with what is answered about rounded bodies, and demands that two judges rule alike and accept nothing false.

A fresh server of the binary CLEARANCE is asked how balls, capsules, rounded boxes and hulls stand, how far apart and how
deep they are, and when they first meet, turning or not, at places where many touch exactly, also with a margin. The judges
are its VerifyCertificate and `clients/python`. Every answer has to be accepted as it is; a mutation changes the answer, the
question, or both, and what is accepted of it must be what an oracle says: it looks at every feature of the difference of
two bodies, in fractions. Of depths of bodies whose polytopes overlap and of motions it is what was proven before: no
bracket may lie beside that of the answer. A seed gives the same mutations everywhere. Needs grpcio.
usage: mutate_rounded.py CLEARANCE [--each 50] [--seed 1]
"""
import copy, math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations

from tampering import TRIES, main, moved, print_table  # first: it says where the verifiers are
import clearance_rounded as cr  # noqa: E402
from clearance_verify import Refused, nearest, quaternion_pose  # noqa: E402

QUESTIONS = 240


# ---- bodies
def half(size):
    return (-size / 2, size / 2)

def points(shape):
    """In canonical order, as certificates number them."""
    if "vertices" in shape:
        xyz = shape["vertices"]["xyz"]
        given = {tuple(xyz[k:k + 3]) for k in range(0, len(xyz), 3)}
    elif "length" in shape:
        given = {(0.0, 0.0, z) for z in half(shape["length"])}
    else:
        sizes = shape.get("box", {})
        given = {(x, y, z) for x in half(sizes.get("x", 0.0)) for y in half(sizes.get("y", 0.0)) for z in half(sizes.get("z", 0.0))}
    return sorted([x + 0.0 for x in point] for point in given)

def drawn(draw):
    kind = draw.randrange(4)
    core = [{}, {"length": float(draw.randrange(1, 9))}, {"box": {k: float(draw.randrange(0, 7)) for k in "xyz"}},
            {"vertices": {"xyz": [float(draw.randrange(-4, 5)) for _ in range(9)]}}][kind]
    xyz = core.get("vertices", {}).get("xyz", [])
    # A point inside of the hull of others has no number.
    if xyz and len(set(map(tuple, (xyz[:3], xyz[3:6], xyz[6:])))) < 3 or xyz and flat(xyz):
        core = {}
    return {"rounded": {**core, "radius": float(draw.randrange(0, 9)) / draw.choice((1, 2, 4))},
            "pose": {"translation": {k: float(draw.randrange(-7, 8) * draw.choice((0, 1))) for k in "xyz"}}}

def flat(xyz):
    a, b = ([xyz[k + i] - xyz[i] for i in range(3)] for k in (3, 6))
    return not any(a[k - 2] * b[k - 1] - a[k - 1] * b[k - 2] for k in range(3))

# ---- the oracle and the judges
def differences(question):
    exact = [[[Fraction(x) + Fraction(body["pose"]["translation"].get(k, 0.0)) for x, k in zip(point, "xyz")]
              for point in points(body["rounded"])] for body in (question["p"], question["q"])]
    found = {tuple(y - x for x, y in zip(a, b)) for a in exact[0] for b in exact[1]}
    between = {tuple((x + y) / 2 for x, y in zip(a, b)) for a, b in combinations(found, 2)}
    return sorted(found - between)  # the hull is that of its ends

def squared_distance(question):
    d = differences(question)
    scale = math.lcm(*(x.denominator for point in d for x in point))
    v, n = nearest([tuple(int(x * scale) for x in point) for point in d])
    return Fraction(sum(x * x for x in v), (n * scale) ** 2)

def made_to_touch(draw, question):
    """Gives Q the radius with which the two touch, if there is one; or the f64 number nearest to it."""
    squared, p, q = squared_distance(question), question["p"]["rounded"], question["q"]["rounded"]
    root = Fraction(math.isqrt(squared.numerator), math.isqrt(squared.denominator))
    radius = float(root if root ** 2 == squared else math.sqrt(squared)) - p["radius"]
    if radius >= 0:
        q["radius"] = radius

def truth(question):
    """The verdict, and whether the distance is at most the margin."""
    squared = squared_distance(question)
    radii = sum(Fraction(question[side]["rounded"].get("radius", 0.0)) for side in "pq")
    verdict = "SEPARATED" if squared > radii ** 2 else "TOUCHING" if squared == radii ** 2 else "OVERLAPPING"
    margin = question.get("margin")
    left = None if margin is None else radii + Fraction(margin)
    if left is not None and left < 0:
        return verdict, squared == 0 and is_deep(question, -left)
    return verdict, None if left is None else squared <= left ** 2

def is_deep(question, depth):
    """Whether the polytopes overlap at least so deep: every plane through three differences that has all others on one side
    is so far from the origin."""
    d = differences(question)
    scale = math.lcm(*(x.denominator for point in d for x in point))
    d = [tuple(int(x * scale) for x in point) for point in d]
    is_flat = True
    for a, b, c in combinations(d, 3):
        e, f = ([x - y for x, y in zip(point, a)] for point in (b, c))
        n = [e[k - 2] * f[k - 1] - e[k - 1] * f[k - 2] for k in range(3)]
        if not any(n):
            continue
        heights = [sum(x * y for x, y in zip(n, point)) for point in d]
        level = sum(x * y for x, y in zip(n, a))
        if level == min(heights):
            n, level, heights = [-x for x in n], -level, [-x for x in heights]
        if level == max(heights):
            is_flat = is_flat and level == min(heights)
            if level < 0 or level ** 2 < (depth * scale) ** 2 * sum(x * x for x in n):
                return False
    return not is_flat

def end(told, name):
    return Fraction(told.get(name, 0.0))

def contradicted(kind, question, answer, known):
    """Why what is accepted is not so, if it is not. known: the answer that came, if the question is that one's."""
    verdict, near = truth(question)
    said = answer.get("initialVerdict" if kind == "firstContact" else "verdict", "").removeprefix("VERDICT_")
    if said != verdict or kind != "firstContact" and answer.get("withinMargin") not in (None, near):
        return f"{said} {answer.get('withinMargin')} for {verdict} {near}"
    squared = squared_distance(question)
    radii = sum(Fraction(question[side]["rounded"].get("radius", 0.0)) for side in "pq")
    if kind == "distance" and verdict == "SEPARATED":
        lower, upper = (end(answer["distance"], name) for name in ("lower", "upper"))
        return not (radii + lower) ** 2 <= squared <= (radii + upper) ** 2 and "the distance is not in the bracket"
    if kind == "penetration" and verdict == "OVERLAPPING":
        lower, upper = (end(answer["depth"], name) for name in ("lower", "upper"))
        if squared > 0:
            is_in = squared <= max(radii - lower, 0) ** 2 and squared >= max(radii - upper, 0) ** 2
            return not (is_in and lower <= radii) and "the depth is not in the bracket"
        if "surface" in answer["certificate"] and known:
            beside = lower > end(known["depth"], "upper") or upper < end(known["depth"], "lower")
            return beside and "the depth is not in the bracket that is known"
    if kind == "firstContact" and known and answer.get("outcome") != known.get("outcome"):
        return answer.get("outcome") != "OUTCOME_UNDECIDED" and "another outcome"
    if kind == "firstContact" and known and answer.get("outcome") == "OUTCOME_CONTACT":
        beside = end(answer, "tFree") > end(known, "tContact") or end(answer, "tContact") < end(known, "tFree")
        return beside and "the time is not in the bracket that is known"
    return False

def rust(wire, kind, question, answer):
    try:
        reply = wire.call("VerifyCertificate", {kind: {"question": question, "answer": answer}})
    except Exception as why:  # no message can hold it
        return f"no message: {why}"
    if reply.code == "OK":
        return reply.message.refusal or (None if reply.message.valid else "refused")
    assert reply.code == "INVALID_ARGUMENT", reply
    return reply.words

def motion(told):
    if told is None:
        return "linear", (0.0, 0.0, 0.0)
    vector = lambda name: tuple(told["screw"].get(name, {}).get(k, 0.0) for k in "xyz")
    return "screw", vector("velocity"), vector("axis"), told["screw"].get("angle", 0.0), None

def python(kind, question, answer):
    try:
        p, q = question["p"], question["q"]
        poses = [quaternion_pose([body["pose"]["translation"].get(k, 0.0) for k in "xyz"], [1, 0, 0, 0]) for body in (p, q)]
        radii = [body["rounded"].get("radius", 0.0) for body in (p, q)]
        bodies = points(p["rounded"]), points(q["rounded"]), *poses, *radii
        if kind == "firstContact":
            motions = (motion(question.get(name)) for name in ("pMotion", "qMotion"))
            return cr.verify_rounded_motion(*bodies, *motions, answer, question.get("margin", 0.0))
        verdict, margin = answer.get("verdict", "").removeprefix("VERDICT_"), question.get("margin")
        if kind == "collision":
            cr.verify_rounded(*bodies, verdict, answer["certificate"], margin, answer.get("withinMargin"))
        elif kind == "distance":
            cr.verify_rounded_distance(*bodies, verdict, answer["distance"], answer["certificate"], margin, answer.get("withinMargin"))
        else:
            cr.verify_rounded_depth(*bodies, verdict, answer["depth"], answer["certificate"])
    except (Refused, LookupError, TypeError, ValueError, AttributeError) as why:
        return str(why) or repr(why)


# ---- the mutations; LookupError: not applicable
def radius(draw, question, answer):
    shape = question[draw.choice("pq")]["rounded"]
    shape["radius"] = draw.choice((0.0, moved(draw, shape.get("radius", 0.0)), shape.get("radius", 0.0) + 1, -1.0))

def place(draw, question, answer):
    at, k = question[draw.choice("pq")]["pose"]["translation"], draw.choice("xyz")
    at[k] = draw.choice((-at.get(k, 0.0), moved(draw, at.get(k, 0.0)), at.get(k, 0.0) + draw.choice((-1, 1))))

def margin(draw, question, answer):
    question["margin"] = moved(draw, question["margin"])

def within(draw, question, answer):
    answer["withinMargin"] = not answer["withinMargin"]

def proof(answer):
    """The proof of a verdict."""
    certificate = answer["certificate"]
    return (certificate.get("verdict") or certificate.get("initial") or certificate)["rounded"]

def verdict(draw, question, answer):
    other = draw.choice(sorted(cr.VERDICTS))
    answer["initialVerdict" if "initialVerdict" in answer else "verdict"] = other
    if draw.random() < 0.8:
        proof(answer)["verdict"] = other

def pairs(draw, question, answer):
    certificate = answer["certificate"]
    lists = [(told, name) for told in (proof(answer), certificate) for name in ("pairs", "marginPairs", "contactPairs")
             if told.get(name)]
    told, name = draw.choice(lists)
    listed, way = told[name], draw.randrange(4)
    if way == 0:
        listed.pop(draw.randrange(len(listed)))
    elif way == 1:
        listed.append({"i": draw.randrange(4), "j": draw.randrange(4)})
    else:
        listed[draw.randrange(len(listed))][draw.choice("ij")] = draw.randrange(9)

def margin_pairs_gone(draw, question, answer):
    del proof(answer)["marginPairs"]

def margin_depth(draw, question, answer):
    told, way = proof(answer)["marginDepth"], draw.randrange(4)
    if way == 0:
        del proof(answer)["marginDepth"]
    elif way == 1:
        answer["withinMargin"] = not answer["withinMargin"]
    elif "less" in told:
        told["less"] = {"vector": {k: float(draw.randrange(-2, 3)) for k in "xyz"}}
    elif way == 2:
        triangles = told["atLeast"]["triangles"]
        triangles[draw.randrange(len(triangles))] = draw.randrange(len(told["atLeast"]["corners"]) + 1)
    else:
        corners = told["atLeast"]["corners"]
        corners[draw.randrange(len(corners))][draw.choice("ij")] = draw.randrange(9)

def bodies_swapped(draw, question, answer):
    question["p"], question["q"] = question["q"], question["p"]

def bracket(draw, question, answer):
    told = answer["distance" if "distance" in answer else "depth"]
    name = draw.choice(("lower", "upper"))
    told[name] = draw.choice((0.0, moved(draw, told.get(name, 0.0)), -1.0))

def face(draw, question, answer):
    told = answer["certificate"]["face"]
    answer["certificate"]["face"] = {"vector": {k: float(draw.randrange(-2, 3)) for k in "xyz"}}
    if told == answer["certificate"]["face"]:
        raise LookupError

def surface(draw, question, answer):
    told = answer["certificate"]["surface"]
    told["triangles"][draw.randrange(len(told["triangles"]))] = draw.randrange(len(told["corners"]) + 1)

def times(draw, question, answer):
    if "outcome" not in answer:
        raise LookupError
    name = draw.choice(("tFree", "tContact"))
    told = answer[name] if name == "tContact" else answer.get(name, 0.0)
    answer[name] = draw.choice((0.0, 1.0, moved(draw, told), -0.5))

def chain(draw, question, answer):
    links = answer["certificate"]["chain"]
    link, way = links[draw.randrange(len(links))], draw.randrange(3)
    if way == 0:
        links.remove(link)
    elif way == 1:
        link["t1"] = moved(draw, link["t1"])
    else:
        link["frame"] = draw.choice(["DIRECTION_FRAME_WORLD", "DIRECTION_FRAME_P", "DIRECTION_FRAME_Q"])

def outcome(draw, question, answer):
    if "outcome" not in answer:
        raise LookupError
    answer["outcome"] = draw.choice(["OUTCOME_CONTACT", "OUTCOME_NO_CONTACT", "OUTCOME_UNDECIDED"])

def motions(draw, question, answer):
    told = question["qMotion"]["screw"]
    if draw.random() < 0.5:
        told["angle"] = moved(draw, told["angle"]) if told.get("angle") else 0.5
    else:
        told["velocity"][draw.choice("xyz")] = float(draw.randrange(-9, 10))

MUTATIONS = [radius, place, margin, within, verdict, pairs, margin_pairs_gone, margin_depth, bodies_swapped, bracket, face, surface, times,
             chain, outcome, motions]
CALLS = {"collision": "CheckCollision", "distance": "MeasureDistance", "penetration": "MeasurePenetration",
         "firstContact": "FindFirstContact"}


def asked_of(draw, kind):
    """A question, many of whose bodies touch exactly."""
    question = {"p": drawn(draw), "q": drawn(draw)}
    if kind != "penetration" and draw.random() < 0.5:
        # Below 0 it is a depth.
        question["margin"] = draw.randrange(0, 6) / 1 if kind == "firstContact" else draw.randrange(-24, 12) / 2
    if draw.random() < (0.6 if kind == "collision" else 0.2):
        made_to_touch(draw, question)
    if kind == "penetration":
        question["withSurface"] = True
    if kind == "firstContact":
        turn = draw.choice((0.0, 0.0, draw.uniform(0.2, 2.0)))
        screw = {"velocity": {k: float(draw.randrange(-9, 10)) for k in "xyz"}, "axis": {"x": 1.0, "y": 1.0}, "angle": turn}
        question["qMotion"] = {"screw": screw}
        for side in "pq":
            question[side]["rounded"]["radius"] /= 4
    return question


def run(wire, draw, options):
    from google.protobuf import json_format
    wrong = []
    for kind, call in CALLS.items():
        asked, stands = [], Counter()
        while len(asked) < QUESTIONS:
            question = asked_of(draw, kind)
            if not any(body["rounded"]["radius"] for body in (question["p"], question["q"])):
                continue
            reply = wire.call(call, question)
            if reply.code != "OK":
                return [f"{reply}: {question}"]
            answer = {key: told for key, told in json_format.MessageToDict(reply.message).items() if key != "cost"}
            if "margin" in question and kind in ("collision", "distance"):
                answer.setdefault("withinMargin", False)
            refusals = rust(wire, kind, question, answer), python(kind, question, answer)
            false = contradicted(kind, question, answer, None)
            if false or any(refusals):
                wrong.append(f"{kind} as it came: {false}, {refusals}: {question} {answer}")
            stands[answer.get("outcome" if kind == "firstContact" else "verdict")] += 1
            asked.append((question, answer))
        print(f"{len(asked)} answers to {call}: {dict(stands)}")
        if len(stands) < (2 if kind == "firstContact" else 3):
            wrong.append(f"not every answer to {call} was there")
        wrong += tampered(wire, draw, options, kind, asked)
    return wrong


def tampered(wire, draw, options, kind, asked):
    counts, wrong = defaultdict(Counter), []
    for mutation in MUTATIONS:
        count, tries = counts[mutation.__name__], 0
        while count["made"] < options.each and tries < TRIES:
            known = draw.choice(asked)
            question, answer = copy.deepcopy(known)
            before = copy.deepcopy((question, answer))
            try:
                mutation(draw, question, answer)
            except LookupError:
                tries += 1
                continue
            if (question, answer) == before:
                tries += 1
                continue
            count["made"], tries = count["made"] + 1, 0
            by_rust, by_python = rust(wire, kind, question, answer), python(kind, question, answer)
            count["refused"] += by_rust is not None
            if (by_rust is None) != (by_python is None):
                count["unlike"] += 1
                wrong.append(f"{kind} {mutation.__name__}: {by_rust!r} {by_python!r}: {question} {answer}")
            elif by_rust is None:
                false = contradicted(kind, question, answer, known[1] if question == known[0] else None)
                if false:
                    count["false"] += 1
                    wrong.append(f"{kind} {mutation.__name__}: accepted: {false}: {question} {answer}")
    print_table(f"mutation of {kind}", counts)
    return wrong


if __name__ == "__main__":
    main(__doc__, run, each=50)
