#!/usr/bin/env python3
"""Compares what a server says of cylinders, cones and ellipsoids with closed forms in decimals of 200 digits.

A fresh server of the binary CLEARANCE is asked in batches how these bodies stand, how far apart or how deep they are, within
margins too, when they first meet, and from when on along a direction: beside half spaces in any pose, points, balls, and each other where a closed form is
known, with radii and with signed scales. Most cases are near contact: a part of 1e-6, 1e-8 or 1e-11 of the size to either
side, or as near to it as rounding comes. Every tenth case is asked as a cell of a robot, too, one body as its link and the
other as an obstacle. What is nearer than 1e-9 of the size may be left open; a false verdict may not be.
Needs grpcio.
Of some cases every certificate is judged by VerifyCertificate and by `clients/python`, and then tampered with: both have to rule
alike on each change, and what they accept may claim nothing false.
usage: curved.py CLEARANCE [--each 400] [--seed 1] [--proofs 20] [--families A,B] [--falsify]
"""
import math
from collections import Counter
from decimal import Decimal as D
from decimal import getcontext

from asking import Asking, CALLS, chosen, draw_of, main, snake
from mutate_curved import Tampering

getcontext().prec = 200
OPEN = D("1e-9")     # of the size: nearer than this a verdict may be left open
NARROW = D("5e-10")   # of a distance or depth that is no less than 1e-4 of the size
FINE = D("1e-12")    # of the size: what an open bracket may be wide
ANSWERS = 300        # in a call: their proofs take some 40 kB each, and a reply has a limit
QUARTERS = [(1, 0, 0, 0, 1, 0, 0, 0, 1), (0, -1, 0, 1, 0, 0, 0, 0, 1), (0, 0, 1, 0, 1, 0, -1, 0, 0), (1, 0, 0, 0, 0, -1, 0, 1, 0)]


class Placed:
    """A body as the server is told of it; no mesh."""

    def __init__(self, rounded, at, rows=QUARTERS[0]):
        self.source = {"rounded": rounded}
        self.at, self.rows = [float(x) for x in at], [float(x) for x in rows]

    def asked(self):
        pose = {"translation": dict(zip("xyz", self.at)), "rotationMatrix": {"rows": self.rows}}
        return {**self.source, "pose": pose}


class Case:
    """`gap`: exactly the signed distance, negative where they overlap, or None below `known`."""

    def __init__(self, p, q, gap, size, depth=True, closing=None):
        self.p, self.q, self.gap, self.size, self.depth, self.closing = p, q, gap, D(size), depth, closing


# ---- shapes
def root(x):
    return x.sqrt() if x > 0 else D(0)


def curved(draw, form, is_circular=False):
    """How it is told, its half sizes as the server has them, and its radius."""
    size = 10 ** draw.uniform(-2, 2)
    number = lambda: size * draw.uniform(0.3, 2)
    if form == "ellipsoid":
        told = [number()] * 3 if is_circular else [number() for _ in range(3)]
        shape, half = {"ellipsoid": dict(zip("xyz", told))}, told
    else:
        around, length = number(), number() * 2
        shape, half = {form: {"radiusXy": around, "length": length}}, [around, around, length / 2]
    if not is_circular and draw.random() < 0.5:
        scale = [draw.choice((-1, 1)) * draw.uniform(0.5, 2) for _ in range(3)]
        shape["scale"] = dict(zip("xyz", scale))
        half = [a * b for a, b in zip(half, scale)]
    if draw.random() < 0.3:
        shape["radius"] = size * draw.uniform(0.05, 0.5)
    half = [abs(x) for x in half[:2]] + [half[2] if form == "cone" else abs(half[2])]
    return shape, [D(x) for x in half], D(shape.get("radius", 0))


def support(form, half, normal):
    """Of the body without its radius, along a vector in its own frame."""
    a, b, c = (x * n for x, n in zip(half, normal))
    if form == "ellipsoid":
        return root(a * a + b * b + c * c)
    around = root(a * a + b * b)
    return around + abs(c) if form == "cylinder" else max(c, around - c)


