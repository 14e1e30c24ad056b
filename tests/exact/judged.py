"""What an answer about two bodies says that is false, by what the reference knows of them."""
from decimal import Decimal, localcontext
from fractions import Fraction

from asking import OUTCOMES, VERDICTS
from reference import DIGITS, InUnits, Root, nearest

PROMISED = 10 ** 12  # a bracket is this much narrower than what it is about
PROMISED_RANGE = Fraction(1, 2 ** 1000), Fraction(2 ** 1000)
TIME_TOLERANCE = 1e-9
# Of a normal, which is of points that are as near as is promised of distances: the root of that.
NORMAL_ERROR = Decimal("1e-6")


def bracketed(name, bracket, value):
    """What is false of a bracket of a positive number, or wider than is promised."""
    lower, upper = bracket.lower, bracket.upper
    if value.compared(lower) < 0 or value.compared(upper) > 0:
        return [f"{name} {value.decimal()} is not in [{lower!r}, {upper!r}], {lower.hex()} to {upper.hex()}"]
    width = (Fraction(upper) - Fraction(lower)) * PROMISED
    is_wide = value.compared(width) < 0 and value.compared(PROMISED_RANGE[0]) >= 0 and value.compared(PROMISED_RANGE[1]) <= 0
    return [f"{name} [{lower!r}, {upper!r}] is wider than is promised of {value.decimal()}"] if is_wide else []


def is_nothing(name, bracket):
    return [] if bracket.lower == bracket.upper == 0 else [f"{name} [{bracket.lower!r}, {bracket.upper!r}] is not 0"]


def distance_of(two):
    return InUnits(Root(two.square, -two.radii), two.unit)


def depth_of(two):
    square = two.core_depth() if two.square == 0 else two.square
    return InUnits(Root(square, two.radii, 1 if two.square == 0 else -1), two.unit)


def judge(case, two, kind, answer):
    verdict = two.stands
    wrong = []
    said = VERDICTS[answer.initial_verdict if kind == "firstContact" else answer.verdict]
    if said != verdict:
        wrong.append(f"{said}, but it is {verdict}")
    if kind in ("collision", "distance"):
        near = two.square <= two.reach ** 2
        if not answer.HasField("within_margin") or answer.within_margin != near:
            wrong.append(f"within the margin: {answer.within_margin}, but it is {near}")
    if kind == "distance":
        if verdict == "SEPARATED":
            wrong += bracketed("distance", answer.distance, distance_of(two)) + pointed(two, answer)
        else:
            wrong += is_nothing("distance", answer.distance)
    if kind == "penetration":
        overlap = verdict == "OVERLAPPING"
        wrong += bracketed("depth", answer.depth, depth_of(two)) if overlap else is_nothing("depth", answer.depth)
    if kind == "firstContact":
        wrong += timed(case, two, answer)
    if getattr(answer, "stopped", 0):
        wrong.append(f"stopped for reason {answer.stopped}")
    return wrong


def pointed(two, answer):
    """What is false of the closest points and the normal, which are rounded: within 1e-9 of the size of the bodies, and a
    few ulps of their coordinates. Of bodies of several pieces several points may be as near, so only how far apart is known."""
    told = [[Decimal(getattr(point, axis)) for axis in "xyz"] for point in (answer.closest_p, answer.closest_q)]
    between = [y - x for x, y in zip(*told)]
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = DIGITS, 10 ** 6, -10 ** 6
        unit, radii = Decimal(two.unit), Decimal(two.radii)
        placed = [[Decimal(x) / unit for x in axis] for side in two.sides for axis in zip(*side.points)]
        extent = max(max(axis) - min(axis) for axis in placed) + 2 * radii / unit
        world = max(abs(x) for axis in placed for x in axis) + radii / unit
        slack = extent * Decimal("1e-9") + world * Decimal(2) ** -50
        if len(two.sides[0].pieces) > 1 or len(two.sides[1].pieces) > 1:
            length = sum(x * x for x in between).sqrt()
            is_off = abs(length - distance_of(two).decimal()) > 2 * slack
            return [f"the closest points are {length} apart"] if is_off else []
        v, n = nearest(two.differences(0, 0))
        length = sum(Decimal(x) ** 2 for x in v).sqrt()
        share = (1 - radii * n / length) / unit / n
        wrong = [f"closest points {axis}" for axis, x, y in zip("xyz", v, between) if abs(x * share - y) > slack]
        normal = [Decimal(getattr(answer.normal, axis)) for axis in "xyz"]
        wrong += [f"normal {axis}" for axis, x, y in zip("xyz", v, normal) if abs(x / length + y) > NORMAL_ERROR]
        return wrong


def timed(case, two, answer):
    """What is false of a first contact of bodies that translate."""
    outcome = OUTCOMES[answer.outcome]
    bracket = f"{outcome} in [{answer.t_free!r}, {answer.t_contact!r}]"
    if two.square <= two.reach ** 2:
        at_once = outcome == "CONTACT" and answer.t_free == answer.t_contact == 0 and answer.HasField("t_contact")
        return [] if at_once else [f"{bracket}, but they are in contact at once"]
    meet = two.comes_within(0, 1)
    if meet != (outcome == "CONTACT"):
        return [f"{bracket}, but they {'meet' if meet else 'do not meet'}"]
    if getattr(case, "time", None) not in (None, case.time if meet else "none"):
        return [f"{bracket}, but by construction it is at {case.time}"]
    if not meet:
        return [] if answer.t_free == 1 and not answer.HasField("t_contact") else [f"{bracket}, but it is free until the end"]
    wrong, times = [], (answer.t_free, answer.t_contact)
    if not 0 <= times[0] < times[1] <= 1 or times[1] - times[0] > TIME_TOLERANCE:
        return [f"{bracket} is no bracket, or a wide one"]
    if two.comes_within(0, times[0]):
        wrong.append(f"{bracket}, but they meet before it")
    if not two.comes_within(*times):
        wrong.append(f"{bracket}, but they do not meet in it")
    if getattr(case, "time", None) is not None and not times[0] < case.time <= times[1]:
        wrong.append(f"{bracket}, but by construction it is at {case.time}")
    return wrong
