"""The same for asyncio: `await aio.of(engine).check(...)`. Each call waits on a thread of the loop's executor, without
Python's lock; one whose task is cancelled goes on there until it is answered."""
from __future__ import annotations

import asyncio
import functools
from typing import Any


class AsyncEngine:
    """Every method of an engine that asks, as one that is awaited."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.engine, name)

        @functools.wraps(method)
        async def awaited(*arguments: Any, **named: Any) -> Any:
            return _awaitable(await asyncio.to_thread(method, *arguments, **named))

        return awaited


class AsyncSession:
    """A session, or a stream, whose methods are awaited."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if not callable(found):
            return found

        @functools.wraps(found)
        async def awaited(*arguments: Any, **named: Any) -> Any:
            return await asyncio.to_thread(found, *arguments, **named)

        return awaited

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(self, *told: Any) -> None:
        await asyncio.to_thread(self.inner.__exit__, *told)

    async def __aiter__(self) -> Any:
        while (message := await asyncio.to_thread(self.inner.receive)) is not None:
            yield message


def _awaitable(answer: Any) -> Any:
    from .client import Stream
    from .session import Session
    return AsyncSession(answer) if isinstance(answer, (Session, Stream)) else answer


def of(engine: Any) -> AsyncEngine:
    """An engine whose methods are awaited."""
    return AsyncEngine(engine)
