#!/usr/bin/env python3
"""Checks the certificates of clearance without trusting the server, its code or floating point.

Every function raises `Refused` with the reason (`TakesTooLong` after `clearance_poses.PATIENCE`), or
returns if the claim is proven. Bodies are lists of points, poses come from `quaternion_pose` or `matrix_pose`, certificates are the dictionaries of
the answer format, and vertex pairs [i, j] index the given lists. Static claims and translations are
decided in integers on one common power of two, turning bodies in fixed point with proven errors.
usage: clearance_verify.py CASES.jsonl[.gz] ANSWERS.jsonl [--every N] [--families A,B]
"""
import math
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations

from clearance_poses import (Refused, TakesTooLong, axis_and_angle, differences_at_end, finite,  # noqa: F401
                             look_at_clock, meets_in_a_plane, patient, quaternion_pose, require,
                             travel_if_alike, travel_if_untouched, turn_of)

F, ONE = 128, 1 << 128  # fractional bits of directions, rotations and times
G = 2 * F               # of sines and cosines while they are computed
FAR = 1 << 2200         # times a direction, in units of a pair: no difference of two bodies is beyond that

# ---- numbers and vectors
def bound(x):
    exact = x if isinstance(x, Fraction) else Fraction(*finite([x], 1))
    return exact if exact >= 0 else require(0, "negative bound")
def signed(x):
    return Fraction(*finite([x], 1))
def is_depth(margin):  # one below 0; what is no number is none
    return isinstance(margin, (int, float)) and margin < 0
def denominator(values):  # the least power of two that makes all these f64 numbers whole
    return max((x.as_integer_ratio()[1] for x in values), default=1)
