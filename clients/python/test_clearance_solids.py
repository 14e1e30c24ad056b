"""Proofs about polyhedra that a server gave (solids_sample.json): accepted as they are, refused when they are
changed or said of something else; and what a judge has to know of points and rays, by hand."""
import copy, json, os, unittest

import clearance_solids as cs
from clearance_verify import Refused, quaternion_pose

with open(os.path.join(os.path.dirname(__file__), "solids_sample.json")) as file:
    SAMPLE = json.load(file)
SOLIDS = {name: cs.Solid(body["points"], body.get("triangles")) for name, body in SAMPLE["solids"].items()}
REST = ("linear", (0.0, 0.0, 0.0))
FACETED = cs.Solid(SOLIDS["peg"].points, None,  # the peg, with its facets as GetPolytope would list them
                   [[0, 1, 3, 2], [0, 2, 6, 4], [0, 4, 5, 1], [1, 5, 7, 3], [2, 3, 7, 6], [4, 6, 7, 5]])


def placed(body):
    name, x, y, z, turn = body
    return SOLIDS[name], quaternion_pose([x, y, z], turn or [1, 0, 0, 0])


def verdict(case, **changed):
    case = {**case, **changed}
    (p, pose_p), (q, pose_q) = placed(case["p"]), placed(case["q"])
    cs.verify_solids(p, q, pose_p, pose_q, case["verdict"], case["proof"])


def motion(case, **changed):
    case = {**case, **changed}
    (p, pose_p), (q, pose_q) = placed(case["p"]), placed(case["q"])
    cs.verify_solid_motion(p, q, pose_p, pose_q, REST, ("linear", case["velocity"]), case["answer"])


def collision(case, answer=None):
    bodies = [(*placed(body["body"]), ("linear", body["velocity"])) for body in case["bodies"]]
    cs.verify_first_collision(bodies, answer or case["answer"])


def covers(proof):
    way = [proof["touching"]["way"]] if "touching" in proof else []
    return [proof[k] for k in ("separated", "free") if k in proof] + way


