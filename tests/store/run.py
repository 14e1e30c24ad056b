#!/usr/bin/env python3
"""One suite for servers on what keeps registrations: memory, a directory (redb), and buckets of two programs that speak S3
(moto, and SeaweedFS where `weed` is there), these with a proxy between that fails as it is told to.

    moves     eight writers move one alias, and read it: all of it could have been done one after the other
    two       (buckets) what one of two servers registers, moves and deletes, the other one answers with
    kill      SIGKILL before and after every single request to the bucket, or at any time: nothing acknowledged is lost
    faults    (buckets) 404, 409, 412, 500 and answers that are lost or never come: a call ends right, and so does its like
    flipped   (buckets) a byte of a content goes bad: refused, set aside, counted, and registered again
    down      (buckets) nobody answers: what is known goes on, registering is UNAVAILABLE and says when to try again
    export    (not memory) what `clearance store export` writes, `import` reads into a directory, and its server knows it
    reopen    (not memory) a server that begins with so many polytopes knows them within ten seconds, and reads none

Needs grpcio; moto[server] and boto3 for buckets, and a binary that was built with the feature s3.
usage: run.py CLEARANCE [--stores memory,redb,moto,seaweedfs] [--moves 1000] [--polytopes 100000]
"""
import argparse, os, pathlib, random, shutil, signal, socket, subprocess, sys, tempfile, threading, time, urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "certificates"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from tampering import helpers  # first: it says where the others are
from client import Wire  # noqa: E402
from proxy import Proxy  # noqa: E402

BUCKET = "registrations"
ACCOUNT = {"AWS_ACCESS_KEY_ID": "clearance", "AWS_SECRET_ACCESS_KEY": "not-a-secret", "AWS_REGION": "us-east-1",
           "AWS_ALLOW_HTTP": "true"}
WEED_CONFIG = """{"identities": [{"name": "clearance", "actions": ["Admin", "Read", "Write", "List", "Tagging"],
  "credentials": [{"accessKey": "clearance", "secretKey": "not-a-secret"}]}]}"""


def point(x, **fields):
    """A polytope of one vertex: the smallest there is."""
    return {"vertices": {"xyz": [float(x), 0.0, 0.0]}, **fields}


def cube(k):
    return {"vertices": {"xyz": [(1.0 + k) * (corner >> axis & 1) for corner in range(8) for axis in range(3)]}}


class Server:
    """A server in a process of its own, and a client of it."""

    def __init__(self, store, prefix="", port=None, slow=4):
        self.port, self.http = helpers.free_port(), helpers.free_port()
        self.log = tempfile.TemporaryFile()
        words = [store.binary, "serve", "--listen", f"127.0.0.1:{self.port}", "--http", f"127.0.0.1:{self.http}", "--log", "warn",
                 "--reply-bytes-max", str(64 << 20), "--drain-seconds-max", "2", "--polytopes-max", "200000"]
        begin = time.monotonic()
        self.process = subprocess.Popen(words + store.flags(prefix), stdout=self.log, stderr=self.log,
                                        env={**os.environ, **store.environment(port)})
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 0.2).close()
                break
            except OSError:
                if self.process.poll() is not None or time.monotonic() - begin > 60:
                    raise RuntimeError("the server does not start: " + self.said()) from None
                time.sleep(0.02)
        self.started_in = time.monotonic() - begin
        self.wire = Wire(f"127.0.0.1:{self.port}", slow)

    def said(self):
        self.log.seek(0)
        return self.log.read().decode()

    def call(self, method, **request):
        return self.wire.call(method, request)

    def ok(self, method, **request):
        reply = self.call(method, **request)
        assert reply.code == "OK", (method, reply)
        return reply.message

    def register(self, *polytopes):
        return [report.polytope.id for report in self.ok("RegisterPolytopes", polytopes=list(polytopes)).reports]

    def alias(self, name):
        reply = self.call("GetPolytope", alias=name)
        assert reply.code in ("OK", "NOT_FOUND"), reply
        return reply.message.polytope.id if reply.code == "OK" else None

    def missing(self, ids):
        return list(self.ok("FindMissingPolytopes", ids=list(ids)).missing_ids)

    def metric(self, name):
        page = urllib.request.urlopen(f"http://127.0.0.1:{self.http}/metrics", timeout=10).read().decode()
        return next(float(line.split()[-1]) for line in page.splitlines() if line.startswith(name + " "))

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.wire.channel.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.wire.channel.close()


