"""Valid certificates are accepted and every kind of tampering is refused, on cases small enough to
check by hand. Run: python3 -m unittest discover -s clients/python"""
import copy, io, itertools, json, math, os, random, tempfile, unittest
from contextlib import redirect_stdout
from fractions import Fraction

import clearance_answers
import clearance_verify as cv

CUBE = [[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]
ROD = [[-2.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.125, 0.0], [0.0, 0.0, 0.125], [0.0, -0.125, -0.125]]


def at(x=0.0, y=0.0, z=0.0, q=(1.0, 0.0, 0.0, 0.0)):
    return cv.quaternion_pose([x, y, z], list(q))


def ulp(x, by=1):
    for _ in range(abs(by)):
        x = math.nextafter(x, math.inf if by > 0 else -math.inf)
    return x


def sampled(start, motion, t):
    """In floating point: how directions turn until t, and where a vertex is; by Rodrigues' formula."""
    (rows, t0), pivot = start, motion[-1] if motion[0] != "linear" else None
    c = pivot or t0
    lever = cv.sub(t0, c)
    axis, angle = {"linear": lambda: ([0.0] * 3, 0.0), "screw": lambda: motion[2:4],
                   "to_pose": lambda: cv.axis_and_angle(rows, motion[1][0])}[motion[0]]()
    n = math.sqrt(cv.dot(axis, axis)) or 1.0
    a = [x / n for x in axis]

    def turned(w, phi):
        once = cv.cross(a, w)
        twice = cv.cross(a, once)
        return [x + math.sin(phi) * y + (1 - math.cos(phi)) * z for x, y, z in zip(w, once, twice)]

    def screw(v, u, time):
        arm = turned(cv.add(cv.times(rows, v), lever), angle * time)
        return cv.add(cv.add(c, arm), [x * time for x in u])

    def place(v):
        if motion[0] != "to_pose":
            return screw(v, motion[1], t)
        goal = cv.add(cv.times(motion[1][0], v), motion[1][1])
        missing = cv.sub(goal, screw(v, [0.0] * 3, 1.0))
        return cv.add(screw(v, [0.0] * 3, t), [x * t for x in missing])
    return (lambda w: turned(w, angle * t)), place


class Judged(unittest.TestCase):
    def refused(self, function, *arguments, **named):
        with self.assertRaises(cv.Refused):
            function(*arguments, **named)


class StaticCertificates(Judged):
    """The cube against itself moved along x: M is the cube of edge 4, moved alike."""

    def judge(self, x, verdict, cert, p=CUBE, q=CUBE):
        cv.verify_static(p, q, at(), at(x), verdict, cert)

    def test_a_direction_separates_a_gap_of_one_ulp_and_nothing_less(self):
        cert = {"direction": [1.0, 0.0, 0.0]}
        self.judge(ulp(2.0), "SEPARATED", cert)
        self.refused(self.judge, 2.0, "SEPARATED", cert)                       # pose by an ulp
        self.refused(self.judge, ulp(2.0), "TOUCHING", cert)                   # verdict
        self.refused(self.judge, ulp(2.0), "OVERLAPPING", cert)
        self.refused(self.judge, ulp(2.0), "APART", cert)
        for changed in ([-1.0, 0.0, 0.0], [1.0, 1e-15, 0.0], [0.0] * 3, [math.nan, 0.0, 0.0],
                        [math.inf, 0.0, 0.0], [1.0, 0.0], None, [True, 0.0, 0.0]):
            self.refused(self.judge, ulp(2.0), "SEPARATED", {"direction": changed})
        self.refused(cv.verify_static, CUBE, CUBE, at(ulp(2.0)), at(), "SEPARATED", cert)  # swapped

    def test_normals_by_vertex_pairs_are_the_products_that_they_name(self):
        # With vertex 0 of P, differences move as Q's vertices 0, y, z do; y x z = x.
        normal = {"direction_pairs": [[0, 0], [0, 2], [0, 1]], "direction_sign": 1}
        edge = {"direction_pairs": [[0, 0], [0, 2]], "direction_axis": 2, "direction_sign": 1}
        for cert in (normal, edge):
            self.judge(3.0, "SEPARATED", cert)
            for key, value in (("direction_sign", -1), ("direction_sign", 2), ("direction_axis", 1),
                               ("direction_axis", 3), ("direction_pairs", [[0, 0], [0, 2]][:1]),
                               ("direction_pairs", [[0, 0], [0, 8], [0, 1]][:len(cert) + 1]),
                               ("direction_pairs", [[0, 0], [0, 0], [0, 0]]),
                               ("direction", [1.0, 0.0, 0.0])):
                self.refused(self.judge, 3.0, "SEPARATED", {**cert, key: value})
        # An index off by one names another plane; -1 is no vertex.
        for pairs in ([[0, 0], [0, 2], [0, 0]], [[0, 0], [0, 3], [0, 2]], [[0, 0], [0, 2], [0, -1]]):
            self.refused(self.judge, 3.0, "SEPARATED", {**normal, "direction_pairs": pairs})

    def test_touching_needs_a_common_plane_and_pairs_around_the_origin(self):
        x = {"direction": [1.0, 0.0, 0.0]}
        skew = [[4, 2], [6, 0]]                # differences (0, 2, 0) and (0, -2, 0)
        three = [[4, 3], [6, 0], [5, 0]]       # (0, 2, 2), (0, -2, 0), (0, 0, -2)
        for pairs in ([[4, 0]], skew, three):
            self.judge(2.0, "TOUCHING", {**x, "pairs": pairs})
            self.refused(self.judge, ulp(2.0), "TOUCHING", {**x, "pairs": pairs})
            self.refused(self.judge, ulp(2.0, -1), "TOUCHING", {**x, "pairs": pairs})
            self.refused(self.judge, 2.0, "TOUCHING", {"direction": [0.0, 1.0, 0.0], "pairs": pairs})
            self.refused(self.judge, 2.0, "SEPARATED", {**x, "pairs": pairs})
            for k in range(len(pairs)):
                self.refused(self.judge, 2.0, "TOUCHING", {**x, "pairs": pairs[:k] + pairs[k + 1:]})
        for pairs in ([[4, 1]], [[5, 0]], [[0, 4]], [[-4, 0]], [[4, -8]], [[4, 2], [4, 2]], [[4, 8]], [], None, [[4]],
                      [[4, 0]] * 4):
            self.refused(self.judge, 2.0, "TOUCHING", {**x, "pairs": pairs})

    def test_overlap_needs_the_origin_strictly_inside(self):
        six = [[0, 4], [4, 0], [0, 2], [2, 0], [0, 1], [1, 0]]  # (±2, 0, 0), (0, ±2, 0), (0, 0, ±2)
        self.judge(0.0, "OVERLAPPING", {"pairs": six})
        for k in range(6):
            self.refused(self.judge, 0.0, "OVERLAPPING", {"pairs": six[:k] + six[k + 1:]})
        self.refused(self.judge, 0.0, "OVERLAPPING", {"pairs": six + six})
        self.refused(self.judge, 2.0, "OVERLAPPING", {"pairs": [[4, 0]] * 4})  # the origin itself
        four = [[0, 4], [7, 0], [1, 2], [2, 1]]
        self.refused(self.judge, 0.0, "OVERLAPPING", {"pairs": four[:3]})
        for x in (2.0, -2.0, 5.0):
            self.refused(self.judge, x, "OVERLAPPING", {"pairs": six})

    def test_random_tetrahedra_hold_the_origin_as_their_barycentric_weights_say(self):
        draw, seen = random.Random(7), [0, 0]
        for _ in range(400):
            d = [tuple(draw.randint(-3, 3) for _ in range(3)) for _ in range(4)]
            parts = [cv.determinant([list(x) for k, x in enumerate(d) if k != skip]) * (-1) ** skip
                     for skip in range(4)]
            inside = all(x > 0 for x in parts) or all(x < 0 for x in parts)
            self.assertEqual(cv.strictly_inside(d), inside, d)
            seen[inside] += 1
        self.assertTrue(min(seen) > 5)


class Distances(Judged):
    def test_a_true_bracket_is_accepted_and_one_ulp_inside_refused(self):
        judge = lambda lower, upper, pairs: cv.verify_distance(
            [[0.0] * 3], [[-1.0, 2.0, 0.0], [3.0, 2.0, 0.0]], at(), at(), lower, upper, pairs)
        both = [[0, 0], [0, 1]]
        judge(2.0, 2.0, both)
        judge(0.0, 2.24, both[:1])
        self.refused(judge, 2.0, 2.24, both[:1])         # pair dropped
        self.refused(judge, 0.0, 2.0, both[:1])
        for lower, upper in ((ulp(2.0), 3.0), (2.0, ulp(2.0, -1)), (-1.0, 3.0), (math.nan, 3.0),
                             (2.0, math.inf), (None, 2.0)):
            self.refused(judge, lower, upper, both)
        for pairs in ([], [[0, 2]], [[1, 0]], None, both * 2):
            self.refused(judge, 2.0, 2.0, pairs)

    def test_a_margin_is_judged_to_the_last_bit_by_pairs_or_by_the_direction(self):
        def judge(margin, within, cert, verdict="SEPARATED"):  # the distance is 5
            cv.verify_margin([[0.0] * 3], [[0.0] * 3, [9.0, 12.0, 0.0]], at(), at(3.0, 4.0), margin, within,
                             verdict, cert)
        towards, along_x = {"direction": [3.0, 4.0, 0.0]}, {"direction": [1.0, 0.0, 0.0]}
        for pairs in ([[0, 0]], [[0, 1], [0, 0]]):
            shown = {**along_x, "margin_pairs": pairs}
            for margin, expected in ((5.0, True), (ulp(5.0), True), (ulp(5.0, -1), False), (0.0, False)):
                judge(margin, expected, shown)
                self.refused(judge, margin, not expected, shown)
        # Without pairs the direction tells that something is far, never that it is near.
        judge(ulp(5.0, -1), False, towards)
        judge(2.9, False, along_x)
        for margin, within, cert in ((5.0, False, towards), (ulp(5.0, -1), False, along_x), (6.0, True, towards)):
            self.refused(judge, margin, within, cert)
        # Pairs that are not nearest show what they show.
        far = {**along_x, "margin_pairs": [[0, 1]]}
        judge(20.0, True, far)
        judge(ulp(5.0, -1), False, far)
        self.refused(judge, 5.0, True, far)
        for margin in (math.nan, math.inf, -math.inf, None):
            for within in (True, False):
                self.refused(judge, margin, within, {**towards, "margin_pairs": [[0, 0]]})
        judge(-1.0, False, {**towards, "margin_pairs": [[0, 0]]})
        self.refused(judge, -1.0, True, {**towards, "margin_pairs": [[0, 0]]})
        for pairs in ([[0, 2]], [[0, 0]] * 4, [[0, -1]], [[0]], 7):
            for within in (True, False):
                self.refused(judge, 6.0 if within else 1.0, within, {**towards, "margin_pairs": pairs})
        for within in (None, "no", 2):
            self.refused(judge, 1.0, within, towards)
        for verdict in ("TOUCHING", "OVERLAPPING"):
            judge(1.0, True, {}, verdict)
            self.refused(judge, 1.0, False, {}, verdict)
        self.refused(judge, 1.0, True, {}, "APART")

    def test_the_nearest_point_of_a_triangle_is_its_foot_or_on_its_border(self):
        triangle = [(-1, -1, 3), (2, -1, 3), (-1, 2, 3)]
        v, n = cv.nearest(triangle)
        self.assertEqual(tuple(Fraction(x, n) for x in v), (0, 0, 3))
        v, n = cv.nearest([(x + 5, y, z) for x, y, z in triangle])
        self.assertEqual(tuple(Fraction(x, n) for x in v), (4, 0, 3))


class Ranges(Judged):
    """A point that moves along y towards the cube, three from its middle."""
    ENTER = {"bracket": [1.0, 1.0], "direction": [0.0, 2.0, 0.0], "pairs": [[0, 0], [0, 1], [0, 4], [0, 5]]}
    EXIT = {"bracket": [2.0, 2.0], "direction": [0.0, -1.0, 0.0], "pairs": [[0, 2], [0, 3], [0, 6], [0, 7]]}
    SAID = {"enter": 1.0, "exit": 2.0}

    def judge(self, cert, answer=SAID, along=(0.0, 2.0, 0.0), verdict="SEPARATED", y=3.0):
        cv.verify_range([[0.0] * 3], CUBE, at(), at(0.0, y, 0.0), list(along), verdict, answer, cert)

    def test_a_range_is_proven_at_both_ends_to_the_last_bit(self):
        both = lambda enter, exit: {"enter": {**self.ENTER, **enter}, "exit": {**self.EXIT, **exit}}
        self.judge(both({}, {}))
        wide = {"bracket": [ulp(1.0, -1), 1.5]}, {"bracket": [1.5, ulp(2.0)]}
        self.judge(both(*wide), {"enter": ulp(1.0, -1), "exit": ulp(2.0)})
        for enter, exit, answer in (
                ({"bracket": [ulp(1.0)] * 2}, {}, {"enter": ulp(1.0), "exit": 2.0}),
                ({"bracket": [ulp(1.0, -1)] * 2}, {}, {"enter": ulp(1.0, -1), "exit": 2.0}),
                ({}, {"bracket": [ulp(2.0)] * 2}, {"enter": 1.0, "exit": ulp(2.0)}),
                ({}, {"bracket": [1.5, ulp(2.0, -1)]}, {"enter": 1.0, "exit": ulp(2.0, -1)}),
                ({}, {}, {"enter": 0.5, "exit": 2.0}), ({}, {}, {"enter": 1.0}), ({}, {}, {}),
                ({"direction": [0.0, -2.0, 0.0]}, {}, self.SAID), ({"direction": [2.0, 0.1, 0.0]}, {}, self.SAID),
                ({"pairs": [[0, 0], [0, 1]]}, {}, self.SAID), ({"pairs": []}, {}, self.SAID),
                ({"bracket": [1.0, math.inf]}, {}, self.SAID), ({"bracket": [1.0, math.nan]}, {}, self.SAID),
                ({}, {"pairs": [[0, 0], [0, 1], [0, 4], [0, 5]]}, self.SAID)):
            self.refused(self.judge, both(enter, exit), answer)
        self.refused(self.judge, {"exit": self.EXIT}, {"enter": 0, "exit": 2.0})
        self.refused(self.judge, {"enter": self.ENTER}, self.SAID)
        self.refused(self.judge, both({}, {}), self.SAID, (0.0, 2.1, 0.0))
        self.refused(self.judge, both({}, {}), self.SAID, (0.0, 0.0, 0.0))

    def test_never_takes_a_direction_along_which_the_bodies_only_part(self):
        away = {"never": {"direction": [0.0, 1.0, 0.0]}}
        for along in ((0.0, -2.0, 0.0), (1.0, 0.0, 0.0), (1e9, -1e-300, 0.0)):
            self.judge(away, {}, along)
        self.refused(self.judge, away, {}, (1e9, 1e-300, 0.0))
        self.refused(self.judge, away, self.SAID, (1.0, 0.0, 0.0))
        self.refused(self.judge, {"never": {"direction": [1.0, 0.5, 0.0]}}, {}, (0.0, -2.0, 0.0))
        self.refused(self.judge, away, {}, (1.0, 0.0, 0.0), "TOUCHING", 1.0)

    def test_in_contact_the_range_begins_at_once(self):
        inside, said = {"exit": {**self.EXIT, "bracket": [0.5, 0.5]}}, {"enter": 0.0, "exit": 0.5}
        self.judge(inside, said, verdict="OVERLAPPING", y=0.0)
        self.refused(self.judge, inside, {"enter": 0.25, "exit": 0.5}, verdict="OVERLAPPING", y=0.0)
        both = {"enter": {**self.ENTER, "bracket": [0.0, 0.0]}, **inside}
        self.refused(self.judge, both, said, verdict="OVERLAPPING", y=0.0)


class Depths(Judged):
    """A point in the middle of the cube: M is the cube."""
    QUADS = ([0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3])
    SURFACE = {"corners": [[0, j] for j in range(8)],
               "triangles": [t for a, b, c, d in QUADS for t in ([a, b, c], [a, c, d])]}
    UP = {"direction": [0.0, 0.0, 3.0]}

    def judge(self, lower, upper, face, surface):
        cv.verify_depth([[0.0] * 3], CUBE, at(), at(), lower, upper, face, surface)

    def test_a_true_bracket_is_accepted_and_one_ulp_inside_refused(self):
        self.judge(1.0, 1.0, self.UP, self.SURFACE)
        self.refused(self.judge, 1.0, ulp(1.0, -1), self.UP, self.SURFACE)
        self.refused(self.judge, ulp(1.0), 1.1, self.UP, self.SURFACE)
        self.refused(self.judge, 1.0, 1.0, self.UP, None)
        self.refused(self.judge, 1.0, 1.4, {"direction": [1.0, 1.0, 0.0]}, self.SURFACE)

    def test_a_margin_below_zero_is_compared_with_the_depth(self):
        def judge(margin, within, verdict="OVERLAPPING", **shown):
            cv.verify_margin([[0.0] * 3], CUBE, at(), at(), margin, within, verdict, {"margin_depth": shown or None})
        for margin, within in [(-1.0, True), (ulp(-1.0, -1), False), (ulp(-1.0), True), (-5e-324, True), (-1e300, False)]:
            for said in (True, False):
                for shown in ({"less": self.UP}, {"at_least": self.SURFACE}, {}):
                    holds = said == within and (("at_least" if within else "less") in shown)
                    (judge if holds else lambda *a, **k: self.refused(judge, *a, **k))(margin, said, **shown)
        for verdict in ("SEPARATED", "TOUCHING"):
            judge(-0.5, False, verdict)
            self.refused(judge, -0.5, True, verdict)
        self.refused(judge, 0.5, True, **{"less": self.UP})

    def test_a_surface_with_a_hole_or_a_turned_triangle_is_refused(self):
        def without(s): s["triangles"].pop()
        def turned(s): s["triangles"][3].reverse()
        def inside_out(s): [t.reverse() for t in s["triangles"]]
        def off_by_one(s): s["triangles"][0][0] += 1
        def absent(s): s["triangles"][0][0] = 8
        def negative(s): s["triangles"][0][0] = -8
        def other_corner(s): s["corners"][0] = [0, 1]
        def empty(s): s["triangles"].clear()
        for change in (without, turned, inside_out, off_by_one, absent, negative, other_corner, empty):
            surface = copy.deepcopy(self.SURFACE)
            change(surface)
            self.refused(self.judge, 1.0, 1.0, self.UP, surface)


class Translations(Judged):
    """The cube at x = 5 comes with 4 a step: contact, face to face, at t = 3/4."""
    VALID = {"verdict": "CONTACT", "t_free": 0.5, "t_contact": 0.75, "certificate": {
        "pairs": [[4, 2], [6, 0]],
        "chain": [{"t0": 0.0, "t1": 0.25, "frame": "world", "direction": [1.0, 0.0, 0.0]},
                  {"t0": 0.25, "t1": 0.5, "frame": "p", "direction_sign": 1,
                   "direction_pairs": [[0, 0], [0, 2], [0, 1]]}]}}

    def judge(self, answer, x=5.0, p=CUBE, speed=-4.0, **named):
        cv.verify_motion(p, CUBE, at(), at(x), ("linear", [0.0] * 3), ("linear", [speed, 0.0, 0.0]),
                         answer, **named)

    def changed(self, change, **named):
        answer = copy.deepcopy(self.VALID)
        change(answer, answer["certificate"], answer["certificate"]["chain"])
        self.judge(answer, **named)

    def test_contact_is_solved_exactly_and_every_tampering_refused(self):
        self.changed(lambda a, c, chain: None)
        self.changed(lambda a, c, chain: c.update(pairs=[[4, 0]]))
        for change in (
                lambda a, c, chain: a.update(t_contact=ulp(0.75, -1)),            # interval end moved
                lambda a, c, chain: a.update(t_free=ulp(0.5)),
                lambda a, c, chain: a.update(t_free=0.8),
                lambda a, c, chain: a.update(t_contact=1.5),
                lambda a, c, chain: a.update(verdict="NO_CONTACT"),
                lambda a, c, chain: a.update(verdict="TOUCHING"),
                lambda a, c, chain: a.pop("t_free"),
                lambda a, c, chain: c.update(pairs=[[4, 2]]),                     # pair dropped
                lambda a, c, chain: c.update(pairs=[[4, 3], [6, 0]]),             # index + 1
                lambda a, c, chain: c.update(pairs=[[3, 2], [6, 0]]),             # index - 1
                lambda a, c, chain: c.update(pairs=[[2, 4], [0, 6]]),             # bodies swapped
                lambda a, c, chain: c.pop("pairs"),
                lambda a, c, chain: c.update(pairs=[[4, 0]] * 5),
                lambda a, c, chain: chain.clear(),
                lambda a, c, chain: chain.pop(0),                                 # link removed
                lambda a, c, chain: chain.pop(1),
                lambda a, c, chain: chain[0].update(t1=ulp(0.25, -1)),            # link shortened
                lambda a, c, chain: chain[1].update(t1=ulp(0.5, -1)),
                lambda a, c, chain: chain[1].update(t1=0.75),                     # too long: contact
                lambda a, c, chain: chain[0].update(direction=[-1.0, 0.0, 0.0]),  # sign
                lambda a, c, chain: chain[1].update(direction_sign=-1),
                lambda a, c, chain: chain[1].update(frame="body")):
            with self.assertRaises(cv.Refused, msg=change.__code__.co_firstlineno):
                self.changed(change)
        self.refused(self.judge, self.VALID, x=ulp(5.0))                          # pose by an ulp
        self.refused(self.judge, self.VALID, x=5.0, speed=ulp(-4.0))

    def test_margin_and_deviation_shorten_what_is_free_and_margin_hastens_contact(self):
        self.judge(self.VALID, deviation=ulp(1.0, -1))
        self.refused(self.judge, self.VALID, deviation=1.0)
        sooner = {**self.VALID, "t_contact": 0.625}
        self.refused(self.judge, sooner, margin=ulp(0.5, -1))
        self.judge(sooner, margin=0.5)

    def test_no_contact_needs_a_chain_over_the_whole_step(self):
        link = {"t0": 0.0, "t1": 1.0, "frame": "world", "direction": [1.0, 0.0, 0.0]}
        answer = {"verdict": "NO_CONTACT", "certificate": {"chain": [link]}}
        self.judge(answer, speed=ulp(-3.0))
        self.refused(self.judge, answer, speed=-3.0)       # touches at exactly t = 1
        link["t1"] = ulp(1.0, -1)
        self.refused(self.judge, answer, speed=2.0)

    def test_a_normal_of_what_is_swept_proves_a_miss_and_every_tampering_is_refused(self):
        # Q passes the cube's edge x = y = 2 in the plane of x + y = 4, one ulp beyond it.
        motions = ("linear", (1.0, 0.0, 0.0)), ("linear", (0.0, 1.0, 0.0))
        start = [at(0.5), ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [ulp(3.5), 1.0, 0.0])]
        judge = lambda link, speeds=motions: cv.verify_motion(CUBE, CUBE, *start, *speeds, {
            "verdict": "NO_CONTACT", "certificate": {"chain": [{"t0": 0.0, "t1": 1.0, "frame": "world", **link}]}})
        # The travel is (-1, 1, 0): z x travel = (-1, -1, 0), travel x z = (1, 1, 0).
        swept = {"direction_swept": [[0, 0], [0, 1]], "direction_sign": -1}
        axis = {"direction_swept": [], "direction_axis": 2, "direction_sign": 1}
        for link in swept, axis:
            judge(link)
            self.refused(judge, {**link, "direction_sign": -link["direction_sign"]})
            self.refused(judge, link, (motions[0], ("linear", (0.0, 0.9, 0.0))))
            self.refused(judge, link, (motions[0], motions[0]))                     # no travel
            self.refused(judge, link, (motions[0], ("screw", *motions[1][1:], [0.0, 0.0, 1.0], 1e-9, None)))
            self.refused(judge, {**link, "direction": [1.0, 1.0, 0.0]})
            self.refused(cv.verify_static, CUBE, CUBE, *start, "SEPARATED", link)
        for pairs in [[0, 0]], [[0, 0], [0, 2]], [[0, 0], [0, 8]], [[0, 0], [0, 1], [0, 2]], []:
            self.refused(judge, {**swept, "direction_swept": pairs})
        for changed in {"direction_axis": 1}, {"direction_axis": 3}, {"direction_swept": [[0, 0], [0, 1]]}:
            self.refused(judge, {**axis, **changed})

    def test_what_is_nearest_proves_a_miss_of_the_margin_by_an_ulp_and_every_tampering_is_refused(self):
        # The corners come to (2, 3, 6) from each other at a third of the step, and no nearer: 7.
        i, j = CUBE.index([1.0, 1.0, 1.0]), CUBE.index([-1.0, -1.0, -1.0])
        start, motions = [at(), at(1.0, 7.0, 8.0)], (("linear", [0.0] * 3), ("linear", [9.0, -6.0, 0.0]))
        def judge(link, margin=ulp(7.0, -1), verdict="NO_CONTACT", motions=motions, **named):
            link = {"t0": 0.0, "t1": 1.0, "frame": "world", "direction_sign": 1, **link}
            cv.verify_motion(CUBE, CUBE, *start, *motions, {"verdict": verdict, **named, "certificate": {
                "chain": [link], "pairs": [[i, j]]}}, margin=margin)
        link, third = {"direction_nearest": [[i, j]]}, 1 / 3
        for pairs in [[i, j]], [[i, j]] * 3:
            judge({"direction_nearest": pairs})
        self.refused(judge, link, 7.0)
        for changed in ({"direction_sign": -1}, {"direction_axis": 0}, {"t1": ulp(1.0, -1)}, {"t0": 0.5},
                        {"direction": [2.0, 3.0, 6.0]}, {"direction_nearest": []}, {"direction_sign": None},
                        {"direction_nearest": [[i, j]] * 4}, {"direction_nearest": [[i, 7]]}):
            self.refused(judge, {**link, **changed})
        self.refused(judge, link, motions=(motions[0], ("screw", *motions[1][1:], [0.0, 0.0, 1.0], 1e-9, None)))
        # Until just before a third it is free of exactly 7, and in contact by just after.
        meets = {"margin": 7.0, "verdict": "CONTACT", "t_free": third, "t_contact": ulp(third)}
        judge({**link, "t1": third}, **meets)
        self.refused(judge, {**link, "t1": ulp(third)}, **{**meets, "t_free": ulp(third), "t_contact": ulp(third, 2)})
        self.refused(judge, {**link, "t1": ulp(third, -1)}, **{**meets, "t_free": ulp(third, -1), "t_contact": third})
        # At rest it is the direction along which bodies are as far apart as they are.
        still = {**link, "direction_sign": 1}
        cv.verify_static(CUBE, CUBE, at(), at(4.0, 5.0, 8.0), "SEPARATED", still)
        cv.verify_margin(CUBE, CUBE, at(), at(4.0, 5.0, 8.0), ulp(7.0, -1), False, "SEPARATED", still)
        self.refused(cv.verify_margin, CUBE, CUBE, at(), at(4.0, 5.0, 8.0), 7.0, False, "SEPARATED", still)
        self.refused(cv.verify_static, CUBE, CUBE, at(), at(2.0, 2.0, 2.0), "SEPARATED", still)

    def test_contact_at_the_start_is_proven_by_pairs(self):
        answer = {"verdict": "CONTACT", "t_free": 0.0, "t_contact": 0.0,
                  "certificate": {"pairs": [[4, 0]], "chain": []}}
        self.judge(answer, x=2.0)
        self.refused(self.judge, answer, x=ulp(2.0))
        answer["certificate"]["chain"] = [{"t0": 0.0, "t1": 0.0, "frame": "world", "direction": [1.0, 0.0, 0.0]}]
        self.refused(self.judge, answer, x=2.0)

    def test_with_a_margin_an_empty_chain_proves_only_a_start_that_is_farther_apart(self):
        # The faces are 1 apart, and meet at 0.5; the sheared direction separates by less than 1.
        along, sheared = {"direction": [1.0, 0.0, 0.0]}, {"direction": [1.0, 0.25, 0.0]}
        pairs = [[4, 3], [5, 0], [6, 0], [0, 4]]
        answer = {"t_free": 0.0, "t_contact": 0.6, "certificate": {"pairs": pairs, "chain": []}}
        rest, fly = ("linear", [0.0] * 3), [-2.0, 0.0, 0.0]
        for motion in ("linear", fly), ("screw", fly, [1.0, 0.0, 0.0], 1e-9, None):
            judge = lambda initial, verdict="CONTACT", **named: cv.verify_motion(
                CUBE, CUBE, at(), at(3.0), rest, motion, {**answer, "verdict": verdict},
                initial=initial, **named)
            for margin in 1.0, 1.5:  # contact at t = 0
                self.refused(judge, along, margin=margin)
                judge(along, "UNDECIDED", margin=margin)  # claims no more than the verdict
            judge(along, margin=ulp(1.0, -1))
            self.refused(judge, sheared, margin=0.875)
            judge(sheared)
            judge(along, margin=0.5, deviation=2.0)  # the start itself does not deviate
            self.refused(judge, None)
            self.refused(judge, None, "UNDECIDED")

    def test_contact_at_the_start_within_a_margin_is_proven_by_up_to_six_pairs(self):
        # The faces that look at each other are 1 apart.
        right, left = ([CUBE.index([x, y, z]) for y in (-1.0, 1.0) for z in (-1.0, 1.0)] for x in (1.0, -1.0))
        pairs = [[i, j] for i in right for j in left]
        pairs.sort(key=lambda pair: abs(right.index(pair[0]) - left.index(pair[1])))  # opposite ones first
        for count in range(1, 8):
            answer = {"verdict": "CONTACT", "t_free": 0.0, "t_contact": 0.0,
                      "certificate": {"pairs": pairs[:count], "chain": []}}
            self.refused(self.judge, answer, x=3.0, margin=ulp(1.0, -1))
            if count <= 6:
                self.judge(answer, x=3.0, margin=1.0)
        self.refused(self.judge, answer, x=3.0, margin=1.0)

    def test_a_margin_is_met_at_a_time_of_the_bracket_and_by_up_to_six_pairs(self):
        # Q flies past, a margin's reach away in the middle only: from 0.40625 to 0.59375.
        i, j = CUBE.index([1.0, 1.0, 1.0]), CUBE.index([-1.0, 1.0, 1.0])
        past = ("linear", [0.0, 8.0, 0.0])
        def judge(t_contact, pairs):
            answer = {"verdict": "CONTACT", "t_free": 0.0, "t_contact": t_contact,
                      "certificate": {"pairs": pairs, "chain": []}}
            cv.verify_motion(CUBE, CUBE, at(), at(3.0, -4.0), ("linear", [0.0] * 3), past, answer,
                             margin=1.25, initial={"direction": [1.0, -2.0, 0.0]})
        judge(0.5, [[i, j]])
        judge(0.5, [[i, j], [0, 0], [1, 1], [2, 2], [3, 3]])
        judge(1.0, [[i, j]])
        judge(0.40625, [[i, j]])
        self.refused(judge, ulp(0.40625, -1), [[i, j]])
        self.refused(judge, 0.5, [[i, j]] * 7)


