"""Families of questions about a body with round edges and a closed mesh."""
import random

from bodies import ROTATIONS, Body, turned
from rounded_cases import SPLITS, Case, added, behind, dot, dyadic, nudged, rounded, standing, ulp_off, vector
from solid_cases import BLOCK, CHANNEL, ELL, HOLLOW, NESTED, RING, some, sheared
from solid_cases import moved as moved_shape


def pool():
    """Meshes by alias: on a lattice, some of them sheared."""
    draw = random.Random("meshes")
    made = {"block": BLOCK, "ell": ELL, "channel": CHANNEL, "ring": RING, "nested": NESTED}
    made["hollow"] = moved_shape(HOLLOW, scale=0.5)
    for k in range(40):
        points, triangles = some(draw)
        rows = sheared(draw)
        made[f"slanted-{k}"] = [tuple(float(dot(row, x)) for row in rows) for x in points], triangles
    return {alias: (points, [list(t) for t in triangles]) for alias, (points, triangles) in made.items()}


MESHES = pool()
BOXES = ("block", "ell", "channel", "ring", "hollow", "nested")


def along_faces(draw):
    """Balls and capsules along the faces of meshes that are square, in their hollows and corners."""
    alias = draw.choice(BOXES)
    points, triangles = MESHES[alias]
    far = max(max(axis) for axis in zip(*points)) + 1
    unit = draw.choice((4, 8))
    at = [draw.randrange(-unit, int(far * unit)) / unit for _ in range(3)]
    mesh = Body({"alias": alias}, points, triangles, rows=draw.choice(ROTATIONS))
    plate = [(x, y, 0.0) for x in (-0.125, 0.125) for y in (-0.25, 0.25)]
    told, core = draw.choice((({}, [(0.0, 0.0, 0.0)]), ({"length": 0.5}, [(0.0, 0.0, -0.25), (0.0, 0.0, 0.25)]),
                              ({"box": {"x": 0.25, "y": 0.5, "z": 0.0}}, plate)))
    ball = rounded(told, core, draw.choice((0.125, 0.25, 0.5, 0.625, 1.0, draw.uniform(0.05, 1))), at=at)
    if draw.random() < 0.3:
        ball.at = tuple(ulp_off(draw, x) for x in ball.at)
    ball.at = turned(mesh.rows, ball.at)
    ball.moves = tuple(dyadic(draw, 3) for _ in range(3)) if draw.random() < 0.6 else (0.0, 0.0, 0.0)
    return shuffled(draw, mesh, ball, draw.choice((0.0, 0.125, 0.25, draw.uniform(0, 1))))


def shuffled(draw, mesh, ball, margin=0.0, verdict=None):
    two = [mesh, ball]
    draw.shuffle(two)
    return Case(*two, margin, verdict)


def top_of(draw, shape, rows, s):
    """A point of a face that is farthest along s, of a shape that is turned."""
    points, triangles = [turned(rows, x) for x in shape[0]], shape[1]
    heights = [dot(s, x) for x in points]
    faces = [[points[v] for v in t if heights[v] == max(heights)] for t in triangles]
    face = draw.choice([face for face in faces if face])
    a, b, c = (draw.choice(face) for _ in range(3))
    return [(2 * x + y + z) / 4 for x, y, z in zip(a, b, c)]


def at_slants(draw):
    """A rounded body at a whole distance from a mesh on the other side of a slanted plane, which is its radius, or it and the
    margin; at rest, or passing by."""
    alias = draw.choice(sorted(MESHES))
    rows, (s, length) = draw.choice(ROTATIONS), vector(draw)
    top = top_of(draw, MESHES[alias], rows, s)
    at = [dyadic(draw, 4) for _ in range(3)] if draw.random() < 0.5 else [0.0] * 3
    start, moves = added(added(top, s), at), [0.0] * 3
    passes = draw.random() < 0.3
    if passes:
        u = draw.choice([u for u in ((s[1], -s[0], 0.0), (0.0, s[2], -s[1]), (s[2], 0.0, -s[0])) if any(u)])
        start, moves = added(start, u, -8.0), [16.0 * x for x in u]
    margin = length * draw.choice((0.0, 0.0, *SPLITS[1:5])) / 16
    core = [tuple(-x + 0.0 for x in point) for point in behind(draw, s)]
    ball = standing(draw, core, length - margin, start, moves=moves)
    mesh = Body({"alias": alias}, *MESHES[alias], rows=rows, at=at)
    verdict = None if passes else "SEPARATED" if margin else "TOUCHING"
    case = shuffled(draw, mesh, ball, margin, verdict)
    return case if draw.random() < 0.5 else nudged(draw, case)


def tight_hollows(draw):
    """A ball that is just as large as a hollow, or whose centre is in a wall."""
    mesh = Body({"alias": "hollow"}, *MESHES["hollow"])
    at = [draw.choice((1.0, 1.0, 0.75, 0.25, 0.5, 1.25)) for _ in range(3)]
    ball = rounded({}, [(0.0, 0.0, 0.0)], draw.choice((0.5, 0.25, 0.125, 1.0)), at=at, moves=[dyadic(draw, 1) for _ in range(3)])
    case = shuffled(draw, mesh, ball, draw.choice((0.0, 0.25)))
    return case if draw.random() < 0.5 else nudged(draw, case)


FAMILIES = {"along faces": along_faces, "at slants": at_slants, "tight hollows": tight_hollows}
