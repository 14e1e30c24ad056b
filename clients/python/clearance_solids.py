"""Checks what the server says of polyhedra, which closed meshes bound, and of surfaces, which are triangles and nothing
beside them; beside each other or polytopes.

Proofs are the dictionaries that the messages SolidProof, SolidMotionProof, FindFirstContactResponse and
FindFirstCollisionResponse are as JSON (as grpcurl prints them). A body is a `Solid`: of a polyhedron or a surface the
vertices and triangles that GetPolytope lists, of a polytope its vertices alone, and its facets where an answer names one. That a
mesh is closed, oriented and does not meet itself is taken for granted: the server checks it where it is registered.
Motions are those of `clearance_verify.verify_motion`.

Every function raises `Refused` with the reason, or returns if the claim is proven. Whole numbers throughout.
"""
from fractions import Fraction
from itertools import combinations

from clearance_poses import look_at_clock, patient
from clearance_verify import (Pair, add, bound, cross, dot, finite, nearest, require, strictly_inside, sub, swept,
                              velocity, whole)

AXES = {"AXIS_X": 0, "AXIS_Y": 1, "AXIS_Z": 2}
VISITS = 1 << 22  # vertices that one cover may have looked at
# Directions of rays; one that meets an edge gives way to the next.
RAYS = [(5, 101, -37), (103, -7, 41), (-29, 43, 107), (61, 59, 83), (-97, -71, 13), (31, -89, -67), (79, 17, -53)]


class Solid:
    def __init__(self, points, triangles=None, facets=None, is_surface=False):
        """`facets`: those of a polytope, each its vertices in order around it. `is_surface`: the triangles bound nothing."""
        self.points, self.triangles, self.is_surface = points, triangles, is_surface
        self.region = None if is_surface else triangles
        self.facets = facets or [] if triangles is None else triangles
        if triangles is not None:
            ok = all(len(t) == 3 and all(type(v) is int and 0 <= v < len(points) for v in t) for t in triangles)
            require(triangles and ok, "the triangles are none of the vertices'")


def vector(json):
    return finite([json.get(k, 0.0) for k in "xyz"], 3)


def indices(json, name, most, below):
    found = json.get(name, [])
    ok = isinstance(found, list) and len(found) <= most and all(type(i) is int and 0 <= i < below for i in found)
    require(ok, f"{name}: {found!r} names what does not exist")
    return found


def only(json):
    require(isinstance(json, dict) and len(json) == 1, "not one form of proof or direction")
    return next(iter(json.items()))


FRAMES = {"DIRECTION_FRAME_WORLD": "world", "DIRECTION_FRAME_P": "p", "DIRECTION_FRAME_Q": "q"}


def vertex_pairs(json):
    return [[pair.get("i", 0), pair.get("j", 0)] for pair in json]


def bracket(json):
    return json.get("lower", 0.0), json.get("upper", 0.0)


def direction(json):
    """As `clearance_verify` writes it."""
    if isinstance(json, dict) and "vector" in json:
        return {"direction": list(vector(json["vector"]))}
    form, body = only(json)
    require(form in ("normal", "edgeNormal", "sweptNormal", "nearest"), f"no direction {form!r}")
    pairs = [[pair.get("i", 0), pair.get("j", 0)] for pair in body.get("pairs", [])]
    names = {"sweptNormal": "direction_swept", "nearest": "direction_nearest"}
    found = {names.get(form, "direction_pairs"): pairs,
             "direction_sign": -1 if body.get("negative") else 1}
    if "axis" in body:
        require(body["axis"] in AXES, "no such axis")
        found["direction_axis"] = AXES[body["axis"]]
    # Two pairs for an edge and an axis, three for a plane: the form has to be what it says it is.
    require((form == "edgeNormal") == ("axis" in body and bool(pairs)), "not one form of direction")
    return found


