"""Where a program asks: the engine of its own process, or a server. Both are one class."""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Callable, Iterator, Sequence, TypeVar

import numpy as np

from . import _engine, _wire, messages
from ._progress import Bar
from .errors import Code, Error
from .recording import Recording
from .robots import Cell, Configurations, Edges, Mode, Robot
from .session import Session
from .shapes import Motion, Shape, Treatment, placed
from .showing import Shows, of_bodies

T = TypeVar("T")

# Fields of the requests of `QueryService`, and of `CheckConfigurationsRequest` and `CheckEdgesRequest`.
_P, _Q, _P_MOTION, _Q_MOTION, _CELL = 1, 2, 3, 4, 1

# Bytes of joint values that go into one message; and configurations of a message that asks for all pairs.
_VALUE_BYTES = 1 << 20
_ALL_PAIRS_ROWS = 1024

# Bytes of a reply that are taken.
_REPLY_BYTES = 64 << 20

# Reasons for which what was registered is registered again.
_FORGOTTEN = {"UNKNOWN_POLYTOPE", "UNKNOWN_ROBOT"}

_forks = 0


def _forked() -> None:
    global _forks
    _forks += 1
    _engine.forked()


os.register_at_fork(after_in_child=_forked)


class Verdict(IntEnum):
    """How two bodies stand."""

    UNSPECIFIED = 0
    SEPARATED = 1
    TOUCHING = 2
    OVERLAPPING = 3


class Outcome(IntEnum):
    """Whether two moving bodies meet."""

    UNSPECIFIED = 0
    CONTACT = 1
    NO_CONTACT = 2
    UNDECIDED = 3


class _OfTwo(Shows):
    """An answer about two bodies."""

    def _recorded(self) -> Recording:
        engine, *bodies, motions = self._about
        return of_bodies(bodies, motions, engine)


@dataclass(frozen=True)
class Collision(_OfTwo):
    """How two bodies stand; exact."""

    verdict: Verdict
    within_margin: bool | None
    """Whether the distance is at most the margin; None: no margin was given, or it is open."""
    message: Any = field(repr=False)
    """The whole reply."""
    _about: Any = field(default=(), repr=False, compare=False)

    def __bool__(self) -> bool:
        """Whether they are in contact."""
        return self.verdict in (Verdict.TOUCHING, Verdict.OVERLAPPING)


@dataclass(frozen=True)
class Distance(_OfTwo):
    """How far apart two bodies are: the exact distance is from `lower` to `upper`, metres."""

    verdict: Verdict
    lower: float
    upper: float
    points: tuple[Any, Any] = field(repr=False)
    """Closest points on the first and on the second body, rounded."""
    message: Any = field(repr=False)
    _about: Any = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class FirstContact(_OfTwo):
    """Whether two moving bodies meet, and when."""

    outcome: Outcome
    t_free: float
    """They are proven apart from 0 up to this."""
    t_contact: float | None
    """By this they are proven in contact."""
    message: Any = field(repr=False)
    _about: Any = field(default=(), repr=False, compare=False)


class Stream:
    """A call with any number of messages in either direction."""

    def __init__(self, stream: Any, request: Any, reply: Any) -> None:
        self._stream, self._request, self._reply = stream, request, reply

    def send(self, message: Any) -> None:
        """Sends a message, or the fields of one, once the one before was taken."""
        self._stream.send(_bytes(message, self._request))

    def receive(self) -> Any:
        """The next message; None: the call has ended."""
        told = self._stream.receive()
        return None if told is None else self._reply.FromString(told)

    def end(self) -> None:
        """Says that nothing more will be sent."""
        self._stream.end()

    def cancel(self) -> None:
        """Gives the call up."""
        self._stream.cancel()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.receive, None)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: Any) -> None:
        self.cancel()


def _bytes(message: Any, kind: Any) -> bytes:
    if message is None:
        return b""
    if isinstance(message, (bytes, bytearray, memoryview)):
        return bytes(message)
    if isinstance(message, dict):
        return kind(**message).SerializeToString()
    return message.SerializeToString()