class Sample(unittest.TestCase):
    def test_what_the_server_says_is_proven(self):
        kinds = set()
        for case in SAMPLE["verdicts"]:
            verdict(case)
            kinds.update(case["proof"])
        self.assertEqual(kinds, {"separated", "touching", "crossing", "innerPoint"})
        for case in SAMPLE["motions"]:
            motion(case)
        self.assertEqual({case["answer"]["outcome"] for case in SAMPLE["motions"]},
                         {"OUTCOME_CONTACT", "OUTCOME_NO_CONTACT"})

    def test_a_proof_is_none_of_another_verdict_or_place(self):
        for case in SAMPLE["verdicts"]:
            for other in ("SEPARATED", "TOUCHING", "OVERLAPPING"):
                if other != case["verdict"]:
                    self.assertRaises(Refused, verdict, case, verdict=other)
            for there in SAMPLE["verdicts"]:
                if there["verdict"] != case["verdict"]:
                    self.assertRaises(Refused, verdict, case, p=there["p"], q=there["q"])
            if "innerPoint" not in case["proof"]:  # of two meshes it is one either way round
                self.assertRaises(Refused, verdict, case, p=case["q"], q=case["p"])

    def test_a_proof_that_lacks_a_part_is_refused_as_the_server_refuses_it(self):
        """A missing way or direction was a KeyError, a missing point the origin."""
        touch = next(case for case in SAMPLE["verdicts"] if "touching" in case["proof"])
        for part in ("faces", "from", "way"):
            proof = copy.deepcopy(touch["proof"])
            del proof["touching"][part]
            self.assertRaises(Refused, verdict, touch, proof=proof)
        proof = copy.deepcopy(touch["proof"])
        del next(step["chain"][0] for step in proof["touching"]["way"]["steps"] if step.get("chain"))["direction"]
        self.assertRaises(Refused, verdict, touch, proof=proof)
        inner = next(case for case in SAMPLE["verdicts"] if "innerPoint" in case["proof"])
        proof = copy.deepcopy(inner["proof"])
        del proof["innerPoint"]["point"]
        self.assertRaisesRegex(Refused, "no point", verdict, inner, proof=proof)

    def test_a_proof_is_none_of_another_time_or_motion(self):
        for case in SAMPLE["motions"]:
            answer = case["answer"]
            for changes in ({"tContact": 0.125, "tFree": 0.0625}, {"tFree": 1.0, "tContact": 1.0},
                            {"tFree": 0.5, "tContact": 0.25}, {"initialVerdict": "VERDICT_OVERLAPPING"},
                            {"outcome": "OUTCOME_UNDECIDED"}):
                lie = {**answer, **changes}
                if answer["outcome"] == "OUTCOME_NO_CONTACT" and lie["outcome"] == "OUTCOME_NO_CONTACT":
                    if "initialVerdict" not in changes and "tFree" in changes and changes["tFree"] == 1.0:
                        continue  # the time of a contact that is not claimed
                self.assertRaises(Refused, motion, case, answer=lie)
            if "solid" in answer["certificate"]:
                self.assertRaises(Refused, motion, case, velocity=[20 * v for v in case["velocity"]])

    def test_contact_at_the_start_is_proven_by_the_proof_of_the_start_alone(self):
        # Beside a proof of later, or as one form of two, the server refuses it, and it was accepted here.
        case = next(case for case in SAMPLE["motions"] if "initial" in case["answer"]["certificate"])
        for part, stray in (("certificate", {"solid": {"free": {}}}), ("initial", {"separated": {}})):
            lie = copy.deepcopy(case)
            holder = lie["answer"]["certificate"]
            (holder if part == "certificate" else holder["initial"]).update(stray)
            self.assertRaises(Refused, motion, lie)

    def test_a_cover_that_is_changed_is_none(self):
        tried = 0
        for case in SAMPLE["verdicts"] + SAMPLE["motions"]:
            check = verdict if "proof" in case else motion

            def refused(change):
                lie = copy.deepcopy(case)
                proof = lie["proof"] if "proof" in case else lie["answer"]["certificate"].get("solid", {})
                for cover in covers(proof):
                    if change(cover) is not False:
                        self.assertRaises(Refused, check, lie)
                        return 1
                return 0

            tried += refused(lambda cover: cover["steps"].pop() and None)
            tried += refused(lambda cover: cover["steps"].append({"split": "COVER_SPLIT_P"}))
            tried += refused(lambda cover: cover["steps"].append(copy.deepcopy(cover["steps"][-1])))
            tried += refused(lambda cover: cover["steps"][-1].update(chain=[]))
            tried += refused(lambda cover: cover["steps"][-1].update(split="COVER_SPLIT_P"))
            tried += refused(lambda cover: cover["pOrder"].append(0) if cover.get("pOrder") else False)
            tried += refused(lambda cover: cover["steps"][-1]["chain"][0].update(t0=0.5))

            def turned(cover):
                vector = cover["steps"][-1]["chain"][0]["direction"].get("vector")
                if not vector:
                    return False
                vector.update({k: -x for k, x in vector.items()})

            tried += refused(turned)
        self.assertGreater(tried, 100)

    def test_faces_and_points_that_are_changed_prove_nothing(self):
        for case in SAMPLE["verdicts"]:
            (form, body), = case["proof"].items()
            if form in ("crossing", "touching"):
                faces = body if form == "crossing" else body["faces"]
                for change in ({"q": []}, {"q": [99]}, {"p": [0, 1, 2, 3]}, {"p": [0, 3, 15]}):
                    lie = copy.deepcopy(case)
                    (lie["proof"][form] if form == "crossing" else lie["proof"][form]["faces"]).update(change)
                    if {**faces, **change} != faces:
                        self.assertRaises(Refused, verdict, lie)
            if form == "innerPoint":
                lie = copy.deepcopy(case)
                lie["proof"][form]["point"] = {"x": 100.0}
                self.assertRaises(Refused, verdict, lie)
        for case in SAMPLE["motions"]:
            if case["answer"]["outcome"] == "OUTCOME_CONTACT" and "solid" in case["answer"]["certificate"]:
                lie = copy.deepcopy(case)
                lie["answer"]["certificate"]["solid"]["contact"]["q"] = [99]
                self.assertRaises(Refused, motion, lie)
                del lie["answer"]["certificate"]["solid"]["contact"]
                self.assertRaises(Refused, motion, lie)


