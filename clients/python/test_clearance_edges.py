"""What the verifier of edges accepts and refuses, on answers of the server about two small robots among boxes."""
import copy, json, math, pathlib, unittest

import clearance_edges as ce
from clearance_verify import Refused, quaternion_pose

SAMPLE = json.loads((pathlib.Path(__file__).parent / "edges_sample.json").read_text())


def cell(urdf=SAMPLE["urdf"]):
    robot = ce.Robot(urdf)
    corners = lambda size: [tuple((0.5 if i >> k & 1 else -0.5) * size[k] for k in range(3)) for i in range(8)]
    still = [(corners(size), quaternion_pose(at, turn)) for size, at, turn in SAMPLE["boxes"]]
    return ce.Cell([(robot, quaternion_pose(*base)) for base in SAMPLE["bases"]], still)

def verify(edge, where):
    ce.verify_edge(where, edge["starts"], edge["ends"], edge["margin"], edge["claim"], edge["certificate"])


class Edges(unittest.TestCase):
    def refuses(self, edge, change, where=None):
        changed = copy.deepcopy(edge)
        change(changed)
        with self.assertRaises(Refused):
            verify(changed, where or cell())

    def test_answers_of_the_server_are_accepted(self):
        kinds = set()
        for edge in SAMPLE["edges"]:
            verify(edge, cell())
            kinds.add(edge["claim"]["contact"] is None)
        self.assertEqual(kinds, {True, False})

    def test_changed_certificates_are_refused(self):
        for edge in SAMPLE["edges"]:
            pieces = edge["certificate"]["pieces"]
            self.refuses(edge, lambda e: e["certificate"]["pieces"].pop())
            for at, piece in enumerate(pieces):
                part = max(range(len(piece["speeds"])), key=lambda k: piece["speeds"][k])
                def slower(e):
                    e["certificate"]["pieces"][at]["speeds"][part] *= 1 - 1e-6
                def closer(e):
                    e["certificate"]["pieces"][at]["gaps"][0] = 0.0
                def turned(e):
                    d = e["certificate"]["pieces"][at]["directions"]
                    d[:] = [-x for x in d]
                def unlisted(e):
                    for name, count in (("firsts", 1), ("seconds", 1), ("gaps", 1), ("closings", 1), ("directions", 3)):
                        del e["certificate"]["pieces"][at][name][:count]
                self.refuses(edge, slower)
                if piece["gaps"]:
                    for change in (closer, turned, unlisted):
                        self.refuses(edge, change)
            if edge["claim"]["contact"]:
                self.refuses(edge, lambda e: e["certificate"].update(contact=None))
                self.refuses(edge, lambda e: e["claim"].update(free_until=1.0))
            else:
                self.refuses(edge, lambda e: e["claim"].update(contact=[1.0, [0, 1]]))
            self.refuses(edge, lambda e: e["ends"].__setitem__(0, math.nan))

    def test_another_axis_is_another_robot(self):
        other = cell(SAMPLE["urdf"].replace('<axis xyz="0.1 1 0.3"/>', '<axis xyz="0.1 1 -0.3"/>'))
        for edge in SAMPLE["edges"]:
            self.refuses(edge, lambda e: None, other)

    def test_the_formula_is_within_its_bound_of_the_true_functions(self):
        for k in range(-4000, 4000):
            x = k * 0.37
            sine, versine = ce.sine_and_versine(x)
            self.assertLess(abs(sine - math.sin(x)), 1e-15)
            self.assertLess(abs(versine - (1 - math.cos(x))), 1e-15)


if __name__ == "__main__":
    unittest.main()
