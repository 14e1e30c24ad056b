"""Bodies, where they are, and how they move. Metres and radians; rotations are quaternions (w, x, y, z) or matrices."""
from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

import numpy as np

from . import _wire, messages

# Fields of `PlacedBody`, of `RobotObstacle` and of `PolytopeSpec`.
_BODY_ID, _BODY_VERTICES, _BODY_POSE, _BODY_ROUNDED = 1, 3, 5, 6
_OBSTACLE_ID, _OBSTACLE_VERTICES, _OBSTACLE_POSE, _OBSTACLE_CLOUD, _OBSTACLE_ROUNDED = 1, 3, 5, 6, 7
_SPEC_VERTICES, _SPEC_MESH, _SPEC_TREATMENT, _SPEC_ROUNDED, _SPEC_CLOUD = 1, 3, 4, 10, 11


class Treatment(IntEnum):
    """What a mesh is taken for."""

    AS_IT_IS = 0
    """Its hull if it is convex; else the region that it bounds; else its surface."""
    HULL = 1
    DECOMPOSE = 2
    """Convex pieces: of robots' links only."""
    POLYHEDRON = 3
    SURFACE = 4


class _Drawn:
    """What is shown in notebooks."""

    def _recorded(self) -> Any:
        from .showing import of_bodies
        return of_bodies([self])

    def _repr_html_(self) -> str:
        from .showing import show
        return show(self)._repr_html_()


@dataclass(frozen=True)
class Shape(_Drawn):
    """What a body is; `at` says where. Made by `points`, `box`, `ball`, `mesh` and so on."""

    kind: str
    """How its source is called: vertices, rounded, mesh or cloud."""
    content: bytes = field(repr=False)
    """The bytes of its source, a message."""
    treatment: Treatment = Treatment.AS_IT_IS
    facts: Any = field(default=None, compare=False, repr=False)
    """For who verifies answers: its points and its radius, where it has these."""
    registers: bool = False
    """Whether it is asked about by its id."""

    def at(self, translation: Any = (0.0, 0.0, 0.0), rotation: Any = None) -> Placed:
        """It, in a place: R v + t. A matrix of 4 by 4 says both at once."""
        return Placed(self, pose_bytes(translation, rotation), (translation, rotation))

    def registered(self) -> Shape:
        """The same, registered where it is asked about first and named by its id from then on: for what is asked about
        often. Meshes and clouds are so anyway."""
        return replace(self, registers=True)

    @property
    def must_register(self) -> bool:
        """Whether it cannot be given inside a question."""
        return self.registers or self.kind in ("mesh", "cloud")

    @property
    def key(self) -> bytes:
        """A digest that tells it from others."""
        known = self.__dict__.get("_key")
        if known is None:
            known = hashlib.blake2b(f"{self.kind} {int(self.treatment)} ".encode() + self.content, digest_size=16).digest()
            object.__setattr__(self, "_key", known)
        return known

    def spec(self, treatment: Treatment | None = None) -> bytes:
        """A `PolytopeSpec`."""
        number = {"vertices": _SPEC_VERTICES, "rounded": _SPEC_ROUNDED, "mesh": _SPEC_MESH, "cloud": _SPEC_CLOUD}[self.kind]
        treatment = self.treatment if treatment is None else treatment
        return _wire.delimited(number, self.content) + _wire.varint(_SPEC_TREATMENT << 3) + _wire.varint(int(treatment))


@dataclass(frozen=True)
class Placed(_Drawn):
    """A body in a place."""

    shape: Shape
    pose: bytes = field(repr=False)
    told: Any = field(default=((0.0, 0.0, 0.0), None), compare=False, repr=False)

    def placed_body(self, id_of: Any) -> bytes:
        """A `PlacedBody`; `id_of` registers shapes that have to be."""
        shape, pose = self.shape, _wire.delimited(_BODY_POSE, self.pose) if self.pose else b""
        if shape.must_register:
            return _wire.delimited(_BODY_ID, id_of(shape).encode()) + pose
        known = self.__dict__.get("_body")
        if known is None:
            number = _BODY_VERTICES if shape.kind == "vertices" else _BODY_ROUNDED
            known = _wire.delimited(number, shape.content) + pose
            object.__setattr__(self, "_body", known)
        return known

    def obstacle(self, id_of: Any) -> bytes:
        """A `RobotObstacle`."""
        shape, pose = self.shape, _wire.delimited(_OBSTACLE_POSE, self.pose) if self.pose else b""
        if shape.kind == "mesh" or shape.registers:
            return _wire.delimited(_OBSTACLE_ID, id_of(shape).encode()) + pose
        number = {"vertices": _OBSTACLE_VERTICES, "rounded": _OBSTACLE_ROUNDED, "cloud": _OBSTACLE_CLOUD}[shape.kind]
        return _wire.delimited(number, shape.content) + pose


