#!/usr/bin/env python3
"""Asks a session about polyhedra, surfaces and curved bodies as they move, and demands that two judges accept all that its
reports prove.

A fresh server of the binary CLEARANCE holds two bodies, one of them at least a polyhedron, a surface or curved and some
rounded, in random places; frames move the one. What a report says of their verdict, margin, distance, depth and first contact
is judged as the answer to a question about the two, by VerifyCertificate and by `clients/python`. Another verdict or outcome
with the same proof has to be refused by both. A seed gives the same scenes everywhere. Needs grpcio.
usage: solids_in_sessions.py CLEARANCE [--scenes 60] [--seed 1]
"""
import copy
from collections import Counter

from tampering import main  # first: it says where the verifiers are
from mutate_compounds import json_of
from mutate_curved import beside, curved_of
from mutate_solids import OUTCOMES, VERDICTS, rust
import mutate_solids
from polyhedra import POLYTOPES, SMALL, Bodies, curved, pose_at, rounded

FRAMES = 4


def claims(wire, draw, bodies):
    """What the reports of one session say, as answers to questions."""
    meshes = draw.choice((bodies.polyhedra, bodies.surfaces))
    names = [draw.choice(meshes), draw.choice(bodies.polyhedra + bodies.surfaces + sorted(POLYTOPES) + SMALL)]
    shapes, is_exact = [{"alias": name} for name in names], draw.random() < 0.5
    if draw.random() < 0.3:
        shapes[1] = rounded(draw)
    if draw.random() < 0.4:
        shapes[0] = curved(draw)
        shapes[1] = curved(draw) if draw.random() < 0.3 else shapes[1]
    draw.shuffle(shapes)
    margin, turns = draw.choice((0.0, 0.125, 0.25)), draw.random() < 0.5
    def place(k, far):
        middle = bodies.of(shapes[k] if curved_of(shapes[k]) is None else rounded(draw))[0]
        placed = pose_at(draw, middle, far, is_exact)
        return placed if turns else {"translation": placed["translation"], "rotation": {"w": 1.0}}
    here, there = place(0, 0.5), place(1, 3)
    states = [{"id": 1, "parts": [shapes[0]], "pose": here, "margin": margin}, {"id": 2, "parts": [shapes[1]], "pose": there}]
    report = {"pairs": "PAIR_SELECTION_ALL", "certificates": True, "distances": True, "depths": True,
              "firstContacts": True}
    opened = {"sessionId": "s", "state": {"bodies": states}, "report": report, "replace": True}
    reply = wire.call("OpenSession", opened)
    assert reply.code == "OK", reply
    before = json_of(reply.message)["report"]["pairs"][0].get("verdict")
    for frame in range(1, 1 + FRAMES):
        end = place(1, draw.choice((0.3, 1, 2)))
        step = {"sessionId": "s", "frames": [{"frameId": frame, "poses": [{"id": 2, "pose": end}]}]}
        told = json_of(wire.call("StepSession", step).message)["reports"][0]["pairs"][0]
        p, q = ({**shape, "pose": pose} for shape, pose in zip(shapes, (here, end)))
        within = {"withinMargin": told["withinMargin"]} if "withinMargin" in told else {}
        if "verdict" not in told:  # too near to contact to be told
            assert told["stopped"] == "STOPPED_UNRESOLVED" and "certificate" not in told, told
            there, before = end, None
            continue
        said = {"verdict": told["verdict"]}
        if "certificate" in told:
            asked = {"p": p, "q": q, **({"margin": margin} if within else {})}
            yield "collision", asked, {**said, **within, "certificate": told["certificate"]}
        if "distanceCertificate" in told:
            distance = {"distance": told["distance"], "certificate": told["distanceCertificate"]}
            yield "distance", {"p": p, "q": q}, {**said, **distance}
        if "depthCertificate" in told:
            depth = {"depth": told["depth"], "certificate": told["depthCertificate"]}
            yield "penetration", {"p": p, "q": q}, {**said, **depth}
        if before is not None and "certificate" in told.get("firstContact", {}):
            asked = {"p": p, "q": {**q, "pose": there}, "qMotion": {"toPose": {"end": end}}, "margin": margin}
            yield "firstContact", asked, {"initialVerdict": before, **told["firstContact"]}
        there, before = end, told["verdict"]


def python(bodies, kind, question, answer):
    is_curved = any(curved_of(question[side]) is not None for side in "pq")
    return (beside if is_curved else mutate_solids.python)(bodies, kind, question, answer)


def run(wire, draw, options):
    bodies, wrong, seen = Bodies(wire, draw), [], Counter()
    for _ in range(options.scenes):
        for kind, question, answer in claims(wire, draw, bodies):
            answer = {name: told for name, told in answer.items() if name not in ("aPart", "bPart")}
            said = [rust(wire, kind, question, answer), python(bodies, kind, question, answer)]
            if said != [None, None]:
                wrong.append(f"{kind}: Rust {said[0] or 'accepts'}, Python {said[1] or 'accepts'}\n  {question}\n  {answer}")
            field, words = ("outcome", OUTCOMES) if kind == "firstContact" else ("verdict", VERDICTS)
            seen[kind, answer[field].split("_", 1)[1]] += 1
            other = copy.deepcopy(answer)
            other[field] = draw.choice([word for word in words[:2] if word != answer[field]])
            said = [rust(wire, kind, question, other), python(bodies, kind, question, other)]
            if None in said:
                wrong.append(f"{kind}, denied: Rust {said[0] or 'accepts'}, Python {said[1] or 'accepts'}\n  {question}\n  {other}")
    print(", ".join(f"{count} {kind} {word}" for (kind, word), count in sorted(seen.items())))
    return wrong


if __name__ == "__main__":
    main(__doc__, run, scenes=60)
