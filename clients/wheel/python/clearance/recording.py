"""Recordings of sessions: what the viewer plays, `clearance replay` sends again, and other tools read.

A recording is an MCAP file of the interface's messages, the same as `clearance record` writes beside a server, without what
that adds for Foxglove (docs/viewer.md). `engine.session(..., record=True).recording` is one that grows with its session.
"""
from __future__ import annotations

import gzip
import os
import struct
import time
from pathlib import Path
from typing import Any, Iterator, NamedTuple

from google.protobuf import descriptor_pb2

from . import _wire, messages
from .errors import Code, Error

# Bytes that a recording may have unless it is told otherwise.
BYTES_MAX = 32 << 20

_MAGIC = b"\x89MCAP0\r\n"
_HEADER, _FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 1, 2, 3, 4, 5, 6, 15

# Fields of `Frame`.
_FRAME_ID = 1

_TOPICS = {
    "/clearance/registration": "RegisterPolytopesRequest", "/clearance/robot_registration": "RegisterRobotRequest",
    "/clearance/open": "OpenSessionRequest",
    "/clearance/frame": "Frame", "/clearance/report": "FrameReport", "/clearance/watch": "WatchSessionResponse",
    "/clearance/shape": "GetPolytopeResponse", "/clearance/robot": "Robot",
}


