"""The references themselves: beside closed forms, beside other ways to the same number, and made to fail."""
import math
import random
import unittest
from decimal import Decimal
from fractions import Fraction
from itertools import product

import reference as r
from bodies import ROTATIONS, Body, Two, turned, turned_back
from meshes import Mesh, stand
from rolling import Approach
from solid_cases import BLOCK, HOLLOW, OCTAHEDRON, TETRAHEDRON, TWO, grown, sheared
from polyhedra import of_cells


def whole_points(draw, count, most=6):
    return [tuple(draw.randrange(-most, most + 1) for _ in range(3)) for _ in range(count)]


def box(low, high):
    return [tuple(corner) for corner in product(*zip(low, high))]


def ball(radius, at, moves=(0.0, 0.0, 0.0)):
    return Body({}, [(0.0, 0.0, 0.0)], radius=radius, at=at, moves=moves)


class Hulls(unittest.TestCase):
    def test_the_nearest_point_is_that_of_a_look_at_all_features(self):
        draw = random.Random(1)
        zeros = 0
        for _ in range(300):
            p, q = whole_points(draw, draw.randrange(1, 4)), whole_points(draw, draw.randrange(1, 4))
            found = r.squared(r.differences(p, q))
            self.assertEqual(found, r.squared_by_features(p, q), (p, q))
            zeros += found == 0
        self.assertTrue(5 < zeros < 200, zeros)

    def test_distances_of_boxes_are_those_of_their_intervals(self):
        draw = random.Random(2)
        for _ in range(200):
            ends = [[sorted(draw.sample(range(-9, 10), 2)) for _ in range(3)] for _ in range(2)]
            p, q = (box(*zip(*one)) for one in ends)
            gaps = [max(0, c - b, a - d) for (a, b), (c, d) in zip(*ends)]
            self.assertEqual(r.squared(r.differences(p, q)), sum(gap * gap for gap in gaps))
            if not any(gaps):
                least = min(min(b - c, d - a) for (a, b), (c, d) in zip(*ends))
                self.assertEqual(r.squared_depth(p, q), least ** 2)

    def test_a_slanted_depth_is_known(self):
        # An octahedron of radius 3 about the origin, and a point of a box at distance 1 / sqrt(3) from its face.
        p = [(3, 0, 0), (-3, 0, 0), (0, 3, 0), (0, -3, 0), (0, 0, 3), (0, 0, -3)]
        self.assertEqual(r.squared_depth(p, [(1, 1, 0)]), Fraction(1, 3))
        self.assertEqual(r.squared_depth(p, [(1, 1, 1)]), 0)

    def test_flat_hulls_have_no_depth(self):
        self.assertEqual(r.squared_depth([(0, 0, 0), (4, 0, 0), (0, 4, 0)], [(1, 1, 0), (2, 1, 0)]), 0)
        self.assertEqual(r.squared_depth([(0, 0, 0)], [(0, 0, 0)]), 0)

    def test_extremes_and_facets(self):
        points = [*box((0.0, 0.0, 0.0), (2.0, 2.0, 2.0)), (1.0, 1.0, 1.0), (1.0, 0.0, 0.0), (1.0, 1.0, 2.0)]
        self.assertEqual(len(r.extremes(points)), 8)
        whole = [tuple(map(int, point)) for point in points]
        faces = r.facets(whole)
        self.assertEqual(len(faces), 12)
        volume = sum(r.dot(whole[a], r.cross(whole[b], whole[c])) for a, b, c in faces)
        self.assertEqual(volume, 6 * 8)

    def test_numbers_with_a_root(self):
        root = r.Root(2, -1)
        self.assertEqual([root.compared(x) for x in (0.4142135623730950, 0.4142135623730951)], [1, -1])
        self.assertEqual(r.Root(Fraction(9, 4), 2, -1).compared(0.5), 0)
        self.assertEqual([r.Root(3, 2, -1).compared(x) for x in (0.26, 0.27, -5, 9)], [1, -1, 1, -1])
        self.assertTrue(str(root.decimal()).startswith("0.41421356237309504880168872420969807856967187537694807317"))
        self.assertEqual(r.InUnits(r.Root(4), 8).decimal(), Decimal("0.25"))


