"""Families of questions about closed meshes, most of which touch, and many of which are not convex.

Shapes have their corners on a lattice, so that faces, edges and corners meet exactly. One whole matrix then takes both bodies
of a case to where their faces are in no particular position: that changes no verdict. Where a direction has one body on each
side, their touching is known by construction.
"""
from bodies import IDENTITY, ROTATIONS, Body, turned, turned_back
from polyhedra import grid, of_boxes, of_cells
from reference import cross, dot, facets, sub
from rounded_cases import Case, dyadic, somewhere, ulp_off

# ---- shapes: corners and triangles
def hull(points):
    return [tuple(map(float, x)) for x in points], facets([tuple(int(x) for x in point) for point in points])


def prism(outline, height=2.0):
    """Of a polygon, counter-clockwise, whose triangles from its first corner cover it."""
    n = len(outline)
    points = [(float(x), float(y), z) for z in (0.0, height) for x, y in outline]
    triangles = [t for k in range(1, n - 1) for t in ((0, k + 1, k), (n, n + k, n + k + 1))]
    for k in range(n):
        j = (k + 1) % n
        triangles += [(k, j, n + j), (k, n + j, n + k)]
    return points, triangles


def star(draw, points, triangles):
    """With the corners nearer to the middle or farther from it, each on its ray."""
    scales = [draw.choice((0.5, 1.0, 2.0, 3.0)) for _ in points]
    return [tuple(scale * x for x in point) for scale, point in zip(scales, points)], triangles


OCTAHEDRON = hull([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)])
TETRAHEDRON = hull([(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 2)])
PYRAMID = hull([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (0, 0, 2)])
BLOCK = of_cells({(0, 0, 0)})
ELL, CHANNEL, RING = (of_cells(grid(*rows)) for rows in (("##", "#."), ("#.#", "###"), ("###", "#.#", "###")))
DART = prism([(1, 1), (0, 4), (0, 0), (4, 0)])
HOLLOW = of_boxes((0.0, 4.0, True), (1.0, 2.0, False))
NESTED = of_boxes((0.0, 6.0, True), (1.0, 4.0, False), (2.0, 2.0, True))
TWO = of_boxes((0.0, 1.0, True), (2.0, 1.0, True))
SHAPES = [OCTAHEDRON, TETRAHEDRON, PYRAMID, BLOCK, ELL, CHANNEL, RING, DART, TWO]
CONVEX = [OCTAHEDRON, TETRAHEDRON, PYRAMID, BLOCK]
HOLLOWS = [HOLLOW, NESTED]


def grown(draw, count):
    cells = {(0, 0, 0)}
    while len(cells) < count:
        cell, axis, way = draw.choice(sorted(cells)), draw.randrange(3), draw.choice((-1, 1))
        cells.add(tuple(x + way * (k == axis) for k, x in enumerate(cell)))
    return of_cells(cells)


def moved(shape, by=(0.0, 0.0, 0.0), scale=1.0, rows=IDENTITY):
    points, triangles = shape
    return [tuple(x + d for x, d in zip(turned(rows, [scale * c for c in point]), by)) for point in points], triangles


def some(draw):
    way = draw.random()
    shape = draw.choice(SHAPES) if way < 0.6 else grown(draw, draw.randrange(2, 6)) if way < 0.8 else star(draw, *OCTAHEDRON)
    return moved(shape, rows=draw.choice(ROTATIONS), scale=draw.choice((0.5, 1.0, 1.0, 2.0)))


# ---- cases
def sheared(draw, most=2):
    """A whole matrix of positive determinant."""
    while True:
        rows = [[draw.randrange(-most, most + 1) for _ in range(3)] for _ in range(3)]
        if dot(rows[0], cross(rows[1], rows[2])) > 0:
            return rows


def brought(draw, p, q, verdict=None, shear=0.6, scale=1.0, bare=(), moves=True):
    """Shapes where they are in the world, taken somewhere else together, each as a body and its pose."""
    if draw.random() < shear:
        rows = sheared(draw)
        p, q = (([tuple(float(dot(row, x)) for row in rows) for x in points], triangles) for points, triangles in (p, q))
    bodies = []
    for k, (points, triangles) in enumerate((p, q)):
        rows = draw.choice(ROTATIONS) if draw.random() < 0.5 else IDENTITY
        at = [scale * dyadic(draw, 4, 2) for _ in range(3)] if draw.random() < 0.7 else [0.0] * 3
        points = [turned_back(rows, [scale * x - a for x, a in zip(point, at)]) for point in points]
        bodies.append(Body(None, points, None if k in bare else [list(t) for t in triangles], at=at, rows=rows))
    margin = scale * draw.choice((0.0, 0.25, 0.5, 1.0, draw.uniform(0, 2)))
    case = Case(*bodies, margin, verdict)
    if moves and draw.random() < 0.3:
        body = draw.choice(bodies)
        body.moves = tuple(scale * dyadic(draw, 6, 1) for _ in range(3))
    return case


