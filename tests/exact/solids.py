#!/usr/bin/env python3
"""Compares what a server says of meshes with an exact oracle that looks at all pairs of triangles.

A fresh server of the binary CLEARANCE is asked in batches how polyhedra and surfaces stand, beside each other and polytopes,
within margins too, how far apart they are, and when they first meet where nothing turns. The oracle (meshes.py) puts every
triangle beside every other one, casts rays, and cuts what meets; distances are the least of all pairs of triangles. Every
answer has to have a certificate, but for those of which docs/contract.md says that there is none; of some cases they are
verified, by the server and by `clients/python`. A seed gives the same cases everywhere. Needs grpcio, and is faster with
gmpy2.
usage: solids.py CLEARANCE [--each 640] [--seed 1] [--families A,B] [--proofs 20] [--falsify]
"""
from asking import Asking, VERDICTS, chosen, draw_of, main, register
from bodies import Two
from judged import judge
from solid_cases import FAMILIES
from verifiers import Verifiers

# Why an answer may have no certificate, by the verdict: TOO_THIN.
ALLOWED = {"OVERLAPPING": 4}
# How a mesh is registered, by whether it bounds a region. One that does not has no inside for the oracle either.
TREATMENTS = {True: "MESH_TREATMENT_POLYHEDRON", False: "MESH_TREATMENT_SURFACE"}
AT_ONCE = 64  # cases whose bodies are registered together


def spec(body):
    points = {"xyz": [x for point in body.points for x in point]}
    if body.triangles is None:
        return {"vertices": points}
    return {"mesh": {"vertices": points, "triangles": sum(body.triangles, [])}, "treatment": TREATMENTS[body.is_region]}


def named(wire, cases):
    """Those of the cases whose bodies the server takes for some; the others meet themselves."""
    bodies = [body for case in cases for body in (case.p, case.q)]
    for body, found in zip(bodies, register(wire, [spec(body) for body in bodies])):
        body.source = {"id": found}
    return [case for case in cases if case.p.source["id"] and case.q.source["id"]]


def questions(case, margin):
    two = {"p": case.p.asked(), "q": case.q.asked()}
    yield "collision", {**two, "margin": case.margin}
    yield "distance", {**two, "margin": case.margin}
    ways = {f"{name}Motion": {"linear": {"velocity": dict(zip("xyz", body.moves))}}
            for name, body in (("p", case.p), ("q", case.q)) if any(body.moves)}
    if ways:
        yield "firstContact", {**two, **ways, "margin": margin}


def is_allowed(answer):
    verdict = answer.initial_verdict if "initial_verdict" in answer.DESCRIPTOR.fields_by_name else answer.verdict
    return ALLOWED.get(VERDICTS[verdict]) == answer.uncertified_reason


def run(wire, tally, options):
    asking = Asking(wire, tally, options, judge, Verifiers(wire), is_allowed)
    for family, made in chosen(FAMILIES, options).items():
        draw = draw_of(options, family)
        for first in range(0, options.each, AT_ONCE):
            cases = [made(draw) for _ in range(min(AT_ONCE, options.each - first))]
            for number, case in enumerate(named(wire, cases)):
                margin = case.margin * (number % 2)  # of contact on the way
                of_margin, of_contact = Two(case.p, case.q, case.margin), Two(case.p, case.q, margin)
                of_margin.stands = of_contact.stands = of_contact.verdict()
                told = f"{family}: made to be {case.verdict}, and by the oracle {of_contact.stands}"
                assert case.verdict in (None, of_contact.stands), told
                tally.of(family)["cases"] += 1
                for kind, question in questions(case, margin):
                    two = of_contact if kind == "firstContact" else of_margin
                    asking.ask(family, case, two, kind, question, number % options.proofs == 0)
            asking.questions.flush()


if __name__ == "__main__":
    main(__doc__, run, each=640)
