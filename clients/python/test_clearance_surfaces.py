"""A channel made of cells, a peg in its slot, and balls beside it: what is true is accepted, and nothing else."""
import unittest

from clearance_poses import Refused, quaternion_pose
from clearance_solids import Solid
from clearance_surfaces import cloud, verify_surface_distance, verify_surface_motion, verify_surfaces

WORLD = "DIRECTION_FRAME_WORLD"
CUBE = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
PEG = Solid([[x, y, z] for x in (0.0, 0.5) for y in (0.0, 1.0) for z in (0.0, 0.5)])
POINT = Solid([[0.0, 0.0, 0.0]])
HERE = quaternion_pose([0, 0, 0], [1, 0, 0, 0])


def tower(x):
    """The faces of a cube beside another one."""
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    triangles = [t for a, b, c, d in faces for t in ([a, b, c], [a, c, d])]
    return [[x + v[0], *v[1:]] for v in CUBE], triangles


def towers():
    """Two cubes with a gap from x = 1 to x = 2, as one body: eight vertices each, twelve triangles each."""
    left, right = tower(0), tower(2)
    return Solid(left[0] + right[0], left[1] + [[v + 8 for v in t] for t in right[1]])


def at(x, y=0.0, z=0.0):
    return quaternion_pose([x, y, z], [1, 0, 0, 0])


def apart(x):
    return {"chain": [{"frame": WORLD, "direction": {"vector": {"x": x}}}]}


# The left tower is to the left of what is between them, and the right one to the right.
BETWEEN = {"steps": [{"split": "COVER_SPLIT_P"}, apart(1.0), apart(-1.0)]}