class Memory:
    name, is_bucket, is_kept = "memory", False, False

    def __init__(self, binary, folder):
        self.binary, self.folder, self.server = binary, folder, None

    def flags(self, prefix):
        return []

    def environment(self, port):
        return {}

    def stop(self):
        pass


class Redb(Memory):
    name, is_kept = "redb", True

    def flags(self, prefix):
        return ["--store", str(self.folder / f"redb-{prefix}")]


class Bucket(Memory):
    """A program that speaks S3."""
    is_bucket = is_kept = True

    def begin(self, words, port):
        self.log = open(self.folder / f"{self.name}.log", "w")
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.log)
        self.port = port
        self.s3 = self.client(port)
        for _ in range(240):
            try:
                self.s3.create_bucket(Bucket=BUCKET)
                break
            except Exception:  # whatever a program says that is not there yet
                assert self.process.poll() is None, f"{self.name} has ended"
                time.sleep(0.25)
        self.proxy = Proxy(port)

    def client(self, port):
        import boto3
        from botocore.config import Config
        return boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1",
                            aws_access_key_id=ACCOUNT["AWS_ACCESS_KEY_ID"], aws_secret_access_key=ACCOUNT["AWS_SECRET_ACCESS_KEY"],
                            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}))

    def flags(self, prefix):
        return ["--store", f"s3://{BUCKET}/{prefix}"]

    def environment(self, port):
        return {**ACCOUNT, "AWS_ENDPOINT": f"http://127.0.0.1:{port or self.proxy.port}"}

    def objects(self, prefix):
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return [found["Key"] for page in pages for found in page.get("Contents", [])]

    def stop(self):
        self.proxy.stop()
        self.process.kill()
        self.process.wait()


class Moto(Bucket):
    name = "moto"

    def __init__(self, binary, folder):
        super().__init__(binary, folder)
        port = helpers.free_port()
        self.begin([beside("moto_server"), "-H", "127.0.0.1", "-p", str(port)], port)


class SeaweedFS(Bucket):
    name = "seaweedfs"

    def __init__(self, binary, folder):
        super().__init__(binary, folder)
        (folder / "weed").mkdir()
        (folder / "weed.json").write_text(WEED_CONFIG)
        ports = [free_pair() for _ in range(4)]
        flags = zip(("-master.port", "-volume.port", "-filer.port", "-s3.port"), ports)
        self.begin([beside("weed"), "server", "-ip=127.0.0.1", f"-dir={folder / 'weed'}", "-s3", f"-s3.config={folder / 'weed.json'}",
                    "-master.volumeSizeLimitMB=64", "-volume.max=20", *(f"{flag}={port}" for flag, port in flags)], ports[3])


def free_pair():
    """A port with the one 10,000 above, where these programs take calls of each other."""
    while True:
        port = random.randrange(12_000, 22_000)
        try:
            for one in (port, port + 10_000):
                with socket.socket() as taken:
                    taken.bind(("127.0.0.1", one))
            return port
        except OSError:
            pass


def beside(tool):
    here = pathlib.Path(sys.executable).parent / tool
    return str(here) if here.exists() else shutil.which(tool)


def unlinearizable(history):
    """Why this history of one register is none that could have been, if it is so: every value is written once, and then
    (Gibbons and Korach, 1997) what is done with it is a zone, forward from the first end to the last beginning if that is
    later. Two forward zones do not overlap, and a backward one lies in no forward one."""
    forward, backward = [], []
    for value, (written, done) in history.items():
        first_end, last_begin = min(end for _, end in done), max(begin for begin, _ in done)
        if any(end < written[0] for _, end in done):
            return f"{value} was read before anybody wrote it"
        (forward if first_end < last_begin else backward).append((*sorted((first_end, last_begin)), value))
    forward.sort()
    for one, next_one in zip(forward, forward[1:]):
        if next_one[0] < one[1]:
            return f"{one[2]} and {next_one[2]} were both the last one"
    for begin, end, value in backward:
        before = [zone for zone in forward if zone[0] < begin]
        if before and end < before[-1][1]:
            return f"{value} was passed over while {before[-1][2]} was the last one"
    return None