class Rotations(Judged):
    """A rod of half length 2 turns about z under the plane y = 1.5 of a cube: its tip comes late."""
    TURN = ("screw", [0.0] * 3, [0.0, 0.0, 2.0], math.pi / 2, None)
    REST = ("linear", [0.0] * 3)

    def judge(self, answer, y=2.5, turn=TURN, other=REST, p=ROD, q=CUBE, **named):
        cv.verify_motion(p, q, at(), at(0.0, y), turn, other, answer, **named)

    # The tip, at (2 cos, 2 sin) of the angle t pi/2, meets y = 1.5 at t = asin(0.75) 2/pi.
    HIT = math.asin(0.75) * 2 / math.pi

    def answer(self):
        return {"verdict": "CONTACT", "t_free": self.HIT - 1e-9, "t_contact": self.HIT + 1e-3,
                "certificate": {"pairs": [[1, 4], [1, 1], [1, 0], [1, 5], [1, 7], [1, 2]], "chain": [
                    {"t0": 0.0, "t1": 0.3, "frame": "world", "direction": [0.0, 1.0, 0.0]},
                    {"t0": 0.3, "t1": self.HIT - 1e-9, "frame": "q", "direction": [0.0, 1.0, 0.0]}]}}

    def test_a_turning_tip_is_free_until_the_sine_says(self):
        answer = {**self.answer(), "verdict": "UNDECIDED"}
        self.judge(answer)
        answer["t_free"] = answer["certificate"]["chain"][1]["t1"] = self.HIT + 1e-12
        self.refused(self.judge, answer)

    def meet(self, answer, x=1.3, y=2.5, turn=TURN, **named):
        cv.verify_motion(ROD, CUBE, at(), at(x, y), turn, self.REST, answer, **named)

    def test_a_point_that_turns_through_a_triangle_is_in_contact_on_the_way(self):
        # The point comes to the plane x = 0.8 at the angle whose cosine that is, then it is at y = 0.6.
        wall, hit = [[0.8, -3.0, -3.0], [0.8, 3.0, -3.0], [0.8, 0.0, 3.0]], math.acos(0.8)
        pairs = [[0, k] for k in range(3)]
        def judge(t_free=hit - 1e-9, t_contact=hit + 1e-9, pairs=pairs, p=((1.0, 0.0, 0.0),), q=wall):
            chain = [{"t0": 0.0, "t1": hit - 1e-9, "frame": "world", "direction": [-1.0, 0.0, 0.0]}]
            cv.verify_motion(p, q, at(), at(), ("screw", [0.0] * 3, [0.0, 0.0, 1.0], 1.0, None), self.REST,
                             {"verdict": "CONTACT", "t_free": t_free, "t_contact": t_contact,
                              "certificate": {"pairs": pairs, "chain": chain}})
        judge()
        judge(t_free=0.0)                                     # the point may be a part, and another free no longer
        judge(pairs=pairs[::-1])
        judge(t_contact=hit + 0.05)                           # wide, but the point is over the triangle throughout
        self.refused(judge, t_contact=hit - 1e-12)            # not yet
        self.refused(judge, t_contact=hit + 0.9)              # beside the triangle by then
        self.refused(judge, pairs=pairs[:2])
        self.refused(judge, pairs=[pairs[0], pairs[1], pairs[1]])
        self.refused(judge, q=[[x, y + 2.3, z] for x, y, z in wall])                      # passes beside it
        self.refused(judge, q=[[x - 2e-9, y, z] for x, y, z in wall])                     # later
        self.refused(judge, q=[*wall, [0.7, 0.0, 0.0]])       # a solid is not to be passed, but to be entered
        judge(p=((1.0, 0.0, 0.0), (1.0, 0.0, 0.5)))           # a rod, whose one end is that point
        self.refused(judge, p=((1.0, 0.0, 0.0), (1.0, 0.0, 0.5)), pairs=[*pairs, [1, 0]])
        # Through the middle of a square, which no triangle of its corners has inside.
        square = [[0.8, 0.6 + y, z] for y, z in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))]
        around = [[0, k] for k in range(4)]
        judge(q=square, pairs=around)
        judge(q=square, pairs=around[::-1])
        self.refused(judge, q=square, pairs=around[:3])
        self.refused(judge, q=square, pairs=[around[k] for k in (0, 2, 1, 3)])            # not in order around
        self.refused(judge, q=square, pairs=[around[k] for k in (0, 1, 2, 2)])
        self.refused(judge, q=[[x, y + 1.1, z] for x, y, z in square], pairs=around)      # passes beside it

    def test_what_no_rotation_touches_is_known_exactly(self):
        def judge(p, q, motion_p, motion_q, t_free, t_contact, pairs, frame="world", direction=(0.0, 0.0, 1.0), **start):
            chain = [{"t0": 0.0, "t1": t_free, "frame": frame, "direction": list(direction)}]
            claim = {"verdict": "CONTACT" if pairs else "NO_CONTACT", "t_free": t_free,
                     "certificate": {"pairs": pairs, "chain": chain}}
            if pairs:
                claim["t_contact"] = t_contact
            cv.verify_motion(p, q, at(), at(**start), motion_p, motion_q, claim)
        screw = lambda velocity, angle=1.0, pivot=None, axis=(0.0, 0.0, 1.0): (
            "screw", list(velocity), list(axis), angle, pivot)
        # A point on a plate that turns, at the end of the step.
        plate = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]]
        fall = lambda z: ("linear", [0.0, 0.0, z])
        lies = lambda z=-0.75, t=1.0: judge(plate, [[0.0, 0.1, 0.75]], screw([0.0] * 3), fall(z), 1.0 - 1e-9, t,
                                            [[k, 0] for k in range(3)])
        lies()
        self.refused(lies, ulp(-0.75, 1))
        self.refused(lies, t=ulp(1.0, -1))
        # The tip of a top comes to a slope.
        slope = [[-2.0, -2.0, -1.0], [2.0, -2.0, 1.0], [0.0, 2.0, 0.0]]
        tip = lambda pivot=None, z=0.75: judge(
            slope, [[0.0, 0.0, z], [0.5, 0.0, z + 1.0]], fall(0.0), screw([0.0, 0.0, -0.75], 3.0, pivot),
            1.0 - 1e-9, 1.0, [[k, 0] for k in range(3)], direction=(-1.0, 0.0, 2.0))
        tip([0.0, 0.0, 5.0])
        self.refused(tip, [1e-300, 0.0, 5.0])                    # the tip turns, by next to nothing
        self.refused(tip, [0.0, 0.0, 5.0], ulp(0.75, 1))
        # What turns on its way to a pose does not translate: half a turn, always on the wall's one side.
        wall, left = [[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [0.0, 0.0, 1.0]], (-1.0, 0.0, 0.0)
        arrive = lambda q: judge(wall, [[1.0, 0.0, 0.0]], fall(0.0), ("to_pose", at(-0.5, q=q), None), 0.5 - 1e-9, 0.5,
                                 [[k, 0] for k in range(3)], direction=left, x=-1.5)
        arrive((1.0, 0.0, 0.0, 0.0))
        self.refused(arrive, (0.0, 0.0, 0.0, 1.0))
        # Two bodies on one carrier, an ulp apart for any number of turns.
        end = [[ulp(2.0), 0.0, 0.0]]
        carried = lambda velocity=(0.0, 0.0, 0.0), angle=30.0, pivot=(-5.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), frame="p": judge(
            ROD, end, screw([0.0] * 3, 30.0, [-5.0, 0.0, 7.0]), screw(velocity, angle, list(pivot), axis),
            1.0, None, [], frame, (1.0, 0.0, 0.0))
        self.assertEqual(max(v[0] for v in ROD), 2.0)
        carried()
        carried(frame="q")
        carried(velocity=(0.0, 0.0, 3.0))                        # along the axis
        carried(angle=-30.0, axis=(0.0, 0.0, -2.0))
        self.refused(carried, frame="world")
        self.refused(carried, angle=30.001)
        self.refused(carried, angle=-30.0)
        self.refused(carried, axis=(0.0, 0.0, -2.0))
        self.refused(carried, pivot=(-5.0, 1e-9, 0.0))
        self.refused(carried, velocity=(0.0, 1e-9, 0.0))
        self.refused(carried, axis=(0.0, 1e-3, 1.0))
        # A point comes along the axis to a corner, which any number of turns leaves where it is.
        corner = [[1.0, 1.0, 1.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.5]]
        along = lambda z: screw([0.3, 0.2, z], 1e16, [7.0, 1.0, 0.0])
        lands = lambda z=-0.25: judge(corner, [[1.0, 1.0, 1.25]], along(0.0), along(z), 1.0 - 1e-9, 1.0, [[0, 0]], "p")
        lands()
        self.refused(lands, ulp(-0.25, 1))

    def test_contact_of_a_turning_body_is_proven_and_every_tampering_refused(self):
        self.meet(self.answer())
        chain = lambda a: a["certificate"]["chain"]
        for change in (
                lambda a: a.update(t_contact=self.HIT - 1e-12),                   # interval end moved
                lambda a: a.update(t_free=self.HIT),
                lambda a: a.update(verdict="NO_CONTACT"),
                lambda a: chain(a).pop(0),
                lambda a: chain(a).pop(1),
                lambda a: chain(a)[0].update(t1=ulp(0.3, -1)),
                lambda a: chain(a)[1].update(t1=self.HIT + 1e-12),
                lambda a: chain(a)[1].update(direction=[0.0, -1.0, 0.0]),
                lambda a: chain(a)[1].update(direction=[1e-7, 1.0, 0.0]),
                lambda a: chain(a)[1].update(frame="p"),
                lambda a: a["certificate"].update(pairs=[[1, 0], [1, 4], [1, 5], [1, 1]]),
                lambda a: a["certificate"]["pairs"].__setitem__(5, [1, 3]) or
                a["certificate"]["pairs"].__setitem__(4, [1, 5]),
                lambda a: a["certificate"].update(pairs=[[j, i] for i, j in a["certificate"]["pairs"]])):
            answer = self.answer()
            change(answer)
            with self.assertRaises(cv.Refused, msg=change.__code__.co_firstlineno):
                self.meet(answer)
        self.refused(self.meet, self.answer(), y=2.5 - 1e-8)
        self.refused(self.meet, self.answer(), y=2.6)
        self.refused(self.meet, self.answer(), deviation=1e-8)

    def test_plates_that_turn_in_their_common_plane_meet_in_it_and_in_no_other(self):
        plate = [[x, y, 0.0] for x in (-1.0, 1.0) for y in (-0.25, 0.25)]
        spin = ("screw", [0.0, 0.0, 0.5], [0.0, 0.0, -3.0], -0.5 * math.pi, None)
        rest = ("linear", [0.0, 0.0, 0.5])
        # At t = 1 the plate stands upright; the other's lower edge is at y = 0.9, sides at +-1.
        chain = [{"t0": 0.0, "t1": 0.1, "frame": "world", "direction": [0.0, 1.0, 0.0]}]
        answer = {"verdict": "CONTACT", "t_free": 0.1, "t_contact": 1.0,
                  "certificate": {"chain": chain}}
        for z, y, rest, fine in ((7.3, 1.15, rest, True), (7.3, 1.26, rest, False),
                                 (ulp(7.3), 1.15, rest, False),
                                 (7.3, 1.15, ("linear", [0.0, 0.0, ulp(0.5)]), False)):
            found = None
            for some in itertools.combinations([[i, j] for i in range(4) for j in range(4)], 4):
                answer["certificate"]["pairs"] = list(some)
                try:
                    cv.verify_motion(plate, plate, at(z=7.3), at(y=y, z=z), spin, rest, answer)
                    found = some
                    break
                except cv.Refused:
                    pass
            self.assertEqual(found is not None, fine, (z, y, rest))

    def test_plates_that_turn_in_a_slanted_plane_meet_in_it_and_in_no_other(self):
        # In the plane x + y + z = 0; a third of a turn about (1, 1, 1) takes x to y.
        plate = [[x, y - x, -y] for x in (-1.0, 1.0) for y in (-0.25, 0.25)]
        chain = [{"t0": 0.0, "t1": 0.1, "frame": "world", "direction": [1.0, 1.0, -2.0]}]
        answer = {"verdict": "CONTACT", "t_free": 0.1, "t_contact": 1.0, "certificate": {"chain": chain}}
        for y, z, axis, fine in ((0.9375, 0.0, 0.5, True), (1.625, 0.0, 0.5, False),
                                 (0.9375, ulp(-0.9375) + 0.9375, 0.5, False), (0.9375, 0.0, ulp(0.5), False)):
            spin = ("screw", [0.0, 0.0, 0.5], [axis, 0.5, 0.5], 2 * math.pi / 3, None)
            found = None
            for some in itertools.combinations([[i, j] for i in range(4) for j in range(4)], 4):
                answer["certificate"]["pairs"] = list(some)
                try:
                    cv.verify_motion(plate, plate, at(z=0.25), at(y=y, z=0.25 - y + z), spin,
                                     ("linear", [0.25, 0.0, 0.25]), answer)
                    found = some
                    break
                except cv.Refused:
                    pass
            self.assertEqual(found is not None, fine, (y, z, axis))

    def test_contact_at_exactly_the_end_pose_is_decided_exactly(self):
        quarter = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
        chain = [{"t0": 0.0, "t1": 0.5, "frame": "world", "direction": [0.0, 0.0, -1.0]}]
        answer = {"verdict": "CONTACT", "t_free": 0.5, "t_contact": 1.0,
                  "certificate": {"chain": chain}}
        rest = ("linear", [0.0, 0.0, 0.0])
        # The cube's lower face comes to lie on the upper one, vertex on vertex.
        for height, fine in ((2.0, True), (ulp(2.0), False)):
            found = None
            for pair in ([[i, j]] for i in range(8) for j in range(8)):
                answer["certificate"]["pairs"] = pair
                motion = ("to_pose", (quarter, (0.0, 0.0, height)), None)
                try:
                    cv.verify_motion(CUBE, CUBE, at(z=4.0), at(), motion, rest, answer)
                    found = pair
                except cv.Refused:
                    pass
            self.assertEqual(found is not None, fine)

    def test_a_direction_that_turns_with_a_body_separates_what_the_same_one_at_rest_does_not(self):
        # Both turn together, a quarter: only the turning frames keep them apart.
        p, q = [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [[-1.0, 1e-6, 0.0], [1.0, 1e-6, 0.0]]
        for frame, holds in (("p", True), ("q", True), ("world", False)):
            answer = {"verdict": "NO_CONTACT", "certificate": {"chain": [
                {"t0": 0.0, "t1": 1.0, "frame": frame, "direction": [0.0, 1.0, 0.0]}]}}
            judge = lambda: cv.verify_motion(p, q, at(), at(), self.TURN, self.TURN, answer)
            judge() if holds else self.refused(judge)

    def test_a_body_at_rest_is_not_taken_for_a_point_when_the_other_turns(self):
        # The cube's corners reach beyond the plane that its centre is clear of.
        answer = {"verdict": "NO_CONTACT", "certificate": {"chain": [
            {"t0": 0.0, "t1": 1.0, "frame": "world", "direction": [0.0, 1.0, 0.0]}]}}
        self.judge(answer, y=3.25)
        self.refused(self.judge, answer, y=2.75)

    def test_gaps_and_bends_agree_with_floating_point_sampling_of_every_kind_of_motion(self):
        draw, least = random.Random(5), 0.0
        vector = lambda size: [draw.uniform(-size, size) for _ in range(3)]
        pose = lambda: at(*vector(3), [draw.uniform(-1, 1) for _ in range(4)])
        unit = 2.0 ** cv.F
        for round_ in range(36):
            bodies, poses = [[vector(2) for _ in range(3)] for _ in "pq"], [pose(), pose()]
            motions = []
            for k in (round_ % 4, round_ // 4 % 3):
                pivot = vector(5) if draw.random() < 0.7 else None
                motions.append([("screw", vector(2), vector(1), draw.uniform(-4, 4), pivot),
                                ("to_pose", pose(), pivot), ("linear", vector(3)),
                                ("screw", vector(2), [0.0, 0.0, 3.0], 3.0, pivot)][k])
            lengths = [m[1][1] if m[0] == "to_pose" else m[1] for m in motions]
            lengths += [m[-1] for m in motions if m[0] != "linear" and m[-1]]
            pair = cv.Pair(*bodies, *poses, lengths)
            movers = cv.Movers(pair, *poses, *motions)
            for frame in ("world", "p", "q"):
                s = vector(1)
                whole, h = tuple(int(x * unit) for x in s), 2.0 ** -10
                bend = movers.bend(frame, whole) / unit / pair.unit
                for t in (h, 0.25, 0.5, 0.8125, 1 - h):
                    heights = []
                    for at_time in (t - h, t, t + h):
                        turned, points = s, []
                        for body, start, motion, name in zip(bodies, poses, motions, "pq"):
                            rotate, place = sampled(start, motion, at_time)
                            points.append([place(v) for v in body])
                            turned = rotate(s) if name == frame else turned
                        heights.append([cv.dot(turned, cv.sub(y, x)) for x in points[0] for y in points[1]])
                    gap = movers.gap(frame, whole, int(t * unit)) / unit / pair.unit
                    self.assertAlmostEqual(gap, min(heights[1]), delta=1e-12)
                    second = max(abs(a - 2 * b + c) for a, b, c in zip(*heights)) / h ** 2
                    self.assertLessEqual(second, bend * 1.0001 + 1e-6, (round_, frame))
                    least = max(least, second / (bend + 1e-9))
        self.assertGreater(least, 0.5, "a bound that is never nearly met proves little")

    def test_a_passage_between_two_free_ends_is_found(self):
        # Half a turn takes the rod's tip through the cube's plane and out again.
        answer = {"verdict": "NO_CONTACT", "certificate": {"chain": [
            {"t0": 0.0, "t1": 1.0, "frame": "q", "direction": [0.0, 1.0, 0.0]}]}}
        half = ("screw", [0.0] * 3, [0.0, 0.0, 1.0], math.pi, None)
        self.judge(answer, turn=half, y=3.0 + 1e-9)
        self.refused(self.judge, answer, turn=half, y=3.0 - 1e-9)
        for frame, holds in (("p", True), ("world", False)):
            answer["certificate"]["chain"][0].update(frame=frame, direction=[0.0, -1.0, 0.0])
            swapped = lambda: cv.verify_motion(CUBE, ROD, at(0.0, 3.0 - 1e-9), at(), self.REST, half, answer)
            self.refused(swapped)

    def test_many_turns_are_free_when_the_whole_circle_is(self):
        answer = {"verdict": "NO_CONTACT", "certificate": {"chain": [
            {"t0": 0.0, "t1": 1.0, "frame": "world", "direction": [0.0, 1.0, 0.0]}]}}
        turns = ("screw", [0.0] * 3, [0.0, 0.0, 1.0], 200 * math.pi, None)
        self.judge(answer, y=3.0 + 1e-9, turn=turns)
        self.refused(self.judge, answer, y=3.0 - 1e-9, turn=turns)

    def test_sines_enclose_the_true_values_on_both_sides_of_zero_and_after_many_turns(self):
        for angle in (1e-12, 0.3, -0.3, math.pi, -2.5, 628.25, -1e6):
            for t in (cv.ONE, cv.ONE // 3):
                s, v = cv.sine_versine(Fraction(angle), t)
                c = cv.ONE - v
                self.assertLess(abs(s * s + c * c - (1 << (2 * cv.F))), 16 << cv.F)
                phi = angle * (t / cv.ONE)
                self.assertAlmostEqual(s / cv.ONE, math.sin(phi), delta=1e-15 + 4e-16 * abs(phi))
                self.assertAlmostEqual(c / cv.ONE, math.cos(phi), delta=1e-15 + 4e-16 * abs(phi))
        # pi to 40 digits: the sine of the f64 number is the rest.
        rest = Fraction(31415926535897932384626433832795028841972, 10 ** 40) - Fraction(math.pi)
        self.assertLess(abs(cv.sine_versine(Fraction(math.pi), cv.ONE)[0] - rest * cv.ONE), 1 << 8)


class ToPose(Judged):
    def test_both_ends_of_a_motion_to_a_pose_are_the_given_poses(self):
        draw = random.Random(3)
        number = lambda: draw.uniform(-3, 3)
        for pivot in (None, [1.0, -20.0, 0.5]):
            start, end = (at(number(), number(), number(), [number() for _ in range(4)])
                          for _ in range(2))
            for motion_end in (end, start):
                pair = cv.Pair(CUBE, CUBE, start, motion_end, [pivot] if pivot else [])
                mover = cv.Mover(pair.given[0], start, ("to_pose", motion_end, pivot), pair.unit)
                for k, v in enumerate(mover.v):
                    for t, body in ((0, 0), (cv.ONE, 1)):
                        x = mover.place(v, t, mover.turn(t))
                        for got, true in zip(x, pair.placed[body][k]):
                            self.assertLess(abs(got - (true << cv.F)), mover.span << 9)

    def test_half_turns_and_no_turns_follow_the_recipe(self):
        eye = at()[0]
        for rows, axis in (((1, -1, -1), (1, 0, 0)), ((-1, 1, -1), (0, 1, 0)), ((-1, -1, 1), (0, 0, 1))):
            end = tuple(tuple(float(rows[i]) if i == k else 0.0 for k in range(3)) for i in range(3))
            got, angle = cv.axis_and_angle(eye, end)
            self.assertEqual(angle, math.pi)
            self.assertEqual([c / max(got) for c in got], list(axis))
        self.assertEqual(cv.axis_and_angle(eye, eye), ((0.0, 0.0, 0.0), 0.0))


class Files(Judged):
    def test_the_command_counts_what_is_proven_and_fails_on_one_refusal(self):
        lines = [{"type": "hull", "id": 1, "points": CUBE},
                 {"type": "case", "id": "a", "family": "f", "kind": "static", "P": 1, "Q": 1,
                  "tP": [0, 0, 0], "qP": [1, 0, 0, 0], "tQ": [3, 0, 0], "qQ": [1, 0, 0, 0]}]
        answer = {"id": "a", "verdict": "SEPARATED", "distance_lower": 1.0, "distance_upper": 1.0,
                  "certificate": {"direction": [1.0, 0.0, 0.0], "distance_pairs": [[4, 0]]}}
        with tempfile.TemporaryDirectory() as folder:
            cases, answers = os.path.join(folder, "cases.jsonl"), os.path.join(folder, "answers.jsonl")
            for upper, code, word in ((1.0, 0, "1 distance proven"), (0.5, 1, "refused: a")):
                answer["distance_upper"] = upper
                for path, rows in ((cases, lines), (answers, [answer])):
                    with open(path, "w") as file:
                        file.writelines(json.dumps(row) + "\n" for row in rows)
                with redirect_stdout(io.StringIO()) as out:
                    self.assertEqual(clearance_answers.main([cases, answers]), code)
                self.assertIn(word, out.getvalue())

    def test_a_margin_and_a_deviation_are_the_cases(self):
        # The faces are 1 apart and meet at 2 a step: within 1/4 at 3/8, as may be 1/4 sooner at 1/4.
        case = {"kind": "linear", "P": 1, "Q": 1, "tP": [0, 0, 0], "qP": [1, 0, 0, 0], "tQ": [3, 0, 0],
                "qQ": [1, 0, 0, 0], "vP": [2, 0, 0], "vQ": [0, 0, 0], "contact_margin": 0.25, "deviation": 0.25}
        link = {"t0": 0.0, "t1": ulp(0.25, -1), "frame": "world", "direction": [1.0, 0.0, 0.0]}
        answer = {"verdict": "CONTACT", "t_free": ulp(0.25, -1), "t_contact": 0.375,
                  "certificate": {"pairs": [[4, 0]], "chain": [link]}}
        judge = lambda **changed: clearance_answers.verify_answer({**case, **changed}, {1: CUBE}, answer)
        judge()
        for changed in {"deviation": ulp(0.25)}, {"contact_margin": ulp(0.25, -1)}, {"contact_margin": -0.25}:
            self.refused(judge, **changed)


if __name__ == "__main__":
    unittest.main()