# ---- covers
class Cover:
    """Walks down the halves of both bodies' triangles; see the message FaceCover. `points` are the vertices of
    both at t = 0 and `travel` is that of Q relative to P in the step, all in units of the pair."""

    def __init__(self, pair, solids, travel, until, touches_at_end=False, visits=0):
        self.pair, self.solids, self.travel, self.until = pair, solids, travel, until
        self.touches_at_end, self.visits = touches_at_end, visits

    def visit(self, count):
        self.visits += count
        require(self.visits <= VISITS, "the cover looks at too many vertices")

    def order(self, json, name, solid):
        if solid.triangles is None:
            require(not json.get(name), "a polytope has no triangles")
            return None
        count = len(solid.triangles)
        order = indices(json, name, count, count) or list(range(count))
        require(sorted(order) == list(range(count)), f"{name} does not list each triangle once")
        return order

    def verify(self, json):
        open_ = [tuple(self.order(json, name, solid) for name, solid in zip(("pOrder", "qOrder"), self.solids))]
        for at, step in enumerate(json.get("steps", [])):
            look_at_clock()
            require(open_, f"step {at} is one too many")
            groups, split = open_.pop(), step.get("split", "COVER_SPLIT_UNSPECIFIED")
            if split == "COVER_SPLIT_UNSPECIFIED":
                self.apart(at, groups, step.get("chain", []))
                continue
            require(split in ("COVER_SPLIT_P", "COVER_SPLIT_Q") and not step.get("chain"), f"step {at} is none")
            k = int(split == "COVER_SPLIT_Q")
            require(groups[k] is not None and len(groups[k]) > 1, f"step {at} halves what has no halves")
            half = len(groups[k]) // 2
            for part in (groups[k][half:], groups[k][:half]):
                open_.append((part, groups[1]) if k == 0 else (groups[0], part))
        require(not open_, "the cover leaves pairs of faces out")
        self.outside(0, 1)
        self.outside(1, 0)
        return self.visits

    def named(self, groups):
        """The vertices of some triangles of each body, ascending; of a polytope all."""
        every = [range(len(solid.points)) if group is None else sorted({v for t in group for v in solid.triangles[t]})
                 for solid, group in zip(self.solids, groups)]
        return [list(some) for some in every]

    def gap(self, named, s):
        """Along s at t = 0, between what is left of both."""
        p, q = ([self.pair.placed[k][v] for v in some] for k, some in enumerate(named))
        return min(dot(s, y) for y in q) - max(dot(s, x) for x in p)

    def apart(self, at, groups, chain):
        named, covered = self.named(groups), 0
        for place, link in enumerate(chain):
            self.visit(len(named[0]) + len(named[1]))
            t0, t1 = bound(link.get("t0", 0.0)), bound(link.get("t1", 0.0))
            require(t0 <= covered and t0 <= t1 <= 1, f"step {at}: the links do not join")
            require(link.get("frame") == "DIRECTION_FRAME_WORLD", f"step {at}: not fixed in the world")
            covered = max(covered, t1)
            s = self.pair.direction(direction(link.get("direction")), self.travel, (t0, t1))
            gap = self.gap(named, s)
            start, end = (gap + dot(s, self.travel) * t for t in (t0, t1))
            touches = self.touches_at_end and place + 1 == len(chain) and t0 < t1 and end == 0
            require(start > 0 and (end > 0 or touches), f"step {at} does not separate")
        require(chain and covered >= self.until, f"step {at} ends too early")

    def outside(self, of, other):
        """For each part of the surface that is connected: it is outside the other body, if one vertex is."""
        solid, around = self.solids[of], self.solids[other].region
        if around is None:
            return  # a polytope was separated as a whole, and a surface has no inside
        points, corners = self.pair.placed[of], self.pair.placed[other]
        for v in parts(solid) if solid.triangles else [0]:
            self.visit(len(corners) + 3 * len(around))
            require(inside(points[v], corners, around) is False, "a part of one body may be inside the other")


def parts(solid):
    """A vertex of each part of a mesh that is connected."""
    return [part[0] for part in members(solid)]


def members(solid):
    """The vertices of each part of a mesh that is connected."""
    near, seen, found = {}, set(), []
    for triangle in solid.triangles:
        for v in triangle:
            near.setdefault(v, []).append(triangle)
    for first in near:
        if first in seen:
            continue
        found.append([])
        open_ = [first]
        while open_:
            v = open_.pop()
            if v not in seen:
                seen.add(v)
                found[-1].append(v)
                open_ += [w for triangle in near[v] for w in triangle if w not in seen]
    return found


