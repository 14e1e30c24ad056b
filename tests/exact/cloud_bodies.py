#!/usr/bin/env python3
"""Compares what a server says of registered clouds with an exact reference that looks at every point of them.

A fresh server of the binary CLEARANCE is asked in batches how clouds stand beside polytopes, rounded bodies, closed meshes
and surfaces, and other clouds, within margins too, how far apart they are, and when they first meet where nothing turns.
Points touch what they are beside by construction, or but for an ulp, or are anywhere; some coincide. Every answer has to
have a certificate; of some cases they are verified, by the server and by `clients/python`. A seed gives the same cases
everywhere. Needs grpcio, and is faster with gmpy2.
usage: cloud_bodies.py CLEARANCE [--each 200] [--seed 1] [--families A,B] [--proofs 4] [--falsify]
"""
from asking import Asking, chosen, draw_of, main, register
from bodies import IDENTITY, ROTATIONS, Body, Two
from judged import judge
from mesh_cases import MESHES, top_of
from reference import squared, squared_depth, sub
from rounded_cases import Case, added, behind, dyadic, shape, ulp_off, vector
from verifiers import Verifiers

AT_ONCE = 64  # cases whose clouds and polytopes are registered together


class CloudTwo(Two):
    """Two bodies of which one is a cloud. Points without a radius touch what they are on, and overlap what they are in."""

    def verdict(self):
        if self.radii > 0 or self.square > 0:
            return super().verdict()
        stands = {self.point_stands(of, point) for of in (0, 1) if self.bodies[of].is_cloud for point in self.sides[of].points}
        return "OVERLAPPING" if "OVERLAPPING" in stands else "TOUCHING"

    def point_stands(self, of, point):
        other = self.sides[1 - of]
        is_on = any(squared([sub(corner, point) for corner in corners]) == 0 for corners in other.pieces)
        if other.mesh is None:
            is_deep = is_on and squared_depth([point], other.points) > 0
            return "OVERLAPPING" if is_deep else "TOUCHING" if is_on else "SEPARATED"
        if is_on or not other.mesh.is_region:
            return "TOUCHING" if is_on else "SEPARATED"
        return "OVERLAPPING" if other.mesh.holds(point) else "SEPARATED"


def cloud(points, radius, **where):
    """Registered before it is asked about."""
    body = Body({}, [tuple(point) for point in points], [[k] * 3 for k in range(len(points))], radius, **where)
    body.is_region, body.is_cloud = False, True
    return body


def spec(body):
    points = {"xyz": [x for point in body.points for x in point]}
    return {"cloud": {**points, "radius": body.radius}} if body.is_cloud else {"vertices": points}


# ---- cases
def beside(draw):
    """What a cloud is beside: a polytope, a rounded one, a region or its surface, as they stand."""
    rows = draw.choice(ROTATIONS) if draw.random() < 0.5 else IDENTITY
    way = draw.randrange(4)
    if way < 2:
        _, points = shape(draw, "box hull flat ball")
        told, radius = {"vertices": {"xyz": [x for point in points for x in point]}}, draw.choice((0.25, 0.5, 1.0))
        body = Body({"rounded": {**told, "radius": radius}} if way else told, points, radius=radius if way else 0.0, rows=rows)
    else:
        alias = draw.choice(sorted(MESHES))
        body = Body({"alias": alias if way == 2 else f"shell-{alias}"}, *MESHES[alias], rows=rows)
        body.is_region = way == 2
    body.is_cloud = False
    return body


def on_a_lattice(draw):
    """Points on corners, edges and faces of what they are beside, in it, and at whole numbers of radii from it."""
    other = beside(draw) if draw.random() < 0.8 else cloud([[dyadic(draw, 2, 1) for _ in range(3)] for _ in range(draw.choice((1, 3, 9)))], 0.25)
    points = [[dyadic(draw, 3, 1) for _ in range(3)] for _ in range(draw.choice((1, 2, 8, 20)))]
    points += draw.sample(points, draw.randrange(len(points)))
    moves = [dyadic(draw, 3) for _ in range(3)] if draw.random() < 0.5 else [0.0] * 3
    at = [dyadic(draw, 2, 1) for _ in range(3)]
    own = cloud(points, draw.choice((0.0, 0.25, 0.5, 1.0)), at=at, rows=draw.choice(ROTATIONS), moves=moves)
    if draw.random() < 0.3:
        own.at = tuple(ulp_off(draw, x) for x in own.at)
    return shuffled(draw, own, other, draw.choice((0.0, 0.25, 0.5)))


