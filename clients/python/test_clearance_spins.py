"""Bodies that say how they turned (`ToPoseMotion.spin`): they go that way, and not the short one."""
import math, unittest

from clearance_compounds import part_motions
from clearance_poses import Refused, turn_of_spin
from clearance_verify import ONE, Mover, matrix_pose, verify_motion

START = matrix_pose([0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
REST = ("linear", (0.0, 0.0, 0.0))
SPIN = turn_of_spin([0.0, 0.0, math.radians(300)])


def turned(degrees):
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return matrix_pose([0.0, 0.0, 0.0], [c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0])


class Spins(unittest.TestCase):
    def test_a_body_is_halfway_after_half_of_its_spin(self):
        for turn, degrees in ([SPIN], 150), ([], -30):
            mover = Mover([[2.0, 0.0, 0.0]], START, ("to_pose", turned(-60), *turn, None), 1)
            x, y, _ = mover.place(mover.v[0], ONE // 2, mover.turn(ONE // 2))
            self.assertAlmostEqual(x / ONE, 2 * math.cos(math.radians(degrees)), 12)
            self.assertAlmostEqual(y / ONE, 2 * math.sin(math.radians(degrees)), 12)

    def test_what_keeps_the_short_way_free_proves_nothing_of_the_spin(self):
        """A point goes from (2, 0) to -60 degrees, below the line y = 0.5 of a point beyond it."""
        point, wall = [[2.0, 0.0, 0.0]], [[0.0, 1.5, 0.0]]
        free = {"verdict": "NO_CONTACT", "t_free": 1.0, "certificate": {"chain": [
            {"frame": "world", "t0": 0.0, "t1": 1.0, "direction": [0.0, -1.0, 0.0]}]}}
        judge = lambda *turn: verify_motion(wall, point, START, START, REST, ("to_pose", turned(-60), *turn, None), free)
        judge()
        with self.assertRaises(Refused):
            judge(SPIN)

    def test_the_parts_of_a_body_take_its_spin(self):
        beside = matrix_pose([0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        for motion in part_motions([(None, START), (None, beside)], START, ("to_pose", turned(-60), SPIN, None)):
            self.assertEqual(motion[2], SPIN)


if __name__ == "__main__":
    unittest.main()