class Several(unittest.TestCase):
    def refused(self, case, change):
        lie = copy.deepcopy(case["answer"])
        change(lie)
        self.assertRaises(Refused, collision, case, lie)

    def test_what_the_server_says_of_several_bodies_is_proven(self):
        kinds = set()
        for case in SAMPLE["collisions"]:
            collision(case)
            kinds.add((case["answer"]["outcome"], case["answer"].get("initialVerdict")))
        self.assertEqual(len(kinds), 4)

    def test_it_is_no_proof_of_another_time_or_pair(self):
        for case in SAMPLE["collisions"]:
            for change in ({"tContact": 0.125, "tFree": 0.0625}, {"tFree": 0.9375, "tContact": 1.0},
                           {"outcome": "OUTCOME_UNDECIDED"}, {"p": 1, "q": 0}, {"p": 0, "q": 9}, {"p": 0, "q": -1}):
                self.refused(case, lambda lie: lie.update(change))
            if case["answer"]["outcome"] == "OUTCOME_CONTACT":
                met = case["answer"]["p"], case["answer"]["q"]
                for p, q in ((0, 1), (1, 2), (0, 2)):
                    if (p, q) != met:
                        self.refused(case, lambda lie: lie.update(p=p, q=q))
                self.refused(case, lambda lie: lie.update(outcome="OUTCOME_NO_CONTACT", tFree=1.0))
                self.refused(case, lambda lie: lie["certificate"].pop("contact"))

    def test_every_pair_is_covered_or_beside_each_other(self):
        tried = 0
        for case in SAMPLE["collisions"]:
            for at in range(len(case["answer"]["certificate"].get("free", []))):
                tried += 1
                self.refused(case, lambda lie: lie["certificate"]["free"].pop(at))
                self.refused(case, lambda lie: lie["certificate"]["free"].insert(at, lie["certificate"]["free"][at]))
                self.refused(case, lambda lie: lie["certificate"]["free"][at]["pair"].update(p=1, q=2))
                self.refused(case, lambda lie: lie["certificate"]["free"][at]["cover"]["steps"].pop())
        self.assertGreater(tried, 2)
        # One that comes in from the side, and was beside all others.
        case = copy.deepcopy(SAMPLE["collisions"][0])
        case["bodies"][2]["velocity"] = [-40, 0, 0]
        with self.assertRaisesRegex(Refused, "nothing shows"):
            collision(case)

    def test_a_verdict_that_is_none_does_not_excuse_from_the_other_pairs(self):
        # "SEPARATED" was read as the verdict of the two that meet, and then as contact at t = 0, before which
        # there is nothing to prove: another pair might have met long before.
        case = copy.deepcopy(SAMPLE["collisions"][0])
        del case["answer"]["certificate"]["free"]
        for name in ("SEPARATED", "VERDICT_SEPARATED", "VERDICT_VERDICT_SEPARATED", "", 1, None):
            self.refused(case, lambda lie: lie.update(initialVerdict=name))

    def test_bodies_are_beside_each_other_on_one_side_all_the_time(self):
        at = lambda *ends: tuple([[x + side, 0, 0] for x in ends] for side in (0, 1))
        self.assertTrue(cs.beside(at(0, 5), at(2, 7)))
        self.assertTrue(cs.beside(at(2, 7), at(0, 5)))
        self.assertFalse(cs.beside(at(0, 5), at(1, 7)))  # touching at the start
        self.assertFalse(cs.beside(at(0, 5), at(2, 2)))  # passing through


    def test_a_proof_of_contact_is_refused_where_no_bodies_meet(self):
        # It was overlooked, and the server refused the answer for it.
        case = next(case for case in SAMPLE["collisions"] if case["answer"]["outcome"] == "OUTCOME_NO_CONTACT")
        for proof in ({}, {"initial": {"solid": {"crossing": {"p": [0, 1, 2], "q": [0, 1, 2]}}}}, {"solid": {"free": {}}}):
            self.refused(case, lambda lie: lie["certificate"].update(contact=proof))

    def test_nothing_is_proven_of_several_bodies_one_of_which_turns(self):
        # Of two others that were in contact at t = 0 it was, but there is no such question.
        case = next(case for case in SAMPLE["collisions"]
                    if case["answer"].get("initialVerdict") in ("VERDICT_TOUCHING", "VERDICT_OVERLAPPING"))
        bodies = [(*placed(body["body"]), ("linear", body["velocity"])) for body in case["bodies"]]
        cs.verify_first_collision(bodies, case["answer"])
        met = case["answer"].get("p", 0), case["answer"]["q"]
        other = next(k for k in range(len(bodies)) if k not in met)
        bodies[other] = (*bodies[other][:2], ("screw", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.5, None))
        with self.assertRaisesRegex(Refused, "turns"):
            cs.verify_first_collision(bodies, case["answer"])


