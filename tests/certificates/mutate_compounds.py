#!/usr/bin/env python3
"""Tampers with what a session proves of bodies of several parts, and demands that two judges rule alike.

A fresh server of the binary CLEARANCE is asked about bodies of random parts, some of them rounded or curved, in random places; some of
its searches are stopped by a budget. The judges are its VerifyCertificate and `clients/python/clearance_compounds.py`. Every answer
has to be accepted as it is; and what both accept of a changed one must not contradict what is proven of the question
already: another verdict, or a bracket that does not meet the one that is known. A seed gives the same mutations
everywhere. Bodies turn from place to place, never on the way, so both judges are exact. Needs grpcio.
usage: mutate_compounds.py CLEARANCE [--each 250] [--seed 1]
"""
import copy
from collections import Counter, defaultdict

from tampering import TRIES, main, moved, print_table  # first: it says where the verifiers are
import clearance_compounds as cc  # noqa: E402
from clearance_verify import Refused, quaternion_pose  # noqa: E402

CUBE = [[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
WEDGE = [[0.0, 0.0, 0.0], [1.5, 0.0, 0.0], [0.0, 0.7, 0.0], [0.2, 0.2, 0.9]]
SHAPES = {"cube": sorted(CUBE), "wedge": sorted(WEDGE)}
CORES = [sorted(CUBE), sorted(WEDGE), [[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.25]]]
RADII = [0.125, 0.3, 0.5, 1.0]
# Curved parts as messages, and as the verifier takes them.
CURVED = [({"cylinder": {"radiusXy": 0.5, "length": 1.5}}, ("cylinder", [0.5, 0.5, 0.75])),
          ({"cone": {"radiusXy": 0.75, "length": 1.0}}, ("cone", [0.75, 0.75, 0.5])),
          ({"ellipsoid": {"x": 0.5, "y": 0.75, "z": 1.0}}, ("ellipsoid", [0.5, 0.75, 1.0]))]
VERDICTS = [f"VERDICT_{word}" for word in cc.VERDICTS]
OUTCOMES = ["OUTCOME_CONTACT", "OUTCOME_NO_CONTACT", "OUTCOME_UNDECIDED"]


# ---- what is asked
def place(draw, far, turned):
    at = [round(draw.uniform(-far, far), draw.choice((0, 1, 9))) for _ in range(3)]
    turn = [1.0] + [draw.uniform(-1, 1) * turned for _ in range(3)]
    return {"translation": dict(zip("xyz", at)), "rotation": dict(zip("wxyz", turn))}

def pose_of(json):
    at, turn = json.get("translation", {}), json.get("rotation", {})
    return quaternion_pose([at.get(k, 0.0) for k in "xyz"], [turn.get(k, 0.0) for k in "wxyz"])

def parts(draw, rounded, curved):
    def shape():
        if draw.random() < curved:
            return {"rounded": {**draw.choice(CURVED)[0], "radius": draw.choice((0.0, 0.125))}}
        if draw.random() >= rounded:
            return {"alias": draw.choice(sorted(SHAPES))}
        xyz = [x for point in draw.choice(CORES) for x in point]
        return {"rounded": {"vertices": {"xyz": xyz}, "radius": draw.choice(RADII)}}
    return [{**shape(), "pose": place(draw, 1.5, draw.choice((0, 0.4)))} for _ in range(draw.choice((1, 2, 3, 4)))]

def body_of(json):
    def part(told):
        if "rounded" not in told:
            return SHAPES[told["alias"]], pose_of(told["pose"])
        shape = told["rounded"]
        for wire, known in CURVED:
            if set(wire) <= set(shape):
                return known, pose_of(told["pose"]), shape["radius"]
        xyz = shape["vertices"]["xyz"]
        return [xyz[k:k + 3] for k in range(0, len(xyz), 3)], pose_of(told["pose"]), told["rounded"]["radius"]
    return cc.placed([part(told) for told in json["compound"]["parts"]], pose_of(json["pose"]))


def answered(wire, draw):
    """One scene, some frames: claims of every kind, as they are reported."""
    rounded, curved = draw.choice((0.0, 0.5, 1.0)), draw.choice((0.0, 0.0, 0.4))
    # Of margins below 0 and curved parts no claim speaks.
    margin = draw.choice((0.0, 0.25, 1.0) if curved else (0.0, 0.25, 1.0, -0.125, -0.5))
    of_p, of_q = parts(draw, rounded, curved), parts(draw, rounded, curved)
    turn = draw.choice((0, 0.5))
    here, there = place(draw, 1, 0.3), place(draw, 6, turn)
    bodies = [{"id": 1, "parts": of_p, "pose": here, "margin": margin}, {"id": 2, "parts": of_q, "pose": there}]
    report = {"pairs": "PAIR_SELECTION_ALL", "certificates": True, "distances": True, "depths": True, "firstContacts": True}
    opened = {"sessionId": "s", "state": {"bodies": bodies}, "report": report, "replace": True}
    if draw.random() < 0.3:
        opened["budget"] = {"steps": draw.randrange(1, 12)}
    reply = wire.call("OpenSession", opened)
    assert reply.code == "OK", reply
    for frame in range(1, 4):
        end = {**place(draw, draw.choice((0.5, 2, 6)), 0), "rotation": there["rotation"]}
        step = {"sessionId": "s", "frames": [{"frameId": frame, "poses": [{"id": 2, "pose": end}]}]}
        told = json_of(wire.call("StepSession", step).message)["reports"][0]["pairs"][0]
        p, q = ({"compound": {"parts": of_p}, "pose": here}, {"compound": {"parts": of_q}, "pose": end})
        within = {"withinMargin": told["withinMargin"]} if "withinMargin" in told else {}
        asked, said = {"p": p, "q": q, "margin": margin}, {"verdict": told.get("verdict"), **within}
        if "verdict" in told:
            # A search that was stopped may leave no proof of curved parts.
            if not curved or "certificate" in told:
                yield "collision", asked, {**said, "certificate": told["certificate"]}
            if "distance" in told and (not curved or "distanceCertificate" in told):
                yield "distance", asked, {**said, "distance": told["distance"], "certificate": told["distanceCertificate"]}
            if "depth" in told and (not curved or "depthCertificate" in told):
                yield ("penetration", {"p": p, "q": q},
                       {"verdict": said["verdict"], "depth": told["depth"], "certificate": told["depthCertificate"]})
        found = told["firstContact"]
        # How deep bodies get on their way has no proof.
        proof = found.get("certificate", {}) if curved or margin < 0 else found["certificate"]
        if proof.get("parts") or proof.get("initial"):
            answer = {key: found[key] for key in ("outcome", "tFree", "tContact", "certificate", "stopped") if key in found}
            yield ("firstContact", {"p": p, "q": {**q, "pose": there}, "qMotion": {"toPose": {"end": end}}, "margin": max(margin, 0.0)},
                   answer)
        there = end

def json_of(message):
    from google.protobuf import json_format
    return json_format.MessageToDict(message)


# ---- the judges
def rust(wire, kind, question, answer):
    """The refusal; none if it accepts. What cannot be read at all is refused, too."""
    try:
        reply = wire.call("VerifyCertificate", {kind: {"question": question, "answer": answer}})
    except Exception as why:  # no message can hold it
        return f"no message: {why}"
    if reply.code == "OK":
        return reply.message.refusal or (None if reply.message.valid else "refused")
    assert reply.code == "INVALID_ARGUMENT", reply
    return reply.words

def python(kind, question, answer):
    try:
        p, q = body_of(question["p"]), body_of(question["q"])
        certificate, margin = answer["certificate"], question.get("margin", 0.0)
        verdict, within = answer.get("verdict", "").removeprefix("VERDICT_"), answer.get("withinMargin")
        if kind == "collision":
            cc.verify_compounds(p, q, verdict, certificate, margin, within)
        elif kind == "distance":
            cc.verify_compounds(p, q, verdict, certificate["verdict"], margin, within)
            cc.verify_compound_distance(p, q, verdict, answer["distance"], certificate)
        elif kind == "penetration":
            cc.verify_compounds(p, q, verdict, certificate["verdict"])
            cc.verify_compound_depth(p, q, verdict, answer["depth"], certificate)
        else:
            motions = cc.part_motions([(None, pose_of(part["pose"])) for part in question["q"]["compound"]["parts"]],
                                      pose_of(question["q"]["pose"]),
                                      ("to_pose", pose_of(question["qMotion"]["toPose"]["end"]), None))
            rest = [("linear", (0.0, 0.0, 0.0))] * len(p)
            cc.verify_compound_motion(p, q, rest, motions, answer, margin)
    except (Refused, LookupError, TypeError, ValueError, AttributeError) as why:
        return str(why) or repr(why)


# ---- the mutations: each changes the answer in place; LookupError: not applicable
def lists(answer, names):
    """Every list by one of these names, with what holds it."""
    def walk(node):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
            if key in names and isinstance(value, list):
                yield node, key
            yield from walk(value)
    return list(walk(answer))

def numbers(answer, names):
    def walk(node):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
            if key in names and isinstance(value, float):
                yield node, key
            yield from walk(value)
    return list(walk(answer))

def bound(draw, answer):
    node, key = draw.choice(numbers(answer, ("lower", "upper", "tFree", "tContact")))
    node[key] = moved(draw, node[key])

def coordinate(draw, answer):
    node, key = draw.choice(numbers(answer, ("x", "y", "z")))
    node[key] = draw.choice((-node[key], moved(draw, node[key])))

def vertex(draw, answer):
    node, key = draw.choice(lists(answer, ("pairs", "marginPairs", "contactPairs", "corners")))
    pair = draw.choice(node[key])
    side = draw.choice("ij")
    pair[side] = max(0, pair.get(side, 0) + draw.choice((-1, 1)))

def named_part(draw, answer):
    node, key = draw.choice(lists(answer, ("pParts", "qParts")))
    way = draw.randrange(3)
    if way == 0:
        at = draw.randrange(len(node[key]))
        node[key][at] = max(0, node[key][at] + draw.choice((-1, 1)))
    elif way == 1:
        node[key].append(draw.randrange(4))
    else:
        node[key].pop()

def entry_dropped(draw, answer):
    node, key = draw.choice(lists(answer, ("entries", "parts", "chain", "pairs", "marginPairs", "contactPairs")))
    node[key].pop(draw.randrange(len(node[key])))

def entries_mixed(draw, answer):
    node, key = draw.choice(lists(answer, ("entries", "parts")))
    one, other = draw.choice(node[key]), draw.choice(node[key])
    for name in draw.choice((("pParts", "qParts"), ("certificate", "pairs", "direction"))):
        of_one, of_other = one.pop(name, None), other.pop(name, None)
        one.update({} if of_other is None else {name: of_other})
        other.update({} if of_one is None else {name: of_one})

def word(draw, answer):
    way = draw.choice([key for key in ("verdict", "outcome", "withinMargin", "stopped") if key in answer])
    words = {"verdict": VERDICTS, "outcome": OUTCOMES}.get(way)
    if words:
        answer[way] = draw.choice([other for other in words if other != answer[way]])
    elif way == "stopped":
        del answer[way]
    else:
        answer[way] = not answer[way]

KINDS = {"bound moved": bound, "direction": coordinate, "vertex": vertex, "parts named": named_part,
         "entry dropped": entry_dropped, "entries mixed": entries_mixed, "word changed": word}


def contradicts(kind, known, said):
    """Whether two answers to one question cannot both be true."""
    for key in ("verdict", "withinMargin"):
        if key in known and key in said and known[key] != said[key]:
            return f"{key} {said[key]}, not {known[key]}"
    for key in ("distance", "depth"):
        if key in known:
            low, high = (max if end == "lower" else min for end in ("lower", "upper"))
            if low(known[key].get("lower", 0.0), said[key].get("lower", 0.0)) > high(
                    known[key].get("upper", 0.0), said[key].get("upper", 0.0)):
                return f"{key} {said[key]}, not {known[key]}"
    if kind == "firstContact":
        free = [answer.get("tFree", 0.0) for answer in (known, said)]
        met = [answer["tContact"] for answer in (known, said) if answer["outcome"] == "OUTCOME_CONTACT"]
        if met and max(free) > min(met):
            return f"free until {max(free)}, in contact at {min(met)}"


def run(wire, draw, options):
    for alias, points in SHAPES.items():
        made = {"vertices": {"xyz": [x for point in points for x in point]}, "alias": alias}
        reply = wire.call("RegisterPolytopes", {"polytopes": [made]})
        assert reply.code == "OK", reply
    wrong, claims, seen = [], defaultdict(list), Counter()
    for _ in range(60):
        for kind, question, answer in answered(wire, draw):
            for name, why in (("Rust", rust(wire, kind, question, answer)), ("Python", python(kind, question, answer))):
                if why is not None:
                    wrong.append(f"{kind} as it was answered: {name} {why}\n  {question}\n  {answer}")
            claims[kind].append((question, answer))
            seen[kind, answer.get("verdict") or answer.get("outcome")] += 1
    print(", ".join(f"{count} {kind} {word.split('_', 1)[1]}" for (kind, word), count in sorted(seen.items())))
    counts = defaultdict(Counter)
    for name, change in KINDS.items():
        tries = 0
        while counts[name]["made"] < options.each and (tries := tries + 1) < TRIES:
            kind = draw.choice(sorted(claims))
            question, known = draw.choice(claims[kind])
            answer = copy.deepcopy(known)
            try:
                change(draw, answer)
            except LookupError:
                continue  # this answer has nothing of the kind
            if answer == known:
                continue
            tries = 0
            ours, theirs = rust(wire, kind, question, answer), python(kind, question, answer)
            counts[name].update(made=1, refused=ours is not None, unlike=(ours is None) != (theirs is None))
            if (ours is None) != (theirs is None):
                wrong.append(f"{name} of {kind}: Rust {ours or 'accepts'}, Python {theirs or 'accepts'}\n  {question}\n  {answer}")
            elif ours is None and (against := contradicts(kind, known, answer)):
                counts[name]["false"] += 1
                wrong.append(f"{name} of {kind}: accepted, but {against}")
    print_table("of compounds", counts)
    return wrong


if __name__ == "__main__":
    main(__doc__, run, each=250)
