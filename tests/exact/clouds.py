#!/usr/bin/env python3
"""Compares what a server says of links among clouds of points with an exact reference that looks at every ball.

A fresh server of the binary CLEARANCE gets robots of one link that three sliding joints carry, so that its poses are exact,
and cells with one cloud: points that the link touches by construction, or but for an ulp of the radius, or anywhere. Its
verdicts, clearances and the points that it names are judged by rationals, once with the cloud as it came and again after
each change of it in a stream. A seed gives the same cases everywhere. Needs grpcio, and is faster with gmpy2.
usage: clouds.py CLEARANCE [--each 60] [--seed 1] [--falsify]
"""
import math
from fractions import Fraction

from asking import VERDICTS, chosen, draw_of, main, register
from bodies import IDENTITY, ROTATIONS, Body, Two, turned_back
from reference import InUnits, Root, fineness, squared, squared_depth, sub, whole
from rounded_cases import added, dot, dyadic, shape, ulp_off, vector
from solid_cases import HOLLOWS, SHAPES

JOINT = '<joint name="{k}" type="prismatic"><parent link="{a}"/><child link="{b}"/><axis xyz="{axis}"/>' \
        '<limit lower="-64" upper="64" velocity="1"/></joint>'
AXES = zip("xyz", ("0", "1", "2", "3"), ("1", "2", "3"), ("1 0 0", "0 1 0", "0 0 1"))
# A link that goes where three numbers say.
URDF = '<robot name="slider"><link name="0"/><link name="1"/><link name="2"/><link name="3"><collision><geometry>' \
       '<mesh filename="part"/></geometry></collision></link>' + \
       "".join(JOINT.format(k=k, a=a, b=b, axis=axis) for k, a, b, axis in AXES) + "</robot>"


class Case:
    """A link, a cloud, where both are, and how the cloud changes: lists of (first, removed, points that come).

    `triangles`: of a link that is a mesh; `is_region`: whether they bound one, or are a surface."""

    def __init__(self, link, points, radius, at, rows, changes, values, triangles=None, is_region=True):
        self.link, self.points, self.radius, self.at, self.rows = link, points, radius, at, rows
        self.changes, self.values, self.triangles, self.is_region = changes, values, triangles, is_region

    def spec(self):
        points = {"xyz": [x for p in self.link for x in p]}
        if self.triangles is None:
            return {"vertices": points}
        treatment = "MESH_TREATMENT_POLYHEDRON" if self.is_region else "MESH_TREATMENT_SURFACE"
        return {"mesh": {"vertices": points, "triangles": [v for t in self.triangles for v in t]}, "treatment": treatment}

    def cloud(self):
        pose = {"translation": dict(zip("xyz", self.at))}
        if self.rows != IDENTITY:
            pose["rotationMatrix"] = {"rows": list(self.rows)}
        return {"cloud": {"xyz": [x for p in self.points for x in p], "radius": self.radius}, "pose": pose}


class Stand:
    """How a link stands to every ball of a cloud: squares of distances, or of depths where the point is in the link."""

    def __init__(self, case, points, values):
        link = Body({}, case.link, at=values)
        cloud = Body({}, points, radius=case.radius, at=case.at, rows=case.rows)
        self.unit = max(link.unit(), cloud.unit())
        corners = link.placed(self.unit)
        self.radius = whole(case.radius, self.unit)
        self.seen = [self.look(corners, point) for point in cloud.placed(self.unit)]

    def look(self, corners, point):
        square = squared([sub(point, x) for x in corners])
        if square > 0:
            found, value = square - self.radius ** 2, Root(square, -self.radius)
        else:
            depth = squared_depth(corners, [point])
            found, value = -depth - self.radius ** 2, Root(depth, -self.radius, -1)
        return (found > 0) - (found < 0), InUnits(value, self.unit)

    def is_known(self):
        return True

    def verdict(self):
        return {1: "SEPARATED", 0: "TOUCHING", -1: "OVERLAPPING"}[min(sign for sign, _ in self.seen)]

    def clearance(self):
        return min((value for _, value in self.seen), key=lambda value: value.decimal())


