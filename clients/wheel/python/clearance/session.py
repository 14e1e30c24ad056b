"""Sessions: a scene whose bodies move from frame to frame."""
from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator, Mapping, Sequence

import numpy as np

from . import _wire, messages
from .errors import Code, Error
from .recording import Recording, Watch
from .robots import Robot
from .shapes import placed, pose_bytes
from .showing import Shows, of_session

# Fields of `Body`, `SessionRobot`, `SessionState`, `OpenSessionRequest`, `Frame`, `PackedPoses` and `RobotMove`.
_PARTS, _POSE = 3, 4
_ROBOT_ID, _ROBOT_BASE, _ROBOT_VALUES = 3, 4, 5
_STATE_BODIES, _STATE_ROBOTS, _OPEN_STATE = 1, 6, 2
_PACKED, _ADDED_BODIES, _ADDED_ROBOTS, _ROBOT_MOVES = 5, 6, 14, 16
_IDS, _TRANSLATIONS, _ROTATIONS, _MATRICES, _TELEPORTED = 1, 2, 3, 4, 5


@dataclass
class Body:
    """A body of a scene. `options` are further fields of the interface's `Body`, such as `groups` or `margin`."""

    id: int
    parts: Any
    """A shape, or a list of shapes that move as one, each where it is in the body."""
    translation: Any = (0.0, 0.0, 0.0)
    rotation: Any = None
    name: str = ""
    fixed: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def message(self, engine: Any) -> bytes:
        """The bytes of a `Body`."""
        parts = self.parts if isinstance(self.parts, (list, tuple)) else [self.parts]
        own = messages.Body(id=self.id, name=self.name, fixed=self.fixed, **self.options).SerializeToString()
        parts = b"".join(_wire.delimited(_PARTS, placed(part).placed_body(engine.register)) for part in parts)
        return own + parts + _wire.delimited(_POSE, pose_bytes(self.translation, self.rotation))


@dataclass
class RobotBody:
    """A robot of a scene: each link with parts is a body, whose id is that of the robot plus the index of the link."""

    id: int
    robot: Robot
    values: Any = ()
    translation: Any = (0.0, 0.0, 0.0)
    rotation: Any = None
    name: str = ""
    fixed_base: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def message(self, engine: Any) -> bytes:
        """The bytes of a `SessionRobot`."""
        own = messages.SessionRobot(id=self.id, name=self.name, fixed_base=self.fixed_base, **self.options)
        known = _wire.delimited(_ROBOT_ID, engine.register(self.robot).encode())
        base = _wire.delimited(_ROBOT_BASE, pose_bytes(self.translation, self.rotation))
        return own.SerializeToString() + known + base + _wire.numbers(_ROBOT_VALUES, self.values)


@dataclass(frozen=True)
class Event:
    """A contact that began or ended, or may have been."""

    kind: str
    """BEGAN, ENDED and so on, as in `ContactEventKind`; a number where a newer server says what is not known here."""
    a: int
    b: int
    time: tuple[float, float] | None
    """Fractions of the time since the last answered frame."""
    a_link: str
    b_link: str
    message: Any = field(repr=False, compare=False)


class Report:
    """The answer to one frame."""

    def __init__(self, message: Any) -> None:
        self.message = message
        """The interface's `FrameReport`."""
        self.frame_id: int = message.frame_id

    @property
    def events(self) -> list[Event]:
        return events_of(self.message.events)

    @property
    def counts(self) -> dict[str, int]:
        """How many pairs stand how."""
        told = self.message.counts
        return {name: getattr(told, name) for name in ("separated", "touching", "overlapping", "undecided")}

    @property
    def pairs(self) -> Any:
        """The listed pairs, k by 2."""
        packed = self.message.packed_pairs
        return np.stack([np.array(packed.a, dtype=np.uint32), np.array(packed.b, dtype=np.uint32)], axis=1)

    @property
    def verdicts(self) -> Any:
        """A `Verdict` of each listed pair."""
        return np.frombuffer(self.message.packed_pairs.verdicts, dtype=np.uint8)

    def column(self, name: str) -> Any:
        """Another list of `PackedPairs`, such as `distance_lower`; points and directions k by 3."""
        told = getattr(self.message.packed_pairs, name)
        if isinstance(told, bytes):
            return np.frombuffer(told, dtype=np.uint8)
        flat = np.array(told)
        return flat.reshape(-1, 3) if name.startswith(("closest", "normals", "depth_dir")) else flat

    def __repr__(self) -> str:
        return f"<frame {self.frame_id}, {len(self.message.events)} events>"


