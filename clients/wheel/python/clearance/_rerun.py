"""Recordings for Rerun: bodies as triangles that move, contacts as points.

Rerun itself reads `/tf` of the files of `clearance record`; what bodies look like it reads of no MCAP file, so it is told here.
Needs rerun-sdk (`pip install clearance[rerun]`).
"""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import messages
from .recording import Recording, read
from .shapes import points

# Directions in which a rounded body is drawn: rings, and directions of each.
_RINGS, _AROUND = 9, 18

_BEGAN = 1


def to_rerun(source: Recording | bytes | str | os.PathLike[str], save: str | os.PathLike[str] | None = None, *,
             stream: Any = None) -> Any:
    """Sends a recording, or the file of one, to Rerun: to a `stream` of rerun's (RecordingStream), or to one of its own,
    which is returned, and with `save` written to that .rrd file. Curved bodies become hulls of points of their surface."""
    import rerun
    stream = stream if stream is not None else rerun.RecordingStream("clearance")
    if save is not None:
        stream.save(os.fspath(save))
    scene = _Scene(rerun, stream)
    for topic, time, message in read(source):
        if topic == "/clearance/shape":
            scene.shapes[message.polytope.id] = _triangles(message)
        elif topic == "/clearance/robot":
            scene.robots[message.id] = message
        elif topic == "/clearance/watch":
            scene.take(message, time)
    stream.flush()
    return stream


class _Scene:
    """Bodies by their ids, and where Rerun has them."""

    def __init__(self, rerun: Any, stream: Any) -> None:
        self.rerun, self.stream = rerun, stream
        self.shapes: dict[str, Any] = {}
        self.robots: dict[str, Any] = {}
        self.paths: dict[int, str] = {}
        self.links: dict[int, range] = {}

    def take(self, told: Any, time: int) -> None:
        """What a watcher was told at a time in nanoseconds."""
        state, frame = told.state, told.frame
        self.stream.set_time("time", timestamp=np.datetime64(time, "ns"))
        self.stream.set_time("frame", sequence=state.frame_id if told.HasField("state") else frame.frame_id)
        gone = list(self.paths) if told.HasField("state") else list(frame.removed_body_ids)
        for robot in frame.removed_robots:
            gone += self.links.pop(robot, ())
        for number in gone:
            if number in self.paths:
                self.stream.log(self.paths.pop(number), self.rerun.Clear(recursive=True))
        for body in [*state.bodies, *frame.added_bodies, *frame.changed_bodies]:
            parts = [(self._shape(part), part.pose) for part in body.parts]
            self._add(body.id, [body.name or f"body {body.id}"], parts)
            self._place(body.id, *_pose(body.pose))
        for robot in [*state.robots, *frame.added_robots]:
            self._add_robot(robot)
        for packed in (told.link_poses, frame.packed_poses):
            self._move(packed)
        began = [(event.point.x, event.point.y, event.point.z) for event in frame.events
                 if event.kind == _BEGAN and event.HasField("point")]
        self.stream.log("contacts", self.rerun.Points3D(began, radii=self.rerun.Radius.ui_points(4)))

    def _shape(self, part: Any) -> Any:
        source = part.WhichOneof("source")
        if source == "vertices":
            return _hull(np.array(part.vertices.xyz).reshape(-1, 3))
        if source == "rounded":
            return _rounded(part.rounded)
        return self.shapes.get(getattr(part, source)) if source in ("id", "alias") else None

    def _add(self, number: int, names: list[str], parts: list[tuple[Any, Any]]) -> None:
        path = self.paths[number] = "/".join(["world", *map(self.rerun.escape_entity_path_part, names)])
        for at, (shape, pose) in enumerate(parts):
            if shape is None:
                continue
            translation, turn = _pose(pose)
            own = f"{path}/{at}"
            self.stream.log(own, self.rerun.Transform3D(translation=translation, mat3x3=turn))
            if len(shape) == 2 and isinstance(shape[1], float):
                self.stream.log(own, self.rerun.Points3D(shape[0], radii=max(shape[1], 1e-3)))
            else:
                self.stream.log(own, self.rerun.Mesh3D(vertex_positions=shape[0], triangle_indices=shape[1]))

    def _add_robot(self, robot: Any) -> None:
        known = self.robots.get(robot.robot_id)
        if known is None:
            return
        self.links[robot.id] = range(robot.id, robot.id + len(known.links))
        for at, link in enumerate(known.links):
            parts = known.parts[link.first_part:link.first_part + link.part_count]
            held = [(self.shapes.get(part.polytope_id), part.pose) for part in parts]
            if held:
                self._add(robot.id + at, [robot.name or f"robot {robot.id}", link.name], held)

    def _move(self, packed: Any) -> None:
        places = np.array(packed.translations).reshape(-1, 3)
        if packed.rotation_matrices:
            turns = np.array(packed.rotation_matrices).reshape(-1, 3, 3)
        else:
            turns = [_pose_turn(*quaternion) for quaternion in np.array(packed.rotations).reshape(-1, 4)]
            turns = turns or [np.eye(3)] * len(places)
        for number, place, turn in zip(packed.ids, places, turns):
            self._place(number, place, turn)

    def _place(self, number: int, place: Any, turn: Any) -> None:
        if number in self.paths:
            self.stream.log(self.paths[number], self.rerun.Transform3D(translation=place, mat3x3=turn))


