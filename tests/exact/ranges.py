#!/usr/bin/env python3
"""Compares for how far bodies with round edges are in contact along a direction with an exact reference.

A fresh server of the binary CLEARANCE is asked in batches for which t >= 0 a ball, a capsule, a rounded box or a rounded hull,
moved by t times a direction, meets another one or a polytope. Of a pair the reference (reference.py) knows exactly whether
it comes within the radii between two times, in whole numbers: so of a bracket it knows whether the bodies are apart before it,
in contact in it, and apart after it; of ends that the construction knows, whether the bracket holds them. Bodies graze each
other, touch and leave, miss by one bit, and have radii a million times their size. Of some cases the certificate is judged by
VerifyCertificate and by `clients/python`. A seed gives the same cases everywhere.
usage: ranges.py CLEARANCE [--each 300] [--seed 1] [--families A,B] [--falsify]
"""
import math
from fractions import Fraction

from asking import VERDICTS, Asking, chosen, draw_of, main
from bodies import ROTATIONS, Body, Two, turned
from verifiers import Verifiers

FAR = Fraction(2) ** 60  # of whole numbers as small as these, nothing is in contact after that many times the direction


def number(draw, most, parts=8):
    return draw.randint(-most * parts, most * parts) / parts


def rounded(points, radius):
    if radius == 0:
        return {"vertices": {"xyz": [x for point in points for x in point]}}
    return {"rounded": {"vertices": {"xyz": [x for point in points for x in point]}, "radius": radius}}


def made(draw, points, radius, at=(0.0, 0.0, 0.0), moves=(0.0, 0.0, 0.0)):
    return Body(rounded(points, radius), points, None, radius, at, draw.choice(ROTATIONS), moves)


class Case:
    def __init__(self, p, q, ends=None):
        self.p, self.q, self.ends = p, q, ends


def hulls(draw):
    """Of one to eight points each, anywhere, with a direction that need not lead from one to the other."""
    some = lambda: [tuple(number(draw, 2) for _ in range(3)) for _ in range(draw.randint(1, 8))]
    radii = [draw.choice([0.0, 0.125, 0.5, 3.0]), draw.choice([0.125, 1.0, 2.5])]
    at = tuple(number(draw, 9) for _ in range(3))
    aim = draw.random() < 0.7
    way = tuple(x / draw.choice([1, 2, 4]) if aim else number(draw, 3) for x in at)
    way = tuple(x + (draw.choice([0.0, 0.25]) if aim else 0.0) for x in way)
    return Case(made(draw, some(), radii[0], moves=way if any(way) else (1.0, 0.0, 0.0)), made(draw, some(), radii[1], at))


def balls_on_squares(draw):
    """Balls that come in and leave at times that are numbers, by Pythagorean triples: the middle of the one is beside the way
    of the other by one leg, the radii together are the hypotenuse, and the range is the other leg long, twice."""
    beside, half, radii = draw.choice([(3, 4, 5), (5, 12, 13), (8, 15, 17), (0, 5, 5), (5, 0, 5)])
    size = 2.0 ** draw.randint(-20, 20)
    ahead = draw.randint(-20, 40) * size
    rows = draw.choice(ROTATIONS)
    place = lambda x, y: turned(rows, (x, y, 0.0))
    of_p = draw.choice([0.0, 1.0, 2.0]) * size
    start, end = ahead - half * size, ahead + half * size
    speed = 2.0 ** draw.randint(-3, 3)
    ends = None if end < 0 else (max(start, 0.0) / speed / size, end / speed / size)
    at = place(ahead, beside * size)
    p = made(draw, [(0.0, 0.0, 0.0)], of_p, moves=place(speed * size, 0.0))
    return Case(p, made(draw, [(0.0, 0.0, 0.0)], radii * size - of_p, at), ends or "none")


def misses_by_a_bit(draw):
    """The same grazes, nearer or farther by the last bit of a coordinate."""
    case = balls_on_squares(draw)
    at = list(case.q.at)
    k = max(range(3), key=lambda k: (abs(at[k]) if case.p.moves[k] == 0 else -1, k))
    at[k] = math.nextafter(at[k], draw.choice([-math.inf, math.inf]))
    return Case(case.p, Body(case.q.source, case.q.points, None, case.q.radius, at))