def at_slants(draw):
    """The first point is at a whole distance from a face on the other side of a slanted plane, which is the radius, or it and
    the margin; the others are no nearer. Or but for an ulp."""
    alias, rows, (s, length) = draw.choice(sorted(MESHES)), draw.choice(ROTATIONS), vector(draw)
    is_region = draw.random() < 0.5
    mesh = Body({"alias": alias if is_region else f"shell-{alias}"}, *MESHES[alias], rows=rows)
    mesh.is_region, mesh.is_cloud = is_region, False
    margin = length * draw.choice((0.0, 0.0, 0.0625, 0.25))
    points = [tuple(-x + 0.0 for x in point) for point in behind(draw, s, 12)]
    own = cloud(points, length - margin, at=added(top_of(draw, MESHES[alias], rows, s), s))
    verdict = "SEPARATED" if margin else "TOUCHING"
    if draw.random() < 0.5:
        verdict, own.radius = None, ulp_off(draw, own.radius)
    return shuffled(draw, own, mesh, margin, verdict)


def scattered(draw):
    """Anywhere, around what they are beside."""
    other = beside(draw)
    points = [[draw.uniform(-3, 3) for _ in range(3)] for _ in range(draw.choice((1, 5, 60)))]
    moves = [draw.uniform(-2, 2) for _ in range(3)] if draw.random() < 0.5 else [0.0] * 3
    own = cloud(points, draw.choice((0.0, 0.01, 0.3)), at=[draw.uniform(-3, 3) for _ in range(3)], moves=moves)
    return shuffled(draw, own, other, draw.choice((0.0, 0.1)))


def questions(case):
    two = {"p": case.p.asked(), "q": case.q.asked(), "margin": case.margin}
    ways = {f"{name}Motion": {"linear": {"velocity": dict(zip("xyz", body.moves))}}
            for name, body in (("p", case.p), ("q", case.q)) if any(body.moves)}
    return [("collision", two), ("distance", two), *([("firstContact", {**two, **ways})] if ways else [])]


def shuffled(draw, own, other, margin, verdict=None):
    two = [own, other]
    draw.shuffle(two)
    return Case(*two, margin, verdict)


FAMILIES = {"on a lattice": on_a_lattice, "at slants": at_slants, "scattered": scattered}


def run(wire, tally, options):
    mesh = lambda points, triangles: {"vertices": {"xyz": [x for v in points for x in v]}, "triangles": sum(triangles, [])}
    for before, treatment in (("", "MESH_TREATMENT_POLYHEDRON"), ("shell-", "MESH_TREATMENT_SURFACE")):
        specs = [{"mesh": mesh(*made), "treatment": treatment, "alias": before + alias} for alias, made in MESHES.items()]
        assert None not in register(wire, specs)
    asking = Asking(wire, tally, options, judge, Verifiers(wire), lambda answer: False)
    for family, made in chosen(FAMILIES, options).items():
        draw = draw_of(options, family)
        for first in range(0, options.each, AT_ONCE):
            cases = [made(draw) for _ in range(min(AT_ONCE, options.each - first))]
            named = [body for case in cases for body in (case.p, case.q) if body.is_cloud or "vertices" in body.source]
            for body, found in zip(named, register(wire, [spec(body) for body in named])):
                body.source = {"id": found}
            for number, case in enumerate(cases):
                two = CloudTwo(case.p, case.q, case.margin)
                two.stands = two.verdict()
                assert case.verdict in (None, two.stands), f"made to be {case.verdict}, and by the reference {two.stands}"
                tally.of(family)["cases"] += 1
                for kind, question in questions(case):
                    asking.ask(family, case, two, kind, question, number % options.proofs == 0)
            asking.questions.flush()


if __name__ == "__main__":
    main(__doc__, run, each=200)