def rotation(draw):
    if draw.random() < 0.2:
        return draw.choice(QUARTERS)
    q = [draw.gauss(0, 1) for _ in range(4)]
    n = math.sqrt(sum(x * x for x in q))
    w, x, y, z = (k / n for k in q)
    return (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))


def aimed(draw, size):
    """How far apart a case is made to be."""
    part = draw.choice((1e-6, -1e-6, 1e-8, -1e-8, 1e-11, -1e-11, 0.0, 0.3, -0.1, 1e-3))
    return part * float(size) * draw.uniform(1, 2)


# ---- families
def beside_a_plane(draw, form):
    shape, half, radius = curved(draw, form)
    rows = rotation(draw)
    size = max(abs(x) for x in half)
    reach = support(form, half, [-D(x) for x in rows[6:]]) + radius
    z = float(reach) + aimed(draw, size)
    at = [draw.uniform(-3, 3), draw.uniform(-3, 3), z]
    falls = [draw.uniform(-1, 1) * float(size) for _ in range(2)] + [-float(size) * draw.uniform(0.5, 3)]
    floor = Placed({"halfSpace": {}}, [0, 0, 0])
    gap = D(at[2]) - reach
    closing = (falls, gap / -D(falls[2]))
    return Case(Placed(shape, at, rows), floor, gap, size, closing=closing)


def length_of(v):
    return root(sum((D(x) * D(x) for x in v), D(0)))


def two_balls(draw):
    """Ellipsoids that are balls, at multiples of quarter turns."""
    p, half_p, radius_p = curved(draw, "ellipsoid", True)
    is_ball = draw.random() < 0.3
    q, half_q, radius_q = ({"radius": 0.7}, [D(0)] * 3, D(0.7)) if is_ball else curved(draw, "ellipsoid", True)
    reach = half_p[0] + half_q[0] + radius_p + radius_q
    size = max(half_p[0], half_q[0])
    way = [draw.gauss(0, 1) for _ in range(3)]
    long = math.sqrt(sum(x * x for x in way))
    far = float(reach) + aimed(draw, size)
    at = [x / long * far for x in way]
    gap = length_of(at) - reach
    return Case(Placed(p, [0, 0, 0], draw.choice(QUARTERS)), Placed(q, at), gap, max(size, reach / 4))


def two_tubes(draw):
    """Cylinders with parallel axes: apart across them, along them, or both."""
    p, half_p, radius_p = curved(draw, "cylinder", True)
    q, half_q, radius_q = curved(draw, "cylinder", True)
    size = max(*half_p, *half_q)
    way = draw.uniform(0, 2 * math.pi)
    across, along = half_p[0] + half_q[0], half_p[2] + half_q[2]
    radius = radius_p + radius_q
    far, high = float(across), float(along)
    form = draw.randrange(3)
    if form == 0:
        far, high = far + float(radius) + aimed(draw, size), draw.uniform(-0.9, 0.9) * high
    elif form == 1:
        far, high = far * draw.uniform(0, 0.9), high + float(radius) + aimed(draw, size)
    else:
        far, high = far + 0.3 * float(size), high + 0.4 * float(size)
    at = [math.cos(way) * far, math.sin(way) * far, high]
    x, z = length_of(at[:2]) - across, abs(D(at[2])) - along
    core = root(x * x + z * z) if x > 0 and z > 0 else max(x, z)
    return Case(Placed(p, [0, 0, 0]), Placed(q, at), core - radius, size)


def beside_a_point(draw, form):
    """A point, or a ball, beside what is round about z: in the plane through the axis and the point."""
    shape, half, radius = curved(draw, form, True)
    size = max(abs(x) for x in half)
    ball = draw.choice((0.0, float(size) * 0.2))
    a, c = half[0], half[2]
    way, t = draw.uniform(0, 2 * math.pi), draw.uniform(0, 1)
    af, cf = float(a), float(c)
    if form == "cylinder":
        rho, z, n = draw.choice(((af, draw.uniform(-0.9, 0.9) * cf, (1, 0)), (af * t, cf, (0, 1)), (af, cf, (0.6, 0.8))))
    else:
        long = math.hypot(af, 2 * cf)
        n = (2 * cf / long, af / long)
        rho, z = af * t, cf - 2 * cf * t
    far = aimed(draw, size) + ball + float(radius)
    rho, z = rho + n[0] * far, z + n[1] * far
    at = [math.cos(way) * rho, math.sin(way) * rho, z]
    rho, z = length_of(at[:2]), D(at[2])
    core = to_profile(rho, z, a, c, form)
    point = {"radius": ball} if ball else {"vertices": {"xyz": [0.0, 0.0, 0.0]}}
    depth = core > 0  # inside, the way out is not that to the profile alone
    return Case(Placed(shape, [0, 0, 0]), Placed(point, at), core - D(ball) - radius, size, depth=depth)