def inside(point, corners, triangles):
    """Whether a point is strictly inside a closed surface; None if it is on it, or no ray misses all edges."""
    if any(all(c[k] < point[k] for c in corners) or all(c[k] > point[k] for c in corners) for k in range(3)):
        return False
    return inside_beside([point], corners, triangles)


def inside_beside(points, corners, triangles):
    """The same of a point next to the first of some points a, b, c, beside the way to b, and beside that towards c:
    of a + e (b - a) + e² (c - a) for every e > 0 that is small enough. Each sign is that of an affine function of
    the point, so that of its value at a, or where that is 0 at b, or where both are 0 at c."""
    moved = [[sub(corner, point) for point in points] for corner in corners]
    first = lambda values: next((x for x in values if x), 0)
    for ray in RAYS:
        crossed = 0
        for a, b, c in ([moved[v] for v in triangle] for triangle in triangles):
            turns = [first(dot(ray, cross(u, v)) for u, v in zip(*edge)) for edge in ((a, b), (b, c), (c, a))]
            if min(turns) < 0 < max(turns):
                continue
            volume = first(dot(cross(u, v), w) for u, v, w in zip(a, b, c))
            if 0 in turns or volume == 0:
                break
            crossed += (volume > 0) == (turns[0] > 0)
        else:
            return crossed % 2 == 1
    return None


# ---- claims
def faces(pair, solids, json):
    """The differences of the vertices of two faces: some corners of one triangle, or any of a polytope."""
    named = [indices(json or {}, name, 3, len(solid.points)) for name, solid in zip("pq", solids)]
    for face, solid in zip(named, solids):
        is_one = solid.triangles is None or any(set(face) <= set(triangle) for triangle in solid.triangles)
        require(face and is_one, f"{face!r} is no face")
    pairs = [[i, j] for i in named[0] for j in named[1]]
    return pair.differences(pairs, 1, 9)


def has_volume(points):
    edges = [sub(x, points[0]) for x in points[1:]]
    normal = next((n for e in edges for n in [cross(edges[0], e)] if any(n)), None)
    return normal is not None and any(dot(normal, e) for e in edges)


@patient
def verify_solids(p, q, pose_p, pose_q, verdict, proof):
    """A static verdict; `proof`: a SolidProof."""
    form, body = only(proof)
    kinds = {"separated": "SEPARATED", "touching": "TOUCHING", "crossing": "OVERLAPPING", "innerPoint": "OVERLAPPING",
             "touchingPieces": "TOUCHING", "overlappingPieces": "OVERLAPPING", "innerPiece": "OVERLAPPING"}
    require(kinds.get(form) == verdict, f"{form} is for another verdict")
    solids, still = (p, q), (0, 0, 0)
    if form == "separated":
        return Cover(Pair(p.points, q.points, pose_p, pose_q), solids, still, 0).verify(body)
    if form == "touching":
        require("from" in body, "no place where Q comes from")
        start, end = vector(body["from"]), pose_q[1]
        held = faces(Pair(p.points, q.points, pose_p, pose_q), solids, body.get("faces"))
        require(nearest(held)[0] == still, "the faces share no point")
        pair = Pair(p.points, q.points, pose_p, (pose_q[0], start), [end])
        travel = sub(whole(end, pair.unit), whole(start, pair.unit))
        return Cover(pair, solids, travel, 1, True).verify(body.get("way", {}))
    if form == "crossing":
        pair = Pair(p.points, q.points, pose_p, pose_q)
        require(all(len(body.get(name, [])) == 3 for name in "pq"), "not two triangles")
        flat = [s for k, s in enumerate(solids) if s.triangles is None and not has_volume(pair.placed[k])]
        require(not flat, "a flat polytope has no inner points")
        return require(strictly_inside(faces(pair, solids, body)), "the triangles do not cross")
    if form.endswith("Pieces"):
        return verify_pieces(Pair(p.points, q.points, pose_p, pose_q), solids, form, body)
    if form == "innerPiece":
        return verify_inner_piece(Pair(p.points, q.points, pose_p, pose_q), solids, body)
    require("point" in body, "no point")
    terms = [vector(body.get(name, {})) for name in ("point", "offset")]
    pair = Pair(p.points, q.points, pose_p, pose_q, terms)
    point = add(*(whole(term, pair.unit) for term in terms))
    for k, (solid, name) in enumerate(zip(solids, ("pVertices", "qVertices"))):
        if solid.triangles is None:
            around = [sub(pair.placed[k][v], point) for v in indices(body, name, 6, len(solid.points))]
            within = len(around) >= 4 and strictly_inside(around)
        else:
            within = not solid.is_surface and inside(point, pair.placed[k], solid.triangles) is True
        require(within, "the point is not strictly inside both")