class Meeting(unittest.TestCase):
    """Where bodies meet: the channel is a U of three units, the peg half a unit wide, one long and high."""

    HERE = quaternion_pose([0, 0, 0], [1, 0, 0, 0])

    def meets(self, contact, x, y, name="block", velocity=(0.0, 0.0, 0.0), times=(0.0, 0.0)):
        there = quaternion_pose([x, y, 0], [1, 0, 0, 0])
        body = SOLIDS[name] if name == "block" else FACETED
        cs.verify_face_contact(SOLIDS["channel"], body, self.HERE, there, REST, ("linear", velocity), times, contact)

    def refused(self, *args, **kwargs):
        self.assertRaises(Refused, self.meets, *args, **kwargs)

    def test_faces_that_share_a_point_and_no_others(self):
        # On the floor of the slot, y = 1, whose corners are 4, 5, 8 and 9, stands the peg by 0, 1, 4 and 5.
        triangles = SOLIDS["channel"].triangles
        on_floor = [k for k, t in enumerate(triangles) if set(t) <= {4, 5, 8, 9}]
        under = [k for k, t in enumerate(SOLIDS["block"].triangles) if set(t) <= {0, 1, 4, 5}]
        self.assertTrue(on_floor and under)
        for p in range(len(triangles)):
            reaches_floor = bool(set(triangles[p]) & {4, 5, 8, 9})
            if p in on_floor:
                self.meets({"pFacet": p, "qFacet": under[0]}, 1.0, 1.0)
            elif not reaches_floor:
                self.refused({"pFacet": p, "qFacet": under[0]}, 1.0, 1.0)
        self.meets({"pEdge": {"from": 4, "to": 5}, "qVertex": 0}, 1.0, 1.0)
        self.meets({"pVertex": 4, "qEdge": {"to": 4}}, 1.0, 1.0)
        self.refused({"pVertex": 8, "qVertex": 0}, 1.0, 1.0)
        self.refused({"pEdge": {"from": 4, "to": 9}, "qVertex": 99}, 1.0, 1.0)
        self.refused({"pEdge": {"from": 0, "to": 15}, "qVertex": 0}, 1.0, 1.0)  # no edge of a triangle
        for contact in ({}, {"point": {"x": 1.0}}, {"pVertex": 4}, {"pFacet": 99, "qFacet": 0}, {"pFacet": -1, "qFacet": 0},
                        {"pVertex": 4, "pFacet": on_floor[0], "qVertex": 0}):
            self.refused(contact, 1.0, 1.0)

    def test_faces_meet_at_a_time_of_the_bracket(self):
        fall = {"velocity": (0.0, -2.0, 0.0)}  # from y = 2 to the floor at 1: at t = 1/2
        contact = {"pEdge": {"from": 4, "to": 5}, "qVertex": 0}
        self.meets(contact, 1.0, 2.0, **fall, times=(0.5, 0.5))
        self.meets(contact, 1.0, 2.0, **fall, times=(0.25, 0.75))
        for times in ((0.0, 0.25), (0.75, 1.0), (0.75, 0.25), (0.5, 1.5), (-0.5, 0.5)):
            self.refused(contact, 1.0, 2.0, **fall, times=times)

    def test_one_facet_is_inside_the_other_body(self):
        # The peg is within the channel's left wall, its left face within the wall's.
        left = next(k for k, t in enumerate(SOLIDS["block"].triangles) if set(t) <= {0, 1, 2, 3})
        of_peg = next(k for k, facet in enumerate(FACETED.facets) if set(facet) == {0, 1, 2, 3})
        inside = quaternion_pose([0.25, 0.5, 0.25], [1, 0, 0, 0])
        small = [[0.5 * x for x in point] for point in SOLIDS["block"].points]
        bodies = {"block": cs.Solid(small, SOLIDS["block"].triangles), "peg": cs.Solid(small, None, FACETED.facets)}
        verify = lambda body, pose, contact, times=(0.0, 0.0): cs.verify_face_contact(
            SOLIDS["channel"], bodies[body], self.HERE, pose, REST, REST, times, contact)
        verify("block", inside, {"qFacet": left})
        verify("peg", inside, {"qFacet": of_peg})
        in_slot = quaternion_pose([1.25, 1.5, 0.25], [1, 0, 0, 0])
        for body, facet in (("block", left), ("peg", of_peg)):
            self.assertRaises(Refused, verify, body, in_slot, {"qFacet": facet})
            self.assertRaises(Refused, verify, body, inside, {"qFacet": 99})
            self.assertRaises(Refused, verify, body, inside, {"pFacet": 0})
            self.assertRaises(Refused, verify, body, inside, {"qVertex": 0})
            with self.assertRaisesRegex(Refused, "t = 0"):
                verify(body, inside, {"qFacet": facet}, (0.0, 0.5))
            turning = ("screw", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.5, None)  # which does not matter at t = 0
            cs.verify_face_contact(SOLIDS["channel"], bodies[body], self.HERE, inside, REST, turning, (0.0, 0.0), {"qFacet": facet})
        # From the wall's outside the facet goes into it beside its first edge; or along it, and then nothing tells.
        at_wall = quaternion_pose([0.0, 0.5, 0.25], [1, 0, 0, 0])
        self.assertRaises(Refused, verify, "block", at_wall, {"qFacet": left})
        inward = next(k for k, t in enumerate(bodies["block"].triangles) if 4 in t and 0 in t and len(set(t) & {2, 6}) == 1)
        verify("block", at_wall, {"qFacet": inward})


