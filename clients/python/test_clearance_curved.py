import math
import unittest
from itertools import product

from clearance_curved import Refused, rests, verify_around, verify_curved, verify_inside

FORMS = ("cylinder", "cone", "ellipsoid")
HALF = [1.0, 2.0, 0.5]
SIDES = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]


def box(a, b, c):
    """Its corners in canonical order, and its triangles seen from outside."""
    corners = [[x, y, z] for x in (-a, a) for y in (-b, b) for z in (-c, c)]
    place = lambda at: (at & 1) << 2 | at & 2 | at >> 2  # the sides count x first
    return corners, [place(at) for i, j, k, l in SIDES for at in (i, j, k, i, k, l)]


def accepts(judge, *told):
    try:
        judge(*told)
        return True
    except Refused:
        return False


class Around(unittest.TestCase):
    def test_the_box_of_the_half_sizes_is_around_and_one_an_ulp_smaller_is_not(self):
        for form in FORMS:
            self.assertTrue(accepts(verify_around, form, HALF, *box(*HALF)), form)
            for axis in range(3):
                less = [math.nextafter(x, 0) if k == axis else x for k, x in enumerate(HALF)]
                self.assertFalse(accepts(verify_around, form, HALF, *box(*less)), (form, axis))

    def test_sizes_that_the_server_refuses_are_refused(self):
        """A tampered scale of 5e-324 was refused by the server and judged here."""
        for size, held in [(2.0 ** -300, True), (math.nextafter(2.0 ** -300, 0), False), (5e-324, False), (math.nextafter(2.0 ** 300, math.inf), False)]:
            half = [size, 2.0, 0.5]
            self.assertEqual(accepts(verify_around, "ellipsoid", half, *box(size, 2.0, 0.5)), held, size)

    def test_a_surface_that_is_open_or_inside_out_or_empty_or_beside_is_around_nothing(self):
        for form in FORMS:
            points, triangles = box(3.0, 3.0, 3.0)
            self.assertTrue(accepts(verify_around, form, HALF, points, triangles * 2))
            beside = [[x + 7, y, z] for x, y, z in points]
            for given in [(points, triangles[::-1]), (points, triangles[3:]), (points, []), (beside, triangles),
                          (points, [0, 1, 2, 0, 2, 1]), (points, [0, 1, 1, 1, 0, 0]), (points, [0, 1, 8, 1, 0, 8]), (points, [0, 1])]:
                self.assertFalse(accepts(verify_around, form, HALF, *given), given)

    def test_the_boundary_is_inside_and_an_ulp_beyond_is_not(self):
        up = lambda x: math.nextafter(x, math.copysign(math.inf, x))
        for form in FORMS:
            base = -0.5 if form == "cone" else 0.0
            for point, axis in [([1.0, 0.0, base], 0), ([0.0, -2.0, base], 1), ([0.0, 0.0, 0.5], 2), ([0.0, 0.0, -0.5], 2)]:
                self.assertTrue(accepts(verify_inside, form, HALF, [point]), (form, point))
                point[axis] = up(point[axis])
                self.assertFalse(accepts(verify_inside, form, HALF, [point]), (form, point))
        standing = [1.0, 1.0, -1.0]
        for point, held in [((1, 0, 1), True), ((0, 0, -1), True), ((1, 0, -1), False), ((0, 0, -2), False), ((0, 0, 1.5), False)]:
            self.assertEqual(accepts(verify_inside, "cone", standing, [list(map(float, point))]), held, point)