def verify_pieces(pair, solids, form, body):
    """How two bodies stand by their pieces: triangles, or the whole of a polytope."""
    require(any(solid.triangles is not None for solid in solids), "neither body is made of triangles")
    pairs = vertex_pairs(body.get("pairs", []))
    named_by(solids, pairs, 6)
    differences = pair.differences(pairs, 1, 6)
    if form == "overlappingPieces":
        return require(len(pairs) >= 4 and strictly_inside(differences), "the pieces do not overlap")
    require(nearest(differences)[0] == (0, 0, 0), "the pieces share no point")
    Touching(pair, solids, (0, 0, 0), 0).verify(body.get("cover", {}))


def verify_inner_piece(pair, solids, body):
    """A point of a triangle of one body that is inside the polyhedron that the other one is: a mean of three corners.
    Compared with the polyhedron, both as many times as large as the weights are together."""
    weights = [Fraction(weight) for weight in finite(body.get("weights", []), 3)]
    require(min(weights) >= 0 < max(weights), "weights are lengths of which one is not 0")
    scale = max(weight.denominator for weight in weights)  # powers of two
    weights, triangle = [int(weight * scale) for weight in weights], body.get("triangle", [])
    require(len(triangle) == 3 and all(type(v) is int for v in triangle), f"{triangle!r} is no triangle")

    def is_inside(of):
        own, region = solids[of], solids[1 - of].region
        if region is None or not any(set(triangle) <= set(corners) for corners in own.triangles or []):
            return False
        corners = [pair.placed[of][v] for v in triangle]
        point = tuple(sum(weight * corner[k] for weight, corner in zip(weights, corners)) for k in range(3))
        around = [tuple(sum(weights) * x for x in corner) for corner in pair.placed[1 - of]]
        return inside(point, around, region) is True

    require(is_inside(0) or is_inside(1), "the point is of no triangle of a body that is inside the other one there")


class Touching(Cover):
    """Along each direction, all at rest, what is left of one body is not beyond what is left of the other; and of each
    body nothing is inside the region that the other may be. Triangles that touch reach the plane between two groups."""

    def __init__(self, *of):
        super().__init__(*of)
        self.pairs = set()

    def apart(self, at, groups, chain):
        named = self.named(groups)
        for _ in chain:
            self.visit(len(named[0]) + len(named[1]))
        require(is_at_rest(chain), f"step {at} is not one of bodies at rest")
        s = self.pair.direction(direction(chain[0].get("direction")))
        gap = self.gap(named, s)
        require(gap >= 0, f"step {at} does not show that they have no inner points in common")
        if gap > 0 or None in groups:
            return
        plane = max(dot(s, self.pair.placed[0][v]) for v in named[0])
        there = [[t for t in group if any(dot(s, self.pair.placed[k][v]) == plane for v in self.solids[k].triangles[t])]
                 for k, group in enumerate(groups)]
        self.visit(len(there[0]) * len(there[1]))
        self.pairs.update((m, n) for m in there[0] for n in there[1])

    def outside(self, of, other):
        solid, around = self.solids[of], self.solids[other].region
        if around is None:
            return  # nothing is inside a surface; and no inner point of a polytope is on a triangle beside it
        points, corners = self.pair.placed[of], self.pair.placed[other]
        is_outside = lambda point: self.visit(len(corners) + 3 * len(around)) or inside(point, corners, around) is False
        if solid.triangles is None:
            four = independent(points)
            require(four, "a flat polytope has no inner points")
            mean = tuple(Fraction(sum(x[k] for x in four), 4) for k in range(3))
            return require(is_outside(mean), "a polytope is inside the other body")
        beside = {}
        for pair in self.pairs:
            beside.setdefault(pair[of], []).append(pair[other])
        touched = {v for t in beside for v in solid.triangles[t]}
        for part in members(solid):
            require(not touched.isdisjoint(part) or is_outside(points[part[0]]), "a part may be inside the other body")
        for t, others in beside.items():
            look_at_clock()
            own = [points[v] for v in solid.triangles[t]]
            cut_by = [[corners[v] for v in around[n]] for n in others]
            normal = solid.region and cross(sub(own[1], own[0]), sub(own[2], own[0]))
            for cell, on in cells(own, cut_by):
                self.visit(1)
                weights = [sum(corner[k] / sum(corner) for corner in cell) / len(cell) for k in range(3)]
                same = next((n for lines, n in on if all(dot(line, weights) <= 0 for line in lines)), None)
                if same is not None:
                    require(not normal or dot(normal, same) <= 0, "both bodies are on one side of a common face")
                    continue
                point = tuple(sum(w * corner[k] for w, corner in zip(weights, own)) for k in range(3))
                require(is_outside(point), "a piece of one body is inside the other")