def to_profile(rho, z, a, c, form):
    """The signed distance of a point from a cylinder, or a cone with its apex up, by half planes and corners."""
    if form == "cylinder":
        x, y = rho - a, abs(z) - c
        return root(x * x + y * y) if x > 0 and y > 0 else max(x, y)
    long = root(a * a + 4 * c * c)
    side = ((rho - a) * 2 * c + (z + c) * a) / long
    base = -c - z
    if side <= 0 and base <= 0:
        return max(side, base)
    # To the base, the side and their ends.
    def to_segment(x0, y0, x1, y1):
        dx, dy = x1 - x0, y1 - y0
        t = min(max(((rho - x0) * dx + (z - y0) * dy) / (dx * dx + dy * dy), D(0)), D(1))
        x, y = rho - x0 - t * dx, z - y0 - t * dy
        return root(x * x + y * y)
    return min(to_segment(D(0), -c, a, -c), to_segment(a, -c, D(0), c))


def ellipsoid_and_point(draw):
    """The nearest point by the root of its equation, which is found by halving."""
    shape, half, radius = curved(draw, "ellipsoid")
    size = max(half)
    unit = [draw.gauss(0, 1) for _ in range(3)]
    long = math.sqrt(sum(x * x for x in unit))
    on = [float(a) * x / long for a, x in zip(half, unit)]
    normal = [x / float(a) ** 2 for a, x in zip(half, on)]
    long = math.sqrt(sum(x * x for x in normal))
    far = aimed(draw, size) + float(radius)
    at = [x + n / long * far for x, n in zip(on, normal)]
    p = [D(x) for x in at]
    inside = sum((x / a) ** 2 for x, a in zip(p, half)) < 1
    value = lambda t: sum((a * x / (a * a + t)) ** 2 for a, x in zip(half, p)) - 1
    least = -min(half) ** 2
    low, high = (least, D(0)) if inside else (D(0), sum(a * abs(x) for a, x in zip(half, p)) * 2 + size * size)
    for _ in range(180):
        middle = (low + high) / 2
        low, high = (middle, high) if value(middle) > 0 else (low, middle)
    near = [x * a * a / (a * a + low) for a, x in zip(half, p)]
    core = length_of([x - y for x, y in zip(p, near)]) * (-1 if inside else 1)
    point = {"vertices": {"xyz": [0.0, 0.0, 0.0]}}
    return Case(Placed(shape, [0, 0, 0]), Placed(point, at), core - radius, size, depth=core > 0)


FAMILIES = {
    "cylinder, plane": lambda draw: beside_a_plane(draw, "cylinder"),
    "cone, plane": lambda draw: beside_a_plane(draw, "cone"),
    "ellipsoid, plane": lambda draw: beside_a_plane(draw, "ellipsoid"),
    "two balls": two_balls,
    "two tubes": two_tubes,
    "cylinder, point": lambda draw: beside_a_point(draw, "cylinder"),
    "cone, point": lambda draw: beside_a_point(draw, "cone"),
    "ellipsoid, point": ellipsoid_and_point,
}


# ---- the judge
def verdict_of(gap):
    return 1 if gap > 0 else 3 if gap < 0 else 2


def judge_bracket(case, exact, told):
    lower, upper = D(told.lower), D(told.upper)
    false = [] if lower <= exact <= upper else [f"{exact:.20e} is not in [{told.lower!r}, {told.upper!r}]"]
    wide = NARROW * exact if exact > case.size * D("1e-4") else FINE * case.size + NARROW * exact
    return false + ([f"[{told.lower!r}, {told.upper!r}] is wide"] if upper - lower > wide else [])