class MeshStand:
    """The same of a link that is a mesh: how deep a ball is in it is not measured."""

    def __init__(self, case, points, values):
        link = Body({}, case.link, triangles=case.triangles, at=values)
        link.is_region = case.is_region
        # Equal points are one ball.
        known = {}
        for point in points:
            if tuple(point) not in known:
                two = Two(link, Body({}, [point], radius=case.radius, at=case.at, rows=case.rows))
                square = two.square if two.square > 0 else Fraction(0)
                known[tuple(point)] = two.verdict(), InUnits(Root(square, -two.radii), two.unit)
        self.seen = [known[tuple(point)] for point in points]

    def verdict(self):
        verdicts = {verdict for verdict, _ in self.seen}
        return next(name for name in ("OVERLAPPING", "TOUCHING", "SEPARATED") if name in verdicts)

    def is_known(self):
        return self.verdict() == "SEPARATED"

    clearance = Stand.clearance


def judge(stand, verdict, bracket, point):
    """What is false of a verdict, a clearance and the ball that is said to be the nearest."""
    lower, upper = bracket
    false = [] if VERDICTS[verdict] == stand.verdict() else [f"{VERDICTS[verdict]} and not {stand.verdict()}"]
    if not stand.is_known():
        is_nearest = point < len(stand.seen) and stand.seen[point][0] == stand.verdict()
        false += [] if is_nearest else [f"point {point} is not the worst"]
        # It overlaps no deeper than its hull, and no less than not at all.
        return false + ([] if lower <= 0 <= upper <= 0 else [f"[{lower!r}, {upper!r}] holds no depth"])
    least = stand.clearance()
    if least.compared(lower) < 0 or least.compared(upper) > 0:
        false.append(f"the clearance {least.decimal()} is not in [{lower!r}, {upper!r}]")
    if point >= len(stand.seen) or stand.seen[point][1].compared(upper) > 0:
        false.append(f"point {point} is not the nearest")
    return false


def falsified(draw, stand, verdict, lower, upper, point):
    """One of them made false, if it can be."""
    if stand.is_known():
        farther = [k for k, (_, value) in enumerate(stand.seen) if value.compared(upper) > 0]
    else:
        farther = [k for k, (told, _) in enumerate(stand.seen) if told != stand.verdict()]
    way = draw.randrange(4 if farther else 3)
    if way == 0:
        return draw.choice([k for k in (1, 2, 3) if k != verdict]), lower, upper, point
    if way == 1:
        return verdict, math.nextafter(upper, math.inf), math.nextafter(upper, math.inf), point
    if way == 2 and not stand.is_known():
        return verdict, lower, math.nextafter(upper, math.inf), point
    if way == 2:
        return verdict, math.nextafter(lower, -math.inf), math.nextafter(lower, -math.inf), point
    return verdict, lower, upper, draw.choice(farther)


# ---- cases
def seen_from(at, rows, point):
    """A point of the world in the frame of a cloud: exact of numbers of few digits."""
    return list(turned_back(rows, sub(point, at)))


def hull(draw):
    """The points of a link that has a volume."""
    while True:
        _, link = shape(draw, "box hull")
        if squared_depth_of(link) > 0:
            return link


def placed(draw, touches, is_off=False, link=None, **told):
    link = link or hull(draw)
    s, length = vector(draw)
    t = dyadic(draw, 1, 4) if draw.random() < 0.8 else 0.0
    radius = abs(t) * length
    at, rows = [dyadic(draw, 4) for _ in range(3)], draw.choice(ROTATIONS)

    def beside():
        # Beyond the corner that is the farthest along a vector of the same length, turned and mirrored.
        turn = draw.sample(s, 3)
        way = [x * draw.choice((-1, 1)) for x in turn]
        corner = max(link, key=lambda x: dot(x, way))
        return added(list(corner), way, abs(t) + (0 if draw.random() < 0.5 else draw.randrange(9) / 8))

    anywhere = lambda: [dyadic(draw, 6) for _ in range(3)]
    points = lambda count: [seen_from(at, rows, beside() if draw.random() < touches else anywhere()) for _ in range(count)]
    cloud = points(draw.choice((1, 2, 5, 40)))
    changes, count = [], len(cloud)
    for _ in range(draw.randrange(3)):
        first = draw.randrange(count + 1)
        removed, come = draw.randrange(count - first + 1), points(1 + draw.randrange(6))
        changes.append((first, removed, come))
        count += len(come) - removed
    values = [[0.0] * 3] + [[dyadic(draw, 3) for _ in range(3)] for _ in range(2)]
    radius = abs(ulp_off(draw, radius)) if is_off and radius else radius
    return Case(link, cloud, radius, at, rows, changes, values, **told)