def pose_bytes(translation: Any = (0.0, 0.0, 0.0), rotation: Any = None) -> bytes:
    """A `Pose`; empty: the identity."""
    place = np.asarray(translation, dtype=float)
    if place.shape == (4, 4):
        if rotation is not None or not np.array_equal(place[3], (0.0, 0.0, 0.0, 1.0)):
            raise ValueError("a place is a rigid transform of 4 by 4, or a translation and a rotation")
        place, rotation = place[:3, 3], place[:3, :3]
    if place.shape != (3,):
        raise ValueError(f"a translation has three numbers, not the shape {place.shape}")
    content = b""
    if place.any() or not np.isfinite(place).all():
        content = _wire.delimited(1, _vector(place))
    if rotation is None:
        return content
    turn = np.asarray(rotation, dtype=float)
    if turn.shape == (4,):
        w, x, y, z = turn
        return content + _wire.delimited(2, messages.Quaternion(w=w, x=x, y=y, z=z).SerializeToString())
    if turn.shape == (3, 3):
        return content + _wire.delimited(3, _wire.numbers(1, turn.ravel()))
    raise ValueError(f"a rotation is a quaternion (w, x, y, z) or a matrix of 3 by 3, not of the shape {turn.shape}")


def _vector(values: Any) -> bytes:
    x, y, z = (float(value) for value in values)
    return messages.Vector3(x=x, y=y, z=z).SerializeToString()


def points(xyz: Any) -> Shape:
    """The convex hull of points, an array of n by 3."""
    xyz = _rows(xyz, "points")
    return Shape("vertices", _wire.numbers(1, xyz), facts=(xyz, 0.0))


def _rows(values: Any, what: str, dtype: Any = float) -> Any:
    rows = np.asarray(values, dtype=dtype)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise ValueError(f"{what} are an array of n by 3, not of the shape {rows.shape}")
    return rows


def _rounded(facts: Any = None, **fields: Any) -> Shape:
    return Shape("rounded", messages.RoundedShape(**fields).SerializeToString(), facts=facts)


