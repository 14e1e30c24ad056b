"""Balls that go round a pivot and meet others, by a closed form: the squared distance is a sinusoid of the angle.

With rho the arm from the pivot and m what leads from the other ball to the pivot, both across the axis, it is A + 2 (m·rho
turned by the angle), where A = rho² + m² + what is between them along the axis, squared; so at least A - 2 |rho| |m|. The
sines and cosines have 70 digits.
"""
import math
from decimal import Decimal, localcontext
from fractions import Fraction

from asking import OUTCOMES, VERDICTS
from bodies import ROTATIONS, turned
from judged import TIME_TOLERANCE
from rounded_cases import SPLITS, Case, dyadic, rounded, ulp_off, vector

DIGITS = 70
UNKNOWN = Decimal(10) ** -55  # nearer to 0 than this a sinusoid's sign is not told
TURNS = (0.25, 0.5, 1.0, 2.0, 3.0, 7.0, 20.0)


def decimal(x):
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)


def cosine_and_sine(angle):
    """By their series, of an eighth of it and smaller, doubled again."""
    halvings = 12
    x = angle / 2 ** halvings
    cosine, sine, term = Decimal(1), Decimal(0), Decimal(1)
    for k in range(1, 40):
        term = term * x / k
        if k % 2:
            sine += term if k % 4 == 1 else -term
        else:
            cosine += -term if k % 4 == 2 else term
    for _ in range(halvings):
        cosine, sine = cosine * cosine - sine * sine, 2 * sine * cosine
    return cosine, sine


class Circle:
    """The squared distance less that of contact at a time, as told above; the axis is z."""

    def __init__(self, other, pivot, start, angle, reach):
        exact = lambda v: [Fraction(x) for x in v]
        other, pivot, start = exact(other), exact(pivot), exact(start)
        arm, m = ([x - y for x, y in zip(*pair)] for pair in ((start, pivot), (pivot, other)))
        self.angle = Fraction(angle)
        along = (start[2] - other[2]) ** 2
        squares = [v[0] ** 2 + v[1] ** 2 for v in (arm, m)]
        self.middle = sum(squares) + along - reach ** 2
        self.square = 4 * squares[0] * squares[1]  # of half of what it swings
        self.even = 2 * (m[0] * arm[0] + m[1] * arm[1])
        self.odd = 2 * (m[1] * arm[0] - m[0] * arm[1])

    def at(self, t):
        """The value, and how it changes with the time."""
        cosine, sine = cosine_and_sine(decimal(self.angle * Fraction(t)))
        even, odd = decimal(self.even), decimal(self.odd)
        return decimal(self.middle) + even * cosine + odd * sine, decimal(self.angle) * (odd * cosine - even * sine)

    def least_is_contact(self):
        """Whether it is 0 or less somewhere, exactly."""
        return self.middle <= 0 or self.middle ** 2 <= self.square

    def meets(self, start, end):
        """Whether it is 0 or less at a time between two; None: it is too near to 0 to tell."""
        pieces = max(1, math.ceil(abs(self.angle) * (end - start) / 2))
        times = [start + (end - start) * Fraction(k, pieces) for k in range(pieces + 1)]
        values = [self.at(t) for t in times]
        if any(value < -UNKNOWN for value, _ in values):
            return True
        if any(before[1] < 0 < after[1] for before, after in zip(values, values[1:])) and self.least_is_contact():
            return True
        return None if any(value < UNKNOWN for value, _ in values) else False


