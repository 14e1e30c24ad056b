"""Robots by URDF, the cells that they stand in, and what is answered about their configurations."""
from __future__ import annotations

import hashlib
import os
import xml.etree.ElementTree as ElementTree
from enum import IntEnum
from typing import Any, Iterable, Mapping, NamedTuple

import numpy as np

from . import _wire, messages
from .errors import Code
from .recording import Recording
from .shapes import Placed, Treatment, placed, pose_bytes
from .showing import Shows, of_cell


class Mode(IntEnum):
    """What is asked of every configuration."""

    FIRST_PAIR = 1
    """Whether any pair is in contact, and the first that was found."""
    ALL_PAIRS = 2
    """All pairs in contact."""
    CLEARANCE = 3
    """The least signed clearance and its pair."""
    LINK_CLEARANCE = 4
    """That of every link that moves."""


class Robot(Shows):
    """A robot as its files describe it. It is registered where it is asked about first."""

    def __init__(self, request: bytes) -> None:
        """By the bytes of a `RegisterRobotRequest`."""
        self.request = request
        self.key = hashlib.blake2b(request, digest_size=16).digest()
        self._circles: tuple[int, ...] = ()
        self._description: Any = None

    @classmethod
    def from_urdf(cls, urdf: str | os.PathLike[str], srdf: str | os.PathLike[str] | None = None, *,
                  package_dirs: Any = None, treatment: Treatment = Treatment.AS_IT_IS, gap_max: float | None = None,
                  leave_out_missing: bool = False) -> Robot:
        """Reads a URDF, by its path or as a text, with the mesh files that it names, and an SRDF.

        `package://NAME/REST` is looked for in `package_dirs`: a dictionary with the folder of each NAME, or folders (one or
        several) that have NAME/REST or the last steps of it. Other names are relative to the URDF, or to the present folder.
        """
        text, home = _read(urdf)
        rules = _read(srdf)[0] if srdf is not None else ""
        asked = messages.RegisterRobotRequest(urdf=text, srdf=rules, mesh_treatment=int(treatment),
                                              leave_out_missing=leave_out_missing)
        if gap_max is not None:
            asked.gap_max = gap_max
        for name in _mesh_names(text):
            path = _find(name, home, package_dirs)
            if path is None:
                if leave_out_missing:
                    continue
                raise FileNotFoundError(f"the mesh {name!r} of the URDF is not there; package_dirs says where packages are")
            with open(path, "rb") as file:
                asked.meshes.add(name=name, content=file.read())
        return cls(asked.SerializeToString())

    @classmethod
    def from_pinocchio(cls, model: Any, geometry: Any, *, treatment: Treatment = Treatment.AS_IT_IS) -> Robot:
        """Takes a model of pinocchio with its geometry model, or whatever has the same names, as it is: configurations are
        its q, in its order, with a free flyer and with continuous joints by cosine and sine; the pairs that are checked are
        its collision pairs, by the links that its frames name. `ValueError` names a joint or body that no URDF has."""
        from . import pinocchio
        content, circles = pinocchio.request(model, geometry, treatment)
        robot = cls(content)
        robot._circles = circles
        return robot

    @property
    def description(self) -> Any:
        """What was made of the files, the interface's `Robot`; told by the engine of this process unless one was asked."""
        if self._description is None:
            from .client import local
            local().register(self)
        return self._description

    @property
    def name(self) -> str:
        return self.description.name

    @property
    def variables(self) -> list[str]:
        """Names of the values of a configuration, in order."""
        return [variable.name for variable in self.description.variables]

    @property
    def dof(self) -> int:
        """How many values a configuration has."""
        return len(self.description.variables)

    @property
    def width(self) -> int:
        """How many numbers a configuration is given by: `dof`, and one more for each angle that is given as a cosine and a
        sine, as pinocchio does."""
        return self.dof + len(self._circles)

    def taken(self, given: Any) -> Any:
        """Values of configurations, n by dof, of the numbers that they are given by, n by width."""
        if not self._circles:
            return given
        before = np.zeros(self.dof, dtype=int)
        before[list(self._circles)] = 1
        first = np.arange(self.dof) + np.cumsum(before) - before
        values = given[..., first]
        for variable in self._circles:
            values[..., variable] = np.arctan2(given[..., first[variable] + 1], given[..., first[variable]])
        return values

    def _given(self, values: Any) -> Any:
        """The other way."""
        columns = []
        for variable in range(self.dof):
            value = values[..., variable]
            columns += [np.cos(value), np.sin(value)] if variable in self._circles else [value]
        return np.stack(columns, axis=-1) if self._circles else values

    @property
    def lower(self) -> Any:
        """Least values, minus infinity where there are none."""
        return np.array([v.lower if v.HasField("lower") else -np.inf for v in self.description.variables])

    @property
    def upper(self) -> Any:
        """Greatest values, infinity where there are none."""
        return np.array([v.upper if v.HasField("upper") else np.inf for v in self.description.variables])

    @property
    def neutral(self) -> Any:
        """Values of 0, or the nearest to it that are within the limits; of a quaternion that of no turn."""
        turns = np.array([name.endswith("/qw") for name in self.variables], dtype=float)
        return np.clip(turns, self.lower, self.upper)

    @property
    def links(self) -> list[str]:
        return [link.name for link in self.description.links]

    @property
    def notes(self) -> list[str]:
        """What was not as expected."""
        return list(self.description.notes)

    def sample(self, count: int, seed: Any = None) -> Any:
        """Configurations at random between the limits, and within a turn where there are none: count by width."""
        lower, upper = self.lower, self.upper
        lower, upper = np.where(np.isfinite(lower), lower, -np.pi), np.where(np.isfinite(upper), upper, np.pi)
        return self._given(np.random.default_rng(seed).uniform(lower, upper, (count, len(lower))))

    def _recorded(self) -> Recording:
        return of_cell(Cell(self))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_description": None}

    def __repr__(self) -> str:
        known = self._description
        return f"<Robot {known.name!r}, {len(known.variables)} values>" if known is not None else "<Robot, not registered>"