def judge_verdict(case, verdict, stopped):
    if verdict == 0:
        is_open = abs(case.gap) <= OPEN * case.size and stopped == 3
        return [] if is_open else [f"left open with a gap of {case.gap:.3e}"]
    return [] if verdict == verdict_of(case.gap) else [f"verdict {verdict} with a gap of {case.gap:.3e}"]


def judge(case, two, kind, answer):
    gap = case.gap
    if kind == "firstContact":
        return judge_course(case, answer)
    if kind == "distanceAlong":
        return judge_range(case, answer)
    false = judge_verdict(case, answer.verdict, answer.stopped)
    if kind == "collision":
        is_open = abs(gap - D(case.margin)) <= OPEN * case.size
        if answer.HasField("within_margin"):
            false += [] if answer.within_margin == (max(gap, D(0)) <= D(case.margin)) else ["the margin is told wrongly"]
        elif not is_open and answer.verdict:
            false += ["the margin is left open"]
    elif kind == "distance":
        false += judge_bracket(case, max(gap, D(0)), answer.distance)
    elif kind == "penetration":
        false += judge_bracket(case, max(-gap, D(0)), answer.depth)
    return false


def judge_course(case, answer):
    _, time = case.closing
    is_open = abs(case.gap) <= OPEN * case.size or abs(time - 1) < OPEN
    if answer.outcome == 0 or answer.outcome == 3:
        return [] if is_open else ["left open"]
    met = 1 if time <= 1 else 2
    false = [] if answer.outcome == met else [f"outcome {answer.outcome} with contact at {time:.6e}"]
    false += judge_verdict(case, answer.initial_verdict, answer.stopped)
    if answer.outcome == 1 and not false:
        time = max(time, D(0))
        if not D(answer.t_free) <= time <= D(answer.t_contact):
            false.append(f"{time:.20e} is not in [{answer.t_free!r}, {answer.t_contact!r}]")
        if answer.t_contact - answer.t_free > 1e-8 and not is_open:
            false.append(f"[{answer.t_free!r}, {answer.t_contact!r}] is wide")
    return false


def judge_range(case, answer):
    """The plane reaches farther down than the bodies come: they meet, and part beyond it."""
    _, time = case.closing
    false = judge_verdict(case, answer.verdict, 3 if abs(case.gap) <= OPEN * case.size else answer.stopped)
    if not answer.HasField("enter") or not answer.HasField("exit"):
        return false + ["they do not meet"]
    lower, upper = D(answer.enter.lower), D(answer.enter.upper)
    if not lower <= max(time, D(0)) <= upper or not answer.enter.lower <= answer.exit.lower <= answer.exit.upper:
        false.append(f"{time:.20e} is not in [{lower}, {upper}]")
    if upper - lower > NARROW * upper + FINE and answer.stopped != 3:
        false.append(f"[{lower}, {upper}] is wide")
    return false


def falsehood(wire):
    """What is false in an answer as JSON, of what its certificate is about."""
    def false_of(case, kind, told):
        from google.protobuf import json_format
        answer = getattr(wire.type("clearance.v1.BatchQueryResponse")().answers.add(), snake(CALLS[kind]))
        json_format.ParseDict({key: value for key, value in told.items() if key != "certificate"}, answer)
        found = judge(case, None, kind, answer)
        return [why for why in found if "wide" not in why and "open" not in why]
    return false_of


SLIDER = '''<robot name="slider"><link name="rail"/><link name="cart"><collision><geometry><mesh filename="part"/></geometry>
</collision></link><joint name="x" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" velocity="1"/></joint></robot>'''