class Rests(unittest.TestCase):
    def test_a_verdict_rests_on_the_side_that_shows_it(self):
        said = lambda word: word and {"verdict": f"VERDICT_{word}"}
        rule = lambda told, *sides: accepts(rests, "collision", said(told), *map(said, sides))
        words = ("SEPARATED", "TOUCHING", "OVERLAPPING")
        for outer, inner in product((None, *words), repeat=2):
            self.assertEqual(rule("SEPARATED", outer, inner), outer == "SEPARATED")
            self.assertEqual(rule("OVERLAPPING", outer, inner), inner == "OVERLAPPING")
            met = outer in ("SEPARATED", "TOUCHING") and inner in ("TOUCHING", "OVERLAPPING")
            self.assertEqual(rule("TOUCHING", outer, inner), met)

    def test_a_course_is_free_as_what_is_around_and_met_as_what_is_inside(self):
        def course(outcome, t_free, t_contact=None, verdict="SEPARATED"):
            told = {"initialVerdict": f"VERDICT_{verdict}", "outcome": f"OUTCOME_{outcome}", "tFree": t_free}
            return {**told, **({} if t_contact is None else {"tContact": t_contact})}
        outer, inner = course("CONTACT", 0.5, 0.6), course("CONTACT", 0.6, 0.7)
        for told, holds in [(course("CONTACT", 0.5, 0.7), True), (course("CONTACT", math.nextafter(0.5, 1), 0.7), False),
                            (course("CONTACT", 0.5, math.nextafter(0.7, 0)), False), (course("NO_CONTACT", 0.5), False),
                            (course("UNDECIDED", 0.5), True), (course("UNDECIDED", 0.6), False)]:
            self.assertEqual(accepts(rests, "firstContact", told, outer, inner), holds, told)
        never = course("NO_CONTACT", 1.0)
        self.assertTrue(accepts(rests, "firstContact", never, never, None))
        self.assertFalse(accepts(rests, "firstContact", never, None, never))
        at_once = course("CONTACT", 0.0, 0.0, "OVERLAPPING")
        self.assertTrue(accepts(rests, "firstContact", at_once, None, at_once))
        self.assertFalse(accepts(rests, "firstContact", course("CONTACT", 0.0, 0.5, "OVERLAPPING"), None, at_once))

    def test_a_range_begins_and_ends_between_those_of_both_sides(self):
        def said(verdict="SEPARATED", enter=None, exit=None):
            ends = {"enter": enter, "exit": exit}
            told = {name: {"lower": end[0], "upper": end[1]} for name, end in ends.items() if end}
            return {"verdict": f"VERDICT_{verdict}", **told}
        up, down = lambda x: math.nextafter(x, math.inf), lambda x: math.nextafter(x, 0)
        rule = lambda *told: accepts(rests, "distanceAlong", *told)
        outer, inner = said(enter=(1.0, 1.5), exit=(8.0, 9.0)), said(enter=(2.0, 2.5), exit=(6.0, 7.0))
        self.assertTrue(rule(said(enter=(1.0, 2.5), exit=(6.0, 9.0)), outer, inner))
        for enter, exit in [((up(1.0), 2.5), (6.0, 9.0)), ((1.0, down(2.5)), (6.0, 9.0)), ((1.0, 2.5), (up(6.0), 9.0)),
                            ((1.0, 2.5), (6.0, down(9.0))), ((math.nan, 2.5), (6.0, 9.0)), ((-1.0, 2.5), (6.0, 9.0)),
                            (None, None), ((1.0, 2.5), None)]:
            self.assertFalse(rule(said(enter=enter, exit=exit), outer, inner), (enter, exit))
        self.assertFalse(rule(said(enter=(1.0, 2.5), exit=(6.0, 9.0)), outer, None))
        self.assertFalse(rule(said(enter=(1.0, 2.5), exit=(6.0, 9.0)), None, inner))
        # That what is inside never meets shows nothing.
        self.assertTrue(rule(said(), said(), None))
        self.assertFalse(rule(said(), None, said()))
        deep = lambda *ends: said("OVERLAPPING", *ends)
        sides = deep((0.0, 0.0), (6.0, 9.0)), deep((0.0, 0.0), (6.0, 7.0))
        self.assertTrue(rule(deep((0.0, 0.0), (6.0, 9.0)), *sides))
        self.assertFalse(rule(deep((0.0, 1.0), (6.0, 9.0)), *sides))
        self.assertFalse(rule(deep(), *sides))

    def test_the_sides_are_handed_to_who_judges_them_with_their_points(self):
        points, triangles = box(1.0, 2.0, 0.5)
        hulls = {"outer": {"xyz": [x for point in points for x in point]}, "outerTriangles": triangles}
        side = {"verdict": "VERDICT_SEPARATED", "collision": {"separated": {}}}
        answer = {"verdict": "VERDICT_SEPARATED", "certificate": {"curved": {"p": hulls, "outer": [side]}}}
        seen = []
        curved = [("cylinder", HALF, 0.0), None]
        verify_curved("collision", curved, {}, answer, lambda points, told: seen.append((points, told)))
        told = {"verdict": "VERDICT_SEPARATED", "certificate": {"separated": {}}}
        self.assertEqual(seen, [([points, None], told)])
        for other in ([None, None], [None, curved[0]], [("cylinder", [1.0, 2.0, 0.51], 0.0), None]):
            self.assertFalse(accepts(verify_curved, "collision", other, {}, answer, lambda *_: None), other)


if __name__ == "__main__":
    unittest.main()
