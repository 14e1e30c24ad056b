"""Lists of numbers as fields of messages: an array's bytes after a tag and a length. Messages concatenate, so these follow
what the protobuf runtime has written, which would take thirty times as long for them."""
from __future__ import annotations

from typing import Any

import numpy as np


def varint(value: int) -> bytes:
    """A length."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def delimited(number: int, content: bytes) -> bytes:
    """A field that is a message, a text, or a list."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def numbers(number: int, values: Any) -> bytes:
    """A list of `double`."""
    return delimited(number, np.ascontiguousarray(values, dtype="<f8").tobytes())


def singles(number: int, values: Any) -> bytes:
    """A list of `float`."""
    return delimited(number, np.ascontiguousarray(values, dtype="<f4").tobytes())


def fixed(number: int, values: Any) -> bytes:
    """A list of `fixed32`."""
    return delimited(number, np.ascontiguousarray(values, dtype="<u4").tobytes())


def counts(number: int, values: Any) -> bytes:
    """A list of `uint32`, which takes a few bytes for each."""
    values = np.ascontiguousarray(values, dtype=np.uint64).ravel()
    if values.size and int(values.max()) >= 1 << 32:
        raise ValueError("an index is too large")
    # Five columns of seven bits, of which each row needs the first few.
    digits = (values[:, None] >> np.array([0, 7, 14, 21, 28], dtype=np.uint64)) & np.uint64(0x7F)
    needed = np.maximum(1, 5 - (digits[:, ::-1] != 0).argmax(axis=1))
    needed[~(digits != 0).any(axis=1)] = 1
    places = np.arange(5)
    digits = digits.astype(np.uint8)
    digits[places[None, :] < needed[:, None] - 1] |= 0x80
    return delimited(number, digits[places[None, :] < needed[:, None]].tobytes())