class Surfaces(unittest.TestCase):
    def rule(self, judge, *claim, **more):
        try:
            judge(*claim, **more)
            return True
        except Refused:
            return False

    def distance(self, lower, upper, pairs=({"i": 5, "j": 0},), cover=BETWEEN, **more):
        certificate = {"verdict": {"solid": {"separated": cover, **more.pop("solid", {})}}, "pairs": list(pairs)}
        return self.rule(verify_surface_distance, towers(), PEG, HERE, at(1.125), (0, 0), "SEPARATED",
                         {"lower": lower, "upper": upper}, certificate, **more)

    def test_a_distance_is_shown_by_directions_and_pairs(self):
        near = {"i": 4, "j": 0}
        self.assertTrue(self.distance(0.125, 0.125, [near]))
        self.assertTrue(self.distance(0.0, 0.25, [near]))
        self.assertFalse(self.distance(0.126, 0.127, [near]))      # nearer than that
        self.assertFalse(self.distance(0.1, 0.124, [near]))        # farther than that
        self.assertFalse(self.distance(0.125, 0.125, []))
        self.assertFalse(self.distance(0.125, 0.125, [{"i": 0, "j": 0}]))
        # Vertices of two towers are of no one face.
        self.assertFalse(self.distance(0.125, 3.0, [near, {"i": 12, "j": 0}]))
        self.assertFalse(self.distance(0.125, 0.125, [near], {"steps": [apart(1.0)]}))
        self.assertFalse(self.distance(0.125, 0.125, [near], {"steps": BETWEEN["steps"][:2]}))

    def test_margins_are_kept_or_not(self):
        near = [{"i": 4, "j": 0}]
        self.assertTrue(self.distance(0.125, 0.125, near, margin=0.1, within=False))
        self.assertFalse(self.distance(0.125, 0.125, near, margin=0.125, within=False))
        self.assertTrue(self.distance(0.125, 0.125, near, solid={"marginPairs": near}, margin=0.125, within=True))
        self.assertFalse(self.distance(0.125, 0.125, near, solid={"marginPairs": near}, margin=0.12, within=True))
        self.assertFalse(self.distance(0.125, 0.125, near, margin=0.125, within=True))
        self.assertFalse(self.distance(0.125, 0.125, near, margin=None, within=False))

    def ball(self, x, radius, verdict, **told):
        proof = {"rounded": {"verdict": f"VERDICT_{verdict}", **told}}
        return self.rule(verify_surfaces, towers(), POINT, HERE, at(x, 0.5, 0.5), (0, radius), verdict, proof)

    def test_balls_stand_as_their_radii_say(self):
        wall = [{"i": v} for v in (4, 5, 7)]
        self.assertTrue(self.ball(1.5, 0.25, "SEPARATED", cover=BETWEEN))
        self.assertFalse(self.ball(1.5, 0.5, "SEPARATED", cover=BETWEEN))
        self.assertTrue(self.ball(1.5, 0.5, "TOUCHING", cover=BETWEEN, pairs=wall))
        self.assertFalse(self.ball(1.5, 0.5, "TOUCHING", pairs=wall))
        self.assertFalse(self.ball(1.5, 0.25, "TOUCHING", cover=BETWEEN, pairs=wall))
        self.assertTrue(self.ball(1.5, 0.75, "OVERLAPPING", pairs=wall))
        self.assertFalse(self.ball(1.5, 0.5, "OVERLAPPING", pairs=wall))
        self.assertTrue(self.ball(0.5, 0.125, "OVERLAPPING", innerVertex=0))
        self.assertFalse(self.ball(1.5, 0.125, "OVERLAPPING", innerVertex=0))
        self.assertFalse(self.ball(0.5, 0.125, "OVERLAPPING", innerVertex=1))

    def cloud(self, points, radius, verdict, **told):
        proof = {"rounded": {"verdict": f"VERDICT_{verdict}", **told}}
        return self.rule(verify_surfaces, cloud(points), towers(), HERE, HERE, (radius, 0), verdict, proof)

    def test_a_cloud_is_the_balls_around_its_points_and_nothing_between_them(self):
        # One ball on either side of the left tower, given twice and in no order.
        points = [[1.5, 0.5, 0.5], [-0.5, 0.5, 0.5], [1.5, 0.5, 0.5]]
        self.assertEqual(cloud(points).points, [(-0.5, 0.5, 0.5), (1.5, 0.5, 0.5)])
        both = {"steps": [{"split": "COVER_SPLIT_P"}, apart(1.0), {"split": "COVER_SPLIT_Q"}, apart(-1.0), apart(1.0)]}
        self.assertTrue(self.cloud(points, 0.25, "SEPARATED", cover=both))
        self.assertFalse(self.cloud(points, 0.5, "SEPARATED", cover=both))
        self.assertFalse(self.cloud(points, 0.25, "SEPARATED", cover={"steps": [apart(1.0)]}))
        wall = [{"i": 1, "j": v} for v in (4, 5, 7)]
        self.assertTrue(self.cloud(points, 0.5, "TOUCHING", cover=both, pairs=wall))
        self.assertTrue(self.cloud(points, 0.75, "OVERLAPPING", pairs=wall))
        # Two points are no face: nothing is between them.
        between = [{"i": 0, "j": 4}, {"i": 1, "j": 4}]
        self.assertFalse(self.cloud([[0.5, 0.5, 1.0], [2.5, 0.5, 1.0]], 0.1, "OVERLAPPING", pairs=between))
        inside = [[9.0, 9.0, 9.0], [0.5, 0.5, 0.5]]
        self.assertTrue(self.cloud(inside, 0.125, "OVERLAPPING", innerVertex=0))
        self.assertFalse(self.cloud(inside, 0.125, "OVERLAPPING", innerVertex=1))
        # What no face names is no part of the body.
        loose = Solid(cloud(inside).points, [[1, 1, 1]], is_surface=True)
        proof = {"rounded": {"verdict": "VERDICT_OVERLAPPING", "innerVertex": 0}}
        self.assertFalse(self.rule(verify_surfaces, loose, towers(), HERE, HERE, (0.125, 0), "OVERLAPPING", proof))

    def moves(self, t_free, t_contact, outcome="CONTACT", margin=0.0, free=None, pairs=({"i": 4, "j": 0},)):
        """A peg that moves a quarter to the left, beside a tower at an eighth."""
        chain = {"chain": [{"t0": 0.0, "t1": t_free, "frame": WORLD, "direction": {"vector": {"x": 1.0}}}]}
        other = {"chain": [{"t0": 0.0, "t1": t_free, "frame": WORLD, "direction": {"vector": {"x": -1.0}}}]}
        cover = free or {"steps": [{"split": "COVER_SPLIT_P"}, chain, other]}
        answer = {"outcome": f"OUTCOME_{outcome}", "tFree": t_free, "initialVerdict": "VERDICT_SEPARATED",
                  "certificate": {"solid": {"free": cover, "contactPairs": list(pairs)}}}
        if outcome == "CONTACT":
            answer["tContact"] = t_contact
        motion = ("linear", (-0.25, 0.0, 0.0))
        rest = ("linear", (0.0, 0.0, 0.0))
        return self.rule(verify_surface_motion, towers(), PEG, HERE, at(1.125), (0, 0), rest, motion, answer, margin)

    def test_a_peg_comes_within_its_margin_when_it_does(self):
        self.assertTrue(self.moves(0.24, 0.26, margin=0.0625))
        self.assertFalse(self.moves(0.26, 0.27, margin=0.0625))    # not free so long
        self.assertFalse(self.moves(0.2, 0.24, margin=0.0625))     # not yet within it
        self.assertFalse(self.moves(0.24, 0.26, margin=0.0625, pairs=[]))
        self.assertFalse(self.moves(0.24, 0.26, margin=0.0625, pairs=[{"i": 0, "j": 0}]))
        self.assertFalse(self.moves(0.24, 0.26, margin=0.0625, free={"steps": []}))
        self.assertFalse(self.moves(1.0, 1.0, "NO_CONTACT", margin=0.0625))


if __name__ == "__main__":
    unittest.main()
