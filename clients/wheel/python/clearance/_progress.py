"""Bars that show how far something is: of tqdm where that is installed, else a line on the standard error."""
from __future__ import annotations

import sys
import time
from typing import Any, Callable

# Seconds between two looks of a line, and how wide its bar is.
_EVERY = 0.2
_WIDTH = 30


class Bar:
    """What is told how far something is. `wanted`: False, True, or a function of how many are done and of how many."""

    def __init__(self, wanted: Any, total: int | None, what: str) -> None:
        """`total` is how many there are, None: nobody knows; `what` says what is counted."""
        self._wanted, self._total, self._what = wanted, total, what
        self._line: Any = None
        self._done = 0

    @property
    def tell(self) -> Callable[[int], None] | None:
        """To be called with how many are done; None: nobody wants to know."""
        return self._tell if self._wanted else None

    def _tell(self, done: int) -> None:
        self._done = done if self._total is None else min(done, self._total)
        if callable(self._wanted):
            self._wanted(self._done, self._total)
        else:
            self._line = self._line or _line(self._total, self._what)
            self._line.show(self._done)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if not self._wanted:
            return
        if kind is None:
            self._tell(self._done if self._total is None else self._total)
        if self._line is not None:
            self._line.end()


def _line(total: int | None, what: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Plain(total, what)
    return _Tqdm(tqdm(total=total, unit=f" {what}"))


class _Tqdm:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def show(self, done: int) -> None:
        self._bar.update(done - self._bar.n)

    def end(self) -> None:
        self._bar.close()


class _Plain:
    """A line that is written over itself."""

    def __init__(self, total: int | None, what: str) -> None:
        self._total, self._what, self._shown = total, what, float("-inf")

    def show(self, done: int) -> None:
        now = time.monotonic()
        if now - self._shown < _EVERY and done != self._total:
            return
        self._shown = now
        if self._total is None:
            text = f"{done:,} {self._what}"
        else:
            part = done / self._total if self._total else 1.0
            full = int(part * _WIDTH)
            text = f"[{'#' * full}{'.' * (_WIDTH - full)}] {done:,} of {self._total:,} {self._what}"
        sys.stderr.write(f"\r{text}")
        sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write("\n")
        sys.stderr.flush()
