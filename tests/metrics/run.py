#!/usr/bin/env python3
"""A real Prometheus scrapes a real server: what the alerts of `deploy/prometheus` ask about is there, the p99 that it works
out of native histograms is that of the client, alerts fire in the faults that they are for, and each query of the dashboard
(`deploy/grafana`) has an answer.

Durations of the alerts are cut for it, their expressions are not. Not to be had here are a fault of the server itself
(ClearanceFault) and memory that several tenants have filled (ClearanceMemory): promtool tests these (alerts_test.yaml).
Needs prometheus, promtool and grpcio.
usage: run.py CLEARANCE
"""
import json, math, pathlib, re, signal, struct, subprocess, sys, tempfile, threading, time, urllib.parse, urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "certificates"))
from tampering import ROOT, helpers  # first: it says where the others are
import grpc  # noqa: E402
from client import Wire  # noqa: E402

FILES = ROOT / "deploy/prometheus"
WINDOW = "20s"  # in place of minutes


def ball(count):
    xyz = []
    for k in range(count):
        z = (2 * k + 1) / count - 1
        wide, turn = math.sqrt(1 - z * z), 2.399963 * k
        xyz += [wide * math.cos(turn), wide * math.sin(turn), z]
    return {"xyz": xyz}


CUBE = {"xyz": [float(k >> axis & 1) for k in range(8) for axis in range(3)]}


class Keyed(Wire):
    """A client that brings a key."""

    def __init__(self, address, key):
        self.key = key
        plain = grpc.insecure_channel
        try:
            grpc.insecure_channel = lambda *words: grpc.intercept_channel(plain(*words), Bring(key))
            ready = grpc.channel_ready_future
            grpc.channel_ready_future = lambda channel: ready(channel._channel)
            super().__init__(address, 6)
        finally:
            grpc.insecure_channel, grpc.channel_ready_future = plain, ready


class Bring(grpc.UnaryUnaryClientInterceptor, grpc.StreamStreamClientInterceptor):
    def __init__(self, key):
        self.key = key

    def with_key(self, details):
        metadata = [*(details.metadata or ()), ("x-api-key", self.key)]
        return details._replace(metadata=metadata)

    def intercept_unary_unary(self, go_on, details, request):
        return go_on(self.with_key(details), request)

    def intercept_stream_stream(self, go_on, details, requests):
        return go_on(self.with_key(details), requests)


class Watched:
    """A server, and the Prometheus that scrapes it."""

    def __init__(self, clearance, folder):
        self.clearance, self.folder = clearance, folder
        self.port, self.pages, self.front = helpers.free_port(), helpers.free_port(), helpers.free_port()
        lines = subprocess.run([clearance, "key", "--name", "it", "--tenant", "acme", "--role", "admin"], capture_output=True,
                               text=True, check=True).stdout.splitlines()
        self.key = lines[0]
        (folder / "keys").write_text(lines[1] + "\n")
        (folder / "quotas").write_text("* sessions=2\n")
        self.server = None
        rules = (FILES / "alerts.yaml").read_text()
        rules = re.sub(r"for: \S+", "for: 1s", re.sub(r"\[\d+[mh]\]", f"[{WINDOW}]", rules))
        (folder / "alerts.yaml").write_text(rules)
        config = (FILES / "prometheus.yaml").read_text().replace("127.0.0.1:50062", f"127.0.0.1:{self.pages}")
        (folder / "prometheus.yaml").write_text(config.replace("15s", "1s"))
        for words in (["check", "rules", str(FILES / "alerts.yaml")], ["test", "rules", str(FILES / "alerts_test.yaml")]):
            subprocess.run(["promtool", *words], check=True, stdout=subprocess.DEVNULL)
        log = open(folder / "prometheus.log", "w")
        self.prometheus = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/tsdb",
             f"--web.listen-address=127.0.0.1:{self.front}", "--enable-feature=native-histograms"], stdout=log, stderr=log)

    def start(self, *flags):
        log = open(self.folder / "server.log", "a")
        self.server = subprocess.Popen(
            [self.clearance, "serve", "--listen", f"127.0.0.1:{self.port}", "--http", f"127.0.0.1:{self.pages}",
             "--api-keys", str(self.folder / "keys"), "--quotas", str(self.folder / "quotas"), *flags], stdout=log, stderr=log)
        return Keyed(f"127.0.0.1:{self.port}", self.key)

    def ask(self, path, **words):
        url = f"http://127.0.0.1:{self.front}/api/v1/{path}?{urllib.parse.urlencode(words)}"
        with urllib.request.urlopen(url, timeout=10) as reply:
            told = json.load(reply)
        assert told["status"] == "success", told
        return told["data"]

    def value(self, query):
        found = self.ask("query", query=query)["result"]
        return [float(row["value"][1]) for row in found]

    def firing(self):
        return {alert["labels"]["alertname"] for alert in self.ask("alerts")["alerts"] if alert["state"] == "firing"}

    def until_firing(self, name, seconds=45, meanwhile=lambda: None):
        end = time.monotonic() + seconds
        while name not in self.firing():
            if time.monotonic() > end:
                return f"{name} does not fire in its fault"
            meanwhile()
            time.sleep(0.3)
        print(f"   {name} fires", flush=True)

    def stop(self):
        for process in (self.server, self.prometheus):
            if process and process.poll() is None:
                process.kill()
                process.wait()


