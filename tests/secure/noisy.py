#!/usr/bin/env python3
"""What one tenant does, another may notice by twice its time at most, 99 of 100.

The quiet one asks small questions, questions for the pool (the hull of 1,000 points is built for each) and moves a session, each
from a connection of its own, one call after the other. The noisy one asks without end over sixteen connections, as its own
process, which gives way to the server: it stands for other machines. Rounds go in turns, quiet, noisy, quiet …, so that what
the machine does meanwhile is in both.

    questions      first contacts of two balls that turn, some milliseconds each, 64 at a time
    registrations  bodies of 50,000 points, eight at a time, deleted afterwards
    sessions       300 sessions of 40 bodies that all move, 16 frames at a time

Needs grpcio.
usage: noisy.py CLEARANCE [--rounds 5] [--seconds 4] [--noise questions,registrations,sessions,all]
"""
import argparse, math, multiprocessing, os, pathlib, random, statistics, sys, tempfile, threading, time

from calling import Bring, CUBE, Report, Server, key_line, put, reflected
import grpc

TIMES = 2
# Below that it is the machine: two processors, which asker, server and noise share.
SLACK = {"small": 0.002, "pooled": 0.02, "frame": 0.002}
CONNECTIONS = 16
KINDS = ("questions", "registrations", "sessions")


def ball(count):
    points = []
    for k in range(count):
        z = (2 * k + 1) / count - 1
        radius, turn = math.sqrt(1 - z * z), k * 2.4
        points += [radius * math.cos(turn), radius * math.sin(turn), z]
    return points


class Asker:
    """Calls with the key of a tenant."""

    def __init__(self, wire, address, key):
        self.wire, self.address, self.key = wire, address, key

    def channel(self):
        return Bring.over(grpc.insecure_channel(self.address, [("grpc.use_local_subchannel_pool", 1)]), self.key)

    def call(self, channel, method, request, timeout=60):
        return self.wire.call(method, request, timeout, channel)


def jobs(asker, kind):
    """What each thread of the noise does again and again."""
    channels = [asker.channel() for _ in range(CONNECTIONS)]
    if kind == "questions":
        turns = {"screw": {"velocity": {"x": -0.45}, "axis": {"x": 0.3, "y": 1, "z": 0.2}, "angle": 60}}
        question = asker.wire.make("FindFirstContact", {"p": {"alias": "ball"}, "q": {"alias": "ball", "pose": {"translation": {"x": 2.5}}},
                                                        "qMotion": turns})
        return [lambda c=c: asker.call(c, "FindFirstContact", question) for c in channels for _ in range(4)]
    if kind == "registrations":
        points = ball(50_000)

        def registers(channel, number):
            body = asker.wire.make("RegisterPolytopes", {"polytopes": [{}]})
            # Each its own.
            body.polytopes[0].vertices.xyz.extend([1 + number / 1000, *points[1:]])

            def register():
                reply = asker.call(channel, "RegisterPolytopes", body)
                if reply.code == "OK":
                    asker.call(channel, "DeletePolytope", {"id": reply.message.reports[0].polytope.id})
            return register
        return [registers(channel, number) for number, channel in enumerate(channels[:8])]

    def moves(channel, numbers):
        draw, frames = random.Random(numbers[0]), dict.fromkeys(numbers, 0)
        bodies = [{"id": k + 1, "parts": [{"vertices": {"xyz": CUBE}}]} for k in range(40)]
        report = {"pairs": "PAIR_SELECTION_ALL", "distances": True, "firstContacts": True}
        opening = asker.wire.make("OpenSession", {"state": {"bodies": bodies}, "report": report, "replace": True})
        for number in numbers:
            opening.session_id = f"noise-{number}"
            asker.call(channel, "OpenSession", opening)

        def move():
            number = draw.choice(numbers)
            frames[number] += 1
            poses = {"ids": list(range(1, 41)), "translations": [draw.uniform(-4, 4) for _ in range(120)]}
            asker.call(channel, "StepSession", {"sessionId": f"noise-{number}", "frames": [{"frameId": str(frames[number]), "packedPoses": poses}]})
        return move
    return [moves(channel, list(range(k, 300, CONNECTIONS))) for k, channel in enumerate(channels)]


def noise(options, key, address, loud, kinds, counts):
    """A process of its own, which is loud while it is told to."""
    os.nice(19)
    asker = Asker(reflected(options.clearance), address, key)
    channel = asker.channel()
    assert asker.call(channel, "RegisterPolytopes", {"polytopes": [{"alias": "ball", "vertices": {"xyz": ball(1290)}}]}).code == "OK"

    def repeat(kind, job):
        while True:
            loud.wait()
            if kinds.value.decode() in (kind, "all"):
                job()
                with counts.get_lock():
                    counts[KINDS.index(kind)] += 1
            else:
                time.sleep(0.05)
    for kind in KINDS:
        for job in jobs(asker, kind):
            threading.Thread(target=repeat, args=(kind, job), daemon=True).start()
    kinds.value = b"ready"
    threading.Event().wait()