class Insides(unittest.TestCase):
    def test_rays_tell_inside_from_outside_and_from_the_surface(self):
        channel = SOLIDS["channel"]
        corners = [tuple(int(8 * x) for x in point) for point in channel.points]
        at = lambda *point: cs.inside(point, corners, channel.triangles)
        self.assertIs(at(4, 4, 4), True)
        self.assertIs(at(12, 4, 4), True)
        self.assertIs(at(12, 12, 4), False)  # in the slot
        self.assertIs(at(12, 40, 4), False)
        for surface in ((0, 4, 4), (12, 8, 4), (8, 12, 4), (0, 0, 0), (8, 8, 4)):
            self.assertIsNot(at(*surface), True)
            self.assertIsNone(at(*surface))

    def test_surfaces_apart_do_not_say_that_no_body_is_in_the_other(self):
        block = SOLIDS["block"]
        small = cs.Solid([[0.2 + 0.1 * x, 0.5 + 0.1 * y, 0.5 + 0.1 * z] for x, y, z in block.points], block.triangles)
        peg = cs.Solid(small.points)
        here = quaternion_pose([0, 0, 0], [1, 0, 0, 0])
        # Every triangle of the block against all of the small one, along the triangle's own outside.
        axes = {0: "x", 1: "y", 2: "z"}
        steps = []

        def halves(group):
            if len(group) > 1:
                half = len(group) // 2
                steps.append({"split": "COVER_SPLIT_P"})
                halves(group[:half])
                halves(group[half:])
                return
            corners = [block.points[v] for v in block.triangles[group[0]]]
            k = next(k for k in range(3) if len({c[k] for c in corners}) == 1)
            sign = 1.0 if corners[0][k] < small.points[0][k] else -1.0
            steps.append({"chain": [{"frame": "DIRECTION_FRAME_WORLD", "direction": {"vector": {axes[k]: sign}}}]})

        halves(list(range(len(block.triangles))))
        proof = {"separated": {"steps": steps}}
        for inner in (small, peg):
            with self.assertRaisesRegex(Refused, "inside the other"):
                cs.verify_solids(block, inner, here, here, "SEPARATED", proof)

    def test_parts_are_what_is_connected(self):
        block = SOLIDS["block"]
        two = cs.Solid(block.points * 2, block.triangles + [[v + 8 for v in t] for t in block.triangles])
        self.assertEqual(len(cs.parts(block)), 1)
        self.assertEqual(len(cs.parts(two)), 2)


if __name__ == "__main__":
    unittest.main()