def p99(watched, wire):
    """Of questions that take so long that the way does not count, by the client's clock and by Prometheus."""
    question = {"p": {"vertices": ball(8_000)}, "q": {"vertices": CUBE, "pose": {"translation": {"x": 3}}}}
    # Made once: the client's own work on it is none of the server's.
    question = wire.make("CheckCollision", question)
    # A rate begins with what was there before.
    assert wire.call("CheckCollision", question, 60).code == "OK"
    time.sleep(3)
    times, end = [], time.monotonic() + 20
    while time.monotonic() < end:
        start = time.monotonic()
        assert wire.call("CheckCollision", question, 60).code == "OK"
        times.append(time.monotonic() - start)
    time.sleep(2)
    method = 'clearance_call_seconds{method="clearance.v1.QueryService/CheckCollision"}'
    wrong, times = [], sorted(times)
    for quantile in (0.5, 0.9, 0.99):
        told = watched.value(f"histogram_quantile({quantile}, rate({method}[60s]))")
        assert told, "no native histogram"
        # Which of few calls is the one in a hundred, two may see differently.
        least, own, most = (times[min(len(times) - 1, max(0, int(len(times) * quantile + k)))] for k in (-2, 0, 2))
        print(f"quantile {quantile} of {len(times)} calls: {told[0] * 1e3:.1f} ms by Prometheus, {own * 1e3:.1f} ms by the client "
              f"({told[0] / own - 1:+.1%})")
        if not 0.9 * least <= told[0] <= 1.1 * most:
            wrong.append(f"quantile {quantile} is {told[0]} and not from {least} to {most}")
    return wrong


def shown(watched):
    """Each query of the dashboard, as Grafana would ask it: it has an answer."""
    board = json.loads((ROOT / "deploy/grafana/clearance.json").read_text())
    queries = [(panel["title"], target["expr"]) for panel in board["panels"] for target in panel.get("targets", [])]
    wrong = []
    for title, query in queries:
        query = query.replace("$__rate_interval", WINDOW).replace("$instance", ".*")
        try:
            found = watched.ask("query", query=query)["result"]
        except Exception as error:  # noqa: BLE001  what Prometheus says of a query that is none
            wrong.append(f"dashboard, {title}: {error}: {query}")
            continue
        if not found:
            wrong.append(f"dashboard, {title}: nothing is told for {query}")
    servers = watched.ask("label/instance/values", **{"match[]": "clearance_build"})
    if len(servers) != 1:
        wrong.append(f"dashboard: servers are {servers}")
    print(f"   {len(queries)} queries of the dashboard, {len(queries) - len(wrong)} of them answered", flush=True)
    return wrong


def busy(wire, over):
    """Callers without patience, each of whom keeps some questions for the pool under way."""
    question = {"p": {"vertices": ball(12_000)}, "q": {"vertices": CUBE, "pose": {"translation": {"x": 3}}}}
    # Made once: to make 48 of them at a time takes the client longer than the server takes to answer them.
    question = wire.make("CheckCollision", question)
    def go():
        while not over.is_set():
            if wire.call("CheckCollision", question, 60).code != "OK":
                time.sleep(0.05)
    threads = [threading.Thread(target=go) for _ in range(48)]
    for thread in threads:
        thread.start()
    return threads


def pile(wire):
    """A session whose frames take long, and one more than may be opened."""
    assert wire.call("RegisterPolytopes", {"polytopes": [{"vertices": CUBE, "alias": "cube"}]}).code == "OK"
    bodies = [{"id": k, "parts": [{"alias": "cube", "pose": {"translation": {"x": k * 1e-3}}}]} for k in range(1, 500)]
    report = {"pairs": "PAIR_SELECTION_ALL", "distances": True, "depths": True, "certificates": True}
    opened = wire.call("OpenSession", {"sessionId": "pile", "report": report, "state": {"bodies": bodies}}, 120)
    assert opened.code == "OK", opened
    frame = [0]
    def step():
        frame[0] += 1
        poses = [{"id": k, "pose": {"translation": {"y": 1e-3 * frame[0] * k}}} for k in range(1, 500)]
        assert wire.call("StepSession", {"sessionId": "pile", "frames": [{"frameId": frame[0], "poses": poses}]}, 120).code == "OK"
    return step


