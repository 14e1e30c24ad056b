#!/usr/bin/env python3
"""Compares what a server says of rays in a scene with an exact reference that looks at every triangle.

A fresh server of the binary CLEARANCE gets sessions of one body, a closed mesh, the surface of it, a cloud without a radius
or a height field with holes, and packed rays: on a lattice, so that they go through vertices, along edges and within faces
as often as across, or but for an ulp, or anywhere. Times, verdicts at the start, points and normals are judged by rationals.
A seed gives the same cases everywhere. Needs grpcio, and is faster with gmpy2.
usage: scene_rays.py CLEARANCE [--each 60] [--seed 1] [--families A,B] [--falsify]
"""
import math
from fractions import Fraction

from asking import chosen, draw_of, main, register
from bodies import IDENTITY, ROTATIONS, Body
from mesh_cases import MESHES
from meshes import Mesh
from reference import cross, dot, sub
from rounded_cases import dyadic, ulp_off

RAYS = 40  # of each scene
SEPARATED, TOUCHING, OVERLAPPING = 1, 2, 3
NAMES = {SEPARATED: "SEPARATED", TOUCHING: "TOUCHING", OVERLAPPING: "OVERLAPPING"}


# ---- the reference
def fraction(point):
    return tuple(Fraction(x) for x in point)


def in_flat(point, corners, normal):
    """Whether a point of the plane of a triangle is in it."""
    turns = [dot(normal, cross(sub(b, a), sub(point, a))) for a, b in zip(corners, corners[1:] + corners[:1])]
    return all(turn >= 0 for turn in turns)


def on_segment(origin, way, a, b):
    """The first time at which the ray, a point if it has no length, is on a segment; none if it never is."""
    along, beside = sub(b, a), sub(a, origin)
    normal = cross(way, along)
    if any(normal):
        if dot(normal, beside) != 0:
            return None
        square = dot(normal, normal)
        time, part = dot(cross(beside, along), normal) / square, dot(cross(beside, way), normal) / square
        return time if 0 <= time <= 1 and 0 <= part <= 1 else None
    if any(way):
        if any(cross(way, beside)):
            return None
        square = dot(way, way)
        ends = sorted(dot(way, sub(end, origin)) / square for end in (a, b))
        return max(ends[0], Fraction(0)) if ends[0] <= 1 and ends[1] >= 0 else None
    if any(cross(along, beside)):
        return None
    square = dot(along, along)
    is_on = -dot(beside, along) >= 0 and -dot(beside, along) <= square if square else not any(beside)
    return Fraction(0) if is_on else None


def on_triangle(origin, way, corners):
    """The first time at which the ray is on a triangle, which may be degenerate."""
    normal = cross(sub(corners[1], corners[0]), sub(corners[2], corners[0]))
    times = [on_segment(origin, way, a, b) for a, b in zip(corners, corners[1:] + corners[:1])]
    if any(normal):
        height, rate = dot(normal, sub(corners[0], origin)), dot(normal, way)
        if rate != 0:
            time = height / rate
            if 0 <= time <= 1:
                point = tuple(x + time * w for x, w in zip(origin, way))
                times.append(time if in_flat(point, corners, normal) else None)
        elif height == 0 and in_flat(origin, corners, normal):
            times.append(Fraction(0))
    return min((time for time in times if time is not None), default=None)


def expected(ray, triangles, region):
    """The verdict at the start and the time, and the triangles that are met then."""
    origin, way = map(fraction, ray)
    times = [on_triangle(origin, way, corners) for corners in triangles]
    first = min((time for time in times if time is not None), default=None)
    met = [corners for corners, time in zip(triangles, times) if time == first]
    if first == 0:
        return TOUCHING, first, met
    if region is not None and region.holds(origin):
        return OVERLAPPING, Fraction(0), met
    return SEPARATED, first, met


