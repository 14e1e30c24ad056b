"""Families of questions about bodies with round edges, most of them made to be hard.

Bodies that touch are made so: a vector whose length is a whole number, as (2, 3, 6) of length 7, is between two bodies that
are on their sides of the planes across its ends, each with a point, an edge or a face there. Radii that make up that length
touch. All numbers of such cases are multiples of powers of two, so that f64 numbers have them exactly.
"""
import math
from fractions import Fraction

from bodies import IDENTITY, ROTATIONS, Body, turned_back

# (a, b, c, d) with a² + b² + c² = d².
QUADRUPLES = [(1, 2, 2, 3), (2, 3, 6, 7), (1, 4, 8, 9), (4, 4, 7, 9), (2, 6, 9, 11), (6, 6, 7, 11), (3, 4, 12, 13), (2, 5, 14, 15),
              (0, 3, 4, 5), (0, 5, 12, 13), (0, 0, 1, 1), (8, 9, 12, 17), (1, 12, 12, 17)]
SPLITS = (0, 1, 3, 4, 8, 8, 13, 16)  # sixteenths of the length that are the radius of P


class Case:
    """Two bodies and a margin. `verdict`, `time`: what the way in which the case was made says beside the reference."""

    def __init__(self, p, q, margin=0.0, verdict=None, time=None):
        self.p, self.q, self.margin, self.verdict, self.time = p, q, margin, verdict, time


# ---- numbers
def ulp_off(draw, x):
    return math.nextafter(x, draw.choice((-math.inf, math.inf)))


def dyadic(draw, most, bits=3):
    return draw.randrange(-most << bits, (most << bits) + 1) / (1 << bits)


def vector(draw):
    """Of whole numbers, and of a whole length."""
    *v, length = draw.choice(QUADRUPLES)
    draw.shuffle(v)
    return [float(x * draw.choice((-1, 1))) for x in v], float(length)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def added(a, b, times=1.0):
    return [x + times * y for x, y in zip(a, b)]


# ---- bodies
def shape(draw, kinds="ball capsule box hull flat needle"):
    """How it is told, and its points."""
    kind = draw.choice(kinds.split())
    if kind == "ball":
        return {}, [(0.0, 0.0, 0.0)]
    if kind == "capsule":
        length = draw.choice((1.0, 2.0, 5.0, draw.uniform(0.1, 4)))
        return {"length": length}, [(0.0, 0.0, -length / 2), (0.0, 0.0, length / 2)]
    if kind == "box":
        sizes = [draw.choice((0.0, 1.0, 3.0, draw.uniform(0.1, 4))) for _ in range(3)]
        ends = [sorted({-x / 2 + 0.0, x / 2}) for x in sizes]
        return {"box": dict(zip("xyz", sizes))}, [(x, y, z) for x in ends[0] for y in ends[1] for z in ends[2]]
    if kind == "needle":
        length, width = 10 ** draw.uniform(2, 5), 10 ** draw.uniform(-4, -1)
        ends = [[draw.uniform(-1, 1) for _ in range(3)] for _ in range(2)]
        return cloud([added([0.0] * 3, ends[0], length * k) for k in (-1, 1)] + [added([0.0] * 3, ends[1], width)])
    if kind == "flat":
        u, v = ([float(draw.randrange(-3, 4)) for _ in range(3)] for _ in range(2))
        return cloud([added([dyadic(draw, 2) * x for x in u], v, dyadic(draw, 2)) for _ in range(draw.randrange(3, 6))])
    return cloud([[dyadic(draw, 3) for _ in range(3)] for _ in range(draw.randrange(4, 8))])


def cloud(points):
    points = [tuple(x + 0.0 for x in point) for point in points]
    return {"vertices": {"xyz": [x for point in points for x in point]}}, points


def rounded(told, points, radius, **where):
    if radius == 0 and "vertices" in told:
        return Body(told, points, radius=0.0, **where)
    return Body({"rounded": {**told, "radius": radius}}, points, radius=radius, **where)