def independent(points):
    """Four points that are in no plane, if there are any."""
    edge = next((sub(x, points[0]) for x in points if x != points[0]), None)
    normal = next((n for x in points for n in [cross(edge, sub(x, points[0]))] if any(n)), None) if edge else None
    last = next((x for x in points if dot(normal, sub(x, points[0]))), None) if normal else None
    third = next(x for x in points if any(cross(edge, sub(x, points[0])))) if normal else None
    return [points[0], add(points[0], edge), third, last] if last else None


def cells(corners, others):
    """What is left of a triangle that is cut by the planes of other triangles, and by the edges of those in its own
    plane: each a list of corners, as weights of the triangle's; with the lines and normals of those in its plane."""
    left, flat = [[(Fraction(1), 0, 0), (0, Fraction(1), 0), (0, 0, Fraction(1))]], []
    for a, b, c in others:
        normal = cross(sub(b, a), sub(c, a))
        lines = [tuple(dot(normal, sub(x, a)) for x in corners)]
        if not any(lines[0]):
            along = [cross(sub(v, u), normal) for u, v in ((a, b), (b, c), (c, a))]
            lines = [tuple(dot(s, sub(x, u)) for x in corners) for s, u in zip(along, (a, b, c))]
            flat.append((lines, normal))
        for line in lines:
            left = [half for cell in left for half in halves(cell, line)]
    return [(cell, flat) for cell in left]


def halves(cell, line):
    """The parts of a convex cell on both sides of a line; all of it, if the line does not run through its inside."""
    heights = [dot(line, corner) for corner in cell]
    if not min(heights) < 0 < max(heights):
        return [cell]
    parts = []
    for sign in (1, -1):
        part = []
        for k, corner in enumerate(cell):
            here, there = sign * heights[k], sign * heights[(k + 1) % len(cell)]
            if here >= 0:
                part.append(corner)
            if here * there < 0:
                next_ = cell[(k + 1) % len(cell)]
                t = Fraction(here) / (here - there)
                part.append(tuple(x + t * (y - x) for x, y in zip(corner, next_)))
        parts.append(part)
    return parts


def is_at_rest(chain):
    one = len(chain) == 1 and not chain[0].get("t0") and not chain[0].get("t1")
    return one and chain[0].get("frame") == "DIRECTION_FRAME_WORLD"


def named_by(solids, pairs, most):
    """The vertices of each body that pairs name, ascending: corners of one triangle, or any of a polytope."""
    ok = isinstance(pairs, list) and 1 <= len(pairs) <= most
    require(ok and all(type(v) is int for pair in pairs for v in pair), f"not 1 to {most} vertex pairs")
    named = [sorted({pair[k] for pair in pairs}) for k in (0, 1)]
    for solid, some in zip(solids, named):
        require(0 <= some[0] and some[-1] < len(solid.points), "a vertex that does not exist")
        is_one = solid.triangles is None or any(set(some) <= set(triangle) for triangle in solid.triangles)
        require(is_one, f"{some!r} are of no one face")
    return named


