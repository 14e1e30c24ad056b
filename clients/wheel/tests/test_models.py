"""Models of pinocchio, with the package and with doubles of it; meshes of trimesh."""
import importlib.util
import os
import re
import types
import unittest

import clearance
import numpy as np
from test_clearance import CUBE, PANDA, panda


def has(*names):
    return all(importlib.util.find_spec(name) for name in names)


def placement(translation=(0.0, 0, 0), rotation=None):
    return types.SimpleNamespace(translation=np.array(translation, dtype=float), rotation=np.eye(3) if rotation is None else rotation)


class Joint:
    """A joint of a model."""

    def __init__(self, name, nq, idx_q, axis=None):
        self._name, self.nq, self.idx_q, self._axis = name, nq, idx_q, axis

    def shortname(self):
        return self._name

    def createData(self):
        return types.SimpleNamespace(S=None)

    def calc(self, data, q):
        data.S = np.array([0.0, 0, 0, *self._axis])


class Box:
    def __init__(self, *sizes):
        self.halfSide = np.array(sizes) / 2


class Sphere:
    def __init__(self, radius):
        self.radius = radius


class Capsule:
    def __init__(self, radius, length):
        self.radius, self.halfLength = radius, length / 2


class Cone(Capsule):
    pass


class BVHModelOBBRSS:
    def __init__(self, vertices, triangles):
        self._vertices, self._triangles, self.num_tris = vertices, triangles, len(triangles)

    def vertices(self):
        return self._vertices

    def tri_indices(self, number):
        return self._triangles[number]


def model(joints, geometries, pairs=()):
    """Joints as (kind, numbers, parent, placement, limits, axis), geometries as (joint, placement, shape)."""
    starts = np.cumsum([0] + [numbers for _, numbers, *_ in joints])
    lower, upper = np.full(starts[-1], -np.inf), np.full(starts[-1], np.inf)
    for start, (_, numbers, _, _, limits, _) in zip(starts, joints):
        lower[start:start + numbers], upper[start:start + numbers] = limits
    names = ["universe"] + [f"j{at + 1}" for at in range(len(joints))]
    held = [Joint("", 0, 0)] + [Joint(f"JointModel{kind}", numbers, int(start), axis)
                                for start, (kind, numbers, _, _, _, axis) in zip(starts, joints)]
    made = types.SimpleNamespace(
        name="double", nq=int(starts[-1]), names=names, joints=held, parents=[0] + [parent for _, _, parent, *_ in joints],
        jointPlacements=[placement()] + [where for _, _, _, where, *_ in joints], lowerPositionLimit=lower,
        upperPositionLimit=upper, frames=[types.SimpleNamespace(name=f"link{at}") for at in range(len(names))])
    objects = [types.SimpleNamespace(name=f"part{at}", parentJoint=joint, parentFrame=joint, placement=where, geometry=shape)
               for at, (joint, where, shape) in enumerate(geometries)]
    pairs = [types.SimpleNamespace(first=first, second=second) for first, second in pairs]
    return made, types.SimpleNamespace(geometryObjects=objects, collisionPairs=pairs)