def _read(source: str | os.PathLike[str]) -> tuple[str, str]:
    """The text of a file or the text that it is, and the folder that names in it are relative to."""
    if isinstance(source, str) and source.lstrip().startswith("<"):
        return source, os.getcwd()
    with open(source, encoding="utf-8") as file:
        return file.read(), os.path.dirname(os.path.abspath(source))


def _mesh_names(text: str) -> list[str]:
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return []  # The engine says what is wrong with it, and in which line.
    names = [mesh.get("filename") for mesh in root.findall(".//collision//mesh")]
    return list(dict.fromkeys(name for name in names if name))


def _find(name: str, home: str, package_dirs: Any) -> str | None:
    """Where a mesh file is. In folders that are searched, the last steps of its name do, the more of them the better."""
    is_package = name.startswith("package://")
    path = name.removeprefix("package://").removeprefix("file://")
    if isinstance(package_dirs, Mapping):
        package, _, rest = path.partition("/")
        paths = [os.path.join(package_dirs[package], rest)] if is_package and package in package_dirs else []
        folders = []
    else:
        paths = []
        several = isinstance(package_dirs, (list, tuple))
        folders = [] if package_dirs is None else list(package_dirs) if several else [package_dirs]
    if not is_package:
        paths.append(os.path.join(home, path))
    steps = path.lstrip("/").split("/")
    tails = ["/".join(steps[at:]) for at in range(len(steps))]
    paths += [os.path.join(folder, tail) for tail in tails for folder in folders]
    return next((path for path in paths if os.path.isfile(path)), None)