@patient
def verify_solid_motion(p, q, pose_p, pose_q, motion_p, motion_q, answer):
    """A FindFirstContactResponse about bodies that turn nothing, without margin and deviation."""
    outcome = answer.get("outcome")
    verdict = initial_verdict(answer)
    require(outcome in ("OUTCOME_CONTACT", "OUTCOME_NO_CONTACT"), f"no outcome {outcome!r}")
    certificate = answer.get("certificate") or {}
    t_free, t_contact = bound(answer.get("tFree", 0.0)), bound(answer.get("tContact", 1.0))
    if verdict != "SEPARATED":
        at_start = outcome == "OUTCOME_CONTACT" and "tContact" in answer and t_free == t_contact == 0
        require(at_start, "the bodies are in contact at t = 0")
        form, proof = only(certificate.get("initial"))
        require(form == "solid" and "solid" not in certificate, "no proof of contact at t = 0")
        return verify_solids(p, q, pose_p, pose_q, verdict, proof)
    require("solid" in certificate, "no proof about solids")
    proof, solids = certificate["solid"], (p, q)
    pair, travel = on_the_way(p, q, pose_p, pose_q, motion_p, motion_q)
    if outcome == "OUTCOME_CONTACT":
        require("tContact" in answer and t_free <= t_contact <= 1, "not 0 <= tFree <= tContact <= 1")
        found = faces(pair, solids, proof.get("contact"))
        require(share_a_point(found, travel, (t_free, t_contact)), "the faces share no point at any time of the bracket")
    else:
        require(t_free == 1, "no contact, but not free until the end")
    return Cover(pair, solids, travel, t_free).verify(proof.get("free", {}))


def share_a_point(differences, travel, times):
    """Whether faces share a point at some time between two. All their differences move alike."""
    ends = swept(differences, travel, times)
    # Most that do not are beside each other, and `nearest` looks at thousands of simplices.
    beside = any(min(axis) > 0 or max(axis) < 0 for axis in zip(*ends))
    return not beside and nearest(ends)[0] == (0, 0, 0)


@patient
def verify_face_contact(p, q, pose_p, pose_q, motion_p, motion_q, times, contact):
    """Where bodies are said to meet at a time between two, t_free and t_contact (both 0 for a verdict), by a claim
    that is proven; `contact`: a FaceContact."""
    t_free, t_contact = times = [bound(t) for t in times]
    require(t_free <= t_contact <= 1, "not 0 <= t_free <= t_contact <= 1")
    bodies, named = (p, q), [named_face(contact, *side) for side in zip("pq", (p, q))]
    if None not in named:
        pair, travel = on_the_way(p, q, pose_p, pose_q, motion_p, motion_q)
        for of_p in fan(named[0]):
            for of_q in fan(named[1]):
                look_at_clock()
                if share_a_point(faces(pair, bodies, {"p": of_p, "q": of_q}), travel, times):
                    return
        require(False, "the faces named share no point")
    of = int(named[0] is None)  # the body whose facet is inside the other
    require(named[of] is not None and "pq"[of] + "Facet" in contact, "neither two faces nor one facet")
    require(t_contact == 0, "one facet alone says how bodies overlap at t = 0")
    pair, around = Pair(p.points, q.points, pose_p, pose_q), bodies[1 - of]
    require(not around.is_surface, "nothing is inside a surface")
    boundary = around.triangles or [triangle for facet in around.facets for triangle in fan(facet)]
    corners = [pair.placed[of][v] for v in named[of][:3]]
    held = len(corners) == 3 and inside_beside(corners, pair.placed[1 - of], boundary)
    require(held, "the facet named is not inside the other body")


