#!/usr/bin/env python3
"""What counting and being scraped costs: two bodies in a stream, the smallest frames that there are.

    python3 benches/metrics_cost.py SERVER [--rounds 21] [--frames 6000] [--idle-minutes 30]

SERVER is a release binary; grpcio, grpcio-reflection are needed. Two servers run side by side, one without `--http`, one with
it that is scraped once a second as Prometheus does it. In turns (A-B-B-A) each answers the same frames, sixteen of them in
flight, and its processor time for a frame is what the kernel counts for all of its threads, with what the scraping takes
in a second of frames. Told is the median over rounds of the two times' quotient. Then a server with `--http` is asked and not
scraped for --idle-minutes: its memory is to stay as it is after the first minute, and so are the series of its page.
"""
import argparse, pathlib, statistics, subprocess, sys, threading, time, urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "certificates"))
from tampering import helpers  # noqa: E402  first: it says where the others are
from client import Wire  # noqa: E402

CUBE = [float(k >> axis & 1) for k in range(8) for axis in range(3)]
IN_FLIGHT = 16
ACCEPT = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"


class Served:
    def __init__(self, binary, shows_pages):
        port, self.pages = helpers.free_port(), helpers.free_port() if shows_pages else None
        flags = ["--http", f"127.0.0.1:{self.pages}"] if shows_pages else []
        words = [binary, "serve", "--listen", f"127.0.0.1:{port}", "--compute-threads", "1", *flags]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.process.stdout.readline()
        self.wire, self.frame_id, self.scrapes = Wire(f"127.0.0.1:{port}", 4), 0, 0

    def spent(self):
        """Processor time of all threads so far, seconds."""
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) * 1e-9

    def resident(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) * 1024

    def page(self):
        asked = urllib.request.Request(f"http://127.0.0.1:{self.pages}/metrics", headers={"Accept": ACCEPT})
        with urllib.request.urlopen(asked, timeout=10) as reply:
            return reply.read()

    def series(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.pages}/metrics", timeout=10) as reply:
            return sum(not line.startswith(b"#") for line in reply.read().splitlines())

    def open(self):
        assert self.wire.call("RegisterPolytopes", {"polytopes": [{"vertices": {"xyz": CUBE}, "alias": "cube"}]}).code == "OK"
        bodies = [{"id": k + 1, "parts": [{"alias": "cube", "pose": {"translation": {"x": 3 * k}}}]} for k in range(2)]
        opened = self.wire.call("OpenSession", {"sessionId": "two", "state": {"bodies": bodies}, "replace": True})
        assert opened.code == "OK", opened

    def frames(self, count):
        """Processor time of a frame, seconds."""
        messages = []
        for k in range(count):
            pose = {"id": 1, "pose": {"translation": {"y": (k % 100) * 1e-2}}}
            messages.append({"frame": {"frameId": self.frame_id + k + 1, "poses": [pose]}})
        make = lambda message: self.wire.make("StreamSession", message).SerializeToString()
        bytes_of = [make({"sessionId": "two", "takeOver": True})] + [make(message) for message in messages]
        self.frame_id += count
        room = threading.Semaphore(IN_FLIGHT)

        def sent():
            for message in bytes_of:
                room.acquire()
                yield message

        before, got = self.spent(), 0
        for reply in self.wire.stub("StreamSession")(sent()):
            if reply.HasField("report"):
                assert not reply.report.HasField("status"), reply
                got += 1
                room.release()
            if got == count:
                break
        assert got == count, got
        return (self.spent() - before) / count

    def stop(self):
        self.process.kill()
        self.process.wait()


def scraping(served, over):
    while not over.wait(1.0):
        served.page()
        served.scrapes += 1


def cost(binary, rounds, frames):
    plain, shown = Served(binary, False), Served(binary, True)
    over = threading.Event()
    try:
        for one in (plain, shown):
            one.open()
            one.frames(frames)
        thread = threading.Thread(target=scraping, args=(shown, over))
        thread.start()
        quotients, times = [], {plain: [], shown: []}
        for number in range(rounds):
            order = [plain, shown, shown, plain] if number % 2 else [shown, plain, plain, shown]
            spent = {plain: 0.0, shown: 0.0}
            for one in order:
                spent[one] += one.frames(frames) / 2
            quotients.append(spent[shown] / spent[plain])
            for one in spent:
                times[one].append(spent[one])
        over.set()
        thread.join()
        low, _, high = statistics.quantiles(quotients, n=4)
        print(f"{rounds} rounds of {frames} frames: {statistics.median(times[plain]) * 1e6:.2f} us a frame without, "
              f"{statistics.median(times[shown]) * 1e6:.2f} us scraped {shown.scrapes} times; "
              f"median of quotients {statistics.median(quotients) - 1:+.2%} (quarters {low - 1:+.2%} to {high - 1:+.2%})")
        before = shown.spent()
        for _ in range(50):
            shown.page()
        page = (shown.spent() - before) / 50
        print(f"a scrape takes {page * 1e6:.0f} us of a processor: {page:.3%} of one, once a second")
        return statistics.median(quotients) - 1
    finally:
        over.set()
        plain.stop(), shown.stop()


def idle(binary, minutes):
    """Memory and series while nobody scrapes, and clients ask and make up names."""
    served = Served(binary, True)
    try:
        served.open()
        path, end, seen = "/no.such.Service/Method", time.monotonic() + minutes * 60, []
        number, next_look = 0, time.monotonic() + 60
        unary = served.wire.channel.unary_unary
        while time.monotonic() < end:
            served.frames(200)
            for _ in range(20):
                number += 1
                try:
                    unary(f"{path}{number}")(b"", timeout=10)
                except Exception as error:  # noqa: BLE001  it is refused
                    assert "UNIMPLEMENTED" in str(error), error
                served.wire.call("GetSession", {"sessionId": f"nobody-{number}"})
            if time.monotonic() >= next_look:
                next_look += 60
                seen.append(served.resident())
        series = served.series()
        grown = seen[-1] - seen[0]
        print(f"{minutes:g} minutes unscraped, {number} names made up, {served.frame_id} frames: {seen[0] / 1e6:.1f} MB after a minute, "
              f"{seen[-1] / 1e6:.1f} MB at the end ({grown / 1e3:+.0f} kB), {series} series")
        return grown, series
    finally:
        served.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("server")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--frames", type=int, default=6_000)
    parser.add_argument("--idle-minutes", type=float, default=30)
    asked = parser.parse_args()
    if asked.rounds:
        cost(asked.server, asked.rounds, asked.frames)
    if asked.idle_minutes > 1:
        idle(asked.server, asked.idle_minutes)


if __name__ == "__main__":
    main()