def moves(store, options):
    servers = [Server(store, "moves") for _ in range(2 if store.is_bucket else 1)]
    count, history, lock, wrong = options.moves, {}, threading.Lock(), []

    def write(writer):
        server = servers[writer % len(servers)]
        wire = Wire(f"127.0.0.1:{server.port}", 8)
        try:
            for k in range(count):
                begin = time.monotonic()
                request = {"polytopes": [point(writer * count + k, alias="it", moveAlias=True)]}
                reply = wire.call("RegisterPolytopes", request)
                end = time.monotonic()
                assert reply.code == "OK", reply
                found = wire.call("GetPolytope", {"alias": "it"})
                assert found.code == "OK", found
                with lock:
                    told = reply.message.reports[0].polytope.id
                    history.setdefault(told, [None, []])[0] = (begin, end)
                    history[told][1].append((begin, end))
                    history.setdefault(found.message.polytope.id, [None, []])[1].append((end, time.monotonic()))
        except Exception as error:  # told by the thread that waits
            wrong.append(error)

    begin = time.monotonic()
    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    took = time.monotonic() - begin
    assert not wrong, wrong[0]
    assert len(history) == 8 * count and all(written for written, _ in history.values())
    fault = unlinearizable(history)
    assert fault is None, fault
    assert len({server.alias("it") for server in servers}) == 1
    [server.stop() for server in servers]
    return f"8 writers by {count} moves through {len(servers)} server(s) in {took:.1f} s"


ARM = '<robot name="r"><link name="a"><collision><geometry><box size="1 1 1"/></geometry></collision></link></robot>'


def two(store, options):
    here, there = Server(store, "two"), Server(store, "two")
    ids = here.register(point(1, alias="a"), point(2, alias="b"))
    assert there.alias("a") == ids[0] and there.missing(ids) == []
    assert here.register(point(3, alias="a", moveAlias=True)) == [there.alias("a")]
    robot = there.ok("RegisterRobot", urdf=ARM, robotKey="mine").robot.id
    assert here.ok("GetRobot", id=robot).robot.id == robot
    assert list(here.ok("FindMissingRobots", ids=[robot]).missing_ids) == []
    assert here.call("DeleteRobot", id=robot).reason == "ROBOT_CLAIMED"
    here.ok("DeletePolytope", id=ids[1])
    assert there.alias("b") is None and there.missing(ids) == [ids[1]]
    here.ok("DeleteRobot", id=robot, robotKeys=["mine"])
    assert list(there.ok("FindMissingRobots", ids=[robot]).missing_ids) == [robot]
    # Who only asks by id learns of it soon.
    gone = here.register(point(4))[0]
    there.ok("GetPolytope", id=gone)
    here.ok("DeletePolytope", id=gone)
    for _ in range(100):
        if there.call("GetPolytope", id=gone).code == "NOT_FOUND":
            break
        time.sleep(0.1)
    else:
        raise AssertionError("what was deleted elsewhere is answered for ever")
    here.stop(), there.stop()
    return "bodies, aliases, robots and their keys"


