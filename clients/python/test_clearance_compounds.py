"""What a session said of bodies of several parts (compounds_sample.json): accepted as it is, refused with the entry
when it is changed or said of something else."""
import copy, json, os, time, unittest
from unittest import mock

import clearance_compounds as cc
import clearance_poses
from clearance_poses import TakesTooLong
from clearance_verify import ONE, Mover, Refused, matrix_pose, quaternion_pose

with open(os.path.join(os.path.dirname(__file__), "compounds_sample.json")) as file:
    SAMPLE = json.load(file)
CUBE = [[float(x), float(y), float(z)] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
REST = ("linear", (0.0, 0.0, 0.0))


def pose(place):
    at, turn = place
    return quaternion_pose(at, [1.0, 0.2 * turn, -0.3 * turn, turn])


P, Q = [[(CUBE, pose(place)) for place in parts] for parts in SAMPLE["parts"]]
HERE = cc.placed(P, quaternion_pose([0, 0, 0], [1, 0, 0, 0]))


def stand(case, **changed):
    case = {**case, **changed}
    there = cc.placed(Q, pose(case["to"]))
    cc.verify_compounds(HERE, there, case["verdict"], case["certificate"], SAMPLE["margin"], case["within"])


def way(case, **changed):
    begin, end = pose(case["from"]), pose(case["to"])
    motions = cc.part_motions(Q, begin, ("to_pose", end, None))
    cc.verify_compound_motion(HERE, cc.placed(Q, begin), [REST] * len(P), motions,
                              {**case["firstContact"], **changed}, SAMPLE["margin"])


def far(case, **changed):
    case = {**case, **changed}
    there = cc.placed(Q, pose(case["to"]))
    certificate = {"verdict": case["certificate"], **case["distanceCertificate"]}
    cc.verify_compounds(HERE, there, case["verdict"], certificate["verdict"])
    cc.verify_compound_distance(HERE, there, case["verdict"], case["distance"], certificate)


def deep(case, **changed):
    case = {**case, **changed}
    there, certificate = cc.placed(Q, pose(case["to"])), case["depthCertificate"]
    cc.verify_compounds(HERE, there, case["verdict"], certificate["verdict"])
    cc.verify_compound_depth(HERE, there, case["verdict"], case["depth"], certificate)


def moved(bracket, by):
    return {key: bracket.get(key, 0.0) + by for key in ("lower", "upper")}


def entries(certificate):
    return certificate["compound"]["entries"]


class Patience(unittest.TestCase):
    """An entry may name all parts, and there may be a thousand such entries: judging them took hours."""

    def setUp(self):
        self.before, clearance_poses.PATIENCE = clearance_poses.PATIENCE, 0.3

    def tearDown(self):
        clearance_poses.PATIENCE = self.before

    def end_in_time(self, judge, *claim):
        start = time.monotonic()
        with self.assertRaisesRegex(TakesTooLong, "not judged within 0.3 s") as caught:
            judge(*claim)
        self.assertIsInstance(caught.exception, Refused)
        self.assertLess(time.monotonic() - start, 5)

    def test_certificates_made_to_take_hours_are_given_up(self):
        p, q = ([(CUBE, quaternion_pose([x + 1.5 * k, 0.0, 0.0], [1.0, 0.1, 0.2, 0.3])) for k in range(16)]
                for x in (0.0, 60.0))
        away = {"vector": {"x": 1.0}}
        every = {"pParts": list(range(16)), "qParts": list(range(16))}
        static = {"separated": {"direction": away}}
        entries = [{**every, "certificate": static}] * 1000
        self.end_in_time(cc.verify_compounds, p, q, "SEPARATED", {"compound": {"entries": entries}}, 1.0, False)
        nearest = {"pParts": [15], "qParts": [0], "pairs": [{"i": 7, "j": 0}]}
        parts = [{**every, "direction": away}] * 1000 + [nearest]
        self.end_in_time(cc.verify_compound_distance, p, q, "SEPARATED", {"lower": 1.0, "upper": 99.0}, {"parts": parts})
        link = {"t1": 1.0, "frame": "DIRECTION_FRAME_WORLD", "direction": away}
        turning = [("screw", [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], 0.1, None)] * 16
        free = {"outcome": "OUTCOME_NO_CONTACT", "tFree": 1.0, "certificate": {"parts": [
            {**every, "certificate": {"initial": static, "chain": [link] * 1000}}]}}
        self.end_in_time(cc.verify_compound_motion, p, q, turning, turning, free)

    def test_giving_up_is_not_taken_for_a_refusal_that_other_entries_may_make_up_for(self):
        def given_up(name, effects, judge, wanted):
            cases = list(filter(wanted, SAMPLE["cases"]))
            self.assertTrue(cases)
            for case in cases:
                with mock.patch.object(cc, name, side_effect=effects), self.assertRaisesRegex(TakesTooLong, "late"):
                    judge(case)

        clearance_poses.PATIENCE, late = 60.0, TakesTooLong("late")
        given_up("verify_margin", late, stand, lambda case: case["verdict"] == "SEPARATED" and case["within"])
        given_up("verify_distance", [None, late], far, lambda case: case["verdict"] == "SEPARATED")


class HalfTurn(unittest.TestCase):
    def test_the_parts_of_a_body_stay_together_on_a_half_turn(self):
        """Each part took the axis of a half turn from its own rounded matrix, whose sign rounding decides."""
        rest, half = quaternion_pose([0, 0, 0], [1, 0, 0, 0]), matrix_pose([0, 0, 0], [0, 0, 1, 0, -1, 0, 1, 0, 0])
        tilts = [(1, 0, 0, 0), (0, -1, 1, 0), (0.1, 0.7, -0.2, 0.5), (0, 0.6, 0.8, 0), (0.3, 0, -1, 2), (0, 0, 0, 1)]
        parts = [([[0.0, 0.0, 0.0]], quaternion_pose([3, 0, 0], tilt)) for tilt in tilts]
        for (points, at), motion in zip(cc.placed(parts, rest), cc.part_motions(parts, rest, ("to_pose", half, None))):
            mover = Mover(points, at, motion, 1 << 60)
            x, y, z = (c / (ONE << 60) for c in mover.place((0, 0, 0), ONE >> 1, mover.turn(ONE >> 1)))
            self.assertLess(max(abs(x - 1.5), abs(y - 1.5 * 2 ** 0.5), abs(z - 1.5)), 1e-14)


class Sample(unittest.TestCase):
    def test_what_a_session_says_is_proven(self):
        for case in SAMPLE["cases"]:
            stand(case)
            way(case)
            far(case)
            if "depth" in case:
                deep(case)
        self.assertEqual({case["verdict"] for case in SAMPLE["cases"]}, {"SEPARATED", "TOUCHING", "OVERLAPPING"})
        self.assertEqual({case["firstContact"]["outcome"] for case in SAMPLE["cases"]},
                         {"OUTCOME_CONTACT", "OUTCOME_NO_CONTACT"})

    def test_a_changed_statement_is_refused_with_the_entry(self):
        for case in SAMPLE["cases"]:
            for other in cc.VERDICTS:
                if other != case["verdict"]:
                    self.assertRaises(Refused, stand, case, verdict=other)
            self.assertRaises(Refused, stand, case, within=not case["within"])
            lie = copy.deepcopy(case["certificate"])
            entries(lie)[0]["qParts"] = [7]
            self.assertRaisesRegex(Refused, r"^certificate\.compound\.entries\[0\]: ", stand, case, certificate=lie)
            if case["verdict"] == "OVERLAPPING":
                continue
            lie = copy.deepcopy(case["certificate"])
            last = entries(lie).pop()
            self.assertRaises(Refused, stand, case, certificate=lie)
            proof = next(iter(last["certificate"].values()))
            proof["direction"] = {"vector": {"z": 1.0}}
            entries(lie).append(last)
            at = len(entries(lie)) - 1
            self.assertRaisesRegex(Refused, rf"^certificate\.compound\.entries\[{at}\]: ", stand, case, certificate=lie)

    def test_a_changed_motion_is_refused(self):
        for case in SAMPLE["cases"]:
            found = case["firstContact"]
            if found["outcome"] == "OUTCOME_NO_CONTACT":
                lie = copy.deepcopy(found["certificate"])
                lie["parts"].pop()
                self.assertRaisesRegex(Refused, "no entry is about", way, case, certificate=lie)
                self.assertRaises(Refused, way, case, outcome="OUTCOME_CONTACT", tContact=1.0)
                continue
            self.assertRaises(Refused, way, case, outcome="OUTCOME_NO_CONTACT", tFree=1.0)
            if "tFree" in found:
                self.assertRaises(Refused, way, case, tContact=found["tFree"])
                later = 0.5 * (1.0 + found["tFree"])
                self.assertRaises(Refused, way, case, tFree=later, tContact=max(later, found["tContact"]))

    def test_a_changed_distance_is_refused(self):
        for case in SAMPLE["cases"]:
            self.assertRaises(Refused, far, case, distance=moved(case["distance"], 1e-6))
            if case["verdict"] != "SEPARATED":
                continue
            self.assertRaisesRegex(Refused, "no entry shows the upper bound", far, case,
                                   distance=moved(case["distance"], -1e-6))
            for at in range(len(case["distanceCertificate"]["parts"])):
                lie = copy.deepcopy(case["distanceCertificate"])
                lie["parts"].pop(at)
                self.assertRaisesRegex(Refused, "no entry", far, case, distanceCertificate=lie)

    def test_a_changed_depth_is_refused(self):
        cases = [case for case in SAMPLE["cases"] if "depth" in case]
        self.assertTrue(cases)
        for case in cases:
            for by in (-1e-6, 1e-6):
                self.assertRaises(Refused, deep, case, depth=moved(case["depth"], by))
            self.assertTrue(case["depthCertificate"]["parts"])
            for at in range(len(case["depthCertificate"]["parts"])):
                lie = copy.deepcopy(case["depthCertificate"])
                lie["parts"].pop(at)
                self.assertRaisesRegex(Refused, "no entry is about", deep, case, depthCertificate=lie)

    def test_a_search_that_was_stopped_claims_nothing_of_the_start(self):
        met = next(case for case in SAMPLE["cases"] if case["firstContact"].get("tContact", 0) > 0)
        shown = [entry for entry in met["firstContact"]["certificate"]["parts"]
                 if entry["certificate"].get("contactPairs")][:1]
        some = {"certificate": {"parts": shown}, "tFree": 0.0}
        way(met, **some, stopped="STOPPED_STEPS")
        self.assertRaisesRegex(Refused, "no entry is about", way, met, **some)
        self.assertRaises(Refused, way, met, certificate={"parts": shown}, stopped="STOPPED_STEPS")

    def test_an_entry_that_names_a_part_twice_is_refused(self):
        for case in SAMPLE["cases"]:
            lie = copy.deepcopy(case["certificate"])
            entries(lie)[0]["pParts"] *= 2
            self.assertRaisesRegex(Refused, "names a part twice", stand, case, certificate=lie)
            lie = copy.deepcopy(case["firstContact"]["certificate"])
            lie["parts"][0]["qParts"] *= 2
            self.assertRaisesRegex(Refused, "names a part twice", way, case, certificate=lie)

    def test_contact_at_the_start_leaves_no_time_before_it(self):
        """That bodies in contact at t = 0 are free until t = 1 was accepted."""
        at_start = [case for case in SAMPLE["cases"] if case["firstContact"].get("tContact") == 0]
        self.assertTrue(at_start)
        for case in at_start:
            for until in (0.5, 1.0, -1.0, float("nan")):
                self.assertRaises(Refused, way, case, tFree=until)

    def test_a_start_that_is_shown_by_vertices_is_one_of_two_parts(self):
        """Entries about several parts that touch, or are apart along a normal of vertices, were accepted."""
        case = next(case for case in SAMPLE["cases"] if case["firstContact"].get("tContact") == 0)
        normal = {"normal": {"pairs": [{"i": 0, "j": 0}] * 3}}
        for initial in ({"touching": {}}, {"separated": {"direction": normal}}, {"separated": {}}):
            lie = copy.deepcopy(case["firstContact"]["certificate"])
            lie["parts"].append({"pParts": [0, 1], "qParts": [0], "certificate": {"initial": initial}})
            self.assertRaisesRegex(Refused, "of several parts together", way, case, certificate=lie)



class CurvedParts(unittest.TestCase):
    """A tube with a cube on it, beside a cube."""
    TUBE = ("cylinder", [0.5, 0.5, 1.0])

    def setUp(self):
        corners = [[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-1.0, 1.0)]
        sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        around = {"outer": {"xyz": [x for corner in corners for x in corner]},
                  "outerTriangles": [at for i, j, k, l in sides for at in (i, j, k, i, k, l)]}
        apart = {"separated": {"direction": {"vector": {"x": 1.0}}}}
        side = {"verdict": "VERDICT_SEPARATED", "withinMargin": False, "collision": apart}
        self.entries = [
            {"pParts": [0], "qParts": [0], "certificate": {"curved": {"p": around, "outer": [side]}}},
            {"pParts": [1], "qParts": [0], "certificate": apart}]
        self.p = cc.placed([(self.TUBE, pose(([0.0] * 3, 0.0))), (CUBE, pose(([0.0, 0.0, 1.0], 0.0)))], pose(([0.0] * 3, 0.0)))
        self.q = cc.placed([(CUBE, pose(([0.0] * 3, 0.0)))], pose(([3.0, 0.0, 0.0], 0.0)))

    def judged(self, verdict="SEPARATED", margin=1.0, within=False):
        try:
            cc.verify_compounds(self.p, self.q, verdict, {"compound": {"entries": self.entries}}, margin, within)
            return True
        except (Refused, LookupError):
            return False

    def test_each_is_judged_by_itself(self):
        self.assertTrue(self.judged())
        self.assertFalse(self.judged("OVERLAPPING") or self.judged("TOUCHING") or self.judged(within=True))
        self.assertFalse(self.judged(margin=2.5) or self.judged(margin=-1.0, within=False))

    def test_what_is_changed_is_refused(self):
        whole = self.entries
        curved = lambda entry: entry["certificate"]["curved"]
        def shrunk(all):
            xyz = curved(all[0])["p"]["outer"]["xyz"]
            xyz[:] = [x * 0.9 for x in xyz]
        for change in (lambda all: all.pop(0), lambda all: all.pop(), lambda all: all[0].update(certificate=all[1]["certificate"]),
                       lambda all: all[0].update(pParts=[0, 1]), lambda all: all[1].update(pParts=[0, 1]), shrunk,
                       lambda all: curved(all[0])["p"]["outerTriangles"].pop(), lambda all: curved(all[0])["outer"].clear(),
                       lambda all: curved(all[0])["outer"][0].pop("withinMargin"),
                       lambda all: all[1].update(certificate=all[0]["certificate"])):
            self.entries = copy.deepcopy(whole)
            change(self.entries)
            self.assertFalse(self.judged(), change)


if __name__ == "__main__":
    unittest.main()