def judge(ray, told, reference):
    """What is false in an answer, which is (time, verdict, point, normal) or none."""
    verdict, first, met = reference
    if first is None or told is None:
        return [] if first is None and told is None else [f"met at {first}, told {told}"]
    (lower, upper), stands, point, normal = told
    found = []
    if stands != verdict:
        found.append(f"{NAMES.get(stands)}, not {NAMES[verdict]}")
    if first == 0:
        return found + ([] if lower == upper == 0 and tuple(point) == tuple(ray[0]) else ["it is met at once"])
    if not (Fraction(lower) < first <= Fraction(upper) and math.nextafter(lower, 2) == upper):
        found.append(f"met at {float(first)!r}, told [{lower!r}, {upper!r}]")
    size = max(map(abs, (*ray[0], *ray[1])))
    if any(abs(x + float(first) * w - told) > 1e-12 * size for x, w, told in zip(*ray, point)):
        found.append("the point is elsewhere")
    if any(normal) and abs(math.hypot(*normal) - 1) > 1e-12:
        found.append("the normal is no unit vector")
    normals = [cross(sub(b, a), sub(c, a)) for a, b, c in met]
    crossing = [one for one in normals if dot(one, fraction(ray[1])) != 0]
    # Where it starts within rounding of the body there need be no normal.
    is_near = all(abs(float(first) * w) < 1e-12 * size for w in ray[1])
    if crossing and len(crossing) == len(met) and not (is_near and not any(normal)):
        def is_along(one):
            length = math.sqrt(float(dot(one, one)))
            sign = -1 if dot(one, fraction(ray[1])) > 0 else 1
            return all(abs(sign * float(x) / length - n) < 1e-9 for x, n in zip(one, normal))
        if not any(map(is_along, crossing)):
            found.append("the normal is of none of the triangles that are met")
    return found


# ---- scenes
class Scene:
    """A body as it is registered, where it is, and its triangles there."""

    def __init__(self, spec, points, triangles, is_region, at, rows):
        self.spec, self.at, self.rows = spec, at, rows
        unit = Body({}, points, at=at, rows=rows)
        placed = [tuple(Fraction(x, unit.unit()) for x in point) for point in unit.placed(unit.unit())]
        self.triangles = [tuple(placed[k] for k in triangle) for triangle in triangles]
        self.points = placed
        self.region = Mesh(placed, triangles) if is_region else None

    def body(self, identity):
        pose = {"translation": dict(zip("xyz", self.at))}
        if self.rows != IDENTITY:
            pose["rotationMatrix"] = {"rows": list(self.rows)}
        return {"id": 1, "parts": [{"id": identity}], "pose": pose}


def placed(draw):
    rows = draw.choice(ROTATIONS) if draw.random() < 0.5 else IDENTITY
    return [dyadic(draw, 2, 1) for _ in range(3)], rows


def mesh(draw):
    alias = draw.choice(sorted(MESHES))
    points, triangles = MESHES[alias]
    is_region = draw.random() < 0.5
    treatment = "MESH_TREATMENT_POLYHEDRON" if is_region else "MESH_TREATMENT_SURFACE"
    told = {"vertices": {"xyz": [x for point in points for x in point]}, "triangles": [v for t in triangles for v in t]}
    return Scene({"mesh": told, "treatment": treatment}, points, triangles, is_region, *placed(draw))


def cloud(draw):
    points = [tuple(dyadic(draw, 2, 1) for _ in range(3)) for _ in range(30)]
    spec = {"cloud": {"xyz": [x for point in points for x in point]}}
    return Scene(spec, points, [(k, k, k) for k in range(30)], False, *placed(draw))