class Placed(unittest.TestCase):
    def test_rotations(self):
        self.assertEqual(len(set(ROTATIONS)), 24)
        for rows in ROTATIONS:
            self.assertEqual(turned_back(rows, turned(rows, (1.0, 2.0, 3.0))), (1.0, 2.0, 3.0))
            self.assertEqual(r.dot(rows[:3], r.cross(rows[3:6], rows[6:])), 1)

    def test_balls_touch_at_the_length_of_a_quadruple_and_at_no_other(self):
        above, below = math.nextafter(3.0, 9), math.nextafter(3.0, 0)
        for radius, verdict in ((3.0, "TOUCHING"), (above, "OVERLAPPING"), (below, "SEPARATED")):
            self.assertEqual(Two(ball(4.0, (1.0, 1.0, 1.0)), ball(radius, (3.0, 4.0, 7.0))).verdict(), verdict)

    def test_balls_meet_when_a_quadratic_says_so(self):
        draw = random.Random(3)
        for _ in range(100):
            at, moves = ([draw.uniform(-4, 4) for _ in range(3)] for _ in range(2))
            two = Two(ball(0.5, (0.0, 0.0, 0.0)), ball(0.25, at, moves))
            a, b, c = (sum(x * y for x, y in zip(*pair)) for pair in ((moves, moves), (at, moves), (at, at)))
            c -= 0.75 ** 2
            meets = b * b >= a * c and b < 0
            time = (-b - math.sqrt(b * b - a * c)) / a if meets else None
            if c <= 0 or meets and abs(time - 1) < 1e-6:
                continue
            self.assertEqual(two.comes_within(0, 1), meets and time <= 1)
            if meets and time < 1:
                self.assertFalse(two.comes_within(0, time - 1e-9))
                self.assertTrue(two.comes_within(time - 1e-9, time + 1e-9))

    def test_a_ball_in_a_mesh_overlaps_it_although_its_walls_are_as_far_as_its_radius(self):
        mesh = Body({}, BLOCK[0], BLOCK[1])
        for at, verdict in (((0.5, 0.5, 0.5), "OVERLAPPING"), ((1.5, 0.5, 0.5), "TOUCHING"), ((1.75, 0.5, 0.5), "SEPARATED")):
            self.assertEqual(Two(mesh, ball(0.5, at)).verdict(), verdict)
        hollow = Body({}, HOLLOW[0], HOLLOW[1])
        for radius, verdict in ((0.5, "SEPARATED"), (1.0, "TOUCHING"), (1.25, "OVERLAPPING")):
            self.assertEqual(Two(ball(radius, (2.0, 2.0, 2.0)), hollow).verdict(), verdict)

    def test_what_passes_a_corner_is_nearest_on_the_way(self):
        gaps, travel = [(0, -9), (2, -9), (-1, -1)], [Fraction(2), Fraction(-2), Fraction(0)]
        for radii, meets in ((Fraction(7, 4), True), (Fraction(5, 4), False)):
            self.assertEqual(Approach(gaps, travel, radii).meets(Fraction(0), Fraction(1)), meets)

    def test_boxes_on_their_way_are_as_near_as_hulls_say(self):
        draw = random.Random(4)
        met = 0
        for _ in range(200):
            at, moves = ([float(draw.randrange(-5, 6)) for _ in range(3)] for _ in range(2))
            one, other = box((-1.0, -1.0, -2.0), (1.0, 1.0, 2.0)), box((-0.5, -1.0, 0.0), (0.5, 1.0, 1.0))
            two = Two(Body({}, one, radius=0.5), Body({}, other, radius=0.75, at=at, moves=moves))
            gaps = [(a - 1.5, -a - 1.5) for a in at[:1]] + [(a - 2, -a - 2) for a in at[1:2]] + [(at[2] - 2, -at[2] - 3)]
            way = Approach([tuple(map(Fraction, gap)) for gap in gaps], list(map(Fraction, moves)), Fraction(5, 4))
            self.assertEqual(two.square, way.squared(Fraction(0)) * two.unit ** 2)
            start, end = sorted(Fraction(draw.randrange(9), 8) for _ in range(2))
            if two.square > 0:
                found = two.comes_within(start, end)
                self.assertEqual(found, way.meets(start, end))
                met += found
        self.assertTrue(20 < met < 180, met)


