"""Pictures for notebooks and pages: the viewer with a recording inside it, which works offline and in files.

Whatever has something to show (a body, a robot, a cell, a session, a recording, an answer) has `_repr_html_`, so a notebook
shows it; `show` makes a page of it anywhere. An answer is shown by a session of what it is about.
"""
from __future__ import annotations

import base64
import gzip
import html
import os
import tempfile
import webbrowser
from pathlib import Path
from typing import Any, Iterable

import numpy as np

from . import _engine, _wire, messages
from .recording import Recording

# Bytes of a recording inside a page, packed: a longer one is cut off there.
PACKED_MAX = 4 << 20

# Configurations or edges of an answer that are shown.
FRAMES_MAX = 60

# Between frames of a scene that is made to be shown.
_SECONDS = 0.5

_HEIGHT = 480

# Fields of `SessionRobot`.
_ROBOT_ID, _ROBOT_BASE, _ROBOT_VALUES = 3, 4, 5

# What a scene that is made to be shown is asked: the nearest pairs with their proofs.
_SHOWN = {"pairs": "PAIR_SELECTION_NONE", "nearest_pairs": 8, "distances": True, "closest_points": True, "depths": True,
          "certificates": True, "normals": True, "placed_parts": True, "packed": False}

# Unpacks the page, and puts it in its own place. Its address is said, since that of a page inside another one is not its own.
_UNPACK = """<!doctype html><meta charset="utf-8"><script>
(async () => {
  const held = Uint8Array.from(atob("PAGE"), (c) => c.charCodeAt(0));
  const text = await new Response(new Blob([held]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const base = location.protocol === "about:" ? '<base href="about:srcdoc">' : "";
  const inside = base + '<script id="recording" type="text/plain">RECORDING<\\/script>';
  document.open();
  document.write(text.replace("<head>", () => "<head>" + inside));
  document.close();
})();
</script>"""


class Page:
    """The viewer with a recording in it. A notebook shows it; elsewhere it is saved or opened."""

    def __init__(self, recording: bytes = b"", height: int = _HEIGHT, address: str = "") -> None:
        """`recording` is a file of one, plain or packed; or `address` is that of a server's page."""
        self.height, self.address = height, address
        if address:
            self._recording = b""
            return
        packed = recording if recording.startswith(b"\x1f\x8b") else gzip.compress(recording, mtime=0)
        self._recording = packed[:PACKED_MAX]
        self.is_cut = len(packed) > PACKED_MAX
        """Whether it is longer than what is in the page."""

    def html(self) -> str:
        """A whole page."""
        if self.address:
            return f'<!doctype html><meta http-equiv="refresh" content="0; url={html.escape(self.address)}">'
        page, recording = (base64.b64encode(part).decode() for part in (_engine.page(), self._recording))
        return _UNPACK.replace("PAGE", page).replace("RECORDING", recording)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page, which needs nothing else."""
        Path(path).write_text(self.html(), encoding="utf-8")

    def open(self) -> None:
        """Opens it in a browser."""
        if self.address:
            webbrowser.open(self.address)
            return
        with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="clearance-", delete=False, encoding="utf-8") as file:
            file.write(self.html())
        webbrowser.open(Path(file.name).as_uri())

    def _repr_html_(self) -> str:
        source = f'src="{html.escape(self.address)}"' if self.address else f'srcdoc="{html.escape(self.html())}"'
        return (f'<iframe {source} style="width:100%;height:{self.height}px;border:0" title="clearance" '
                'allow="fullscreen"></iframe>')


def show(what: Any, *, height: int = _HEIGHT) -> Page:
    """A page that shows a body or several, a robot, a cell, a session, an answer, a recording, the file of one, or the sessions
    of a server by the address of its side port (`http://127.0.0.1:50062`)."""
    if isinstance(what, Page):
        return what
    if isinstance(what, str) and what.startswith(("http://", "https://")):
        return Page(height=height, address=what)
    if isinstance(what, (str, os.PathLike)):
        return Page(Path(what).read_bytes(), height)
    if isinstance(what, Recording):
        return Page(what.content(), height)
    if not hasattr(what, "_recorded"):
        return Page(of_bodies(what if isinstance(what, (list, tuple)) else [what]).content(), height)
    return Page(what._recorded().content(), height)


class Shows:
    """What is shown in notebooks."""

    def _recorded(self) -> Recording:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return show(self)._repr_html_()


class _Said:
    """A body or robot of a scene by its bytes."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def message(self, _: Any) -> bytes:
        return self._content