def squared_depth_of(link):
    """0 of a body without volume."""
    middle = tuple(sum(Fraction(x[k]) for x in link) / len(link) for k in range(3))
    unit = fineness([x for point in link for x in point]) * len(link)
    corners = [tuple(whole(x, unit) for x in point) for point in link]
    inside = tuple(int(x * unit) for x in middle)
    return squared_depth(corners, [inside]) if len(link) > 3 else 0


def touching(draw):
    return placed(draw, 0.9)


def an_ulp_off(draw):
    return placed(draw, 0.9, True)


def anywhere(draw):
    return placed(draw, 0.2)


def meshes(draw):
    """Regions, some of them with hollows, and with a triangle left out surfaces."""
    link, triangles = draw.choice(SHAPES + HOLLOWS)
    is_region = draw.random() < 0.6
    if not is_region:
        triangles = triangles[1:]
    case = placed(draw, 0.6, draw.random() < 0.3, link, triangles=triangles, is_region=is_region)
    case.points, case.changes, case.radius = case.points[:8], case.changes[:0], case.radius or 0.25
    return case


FAMILIES = {"touching": touching, "an ulp off": an_ulp_off, "anywhere": anywhere, "meshes": meshes}


# ---- the run
def messages(case, robot, mode):
    """The question about the cloud as it came, then one for each change; and the points of each."""
    values = [x for one in case.values for x in one]
    cell = {"robots": [{"robotId": robot}], "obstacles": [case.cloud()]}
    asked, points = [{"check": {"cell": cell, "values": values, "mode": mode}}], [case.points]
    for first, removed, come in case.changes:
        change = {"first": first, "removed": removed, "xyz": [x for p in come for x in p]}
        asked.append({"check": {"values": values, "mode": mode}, "cloudChanges": [change]})
        points.append(points[-1][:first] + come + points[-1][first + removed:])
    return asked, points


def ask(wire, tally, options, draw, family, case):
    count = tally.of(family)
    body, = register(wire, [case.spec()])
    reply = wire.call("RegisterRobot", {"urdf": URDF, "meshes": [{"name": "part", "id": body}]})
    assert reply.code == "OK", reply
    robot = reply.message.robot.id
    asked, points = messages(case, robot, "CHECK_MODE_FIRST_PAIR")
    verdicts = wire.call("StreamConfigurations", asked)
    clearances = wire.call("StreamConfigurations", messages(case, robot, "CHECK_MODE_CLEARANCE")[0])
    wire.call("DeleteRobot", {"id": robot})
    count["cases"] += 1
    if verdicts.code != "OK" or clearances.code != "OK":
        return tally.wrong(family, f"refused: {verdicts} {clearances}", asked)
    for now, first, second in zip(points, verdicts.message, clearances.message):
        first, second = first.answer, second.answer
        for k, values in enumerate(case.values):
            stand = (MeshStand if case.triangles else Stand)(case, now, values)
            told = first.verdicts[k], second.clearance_lowers[k], second.clearance_uppers[k], second.clearance_points[k]
            count["answers"] += 1
            count[stand.verdict()] += 1
            if options.falsify:
                told = falsified(draw, stand, *told)
                count["falsified"] += 1
            found = judge(stand, told[0], told[1:3], told[3])
            count["found"] += bool(found) and options.falsify
            if found and not options.falsify:
                tally.wrong(family, "; ".join(found), asked, [case.link, now, values])


def run(wire, tally, options):
    for family, made in chosen(FAMILIES, options).items():
        draw = draw_of(options, family)
        for _ in range(options.each):
            ask(wire, tally, options, draw, family, made(draw))


if __name__ == "__main__":
    main(__doc__, run, each=60)