def named_face(contact, name, solid):
    """The vertices of the face that is named of a body, in order around it; None: none is."""
    forms = [form for form in ("Vertex", "Edge", "Facet") if name + form in contact]
    require(len(forms) <= 1, "several faces of one body")
    if not forms:
        return None
    face = contact[name + forms[0]]
    if forms == ["Edge"]:
        return [face.get("from", 0), face.get("to", 0)]
    if forms == ["Vertex"]:
        return [face]
    require(type(face) is int and 0 <= face < len(solid.facets), "it names a facet that does not exist")
    return solid.facets[face]


def fan(corners):
    """The triangles from the first corner of a polygon, or the one face that it is."""
    return [[corners[0], *two] for two in zip(corners[1:], corners[2:])] or [corners]


def initial_verdict(answer):
    name = answer.get("initialVerdict")
    require(isinstance(name, str) and name.startswith("VERDICT_"), f"no verdict {name!r}")
    return name.removeprefix("VERDICT_")


def on_the_way(p, q, pose_p, pose_q, motion_p, motion_q):
    """The pair, and how far Q comes relative to P."""
    lengths = [m[1][1] if m[0] == "to_pose" else finite(m[1], 3) for m in (motion_p, motion_q)]
    pair = Pair(p.points, q.points, pose_p, pose_q, lengths)
    speeds = velocity(pose_p, motion_p, pair.unit), velocity(pose_q, motion_q, pair.unit)
    require(None not in speeds, "something turns")
    return pair, sub(speeds[1], speeds[0])


@patient
def verify_first_collision(bodies, answer):
    """A FindFirstCollisionResponse; bodies: of each a Solid, a pose and a motion."""
    outcome, met = answer.get("outcome"), None
    certificate = answer.get("certificate") or {}
    t_free = bound(answer.get("tFree", 0.0))
    ends = [extents(*body, t_free) for body in bodies]  # of bodies that turn nothing
    if outcome == "OUTCOME_CONTACT":
        met = two(answer, bodies)
        of_pair = {**answer, "certificate": certificate.get("contact")}
        visits = verify_solid_motion(*both(bodies, met), of_pair) or 0
        if initial_verdict(answer) != "SEPARATED":
            return  # in contact at t = 0, before which there is nothing
    else:
        require(outcome == "OUTCOME_NO_CONTACT" and t_free == 1, "no contact, but not free until the end")
        said = [name for name, told in (("p", answer), ("q", answer), ("contact", certificate)) if name in told]
        require(not said, f"no contact of two bodies, but {said}")
        visits = 0
    listed, last = set(), (-1, -1)
    for proof in certificate.get("free", []):
        pair = two(proof.get("pair") or {}, bodies)
        require(last < pair != met, f"{pair} is not listed in order")
        last, moving = pair, both(bodies, pair)
        placed, travel = on_the_way(*moving)
        visits = Cover(placed, moving[:2], travel, t_free, visits=visits).verify(proof.get("cover", {}))
        listed.add(pair)
    for pair in combinations(range(len(bodies)), 2):
        known = pair == met or pair in listed or beside(*(ends[k] for k in pair))
        require(known, f"nothing shows that the bodies {pair} do not meet")


def two(json, bodies):
    pair = json.get("p", 0), json.get("q", 0)
    require(all(type(k) is int for k in pair) and 0 <= pair[0] < pair[1] < len(bodies), f"{pair} are no two bodies")
    return pair


def both(bodies, pair):
    """Of both the solid, then the pose, then the motion."""
    return [part for parts in zip(*(bodies[k] for k in pair)) for part in parts]


def extents(solid, pose, motion, until):
    """The least and greatest coordinates at t = 0 and at `until`, in metres."""
    pair, _ = on_the_way(solid, solid, pose, pose, motion, motion)
    speed = velocity(pose, motion, pair.unit)
    found = [[(low + v * t) / pair.unit for low, v in zip(corner, speed)] for t in (Fraction(0), until)
             for corner in ([pick(axis) for axis in zip(*pair.placed[0])] for pick in (min, max))]
    return found[0::2], found[1::2]


def beside(a, b):
    """Whether a coordinate axis separates bodies all the time: on the same side at both its ends."""
    below = lambda a, b, k: all(high[k] < low[k] for high, low in zip(a[1], b[0]))
    return any(below(a, b, k) or below(b, a, k) for k in range(3))