def kill(store, options):
    if not store.is_kept:
        server = Server(store)
        server.register(point(1))
        server.kill()
        return "nothing is promised"
    known, last, asked, deaths = [], None, None, 0
    faults = [(at, way) for at in range(11) for way in ("before", "after")] if store.is_bucket else range(16)
    for round_, fault in enumerate(faults):
        if store.is_bucket:
            store.proxy.watch()
        server = Server(store, "kill")
        assert server.missing(known) == [], f"lost before round {round_}"
        named = server.alias("last")
        assert named in (last, asked), f"round {round_}: {named} is neither {last} nor {asked}"
        last = named
        if store.is_bucket:
            at, way = fault
            store.proxy.watch(lambda number, method, path: way if number == at else None, server.process.kill)
        else:
            threading.Timer(0.02 + 0.011 * fault, server.process.kill).start()
        for k in range(10_000):
            polytopes = [point(1000 * round_ + k, alias="last", moveAlias=True), point(1000 * round_ + k + 0.5)]
            request = server.wire.make("RegisterPolytopes", {"polytopes": polytopes})
            reply = server.wire.call("RegisterPolytopes", request, timeout=5)
            if reply.code != "OK":
                # Its id is that of the same point on a server that keeps nothing.
                asked = options.elsewhere.register(polytopes[0])[0]
                deaths += 1
                break
            ids = [report.polytope.id for report in reply.message.reports]
            known += ids
            last = asked = ids[0]
        server.kill()
    if store.is_bucket:
        store.proxy.watch()
    server = Server(store, "kill")
    assert server.missing(known) == [] and server.alias("last") in (last, asked)
    assert len(known) > 20 and deaths == len(faults), (len(known), deaths)
    server.stop()
    return f"{deaths} deaths, {len(known)} acknowledged polytopes"


def until_back(server, new, seconds=10):
    """A server that took its bucket for down asks it again each second. What is `new` needs the bucket."""
    end = time.monotonic() + seconds
    while server.call("RegisterPolytopes", polytopes=[new]).code != "OK":
        assert time.monotonic() < end, "it does not come back"
        time.sleep(0.1)


def faults(store, options):
    done, last, probes = 0, None, 0
    server = Server(store, "faults")
    for fault in (404, 409, 412, 500, 503, "lost", "silent"):
        for k, wanted in enumerate(("/head", "/blobs/")):
            is_it = lambda number, method, path: method == "PUT" and wanted in path
            left = [1]

            def plan(number, method, path):
                if left and is_it(number, method, path):
                    left.pop()
                    return fault
                return None

            store.proxy.watch(plan)
            x = 100 * done
            both = [point(x, alias="it", moveAlias=True), point(x + 1)]
            reply = server.call("RegisterPolytopes", polytopes=both)
            store.proxy.watch()
            assert not left, (fault, wanted)
            if fault in (404, 409, 412) and wanted == "/blobs/":
                # No bucket says so of what is put without a condition: it is down, the client is told, and nothing is half done.
                assert reply.code == "UNAVAILABLE", (fault, reply)
                assert server.alias("it") == last, fault
                probes += 1
                until_back(server, point(-probes))
                reply = server.call("RegisterPolytopes", polytopes=both)
            assert reply.code == "OK", (fault, wanted, reply)
            last, *_ = ids = [report.polytope.id for report in reply.message.reports]
            assert server.alias("it") == ids[0], (fault, wanted)
            again = server.ok("RegisterPolytopes", polytopes=[point(x), point(x + 1)]).reports
            assert all(report.already_registered for report in again)
            other = Server(store, "faults")
            assert other.alias("it") == ids[0] and other.missing(ids) == [], (fault, wanted)
            assert other.ok("GetServerInfo").usage.polytopes == 2 * (done + 1) + probes, "nothing twice, and nothing half"
            other.stop()
            done += 1
    server.stop()
    return f"{done} faults, each survived by its call"


