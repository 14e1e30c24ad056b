"""Triangle meshes in whole numbers, by force: every triangle of one is put beside every triangle of the other.

A mesh that is closed bounds a region, and whether two regions have inner points in common is decided by cutting: each
triangle that meets the other surface is cut along it, and a point of every piece is tried. A mesh that bounds nothing is
just its triangles.
"""
from fractions import Fraction

from reference import cross, dot, reduced, sub

try:  # many times faster, and no more than that
    from gmpy2 import mpq as rational
except ImportError:
    rational = Fraction

# Directions of rays; one that meets an edge gives way to the next.
RAYS = [(1009, 357, 83), (-211, 1013, 449), (97, -619, 1019), (-1021, -173, 331), (751, 1031, -59), (-503, 263, -1033)]


def signs(values):
    return {(x > 0) - (x < 0) for x in values}


# ---- triangles
def segment_meets(a, b, triangle, normal):
    """Whether a closed segment and a closed triangle share a point."""
    u, v, w = triangle
    of_a, of_b = dot(normal, sub(a, u)), dot(normal, sub(b, u))
    if of_a > 0 and of_b > 0 or of_a < 0 and of_b < 0:
        return False
    if of_a == of_b == 0:
        return segment_meets_in_plane(a, b, triangle, normal)
    # The segment crosses the plane, so that the line through it passes the edges on one side each.
    way = sub(b, a)
    turns = signs(dot(way, cross(sub(x, a), sub(y, a))) for x, y in ((u, v), (v, w), (w, u)))
    return not {1, -1} <= turns


def segment_meets_in_plane(a, b, triangle, normal):
    k = max(range(3), key=lambda k: abs(normal[k]))
    flat = lambda x: (x[k - 2], x[k - 1])
    a, b, corners = flat(a), flat(b), [flat(x) for x in triangle]
    if is_in_flat(a, corners) or is_in_flat(b, corners):
        return True
    return any(cross_in_flat(a, b, c, d) for c, d in zip(corners, corners[1:] + corners[:1]))


def side(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def is_in_flat(x, corners):
    return not {1, -1} <= signs(side(a, b, x) for a, b in zip(corners, corners[1:] + corners[:1]))


def cross_in_flat(a, b, c, d):
    """Whether two closed segments share a point; of those in one line whether their boxes do."""
    beside = any(max(a[k], b[k]) < min(c[k], d[k]) or max(c[k], d[k]) < min(a[k], b[k]) for k in range(2))
    one, other = (side(a, b, c), side(a, b, d)), (side(c, d, a), side(c, d, b))
    apart = any(x > 0 and y > 0 or x < 0 and y < 0 for x, y in (one, other))
    return not beside and not apart


def share_a_point(p, q, normals):
    """Whether two closed triangles do."""
    edges = lambda t: ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))
    return (any(segment_meets(*edge, q, normals[1]) for edge in edges(p))
            or any(segment_meets(*edge, p, normals[0]) for edge in edges(q)))


# ---- meshes
class Mesh:
    def __init__(self, points, triangles, is_region=True):
        self.points, self.triangles, self.is_region = points, triangles, is_region
        self.corners = [[points[v] for v in triangle] for triangle in triangles]
        self.normals = [cross(sub(b, a), sub(c, a)) for a, b, c in self.corners]
        self.low, self.high = ([pick(axis) for axis in zip(*points)] for pick in (min, max))

    def shells(self):
        """The triangles of each part that is connected over vertices, by their places."""
        near, seen, found = {}, set(), []
        for k, triangle in enumerate(self.triangles):
            for v in triangle:
                near.setdefault(v, []).append(k)
        for first in range(len(self.triangles)):
            if first in seen:
                continue
            shell, open_ = [], [first]
            seen.add(first)
            while open_:
                k = open_.pop()
                shell.append(k)
                for j in {j for v in self.triangles[k] for j in near[v]} - seen:
                    seen.add(j)
                    open_.append(j)
            found.append(sorted(shell))
        return found

    def shells_firsts(self):
        """A vertex of each."""
        return [self.triangles[shell[0]][0] for shell in self.shells()]

    def holds(self, point):
        """Whether a point that is not on the surface is inside: a ray from it crosses the surface an odd number of times."""
        if any(x < a or x > b for x, a, b in zip(point, self.low, self.high)):
            return False
        moved = [sub(x, point) for x in self.points]
        for ray in RAYS:
            crossed = 0
            for a, b, c in self.triangles:
                a, b, c = moved[a], moved[b], moved[c]
                turns = signs((dot(ray, cross(a, b)), dot(ray, cross(b, c)), dot(ray, cross(c, a))))
                if {1, -1} <= turns:
                    continue
                height = dot(a, cross(b, c))
                if 0 in turns or height == 0:
                    break
                # The line passes; it does so ahead if the point is on the side that the turns are of.
                crossed += (height > 0) == (1 in turns)
            else:
                return crossed % 2 == 1
        raise ArithmeticError("every ray meets an edge")


def meeting(p, q):
    """The pairs of triangles that share a point, by their places."""
    found = []
    boxes = [[([min(axis) for axis in zip(*t)], [max(axis) for axis in zip(*t)]) for t in mesh.corners] for mesh in (p, q)]
    for i, (low, high) in enumerate(boxes[0]):
        for k, (bottom, top) in enumerate(boxes[1]):
            if any(b < c or d < a for a, b, c, d in zip(low, high, bottom, top)):
                continue
            if share_a_point(p.corners[i], q.corners[k], (p.normals[i], q.normals[k])):
                found.append((i, k))
    return found


