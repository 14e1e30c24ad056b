"""What is read of the cell that an answer about a session tells: who is meant by index and who by name."""
import unittest

import clearance_scenes as cs
import clearance_edges as ce
from clearance_verify import Refused

URDF = """<robot name="two"><link name="base"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
<link name="arm"><collision><geometry><box size="1 1 1"/></geometry></collision></link><joint name="turn" type="continuous">
<parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""
BOX = {"box": {"x": 1.0, "y": 1.0, "z": 1.0}}


def read(**more):
    load = {"link": "arm", "body": {**BOX, "name": "tool"}}
    robots = [{"robotId": "two", "attached": [load, {"link": "arm", "body": {**BOX, "name": "cup"}}]}, {"robotId": "two"}]
    told = {"robots": robots, "obstacles": [{**BOX, "name": "wall"}, {**BOX, "name": "post"}], **more}
    return cs.read({"cell": told, "bodyIds": list(range(8))}, {"two": ce.Robot(URDF)})

def ignored(first, second):
    return read(ignoredPairs=[{"first": first, "second": second}]).left_out


class Named(unittest.TestCase):
    def test_a_name_means_what_the_index_means(self):
        for by_name, by_index, other in (
            ({"attached": "cup"}, {"attachedIndex": 1}, {"obstacle": "post"}),
            ({"obstacle": "post"}, {"obstacleIndex": 1}, {"link": "arm", "robot": 1}),
            ({"link": "arm"}, {"linkIndex": 1}, {"obstacle": "wall"}),
        ):
            self.assertEqual(ignored(by_name, other), ignored(by_index, other))
            self.assertNotEqual(ignored(by_name, other), read().left_out)
            pair = {"first": by_name, "second": other}
            self.assertEqual(read(pairMargins=[{"pair": pair, "margin": 0.25}]).margins,
                             read(pairMargins=[{"pair": {"first": by_index, "second": other}, "margin": 0.25}]).margins)

    def test_who_is_not_there_or_several_or_not_said_is_refused(self):
        other = {"link": "arm", "robot": 1}
        for meant in ({"attached": "wall"}, {"attached": ""}, {"attachedIndex": 2}, {"attached": "tool", "robot": 1},
                      {"obstacle": "tool"}, {"obstacleIndex": 2}, {"link": "leg"}, {"linkIndex": 2}, {"robot": 1},
                      {"link": "arm", "robot": 2}, {"link": "arm", "linkIndex": 1}):
            with self.assertRaises(Refused, msg=str(meant)):
                ignored(meant, other)
        twice = [{**BOX, "name": "wall"}] * 2
        with self.assertRaises(Refused):
            read(obstacles=twice, ignoredPairs=[{"first": {"obstacle": "wall"}, "second": other}])
        with self.assertRaises(Refused):
            read(robots=[{"robotId": "two", "paddings": [{"link": "leg", "padding": 0.1}]}, {"robotId": "two"}])


if __name__ == "__main__":
    unittest.main()