def round_a_pivot(draw):
    """Some graze: the arm and the pivot are in one line with the other ball, at a distance that is the sum of the radii."""
    rows = draw.choice(ROTATIONS)
    other = [0.0, 0.0, 0.0] if draw.random() < 0.5 else [dyadic(draw, 4) for _ in range(3)]
    s, length = vector(draw)
    across, arm = [s[0], s[1], 0.0], [dyadic(draw, 4) for _ in range(2)] + [dyadic(draw, 1) if draw.random() < 0.5 else 0.0]
    reach = length / draw.choice((1, 2, 4))
    if draw.random() < 0.4:
        across, arm = [float(draw.randrange(3, 9)), 0.0, 0.0], [dyadic(draw, 4), dyadic(draw, 4), 0.0]
        *_, radius = plane = draw.choice(((3.0, 4.0, 5.0), (0.75, 1.0, 1.25), (-5.0, 12.0, 13.0), (-1.5, 2.0, 2.5)))
        arm = [*plane[:2], 0.0]
        reach = abs(across[0] - radius)
    share = draw.choice(SPLITS) / 16
    radii = [reach * share, reach - reach * share]
    if draw.random() < 0.4:
        k = draw.randrange(2)
        more = draw.choice((-1, 1)) * 2.0 ** -draw.randrange(10, 40)
        radii[k] = max(0.0, draw.choice((ulp_off(draw, radii[k]), radii[k] + more)))
    pivot = [x + y for x, y in zip(other, across)]
    start = [x + y for x, y in zip(pivot, arm)]
    angle = draw.choice((-1, 1)) * draw.choice((*TURNS, draw.uniform(0.1, 9)))
    p, q = (rounded({}, [(0.0, 0.0, 0.0)], radius, at=turned(rows, at)) for radius, at in zip(radii, (other, start)))
    case = Case(p, q)
    axis = turned(rows, (0.0, 0.0, 1.0))
    case.screw = {"pivot": dict(zip("xyz", turned(rows, pivot))), "axis": dict(zip("xyz", axis)), "angle": angle}
    case.ways = [("linear", (0.0, 0.0, 0.0)), ("screw", (0.0, 0.0, 0.0), axis, angle, list(turned(rows, pivot)))]
    case.circle = Circle(other, pivot, start, angle, sum(map(Fraction, radii)))
    extent = max([abs(x) for x in (*other, *pivot, *start)] + [2 * r for r in radii]) + max(map(abs, arm)) + max(radii)
    case.tolerance = Fraction(extent) * 2 / 10 ** 13
    return case


def judge_circling(case, two, kind, answer):
    with localcontext() as context:
        context.prec = DIGITS
        return judged(case, answer)


def judged(case, answer):
    circle, outcome = case.circle, OUTCOMES[answer.outcome]
    told = f"{outcome} in [{answer.t_free!r}, {answer.t_contact!r}]"
    at_start = circle.middle + circle.even
    verdict = "SEPARATED" if at_start > 0 else "TOUCHING" if at_start == 0 else "OVERLAPPING"
    if VERDICTS[answer.initial_verdict] != verdict:
        return [f"{VERDICTS[answer.initial_verdict]} at first, but it is {verdict}"]
    if verdict != "SEPARATED":
        at_once = outcome == "CONTACT" and answer.t_free == answer.t_contact == 0
        return [] if at_once else [f"{told}, but they are in contact at once"]
    meets = circle.meets(Fraction(0), Fraction(1))
    if outcome == "UNDECIDED":
        return [] if is_graze(case) else [f"{told}, but it is no graze"]
    if meets is None:
        return []
    if meets != (outcome == "CONTACT"):
        return [f"{told}, but they {'meet' if meets else 'do not meet'}"]
    if not meets:
        return []
    free, contact = Fraction(answer.t_free), Fraction(answer.t_contact)
    wrong = []
    if not 0 <= free < contact <= 1:
        return [f"{told} is no bracket"]
    if circle.meets(Fraction(0), free):
        wrong.append(f"{told}, but they meet before it")
    value, rate = circle.at(contact)
    if value > UNKNOWN:
        wrong.append(f"{told}, but they are not in contact at its end")
    before, change = circle.at(free)
    # The rate is that of the square: twice the distance times the speed. It shrinks towards a graze.
    reach = decimal(sum(Fraction(body.radius) for body in (case.p, case.q)))
    speed = -max(change, rate) / (2 * reach) if reach else Decimal(0)
    allowed = Decimal(TIME_TOLERANCE) + decimal(case.tolerance) / speed if speed > 0 else Decimal(1)
    if decimal(contact - free) > allowed and not answer.stopped:
        wrong.append(f"{told} is wider than {allowed:.3}, at a speed of {speed:.3}")
    return wrong


def is_graze(case):
    """Whether the least distance is the sum of the radii, up to the clearance tolerance."""
    reach = sum(Fraction(body.radius) for body in (case.p, case.q))
    circle = case.circle
    def contact(of):
        middle = circle.middle + reach ** 2 - of ** 2
        return middle <= 0 or middle ** 2 <= circle.square
    return contact(reach + case.tolerance) and not (reach > case.tolerance and contact(reach - case.tolerance))
