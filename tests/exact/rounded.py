#!/usr/bin/env python3
"""Compares what a server says of bodies with round edges with exact references.

A fresh server of the binary CLEARANCE is asked in batches how balls, capsules, boxes and hulls with radii stand, within
margins too, how far apart or how deep they are, and when they first meet where nothing turns; beside each other, beside
polytopes and beside closed meshes. The reference is exact (reference.py). Of some cases the certificates are verified, by
the server and by `clients/python`. Then balls and capsules roll in a session (rolling.py). A seed gives the same cases
everywhere. Needs grpcio.
usage: rounded.py CLEARANCE [--each 1100] [--seed 1] [--families A,B] [--proofs 20] [--frames 10000] [--falsify]
"""
from asking import Asking, chosen, draw_of, main, register
from bodies import Two
from circling import judge_circling, round_a_pivot
from judged import judge
from rolling import roll
from mesh_cases import MESHES
from verifiers import Verifiers
import mesh_cases
import rounded_cases

MANY = 30  # points: of more, the reference does not look for the depth of hulls that meet themselves
FAMILIES = {**rounded_cases.FAMILIES, **mesh_cases.FAMILIES}


def questions(case, placed):
    two = {"p": case.p.asked(), "q": case.q.asked()}
    yield "collision", {**two, "margin": case.margin}
    yield "distance", {**two, "margin": case.margin}
    is_known = placed.square > 0 or len(case.p.points) + len(case.q.points) < MANY
    if not case.p.triangles and not case.q.triangles and is_known:
        yield "penetration", {**two, "withSurface": True}
    ways = {f"{name}Motion": {"linear": {"velocity": dict(zip("xyz", body.moves))}}
            for name, body in (("p", case.p), ("q", case.q)) if any(body.moves)}
    if ways:
        yield "firstContact", {**two, **ways, "margin": case.margin}


def run(wire, tally, options):
    specs = [{"mesh": {"vertices": {"xyz": [x for v in points for x in v]}, "triangles": sum(map(list, triangles), [])},
              "treatment": "MESH_TREATMENT_POLYHEDRON", "alias": alias} for alias, (points, triangles) in MESHES.items()]
    assert None not in register(wire, specs)
    asking = Asking(wire, tally, options, judge, Verifiers(wire), lambda answer: False)
    for family, made in chosen(FAMILIES, options).items():
        draw = draw_of(options, family)
        for number in range(options.each):
            case = made(draw)
            if {case.p.radius, case.q.radius} == {0.0} and (case.p.triangles or case.q.triangles):
                continue
            two = Two(case.p, case.q, case.margin)
            two.stands = two.verdict()
            assert case.verdict in (None, two.stands), f"made to be {case.verdict}, and by the reference {two.stands}"
            tally.of(family)["cases"] += 1
            for kind, question in questions(case, two):
                asking.ask(family, case, two, kind, question, number % options.proofs == 0)
        asking.questions.flush()
    if chosen({"round a pivot": None}, options):
        circle(wire, tally, options)
    if chosen({"rolling": None}, options):
        roll(wire, tally, options)


def circle(wire, tally, options):
    family = "round a pivot"
    draw, asking = draw_of(options, family), Asking(wire, tally, options, judge_circling, Verifiers(wire), lambda answer: False)
    for number in range(options.each):
        case = round_a_pivot(draw)
        tally.of(family)["cases"] += 1
        question = {"p": case.p.asked(), "q": case.q.asked(), "qMotion": {"screw": case.screw}}
        asking.ask(family, case, None, "firstContact", question, number % options.proofs == 0)
    asking.questions.flush()


if __name__ == "__main__":
    main(__doc__, run, each=1100, frames=10000)