def flipped(store, options):
    server = Server(store, "flipped")
    id_ = server.register(point(77, alias="it"))[0]
    server.stop()
    names = store.objects("flipped/blobs/")
    assert len(names) == 1, names
    content = bytearray(store.s3.get_object(Bucket=BUCKET, Key=names[0])["Body"].read())
    content[len(content) // 2] ^= 16
    store.s3.put_object(Bucket=BUCKET, Key=names[0], Body=bytes(content))
    server = Server(store, "flipped")
    assert server.call("GetPolytope", id=id_).code == "NOT_FOUND"
    assert server.metric("clearance_store_set_aside_total") == 1 and server.alias("it") is None
    assert server.register(point(77, alias="it")) == [id_]
    server.stop()
    server = Server(store, "flipped")
    assert server.alias("it") == id_ and server.metric("clearance_store_set_aside_total") == 0
    server.stop()
    return "set aside, counted, registered again"


def down(store, options):
    server = Server(store, "down")
    known, cold = server.register(point(1, alias="it"), point(2))
    server.stop()
    server = Server(store, "down")
    server.ok("GetPolytope", id=known)
    store.proxy.is_down = True
    assert server.alias("it") == known
    begin = time.monotonic()
    for _ in range(100):
        server.ok("GetPolytope", id=known)
    took = time.monotonic() - begin
    refused = server.call("RegisterPolytopes", polytopes=[point(3)])
    assert (refused.code, refused.reason, refused.retry) == ("UNAVAILABLE", "STORE_UNAVAILABLE", True), refused
    assert server.call("GetPolytope", id=cold).code == "UNAVAILABLE"
    store.proxy.is_down = False
    begin = time.monotonic()
    while server.call("RegisterPolytopes", polytopes=[point(3)]).code != "OK":
        assert time.monotonic() - begin < 15
        time.sleep(0.2)
    server.ok("GetPolytope", id=cold)
    server.stop()
    assert took < 5, took
    return f"100 answers in {took:.2f} s while it was down; back in {time.monotonic() - begin:.1f} s"


def export(store, options):
    server = Server(store, "export")
    ids = server.register(point(1, alias="it"), cube(4))
    robot = server.ok("RegisterRobot", urdf=ARM).robot.id
    server.stop()
    file, copy = store.folder / f"{store.name}.export", Redb(store.binary, store.folder)
    run = lambda of, *words: subprocess.run([store.binary, "store", *words, *of.flags("export" if of is store else f"copy-{store.name}")],
                                            env={**os.environ, **of.environment(None)}, capture_output=True, text=True, check=True).stdout
    assert "7 rows" in run(store, "export", str(file))
    assert "7 rows, of which 0" in run(copy, "import", str(file))
    assert run(copy, "list") == run(store, "list") == "(everybody): 2 bodies, 1 aliases, 1 robots\n"
    server = Server(copy, f"copy-{store.name}")
    assert server.missing(ids) == [] and server.alias("it") == ids[0] and server.ok("GetRobot", id=robot)
    server.stop()
    return "7 rows"


def reopen(store, options):
    batch, count, last = 1_000, options.polytopes, None
    server = Server(store, "reopen", slow=40)
    begin = time.monotonic()
    for first in range(0, count, batch):
        last = server.register(*(cube(k) for k in range(first, min(first + batch, count))))[-1]
    written = time.monotonic() - begin
    server.stop()
    server = Server(store, "reopen")
    known = server.ok("GetServerInfo").usage.polytopes
    began = server.started_in
    assert known == count, known
    assert server.metric("clearance_store_loads_total") == 0
    begin = time.monotonic()
    server.ok("GetPolytope", id=last)
    read = time.monotonic() - begin
    server.stop()
    assert began < 10, began
    return f"{count} written in {written:.1f} s, known {began:.2f} s after the start, one of them read in {1000 * read:.0f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    parser.add_argument("--stores", default="memory,redb,moto,seaweedfs")
    parser.add_argument("--tests", default="moves,two,kill,faults,flipped,down,export,reopen")
    parser.add_argument("--moves", type=int, default=1_000)
    parser.add_argument("--polytopes", type=int, default=100_000)
    options = parser.parse_args()
    binary = str(pathlib.Path(options.clearance).resolve())
    kinds = {kind.name: kind for kind in (Memory, Redb, Moto, SeaweedFS)}
    with tempfile.TemporaryDirectory() as folder:
        options.elsewhere = Server(Memory(binary, pathlib.Path(folder)))
        try:
            for name in options.stores.split(","):
                store = kinds[name](binary, pathlib.Path(folder))
                try:
                    for test in options.tests.split(","):
                        of_buckets = test in ("two", "faults", "flipped", "down")
                        if of_buckets and not store.is_bucket or test in ("export", "reopen") and not store.is_kept:
                            continue
                        begin = time.monotonic()
                        told = globals()[test](store, options)
                        print(f"{name:10} {test:8} {time.monotonic() - begin:6.1f} s  {told}", flush=True)
                finally:
                    store.stop()
        finally:
            options.elsewhere.kill()


main()