class Recording:
    """A session as it was declared, moved and answered, up to a number of bytes; what comes after these is left out."""

    def __init__(self, bytes_max: int = BYTES_MAX, seconds: float | None = None) -> None:
        """Of at most so many bytes; frames come at the time at which they come, or so many seconds after each other."""
        self.bytes_max, self._seconds, self._begin = bytes_max, seconds, time.time_ns()
        self.left_out = 0
        """Messages that were too many."""
        self._parts = [_MAGIC, _record(_HEADER, _text("clearance") + _text("clearance.recording"))]
        self._bytes = sum(map(len, self._parts))
        self._channels: dict[str, int] = {}
        self._count = 0

    def write(self, topic: str, content: bytes, at: int | None = None) -> None:
        """Adds the bytes of a message of this topic; `at` in nanoseconds since 1970."""
        parts = []
        number = self._channels.get(topic)
        if number is None:
            number = len(self._channels) + 1
            name = f"{messages.PACKAGE}.{_TOPICS[topic]}"
            schema = struct.pack("<H", number) + _text(name) + _text("protobuf") + _blob(_files_of(name))
            channel = struct.pack("<HH", number, number) + _text(topic) + _text("protobuf") + struct.pack("<I", 0)
            parts += [_record(_SCHEMA, schema), _record(_CHANNEL, channel)]
        at = time.time_ns() if at is None else at
        parts.append(_record(_MESSAGE, struct.pack("<HIQQ", number, self._count & 0xFFFFFFFF, at, at) + content))
        more = sum(map(len, parts))
        # After one that is missing all that follows is, too: frames build on those before them.
        if self.left_out or self._bytes + more > self.bytes_max:
            self.left_out += 1
            return
        self._channels[topic] = number
        self._count += 1
        self._parts += parts
        self._bytes += more

    def time(self, frame_id: int) -> int:
        """When a frame comes, nanoseconds since 1970."""
        return time.time_ns() if self._seconds is None else self._begin + int(frame_id * self._seconds * 1e9)

    def content(self) -> bytes:
        """The file."""
        end = _record(_DATA_END, struct.pack("<I", 0)) + _record(_FOOTER, struct.pack("<QQI", 0, 0, 0))
        return b"".join(self._parts) + end + _MAGIC

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file; in gzip if its name ends so."""
        with (gzip.open if os.fspath(path).endswith(".gz") else open)(path, "wb") as file:
            file.write(self.content())

    def __len__(self) -> int:
        """How many messages it has."""
        return self._count

    def __repr__(self) -> str:
        left = f", {self.left_out} left out" if self.left_out else ""
        return f"<recording of {self._count} messages, {self._bytes:,} bytes{left}>"

    def _repr_html_(self) -> str:
        from .showing import Page
        return Page(self.content())._repr_html_()


class Recorded(NamedTuple):
    """A message of a recording."""

    topic: str
    time: int
    """Nanoseconds since 1970."""
    message: Any


def read(source: Recording | bytes | str | os.PathLike[str]) -> Iterator[Recorded]:
    """The interface's messages of a recording, or of the file of one, as far as it goes; in gzip or plain. What is told to
    other tools alone (`/tf`, `/scene`, `/contacts`) is left out: mcap-protobuf-support reads that."""
    content = source.content() if isinstance(source, Recording) else source
    content = content if isinstance(content, bytes) else Path(content).read_bytes()
    if content.startswith(b"\x1f\x8b"):
        content = _unpacked(content)
    if not content.startswith(_MAGIC):
        raise ValueError("this is no recording: an MCAP file begins otherwise")
    return _read(memoryview(content)[len(_MAGIC):], {})


def _unpacked(content: bytes) -> bytes:
    """What is in gzip, as far as it goes."""
    import zlib
    unpacking, parts = zlib.decompressobj(wbits=31), []
    while content:
        try:
            parts.append(unpacking.decompress(content))
        except zlib.error:
            break
        content, unpacking = unpacking.unused_data, zlib.decompressobj(wbits=31)
    return b"".join(parts)


def _read(content: memoryview, topics: dict[int, str]) -> Iterator[Recorded]:
    at = 0
    while at + 9 <= len(content):
        opcode, length = struct.unpack_from("<BQ", content, at)
        body = content[at + 9:at + 9 + length]
        at += 9 + length
        if len(body) < length or opcode == _DATA_END:
            return
        if opcode == _CHANNEL:
            number, _, size = struct.unpack_from("<HHI", body)
            topics[number] = bytes(body[8:8 + size]).decode()
        elif opcode == _MESSAGE:
            number, _, when = struct.unpack_from("<HIQ", body)
            name = _TOPICS.get(topics.get(number, ""))
            if name is not None:
                yield Recorded(topics[number], when, getattr(messages, name).FromString(bytes(body[22:])))
        elif opcode == _CHUNK:
            (size,) = struct.unpack_from("<I", body, 28)
            if size:
                raise ValueError(f"chunks are compressed by {bytes(body[32:32 + size]).decode()}, which is not read here")
            yield from _read(body[40:], topics)


def _record(opcode: int, content: bytes) -> bytes:
    return struct.pack("<BQ", opcode, len(content)) + content


def _blob(content: bytes) -> bytes:
    return struct.pack("<I", len(content)) + content


def _text(content: str) -> bytes:
    return _blob(content.encode())


def _files_of(name: str) -> bytes:
    """The files that a message needs, each after those that it imports."""
    files, taken = descriptor_pb2.FileDescriptorSet(), set()

    def take(file: Any) -> None:
        if file.name in taken:
            return
        taken.add(file.name)
        for other in file.dependencies:
            take(other)
        files.file.append(descriptor_pb2.FileDescriptorProto.FromString(file.serialized_pb))

    take(messages.pool().FindMessageTypeByName(name).file)
    return files.SerializeToString()


class Watch:
    """Watches a session of an engine, and writes down what it is told, and what bodies and robots are made of."""

    def __init__(self, engine: Any, session_id: str, session_key: str, into: Recording) -> None:
        self._engine, self.recording = engine, into
        self._asked = messages.WatchSessionRequest(session_id=session_id, session_key=session_key)
        self._known: set[str] = set()
        self._robots: dict[str, Any] = {}
        self._stream: Any = None
        self.frame_id = -1
        """The last frame that was told."""

    def opened(self, request: bytes, report: bytes) -> None:
        """The session was opened by this request, and answered with this report."""
        asked = messages.OpenSessionRequest.FromString(request)
        asked.ClearField("session_key")
        at = self.recording.time(0)
        self.recording.write("/clearance/open", asked.SerializeToString(), at)
        self.told(at)
        self.recording.write("/clearance/report", report, at)

    def stepped(self, frame: bytes, frame_id: int, report: bytes) -> None:
        """A frame was answered."""
        at = self.recording.time(frame_id)
        frame += _wire.varint(_FRAME_ID << 3) + _wire.varint(frame_id)
        self.recording.write("/clearance/frame", frame, at)
        while self.frame_id < frame_id:
            self.told(at)
        self.recording.write("/clearance/report", report, at)

    def end(self) -> None:
        if self._stream is not None:
            self._stream.cancel()
            self._stream = None

    def told(self, at: int | None = None) -> None:
        """Writes down the next message to those who watch; watches anew where that has ended, as with a server."""
        told = None
        for attempt in (0, 1):
            if self._stream is None:
                self._stream = self._engine.stream("SessionService/WatchSession")
                self._stream.send(self._asked)
                self._stream.end()
            try:
                told = self._stream.receive()
            except Error as error:
                if attempt or error.code not in (Code.UNAVAILABLE, Code.NOT_FOUND):
                    raise
            if told is not None:
                break
            self.end()
        if told is None:
            raise Error(Code.UNAVAILABLE, "the session cannot be watched")
        self.frame_id = told.state.frame_id if told.HasField("state") else max(self.frame_id, told.frame.frame_id)
        self._describe(told, at)
        self.recording.write("/clearance/watch", told.SerializeToString(), at)

    def _describe(self, told: Any, at: int | None) -> None:
        """What robots and bodies are made of that a message brings."""
        bodies = [*told.state.bodies, *told.frame.added_bodies, *told.frame.changed_bodies]
        wanted = [(part.id, part.alias, "") for body in bodies for part in body.parts]
        for robot in [*told.state.robots, *told.frame.added_robots]:
            known = self._robots.get(robot.robot_id)
            if known is None:
                known = self._robots[robot.robot_id] = self._engine.call("RobotService/GetRobot", {"id": robot.robot_id}).robot
                self.recording.write("/clearance/robot", known.SerializeToString(), at)
            wanted += [(part.polytope_id, "", known.id) for part in known.parts]
        for id_, alias, robot_id in wanted:
            if (id_ or alias) and (id_ or alias) not in self._known:
                self._known.add(id_ or alias)
                shape = self._shape({"id": id_} if id_ else {"alias": alias}, robot_id)
                self.recording.write("/clearance/shape", shape.SerializeToString(), at)

    def _shape(self, key: dict[str, str], robot_id: str) -> Any:
        """A shape with its lists, or, where it has none, without."""
        try:
            return self._engine.call("PolytopeService/GetPolytope", {
                **key, "robot_id": robot_id, "with_vertices": True, "with_facets": True, "reply_bytes_max": 64 << 20})
        except Error:
            return self._engine.call("PolytopeService/GetPolytope", {**key, "robot_id": robot_id})