def scaled(told, points, factor):
    def of(value):
        if isinstance(value, dict):
            return {key: of(inner) for key, inner in value.items()}
        return [x * factor for x in value] if isinstance(value, list) else value * factor
    return of(told), [tuple(x * factor for x in point) for point in points]


def behind(draw, s, most=6, step=1.0):
    """Points, one of them the origin, none of them ahead of the plane through it across s, and some in the plane."""
    found = [(0.0, 0.0, 0.0)]
    for _ in range(draw.randrange(most)):
        x = [step * draw.randrange(-4, 5) for _ in range(3)]
        way = draw.randrange(3)
        if way == 0:
            turns = ((s[1], -s[0], 0.0), (0.0, s[2], -s[1]), (s[2], 0.0, -s[0]))
            x = added([0.0] * 3, draw.choice(turns), step * draw.choice((-1, 1)))
        found.append(tuple(-c + 0.0 if dot(s, x) > 0 else c + 0.0 for c in x))
    return found


def standing(draw, points, radius, at, factor=1.0, moves=(0.0, 0.0, 0.0)):
    """A rounded body whose points are there, turned to where it is told: of a ball or a capsule told as such."""
    rows = draw.choice(ROTATIONS) if draw.random() < 0.5 else IDENTITY
    points = [turned_back(rows, [factor * x for x in point]) for point in points]
    told = {} if len(points) == 1 and draw.random() < 0.8 else cloud(points)[0]
    return rounded(told, points, radius * factor, at=[factor * x for x in at], rows=rows, moves=[factor * x for x in moves])


def facing(draw, step=1.0, grow=1.0, factor=1.0, lateral=None, margin_share=0.0, most=6):
    """Two bodies that touch, or with a margin are exactly at it; `lateral`: Q passes by on the way."""
    s, length = vector(draw)
    s, length = [grow * x for x in s], grow * length
    p, q = ([tuple(sign * x + 0.0 for x in point) for point in behind(draw, s, most, step)] for sign in (1.0, -1.0))
    share = draw.choice(SPLITS) / 16
    margin = length * margin_share
    left = length - margin
    at = [grow * dyadic(draw, 8) for _ in range(3)] if draw.random() < 0.7 else [0.0] * 3
    start, moves = added(at, s), [0.0] * 3
    if lateral:
        u = draw.choice([u for u in ((s[1], -s[0], 0.0), (0.0, s[2], -s[1]), (s[2], 0.0, -s[0])) if any(u)])
        way = draw.choice((4.0, 8.0, 16.0))
        start, moves = added(start, u, -way), [2 * way * x for x in u]
    bodies = standing(draw, p, left * share, at, factor), standing(draw, q, left - left * share, start, factor, moves)
    return Case(*bodies, margin * factor, None if lateral else "SEPARATED" if margin else "TOUCHING")


def nudged(draw, case):
    """One number an ulp off, most often."""
    case.verdict = None
    way, body = draw.randrange(5), draw.choice((case.p, case.q))
    if way < 2 and body.radius:
        body.radius = ulp_off(draw, body.radius)
        body.source["rounded"]["radius"] = body.radius
    elif way < 4:
        k = draw.randrange(3)
        body.at = tuple(ulp_off(draw, x) if i == k else x for i, x in enumerate(body.at))
    elif case.margin:
        case.margin = ulp_off(draw, case.margin)
    return case


def moving(draw, case, speed=8):
    """With a motion towards each other, or anywhere."""
    towards = [y - x for x, y in zip(case.p.at, case.q.at)]
    if draw.random() < 0.7:
        case.p.moves = tuple(draw.choice((0.5, 1.0, 2.0)) * x for x in towards)
    else:
        case.p.moves = tuple(dyadic(draw, speed) for _ in range(3))
    if draw.random() < 0.5:
        case.q.moves = tuple(dyadic(draw, speed) for _ in range(3))
    return case