class Cell(Shows):
    """Robots and what stands still around them."""

    def __init__(self, robots: Any, obstacles: Iterable[Any] | Mapping[str, Any] = ()) -> None:
        """A robot, or several, each of which may come with the place of its base: `(robot, translation)` or `(robot,
        translation, rotation)`. Obstacles are bodies in their places, by name if they come in a dictionary."""
        several = robots if isinstance(robots, list) else [robots]
        bases = [(one, b"") if isinstance(one, Robot) else (one[0], pose_bytes(*one[1:])) for one in several]
        self.robots: list[Robot] = [robot for robot, _ in bases]
        self._bases = [base for _, base in bases]
        named = obstacles if isinstance(obstacles, Mapping) else {f"obstacle {i}": o for i, o in enumerate(obstacles)}
        self.obstacles: dict[str, Placed] = {str(name): placed(body) for name, body in named.items()}

    def message(self, engine: Any) -> bytes:
        """A `RobotCell`, of what is registered with this engine."""
        content = []
        for robot, base in zip(self.robots, self._bases):
            known = _wire.delimited(1, engine.register(robot).encode())
            content.append(_wire.delimited(1, known + (_wire.delimited(2, base) if base else b"")))
        content += [_wire.delimited(2, body.obstacle(engine.register)) for body in self.obstacles.values()]
        return b"".join(content)

    @property
    def dof(self) -> int:
        return sum(robot.dof for robot in self.robots)

    @property
    def width(self) -> int:
        """How many numbers a configuration is given by; see `Robot.width`."""
        return sum(robot.width for robot in self.robots)

    def taken(self, configurations: Any) -> Any:
        """Values of configurations, n by dof, in rows of f64, of the numbers that they are given by."""
        given = np.ascontiguousarray(configurations, dtype=float)
        if not any(robot._circles for robot in self.robots):
            return given
        if given.shape[-1:] != (self.width,):
            raise ValueError(f"configurations are given by {self.width} numbers each, not in the shape {given.shape}")
        ends = np.cumsum([robot.width for robot in self.robots])
        parts = [robot.taken(given[..., end - robot.width:end]) for robot, end in zip(self.robots, ends)]
        return np.ascontiguousarray(np.concatenate(parts, axis=-1))

    @property
    def moving_links(self) -> int:
        return sum(sum(1 for link in robot.description.links if link.moves) for robot in self.robots)

    @property
    def names(self) -> list[str]:
        """What the bodies of answers are called, by their numbers: parts by their links, then obstacles."""
        names = []
        for number, robot in enumerate(self.robots):
            own = robot.description
            before = f"{own.name} {number}/" if len(self.robots) > 1 else ""
            names += [before + own.links[part.link].name for part in own.parts]
        return names + list(self.obstacles)

    def _recorded(self) -> Recording:
        return of_cell(self)


class Refused(NamedTuple):
    """Items in a row that were not answered."""

    index: int
    count: int
    code: Code
    reason: str
    message: str
    field: str


class _Answers(Shows):
    """Lists of an answer, which become arrays when they are looked at."""

    def __init__(self, lists: dict[str, Any], cell: Cell, count: int) -> None:
        self._lists, self.cell, self.count = lists, cell, count
        self._about: tuple[Any, ...] = ()

    def about(self, engine: Any, *values: Any) -> Any:
        """The same, with who was asked and what about, which is shown."""
        self._about = (engine, *values)
        return self

    def _recorded(self) -> Recording:
        engine, *values = self._about
        return of_cell(self.cell, *values, engine=engine)

    def _array(self, name: str, dtype: Any) -> Any:
        return np.frombuffer(self._lists.get(name, b""), dtype=dtype)

    @property
    def refused(self) -> list[Refused]:
        """Items that were not answered, and why."""
        return [Refused(i, n, Code(code), *rest) for i, n, code, *rest in self._lists.get("refused", ())]

    @property
    def beyond_limits(self) -> Any:
        """With `report_limits`: index and variable of each value beyond a limit, k by 2."""
        return np.stack([self._array("limit_indices", np.uint32), self._array("limit_variables", np.uint32)], axis=1)

    def name(self, number: int) -> str:
        """What a body of the answer is called."""
        return self.cell.names[number]

    def __len__(self) -> int:
        return self.count


