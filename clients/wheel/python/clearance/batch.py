"""Configurations and edges by the million, on engines that others made: record batches of Arrow go in, and come out with
the answers as columns more.

    import pyarrow as pa
    from clearance import batch
    checker = batch.Checker(cell, "q", mode=clearance.Mode.CLEARANCE)
    answered = checker(pa.record_batch({"q": batch.column(values)}))       # and verdict, clearance_lower, ... of each row

A `Checker` is what Ray Data, Dask and Spark call with each batch (docs/python.md). It goes to another process by pickle, as
what it was made from: cell and robot go there once, and the engine is started, and the cell registered, with the first batch.
An answer depends on its row alone, so it is the same however rows are cut, wherever they are answered, and whether that was
tried once or twice. Needs pyarrow (`pip install clearance[batch]`).
"""
from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Iterable, Iterator, Sequence

import numpy as np

try:
    import pyarrow as pa
except ImportError as error:
    raise ImportError("clearance.batch needs pyarrow: pip install clearance[batch]") from error

from ._progress import Bar
from .client import Engine, local
from .robots import Cell, Mode, Robot

# Rows that are asked about at once, so that what a question takes does not grow with what comes in one piece.
_ROWS = 1 << 16

_ANSWERS = {Mode.FIRST_PAIR, Mode.CLEARANCE, Mode.LINK_CLEARANCE}


def column(values: Any) -> pa.FixedSizeListArray:
    """Configurations, an array of n by dof, as a column; its numbers are not copied if they are f64 in rows."""
    rows = np.ascontiguousarray(values, dtype=float)
    if rows.ndim != 2:
        raise ValueError(f"configurations are an array of n by dof, not of the shape {rows.shape}")
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])


