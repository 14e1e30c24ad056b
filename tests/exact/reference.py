"""What answers are compared with: distances, depths and contacts of hulls of few points, in whole numbers alone.

Every f64 number is a whole number of some power of two, so that all that is placed has whole coordinates in one unit. What
is nearest in a hull is searched for and then shown to be it: no point of the hull is nearer along its direction. No code
is shared with the engine or with the verifiers.
"""
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from math import gcd

DIGITS = 60


# ---- vectors
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def sub(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def reduced(v):
    """The shortest whole vector along a whole one or against it; the first coordinate that is not 0 is positive."""
    common = gcd(*v)
    if next((x for x in v if x), 0) < 0:
        common = -common
    return tuple(x // common for x in v)


def fineness(numbers):
    """The least power of two that makes all of these numbers whole, which are f64 numbers or sums of some."""
    return max((x.as_integer_ratio()[1] for x in numbers), default=1)


def whole(x, unit):
    """Such a number in the unit 1 / `unit`, which makes it whole."""
    above, below = x.as_integer_ratio()
    return above * (unit // below)


# ---- the nearest point
def foot(points):
    """The point nearest the origin in the plane that points span, as (v, n) for v / n, if it is inside their hull and
    they are independent; else None. By Gram's equations and Cramer's rule."""
    first, edges = points[0], [sub(x, points[0]) for x in points[1:]]
    if not edges:
        return first, 1
    gram = [[dot(a, b) for b in edges] for a in edges]
    right = [-dot(first, a) for a in edges]
    n = determinant(gram)
    if n == 0:
        return None
    weights = []
    for k in range(len(edges)):
        weights.append(determinant([row[:k] + [r] + row[k + 1:] for row, r in zip(gram, right)]))
    if min(weights) < 0 or sum(weights) > n:
        return None
    v = tuple(n * x + sum(w * e[k] for w, e in zip(weights, edges)) for k, x in enumerate(first))
    common = gcd(*v, n)
    return tuple(x // common for x in v), n // common


def determinant(m):
    if len(m) == 1:
        return m[0][0]
    if len(m) == 2:
        return m[0][0] * m[1][1] - m[0][1] * m[1][0]
    return dot(m[0], cross(m[1], m[2]))


def nearest(points):
    """The point nearest the origin in the hull of whole points, as (v, n) for v / n.

    A simplex of them takes in the point farthest back along v, and what is not needed leaves it, until none is farther
    back than v itself: then v is nearest, since the whole hull is beyond the plane through v across it."""
    corner = min(points, key=lambda x: dot(x, x))
    simplex, (v, n) = [corner], (corner, 1)
    while any(v):
        square = dot(v, v)
        low = min(points, key=lambda x: dot(v, x))
        if dot(v, low) * n >= square:
            break
        found = None
        for count in range(len(simplex) + 1):
            for kept in combinations(simplex, count):
                some = [low, *kept]
                at = foot(some)
                if at and (found is None or dot(at[0], at[0]) * found[1][1] ** 2 < dot(found[1][0], found[1][0]) * at[1] ** 2):
                    found = some, at
        simplex, (v, n) = found
    return v, n


def squared(points):
    """The squared distance of a hull from the origin."""
    v, n = nearest(points)
    return Fraction(dot(v, v), n * n)


def squared_by_features(p, q):
    """The squared distance of two hulls, by a look at every choice of points of their difference: slow, and of another
    kind than `nearest`, for a second opinion."""
    points = sorted({sub(y, x) for x in p for y in q})
    feet = [foot(list(some)) for count in range(1, 5) for some in combinations(points, count)]
    return min(Fraction(dot(v, v), n * n) for v, n in filter(None, feet))


def differences(p, q):
    return [sub(y, x) for x in p for y in q]


def squared_depth(p, q):
    """That of two hulls that meet: the least that their difference reaches along a normal of one of its faces, which is
    square to two edges of the hulls. All pairs of points count as edges; what is not one cannot make it less."""
    ways = sorted({reduced(sub(y, x)) for body in (p, q) for x, y in combinations(body, 2) if x != y})
    normals = {reduced(s) for a, b in combinations(ways, 2) for s in [cross(a, b)] if any(s)}
    best = None
    for s in normals:
        of_p, of_q = [dot(s, x) for x in p], [dot(s, y) for y in q]
        reach = min(max(of_q) - min(of_p), max(of_p) - min(of_q))
        if reach <= 0:
            return Fraction(0)
        square = Fraction(reach * reach, dot(s, s))
        best = square if best is None or square < best else best
    return best or Fraction(0)  # a segment or a point is in no plane's way


def extremes(points):
    """The vertices of the hull of f64 points, in canonical order."""
    points = sorted({tuple(x + 0.0 for x in point) for point in points})
    unit = fineness(x for point in points for x in point)
    placed = [tuple(whole(x, unit) for x in point) for point in points]
    def is_extreme(k):
        others = [sub(x, placed[k]) for j, x in enumerate(placed) if j != k]
        return not others or any(nearest(others)[0])
    return [list(point) for k, point in enumerate(points) if is_extreme(k)]


def facets(points):
    """The triangles of the hull of whole points that has a volume, as triples of places, outside counter-clockwise."""
    seen, found = set(), []
    for a, b, c in combinations(range(len(points)), 3):
        normal = cross(sub(points[b], points[a]), sub(points[c], points[a]))
        if not any(normal):
            continue
        heights = [dot(normal, sub(x, points[a])) for x in points]
        flat = tuple(k for k, height in enumerate(heights) if height == 0)
        if min(heights) < 0 < max(heights) or flat in seen:
            continue
        seen.add(flat)
        if max(heights) > 0:
            normal = tuple(-x for x in normal)
        first, *rest = in_order(flat, points, normal)
        found += [(first, x, y) for x, y in zip(rest, rest[1:])]
    return found


def in_order(places, points, normal):
    """The corners of a convex polygon in order around its normal, from the lowest place; others in its plane are left out."""
    corners = []
    for k in places:
        rest = [sub(points[j], points[k]) for j in places if j != k]
        if any(nearest(rest)[0]):
            corners.append(k)
    first = corners[0]
    around, left = [first], corners[1:]
    while left:
        here = around[-1]
        following = next(k for k in left if all(
            dot(normal, cross(sub(points[k], points[here]), sub(points[j], points[here]))) >= 0 for j in corners))
        around.append(following)
        left.remove(following)
    return around


# ---- numbers with one root
class Root:
    """shift + root of a square, or shift - it, for rational numbers."""

    def __init__(self, square, shift=0, sign=1):
        self.square, self.shift, self.sign = Fraction(square), Fraction(shift), sign

    def compared(self, x):
        """The sign of this less x."""
        rest = (Fraction(x) - self.shift) * self.sign  # compared with the root
        found = self.square - rest * rest if rest >= 0 else 1
        return self.sign * ((found > 0) - (found < 0))

    def decimal(self):
        with localcontext() as context:
            context.prec, context.Emax, context.Emin = DIGITS, 10 ** 6, -10 ** 6
            of = lambda x: Decimal(x.numerator) / Decimal(x.denominator)
            return of(self.shift) + self.sign * of(self.square).sqrt()


class InUnits:
    """A Root that was found in the unit 1 / `unit`, compared with metres."""

    def __init__(self, root, unit):
        self.root, self.unit = root, unit

    def compared(self, x):
        return self.root.compared(Fraction(x) * self.unit)

    def decimal(self):
        return Root(self.root.square / self.unit ** 2, self.root.shift / self.unit, self.root.sign).decimal()
