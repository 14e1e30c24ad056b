#!/usr/bin/env python3
"""Tampers with what is answered about rounded bodies, and demands that two judges rule alike and accept nothing false.

A fresh server of the binary CLEARANCE is asked how balls, capsules, rounded boxes and hulls stand, at places where many
touch exactly, also with a margin. The judges are its VerifyCertificate and `clients/python`. Every answer has to be
accepted as it is; a mutation changes the answer, the question, or both, and what is accepted of it must be what an oracle
says: it looks at every feature of the difference of two bodies, in fractions. A seed gives the same mutations everywhere.
Needs grpcio.
usage: mutate_rounded.py CLEARANCE [--each 300] [--seed 1]
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
    return verdict, None if margin is None else squared <= (radii + Fraction(margin)) ** 2

def rust(wire, question, answer):
    try:
        reply = wire.call("VerifyCertificate", {"collision": {"question": question, "answer": answer}})
    except Exception as why:  # no message can hold it
        return f"no message: {why}"
    if reply.code == "OK":
        return reply.message.refusal or (None if reply.message.valid else "refused")
    assert reply.code == "INVALID_ARGUMENT", reply
    return reply.words

def python(question, answer):
    try:
        p, q = question["p"], question["q"]
        poses = [quaternion_pose([body["pose"]["translation"].get(k, 0.0) for k in "xyz"], [1, 0, 0, 0]) for body in (p, q)]
        radii = [body["rounded"].get("radius", 0.0) for body in (p, q)]
        cr.verify_rounded(points(p["rounded"]), points(q["rounded"]), *poses, *radii,
                          answer.get("verdict", "").removeprefix("VERDICT_"), answer["certificate"],
                          question.get("margin"), answer.get("withinMargin"))
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

def verdict(draw, question, answer):
    other = draw.choice(sorted(cr.VERDICTS))
    answer["verdict"] = other
    if draw.random() < 0.8:
        answer["certificate"]["rounded"]["verdict"] = other

def pairs(draw, question, answer):
    told = answer["certificate"]["rounded"]
    listed = told[draw.choice([name for name in ("pairs", "marginPairs") if told.get(name)])]
    way = draw.randrange(4)
    if way == 0:
        listed.pop(draw.randrange(len(listed)))
    elif way == 1:
        listed.append({"i": draw.randrange(4), "j": draw.randrange(4)})
    else:
        listed[draw.randrange(len(listed))][draw.choice("ij")] = draw.randrange(9)

def margin_pairs_gone(draw, question, answer):
    del answer["certificate"]["rounded"]["marginPairs"]

def bodies_swapped(draw, question, answer):
    question["p"], question["q"] = question["q"], question["p"]

MUTATIONS = [radius, place, margin, within, verdict, pairs, margin_pairs_gone, bodies_swapped]


def run(wire, draw, options):
    from google.protobuf import json_format
    asked, wrong, stands = [], [], Counter()
    while len(asked) < QUESTIONS:
        question = {"p": drawn(draw), "q": drawn(draw)}
        if draw.random() < 0.5:
            question["margin"] = float(draw.randrange(0, 6))
        if draw.random() < 0.6:
            made_to_touch(draw, question)
        if not any(body["rounded"]["radius"] for body in (question["p"], question["q"])):
            continue
        reply = wire.call("CheckCollision", question)
        if reply.code != "OK":
            wrong.append(f"{reply}: {question}")
            break
        answer = {key: told for key, told in json_format.MessageToDict(reply.message).items() if key != "cost"}
        if "margin" in question:
            answer.setdefault("withinMargin", False)
        said = answer["verdict"].removeprefix("VERDICT_"), answer.get("withinMargin")
        refusals = rust(wire, question, answer), python(question, answer)
        if said != truth(question) or any(refusals):
            wrong.append(f"as it came: {said} for {truth(question)}, {refusals}: {question} {answer}")
        stands[said[0]] += 1
        asked.append((question, answer))
    print(f"{len(asked)} answers: {dict(stands)}")
    if len(stands) < 3:
        wrong.append("not every verdict was there")
    counts = defaultdict(Counter)
    for mutation in MUTATIONS:
        count, tries = counts[mutation.__name__], 0
        while count["made"] < options.each and tries < TRIES:
            question, answer = copy.deepcopy(draw.choice(asked))
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
            by_rust, by_python = rust(wire, question, answer), python(question, answer)
            count["refused"] += by_rust is not None
            if (by_rust is None) != (by_python is None):
                count["unlike"] += 1
                wrong.append(f"{mutation.__name__}: {by_rust!r} {by_python!r}: {question} {answer}")
            elif by_rust is None:
                stood, near = truth(question)
                said, told = answer["verdict"].removeprefix("VERDICT_"), answer.get("withinMargin")
                if said != stood or told not in (None, near):
                    count["false"] += 1
                    wrong.append(f"{mutation.__name__}: accepted {said} {told} for {stood} {near}: {question} {answer}")
    print_table("mutation", counts)
    return wrong


if __name__ == "__main__":
    main(__doc__, run, each=300)