class Quiet:
    """Whoever asks a little, and how long that takes."""

    def __init__(self, asker):
        self.asker, self.times = asker, None
        body = {"parts": [{"vertices": {"xyz": CUBE}}]}
        bodies = [{**body, "id": k + 1, "pose": {"translation": {"x": 2.0 * k}}} for k in range(4)]
        asker.call(asker.channel(), "OpenSession", {"sessionId": "quiet", "state": {"bodies": bodies}, "replace": True})
        cube = {"vertices": {"xyz": CUBE}, "pose": {"translation": {"x": 3}}}
        make = asker.wire.make
        small = make("CheckCollision", {"p": {"vertices": {"xyz": CUBE}}, "q": cube})
        pooled = make("CheckCollision", {"p": {"vertices": {"xyz": ball(1000)}}, "q": cube})
        self.frame = 0

        def frame():
            self.frame += 1
            poses = {"ids": [1], "translations": [self.frame % 3, 0, 0]}
            return make("StepSession", {"sessionId": "quiet", "frames": [{"frameId": str(self.frame), "packedPoses": poses}]})
        self.ways = {"small": ("CheckCollision", lambda: small, 0.005), "pooled": ("CheckCollision", lambda: pooled, 0.02),
                     "frame": ("StepSession", frame, 0.005)}
        self.refused = []

    def round(self, seconds, times):
        """Each kind of call for so long."""
        end = time.monotonic() + seconds

        def ask(name):
            method, request, pause = self.ways[name]
            channel = self.asker.channel()
            self.asker.call(channel, "Check", {})
            while time.monotonic() < end:
                message, start = request(), time.monotonic()
                reply = self.asker.call(channel, method, message)
                times[name].append(time.monotonic() - start)
                if reply.code != "OK":
                    self.refused.append(repr(reply))
                time.sleep(pause)
        threads = [threading.Thread(target=ask, args=(name,)) for name in self.ways]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def p99(times):
    return sorted(times)[min(len(times) - 1, int(0.99 * len(times)))]


def compare(kind, options, quiet, loud, kinds, counts, report):
    times = {which: {name: [] for name in quiet.ways} for which in (False, True)}
    kinds.value = kind.encode()
    before = list(counts)
    for _ in range(options.rounds):
        for which in (False, True):
            (loud.set if which else loud.clear)()
            time.sleep(0.5)  # until what was begun is over, or has begun
            quiet.round(options.seconds, times[which])
    loud.clear()
    time.sleep(0.5)
    did = [after - first for after, first in zip(counts, before)]
    report.holds(sum(did) > options.rounds, f"{kind}: there was no noise")
    words = []
    for name in quiet.ways:
        alone, beside = p99(times[False][name]), p99(times[True][name])
        middle = [statistics.median(times[which][name]) for which in (False, True)]
        report.holds(beside <= TIMES * alone + SLACK[name], f"{kind}: {name} took {beside * 1e3:.1f} ms, alone {alone * 1e3:.1f} ms")
        words.append(f"{name} {alone * 1e3:.1f} → {beside * 1e3:.1f} ms (half {middle[0] * 1e3:.1f} → {middle[1] * 1e3:.1f}, "
                     f"of {len(times[True][name])})")
    print(f"{kind}, {sum(did)} calls of the noisy one: 99 % of {'; '.join(words)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--noise", default=",".join((*KINDS, "all")))
    options = parser.parse_args()
    report, wire = Report(), reflected(options.clearance)
    with tempfile.TemporaryDirectory() as folder:
        keys = {tenant: key_line(options.clearance, tenant, tenant, "write") for tenant in ("quiet", "noisy")}
        put(pathlib.Path(folder, "keys"), "".join(f"{line}\n" for _, line in keys.values()))
        context = multiprocessing.get_context("spawn")
        loud, kinds, counts = context.Event(), context.Array("c", 20), context.Array("l", 3)
        with Server(options.clearance, folder, "--api-keys", pathlib.Path(folder, "keys")) as server:
            noisy = context.Process(target=noise, args=(options, keys["noisy"][0], server.address, loud, kinds, counts), daemon=True)
            noisy.start()
            try:
                while kinds.value != b"ready":
                    assert noisy.is_alive(), "the noise has ended"
                    time.sleep(0.1)
                quiet = Quiet(Asker(wire, server.address, keys["quiet"][0]))
                for kind in options.noise.split(","):
                    compare(kind, options, quiet, loud, kinds, counts, report)
                report.holds(not quiet.refused, f"{len(quiet.refused)} calls were refused: {quiet.refused[:2]}")
            finally:
                noisy.kill()
    sys.exit(1 if report.broken else 0)


if __name__ == "__main__":
    main()
