"""Robots out of models of pinocchio, as they are: `Robot.from_pinocchio(model, geometry)`.

Nothing of pinocchio is imported: a model is whatever has its names. Out of its joints, in their order, and its geometry a URDF
is written, so that answers, edges and proofs are those of a robot by URDF. Placements go through quaternions, and so are the
model's as far as rounding goes; meshes and limits are the model's to the last bit.
"""
from __future__ import annotations

from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from . import messages
from .shapes import Treatment

_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def request(model: Any, geometry: Any, treatment: Treatment) -> tuple[bytes, tuple[int, ...]]:
    """The bytes of a `RegisterRobotRequest`, and which variables a configuration gives as a cosine and a sine."""
    written = _Written(model, geometry)
    asked = messages.RegisterRobotRequest(urdf=written.urdf, srdf=written.srdf, mesh_treatment=int(treatment))
    for name, content in written.meshes.items():
        asked.meshes.add(name=name, content=content)
    return asked.SerializeToString(), tuple(written.circles)


class _Written:
    def __init__(self, model: Any, geometry: Any) -> None:
        self.meshes: dict[str, bytes] = {}
        self.circles: list[int] = []
        self._variables = 0
        names = [str(name) for name in model.names]
        links = [self._main(name) for name in names]
        parts = [f"<link name={quoteattr(link)}/>" for link in links]
        parts += [self._joint(model, number, links) for number in range(1, len(names))]
        objects = list(geometry.geometryObjects)
        frames = [str(model.frames[held.parentFrame].name) for held in objects]
        joints: dict[str, int] = {}
        for frame, held in zip(frames, objects):
            joints.setdefault(frame, int(held.parentJoint))
        for frame, joint in joints.items():
            held = "".join(self._collision(one, number) for number, one in enumerate(objects) if frames[number] == frame)
            parts.append(f"<link name={quoteattr(frame)}>{held}</link>")
            parts.append(f'<joint name={quoteattr(f"{frame} (fixed)")} type="fixed"><parent link={quoteattr(links[joint])}/>'
                         f"<child link={quoteattr(frame)}/></joint>")
        name = quoteattr(str(getattr(model, "name", "")) or "robot")
        self.urdf = f'<robot name={name} version="1.1">{"".join(parts)}</robot>'
        self.srdf = f"<robot name={name}>{self._left_out(list(joints), frames, geometry)}</robot>"

    @staticmethod
    def _main(joint: str) -> str:
        """The link that a joint moves, which no frame of the model has the name of."""
        return f"{joint} (joint)"

    def _joint(self, model: Any, number: int, links: list[str]) -> str:
        joint, name = model.joints[number], str(model.names[number])
        kind, axis, is_circle = _kind(joint, name, int(model.nq))
        first = int(joint.idx_q)
        lower, upper = float(model.lowerPositionLimit[first]), float(model.upperPositionLimit[first])
        if kind == "revolute" and (is_circle or not np.isfinite([lower, upper]).all()):
            kind = "continuous"
        limit = ""
        if kind in ("revolute", "prismatic"):
            limit = f'<limit lower="{lower!r}" upper="{upper!r}" effort="0" velocity="0"/>'
        if kind == "prismatic" and not np.isfinite([lower, upper]).all():
            raise ValueError(f"joint {name!r}: a sliding joint has limits; set the model's")
        widths = {"floating": 7, "planar": 3}
        if is_circle:
            self.circles.append(self._variables + (2 if kind == "planar" else 0))
        self._variables += widths.get(kind, 1)
        parent = links[int(model.parents[number])]
        return (f"<joint name={quoteattr(name)} type={quoteattr(kind)}><parent link={quoteattr(parent)}/>"
                f"<child link={quoteattr(links[number])}/>{_origin(model.jointPlacements[number])}{axis}{limit}</joint>")

    def _collision(self, held: Any, number: int) -> str:
        shape = self._shape(held.geometry, f"{number}.obj", str(held.name))
        name = quoteattr(str(held.name))
        return f"<collision name={name}>{_origin(held.placement)}<geometry>{shape}</geometry></collision>"

    def _shape(self, shape: Any, file: str, name: str) -> str:
        kind = type(shape).__name__
        if hasattr(shape, "halfSide"):
            return f'<box size="{_numbers(2 * np.asarray(shape.halfSide, dtype=float).ravel())}"/>'
        if hasattr(shape, "halfLength") and kind in ("Capsule", "Cylinder"):
            return f'<{kind.lower()} radius="{float(shape.radius)!r}" length="{2 * float(shape.halfLength)!r}"/>'
        if kind == "Sphere":
            return f'<sphere radius="{float(shape.radius)!r}"/>'
        vertices, faces = _triangles(shape, name)
        lines = [f"v {_numbers(vertex)}" for vertex in vertices] + [f"f {a} {b} {c}" for a, b, c in (faces + 1).tolist()]
        self.meshes[file] = "\n".join(lines).encode()
        return f'<mesh filename="{file}"/>'

    @staticmethod
    def _left_out(links: list[str], frames: list[str], geometry: Any) -> str:
        """Pairs of links of which the geometry names no two bodies."""
        named = {frozenset((frames[int(pair.first)], frames[int(pair.second)])) for pair in geometry.collisionPairs}
        return "".join(f'<disable_collisions link1={quoteattr(a)} link2={quoteattr(b)} reason="User"/>'
                       for at, a in enumerate(links) for b in links[at + 1:] if frozenset((a, b)) not in named)