def field(draw):
    rows, columns = draw.randrange(3, 12), draw.randrange(3, 12)
    heights = [draw.randrange(-4, 5) / 4 for _ in range(rows * columns)]
    cells = (rows - 1) * (columns - 1)
    holes = sorted(draw.sample(range(cells), draw.randrange(cells // 2)))
    spacing, is_rising = draw.choice((0.5, 1.0)), draw.random() < 0.5
    points = [(c * spacing, r * spacing, heights[r * columns + c]) for r in range(rows) for c in range(columns)]
    triangles = []
    for cell in sorted(set(range(cells)) - set(holes)):
        r, c = divmod(cell, columns - 1)
        a, b, d, e = r * columns + c, r * columns + c + 1, (r + 1) * columns + c, (r + 1) * columns + c + 1
        triangles += [(a, b, e), (a, e, d)] if is_rising else [(a, b, d), (b, e, d)]
    told = {"rows": rows, "columns": columns, "spacingX": spacing, "spacingY": spacing, "heights": heights, "holes": holes,
            "diagonal": "CELL_DIAGONAL_UNSPECIFIED" if is_rising else "CELL_DIAGONAL_FALLING"}
    return Scene({"heightField": told}, points, triangles, False, *placed(draw))


# ---- rays
def on_a_lattice(draw, scene):
    lattice = [[dyadic(draw, 4, 1) for _ in range(3)] for _ in range(2)]
    return lattice[0], [b - a for a, b in zip(*lattice)]


def at_corners(draw, scene):
    """At a corner, the middle of an edge or of a triangle, or from there; half of them but for an ulp."""
    corners = draw.choice(scene.triangles)
    some = draw.choice(((4, 0, 0), (2, 2, 0), (2, 1, 1)))
    target = [float(sum(w * c[k] for w, c in zip(some, corners)) / 4) for k in range(3)]
    origin = [dyadic(draw, 4, 1) for _ in range(3)]
    if draw.random() < 0.2:
        origin, target = target, origin
    way = [(b - a) * draw.choice((1.0, 2.0, 1.5)) for a, b in zip(origin, target)]
    if draw.random() < 0.5:
        origin = [ulp_off(draw, x) for x in origin]
    return origin, way


def along_edges(draw, scene):
    a, b, _ = (tuple(map(float, corner)) for corner in draw.choice(scene.triangles))
    origin = [2 * x - y for x, y in zip(a, b)]
    way = [3 * (y - x) for x, y in zip(a, b)]
    if draw.random() < 0.3:
        origin = [ulp_off(draw, x) for x in origin]
    return origin, way


def anywhere(draw, scene):
    corner = draw.choice(scene.points)
    origin = [draw.uniform(-5, 5) for _ in range(3)]
    return origin, [(float(c) + draw.uniform(-1, 1) - o) * draw.choice((0.3, 1.0, 3.0)) for c, o in zip(corner, origin)]


FAMILIES = {f"{what}, {how}": (scene, rays)
            for what, scene in {"mesh": mesh, "cloud": cloud, "field": field}.items()
            for how, rays in {"on a lattice": on_a_lattice, "at corners": at_corners, "along edges": along_edges,
                              "anywhere": anywhere}.items()}


def told_of(hits, count):
    """By ray: (time, verdict, point, normal)."""
    found = [None] * count
    for k, ray in enumerate(hits.rays):
        three = slice(3 * k, 3 * k + 3)
        time = [hits.time_lower[k], hits.time_upper[k]]
        found[ray] = time, hits.verdicts[k], list(hits.points[three]), list(hits.normals[three])
    return found


def falsified(draw, told):
    """Makes an answer false."""
    if told is None:
        return [0.25, math.nextafter(0.25, 1)], SEPARATED, [0.0] * 3, [0.0] * 3
    (lower, upper), verdict, point, normal = told
    return draw.choice((None, ([lower, upper], verdict % 3 + 1, point, normal), ([upper, math.nextafter(upper, 2)], verdict, point, normal)))


def run(wire, tally, options):
    number = 0
    for family, (make, rays) in chosen(FAMILIES, options).items():
        draw, count = draw_of(options, family), tally.of(family)
        for _ in range(options.each):
            scene, number = make(draw), number + 1
            identity, = register(wire, [scene.spec])
            if identity is None:
                continue
            asked = [rays(draw, scene) for _ in range(RAYS)]
            session = f"rays-{number}"
            reply = wire.call("OpenSession", {"sessionId": session, "state": {"bodies": [scene.body(identity)]}})
            assert reply.code == "OK", reply
            packed = {"origins": [x for ray in asked for x in ray[0]], "displacements": [x for ray in asked for x in ray[1]]}
            reply = wire.call("QueryScene", {"sessionId": session, "packedRays": packed})
            assert reply.code == "OK", reply
            wire.call("CloseSession", {"sessionId": session})
            count["cases"] += 1
            for ray, told in zip(asked, told_of(reply.message.packed_hits, RAYS)):
                reference = expected(ray, scene.triangles, scene.region)
                count["answers"] += 1
                count[NAMES[reference[0]]] += 1
                if options.falsify:
                    count["falsified"] += 1
                    told = falsified(draw, told)
                wrong = judge(ray, told, reference)
                count["found"] += bool(wrong)
                if wrong:
                    tally.wrong(family, "; ".join(wrong), {"ray": ray, "told": told}, {"spec": scene.spec, "at": scene.at, "rows": scene.rows})


if __name__ == "__main__":
    main(__doc__, run, each=60)
