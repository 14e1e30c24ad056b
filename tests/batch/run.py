#!/usr/bin/env python3
"""Configurations by the million on Ray Data and Dask: the same answers as of one process, also where a worker is killed and where
the whole job is; how fast that is beside one process; and that memory does not grow with the number of rows.

    python3 tests/batch/run.py [--rows N] [--only STEP...]

Needs the wheel, pyarrow, pandas, ray[data], dask[dataframe] (some 700 MB) and aiohttp (without it threads of Ray 2.60 that list
files fail now and then, with "cannot import name 'HTTPFileSystem'"), and runs in a network of its own, in which Ray
finds nothing but this machine (`unshare`). Two logical nodes are two raylets on the processors that are there, so a rate beside
one process compares equal numbers of threads, and the marginal rate, between N and 3 N rows, leaves out what Ray takes to start.
"""
import argparse
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import clearance
import numpy as np
import pyarrow as pa
from clearance import batch
from pyarrow import parquet

# So many files at least, for a job to be killed amid them.
ROWS_OF_A_FILE, FILES_MIN = 25_000, 16
WORKERS = 2
RATE_MIN = 0.85
# A worker may have so much more at the end than after the first third of the rows.
GROWTH_MAX_BYTES = 48 << 20
DEADLINE_SECONDS = 1200
STORE_BYTES, BLOCK_BYTES = 1 << 30, 16 << 20
STEPS = ["ray", "rate", "killed", "resumed", "dask"]


def cell():
    """An arm of six joints among twenty boxes."""
    links = "".join(f'<link name="link{i}"><collision><origin xyz="0 0 0.15"/><geometry><box size="0.08 0.08 0.26"/></geometry>'
                    "</collision></link>" for i in range(7))
    joints = "".join(f'<joint name="joint{i}" type="revolute"><parent link="link{i}"/><child link="link{i + 1}"/>'
                     f'<origin xyz="0 0 0.3"/><axis xyz="{i % 2} {(i + 1) % 2} 0"/>'
                     '<limit lower="-2.5" upper="2.5" effort="1" velocity="1"/></joint>' for i in range(6))
    robot = clearance.Robot.from_urdf(f'<robot name="arm">{links}{joints}</robot>')
    random = np.random.default_rng(3)
    place = lambda: [random.choice([-1, 1]) * random.uniform(.4, 1.2), random.uniform(-1.2, 1.2), random.uniform(0, 1.6)]
    return clearance.Cell(robot, [clearance.box(.1, .15, .2).at(place()) for _ in range(20)])


def rows_of_a_file(rows):
    return max(1, min(ROWS_OF_A_FILE, rows // FILES_MIN))


def write(folder, rows):
    """Files of configurations with the number of each row; their paths."""
    folder.mkdir(exist_ok=True)
    paths = []
    most = rows_of_a_file(rows)
    for first in range(0, rows, most):
        count = min(most, rows - first)
        values = np.random.default_rng(first).uniform(-2.5, 2.5, (count, 6))
        table = pa.table({"row": np.arange(first, first + count), "q": batch.column(values)})
        paths.append(folder / f"{first:09}.parquet")
        parquet.write_table(table, paths[-1], compression="none")
    return [str(path) for path in paths]


class Answers:
    """Answers by the number of their row, in whatever order they come."""

    def __init__(self, rows):
        self.verdicts, self.lower, self.upper = np.full(rows, 99, np.uint8), np.full(rows, np.nan), np.full(rows, np.nan)

    def take(self, table):
        row = np.array(table["row"])
        self.verdicts[row] = np.array(table["verdict"])
        self.lower[row], self.upper[row] = np.array(table["clearance_lower"]), np.array(table["clearance_upper"])

    def digest(self):
        assert (self.verdicts != 99).all(), f"{(self.verdicts == 99).sum()} rows have no answer"
        parts = (self.verdicts, self.lower, self.upper)
        return hashlib.blake2b(b"".join(part.tobytes() for part in parts), digest_size=16).hexdigest()


def asked(threads):
    return {"mode": clearance.Mode.CLEARANCE, "threads": threads}


def direct(paths, rows):
    """One process, with as many threads as the workers have together: digest and seconds."""
    checker, answers = batch.Checker(cell(), "q", **asked(WORKERS)), Answers(rows)
    checker.schema(pa.schema({"q": pa.list_(pa.float64(), 6)}))  # It registers what it asks about.
    begin = time.perf_counter()
    for path in paths:
        answers.take(checker(parquet.read_table(path)))
    return answers.digest(), time.perf_counter() - begin


class Noted(batch.Checker):
    """A checker that notes its process, and is killed within a batch where that is wanted, once."""

    def __init__(self, *arguments, notes, kills=False, **named):
        super().__init__(*arguments, **named)
        self.notes, self.kills, self.batches = notes, kills, 0
        pathlib.Path(notes, str(os.getpid())).touch()

    def __call__(self, rows):
        self.batches += 1
        if self.kills and self.batches == 3:
            try:
                os.close(os.open(os.path.join(self.notes, "killed"), os.O_CREAT | os.O_EXCL))
                threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGKILL)).start()
            except FileExistsError:
                pass
        return super().__call__(rows)