class Checker:
    """Answers record batches: of each row whether its configuration is free, or, with `to`, the edge to another one."""

    def __init__(self, cell: Cell | Robot, values: str | Sequence[str] = "q", *, to: str | Sequence[str] | None = None,
                 mode: Mode = Mode.FIRST_PAIR, threads: int = 0, engine: Callable[[], Engine] | None = None,
                 margin: float = 0.0, timeout: float | None = None) -> None:
        """`values` is the column of configurations, lists of dof numbers, or the columns of their values, one each; `to`
        those where edges end, of which `margin` is asked.

        The engine is that of the process that answers, with a pool of its own of `threads` if these are given; or what
        the function `engine` makes there, such as `lambda: clearance.connect("host:50061")`.
        """
        if mode not in _ANSWERS:
            raise ValueError("a row has one answer: of all pairs Engine.check tells")
        self.cell = cell if isinstance(cell, Cell) else Cell(cell)
        self.values, self.to, self.mode, self.margin, self.timeout = values, to, Mode(mode), margin, timeout
        self._threads, self._make = threads, engine
        self._engine: Engine | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_engine": None}

    @property
    def engine(self) -> Engine:
        """What answers; it is made when it is first asked for."""
        if self._engine is None:
            self._engine = self._make() if self._make is not None else local(threads=self._threads)
        return self._engine

    def __call__(self, rows: Any) -> Any:
        """The same rows with their answers: of a RecordBatch, a Table or a DataFrame of pandas one of the same kind."""
        if isinstance(rows, pa.RecordBatch):
            return _with(rows, self._answered(rows))
        if isinstance(rows, pa.Table):
            return self._table(rows)
        if hasattr(rows, "iloc"):
            return self._frame(rows)
        raise TypeError(f"a {type(rows).__name__} is no RecordBatch, no Table and no DataFrame")

    def map(self, batches: Iterable[Any], *, progress: Any = False, total: int | None = None) -> Iterator[Any]:
        """Answers one after the other, as `mapInArrow` of Spark wants it. With `progress` a bar counts rows, of which
        there are `total`."""
        done = 0
        with Bar(progress, total, "rows") as bar:
            for rows in batches:
                answered = self(rows)
                done += len(answered)
                if bar.tell is not None:
                    bar.tell(done)
                yield answered

    def file(self, source: str | os.PathLike[str], folder: str | os.PathLike[str], *, progress: Any = False) -> str:
        """Answers a file of record batches (Arrow IPC, or Parquet by its name) into one of the same name in `folder`; its
        path. It appears there when it is whole, and if it is there already nothing is done: whoever was killed begins
        again with the files that are missing."""
        path = os.path.join(os.fspath(folder), os.path.basename(os.fspath(source)))
        if os.path.exists(path):
            return path
        os.makedirs(folder, exist_ok=True)
        reads, writes = (_parquet_batches, _parquet_writer) if path.endswith(".parquet") else (_ipc_batches, _ipc_writer)
        handle, unfinished = tempfile.mkstemp(prefix=".unfinished-", dir=folder)
        os.close(handle)
        try:
            schema, total, batches = reads(os.fspath(source))
            with writes(unfinished, self.schema(schema)) as writer:
                for answered in self.map(batches, progress=progress, total=total):
                    writer.write_batch(answered)
            os.replace(unfinished, path)
        except BaseException:
            os.unlink(unfinished)
            raise
        return path

    def schema(self, of: pa.Schema) -> pa.Schema:
        """The columns of what is answered about rows of these columns."""
        return self(pa.RecordBatch.from_arrays([pa.array([], type=field.type) for field in of], schema=of)).schema

    # ---- kinds of rows

    def _table(self, rows: pa.Table) -> pa.Table:
        pieces = [self(piece) for piece in rows.to_batches(max_chunksize=_ROWS)]
        return pa.Table.from_batches(pieces, None if pieces else self.schema(rows.schema))

    def _frame(self, rows: Any) -> Any:
        import pandas
        said = [one for one in (self.values, self.to) if one is not None]
        lists = {one: _of_pandas(rows[one], True) for one in said if isinstance(one, str)}
        lists |= {name: _of_pandas(rows[name], False) for one in said if not isinstance(one, str) for name in one}
        answered = self._answered(pa.RecordBatch.from_arrays(list(lists.values()), names=list(lists)))
        whole = rows.copy(deep=False)
        for name, answers in answered.items():
            if name in whole.columns:
                raise ValueError(_taken(name))
            kind = pandas.ArrowDtype(answers.type)
            whole[name] = pandas.Series(pandas.arrays.ArrowExtensionArray(answers), index=rows.index, dtype=kind)
        return whole

    # ---- answers

    def _answered(self, rows: pa.RecordBatch) -> dict[str, pa.Array]:
        pieces = [self._piece(rows.slice(at, _ROWS)) for at in range(0, max(rows.num_rows, 1), _ROWS)]
        if len(pieces) == 1:
            return pieces[0]
        return {name: pa.concat_arrays([piece[name] for piece in pieces]) for name in pieces[0]}

    def _piece(self, rows: pa.RecordBatch) -> dict[str, pa.Array]:
        width = self.cell.width
        values = _numbers(rows, self.values, width)
        if self.to is not None:
            told = self.engine.check_edges(self.cell, values, _numbers(rows, self.to, width), margin=self.margin,
                                           timeout=self.timeout)
            answers = {"outcome": pa.array(told.outcomes.view(np.int8)), "free_until": _known(told.free_until)}
            return {**answers, **_pairs(told.near, rows.num_rows), "reason": _reasons(told)}
        told = self.engine.check(self.cell, values, mode=self.mode, timeout=self.timeout)
        answers = {"verdict": pa.array(told.verdicts.view(np.int8))}
        if self.mode == Mode.FIRST_PAIR:
            return {**answers, **_pairs(told.contacts, rows.num_rows), "reason": _reasons(told)}
        links = self.cell.moving_links if self.mode == Mode.LINK_CLEARANCE else 0
        for name, bounds in (("clearance_lower", told.lower), ("clearance_upper", told.upper)):
            known = _known(bounds.ravel())
            answers[name] = pa.FixedSizeListArray.from_arrays(known, links) if links else known
        if not links:
            unknown = np.isnan(told.lower)
            for at, name in enumerate(("body_a", "body_b")):
                answers[name] = pa.array(told.pairs[:, at].astype(np.int32), mask=unknown)
        return {**answers, "reason": _reasons(told)}


def _known(numbers: Any) -> pa.Array:
    """Numbers, and nothing where they are NaN."""
    return pa.array(numbers, mask=np.isnan(numbers))


def _pairs(listed: Any, count: int) -> dict[str, pa.Array]:
    """The two bodies that rows are told about, of which each has at most one pair."""
    bodies, unknown = np.zeros((count, 2), np.int32), np.ones(count, bool)
    bodies[listed[:, 0]], unknown[listed[:, 0]] = listed[:, 1:], False
    return {name: pa.array(bodies[:, at].copy(), mask=unknown) for at, name in enumerate(("body_a", "body_b"))}


def _reasons(told: Any) -> pa.Array:
    """Why rows were not answered."""
    reasons: list[str | None] = [None] * told.count
    for refused in told.refused:
        reasons[refused.index:refused.index + refused.count] = [refused.reason] * refused.count
    return pa.array(reasons, type=pa.string())