# ---- families
def touching(draw):
    return facing(draw)

def an_ulp_off(draw):
    return nudged(draw, facing(draw))

def radius_zero(draw):
    case = facing(draw) if draw.random() < 0.5 else somewhere(draw)
    for body in draw.choice(((case.p,), (case.q,), (case.p, case.q))):
        told = body.source.get("rounded", {})
        body.radius, case.verdict = 0.0, None
        if told:
            body.source = {"vertices": told["vertices"]} if "vertices" in told else {"rounded": {**told, "radius": 0.0}}
    return case

def large_radius(draw):
    case = facing(draw, step=2.0 ** -20, grow=draw.choice((1.0, 2.0 ** 10)))
    return case if draw.random() < 0.4 else nudged(draw, case)

def one_in_another(draw):
    """A small one in a large one, whose points are apart; or one whose points are in the other's."""
    large = shape(draw, "ball capsule box hull flat")
    small = scaled(*shape(draw), draw.choice((0.125, 0.5, 1.0)))
    at = [dyadic(draw, 1) for _ in range(3)]
    return moving(draw, Case(rounded(*large, draw.choice((4.0, 8.0, draw.uniform(0.1, 9)))),
                             rounded(*small, draw.choice((0.0, 0.5, 1.0, draw.uniform(0.1, 2))), at=at)))

def one_place(draw):
    """Their own frames' origins are in one place."""
    told = shape(draw)
    other = told if draw.random() < 0.5 else shape(draw)
    at = [dyadic(draw, 4) for _ in range(3)]
    radii = draw.choice((0.0, 0.25, 1.0)), draw.choice((0.0, 0.25, 1.5, 2.0 ** -30))
    p, q = (rounded(*one, radius, at=at, rows=draw.choice(ROTATIONS)) for one, radius in zip((told, other), radii))
    return moving(draw, Case(p, q, draw.choice((0.0, 0.5))))

def flat_cores(draw):
    return placed_apart(draw, [shape(draw, "flat"), shape(draw, "flat box capsule")])

def needles(draw):
    return placed_apart(draw, [shape(draw, "needle"), shape(draw, "needle hull capsule ball")])

def placed_apart(draw, told):
    rows = [draw.choice(ROTATIONS) for _ in told]
    at = [[dyadic(draw, 3) for _ in range(3)] for _ in told]
    p, q = (rounded(*one, draw.choice((0.25, 1.0, draw.uniform(0, 2))), at=a, rows=r) for one, a, r in zip(told, at, rows))
    return moving(draw, Case(p, q, draw.choice((0.0, 0.5, draw.uniform(0, 3)))))

def tiny(draw):
    return scaled_case(draw, 2.0 ** -draw.randrange(100, 301))

def huge(draw):
    return scaled_case(draw, 2.0 ** draw.randrange(100, 301))

def far_out(draw):
    """Nearer to the ends of the numbers that are let in."""
    return scaled_case(draw, 2.0 ** (draw.choice((-1, 1)) * draw.randrange(300, 900)))

def scaled_case(draw, factor):
    way = draw.randrange(4)
    case = facing(draw, factor=factor, lateral=way == 3, margin_share=draw.choice((0.0, 0.25)))
    return case if way == 0 else nudged(draw, case) if way == 1 else case if way == 3 else apart(draw, case)

def apart(draw, case):
    """Farther apart or nearer, along the line between them."""
    share = draw.choice((0.25, 0.5, 1.5, 2.0))
    case.q.at = tuple(x + share * (y - x) for x, y in zip(case.p.at, case.q.at))
    case.p.moves = tuple(2 * (y - x) for x, y in zip(case.p.at, case.q.at))
    case.verdict = None
    return case

def mixed_scales(draw):
    """A small one beside a large one."""
    smaller = draw.choice((draw.randrange(30, 80), draw.randrange(80, 500)))
    case = facing(draw, step=2.0 ** -smaller, grow=draw.choice((1.0, 2.0 ** 40, 2.0 ** 400)))
    return case if draw.random() < 0.5 else nudged(draw, case)