class Memory(threading.Thread):
    """Looks at what workers have of their own, until it is told to stop: at each look how many rows are done, and the most."""

    def __init__(self, notes):
        super().__init__(daemon=True)
        self.notes, self.rows, self.looks, self.done = notes, 0, [], threading.Event()

    def run(self):
        while not self.done.wait(0.5):
            most = 0
            for name in filter(str.isdigit, os.listdir(self.notes)):
                try:
                    status = pathlib.Path("/proc", name, "status").read_text()
                except OSError:
                    continue
                most = max(most, int(status.partition("RssAnon:")[2].split()[0]) << 10)
            self.looks.append((self.rows, most))

    def growth(self, rows):
        """From the most of the second sixth of the rows to that of the last third."""
        early = [most for done, most in self.looks if rows / 6 <= done <= rows / 3]
        late = [most for done, most in self.looks if done >= rows * 2 / 3]
        return (max(late) - max(early), max(late)) if early and late else (0, 0)


def ray_data(paths, rows, notes, kills=False):
    """Ray Data on two logical nodes: digest, seconds, and how the workers' memory grew."""
    import ray.data
    for name in os.listdir(notes):
        os.unlink(os.path.join(notes, name))
    answers, memory = Answers(rows), Memory(notes)
    memory.start()
    begin = time.perf_counter()
    data = ray.data.read_parquet(paths).map_batches(
        Noted, fn_constructor_args=(cell(), "q"), fn_constructor_kwargs={"notes": notes, "kills": kills, **asked(1)},
        batch_format="pyarrow", batch_size=rows_of_a_file(rows), compute=ray.data.ActorPoolStrategy(size=WORKERS), num_cpus=1)
    for table in data.select_columns(["row", "verdict", "clearance_lower", "clearance_upper"]).iter_batches(
            batch_format="pyarrow", batch_size=None):
        answers.take(table)
        memory.rows += len(table)
    took = time.perf_counter() - begin
    memory.done.set()
    if kills:
        assert os.path.exists(os.path.join(notes, "killed")), "nobody was killed"
    return answers.digest(), took, memory.growth(rows)


def nodes():
    """Two logical nodes; with one processor each, reading would wait for ever beside the workers."""
    import ray
    import ray.data
    from ray.cluster_utils import Cluster
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "object_store_memory": STORE_BYTES,
                                                           "include_dashboard": False})
    cluster.add_node(num_cpus=2, object_store_memory=STORE_BYTES)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    # Each stage reserves some blocks of the store; with fewer bytes than those reading never begins, and nobody says so.
    context.target_max_block_size = BLOCK_BYTES
    return cluster


def job(source, target):
    """What a job does that may be begun again: each file that is missing is answered, by whichever worker is free."""
    import ray.data
    nodes()
    wanted = [{"source": str(path)} for path in sorted(pathlib.Path(source).iterdir())]

    class Files:
        def __init__(self):
            self.checker = batch.Checker(cell(), "q", **asked(1))

        def __call__(self, rows):
            return pa.table({"path": [self.checker.file(path.as_py(), target) for path in rows["source"]]})

    data = ray.data.from_items(wanted, override_num_blocks=len(wanted)).map_batches(
        Files, batch_format="pyarrow", batch_size=1, compute=ray.data.ActorPoolStrategy(size=WORKERS), num_cpus=1)
    print(data.count(), "files")