def _kind(joint: Any, name: str, nq: int) -> tuple[str, str, bool]:
    """What URDF calls a joint, its axis, and whether it gives an angle as a cosine and a sine."""
    kind = str(joint.shortname()).removeprefix("JointModel")
    if kind == "FreeFlyer":
        return "floating", "", False
    if kind == "Planar":
        return "planar", '<axis xyz="0 0 1"/>', True
    is_circle = kind.startswith("RU") or "RevoluteUnbounded" in kind
    if kind in ("RX", "RY", "RZ", "RUBX", "RUBY", "RUBZ", "PX", "PY", "PZ"):
        axis = _AXES[kind[-1]]
    elif kind in ("RevoluteUnaligned", "RevoluteUnboundedUnaligned", "PrismaticUnaligned"):
        axis = _axis(joint, nq, kind[0] == "P")
    else:
        raise ValueError(f"joint {name!r}: {kind} is no joint of a URDF")
    return "prismatic" if kind[0] == "P" else "revolute", f'<axis xyz="{_numbers(axis)}"/>', is_circle


def _axis(joint: Any, nq: int, slides: bool) -> Any:
    """Of a joint whose axis is its own: the direction of its motion, which pinocchio tells of a configuration."""
    data, values = joint.createData(), np.zeros(nq)
    if int(joint.nq) == 2:
        values[int(joint.idx_q)] = 1.0
    joint.calc(data, values)
    motion = np.asarray(data.S, dtype=float).ravel()
    return motion[:3] if slides else motion[3:]


def _numbers(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)


def _origin(placement: Any) -> str:
    turn = np.asarray(placement.rotation, dtype=float)
    return f'<origin xyz="{_numbers(np.asarray(placement.translation).ravel())}" quat_xyzw="{_numbers(_quaternion(turn))}"/>'


def _quaternion(turn: Any) -> Any:
    """Of a rotation, x, y, z, w: by the largest of the four, so that no small one divides."""
    squares = np.array([1 + turn[0, 0] - turn[1, 1] - turn[2, 2], 1 - turn[0, 0] + turn[1, 1] - turn[2, 2],
                        1 - turn[0, 0] - turn[1, 1] + turn[2, 2], 1 + np.trace(turn)])
    largest = int(squares.argmax())
    sums = np.array([[squares[0], turn[1, 0] + turn[0, 1], turn[2, 0] + turn[0, 2], turn[2, 1] - turn[1, 2]],
                     [turn[1, 0] + turn[0, 1], squares[1], turn[2, 1] + turn[1, 2], turn[0, 2] - turn[2, 0]],
                     [turn[2, 0] + turn[0, 2], turn[2, 1] + turn[1, 2], squares[2], turn[1, 0] - turn[0, 1]],
                     [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1], squares[3]]])
    return sums[largest] / np.linalg.norm(sums[largest])


def _triangles(shape: Any, name: str) -> tuple[Any, Any]:
    """Vertices and triangles of a mesh of coal's; of a convex one of its hull."""
    if hasattr(shape, "tri_indices"):
        vertices = np.asarray(shape.vertices() if callable(shape.vertices) else shape.vertices, dtype=float).reshape(-1, 3)
        triangles = [shape.tri_indices(number) for number in range(int(shape.num_tris))]
    elif hasattr(shape, "polygons"):
        vertices = np.asarray(shape.points() if callable(shape.points) else shape.points, dtype=float).reshape(-1, 3)
        triangles = [shape.polygons(number) for number in range(int(shape.num_polygons))]
    else:
        raise ValueError(f"geometry {name!r}: a {type(shape).__name__} is no part of a URDF")
    return vertices, np.array([[int(triangle[corner]) for corner in range(3)] for triangle in triangles]).reshape(-1, 3)