def sums_between(draw):
    """Radii whose sum is no f64 number, at a distance that is none, either."""
    s, length = vector(draw)
    small = 2.0 ** -draw.randrange(55, 90)
    q = [tuple(small * x for x in s)]
    case = Case(rounded({}, [(0.0, 0.0, 0.0)], length), rounded(*cloud(q), small * length, at=s), verdict="TOUCHING")
    return case if draw.random() < 0.4 else nudged(draw, case)

def margins(draw):
    case = facing(draw, margin_share=draw.choice((0.125, 0.25, 0.75)))
    if draw.random() < 0.6:
        case = nudged(draw, case)
    return moving(draw, case) if draw.random() < 0.5 else case

def somewhere(draw):
    """In general position; the matrix is no rotation up to the last bit, and used as it is."""
    two = []
    for _ in range(2):
        w = [draw.gauss(0, 1) for _ in range(4)]
        norm = math.sqrt(sum(x * x for x in w))
        w, x, y, z = (c / norm for c in w)
        rows = (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z), 1 - 2 * (x * x + z * z),
                2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))
        at = [draw.uniform(-4, 4) for _ in range(3)]
        two.append(rounded(*shape(draw), draw.choice((0.5, draw.uniform(0, 2), draw.uniform(0, 0.1))), at=at, rows=rows))
    return moving(draw, Case(*two, draw.uniform(0, 2)))

def beside_polytopes(draw):
    case = facing(draw, lateral=draw.random() < 0.2)
    bare, other = draw.choice(((case.p, case.q), (case.q, case.p)))
    total = case.p.radius + case.q.radius  # exact: both are sixteenths
    bare.source, bare.radius = cloud(bare.points)[0], 0.0
    told = other.source.get("rounded", {})
    core = told if {"vertices", "length", "box"} & set(told) else cloud(other.points)[0] if "vertices" in other.source else {}
    other.radius = total
    other.source = {"rounded": {**core, "radius": total}}
    return case if draw.random() < 0.5 else nudged(draw, case)

def grazing(draw):
    case = facing(draw, lateral=True, margin_share=draw.choice((0.0, 0.0, 0.25)))
    return case if draw.random() < 0.5 else nudged(draw, case)

def balls_that_meet(draw):
    """At a time that is a known fraction: one passes the other at the offset of a quadruple, and is in contact where the
    third of its numbers is what is left."""
    s, length = vector(draw)
    k = draw.choice([k for k in range(3) if s[k]])
    first, speed = draw.randrange(1, 40) / 4, draw.choice((8.0, 32.0, 7.0, 11.0, 50.0))
    sign = math.copysign(1.0, s[k])
    start = [x + sign * first * (i == k) for i, x in enumerate(s)]
    share = length * draw.choice(SPLITS) / 16
    p = rounded({}, [(0.0, 0.0, 0.0)], share)
    q = rounded({}, [(0.0, 0.0, 0.0)], length - share, at=start, moves=[-sign * speed * (i == k) + 0.0 for i in range(3)])
    time = Fraction(first) / Fraction(speed)
    return Case(p, q, time=time if time <= 1 else "none")

def many_points(draw):
    """Hulls of many vertices."""
    return facing(draw, lateral=draw.random() < 0.3, most=80)


FAMILIES = {"touching": touching, "an ulp off": an_ulp_off, "radius 0": radius_zero, "large radius": large_radius,
            "one in another": one_in_another, "one place": one_place, "flat cores": flat_cores, "needles": needles, "tiny": tiny,
            "huge": huge, "far out": far_out, "mixed scales": mixed_scales, "sums between": sums_between, "margins": margins,
            "somewhere": somewhere, "beside polytopes": beside_polytopes, "grazing": grazing,
            "balls that meet": balls_that_meet, "many points": many_points}