class Doubles(unittest.TestCase):
    def test_joints_in_their_order_put_bodies_where_they_are(self):
        turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
        free = (-np.inf, np.inf)
        made = model([("RZ", 1, 0, placement([0, 0, 1], turn), (-2, 2), None), ("PX", 1, 1, placement([1, 0, 0]), (-1, 1), None),
                      ("RUBY", 2, 2, placement([1, 0, 0]), free, None)],
                     [(3, placement([0.5, 0, 0]), Sphere(0.25)), (0, placement(), Box(1, 1, 1))], [(0, 1)])
        robot = clearance.Robot.from_pinocchio(*made)
        self.assertEqual((robot.variables, robot.dof, robot.width), (["j1", "j2", "j3"], 3, 4))
        q = [[0.0, 0.5, 1.0, 0.0], [0.0, 0.5, 2 * np.cos(0.3), 2 * np.sin(0.3)], [np.pi / 2, 0.0, np.cos(9.0), np.sin(9.0)]]
        told = clearance.local().check(robot, q, mode=clearance.Mode.CLEARANCE)
        for at, (yaw, slide, *circle) in enumerate(q):
            pitch = np.arctan2(circle[1], circle[0])
            ahead, up = 2.0 + slide + 0.5 * np.cos(pitch), 1 - 0.5 * np.sin(pitch)
            ball = np.array([-ahead * np.sin(yaw), ahead * np.cos(yaw), up])
            gap = np.linalg.norm(np.maximum(np.abs(ball) - 0.5, 0)) - 0.25
            self.assertAlmostEqual(told.lower[at], gap, 9)
        self.assertEqual(sorted(told.name(number) for number in told.pairs[0]), ["link0", "link3"])
        self.assertEqual(robot.sample(5, 1).shape, (5, 4))
        again = clearance.local().check(robot, robot.sample(5, 1))
        self.assertEqual((again.refused, len(again)), ([], 5))
        both = clearance.Cell([(robot, [0, 0, 0]), (robot, [9, 0, 0])])
        pair = clearance.local().check(both, np.concatenate([q, q], axis=1), mode=clearance.Mode.CLEARANCE)
        self.assertTrue((pair.lower <= told.lower).all())
        self.assertRaises(ValueError, clearance.local().check, robot, np.zeros((2, 3)))

    def test_a_free_flyer_and_joints_along_their_own_axis(self):
        free = (-np.inf, np.inf)
        made = model([("FreeFlyer", 7, 0, placement(), free, None), ("RevoluteUnaligned", 1, 1, placement([0, 0, 1]), (-3, 3),
                                                                    [0.6, 0.8, 0.0])],
                     [(2, placement([0, 0, 1]), BVHModelOBBRSS(CUBE - 0.5, [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5],
                      [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]))])
        robot = clearance.Robot.from_pinocchio(*made)
        self.assertEqual((robot.dof, robot.width), (8, 8))
        post = {"post": clearance.ball(0.5).at([0, 0, 9])}
        # About x by a quarter turn: what is up is along -y.
        root = np.sqrt(0.5)
        told = clearance.local().check(robot, [[0, 9, 9, root, 0, 0, root, 0.0]], post, clearance.Mode.CLEARANCE)
        self.assertAlmostEqual(told.lower[0], 7.0 - 0.5 - 0.5, 9)

    def test_pairs_are_those_of_the_geometry(self):
        joints = [("RX", 1, at, placement([0, 0, 0.1]), (-2, 2), None) for at in range(3)]
        shapes = [(at, placement(), Sphere(0.2)) for at in range(4)]
        for pairs, free in [((), True), (((0, 3),), False)]:
            robot = clearance.Robot.from_pinocchio(*model(joints, shapes, pairs))
            self.assertEqual(clearance.local().check(robot, [0, 0, 0]).free.tolist(), [free])

    def test_what_no_urdf_has_is_named(self):
        free = (-np.inf, np.inf)
        wrong = [(("Spherical", 4, 0, placement(), free, None), Sphere(1), "j1"), (("PX", 1, 0, placement(), free, None), Sphere(1), "j1"),
                 (("RX", 1, 0, placement(), free, None), Cone(1, 1), "part0")]
        for joint, shape, named in wrong:
            with self.assertRaises(ValueError) as caught:
                clearance.Robot.from_pinocchio(*model([joint], [(1, placement(), shape)]))
            self.assertIn(named, str(caught.exception))


