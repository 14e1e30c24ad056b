import math
import unittest

from clearance_rounded import Refused, verify_rounded, verify_rounded_range
from clearance_verify import quaternion_pose


def pose(*t):
    return quaternion_pose(list(t), [1, 0, 0, 0])


CUBE = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
POINT = [[0, 0, 0]]


def proof(verdict, *pairs, margin=()):
    listed = lambda pairs: [{"i": i, "j": j} for i, j in pairs]
    told = {"verdict": f"VERDICT_{verdict}", "pairs": listed(pairs)}
    return {"rounded": {**told, **({"marginPairs": listed(margin)} if margin else {})}}


class Rounded(unittest.TestCase):
    def rule(self, p, q, at, radii, verdict, certificate, *margin):
        try:
            verify_rounded(p, q, pose(0, 0, 0), pose(*at), *radii, verdict, certificate, *margin)
            return True
        except Refused:
            return False

    def test_balls_touch_at_the_sum_of_their_radii_and_at_no_other(self):
        for radii, stands in [((2, 3), "TOUCHING"), ((2, math.nextafter(3, 4)), "OVERLAPPING"),
                              ((2, math.nextafter(3, 2)), "SEPARATED"), ((5, 5e-324), "OVERLAPPING")]:
            for verdict in ("SEPARATED", "TOUCHING", "OVERLAPPING"):
                ruled = self.rule(POINT, POINT, (3, 4, 0), radii, verdict, proof(verdict, (0, 0)))
                self.assertEqual(ruled, verdict == stands, (radii, verdict))

    def test_a_direction_that_is_not_the_nearest_ones_shows_no_touching(self):
        # The ball is 5 from the corner named, and 4 from the face.
        self.assertFalse(self.rule(CUBE, POINT, (5, 1, -2), (0, 5), "TOUCHING", proof("TOUCHING", (7, 0))))
        face = proof("TOUCHING", (4, 0), (5, 0), (7, 0))
        self.assertTrue(self.rule(CUBE, POINT, (5, 0.5, 0.75), (0, 4), "TOUCHING", face))
        self.assertFalse(self.rule(CUBE, POINT, (5, 0.5, 0.75), (0, 4), "SEPARATED", proof("SEPARATED", (7, 0))))

    def test_polytopes_in_contact_overlap_with_any_radius(self):
        inside = proof("OVERLAPPING", (0, 0), (3, 0), (5, 0), (6, 0))
        self.assertTrue(self.rule(CUBE, POINT, (0, 0, 0), (5e-324, 0), "OVERLAPPING", inside))
        self.assertFalse(self.rule(CUBE, POINT, (0, 0, 0), (0, 0), "OVERLAPPING", inside))

    def test_margins_are_added_to_the_radii(self):
        for margin, within in [(2, True), (math.nextafter(2, 0), False)]:
            for said in (True, False):
                ruled = self.rule(POINT, POINT, (3, 4, 0), (1, 2), "SEPARATED", proof("SEPARATED", (0, 0)), margin, said)
                self.assertEqual(ruled, said == within)
        touching = proof("TOUCHING", (0, 0))
        self.assertTrue(self.rule(POINT, POINT, (3, 4, 0), (2, 3), "TOUCHING", touching, 0, True))
        self.assertFalse(self.rule(POINT, POINT, (3, 4, 0), (2, 3), "TOUCHING", touching, 0, False))

    def test_within_a_margin_below_zero_are_those_that_are_so_deep(self):
        ball, deep = proof("OVERLAPPING", (0, 0)), proof("OVERLAPPING", (0, 0), (3, 0), (5, 0), (6, 0))
        up = {"less": {"vector": {"x": 0.0, "y": 0.0, "z": 1.0}}}
        faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
                 (1, 5, 7), (1, 7, 3)]
        # Differences are minus the corners: what turned outward turns inward.
        around = {"atLeast": {"corners": [{"i": i, "j": 0} for i in range(8)], "triangles": [i for a, b, c in faces for i in (a, c, b)]}}
        shown = lambda certificate, depth: {"rounded": {**certificate["rounded"], "marginDepth": depth}}
        for said in (True, False):
            # Balls of 2 and 4 whose middles are 5 apart are 1 deep.
            for margin, within in [(-1, True), (math.nextafter(-1, -2), False), (-5e-324, True)]:
                self.assertEqual(self.rule(POINT, POINT, (3, 4, 0), (2, 4), "OVERLAPPING", ball, margin, said), said == within)
            self.assertEqual(self.rule(POINT, POINT, (3, 4, 0), (2, 3), "TOUCHING", proof("TOUCHING", (0, 0)), -5e-324, said), not said)
            # A cube of 2 around the middle of a ball of 2 is 3 deep.
            for margin, within in [(-3, True), (math.nextafter(-3, -4), False), (-2, True)]:
                for depth in (None, up, around):
                    certificate = shown(deep, depth) if depth else deep
                    ruled = self.rule(CUBE, POINT, (0, 0, 0), (0, 2), "OVERLAPPING", certificate, margin, said)
                    by = "less" if depth is up else "atLeast" if depth is around else "pairs" if margin == -2 else None
                    kept = said == within and by in (("atLeast", "pairs") if within else ("less",))
                    self.assertEqual(ruled, kept, (margin, said, depth))
        self.assertFalse(self.rule(CUBE, POINT, (0, 0, 0), (0, 2), "OVERLAPPING", shown(deep, up), 0, True))
        for margin in (math.nan, -math.inf):
            self.assertFalse(self.rule(POINT, POINT, (3, 4, 0), (2, 4), "OVERLAPPING", ball, margin, False))

    def test_what_is_no_claim_is_refused(self):
        for radii in [(-1, 6), (math.nan, 5), (math.inf, 1), (0, 0)]:
            self.assertFalse(self.rule(POINT, POINT, (3, 4, 0), radii, "OVERLAPPING", proof("OVERLAPPING", (0, 0))))
        for pairs in [(), ((0, 1),), ((0, 0),) * 7]:
            self.assertFalse(self.rule(POINT, POINT, (3, 4, 0), (5, 1), "OVERLAPPING", proof("OVERLAPPING", *pairs)))
        self.assertFalse(self.rule(POINT, POINT, (3, 4, 0), (5, 1), "OVERLAPPING", {"overlapping": {}}))