def capsules_along_faces(draw):
    """Capsules that slide along a face of a box, touching it, above it by a bit, or in it."""
    radius, length = draw.choice([0.25, 0.5, 2.0]), draw.randint(0, 3) / 2
    box = [(x, y, z) for x in (0.0, 2.0) for y in (-1.0, 1.0) for z in (0.0, 3.0)]
    height = draw.choice([radius, math.nextafter(radius, 9), math.nextafter(radius, 0), 0.0])
    start = float(draw.randint(-6, 1))
    p = Body(rounded([(0.0, 0.0, 0.0), (0.0, 0.0, length)], radius), [(0.0, 0.0, 0.0), (0.0, 0.0, length)], None, radius,
             (start, 1.0 + height, draw.choice([0.0, -1.0])), moves=(draw.choice([0.5, 1.0, 3.0]), 0.0, 0.0))
    return Case(p, Body(rounded(box, 0.0), box, None, 0.0))


def huge_radii(draw):
    """Radii a million times the bodies, one inside the other, or just apart."""
    radius = draw.choice([1e6, 2.0 ** 21])
    points = [tuple(number(draw, 1) for _ in range(3)) for _ in range(draw.randint(1, 4))]
    at = (radius + number(draw, 2), number(draw, 2), 0.0) if draw.random() < 0.6 else (number(draw, 2), 0.0, 0.0)
    way = (float(draw.choice([-1, 1, 4096])), number(draw, 1), 0.0)
    return Case(made(draw, points, draw.choice([0.0, 0.5]), moves=way), made(draw, [(0.0, 0.0, 0.0)], radius, at))


FAMILIES = {"hulls": hulls, "balls on squares": balls_on_squares, "misses by a bit": misses_by_a_bit,
            "capsules along faces": capsules_along_faces, "huge radii": huge_radii}


def judge(case, two, kind, answer):
    wrong = []
    if VERDICTS[answer.verdict] != two.stands:
        wrong.append(f"{VERDICTS[answer.verdict]}, but it is {two.stands}")
    ends = [answer.enter, answer.exit]
    told = f"[{answer.enter.lower!r}, {answer.enter.upper!r}] to [{answer.exit.lower!r}, {answer.exit.upper!r}]"
    meets = two.comes_within(0, FAR)
    if answer.HasField("enter") != meets or answer.HasField("exit") != meets:
        return wrong + [f"{told}, but they {'meet' if meets else 'do not meet'}"]
    if case.ends == "none" and meets:
        wrong.append(f"{told}, but by construction they do not meet")
    if not meets:
        return wrong
    for name, end in zip(("enter", "exit"), ends):
        if not 0 <= end.lower <= end.upper or math.nextafter(end.lower, math.inf) < end.upper:
            return wrong + [f"{name} of {told} is no bracket, or one of more than two neighbours"]
    enter, leave = ends
    if two.stands != "SEPARATED":
        if enter.upper != 0:
            wrong.append(f"{told}, but they are in contact at once")
    elif two.comes_within(0, enter.lower):
        wrong.append(f"{told}, but they meet before it")
    elif not two.comes_within(0, enter.upper):
        wrong.append(f"{told}, but they meet after its beginning")
    if not two.comes_within(leave.lower, FAR):
        wrong.append(f"{told}, but they have left before its end")
    after = Fraction(leave.upper) + Fraction(leave.upper or 1) / 2 ** 80
    if two.comes_within(after, FAR):
        wrong.append(f"{told}, but they leave after its end")
    if case.ends not in (None, "none"):
        for name, end, exact in zip(("enter", "exit"), ends, case.ends):
            if not end.lower <= exact <= end.upper:
                wrong.append(f"{name} of {told}, but by construction it is {exact!r}")
    return wrong


def run(wire, tally, options):
    asking = Asking(wire, tally, options, judge, Verifiers(wire), lambda answer: False)
    for family, made_by in chosen(FAMILIES, options).items():
        draw = draw_of(options, family)
        for _ in range(options.each):
            case = made_by(draw)
            two = Two(case.p, case.q)
            two.stands = two.verdict()
            tally.of(family)["cases"] += 1
            direction = dict(zip("xyz", case.p.moves))
            is_sampled = not options.falsify and draw.randrange(options.proofs) == 0
            asking.ask(family, case, two, "distanceAlong", {"p": case.p.asked(), "q": case.q.asked(), "direction": direction}, is_sampled)
        asking.questions.flush()


if __name__ == "__main__":
    main(__doc__, run, each=300)