def events_of(told: Iterable[Any]) -> list[Event]:
    """Events of a report, or of news that a watch tells."""
    return [_event(one) for one in told]


def _name(enumeration: Any, number: int, prefix: str) -> str:
    """A newer server may say what this package has no name for; then it is the number."""
    try:
        return enumeration.Name(number).removeprefix(prefix)
    except ValueError:
        return str(number)


def _event(told: Any) -> Event:
    kind = _name(messages.ContactEventKind, told.kind, "CONTACT_EVENT_KIND_")
    time = (told.time.lower, told.time.upper) if told.HasField("time") else None
    return Event(kind, told.a, told.b, time, told.a_link, told.b_link, told)


def _report(bytes_: bytes) -> Report:
    message = messages.FrameReport.FromString(bytes_)
    if message.HasField("status"):
        told = message.status
        reason = _name(messages.ErrorReason, told.reason, "ERROR_REASON_")
        # As of the frame itself, whatever brought it.
        path = told.field.removeprefix("frames[0].").removeprefix("frame.")
        raise Error(Code(told.code), told.message, reason, [(path, told.message)] if path else [])
    return Report(message)


class Session(Shows):
    """A scene, frame by frame. With a server it outlives lost connections and restarts: it states itself anew and sends what
    was not answered, so that no event is lost or repeated."""

    def __init__(self, engine: Any, bodies: Iterable[Body] = (), robots: Iterable[RobotBody] = (),
                 report: Mapping[str, Any] | None = None, *, latest_wins: bool = False, record: bool | int | Recording = False,
                 **options: Any) -> None:
        """`report` are fields of `ReportOptions`, `options` of `OpenSessionRequest`; pairs come packed. With `record` the
        session is written down in `recording`, up to so many bytes if it is a number, or in one that is given."""
        self._engine = engine
        asked = messages.OpenSessionRequest(report=messages.ReportOptions(**{"packed": True, **(report or {})}), **options)

        def request() -> bytes:
            state = b"".join(_wire.delimited(_STATE_BODIES, body.message(engine)) for body in bodies)
            state += b"".join(_wire.delimited(_STATE_ROBOTS, robot.message(engine)) for robot in robots)
            return asked.SerializeToString() + _wire.delimited(_OPEN_STATE, state)

        bodies, robots = list(bodies), list(robots)
        self._link = engine._asking(lambda: engine._engine.session(request(), latest_wins))
        told = messages.OpenSessionResponse.FromString(self._link.told())
        self.id: str = told.session_id
        self.checked_pairs: int = told.checked_pairs
        self.first = Report(told.report)
        """On the scene as it was opened: contacts that there are from the beginning are events of it."""
        self.recording: Recording | None = None
        """What was asked and answered, if it is recorded."""
        self._watch: Watch | None = None
        if isinstance(record, Recording) or record:
            given = isinstance(record, Recording)
            self.recording = record if given else Recording() if record is True else Recording(record)
            self._watch = Watch(engine, self.id, told.session_key or options.get("session_key", ""), self.recording)
            self._noting(lambda watch: watch.opened(request(), told.report.SerializeToString()))

    def step(self, ids: Any = None, translations: Any = None, rotations: Any = None, *, teleported: Any = None,
             robots: Mapping[int, Any] | None = None, added: Sequence[Body | RobotBody] = (), **fields: Any) -> Report:
        """Goes on by a frame. Bodies by `ids` are moved to `translations`, n by 3, with `rotations`, n by 4 (w, x, y, z) or
        n by 3 by 3; robots to joint values. `teleported` are the ids of bodies that did not pass what is between, or True:
        none of what moves did. `fields` are further ones of the interface's `Frame`."""
        if isinstance(teleported, bool):
            fields, teleported = {**fields, "teleported": teleported}, None
        frame = messages.Frame(**fields).SerializeToString() if fields else b""
        if ids is not None:
            frame += _wire.delimited(_PACKED, _packed(ids, translations, rotations, teleported))
        for body in added:
            number = _ADDED_BODIES if isinstance(body, Body) else _ADDED_ROBOTS
            frame += _wire.delimited(number, body.message(self._engine))
        for number, values in (robots or {}).items():
            move = messages.RobotMove(id=number, values=[float(value) for value in np.asarray(values).ravel()])
            frame += _wire.delimited(_ROBOT_MOVES, move.SerializeToString())
        told = self._link.step(frame)
        report = _report(told)
        if self._watch is not None:
            self._noting(lambda watch: watch.stepped(frame, report.frame_id, told))
        return report

    def _noting(self, note: Any) -> None:
        """Notes something in the recording. What cannot be noted is no reason not to go on."""
        try:
            note(self._watch)
        except Error as error:
            warnings.warn(f"the session is recorded no further: {error}", RuntimeWarning, stacklevel=3)
            self._watch = None

    def _recorded(self) -> Recording:
        return self.recording if self.recording is not None else of_session(self)

    @property
    def key(self) -> str:
        """The key that the server made; empty: the session is open to everybody, or the key was brought."""
        return messages.OpenSessionResponse.FromString(self._link.told()).session_key

    @property
    def incarnation(self) -> int:
        """Which session of this id it is."""
        return messages.OpenSessionResponse.FromString(self._link.told()).incarnation

    def take_back(self) -> None:
        """Goes on with a session that another client has taken over (`Error` with ABORTED), in its place. What that one has
        declared stands. In this process there is no other, and nothing happens."""
        self._link.take_back()

    def watch(self) -> Iterator[Any]:
        """Follows the session without taking part in it: `WatchSessionResponse`s, its state first, then what each frame
        changed, until it is closed. With a server it outlives connections and restarts: the state comes anew then, and
        what was known before is to be forgotten. It may be followed by another thread than the one that steps."""
        watch = self._link.watch()
        return map(messages.WatchSessionResponse.FromString, iter(watch.next, None))

    def state(self) -> Any:
        """What is declared, a `SessionState`: with it, any server can go on."""
        return messages.SessionState.FromString(self._link.state())

    def close(self) -> None:
        if self._watch is not None:
            self._watch.end()
            self._watch = None
        self._link.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _packed(ids: Any, translations: Any, rotations: Any, teleported: Any) -> bytes:
    """The bytes of `PackedPoses`."""
    ids = np.asarray(ids)
    places = np.asarray(translations, dtype=float)
    if ids.ndim != 1 or places.shape != (len(ids), 3):
        raise ValueError(f"{ids.shape} ids need as many translations by 3, not {places.shape}")
    content = _wire.fixed(_IDS, ids) + _wire.numbers(_TRANSLATIONS, places)
    if rotations is not None:
        turns = np.asarray(rotations, dtype=float)
        number = {(len(ids), 4): _ROTATIONS, (len(ids), 3, 3): _MATRICES}.get(turns.shape)
        if number is None:
            raise ValueError(f"{len(ids)} bodies have no rotations of the shape {turns.shape}")
        content += _wire.numbers(number, turns)
    return content + (_wire.fixed(_TELEPORTED, teleported) if teleported is not None else b"")