def resumed(source, target, rows):
    """The job, killed with all that it started when a third of the files is there, and begun again: digest, and how many
    files the second one found."""
    own = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, __file__, "--job", source, target]
    files = lambda: sorted(path for path in pathlib.Path(target).glob("*.parquet"))
    pathlib.Path(target).mkdir()
    first = subprocess.Popen(own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wanted = len(os.listdir(source))
    deadline = time.monotonic() + DEADLINE_SECONDS
    while len(files()) < wanted // 3:
        assert first.poll() is None and time.monotonic() < deadline, f"it ended by itself: {first.returncode}"
        time.sleep(0.05)
    first.kill()
    first.wait()
    found = {path: path.stat().st_mtime_ns for path in files()}
    assert len(found) < wanted, "it was done before it was killed"
    subprocess.run(own, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=DEADLINE_SECONDS)
    assert all(path.stat().st_mtime_ns == when for path, when in found.items()), "what was there was made again"
    answers = Answers(rows)
    for path in files():
        answers.take(parquet.read_table(path))
    return answers.digest(), len(found)


def dask_frames(paths, rows):
    """Dask in two processes."""
    import dask.dataframe as frames
    import pandas
    read = lambda path: pandas.read_parquet(path, dtype_backend="pyarrow")
    checker = batch.Checker(cell(), "q", **asked(1))
    frame = frames.from_map(read, paths)
    answered = frame.map_partitions(checker, meta=checker(frame._meta))
    wanted = answered[["row", "verdict", "clearance_lower", "clearance_upper"]]
    begin = time.perf_counter()
    told = wanted.compute(scheduler="processes", num_workers=WORKERS)
    answers = Answers(rows)
    answers.take(pa.Table.from_pandas(told, preserve_index=False))
    return answers.digest(), time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="*", default=STEPS, choices=STEPS)
    parser.add_argument("--job", nargs=2)
    options = parser.parse_args()
    if options.job:
        return job(*options.job)
    if os.environ.get("CLEARANCE_BATCH_NETWORK") != "own":
        os.environ.update(CLEARANCE_BATCH_NETWORK="own", RAY_USAGE_STATS_ENABLED="0")
        inside = 'ip link set lo up && exec "$@"'
        os.execvp("unshare", ["unshare", "--net", "sh", "-c", inside, "sh", sys.executable, *sys.argv])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="clearance-batch-"))
    watch = threading.Timer(DEADLINE_SECONDS * 2, os._exit, (1,))
    watch.daemon = True
    watch.start()
    try:
        wrong = run(folder, options.rows, options.only)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for line in wrong:
        print(f"BROKEN: {line}")
    print(f"{len(options.only) - len(wrong)} passed, {len(wrong)} failed", flush=True)
    # Ray's threads would be waited for.
    os._exit(1 if wrong else 0)


def run(folder, rows, steps):
    wrong = []
    source = folder / "rows"
    paths = write(source, rows)
    expected, took = direct(paths, rows)
    print(f"one process: {rows:,} configurations in {took:.1f} s, {expected}", flush=True)

    def compare(step, digest):
        if digest != expected:
            wrong.append(f"{step}: {digest} and not {expected}")

    if "dask" in steps:
        digest, seconds = dask_frames(paths, rows)
        compare("dask", digest)
        print(f"Dask: {seconds:.1f} s, {digest}", flush=True)
    if "resumed" in steps:
        digest, found = resumed(str(source), str(folder / "answers"), rows)
        compare("resumed", digest)
        print(f"a job of Ray that was killed, and resumed with {found} of {len(paths)} files: {digest}", flush=True)
    if {"ray", "rate", "killed"} & set(steps):
        wrong += ray_steps(folder, paths, rows, steps, (expected, took))
    return wrong


def ray_steps(folder, paths, rows, steps, one):
    wrong, (expected, took) = [], one
    notes = folder / "notes"
    notes.mkdir()
    nodes()
    digest, small, _ = ray_data(paths, rows, str(notes))
    print(f"Ray on two nodes: {small:.1f} s, {digest}", flush=True)
    if digest != expected:
        wrong.append(f"ray: {digest} and not {expected}")
    if "killed" in steps:
        digest, seconds, _ = ray_data(paths, rows, str(notes), kills=True)
        print(f"with a worker killed by SIGKILL: {seconds:.1f} s, {digest}", flush=True)
        if digest != expected:
            wrong.append(f"killed: {digest} and not {expected}")
    if "rate" in steps:
        many = write(folder / "more", 3 * rows)
        own_digest, own = direct(many, 3 * rows)
        digest, large, (growth, most) = ray_data(many, 3 * rows, str(notes))
        marginal, alone = 2 * rows / (large - small), 2 * rows / (own - took)
        print(f"marginal: Ray {marginal:,.0f}/s, one process {alone:,.0f}/s, {100 * marginal / alone:.1f} %; "
              f"a worker has {most / 1e6:.0f} MB, {growth / 1e6:+.1f} MB over the last two thirds", flush=True)
        if digest != own_digest or marginal < RATE_MIN * alone or growth > GROWTH_MAX_BYTES:
            wrong.append("rate: another answer, too slow, or memory grows")
    return wrong


if __name__ == "__main__":
    main()