def _pose(pose: Any) -> tuple[Any, Any]:
    place = np.array([pose.translation.x, pose.translation.y, pose.translation.z])
    if pose.WhichOneof("orientation") == "rotation_matrix":
        return place, np.array(pose.rotation_matrix.rows).reshape(3, 3)
    if pose.WhichOneof("orientation") == "rotation":
        return place, _pose_turn(pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z)
    return place, np.eye(3)


def _pose_turn(*quaternion: float) -> Any:
    from .shapes import _matrix
    return _matrix(quaternion)


def _triangles(told: Any) -> Any:
    """Of a `GetPolytopeResponse` vertices and triangles; of a cloud its points and their radius."""
    vertices = np.array(told.vertices.xyz).reshape(-1, 3)
    kind, radius = told.polytope.id[:1], told.polytope.radius
    if kind == "c":
        return vertices, float(radius)
    if told.facets:
        return vertices, _fans(told.facets)
    if kind == "r" and len(vertices):
        return _hull(_around(vertices, radius))
    low, high = (np.array([v.x, v.y, v.z]) for v in (told.polytope.bounds_low, told.polytope.bounds_high))
    half = np.maximum((high - low) / 2, 1e-9)
    share = told.polytope.volume / np.prod(2 * half)
    # A curved body is told by its box and its volume: of its box a cone fills 0.26, an ellipsoid 0.52, a cylinder 0.79.
    form = _cone if share < 0.4 else _ellipsoid if share < 0.65 else _cylinder
    return _hull(form(half) + (low + high) / 2)


def _fans(facets: Any) -> Any:
    loops = [list(facet.vertices) for facet in facets]
    return np.array([(loop[0], loop[at], loop[at + 1]) for loop in loops for at in range(1, len(loop) - 1)], dtype=np.uint32)


def _rounded(shape: Any) -> Any:
    core, radius = shape.WhichOneof("core"), shape.radius
    half = None
    if core == "box":
        half = np.array([shape.box.x, shape.box.y, shape.box.z]) / 2
        core_points = half * np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    elif core == "length":
        core_points = np.array([[0, 0, -shape.length / 2], [0, 0, shape.length / 2]])
    elif core == "vertices":
        core_points = np.array(shape.vertices.xyz).reshape(-1, 3)
    elif core in ("cylinder", "cone"):
        held = getattr(shape, core)
        core_points = (_cylinder if core == "cylinder" else _cone)(np.array([held.radius_xy, held.radius_xy, held.length / 2]))
    elif core == "ellipsoid":
        core_points = _ellipsoid(np.array([shape.ellipsoid.x, shape.ellipsoid.y, shape.ellipsoid.z]))
    elif core is None:
        core_points = np.zeros((1, 3))
    else:
        return None  # Of a half-space nothing ends.
    whole = _around(core_points, radius)
    if shape.HasField("scale"):
        whole = whole * [shape.scale.x, shape.scale.y, shape.scale.z]
    return _hull(whole)


def _ring() -> Any:
    angles = np.arange(_AROUND) * (2 * np.pi / _AROUND)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _sphere() -> Any:
    heights = np.cos(np.linspace(0, np.pi, _RINGS))
    return np.array([[x * w, y * w, z] for z in heights for w in [np.sqrt(max(1 - z * z, 0.0))] for x, y in _ring()])


def _ellipsoid(half: Any) -> Any:
    return _sphere() * half


def _cylinder(half: Any) -> Any:
    return np.array([[x, y, z] for x, y in _ring() for z in (-1.0, 1.0)]) * half


def _cone(half: Any) -> Any:
    return np.array([[x, y, -1.0] for x, y in _ring()] + [[0.0, 0.0, 1.0]]) * half


def _around(core: Any, radius: float) -> Any:
    """Points of the surface of what is within a radius of points, and more."""
    return core if not radius else (core[:, None] + radius * _sphere()).reshape(-1, 3)


def _hull(xyz: Any) -> Any:
    """Vertices and triangles of a hull, as the engine of this process makes it."""
    from .client import local
    engine = local()
    key = engine.register(points(xyz))
    told = engine.call("PolytopeService/GetPolytope", messages.GetPolytopeRequest(id=key, with_vertices=True, with_facets=True))
    return np.array(told.vertices.xyz).reshape(-1, 3), _fans(told.facets)