class Engine:
    """The engine of this process (`local()`), or a server (`connect()`).

    It may be used by several threads at once; none of them has Python's lock while it waits. What computes is started by
    the first call of each process: after a fork the child starts its own, and registers again what it asks about.
    """

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._of_forks = _forks
        self._ids: dict[bytes, str] = {}
        self._heads: dict[Any, tuple[bytes, bytes]] = {}

    # ---- any method

    def call(self, method: str, message: Any = None, *, timeout: float | None = None) -> Any:
        """Calls a method, `Service/Method`, with a message, the fields of one, or the bytes of one. The reply is a message,
        or bytes where these were brought."""
        path, request, reply = messages.method(method)
        told = self._engine.call(path, _bytes(message, request), timeout)
        return told if isinstance(message, (bytes, bytearray, memoryview)) else reply.FromString(told)

    def stream(self, method: str, *, timeout: float | None = None) -> Stream:
        """Begins a call with messages in either direction."""
        path, request, reply = messages.method(method)
        return Stream(self._engine.stream(path, timeout), request, reply)

    # ---- what is registered

    def register(self, what: Any, alias: str = "") -> str:
        """Registers a shape or a robot, unless that was done before; its id."""
        if self._of_forks != _forks and self._engine.is_inside:
            self._forget()
        if isinstance(what, Robot):
            return self._register_robot(what)
        if not isinstance(what, Shape):
            what = placed(what).shape
        known = self._ids.get(what.key)
        if known is None or alias:
            known = self._ids[what.key] = self._register_shape(what, alias)
        return known

    def _forget(self) -> None:
        self._of_forks = _forks
        self._ids, self._heads = {}, {}

    def _register_robot(self, robot: Robot) -> str:
        known = self._ids.get(robot.key)
        if known is None or robot._description is None:
            told = self._engine.call("/clearance.v1.RobotService/RegisterRobot", robot.request)
            robot._description = messages.RegisterRobotResponse.FromString(told).robot
            known = self._ids[robot.key] = robot._description.id
        return known

    def _register_shape(self, shape: Shape, alias: str) -> str:
        """Registers it. A mesh that is to be what it is: its hull if that is what it is, else the region that it bounds,
        else its surface."""
        treatments = [Treatment.AS_IT_IS, Treatment.POLYHEDRON, Treatment.SURFACE]
        if shape.kind != "mesh" or shape.treatment != Treatment.AS_IT_IS:
            treatments = [shape.treatment]
        for treatment in treatments:
            spec = shape.spec(treatment) + messages.PolytopeSpec(alias=alias).SerializeToString()
            try:
                told = self._engine.call("/clearance.v1.PolytopeService/RegisterPolytopes", _wire.delimited(1, spec))
            except Error as error:
                if error.reason in ("NOT_CONVEX", "NOT_A_POLYHEDRON") and treatment != treatments[-1]:
                    continue
                raise
            return messages.RegisterPolytopesResponse.FromString(told).reports[0].polytope.id
        raise AssertionError("the last treatment returns or raises")

    def _asking(self, ask: Callable[[], T]) -> T:
        """Asks; once more where what was registered is forgotten, as by a server that was started anew."""
        if self._of_forks != _forks and self._engine.is_inside:
            self._forget()
        try:
            return ask()
        except Error as error:
            if error.code != Code.NOT_FOUND or error.reason not in _FORGOTTEN:
                raise
        self._forget()
        return ask()

    # ---- two bodies

    def _ask(self, method: str, p: Any, q: Any, options: Any, timeout: float | None, more: bytes = b"") -> bytes:
        p, q = placed(p), placed(q)

        def ask() -> bytes:
            bodies = _wire.delimited(_P, p.placed_body(self.register)) + _wire.delimited(_Q, q.placed_body(self.register))
            return self._engine.call(f"/clearance.v1.QueryService/{method}", bodies + more + options, timeout)

        return self._asking(ask)

    def collide(self, p: Any, q: Any, *, margin: float | None = None, certificate: bool = False, verify: bool = False,
                timeout: float | None = None) -> Collision:
        """Whether two bodies are separated, touch or overlap: exactly. With `verify` the verifier that shares nothing with
        the engine judges the certificate, and `NotVerified` is raised where it does not prove the answer."""
        options = _PLAIN if margin is None and not (certificate or verify) else _options(
            messages.CheckCollisionRequest, certificate or verify, margin=margin)
        told = messages.CheckCollisionResponse.FromString(self._ask("CheckCollision", p, q, options, timeout))
        if verify:
            from . import verifying
            verifying.collision(placed(p), placed(q), margin, told)
        within = told.within_margin if told.HasField("within_margin") else None
        return Collision(Verdict(told.verdict), within, told, (self, p, q, ()))

    def distance(self, p: Any, q: Any, *, certificate: bool = False, verify: bool = False,
                 timeout: float | None = None) -> Distance:
        """How far apart two bodies are."""
        options = _options(messages.MeasureDistanceRequest, certificate or verify)
        told = messages.MeasureDistanceResponse.FromString(self._ask("MeasureDistance", p, q, options, timeout))
        if verify:
            from . import verifying
            verifying.distance(placed(p), placed(q), told)
        points = tuple(np.array([v.x, v.y, v.z]) for v in (told.closest_p, told.closest_q))
        return Distance(Verdict(told.verdict), told.distance.lower, told.distance.upper, points, told, (self, p, q, ()))

    def first_contact(self, p: Any, q: Any, p_motion: Motion | None = None, q_motion: Motion | None = None, *,
                      margin: float = 0.0, certificate: bool = False, timeout: float | None = None,
                      **fields: Any) -> FirstContact:
        """Whether two bodies meet in a step from 0 to 1, and when. `fields` are further ones of the interface's
        `FindFirstContactRequest`."""
        options = _options(messages.FindFirstContactRequest, certificate, margin=margin, **fields)
        more = _wire.delimited(_P_MOTION, p_motion.message) if p_motion else b""
        more += _wire.delimited(_Q_MOTION, q_motion.message) if q_motion else b""
        told = messages.FindFirstContactResponse.FromString(self._ask("FindFirstContact", p, q, options, timeout, more))
        t_contact = told.t_contact if told.HasField("t_contact") else None
        return FirstContact(Outcome(told.outcome), told.t_free, t_contact, told, (self, p, q, (p_motion, q_motion)))

    # ---- robots

    def check(self, robot: Robot | Cell, configurations: Any, cell: Any = (), mode: Mode = Mode.FIRST_PAIR, *,
              gradient: bool = False, report_limits: bool = False, timeout: float | None = None,
              progress: Any = False) -> Configurations:
        """Whether configurations, n by width (or one), are free: of a robot among the obstacles in `cell`, or of a `Cell`. An
        array of f64 whose rows follow each other is copied into messages, and nothing else. With `progress` a bar shows how
        far it is; or it is a function, which is called with how many are answered and how many there are."""
        place = robot if isinstance(robot, Cell) else cell if isinstance(cell, Cell) else Cell(robot, cell)

        def ask() -> Configurations:
            first, others = self._head(place, messages.CheckConfigurationsRequest, mode=int(mode), with_gradient=gradient,
                                       report_limits=report_limits)
            values, width = place.taken(configurations), place.dof
            count = _rows_of(values, width)
            rows = max(1, _VALUE_BYTES // (8 * width))
            if mode == Mode.ALL_PAIRS:
                rows = min(rows, _ALL_PAIRS_ROWS)
            elif mode == Mode.LINK_CLEARANCE:
                rows = max(1, rows // max(place.moving_links, 1))
            with Bar(progress, count, "configurations") as bar:
                lists = self._engine.check((first, others), values, (width, rows), timeout, bar.tell)
            return Configurations(lists, place, count, width).about(self, values)

        return self._asking(ask)

    def check_edges(self, robot: Robot | Cell, starts: Any, ends: Any, cell: Any = (), *, margin: float = 0.0,
                    report_limits: bool = False, timeout: float | None = None, progress: Any = False,
                    **fields: Any) -> Edges:
        """Whether straight paths in the joint values are free, proven along the true motion of the joints. `fields` are
        further ones of the interface's `CheckEdgesRequest`; certificates come by `call`. `progress` as of `check`."""
        place = robot if isinstance(robot, Cell) else cell if isinstance(cell, Cell) else Cell(robot, cell)

        def ask() -> Edges:
            head, _ = self._head(place, messages.CheckEdgesRequest, margin=margin, report_limits=report_limits, **fields)
            both, width = [place.taken(values) for values in (starts, ends)], place.dof
            count = _rows_of(both[0], width)
            if both[0].shape != both[1].shape:
                raise ValueError(f"starts of the shape {both[0].shape} have no ends of the shape {both[1].shape}")
            rows = max(1, _VALUE_BYTES // (16 * width))
            with Bar(progress, count, "edges") as bar:
                lists = self._engine.edges(head, tuple(both), (width, rows), timeout, bar.tell)
            return Edges(lists, place, count).about(self, *both)

        return self._asking(ask)

    def _head(self, place: Cell, kind: Any, **fields: Any) -> tuple[bytes, bytes]:
        """A request without its values: with the cell, and without. That of the last few cells stays made."""
        key = (id(place), kind.DESCRIPTOR.name, tuple(fields.items()))
        known = self._heads.get(key)
        if known is not None and known[2] is place:
            return known[:2]
        others = kind(**fields, reply_bytes_max=_REPLY_BYTES).SerializeToString()
        first = _wire.delimited(_CELL, place.message(self)) + others
        if len(self._heads) >= 16:
            self._heads.pop(next(iter(self._heads)))
        self._heads[key] = (first, others, place)
        return first, others

    # ---- scenes

    def session(self, bodies: Sequence[Any] = (), robots: Sequence[Any] = (), report: Any = None, **options: Any) -> Session:
        """Opens a scene whose bodies move from frame to frame; see `Session`."""
        return Session(self, bodies, robots, report, **options)

    def info(self) -> Any:
        """What the engine is and which limits are in force, a `GetServerInfoResponse`."""
        return self.call("ServerService/GetServerInfo")

    def __repr__(self) -> str:
        return "<clearance in this process>" if self._engine.is_inside else "<clearance, a server>"


def _rows_of(values: Any, width: int) -> int:
    if values.ndim not in (1, 2) or values.shape[-1] != width:
        raise ValueError(f"configurations of {width} values are an array of n by {width}, not of the shape {values.shape}")
    return 1 if values.ndim == 1 else len(values)


def _options(kind: Any, certificate: bool, **fields: Any) -> bytes:
    given = {name: value for name, value in fields.items() if value is not None}
    return kind(options=messages.QueryOptions(omit_certificate=not certificate), **given).SerializeToString()


_PLAIN = _options(messages.CheckCollisionRequest, False)

_default: Engine | None = None


def local(threads: int = 0, **limits: int) -> Engine:
    """The engine of this process. Without arguments it is the same one each time. `threads` for geometry, 0: one less than
    there are processors; `limits` by the names that `info()` tells, where others than a server's defaults are to hold."""
    global _default
    if threads or limits:
        return Engine(_engine.Engine.inside(threads, limits))
    if _default is None:
        _default = Engine(_engine.Engine.inside(0, {}))
    return _default


def connect(address: str | Sequence[str], *, key: str | None = None, tls: Any = None, attempts: int = 6) -> Engine:
    """A server, `host:port`, or several, of which the next is taken where one stops.

    `key` is an API key. `tls` names the file of authorities (PEM) that are trusted, or is a dictionary: `authorities`,
    for servers that ask for them `certificates` and `key`, all of them files or texts in PEM; and `server_name`. A call is
    tried `attempts` times where trying again helps. It is connected at once; `Error` if nobody answers.
    """
    addresses = [address] if isinstance(address, str) else list(address)
    scheme = "https" if tls else "http"
    addresses = [one if "://" in one else f"{scheme}://{one}" for one in addresses]
    told = tls if isinstance(tls, dict) or not tls else {"authorities": tls}
    texts = {name: _pem(value) if name != "server_name" else value for name, value in (told or {}).items()}
    engine = Engine(_engine.Engine.servers(addresses, key, texts or None, attempts))
    engine._engine.start()
    return engine


def _pem(source: Any) -> str:
    text = os.fspath(source)
    if "-----BEGIN" in text:
        return text
    with open(text, encoding="ascii") as file:
        return file.read()