def interiors_meet(p, q, pairs):
    """Whether two regions whose surfaces share points, in these pairs of triangles, have inner points in common.

    They have if and only if a piece of one surface is inside the other, or faces of both lie on each other with their
    insides on the same side. Where a triangle meets no other, it is on the same side as its neighbours, up to a shell that
    meets nothing."""
    of_p, of_q = {}, {}
    for i, k in pairs:
        of_p.setdefault(i, []).append(k)
        of_q.setdefault(k, []).append(i)
    return cut_pieces_are_inside(p, q, of_p) or cut_pieces_are_inside(q, p, of_q)


def cut_pieces_are_inside(mesh, other, met):
    for shell in mesh.shells():
        if not any(k in met for k in shell) and other.holds(mesh.corners[shell[0]][0]):
            return True
    for k, around in met.items():
        for inner, on in pieces_cut(mesh, k, other, around):
            if any(dot(mesh.normals[k], other.normals[j]) > 0 for j in on):
                return True
            if not on and other.holds(inner):
                return True
    return False


def pieces_cut(mesh, k, other, around):
    """A triangle is cut along those of the other mesh that it meets: a point inside of each piece, with the triangles in
    the same plane that the point is on."""
    normal, pieces, flat = mesh.normals[k], [[tuple(map(rational, x)) for x in mesh.corners[k]]], []
    for j in around:
        corners, across = other.corners[j], other.normals[j]
        if any(cross(normal, across)):
            pieces = cut(pieces, across, corners[0])
            continue
        flat.append(j)
        for a, b in zip(corners, corners[1:] + corners[:1]):
            pieces = cut(pieces, cross(normal, sub(b, a)), a)
    for inner in map(inner_point, pieces):
        yield inner, [j for j in flat if is_on(inner, other.corners[j], other.normals[j])]


def cut(pieces, normal, point):
    """Convex pieces, each in two where the plane passes through it."""
    normal, found = reduced(normal), []
    height = dot(normal, point)
    for piece in pieces:
        heights = [dot(normal, x) - height for x in piece]
        if not {1, -1} <= signs(heights):
            found.append(piece)
            continue
        for sign in (1, -1):
            part = []
            for (x, a), (y, b) in zip(zip(piece, heights), list(zip(piece, heights))[1:] + [(piece[0], heights[0])]):
                if a * sign >= 0:
                    part.append(x)
                if a > 0 > b or a < 0 < b:
                    share = a / (a - b)
                    part.append(tuple(s + share * (t - s) for s, t in zip(x, y)))
            found.append(part)
    return found


def inner_point(piece):
    """A point strictly inside a convex polygon: the middle of three corners that are not in one line."""
    a, b = piece[0], piece[1]
    c = next(c for c in piece[2:] if any(cross(sub(b, a), sub(c, a))))
    return tuple((x + y + z) / 3 for x, y, z in zip(a, b, c))


def is_on(point, corners, normal):
    """Whether a point is on a closed triangle."""
    a = corners[0]
    if dot(normal, sub(point, a)):
        return False
    turns = signs(dot(normal, cross(sub(y, x), sub(point, x))) for x, y in zip(corners, corners[1:] + corners[:1]))
    return -1 not in turns


def is_inside_region(surface, region, pairs):
    """Whether a mesh that bounds nothing, and meets the surface of a region in these pairs, has a point inside."""
    met = {}
    for i, k in pairs:
        met.setdefault(i, []).append(k)
    for shell in surface.shells():
        if not any(k in met for k in shell) and region.holds(surface.corners[shell[0]][0]):
            return True
    return any(not on and region.holds(inner)
               for k, around in met.items() for inner, on in pieces_cut(surface, k, region, around))


def cross_each_other(p, q, normals):
    """Whether two triangles have inner points in common, and are not in parallel planes."""
    way = cross(*normals)
    if not any(way):
        return False
    ends = []
    for corners, other, normal in ((p, q, normals[1]), (q, p, normals[0])):
        heights = [rational(dot(normal, sub(x, other[0]))) for x in corners]
        if not {1, -1} <= signs(heights):
            return False
        found = [dot(way, x) for x, h in zip(corners, heights) if h == 0]
        for i, j in ((0, 1), (1, 2), (2, 0)):
            if heights[i] * heights[j] < 0:
                share = heights[i] / (heights[i] - heights[j])
                a, b = dot(way, corners[i]), dot(way, corners[j])
                found.append(a + share * (b - a))
        ends.append((min(found), max(found)))
    return max(ends[0][0], ends[1][0]) < min(ends[0][1], ends[1][1])


def stand(p, q):
    """How two meshes stand. Two that bound no region overlap if two of their triangles cross."""
    pairs = meeting(p, q)
    if not pairs:
        held = (p.is_region and any(p.holds(q.points[v]) for v in q.shells_firsts())
                or q.is_region and any(q.holds(p.points[v]) for v in p.shells_firsts()))
        return "OVERLAPPING" if held else "SEPARATED"
    if p.is_region and q.is_region:
        held = interiors_meet(p, q, pairs)
    elif p.is_region:
        held = is_inside_region(q, p, [(k, i) for i, k in pairs])
    elif q.is_region:
        held = is_inside_region(p, q, pairs)
    else:
        held = any(cross_each_other(p.corners[i], q.corners[k], (p.normals[i], q.normals[k])) for i, k in pairs)
    return "OVERLAPPING" if held else "TOUCHING"
