"""Bodies as they are asked about, and where they are exactly: two of them in whole numbers of one unit."""
from fractions import Fraction
from itertools import permutations, product

from meshes import Mesh, stand
from reference import dot, facets, fineness, nearest, squared, squared_depth, sub, whole

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def rotations():
    """The rotations that take coordinate axes to coordinate axes, row by row."""
    found = []
    for order, signs in product(permutations(range(3)), product((1.0, -1.0), repeat=3)):
        rows = [[sign * (k == at) for k in range(3)] for at, sign in zip(order, signs)]
        inversions = sum(order[i] > order[k] for i in range(3) for k in range(i + 1, 3))
        if signs[0] * signs[1] * signs[2] * (-1) ** inversions > 0:
            found.append(tuple(x + 0.0 for row in rows for x in row))
    return found


ROTATIONS = rotations()


def turned(rows, point):
    """By one of ROTATIONS: exact in f64."""
    return tuple(sum(r * x for r, x in zip(rows[k:k + 3], point)) + 0.0 for k in (0, 3, 6))


def turned_back(rows, point):
    return turned([rows[3 * k + i] for i in range(3) for k in range(3)], point)


class Body:
    """A polytope with a radius, or what triangles bound or are; where it is; and how far it moves in the step.

    `source`: how it is named in a question; `facets`: of a polytope without a radius, which then has an inside."""

    def __init__(self, source, points, triangles=None, radius=0.0, at=(0.0, 0.0, 0.0), rows=IDENTITY, moves=(0.0, 0.0, 0.0)):
        self.source, self.points, self.triangles, self.radius = source, points, triangles, radius
        self.at, self.rows, self.moves = tuple(at), tuple(rows), tuple(moves)
        self.is_region = True  # of triangles: whether they bound one

    def asked(self):
        pose = {"translation": dict(zip("xyz", self.at))}
        if self.rows != IDENTITY:
            pose["rotationMatrix"] = {"rows": list(self.rows)}
        return {**self.source, "pose": pose}

    def unit(self):
        of_points = fineness(x for point in self.points for x in point) * fineness(self.rows)
        return max(of_points, fineness([*self.at, *self.moves, self.radius]))

    def placed(self, unit):
        """The points R v + t in the unit 1 / `unit`."""
        fine = fineness(x for point in self.points for x in point)
        turn = [whole(x, unit // fine) for x in self.rows]
        at = [whole(x, unit) for x in self.at]
        found = []
        for point in self.points:
            v = [whole(x, fine) for x in point]
            found.append(tuple(dot(turn[k:k + 3], v) + t for k, t in zip((0, 3, 6), at)))
        return found


class Pieces:
    """What a body is made of: convex pieces, all of one polytope or the triangles of a mesh, with the boxes around them."""

    def __init__(self, body, unit):
        self.points = body.placed(unit)
        self.mesh = Mesh(self.points, body.triangles, body.is_region) if body.triangles else None
        self.pieces = [self.points] if self.mesh is None else self.mesh.corners
        self.boxes = [([min(axis) for axis in zip(*piece)], [max(axis) for axis in zip(*piece)]) for piece in self.pieces]


class Two:
    """Two bodies, and exactly how they stand."""

    def __init__(self, p, q, margin=0.0):
        self.bodies = p, q
        self.unit = max(p.unit(), q.unit(), fineness([margin]))
        self.sides = [Pieces(body, self.unit) for body in (p, q)]
        self.travel = tuple(whole(y, self.unit) - whole(x, self.unit) for x, y in zip(p.moves, q.moves))
        self.radii = whole(p.radius, self.unit) + whole(q.radius, self.unit)
        self.reach = self.radii + whole(margin, self.unit)
        self.square = self.least()
        self.has_inside = [side.mesh is not None and side.mesh.is_region for side in self.sides]
        if self.square > 0 and any(self.has_inside) and self.is_within_the_other():
            self.square = Fraction(0)

    def differences(self, i, k):
        return [sub(y, x) for x in self.sides[0].pieces[i] for y in self.sides[1].pieces[k]]

    def by_nearness(self, moved=(0, 0)):
        """Pairs of pieces, each with what is at most its squared distance while Q is moved by the travel times something
        between two numbers; the least come first."""
        found = []
        ways = [sorted((w * moved[0], w * moved[1])) for w in self.travel]
        for i, (low, high) in enumerate(self.sides[0].boxes):
            for k, (bottom, top) in enumerate(self.sides[1].boxes):
                gaps = (max(0, c - b + way[0], a - d - way[1]) for a, b, c, d, way in zip(low, high, bottom, top, ways))
                found.append((sum(gap * gap for gap in gaps), i, k))
        return sorted(found)

    def least(self):
        """The squared distance of the pieces, in square units."""
        best = None
        for bound, i, k in self.by_nearness():
            if best is not None and bound >= best:
                break
            found = squared(self.differences(i, k))
            best = found if best is None or found < best else best
        return best

    def is_within_the_other(self):
        """Of bodies whose pieces do not meet: whether a part of one is inside the other."""
        for of, other in ((0, 1), (1, 0)):
            if self.has_inside[other]:
                side, mesh = self.sides[of], self.sides[other].mesh
                firsts = side.mesh.shells_firsts() if side.mesh else [0]
                if any(mesh.holds(side.points[v]) for v in firsts):
                    return True
        return False

    def verdict(self):
        if self.square > self.radii ** 2:
            return "SEPARATED"
        if self.radii > 0:
            return "TOUCHING" if self.square == self.radii ** 2 else "OVERLAPPING"
        if not any(side.mesh for side in self.sides):
            return "OVERLAPPING" if self.core_depth() > 0 else "TOUCHING"
        return stand(*(side.mesh or Mesh(side.points, facets(side.points)) for side in self.sides))

    def core_depth(self):
        """The squared depth of two polytopes that meet."""
        return squared_depth(self.sides[0].points, self.sides[1].points)

    def comes_within(self, start, end):
        """Whether bodies that are apart at first come within their reach at a time between two."""
        scale = max(Fraction(t).denominator for t in (start, end))
        a, b = (int(Fraction(t) * scale) for t in (start, end))
        ways = [tuple(w * t for w in self.travel) for t in (a, b)]
        limit = (self.reach * scale) ** 2
        for bound, i, k in self.by_nearness((Fraction(a, scale), Fraction(b, scale))):
            if bound > self.reach ** 2:
                return False
            found = [tuple(scale * x + w for x, w in zip(d, way)) for d in self.differences(i, k) for way in ways]
            v, n = nearest(found)
            if dot(v, v) <= limit * n * n:
                return True
        return False