@unittest.skipUnless(has("pinocchio"), "there is no pinocchio")
class Pinocchio(unittest.TestCase):
    def test_the_panda_stands_where_pinocchio_puts_it(self):
        import pinocchio
        with open(os.path.join(PANDA, "panda.urdf")) as file:
            text = re.sub('package://[^"]*/', os.path.join(PANDA, "collision", ""), file.read())
        made = pinocchio.buildModelFromXML(text)
        geometry = pinocchio.buildGeomFromUrdfString(made, text, pinocchio.GeometryType.COLLISION)
        geometry.addAllCollisionPairs()
        pinocchio.removeCollisionPairs(made, geometry, os.path.join(PANDA, "panda.srdf"))
        robot = clearance.Robot.from_pinocchio(made, geometry, treatment=clearance.Treatment.HULL)
        self.assertEqual(robot.width, made.nq)
        random = np.random.default_rng(1)
        low, high = made.lowerPositionLimit, made.upperPositionLimit
        values = random.uniform(low, high, (40, made.nq))
        # To pinocchio the second finger has a value of its own.
        fingers = [list(made.names).index(f"panda_finger_joint{at}") - 1 for at in (1, 2)]
        values[:, fingers[1]] = values[:, fingers[0]]
        obstacles = [clearance.box(.1, .15, .2).at(random.uniform(-0.8, 0.8, 3)) for _ in range(10)]
        told = clearance.local().check(robot, values, obstacles, clearance.Mode.CLEARANCE)
        own = panda()
        order = [list(made.names).index(name) - 1 for name in own.variables]
        expected = clearance.local().check(own, values[:, order], obstacles, clearance.Mode.CLEARANCE)
        np.testing.assert_allclose(told.lower, expected.lower, atol=1e-6)
        self.assertTrue(0 < told.free.sum() < 40)

    def test_a_free_flyer_is_where_pinocchio_puts_it(self):
        import pinocchio
        urdf = ('<robot name="r"><link name="base"><collision><geometry><box size="1 2 3"/></geometry></collision></link>'
                '<link name="wheel"><collision><origin xyz="0 0 1"/><geometry><sphere radius="0.5"/></geometry></collision></link>'
                '<joint name="spin" type="continuous"><parent link="base"/><child link="wheel"/><origin xyz="0 0 3" rpy="0.3 0.4 0.5"/>'
                '<axis xyz="0.6 0 0.8"/></joint></robot>')
        made = pinocchio.buildModelFromXML(urdf, pinocchio.JointModelFreeFlyer())
        geometry = pinocchio.buildGeomFromUrdfString(made, urdf, pinocchio.GeometryType.COLLISION)
        robot = clearance.Robot.from_pinocchio(made, geometry)
        self.assertEqual(robot.width, made.nq)
        data, placed = made.createData(), geometry.createData()
        random = np.random.default_rng(2)
        for _ in range(20):
            q = pinocchio.normalize(made, random.uniform(-1, 1, made.nq))
            pinocchio.updateGeometryPlacements(made, data, geometry, placed, q)
            at = geometry.getGeometryId(next(one.name for one in geometry.geometryObjects if one.name.startswith("wheel")))
            centre = np.array(placed.oMg[at].translation)
            post = clearance.ball(0.1).at(centre + [0, 0, 20.0])
            told = clearance.local().check(robot, q, [post], clearance.Mode.LINK_CLEARANCE)
            self.assertAlmostEqual(told.lower.ravel()[-1], 20 - 0.6, 9)


@unittest.skipUnless(has("trimesh"), "there is no trimesh")
class Trimesh(unittest.TestCase):
    def test_meshes_and_clouds_are_taken(self):
        import trimesh
        engine = clearance.local()
        ball = clearance.ball(0.5)
        block = trimesh.creation.box([2, 2, 2])
        self.assertAlmostEqual(engine.distance(block, ball.at([3, 0, 0])).lower, 1.5, 9)
        self.assertEqual(engine.collide(block, ball).verdict.name, "OVERLAPPING")
        pipe = trimesh.creation.annulus(1.0, 2.0, 4.0)
        self.assertEqual(engine.collide(pipe, ball).verdict.name, "SEPARATED", "it is in the hole")
        self.assertEqual(engine.collide(trimesh.primitives.Sphere(radius=1), ball).verdict.name, "OVERLAPPING")
        cloud = trimesh.PointCloud(np.array([[0.0, 0, 0], [2, 0, 0]]))
        self.assertEqual(engine.collide(cloud, ball.at([1, 0, 0])).verdict.name, "SEPARATED")


if __name__ == "__main__":
    unittest.main()