def off(draw, case):
    """One coordinate of a place or of a corner an ulp off, or none."""
    case.verdict = None
    body = draw.choice((case.p, case.q))
    if draw.random() < 0.6:
        k = draw.randrange(3)
        body.at = tuple(ulp_off(draw, x) if i == k else x for i, x in enumerate(body.at))
    else:
        j, k = draw.randrange(len(body.points)), draw.randrange(3)
        point = list(body.points[j])
        point[k] = ulp_off(draw, point[k])
        body.points = [*body.points[:j], tuple(point), *body.points[j + 1:]]
    return case


def beside(draw, shape, unit=2, far=4):
    return moved(shape, [draw.randrange(-far * unit, far * unit + 1) / unit for _ in range(3)])


def supported(draw, kind, shapes=None):
    """Shapes on both sides of a plane in which each has a corner, an edge or a face, moved to where these share a point."""
    p, q = shapes or (some(draw), some(draw))
    edges = [[sub(points[b], points[a]) for t in triangles for a, b in ((t[0], t[1]), (t[1], t[2]))]
             for points, triangles in (p, q)]
    while True:
        if kind == "edges":
            s = cross(draw.choice(edges[0]), draw.choice(edges[1]))
        elif kind == "faces":
            side = draw.randrange(2)
            s = cross(*[draw.choice(edges[side]) for _ in range(2)])
        else:
            s = [float(draw.randrange(-3, 4)) for _ in range(3)]
        if any(s):
            break
    at = []
    for (points, triangles), sign in ((p, 1), (q, -1)):
        heights = [sign * dot(s, x) for x in points]
        faces = [[points[v] for v in t if heights[v] == max(heights)] for t in triangles]
        face = draw.choice([face for face in faces if face])
        a, b, c = (draw.choice(face) for _ in range(3))
        at.append([(2 * x + y + z) / 4 for x, y, z in zip(a, b, c)])
    return p, moved(q, [x - y for x, y in zip(*at)])


# ---- families
def lattice(draw):
    return brought(draw, grown(draw, draw.randrange(2, 6)), beside(draw, grown(draw, draw.randrange(1, 5)), 2, 2))

def vertex_to_face(draw):
    return brought(draw, *supported(draw, "faces"), "TOUCHING")

def edge_to_edge(draw):
    return brought(draw, *supported(draw, "edges"), "TOUCHING")

def corners(draw):
    return brought(draw, *supported(draw, "any"), "TOUCHING")

def in_notches(draw):
    """A point of one surface on one of the other, wherever these are."""
    p, q = some(draw), some(draw)
    at = []
    for points, triangles in (p, q):
        a, b, c = (points[v] for v in draw.choice(triangles))
        weights = draw.choice(((4, 0, 0), (2, 2, 0), (1, 3, 0), (2, 1, 1)))
        at.append([sum(w * x for w, x in zip(weights, along)) / 4 for along in zip(a, b, c)])
    return brought(draw, p, moved(q, [x - y for x, y in zip(*at)]))

def shared_faces(draw):
    """Faces in one plane that lie on each other in part, from either side."""
    p, q = (moved(draw.choice((BLOCK, ELL, CHANNEL, RING, DART, TWO)), rows=draw.choice(ROTATIONS)) for _ in range(2))
    k = draw.randrange(3)
    flush = draw.choice((min, max)), draw.choice((min, max))
    by = [draw.randrange(-4, 5) / 4 for _ in range(3)]
    by[k] = flush[0](x[k] for x in p[0]) - flush[1](x[k] for x in q[0])
    return brought(draw, p, moved(q, by))

def an_ulp_off(draw):
    made = draw.choice((vertex_to_face, edge_to_edge, corners, in_notches, shared_faces, pegs, cavities))
    return off(draw, made(draw))

def cavities(draw):
    """Something small in a hollow, at its walls or in them."""
    around = draw.choice(HOLLOWS)
    small = moved(draw.choice(SHAPES), rows=draw.choice(ROTATIONS), scale=draw.choice((0.25, 0.5, 0.5, 1.0)))
    return brought(draw, around, moved(small, [draw.randrange(0, 25) / 4 for _ in range(3)]))

def shells_in_shells(draw):
    """Both have shells in shells, or one is just what fills the other's hollow."""
    p = draw.choice(HOLLOWS)
    q = draw.choice((moved(HOLLOW, scale=0.5), moved(BLOCK, scale=2.0), moved(HOLLOW, scale=0.25), moved(TWO, scale=0.5),
                     moved(BLOCK, scale=6.0), moved(HOLLOW), moved(NESTED, scale=0.5)))
    return brought(draw, p, moved(q, [draw.choice((0.0, 1.0, 1.0, 1.5, 2.0, 0.5)) for _ in range(3)]))

def rings(draw):
    """Rings through each other, some tightly."""
    q = moved(draw.choice((RING, CHANNEL, ELL)), rows=draw.choice(ROTATIONS), scale=draw.choice((0.5, 1.0, 1.0)))
    return brought(draw, RING, beside(draw, q, draw.choice((1, 2, 4)), 2))