def whole(values, scale):
    return tuple(n * (scale // d) for n, d in (x.as_integer_ratio() for x in values))
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
def dot(a, b): return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
def add(a, b): return a[0] + b[0], a[1] + b[1], a[2] + b[2]
def sub(a, b): return a[0] - b[0], a[1] - b[1], a[2] - b[2]
def negative(a): return -a[0], -a[1], -a[2]
def times(m, v): return tuple(dot(row, v) for row in m)
def columns(m): return tuple(zip(*m))
def shift(v, bits): return tuple(x >> bits for x in v)
def raised(v): return tuple(x << F for x in v)
def fixed(x): return (x.as_integer_ratio()[0] << F) // x.as_integer_ratio()[1]
def size(v): return math.isqrt(dot(v, v)) + 1  # above the length
def size1(v): return abs(v[0]) + abs(v[1]) + abs(v[2])
def up(a, b): return (a * b >> F) + 1          # above the product, of numbers >= 0

def determinant(m):  # of three rows at most
    if len(m) == 3:
        return dot(m[0], cross(m[1], m[2]))
    return m[0][0] * m[1][1] - m[0][1] * m[1][0] if len(m) == 2 else m[0][0] if m else 1

def nearest(points):
    """(v, n): v/n is the point nearest the origin in the hull of whole points; exact. It is a foot
    of the perpendicular on the span of at most four affinely independent points, inside them: Gram's
    equations for every such choice, by Cramer's rule."""
    best = None
    for count in range(1, min(4, len(points)) + 1):
        for first, *rest in combinations(points, count):
            edges = [sub(d, first) for d in rest]
            gram = [[dot(a, b) for b in edges] for a in edges]
            n, right = determinant(gram), [-dot(a, first) for a in edges]
            weights = [determinant([row[:k] + [r] + row[k + 1:] for row, r in zip(gram, right)])
                       for k in range(count - 1)]
            if n == 0 or min(weights, default=0) < 0 or sum(weights) > n:
                continue
            v = tuple(n * x + sum(w * e[k] for w, e in zip(weights, edges))
                      for k, x in enumerate(first))
            if best is None or dot(v, v) * best[1] ** 2 < dot(best[0], best[0]) * n * n:
                best = v, n
                if not any(v):
                    return best  # there is nothing nearer
    return best

def scale_of(times):
    return max(Fraction(t).denominator for t in times)

def swept(points, travel, times):
    """Where points are at two times, in whole numbers of 1/scale_of(times): their hull is all that the hull of the
    points sweeps in between, since mixing both ends' mixes the times as well."""
    scale = scale_of(times)
    return [tuple(int(scale * (x + w * t)) for x, w in zip(d, travel)) for t in dict.fromkeys(times) for d in points]

def strictly_inside(points, error=0):
    """Whether the hull of points, each coordinate off by at most `error`, surely has the origin in
    its interior: every plane through the origin and two of them has some surely on both sides.
    (Else a closed half space holds all, and can be turned until two points are on its border.)"""
    most = max(abs(x) for d in points for x in d) + 1
    doubt = 6 * ((most + error) ** 3 - most ** 3)  # a determinant is six products of three
    normals = [n for n in (cross(a, b) for a, b in combinations(points, 2))
               if error or n != (0, 0, 0)]
    heights = ([dot(n, c) for c in points] for n in normals)  # of the two themselves: about 0
    return bool(normals) and all(max(h) > doubt and min(h) < -doubt for h in heights)

def dimension(points):
    edges = [sub(p, points[0]) for p in points]
    along = next((e for e in edges if any(e)), None)
    normal = along and next((n for n in (cross(along, e) for e in edges) if any(n)), None)
    return 0 if not along else 1 if not normal else 3 if any(dot(normal, e) for e in edges) else 2

def passes_through(before, after, error, reach):
    """Whether the origin surely passes through the polygon of three or four moving points between two times,
    in order around and in one plane: it is on both sides of it, and in between, each coordinate within
    `reach` of where it ends, each point as seen from the origin's foot on the plane is to the left of the
    one before. In intervals, since a bracket may be wide."""
    def less(a, b):
        return a[0] - b[1], a[1] - b[0]
    def by(a, b):
        products = [x * y for x in a for y in b]
        return min(products), max(products)
    def across(a, b):
        return [less(by(a[k - 2], b[k - 1]), by(a[k - 1], b[k - 2])) for k in range(3)]
    def along(a, b):
        return tuple(map(sum, zip(*map(by, a, b))))
    def normal(d):  # of a triangle, the fourth point is the first
        return across(*(list(map(less, d[k % len(d)], d[k - 2])) for k in (2, 3)))
    box = lambda points, off: [[(x - off, x + off) for x in d] for d in points]
    first, last = (along(normal(d), d[0]) for d in (box(before, error), box(after, error)))
    if not (first[1] < 0 < last[0] or last[1] < 0 < first[0]):
        return False
    during = box(after, reach)
    n = normal(during)
    return all(along(n, across(during[k - 1], d))[0] > 0 for k, d in enumerate(during))

# ---- poses and pairs
def matrix_pose(t, rows):
    e = finite(rows, 9)
    exact = [[Fraction(x) for x in e[k:k + 3]] for k in (0, 3, 6)]
    off = [dot(a, b) - (i == k) for i, a in enumerate(columns(exact))
           for k, b in enumerate(columns(exact))]
    require(determinant(exact) > 0 and max(map(abs, off)) < 1.000001e-6, "this is no rotation")
    return (e[0:3], e[3:6], e[6:9]), finite(t, 3)

class Pair:
    """Two placed bodies; every point R v + t in whole numbers of 1/unit metres."""

    def __init__(self, p, q, pose_p, pose_q, lengths=()):
        look_at_clock()
        self.given = [[finite(v, 3) for v in body] for body in (p, q)]
        require(all(self.given), "a body has no points")
        poses = pose_p, pose_q
        fine = denominator(x for body in self.given for v in body for x in v)
        turn = denominator(x for rows, _ in poses for row in rows for x in row)
        rest = denominator([x for v in (pose_p[1], pose_q[1], *lengths) for x in v])
        self.unit = max(fine * turn, rest)
        self.placed = []
        for body, (rows, t) in zip(self.given, poses):
            rows, t = [whole(row, self.unit // fine) for row in rows], whole(t, self.unit)
            self.placed.append([add(times(rows, whole(v, fine)), t) for v in body])

    def differences(self, pairs, least, most):
        ok = isinstance(pairs, list) and least <= len(pairs) <= most
        require(ok, f"not {least} to {most} vertex pairs")
        for pair in pairs:
            ok = isinstance(pair, list) and len(pair) == 2 and all(type(i) is int for i in pair)
            require(ok and all(0 <= i < len(body) for i, body in zip(pair, self.placed)),
                    f"{pair!r} names a vertex that does not exist")
        return [sub(self.placed[1][j], self.placed[0][i]) for i, j in pairs]

    def direction(self, cert, travel=None, during=(0, 0)):
        """The exact direction, in whole numbers of any unit; travel: of q, if nothing turns, and when it is used."""
        forms = [k for k in ("direction", "direction_pairs", "direction_swept", "direction_nearest") if k in cert]
        require(len(forms) == 1, "not one form of direction")
        if "direction" in cert:
            s = whole(finite(cert["direction"], 3), denominator(finite(cert["direction"], 3)))
        else:
            sign, axis = cert.get("direction_sign"), cert.get("direction_axis")
            require(type(sign) is int and sign in (1, -1), "the direction's sign is not 1 or -1")
            require(axis is None or type(axis) is int and axis in (0, 1, 2), "no such axis")
        if "direction_nearest" in cert:
            require(axis is None, "what is nearest has no axis")
            d = swept(self.differences(cert["direction_nearest"], 1, 3), travel or (0, 0, 0), during)
            s = tuple(sign * x for x in nearest(d)[0])
        elif "direction" not in cert:
            edges = [travel] * ("direction_swept" in cert)
            require(None not in edges, "this form needs a motion that turns nothing")
            edges += [tuple(int(k == axis) for k in range(3))] * (axis is not None)
            d = self.differences(cert[forms[0]], *[(3, 2, 0)[len(edges)]] * 2)
            s = tuple(sign * x for x in cross(*(sub(x, d[0]) for x in d[1:]), *edges))
        require(s != (0, 0, 0), "the direction is zero")
        return s

    def gap(self, s):
        """min over Q of s·y less max over P of s·x, in units of s times 1/unit."""
        look_at_clock()
        return min(dot(s, y) for y in self.placed[1]) - max(dot(s, x) for x in self.placed[0])

# ---- static claims
@patient
def verify_static(p, q, pose_p, pose_q, verdict, cert):
    pair = Pair(p, q, pose_p, pose_q)
    if verdict == "OVERLAPPING":
        inside = strictly_inside(pair.differences(cert.get("pairs"), 4, 6))
        return require(inside, "the pairs do not hold the origin strictly inside")
    require(verdict in ("SEPARATED", "TOUCHING"), f"no verdict {verdict!r}")
    gap = pair.gap(pair.direction(cert))
    if verdict == "SEPARATED":
        return require(gap > 0, "the direction does not separate")
    require(gap == 0, "the direction does not touch")
    held = nearest(pair.differences(cert.get("pairs"), 1, 3))[0] == (0, 0, 0)
    require(held, "the pairs do not hold the origin")

@patient
def verify_distance(p, q, pose_p, pose_q, lower, upper, pairs):
    pair = Pair(p, q, pose_p, pose_q)
    lower, upper = bound(lower) * pair.unit, bound(upper) * pair.unit
    v, n = nearest(pair.differences(pairs, 1, 3))
    require(dot(v, v) <= (upper * n) ** 2, "the pairs are farther away than the upper bound")
    if lower > 0:
        gap = pair.gap(v)
        require(gap > 0 and gap ** 2 >= lower ** 2 * dot(v, v), "M is nearer than lower")

@patient
def verify_margin(p, q, pose_p, pose_q, margin, within, verdict, cert):
    """That the distance is at most the margin (`within` is True) or more than it (False), by the certificate of
    a verdict that is proven. Of a margin below 0: that the bodies overlap at least so deep, or less, by its
    "margin_depth", which `deep` takes."""
    require(within in (True, False) and verdict in ("SEPARATED", "TOUCHING", "OVERLAPPING"), "no such claim")
    pair, pairs, depth = Pair(p, q, pose_p, pose_q), cert.get("margin_pairs"), cert.get("margin_depth")
    if is_depth(margin):
        return deep(pair, signed(margin), within, verdict, [], depth)
    require(depth is None, "depths are compared with margins below 0")
    margin = bound(margin) * pair.unit
    if verdict != "SEPARATED":
        return require(within, "the bodies are in contact")
    v, n = nearest(pair.differences(pairs, 1, 3)) if pairs or within else (pair.direction(cert), 0)
    if within:
        return require(dot(v, v) <= (margin * n) ** 2, "the pairs are farther away than the margin")
    gap = pair.gap(v)
    require(gap > 0 and gap ** 2 > margin ** 2 * dot(v, v), "the bodies may come within the margin")

def sign(pair, s, length):
    """That of the gap along a direction, by its length, less a length; either may be negative."""
    gap, length = pair.gap(s), length * pair.unit
    with_sign = lambda x, square: square if x >= 0 else -square
    return with_sign(gap, gap ** 2) - with_sign(length, length ** 2 * dot(s, s))

def deep(pair, left, within, verdict, pairs, depth):
    """That bodies overlap at least as deep as a margin below 0 says, or less. left: the sum of the radii and the margin;
    as a gap it is one between the polytopes. depth: {"less": direction}, along which M reaches less far than -left,
    {"at_least": surface}, which is no nearer than that, or None: the pairs show it, and left is not negative."""
    if verdict != "OVERLAPPING":
        return require(not within, "bodies that do not overlap are not so deep")
    if depth is not None:
        require(set(depth) == {"at_least" if within else "less"}, "what is shown of the depth is the opposite")
        if within:
            return surrounded(pair, max(-left, 0) * pair.unit, depth["at_least"])
        back = negative(pair.direction(depth["less"]))
        return require(sign(pair, back, left) > 0, "the bodies may be as deep as the margin")
    require(left >= 0, "nothing shows how deep the bodies are")
    v, n = nearest(pair.differences(pairs, 1, 6))
    if within:
        return require(dot(v, v) <= (left * pair.unit * n) ** 2, "the bodies may be less deep than the margin")
    require(any(v) and sign(pair, v, left) > 0, "the bodies may be as deep as the margin")

@patient
def verify_range(p, q, pose_p, pose_q, along, verdict, answer, cert, reach=0.0):
    """The t >= 0 for which P moved by t along meets Q, or comes within `reach` of it; `verdict`, of t = 0, is proven. answer:
    {"enter": t, "exit": t} or neither; cert: {"never": direction} or {"enter": end, "exit": end}, an end being a direction with
    "bracket" and "pairs"; no "enter" in contact."""
    pair, claimed = Pair(p, q, pose_p, pose_q), (answer.get("enter"), answer.get("exit"))
    scale, reach = denominator(finite(along, 3)), bound(reach) * pair.unit
    d = whole(along, scale)
    require(d != (0, 0, 0), "no direction")
    if set(cert) == {"never"}:
        require(claimed == (None, None), "the proof is of another answer")
        s = pair.direction(cert["never"], negative(d), (0, FAR))
        gap = pair.gap(s)
        return require(dot(s, d) <= 0 < gap and gap ** 2 > reach ** 2 * dot(s, s), "the direction does not separate")
    require({"exit"} <= set(cert) <= {"enter", "exit"}, "neither never nor an exit")
    require(("enter" in cert) == (verdict == "SEPARATED"), "the range begins at 0 in contact, and only then")
    require(claimed == (cert["enter"]["bracket"][0] if "enter" in cert else 0, cert["exit"]["bracket"][1]),
            "the range is not that of the answer")
    unit = Fraction(pair.unit, scale)  # of a t times the whole d, in 1/unit metres
    for name, side in (("enter", 1), ("exit", -1)):
        if name not in cert:
            continue
        end = cert[name]
        finite(end["bracket"], 2)
        low, high = ends = [bound(t) * unit for t in end["bracket"]]
        outer = low if side > 0 else high
        s, points = pair.direction(end, negative(d), (outer, outer)), pair.differences(end.get("pairs"), 1, 4)
        rate = dot(s, d)
        require(low <= high and rate * side > 0, "no such end")
        gap = pair.gap(s) - rate * outer
        require(gap >= 0 and gap ** 2 >= reach ** 2 * dot(s, s), "they meet outside of the bracket")
        v, n = nearest(swept(points, negative(d), ends))
        held = dot(v, v) <= (reach * scale_of(ends) * n) ** 2
        require(held, "the pairs do not meet within the bracket")

@patient
def verify_depth(p, q, pose_p, pose_q, lower, upper, face, surface=None):
    """face: a direction; surface: {"corners": [[i, j], ...], "triangles": [[a, b, c], ...]}."""
    pair = Pair(p, q, pose_p, pose_q)
    lower, upper = bound(lower) * pair.unit, bound(upper) * pair.unit
    s = pair.direction(face)
    reach = -pair.gap(negative(s))
    require(reach >= 0, "the origin is beyond the face")
    require(reach ** 2 <= upper ** 2 * dot(s, s), "M reaches beyond the upper bound")
    if surface is None:
        return require(lower == 0, "no surface proves the lower bound")
    surrounded(pair, lower, surface)

def surrounded(pair, lower, surface):
    """That a surface in M surrounds the origin, no nearer than `lower`, in 1/unit metres."""
    corners = pair.differences(surface["corners"], 4, len(surface["corners"]))
    edges = Counter()
    for triangle in surface["triangles"]:
        look_at_clock()
        ok = len(triangle) == 3 and all(type(k) is int and 0 <= k < len(corners) for k in triangle)
        require(ok, f"{triangle!r} names a corner that does not exist")
        a, b, c = (corners[k] for k in triangle)
        normal = cross(sub(b, a), sub(c, a))
        height = dot(normal, a)
        require(height > 0, "the origin is not strictly inside a triangle's plane")
        require(height ** 2 >= lower ** 2 * dot(normal, normal), "a triangle is nearer than lower")
        edges.update((triangle[k - 1], triangle[k]) for k in range(3))
    # Closed, and every triangle turns the same way seen from the origin: every ray meets it.
    require(edges and all(n == edges[b, a] for (a, b), n in list(edges.items())), "not closed")

# ---- motions: ("linear", u), ("screw", u, axis, angle, pivot), ("to_pose", end, pivot), and of a part
# ("to_pose", end, (axis, angle), pivot) with those of its body
def sine_versine(angle, t):
    """sin and 1 - cos of angle * t/2^F, each within 2 of the last place of F bits. Taylor's series
    of the angle halved below 1/16: fewer than 64 terms until they vanish, each off by less than 2
    in the last of G bits, the angle too; 256 covers it. Doubling takes an error e to 4 e + 3."""
    x = (angle.numerator * t << (G - F)) // angle.denominator
    halvings = max(0, x.bit_length() - (G - 4))
    sums, term, k, error = [1 << G, 0], 1 << G, 0, 256
    while term not in (0, -1):
        k += 1
        term = (term * (x >> halvings) >> G) // k
        sums[k & 1] += -term if k & 2 else term
    c, s = sums
    for _ in range(halvings):
        s, c, error = s * c >> (G - 1), (1 << G) - (s * s >> (G - 1)), 4 * error + 3
    require(error >> (G - F) == 0, "too many turns for this verifier")
    return s >> (G - F), ((1 << G) - c) >> (G - F)

class Mover:
    """x(t) = c + u t + Rot(a, angle t)(R v + l) + t E v. Directions, R, E in units of 2^-F; v, c, l
    of 1/unit metres, exact; u, arms and radii of both multiplied. Error bounds: see Movers."""

    def __init__(self, body, pose, motion, unit):
        kind, start, pivot = motion[0], whole(pose[1], unit), motion[-1]
        self.v, self.r = [whole(v, unit) for v in body], [tuple(map(fixed, r)) for r in pose[0]]
        none = kind == "linear" or pivot is None
        self.l = (0, 0, 0) if none else sub(start, whole(finite(pivot, 3), unit))
        self.c, self.e, axis, angle = sub(start, self.l), None, (0.0, 0.0, 0.0), 0.0
        if kind == "screw":
            axis, (angle,) = finite(motion[2], 3), finite([motion[3]], 1)
        elif kind == "to_pose":
            axis, angle = turn_of(pose, motion)
        self.angle = Fraction(angle)
        n = whole(axis, denominator(axis)) if angle else (0, 0, 0)
        require(any(n) or not angle, "the axis is zero")
        square = dot(n, n) or 1
        roots = [math.isqrt((x * x << (2 * F)) // square) for x in n]
        a = self.axis = tuple(r if x > 0 else -r for r, x in zip(roots, n))
        self.once = (0, -a[2], a[1]), (a[2], 0, -a[0]), (-a[1], a[0], 0)  # a x .
        self.twice = [[(x * y << F) // square for y in n] for x in n]     # a x (a x .) + 1
        self.rate = fixed(abs(self.angle)) + 1 if angle else 0
        if kind == "to_pose":
            turned, after = self.turn(ONE), columns(map(fixed, r) for r in motion[1][0])
            self.u = sub(raised(sub(whole(motion[1][1], unit), self.c)), times(turned, self.l))
            self.e = columns(sub(to, shift(times(turned, by), F))
                             for to, by in zip(after, columns(self.r)))
        else:
            self.u = raised(whole(finite(motion[1], 3), unit))
        arms = [add(times(self.r, v), raised(self.l)) for v in self.v]
        # Each component of an arm, and of its product with the axis, is off by less than this.
        self.doubt = 16 * (max(map(size1, self.v)) + size1(self.l) + 1)
        self.along = [dot(a, w) >> F for w in arms]
        self.radii = [size(shift(times(self.once, w), F)) + 2 * self.doubt for w in arms]
        self.radius = max(self.radii) if angle else 0
        self.reach = max(map(size, arms)) + 2 * self.doubt
        self.drag = max(size(times(self.e, v)) + 99 * size1(v) for v in self.v) if self.e else 0
        self.span = sum(map(size1, (self.l, self.c, shift(self.u, F)))) + max(map(size1, self.v))

    def turn(self, t):
        """1 + sin (a x .) + (1 - cos) a x (a x .)"""
        s, v = sine_versine(self.angle, t) if self.angle else (0, 0)
        return tuple(tuple((s * self.once[i][k] + v * self.twice[i][k] >> F) + (ONE - v) * (i == k)
                           for k in range(3)) for i in range(3))

    def drift(self, s, t):
        return dot(s, self.c) + (dot(s, self.u) * t >> (2 * F))

    def lowest(self, s, t, turn):
        """The least of s·x(t) over the vertices."""
        g = shift(times(columns(turn), s), F)
        x, y, z = shift(times(columns(self.r), g), F)
        if self.e:
            x, y, z = add((x, y, z), [c * t >> (2 * F) for c in times(columns(self.e), s)])
        return min(x * a + y * b + z * c for a, b, c in self.v) + self.drift(s, t) + dot(g, self.l)

    def lowest_circle(self, s, t):
        """Below that least, with the vertices anywhere on their circles; linear in t."""
        if not self.angle:
            return self.lowest(s, t, self.turn(t))
        axial, across = dot(s, self.axis) >> F, size(shift(times(self.once, s), F)) + 8
        least = min(axial * h - across * r for h, r in zip(self.along, self.radii)) >> F
        return self.drift(s, t) + least - (up(size(s), self.drag) * t >> F) - 4 * self.doubt

    def place(self, v, t, turn):
        arm = shift(times(turn, add(times(self.r, v), raised(self.l))), F)
        moved = add(self.u, times(self.e, v)) if self.e else self.u
        return add(add(raised(self.c), arm), tuple(x * t >> F for x in moved))

class Movers:
    """Both bodies. With s at most 1 in every coordinate, errors in units of 2^-F are: sines 2, the
    axis 1, rotations 10; a turned s 36, in the body 100, times R 200; E 30, its part 230; u 10 |l|.
    So a height or a coordinate is off by less than 2^11 times the lengths that enter it; a time by
    less than 1, which moves a point by less than (1 + angle) of its lengths."""

    def __init__(self, pair, pose_p, pose_q, motion_p, motion_q):
        self.p = Mover(pair.given[0], pose_p, motion_p, pair.unit)
        self.q = Mover(pair.given[1], pose_q, motion_q, pair.unit)
        turns = 2 + (self.p.rate + self.q.rate >> F)
        self.slack = (self.p.span + self.q.span + 1) * turns << 12

    def gap(self, frame, s, t):
        look_at_clock()
        turn_p, turn_q = self.p.turn(t), self.q.turn(t)
        if frame != "world":
            s = shift(times(turn_p if frame == "p" else turn_q, s), F)
        return self.q.lowest(s, t, turn_q) + self.p.lowest(negative(s), t, turn_p) - self.slack

    def bend(self, frame, s):
        """Above the second derivative in t of s·(q - p), of any two vertices, over [0, 1]."""
        if frame == "world":  # of a circle: angle² radius, as much of it as is along s
            return sum(up(up(size(shift(times(b.once, s), F)) + 8, up(b.rate, b.rate)), b.radius)
                       for b in (self.p, self.q))
        # Seen from f, which turns with W, g is at z = Rot_g(arm) + d + w t + e t, and d/dt - W x
        # twice makes (W_g - W) x (W_g x arm) - W x ((W_g - W) x arm) - 2 W x (w + e)
        # + W x (W x (d + (w + e) t)).
        f, g = (self.p, self.q) if frame == "p" else (self.q, self.p)
        spins = [[x * b.angle.numerator // b.angle.denominator for x in b.axis] for b in (f, g)]
        against = size(sub(*spins)) + 4 * ((f.rate + g.rate >> F) + 2)
        d, w, loose = raised(sub(g.c, f.c)), sub(g.u, f.u), self.slack + f.drag + g.drag
        whirl = lambda x: up(f.rate, size(shift(times(f.once, x), F)) + loose)
        total = up(against, up(g.rate, g.radius) + up(f.rate, g.reach)) + 2 * whirl(w)
        return up(size(s), total + up(f.rate, max(whirl(d), whirl(add(d, w)))))

    def places(self, pairs, t):
        """The pairs' differences, each coordinate off by at most the slack."""
        turns = self.p.turn(t), self.q.turn(t)
        place = lambda body, k, turn: body.place(body.v[k], t, turn)
        return [sub(place(self.q, j, turns[1]), place(self.p, i, turns[0])) for i, j in pairs]

    def passed(self, pairs, start, end):
        """Whether the polygon of three or four pairs surely passes the origin between the times or, if a
        part of a body claims less than the body, in a half, a quarter ... that ends with them."""
        turning = lambda body: up(body.rate, body.radius) + body.drag
        speed = size(sub(self.q.u, self.p.u)) + turning(self.p) + turning(self.q) + self.slack
        after, widths = self.places(pairs, end), [end - start >> k for k in range(64)]
        return len(after) in (3, 4) and any(
            passes_through(self.places(pairs, end - w), after, self.slack, self.slack + up(speed, w + 2))
            for w in widths)

    def separates(self, frame, s, start, end, clear):
        """Whether the gap along s exceeds clear |s| on all of [start, end]. With gaps a, b at the
        ends of an interval and k = bend length²/2 the gap at a fraction x of it is at least
        a (1 - x) + b x - k x (1 - x), positive throughout if √a + √b > √k; else it is halved."""
        most = max(map(abs, s))
        s = tuple((x << F) // most for x in s)
        need = int(clear * (size(s) + 4)) + 1
        circles = lambda t: self.q.lowest_circle(s, t) + self.p.lowest_circle(negative(s), t)
        if frame == "world" and min(circles(start), circles(end)) > self.slack + need:
            return True
        gap, bend = lambda t: self.gap(frame, s, t) - need, self.bend(frame, s)
        pieces, budget = [(start, gap(start), end, gap(end))], 1 << 17
        while pieces:
            (t0, a, t1, b), budget = pieces.pop(), budget - 1
            if a <= 0 or b <= 0 or not budget:
                return False
            rest = (bend * (t1 - t0) ** 2 >> (2 * F + 1)) + 1 - a - b
            if t0 < t1 and rest >= 0 and rest * rest >= 4 * a * b:
                middle = (t0 + t1) // 2
                if middle == t0:
                    return False
                c = gap(middle)
                pieces += [(middle, c, t1, b), (t0, a, middle, c)]
        return True

def velocity(pose, motion, unit):
    """Exactly, in 1/unit metres per step, if nothing turns."""
    if motion[0] == "linear" or motion[0] == "screw" and motion[3] == 0:
        return whole(finite(motion[1], 3), unit)
    if motion[0] == "to_pose" and motion[1][0] == pose[0] and turn_of(pose, motion)[1] == 0:
        return sub(whole(motion[1][1], unit), whole(pose[1], unit))

@patient
def verify_motion(p, q, pose_p, pose_q, motion_p, motion_q, answer,
                  margin=0.0, deviation=0.0, initial=None, is_free_shown=False):
    """answer: {"verdict", "t_free", "t_contact", "certificate": {"chain", "pairs"}}. Free: farther
    apart than margin + deviation (of P plus of Q); contact: within the margin. initial: SEPARATED's
    certificate at t = 0, of CONTACT beyond the margin if the chain is empty. UNDECIDED proves these alone.
    is_free_shown: that the bodies are free until t_free is shown elsewhere."""
    verdict, cert = answer.get("verdict"), answer.get("certificate") or {}
    require(verdict in ("CONTACT", "NO_CONTACT", "UNDECIDED"), f"no verdict {verdict!r}")
    lengths = [m[1][1] if m[0] == "to_pose" else finite(m[1], 3) for m in (motion_p, motion_q)]
    lengths += [finite(m[-1], 3) for m in (motion_p, motion_q) if m[0] != "linear" and m[-1]]
    pair = Pair(p, q, pose_p, pose_q, lengths)
    margin, deviation = bound(margin) * pair.unit, bound(deviation) * pair.unit
    t_free = bound(answer.get("t_free", 1.0 if verdict == "NO_CONTACT" else None))
    t_contact = bound(answer.get("t_contact")) if verdict == "CONTACT" else 1
    require(t_free <= t_contact <= 1, "not 0 <= t_free <= t_contact <= 1")
    require(verdict != "NO_CONTACT" or t_free == 1, "no contact, but not free until the end")
    def within(points, error=0, unit=1):
        v, n = nearest(points)
        left = (margin * unit - 2 * error) * n
        return left >= 0 and dot(v, v) <= left ** 2
    def clear(s, travel, times):  # the gap along s is linear in t
        gap = min(pair.gap(s) + dot(s, travel) * t for t in times)
        return gap > 0 and gap ** 2 > (margin + deviation) ** 2 * dot(s, s)
    def met(start, travel):
        times = t_free, t_contact
        return within(swept(start, travel, times), 0, scale_of(times))
    if initial:
        verify_static(p, q, pose_p, pose_q, "SEPARATED", initial)
    if t_contact == 0:
        held = not cert.get("chain") and within(pair.differences(cert.get("pairs"), 1, 6))
        return require(held, "the pairs alone do not hold the origin at t = 0")
    chain, covered = [(bound(x.get("t0")), bound(x.get("t1")), x) for x in cert.get("chain", [])], 0
    for at, (t0, t1, _) in enumerate(chain):
        require(t0 <= t1 <= 1 and t0 <= covered, f"link {at} does not join the one before")
        covered = max(covered, t1)
    require(is_free_shown or covered >= t_free, "the chain ends before t_free")
    shown = chain or is_free_shown
    s = (1, 0, 0) if shown else pair.direction(initial or {})  # the start is as given: no deviation
    require(shown or verdict == "UNDECIDED" or pair.gap(s) ** 2 > margin ** 2 * dot(s, s), "start within the margin")
    poses, by = (pose_p, pose_q), (motion_p, motion_q)
    speeds = [velocity(pose, motion, pair.unit) for pose, motion in zip(poses, by)]
    apart = None if None in speeds else sub(speeds[1], speeds[0])
    movers = Movers(pair, pose_p, pose_q, motion_p, motion_q) if apart is None else None
    in_units = lambda travel: travel and tuple(int(x * pair.unit) for x in travel)
    alike = in_units(movers and travel_if_alike(poses, by))
    for at, (t0, t1, link) in enumerate(chain):
        require(link.get("frame") in ("world", "p", "q"), f"link {at} has no frame")
        travel = apart if link["frame"] == "world" else apart or alike
        s = pair.direction(link, travel, (t0, t1))
        free = travel and clear(s, travel, (t0, t1)) or movers and movers.separates(
            link["frame"], s, fixed(t0), -fixed(-t1), margin + deviation)
        require(free, f"link {at} does not separate throughout its interval")
    if verdict != "CONTACT":
        return
    start = pair.differences(cert.get("pairs"), 1, 6 if movers or margin else 4)
    if not movers:
        return require(met(start, apart), "the pairs do not hold the origin at any time of the bracket")
    t, found, pairs = fixed(t_contact), movers.places(cert["pairs"], fixed(t_contact)), cert["pairs"]
    # Three are in a plane; four, always, of a point and a polygon, or two rods. A solid is entered.
    dimensions = list(map(dimension, pair.placed))
    flat = sum(dimensions) <= 2 or len(pairs) == 3 and max(dimensions) <= 2
    held = (strictly_inside(found, movers.slack) or margin and within(found, movers.slack, ONE)
            or meets_in_a_plane(start, pair.unit, poses, by, t_contact, found, movers.slack)
            or flat and movers.passed(pairs, fixed(t_free), t)
            or any(travel and met(start, travel)
                   for travel in (alike, in_units(travel_if_untouched(pair.given, poses, by, pairs)))))
    end = t_contact == 1 and differences_at_end(pair.given, poses, by, pairs)
    require(held or end and nearest(end)[0] == (0, 0, 0),
            "the pairs neither hold the origin at t_contact nor pass it in the bracket")

if __name__ == "__main__":
    import clearance_answers
    sys.exit(clearance_answers.main(sys.argv[1:]))