class Configurations(_Answers):
    """What was answered about configurations."""

    def __init__(self, lists: dict[str, Any], cell: Cell, count: int, width: int) -> None:
        super().__init__(lists, cell, count)
        self._width = width

    @property
    def verdicts(self) -> Any:
        """A `Verdict` of each: 1 separated, 2 touching, 3 overlapping; 0: refused, or open."""
        return self._array("verdicts", np.uint8)

    @property
    def free(self) -> Any:
        """Whether each is proven to be in no contact."""
        return self.verdicts == 1

    @property
    def contacts(self) -> Any:
        """Contacts, k by 3: configuration, first and second body."""
        names = ("contact_indices", "contact_firsts", "contact_seconds")
        return np.stack([self._array(name, np.uint32) for name in names], axis=1)

    @property
    def contact_verdicts(self) -> Any:
        """How the two of each contact stand."""
        return self._array("contact_verdicts", np.uint8)

    def _each(self, array: Any, *shape: int) -> Any:
        """By configuration, and by link if there are several of each."""
        entries = max(len(self._lists.get("clearance_lowers", b"")) // 8, 1)
        links = entries // max(self.count, 1)
        return array.reshape(((self.count, links) if links > 1 else (-1,)) + shape)

    @property
    def width(self) -> int:
        """How many numbers a configuration is given by: `dof`, and one more for each angle that is given as a cosine and a
        sine, as pinocchio does."""
        return self.dof + len(self._circles)

    def taken(self, given: Any) -> Any:
        """Values of configurations, n by dof, of the numbers that they are given by, n by width."""
        if not self._circles:
            return given
        before = np.zeros(self.dof, dtype=int)
        before[list(self._circles)] = 1
        first = np.arange(self.dof) + np.cumsum(before) - before
        values = given[..., first]
        for variable in self._circles:
            values[..., variable] = np.arctan2(given[..., first[variable] + 1], given[..., first[variable]])
        return values

    def _given(self, values: Any) -> Any:
        """The other way."""
        columns = []
        for variable in range(self.dof):
            value = values[..., variable]
            columns += [np.cos(value), np.sin(value)] if variable in self._circles else [value]
        return np.stack(columns, axis=-1) if self._circles else values

    @property
    def lower(self) -> Any:
        """At most the signed clearance of each, metres; NaN: refused, or there is no pair."""
        return self._each(self._array("clearance_lowers", float))

    @property
    def upper(self) -> Any:
        """At least the signed clearance of each."""
        return self._each(self._array("clearance_uppers", float))

    @property
    def pairs(self) -> Any:
        """Which two bodies each clearance is about."""
        both = [self._array(f"clearance_{one}", np.uint32) for one in ("firsts", "seconds")]
        return self._each(np.stack(both, axis=1), 2)

    @property
    def points(self) -> tuple[Any, Any]:
        """With gradients: the nearest points on the first and on the second body."""
        return tuple(self._each(self._array(f"points_{one}", float), 3) for one in ("first", "second"))

    @property
    def normals(self) -> Any:
        """With gradients: from the first body to the second."""
        return self._each(self._array("normals", float), 3)

    @property
    def gradients(self) -> Any:
        """With gradients: the change of each clearance with every joint value."""
        return self._each(self._array("gradients", float), self._width)

    def __repr__(self) -> str:
        return f"<{self.count} configurations, {int(self.free.sum())} free>"


class Edges(_Answers):
    """What was answered about straight paths in the joint values."""

    @property
    def outcomes(self) -> Any:
        """An `Outcome` of each: 1 contact, 2 no contact, 3 undecided; 0: refused."""
        return self._array("outcomes", np.uint8)

    @property
    def free(self) -> Any:
        """Whether each is proven free as a whole."""
        return self.outcomes == 2

    @property
    def free_until(self) -> Any:
        """Up to which t, from 0 to 1, each is proven free."""
        return self._array("free_until", float)

    @property
    def near(self) -> Any:
        """Those that end in a contact, or too near to one to tell, k by 3: edge, first and second body."""
        names = ("near_indices", "near_firsts", "near_seconds")
        return np.stack([self._array(name, np.uint32) for name in names], axis=1)

    @property
    def contact_at(self) -> Any:
        """A t at which each of `near` is in contact; NaN: undecided."""
        return self._array("contact_at", float)

    def __repr__(self) -> str:
        return f"<{self.count} edges, {int(self.free.sum())} proven free>"