def _with(rows: pa.RecordBatch, answers: dict[str, pa.Array]) -> pa.RecordBatch:
    for name in answers:
        if name in rows.schema.names:
            raise ValueError(_taken(name))
    schema = rows.schema
    for name, answer in answers.items():
        schema = schema.append(pa.field(name, answer.type))
    return pa.RecordBatch.from_arrays([*rows.columns, *answers.values()], schema=schema)


def _taken(name: str) -> str:
    return f"column {name!r}: an answer has this name"


# ---- values of columns

def _numbers(rows: pa.RecordBatch, said: str | Sequence[str], width: int) -> Any:
    """Configurations as an array of n by width. Rows without one become NaN, which the engine refuses by name."""
    if not isinstance(said, str):
        if len(said) != width:
            raise ValueError(f"{len(said)} columns for configurations of {width} values")
        columns = [_float(_named(rows, name), name).to_numpy(zero_copy_only=False) for name in said]
        return np.stack(columns, axis=1) if columns else np.zeros((rows.num_rows, 0))
    lists = _named(rows, said)
    if isinstance(lists, pa.ExtensionArray):  # Tensors of Ray, and those of Arrow.
        lists = lists.storage
    if pa.types.is_fixed_size_list(lists.type):
        if lists.type.list_size != width:
            raise ValueError(f"column {said!r}: lists of {lists.type.list_size} values for configurations of {width}")
        flat = lists.values.slice(lists.offset * width, len(lists) * width)
    elif pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type):
        lists, flat = _even(lists, said, width)
    else:
        raise ValueError(f"column {said!r}: {lists.type} is no list of numbers")
    values = _float(flat, said).to_numpy(zero_copy_only=False).reshape(-1, width)
    if lists.null_count:
        values = np.where(np.asarray(lists.is_null())[:, None], np.nan, values)
    return values


def _even(lists: Any, said: str, width: int) -> tuple[Any, Any]:
    """Lists that may be of any length, as long as each has `width` numbers."""
    offsets = np.asarray(lists.offsets)
    lengths = np.diff(offsets)
    missing = np.asarray(lists.is_null())
    wrong = np.flatnonzero((lengths != width) & ~missing)
    if len(wrong):
        raise ValueError(f"column {said!r}, row {wrong[0]}: {lengths[wrong[0]]} values for configurations of {width}")
    if not missing.any():
        return lists, lists.values.slice(offsets[0], offsets[-1] - offsets[0])
    taken = np.where(missing[:, None], 0, offsets[:-1, None] + np.arange(width)).ravel()
    if not len(lists.values):
        return lists, pa.array(np.full(len(taken), np.nan))
    return lists, lists.values.take(pa.array(taken))


def _named(rows: pa.RecordBatch, name: str) -> Any:
    at = rows.schema.get_field_index(name)
    if at < 0:
        raise ValueError(f"there is no column {name!r}, or there are several; {rows.schema.names} are there")
    return rows.column(at)


def _float(numbers: Any, name: str) -> Any:
    kind = numbers.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise ValueError(f"column {name!r}: {kind} is no kind of number")
    return numbers if kind == pa.float64() else numbers.cast(pa.float64())


def _of_pandas(series: Any, is_lists: bool) -> pa.Array:
    """A column of a frame: lists of numbers, or numbers."""
    kind = getattr(series.dtype, "pyarrow_dtype", None)
    if kind is not None:
        chunks = pa.array(series) if not hasattr(series.array, "__arrow_array__") else series.array.__arrow_array__()
        return chunks.combine_chunks() if isinstance(chunks, pa.ChunkedArray) else chunks
    return pa.array(series, type=pa.list_(pa.float64())) if is_lists else pa.array(series)


# ---- files

def _ipc_batches(path: str) -> tuple[pa.Schema, int | None, Iterator[pa.RecordBatch]]:
    reader = pa.ipc.open_file(pa.memory_map(path))
    return reader.schema, None, (reader.get_batch(at) for at in range(reader.num_record_batches))


def _ipc_writer(path: str, schema: pa.Schema) -> Any:
    return pa.ipc.new_file(path, schema)


def _parquet_batches(path: str) -> tuple[pa.Schema, int | None, Iterator[pa.RecordBatch]]:
    from pyarrow import parquet
    file = parquet.ParquetFile(path)
    return file.schema_arrow, file.metadata.num_rows, file.iter_batches(batch_size=_ROWS)


def _parquet_writer(path: str, schema: pa.Schema) -> Any:
    from pyarrow import parquet
    return parquet.ParquetWriter(path, schema)