def box(x: float, y: float, z: float, radius: float = 0.0) -> Shape:
    """A box around the origin by its full sizes; larger by the radius all around."""
    corners = np.array([[i * x / 2, j * y / 2, k * z / 2] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    return _rounded((corners, float(radius)), box=messages.Vector3(x=x, y=y, z=z), radius=radius)


def ball(radius: float) -> Shape:
    """A ball around the origin."""
    return _rounded((np.zeros((1, 3)), float(radius)), radius=radius)


def capsule(length: float, radius: float) -> Shape:
    """A segment along z around the origin, with a radius: it is longer than `length` by twice that."""
    ends = np.array([[0.0, 0.0, -length / 2], [0.0, 0.0, length / 2]])
    return _rounded((ends, float(radius)), length=length, radius=radius)


def rounded(xyz: Any, radius: float) -> Shape:
    """The convex hull of points, with a ball of this radius around each point of it."""
    xyz = _rows(xyz, "points")
    content = _wire.delimited(1, _wire.numbers(1, xyz)) + messages.RoundedShape(radius=radius).SerializeToString()
    return Shape("rounded", content, facts=(xyz, float(radius)))


def cylinder(radius: float, length: float) -> Shape:
    """A cylinder around z with its middle at the origin."""
    return _rounded(cylinder=messages.Cylinder(radius_xy=radius, length=length))


def cone(radius: float, length: float) -> Shape:
    """A cone around z, its base at z = -length / 2 and its apex at z = length / 2."""
    return _rounded(cone=messages.Cone(radius_xy=radius, length=length))


def ellipsoid(x: float, y: float, z: float) -> Shape:
    """An ellipsoid around the origin by its half sizes."""
    return _rounded(ellipsoid=messages.Vector3(x=x, y=y, z=z))


def half_space(reach: float = 0.0) -> Shape:
    """All that is below the plane z = 0, as a floor is, for whatever stays within reach of its origin."""
    return _rounded(half_space=messages.HalfSpace(reach=reach))


def cloud(xyz: Any, radius: float = 0.0) -> Shape:
    """Points with a ball of one radius around each, and nothing between them. Single precision stays single."""
    xyz = _rows(xyz, "points", None)
    number, write = (2, _wire.singles) if xyz.dtype == np.float32 else (1, _wire.numbers)
    return Shape("cloud", write(number, xyz) + messages.PointCloud(radius=radius).SerializeToString())


def mesh(vertices: Any, faces: Any = None, treatment: Treatment = Treatment.AS_IT_IS) -> Shape:
    """Triangles: an array of vertices, n by 3, and one of their indices, m by 3. Or whatever has `vertices` and `faces`,
    as a mesh of trimesh has."""
    if faces is None:
        vertices, faces = vertices.vertices, vertices.faces
    vertices, faces = _rows(vertices, "vertices"), _rows(faces, "faces", np.int64)
    if faces.size and faces.min() < 0:
        raise ValueError("an index is below 0")
    content = _wire.delimited(1, _wire.numbers(1, vertices)) + _wire.counts(2, faces)
    return Shape("mesh", content, treatment=Treatment(treatment))


def placed(body: Any) -> Placed:
    """Whatever is taken for a body: one in its place, a shape at the origin, an array of points, a mesh or a cloud of
    trimesh."""
    if isinstance(body, Placed):
        return body
    if isinstance(body, Shape):
        return Placed(body, b"")
    if hasattr(body, "vertices") and hasattr(body, "faces"):
        return Placed(mesh(body), b"")
    if hasattr(body, "vertices"):
        return Placed(cloud(np.asarray(body.vertices)), b"")
    return Placed(points(body), b"")


@dataclass(frozen=True)
class Motion:
    """How a body moves over a step; made by `linear`, `screw` and `to_pose`."""

    message: bytes = field(repr=False)
    """The bytes of a `Motion`."""
    told: Any = field(default=None, compare=False, repr=False)
    """Velocity, pose at the end or none, axis, angle and pivot or none: for who draws it."""

    @property
    def steps(self) -> int:
        """In how many steps it turns by no more than a quarter turn in each, as far as that is said."""
        return max(1, int(np.ceil(abs(self.told[3]) / (np.pi / 2)))) if self.told[3] else 1

    def at(self, time: float, place: Any, rotation: Any) -> tuple[Any, Any]:
        """Where it has a body at a time from 0 to 1 that is in this place at 0, as a translation and a matrix. Rounded."""
        velocity, end, axis, angle, pivot = self.told
        place, turn = np.asarray(place, dtype=float), _matrix(rotation)
        if end is not None:
            far, far_turn = np.asarray(end[0], dtype=float), end[1]
            if far.shape == (4, 4):
                far, far_turn = far[:3, 3], far[:3, :3]
            between = _matrix(far_turn) @ turn.T
            skew = np.array([between[2, 1] - between[1, 2], between[0, 2] - between[2, 0], between[1, 0] - between[0, 1]]) / 2
            whole = np.arctan2(np.linalg.norm(skew), (np.trace(between) - 1) / 2)
            part = between if time == 1 else _turn(skew, whole * time)
            return place + time * (far - place), part @ turn
        centre = place if pivot is None else np.asarray(pivot, dtype=float)
        part = _turn(axis, angle * time) if angle else np.eye(3)
        return centre + part @ (place - centre) + time * np.asarray(velocity, dtype=float), part @ turn


def _matrix(rotation: Any) -> Any:
    """A quaternion (w, x, y, z), a matrix or none, as a matrix; rounded."""
    if rotation is None:
        return np.eye(3)
    turn = np.asarray(rotation, dtype=float)
    if turn.shape == (3, 3):
        return turn
    w, *v = turn / np.linalg.norm(turn)
    cross = _cross(v)
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def _cross(v: Any) -> Any:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _turn(axis: Any, angle: float) -> Any:
    """The rotation about an axis by an angle (Rodrigues); none about an axis of length 0."""
    axis = np.asarray(axis, dtype=float)
    length = np.linalg.norm(axis)
    if not length:
        return np.eye(3)
    cross = _cross(axis / length)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def linear(velocity: Any) -> Motion:
    """Translation by this over the step."""
    return Motion(_wire.delimited(1, _wire.delimited(1, _vector(velocity))), (velocity, None, None, 0.0, None))


def screw(axis: Any, angle: float, velocity: Any = (0.0, 0.0, 0.0), pivot: Any = None) -> Motion:
    """A turn by an angle about an axis through the pivot, which is where the body is unless it is said; and translation."""
    fields = {"axis": _message(axis), "angle": angle, "velocity": _message(velocity)}
    if pivot is not None:
        fields["pivot"] = _message(pivot)
    message = _wire.delimited(2, messages.ScrewMotion(**fields).SerializeToString())
    return Motion(message, (velocity, None, axis, float(angle), pivot))


def to_pose(translation: Any, rotation: Any = None) -> Motion:
    """From where the body is to another pose."""
    message = _wire.delimited(3, _wire.delimited(1, pose_bytes(translation, rotation)))
    return Motion(message, ((0.0, 0.0, 0.0), (translation, rotation), None, 0.0, None))


def _message(values: Any) -> Any:
    x, y, z = (float(value) for value in values)
    return messages.Vector3(x=x, y=y, z=z)