class Meshes(unittest.TestCase):
    def test_bodies_of_cells_stand_as_their_cells_do_also_when_sheared(self):
        draw, seen = random.Random(5), set()
        for _ in range(120):
            cells = [{tuple(draw.randrange(3) for _ in range(3)) for _ in range(draw.randrange(1, 6))} for _ in range(2)]
            by = [draw.randrange(-6, 7) / 2 for _ in range(3)]
            gaps = [max(abs(y + d - x) - 1 for x, y, d in zip(p, q, by)) for p in cells[0] for q in cells[1]]
            verdict = "OVERLAPPING" if min(gaps) < 0 else "TOUCHING" if min(gaps) == 0 else "SEPARATED"
            rows, meshes = sheared(draw), []
            for some, off in zip(cells, ([0.0] * 3, by)):
                points, triangles = of_cells(some)
                moved = [[2 * int(x) + int(2 * d) for x, d in zip(point, off)] for point in points]
                meshes.append(Mesh([tuple(r.dot(row, x) for row in rows) for x in moved], triangles))
            self.assertEqual(stand(*meshes), verdict, (cells, by))
            self.assertEqual(stand(*meshes[::-1]), verdict, (cells, by))
            seen.add(verdict)
        self.assertEqual(len(seen), 3)

    def test_what_fills_a_hollow_touches_it_and_what_is_in_it_does_not(self):
        whole = lambda shape, by, scale: Mesh([tuple(int(scale * x) + by for x in point) for point in shape[0]], shape[1])
        around = whole(HOLLOW, 0, 4)  # from 0 to 16, with what is between 4 and 12 left out
        for shape, by, scale, verdict in ((BLOCK, 4, 8, "TOUCHING"), (BLOCK, 5, 4, "SEPARATED"), (BLOCK, 4, 9, "OVERLAPPING"),
                                          (BLOCK, 1, 1, "OVERLAPPING"), (HOLLOW, 0, 4, "OVERLAPPING"), (HOLLOW, 4, 2, "TOUCHING"),
                                          (HOLLOW, -8, 8, "TOUCHING"), (HOLLOW, -40, 16, "OVERLAPPING")):
            found = whole(shape, by, scale)
            self.assertEqual((stand(around, found), stand(found, around)), (verdict, verdict), (by, scale))

    def test_inner_points_of_one_surface_are_enough(self):
        of = lambda shape, by, scale: Mesh([tuple(int(scale * x) + by for x in point) for point in shape[0]], shape[1])
        # A small body in a large one touches its wall in a corner from inside.
        small, large = of(OCTAHEDRON, 1, 1), of(BLOCK, 0, 9)
        self.assertEqual((stand(small, large), stand(large, small)), ("OVERLAPPING", "OVERLAPPING"))
        # Of two boxes one touches a body in a corner, and the other is inside it.
        boxes, around = of(TWO, 0, 1), of(BLOCK, 1, 4)
        self.assertEqual((stand(boxes, around), stand(around, boxes)), ("OVERLAPPING", "OVERLAPPING"))

    def test_corners_and_edges(self):
        of = lambda shape, by=(0, 0, 0): Mesh([tuple(int(x) + d for x, d in zip(point, by)) for point in shape[0]], shape[1])
        for by, verdict in (((2, 0, 0), "TOUCHING"), ((1, 1, 0), "TOUCHING"), ((1, 0, 0), "OVERLAPPING"),
                            ((3, 0, 0), "SEPARATED"), ((2, 1, 0), "SEPARATED"), ((0, 0, 0), "OVERLAPPING")):
            self.assertEqual(stand(of(OCTAHEDRON), of(OCTAHEDRON, by)), verdict, by)
        # The slanted face of the tetrahedron is in x + y + z = 2.
        for by, verdict in (((2, 1, 0), "TOUCHING"), ((1, 1, 1), "TOUCHING"), ((1, 0, 1), "OVERLAPPING"),
                            ((2, 2, 2), "SEPARATED")):
            self.assertEqual(stand(of(TETRAHEDRON), of(OCTAHEDRON, by)), verdict, by)

    def test_triangles_that_bound_nothing_overlap_where_they_cross(self):
        square = [(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)], [(0, 1, 2), (0, 2, 3)]
        sheet = lambda by: Mesh([tuple(x + d for x, d in zip(point, by)) for point in square[0]], square[1], is_region=False)
        upright = Mesh([(1, 1, -1), (3, 1, -1), (2, 1, 1)], [(0, 1, 2)], is_region=False)
        self.assertEqual([stand(sheet(by), upright) for by in ((0, 0, 0), (0, 0, 1), (0, 0, 2), (2, 1, 0), (4, 0, 0))],
                         ["OVERLAPPING", "TOUCHING", "SEPARATED", "TOUCHING", "SEPARATED"])
        self.assertEqual([stand(sheet((0, 0, 0)), sheet(by)) for by in ((4, 4, 0), (1, 1, 0), (5, 0, 0))],
                         ["TOUCHING", "TOUCHING", "SEPARATED"])

    def test_a_point_in_a_hollow_is_outside(self):
        mesh = Mesh([tuple(map(int, point)) for point in HOLLOW[0]], HOLLOW[1])
        points = (2, 2, 2), (8, 8, 8), (1, 8, 8), (17, 8, 8), (3, 15, 9)
        held = [mesh.holds(tuple(Fraction(x, 4) for x in point)) for point in points]
        self.assertEqual(held, [True, False, True, False, True])

    def test_grown_bodies_have_a_surface_that_closes(self):
        draw = random.Random(6)
        for _ in range(20):
            points, triangles = grown(draw, 5)
            edges = [(t[k], t[k - 2]) for t in triangles for k in range(3)]
            self.assertEqual(sorted(edges), sorted((b, a) for a, b in edges))


if __name__ == "__main__":
    unittest.main()