def pegs(draw):
    """A peg in a slot or a hole that it fits exactly, all the way or in part; of the full width, or less."""
    around, low = draw.choice(((RING, (1.0, 1.0, 0.0)), (CHANNEL, (1.0, 0.0, 0.0)), (moved(HOLLOW, scale=0.5), (0.5, 0.5, 0.5))))
    sizes = [draw.choice((1.0, 1.0, 1.0, 0.5)), draw.choice((1.0, 1.0, 1.0, 0.5)), draw.choice((0.5, 1.0, 2.0))]
    peg = [tuple(x * size for x, size in zip(point, sizes)) for point in BLOCK[0]], BLOCK[1]
    at = [x + draw.choice((0.0,) * 9 + (0.5,)) for x in low[:2]] + [low[2] + draw.choice((0.0, 0.0, 0.5, -0.5, 0.25))]
    return brought(draw, around, moved(peg, at), bare=draw.choice(((), (), (1,))))

def beside_polytopes(draw):
    way, bare = draw.randrange(3), draw.choice(CONVEX)
    bare = moved(bare, rows=draw.choice(ROTATIONS), scale=draw.choice((0.5, 1.0, 2.0)))
    if way == 0:
        return brought(draw, *supported(draw, draw.choice(("edges", "faces", "any")), (some(draw), bare)), "TOUCHING", bare=(1,))
    case = brought(draw, draw.choice((some(draw), HOLLOW)), beside(draw, bare, draw.choice((1, 2, 4)), 2), bare=(1,))
    if draw.random() < 0.5:
        case.p, case.q = case.q, case.p
    return case if way == 1 else off(draw, case)

def one_on_itself(draw):
    """The same body twice, or half of it in one of its corners, or turned about a point of it."""
    shape = some(draw)
    corner = draw.choice(shape[0])
    scale = draw.choice((1.0, 0.5, 0.5, 2.0))
    rows = draw.choice((IDENTITY, draw.choice(ROTATIONS)))
    return brought(draw, shape, moved(moved(shape, [-x for x in corner]), corner, scale, rows))

def scales(draw):
    """Tiny and huge."""
    scale = 2.0 ** (draw.choice((-1, 1)) * draw.randrange(100, 301))
    case = brought(draw, *supported(draw, draw.choice(("edges", "faces", "any"))), "TOUCHING", scale=scale)
    return case if draw.random() < 0.4 else off(draw, case)

def slivers(draw):
    """Flattened along one axis, and sheared far."""
    factors = [1.0, 1.0, 1.0]
    factors[draw.randrange(3)] = 2.0 ** -draw.randrange(10, 40)
    p, q = supported(draw, draw.choice(("edges", "faces", "any")))
    flat = lambda shape: ([tuple(x * f for x, f in zip(point, factors)) for point in shape[0]], shape[1])
    case = brought(draw, flat(p), flat(q), "TOUCHING")
    return case if draw.random() < 0.4 else off(draw, case)

def anywhere(draw):
    """In general position, in poses that are used as they are, near each other."""
    poses = somewhere(draw)
    bodies = []
    for pose in (poses.p, poses.q):
        points, triangles = star(draw, *OCTAHEDRON) if draw.random() < 0.5 else some(draw)
        rough = [tuple(x + draw.uniform(-0.05, 0.05) for x in point) for point in points]
        bodies.append(Body(None, rough, [list(t) for t in triangles], at=[0.6 * x for x in pose.at], rows=pose.rows))
    case = Case(*bodies, draw.uniform(0, 2))
    if draw.random() < 0.3:
        bodies[0].moves = tuple(draw.uniform(-6, 6) for _ in range(3))
    return case

def as_surface(draw, body):
    """Its triangles alone: all of them, some of them twice, or some missing."""
    way, kept = draw.randrange(3), body.triangles
    if way == 1:
        kept = kept + [list(reversed(t)) for t in kept[::3]]
    if way == 2:
        kept = [t for t in kept if draw.random() < 0.6] or kept[:1]
    body.triangles, body.is_region = kept, False

def surfaces(draw):
    """One or both are what bounds them, or a part of that."""
    case = draw.choice((lattice, in_notches, shared_faces, an_ulp_off, cavities, shells_in_shells, rings, pegs,
                        beside_polytopes, one_on_itself, slivers, anywhere))(draw)
    case.verdict = None
    meshes = [body for body in (case.p, case.q) if body.triangles]
    for body in draw.sample(meshes, draw.randrange(1, len(meshes) + 1)):
        as_surface(draw, body)
    return case

FAMILIES = {"lattice": lattice, "vertex to face": vertex_to_face, "edge to edge": edge_to_edge, "corners": corners,
            "in notches": in_notches, "shared faces": shared_faces, "an ulp off": an_ulp_off, "cavities": cavities,
            "shells in shells": shells_in_shells, "rings": rings, "pegs": pegs, "beside polytopes": beside_polytopes,
            "one on itself": one_on_itself, "scales": scales, "slivers": slivers, "anywhere": anywhere, "surfaces": surfaces}
