import math
import unittest

from clearance_rounded import Refused, verify_rounded
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

    def test_what_is_no_claim_is_refused(self):
        for radii in [(-1, 6), (math.nan, 5), (math.inf, 1), (0, 0)]:
            self.assertFalse(self.rule(POINT, POINT, (3, 4, 0), radii, "OVERLAPPING", proof("OVERLAPPING", (0, 0))))
        for pairs in [(), ((0, 1),), ((0, 0),) * 7]:
            self.assertFalse(self.rule(POINT, POINT, (3, 4, 0), (5, 1), "OVERLAPPING", proof("OVERLAPPING", *pairs)))
        self.assertFalse(self.rule(POINT, POINT, (3, 4, 0), (5, 1), "OVERLAPPING", {"overlapping": {}}))


if __name__ == "__main__":
    unittest.main()