class InCell:
    """The first body as the only link of a robot, the second as an obstacle."""

    def __init__(self, wire):
        self.wire = wire

    def asked(self, two):
        source = {key: told for key, told in two["p"].items() if key != "pose"}
        made = self.wire.call("RegisterPolytopes", {"polytopes": [source]})
        assert made.code == "OK", made
        key = made.message.reports[0].polytope.id
        made = self.wire.call("RegisterRobot", {"urdf": SLIDER, "meshes": [{"name": "part", "id": key}]})
        assert made.code == "OK", made
        robot = made.message.robot.id
        cell = {"robots": [{"robotId": robot, "base": two["p"]["pose"]}], "obstacles": [two["q"]]}
        told = [self.wire.call("CheckConfigurations", {"cell": cell, "values": [0.0], "mode": mode})
                for mode in ("CHECK_MODE_FIRST_PAIR", "CHECK_MODE_CLEARANCE")]
        self.wire.call("DeleteRobot", {"id": robot})
        self.wire.call("DeletePolytope", {"id": key})
        assert all(one.code == "OK" for one in told), told
        return [one.message for one in told]

    def false(self, case, two, made_false):
        first, least = self.asked(two)
        verdicts = [one.verdicts[0] for one in (first, least)]
        if made_false:
            verdicts = [3 if verdict == 1 else 1 for verdict in verdicts]
        stopped = [3 if verdict == 0 else 0 for verdict in verdicts]
        false = [why for pair in zip(verdicts, stopped) for why in judge_verdict(case, *pair)]
        lower, upper = D(least.clearance_lowers[0]), D(least.clearance_uppers[0])
        if case.gap >= 0 or case.depth:
            false += [] if lower <= case.gap <= upper else [f"{case.gap:.20e} is not in [{lower}, {upper}]"]
            wide = FINE * case.size + NARROW * abs(case.gap)
            false += [] if upper - lower <= wide else [f"[{lower}, {upper}] is wide"]
        return false


def run(wire, tally, options):
    in_cell = InCell(wire)
    unresolved = lambda answer: answer.uncertified_reason == 6  # too near to contact to be told
    of_proofs, tamper_draw = Counter(), draw_of(options, "tampering")
    tampering = Tampering(wire, tamper_draw, options.mutations, of_proofs, falsehood(wire))
    asking = Asking(wire, tally, options, judge, tampering, unresolved)
    for family, made in chosen(FAMILIES, options).items():
        draw = draw_of(options, family)
        for count in range(options.each):
            case = made(draw)
            while options.falsify and abs(case.gap) < case.size * D("1e-4"):
                case = made(draw)  # nearer to contact not every false answer can be told from a true one
            tally.of(family)["cases"] += 1
            case.margin = max(float(case.gap) + aimed(draw, case.size), 0.0)
            two = {"p": case.p.asked(), "q": case.q.asked()}
            if draw.random() < 0.5:
                two = {"p": two["q"], "q": two["p"]}
            is_sampled = not options.falsify and draw.randrange(options.proofs) == 0
            asking.ask(family, case, None, "collision", {**two, "margin": case.margin}, is_sampled)
            asking.ask(family, case, None, "distance", two, is_sampled)
            if case.depth:
                asking.ask(family, case, None, "penetration", {**two, "withSurface": True}, is_sampled)
            if case.closing and case.gap > 0:
                motion = {"linear": {"velocity": dict(zip("xyz", case.closing[0]))}}
                name = "pMotion" if two["p"] == case.p.asked() else "qMotion"
                asking.ask(family, case, None, "firstContact", {**two, name: motion}, is_sampled)
                way = [-x if name == "qMotion" else x for x in case.closing[0]]
                asking.ask(family, case, None, "distanceAlong", {**two, "direction": dict(zip("xyz", way))}, is_sampled)
            if count % 10 == 0:
                false = in_cell.false(case, two, options.falsify)
                known = tally.of(family)
                known["answers"] += 2
                if options.falsify:
                    known["falsified"] += 1
                    known["found"] += bool(false)
                elif false:
                    tally.wrong(family, "; ".join(false), {"cell": two})
            if len(asking.questions.waiting) >= ANSWERS:
                asking.questions.flush()
        asking.questions.flush()
    if not options.falsify:
        print(f"{of_proofs['mutations']} proofs changed, {of_proofs['accepted']} accepted by both judges and not false")


if __name__ == "__main__":
    main(__doc__, run, each=400, mutations=8)