class Ranges(unittest.TestCase):
    """Balls of radii 1 and 4, the middle of the second 6 ahead and 3 beside: in contact from 2 to 10."""
    NEAREST = {"direction": {"nearest": {"pairs": [{}]}}, "pairs": [{}]}

    def rule(self, enter, exit, y=3.0, verdict="SEPARATED", along=(1.0, 0.0, 0.0), proven=None):
        told = {name: {"lower": end[0], "upper": end[1]} for name, end in (("enter", enter), ("exit", exit)) if end}
        proven = proven or {name: self.NEAREST for name in told} or {"never": self.NEAREST["direction"]}
        answer = {"verdict": f"VERDICT_{verdict}", **told, "certificate": proof(verdict, (0, 0)), "rangeCertificate": proven}
        try:
            verify_rounded_range(POINT, POINT, pose(0, 0, 0), pose(6, y, 0), 1, 4, list(along), answer)
            return True
        except Refused:
            return False

    def test_both_ends_are_proven_to_the_last_bit(self):
        up, down = lambda x: math.nextafter(x, math.inf), lambda x: math.nextafter(x, 0)
        self.assertTrue(self.rule((2, 2), (10, 10)))
        self.assertTrue(self.rule((down(2), 3), (9, up(10))))
        for enter, exit in [((up(2), 3), (10, 10)), ((1, down(2)), (10, 10)), ((2, 2), (9, down(10))), ((2, 2), (up(10), 11)),
                            ((3, 2), (10, 10)), ((-1, 2), (10, 10)), ((math.nan, 2), (10, 10)), ((0, 0), (10, 10)), ((2, 2), None)]:
            self.assertFalse(self.rule(enter, exit), (enter, exit))
        self.assertFalse(self.rule((2, 2), (10, 10), along=(1.0, 0.1, 0.0)))
        self.assertFalse(self.rule((2, 2), (10, 10), along=(-1.0, 0.0, 0.0)))
        self.assertFalse(self.rule((2, 2), (10, 10), proven={"exit": self.NEAREST}))

    def test_a_graze_is_one_moment_and_a_miss_by_the_last_bit_is_none(self):
        # Along a direction across the way nothing comes nearer.
        across = {"direction": {"vector": {"y": 1.0}}, "pairs": [{}]}
        self.assertFalse(self.rule((6, 6), (6, 6), y=5.0, proven={"enter": across, "exit": across}))
        missed = math.nextafter(5.0, 6.0)
        self.assertTrue(self.rule(None, None, y=missed))
        self.assertFalse(self.rule(None, None, y=5.0))
        self.assertFalse(self.rule(None, None, y=3.0))
        self.assertTrue(self.rule(None, None, y=3.0, along=(-1.0, 0.0, 0.0)))

    def test_in_contact_a_range_begins_at_once(self):
        self.assertTrue(self.within((0, 0), (9, 9)))
        self.assertFalse(self.within((0, 1), (9, 9)))
        self.assertFalse(self.within((0, 0), (8, 8)))

    def within(self, enter, exit):
        """The middle of the second is 4 ahead."""
        told = {"enter": {"upper": enter[1], "lower": enter[0]}, "exit": {"lower": exit[0], "upper": exit[1]}}
        answer = {"verdict": "VERDICT_OVERLAPPING", **told, "certificate": proof("OVERLAPPING", (0, 0)),
                  "rangeCertificate": {"exit": self.NEAREST}}
        try:
            verify_rounded_range(POINT, POINT, pose(0, 0, 0), pose(4, 0, 0), 1, 4, [1.0, 0.0, 0.0], answer)
            return True
        except Refused:
            return False


if __name__ == "__main__":
    unittest.main()