def of_session(session: Any) -> Recording:
    """A session as it stands now."""
    from .recording import Watch
    recording = Recording()
    watch = Watch(session._engine, session.id, session.key, recording)
    try:
        watch.told()
    finally:
        watch.end()
    return recording


def of_bodies(bodies: Iterable[Any], motions: Iterable[Any] = (), engine: Any = None) -> Recording:
    """Bodies where they are, and, if motions are told, the way that these take."""
    from .client import local
    from .session import Body
    from .shapes import placed
    engine = engine or local()
    placed_bodies = [placed(body) for body in bodies]
    scene = [Body(at + 1, body.shape, *_place(body), name=f"body {at + 1}") for at, body in enumerate(placed_bodies)]
    moving = [(at, motion) for at, motion in enumerate(motions) if motion is not None]
    report = {**_SHOWN, "pairs": "PAIR_SELECTION_ALL" if len(scene) == 2 else _SHOWN["pairs"], "first_contacts": bool(moving)}
    with engine.session(scene, report=report, record=Recording(seconds=_SECONDS)) as session:
        steps = max((motion.steps for _, motion in moving), default=0)
        for step in range(1, steps + 1):
            ends = [motion.at(step / steps, *_place(placed_bodies[at])) for at, motion in moving]
            session.step([at + 1 for at, _ in moving], [end[0] for end in ends], [end[1] for end in ends])
        return session.recording


def _place(body: Any) -> tuple[Any, Any]:
    translation, rotation = body.told
    place = np.asarray(translation, dtype=float)
    return (place[:3, 3], place[:3, :3]) if place.shape == (4, 4) else (place, rotation)


def of_cell(cell: Any, values: Any = None, to: Any = None, engine: Any = None) -> Recording:
    """A cell with its robots at these configurations, n by dof, one a frame; or on their ways to others."""
    from .client import local
    from .session import Body
    engine = engine or local()
    bodies = [Body(at + 1, body.shape, *_place(body), name=name, fixed=True)
              for at, (name, body) in enumerate(cell.obstacles.items())]
    frames = np.atleast_2d(_middle(cell) if values is None else np.asarray(values, dtype=float))
    frames = frames[np.isfinite(frames).all(axis=1)][:FRAMES_MAX]
    if to is not None:
        ends = np.atleast_2d(np.asarray(to, dtype=float))[:len(frames)]
        frames = np.stack([frames, ends], axis=1).reshape(-1, frames.shape[1])
    if not len(frames):
        frames = _middle(cell)[None]
    robots, ids = [], []
    number = len(bodies) + 1
    for robot, base, own in zip(cell.robots, cell._bases, _split(cell, frames[0])):
        head = messages.SessionRobot(id=number, name=robot.name if len(cell.robots) == 1 else f"{robot.name} {len(ids)}",
                                     fixed_base=True).SerializeToString()
        known = _wire.delimited(_ROBOT_ID, engine.register(robot).encode())
        robots.append(_Said(head + known + _wire.delimited(_ROBOT_BASE, base) + _wire.numbers(_ROBOT_VALUES, own)))
        ids.append(number)
        number += len(robot.links)
    with engine.session(bodies, robots, _SHOWN, record=Recording(seconds=_SECONDS)) as session:
        for at, frame in enumerate(frames[1:], 1):
            moves = dict(zip(ids, _split(cell, frame)))
            # From row to row nothing moves; along an edge it does.
            session.step(robots=moves, teleported=to is None or at % 2 == 0,
                         report=messages.ReportOptions(**_SHOWN, first_contacts=to is not None))
        return session.recording


def _split(cell: Any, frame: Any) -> list[Any]:
    """The values of each robot."""
    ends = np.cumsum([robot.dof for robot in cell.robots])
    return [frame[end - robot.dof:end] for robot, end in zip(cell.robots, ends)]


def _middle(cell: Any) -> Any:
    """Joint values of 0, or the nearest to it that are within the limits."""
    return np.concatenate([robot.neutral for robot in cell.robots])
