"""What the verifier of edges accepts and refuses where links and obstacles are meshes, on answers of the server about a
hand of two channels and a box, among channels and boxes (edges_meshes_sample.json)."""
import copy, json, math, pathlib, unittest

import clearance_edges as ce
from clearance_verify import Refused, quaternion_pose

SAMPLE = json.loads((pathlib.Path(__file__).parent / "edges_meshes_sample.json").read_text())


def cell(mesh=ce.region(SAMPLE["mesh"]["points"], SAMPLE["mesh"]["triangles"])):
    robot = ce.Robot(SAMPLE["urdf"], meshes={"u.obj": mesh})
    corners = lambda size: [tuple((0.5 if i >> k & 1 else -0.5) * size[k] for k in range(3)) for i in range(8)]
    still = [(corners(thing["size"]) if thing["size"] else mesh, quaternion_pose(thing["at"], thing["turn"]))
             for thing in SAMPLE["still"]]
    return ce.Cell([(robot, quaternion_pose([0.0] * 3, [1.0, 0.0, 0.0, 0.0]))], still)

def verify(edge, where):
    ce.verify_edge(where, edge["starts"], edge["ends"], edge["margin"], edge["claim"], edge["certificate"])


class EdgesOfMeshes(unittest.TestCase):
    def refuses(self, edge, change, words=""):
        changed = copy.deepcopy(edge)
        change(changed)
        with self.assertRaisesRegex(Refused, words):
            verify(changed, cell())

    def test_answers_of_the_server_are_accepted(self):
        covers, forms = 0, set()
        for edge in SAMPLE["edges"]:
            verify(edge, cell())
            covers += sum(len(piece.get("covers", [])) for piece in edge["certificate"]["pieces"])
            forms.add(next(iter((edge["certificate"]["contact"] or {"solid": {"": 0}})["solid"])))
        self.assertGreater(covers, 10)
        self.assertEqual(forms, {"", "crossing", "innerPoint", "marginPairs"})

    def test_changed_covers_are_refused(self):
        for edge in SAMPLE["edges"][:2]:
            for at, piece in enumerate(edge["certificate"]["pieces"]):
                if not piece.get("covers"):
                    continue
                part = lambda e: e["certificate"]["pieces"][at]
                k = next(k for k in range(len(piece["gaps"])) if not any(piece["directions"][3 * k:3 * k + 3]))
                def wider(e):
                    part(e)["gaps"][k] += 0.5
                self.refuses(edge, lambda e: part(e)["covers"][0]["steps"].pop(), "the cover leaves pairs of faces out")
                self.refuses(edge, lambda e: part(e).pop("covers"), "the direction is zero")
                self.refuses(edge, lambda e: part(e)["covers"].append({}), "more covers")
                self.refuses(edge, wider, "does not show that they are so far apart")

    def test_changed_contacts_are_refused(self):
        for edge in SAMPLE["edges"][2:]:
            proof = edge["certificate"]["contact"]["solid"]
            solid = lambda e: e["certificate"]["contact"]["solid"]
            if "marginPairs" in proof:
                self.refuses(edge, lambda e: e.update(margin=0.0))
            if "crossing" in proof:
                self.refuses(edge, lambda e: solid(e)["crossing"]["p"].reverse() or solid(e)["crossing"]["p"].pop())
            if "innerPoint" in proof:
                self.refuses(edge, lambda e: solid(e)["innerPoint"]["point"].update(x=9.0), "not strictly inside")
            cover = {"separated": SAMPLE["edges"][0]["certificate"]["pieces"]}
            self.refuses(edge, lambda e: e["certificate"]["contact"].update(solid=cover), "not in contact")
            of_hulls = {"verdict": "OVERLAPPING", "certificate": {"pairs": []}, "margin_pairs": []}
            self.refuses(edge, lambda e: e["certificate"].update(contact=of_hulls), "contact of a hull")

    def test_a_mesh_is_listed_as_the_server_lists_it_however_it_is_given(self):
        points, triangles = SAMPLE["mesh"]["points"], SAMPLE["mesh"]["triangles"]
        twice = ce.region([*points[::-1], (9.0, 9.0, 9.0)], [[15 - v for v in (t[1], t[2], t[0])] for t in triangles[::-1]])
        once = ce.region(points, triangles)
        self.assertEqual((twice.points, twice.triangles), (once.points, once.triangles))
        self.assertTrue(once.points == sorted(once.points) and all(t[0] == min(t) for t in once.triangles))
        self.assertFalse(math.isnan(sum(map(sum, once.points))))


if __name__ == "__main__":
    unittest.main()