def fill(wire, first=0):
    """Registers until the store has no room."""
    for k in range(first, first + 400):
        points = [x + k for x in ball(3_000)["xyz"]]
        reply = wire.call("RegisterPolytopes", {"polytopes": [{"vertices": {"xyz": points}}]}, 60)
        if reply.code != "OK":
            return reply
    raise AssertionError("the store does not fill")


def run(watched):
    wrong = []
    note = lambda words: wrong.append(words) if words else None
    store = watched.folder / "store"
    wire = watched.start("--store", str(store), "--store-bytes-max", "4000000", "--jobs-max", "24", "--compute-threads", "1",
                         "--drain-delay-seconds", "12", "--drain-seconds-max", "1")
    mark = 12345.678901
    points = [x + mark for x in CUBE["xyz"]]
    marked = wire.call("RegisterPolytopes", {"polytopes": [{"vertices": {"xyz": points}}]}).message.reports[0].polytope.id
    wrong += p99(watched, wire)
    step = pile(wire)
    step()
    time.sleep(2)
    text = (FILES / "alerts.yaml").read_text()
    for name in sorted(set(re.findall(r"clearance_[a-z_]+", text))):
        if not watched.ask("query", query=f"count({name})")["result"] and "set_aside" not in name:
            wrong.append(f"{name} is asked about, and is not there")
    for rule in watched.ask("rules")["groups"][0]["rules"]:
        if rule.get("lastError"):
            wrong.append(f"{rule['name']}: {rule['lastError']}")
    quiet = watched.firing() - {"ClearanceSlowFrames", "ClearancePoolWaits"}
    if quiet:
        wrong.append(f"these fire without a fault: {quiet}")

    note(watched.until_firing("ClearanceSlowFrames", meanwhile=step))
    wire.call("OpenSession", {"sessionId": "second"})
    note(watched.until_firing("ClearanceQuota", meanwhile=lambda: [wire.call("OpenSession", {"sessionId": f"s{k}"}) for k in range(60)]))
    over = threading.Event()
    threads = busy(wire, over)
    note(watched.until_firing("ClearanceBusy"))
    note(watched.until_firing("ClearancePoolWaits"))
    over.set()
    for thread in threads:
        thread.join()
    wrong += shown(watched)
    full = fill(wire)
    if full.code != "RESOURCE_EXHAUSTED":
        wrong.append(f"a full store: {full}")
    note(watched.until_firing("ClearanceStoreFull"))
    watched.server.send_signal(signal.SIGTERM)
    note(watched.until_firing("ClearanceDrainsLong", 11))
    watched.server.wait(30)

    # A byte of a body goes bad while nobody looks.
    file = next(store.glob("*.redb"))
    data = bytearray(file.read_bytes())
    at = [found.start() for found in re.finditer(re.escape(struct.pack("<d", mark)), bytes(data))]
    assert at, "the marked body is not in the file"
    for place in at:
        data[place] ^= 1
    file.write_bytes(data)
    wire = watched.start("--store", str(store))
    time.sleep(2)  # the counter is scraped while it is 0
    found = wire.call("GetPolytope", {"id": marked})
    if found.code != "NOT_FOUND":
        wrong.append(f"a damaged body: {found}")
    note(watched.until_firing("ClearanceStoreDamaged"))
    watched.server.kill()
    note(watched.until_firing("ClearanceGone"))
    watched.server.wait()

    # A disk without room.
    small = watched.folder / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(small)], capture_output=True).returncode:
        print("   without a disk that is full: nothing can be mounted here")
        return wrong
    try:
        wire = watched.start("--store", str(small))
        full = fill(wire)
        if (full.code, full.reason) != ("UNAVAILABLE", "STORE_UNAVAILABLE"):
            wrong.append(f"a full disk: {full}")
        note(watched.until_firing("ClearanceStoreDown", meanwhile=lambda: fill(wire, 1_000)))
        if wire.call("CheckCollision", {"p": {"vertices": CUBE}, "q": {"vertices": CUBE}}).code != "OK":
            wrong.append("with a full disk nothing is answered")
        watched.server.kill()
        watched.server.wait()
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)
    return wrong


def main():
    with tempfile.TemporaryDirectory() as folder:
        watched = Watched(sys.argv[1], pathlib.Path(folder))
        try:
            wrong = run(watched)
        finally:
            watched.stop()
    for line in wrong:
        print(f"   BROKEN: {line}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
