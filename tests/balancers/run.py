#!/usr/bin/env python3
"""Three servers behind a balancer with the file that `deploy/balancers` ships, and sessions whose frames go on while
servers drain, come back and are killed: what is said has to be what one server says that nobody disturbs, to the last bit.

    sticks   a session lives on the server that its header leads to, and calls about it get there
    drain    SIGTERM with a delay: every session is gone before the drain, by its notice; no stream breaks
    back     the server comes back: only sessions that the ring gives it go there, when they are asked to connect anew
    kill     SIGKILL: its sessions are opened anew elsewhere, with what their client knows; all others stay
    watch    a watcher reaches a session where the session says that it lives, past the balancer

The client here keeps what docs/several-servers.md says that one has to: bodies as the last report confirmed them, contacts
that were announced, and the frame that is not answered. Needs grpcio, and haproxy or envoy.
usage: run.py CLEARANCE [--balancer haproxy|envoy] [--sessions 40] [--hertz 5] [--seed 1]
"""
import argparse, asyncio, pathlib, random, shutil, signal, subprocess, sys, tempfile, time
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "certificates"))
from tampering import ROOT, helpers  # first: it says where the others are
import grpc  # noqa: E402
from google.protobuf import json_format, message_factory  # noqa: E402
from client import Wire  # noqa: E402

DRAIN_DELAY = 4
RECONNECT = 6  # seconds, give or take a tenth, until a stream is asked to connect anew
CUBE = [float(k >> axis & 1) for k in range(8) for axis in range(3)]
SERVICE = "/clearance.v1.SessionService/"


class Fleet:
    """Three servers, and what is before them."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.ports = [helpers.free_port() for _ in range(3)]
        self.pages = [helpers.free_port() for _ in range(3)]
        self.front = helpers.free_port()
        self.servers, self.logs = [None] * 3, []
        for k in range(3):
            self.start(k)
        self.balancer = getattr(self, options.balancer)()

    def start(self, k):
        address = f"127.0.0.1:{self.ports[k]}"
        log = open(self.folder / f"server-{k}.log", "a")
        self.servers[k] = subprocess.Popen(
            [self.options.clearance, "serve", "--listen", address, "--http", f"127.0.0.1:{self.pages[k]}", "--advertise", address,
             "--drain-delay-seconds", str(DRAIN_DELAY), "--drain-seconds-max", "5", "--reconnect-seconds", str(RECONNECT),
             "--compute-threads", "1"], stdout=log, stderr=log)
        with grpc.insecure_channel(address) as channel:
            grpc.channel_ready_future(channel).result(30)

    def haproxy(self):
        text = (ROOT / "deploy/balancers/haproxy.cfg").read_text()
        text = text.replace("bind :50061", f"bind 127.0.0.1:{self.front}").replace("/run/haproxy/admin.sock", str(self.folder / "socket"))
        for k in range(3):
            text = text.replace(f"server s{k + 1} 10.0.0.{k + 1}:50061", f"server s{k + 1} 127.0.0.1:{self.ports[k]}")
            text = text.replace("port 50062", f"port {self.pages[k]}", 1)
        (self.folder / "haproxy.cfg").write_text(text)
        assert "10.0.0" not in text and ":50061" not in text.replace("#", "").split("bind 127")[1], text
        subprocess.run(["haproxy", "-c", "-q", "-f", self.folder / "haproxy.cfg"], check=True)
        log = open(self.folder / "balancer.log", "w")
        return subprocess.Popen(["haproxy", "-db", "-f", self.folder / "haproxy.cfg"], stdout=log, stderr=log)

    def envoy(self):
        text = (ROOT / "deploy/balancers/envoy.yaml").read_text()
        text = text.replace("0.0.0.0, port_value: 50061", f"127.0.0.1, port_value: {self.front}").replace("/etc/envoy", str(self.folder))
        (self.folder / "envoy.yaml").write_text(text)
        text = (ROOT / "deploy/balancers/endpoints.yaml").read_text()
        for k in range(3):
            text = text.replace(f"10.0.0.{k + 1}, port_value: 50061", f"127.0.0.1, port_value: {self.ports[k]}")
        (self.folder / "endpoints.yaml").write_text(text)
        log = open(self.folder / "balancer.log", "w")
        envoy = shutil.which("envoy") or str(pathlib.Path(sys.executable).parent / "envoy")
        return subprocess.Popen([envoy, "-c", self.folder / "envoy.yaml", "--disable-hot-restart", "--concurrency", "1", "-l", "warn"],
                                stdout=log, stderr=log)

    def stop(self):
        for process in [*self.servers, self.balancer]:
            if process and process.poll() is None:
                process.kill()
                process.wait()


class Types:
    """Messages, as reflection describes them."""

    def __init__(self, wire):
        self.wire = wire

    def __call__(self, name, fields=None):
        made = message_factory.GetMessageClass(self.wire.pool.FindMessageTypeByName(f"clearance.v1.{name}"))
        return json_format.ParseDict(fields, made()) if fields is not None else made


def scene(draw):
    """Bodies, and the frames of their walk: they meet and part again and again."""
    bodies = [{"id": k + 1, "parts": [{"vertices": {"xyz": CUBE}}], "pose": {"translation": {"x": 2.0 * k}}} for k in range(4)]
    at = [[2.0 * k, 0.0, 0.0] for k in range(4)]
    while True:
        poses = []
        for k in draw.sample(range(4), 2):
            at[k] = [max(-1.0, min(5.0, at[k][0] + draw.uniform(-0.9, 0.9))), draw.uniform(-0.6, 0.6), 0.0]
            poses.append({"id": k + 1, "pose": {"translation": dict(zip("xyz", at[k]))}})
        yield bodies, poses


class Session:
    """One client with its session, which outlives servers."""

    def __init__(self, fleet, types, number, seed):
        self.fleet, self.types, self.id = fleet, types, f"session-{seed}-{number}"
        self.frames = scene(random.Random(f"{seed} {number}"))
        self.bodies, self.first_poses = next(self.frames)
        self.sent = []           # the poses of each frame, for the run that is undisturbed
        self.told = []           # what was said of it
        self.contacts = {}       # announced, and not ended: pair to frame
        self.gaps, self.places, self.broken = [], [], Counter()
        self.channel = grpc.aio.insecure_channel(f"127.0.0.1:{fleet.front}", options=[("grpc.use_local_subchannel_pool", 1)])

    def opening(self):
        """All that a client has to know to go on anywhere."""
        contacts = [{"pair": {"a": a, "b": b}, "beganFrameId": str(frame)} for (a, b), frame in sorted(self.contacts.items())]
        return {"open": {"sessionId": self.id, "sessionKey": "a-secret", "replace": True, "canonical": True, "report": REPORT,
                         "state": {"bodies": self.bodies, "contacts": contacts, "frameId": str(len(self.told))}}}

    async def attach(self):
        method = self.channel.stream_stream(SERVICE + "StreamSession", request_serializer=lambda m: m.SerializeToString(),
                                            response_deserializer=self.types("StreamSessionResponse").FromString)
        self.must_go = False
        self.stream = method(metadata=[("clearance-session", self.id)])
        await self.stream.write(self.types("StreamSessionRequest", self.opening()))
        reply = await asyncio.wait_for(self.stream.read(), 10)
        if reply is grpc.aio.EOF:
            raise EOFError
        assert not reply.opened.report.events, reply.opened.report.events
        self.places.append((time.monotonic(), reply.opened.server_address))
        self.incarnation = reply.opened.incarnation

    async def step(self, poses):
        """Sends a frame until it is answered; what the answer says is what this client knows from then on."""
        number = len(self.told) + 1
        frame = self.types("StreamSessionRequest", {"frame": {"frameId": str(number), "poses": poses}})
        for attempt in range(200):
            try:
                if self.stream is None or self.must_go:
                    if self.stream is not None:
                        self.stream.cancel()
                    await self.attach()
                await self.stream.write(frame)
                while True:
                    reply = await asyncio.wait_for(self.stream.read(), 10)
                    if reply is grpc.aio.EOF:
                        raise EOFError
                    if reply.notice:
                        self.must_go = True
                        self.state_told = reply.HasField("state")
                    if reply.HasField("report"):
                        break
            except (grpc.aio.AioRpcError, EOFError, asyncio.TimeoutError, asyncio.InvalidStateError, grpc.aio.UsageError) as error:
                self.broken[type(error).__name__ if not isinstance(error, grpc.aio.AioRpcError) else error.code().name] += 1
                self.stream = None
                await asyncio.sleep(0.05)
                continue
            report = reply.report
            assert report.frame_id == number and not report.HasField("status"), report
            self.learn(poses, report)
            return
        raise AssertionError(f"{self.id}: no server answers: {self.broken}")

    def learn(self, poses, report):
        for moved in poses:
            self.bodies[moved["id"] - 1]["pose"] = moved["pose"]
        for event in report.events:
            pair, begins = (event.a, event.b), event.kind == BEGAN
            assert (pair in self.contacts) != begins, f"{self.id}: lost or told twice: {event}"
            if begins:
                self.contacts[pair] = report.frame_id
            else:
                del self.contacts[pair]
        self.sent.append(poses)
        self.told.append(plain(report))

    async def go(self, hertz, until):
        self.stream, self.must_go = None, True
        due, last = time.monotonic() + random.random() / hertz, None
        while not until.is_set():
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            _, poses = next(self.frames)
            await self.step(poses)
            now = time.monotonic()
            if last is not None:
                self.gaps.append((now, now - last))
            last, due = now, max(due + 1 / hertz, now)
        self.stream.cancel()
        await self.channel.close()


REPORT = {"pairs": "PAIR_SELECTION_ALL", "distances": True, "depths": True, "firstContacts": True}
BEGAN = 1


def plain(report):
    """A report without what it cost."""
    kept = type(report)()
    kept.CopyFrom(report)
    kept.ClearField("cost")
    return kept.SerializeToString(deterministic=True)


def cold(wire, types, session):
    """The same frames on one server that nobody disturbs."""
    bodies, _ = next(scene(random.Random(session.id.replace("session-", "").replace("-", " "))))
    opening = {"sessionId": session.id, "canonical": True, "report": REPORT, "state": {"bodies": bodies}}
    assert wire.call("OpenSession", opening).code == "OK"
    for first in range(0, len(session.sent), 50):
        frames = [{"frameId": str(first + k + 1), "poses": poses} for k, poses in enumerate(session.sent[first:first + 50])]
        reply = wire.call("StepSession", {"sessionId": session.id, "frames": frames}, 60)
        assert reply.code == "OK", reply
        for k, report in enumerate(reply.message.reports):
            yield first + k, plain(report)


class Ring:
    """Where the balancer sends whom, as a question with the header tells."""

    def __init__(self, fleet, types, ids):
        self.channel = grpc.aio.insecure_channel(f"127.0.0.1:{fleet.front}")
        self.ask = self.channel.unary_unary("/clearance.v1.ServerService/GetServerInfo", request_serializer=lambda m: m.SerializeToString(),
                                            response_deserializer=types("GetServerInfoResponse").FromString)
        self.types, self.ids = types, ids

    async def __call__(self):
        found = {}
        for id in self.ids:
            for _ in range(50):
                try:
                    found[id] = (await self.ask(self.types("GetServerInfoRequest", {}), metadata=[("clearance-session", id)])).server_address
                    break
                except grpc.aio.AioRpcError:
                    await asyncio.sleep(0.1)
        assert len(found) == len(self.ids)
        return found


async def until(seconds, fact, words):
    end = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < end, words
        await asyncio.sleep(0.05)


async def play(fleet, types, sessions, hertz):
    over, address = asyncio.Event(), [f"127.0.0.1:{port}" for port in fleet.ports]
    wrong, ring = [], Ring(fleet, types, [session.id for session in sessions] + [f"other-{k}" for k in range(400)])
    tasks = [asyncio.create_task(session.go(hertz, over)) for session in sessions]
    place = lambda session: session.places[-1][1] if session.places else None
    on = lambda where: [session for session in sessions if place(session) == where]
    holds = lambda fact, words: wrong.append(words) if not fact else None
    settled = lambda: all(place(session) is not None for session in sessions)
    try:
        await until(60, settled, "not all sessions were opened")
        begin = await ring()
        holds(all(place(session) == begin[session.id] for session in sessions), "a session lives where its header does not lead")
        spread = Counter(begin.values())
        holds(len(spread) == 3, f"not all servers are used: {spread}")
        print(f"sticks: {len(sessions)} sessions, {dict(Counter(map(place, sessions)))}", flush=True)

        broken, start = sum(sum(session.broken.values()) for session in sessions), time.monotonic()
        leaving = on(address[1])
        fleet.servers[1].send_signal(signal.SIGTERM)
        await until(DRAIN_DELAY, lambda: not on(address[1]), f"{len(on(address[1]))} sessions had not left before the drain")
        left = time.monotonic() - start
        await until(20, lambda: fleet.servers[1].poll() is not None, "the drained server has not ended")
        broken = sum(sum(session.broken.values()) for session in sessions) - broken
        gaps = [gap for session in leaving for at, gap in session.gaps if at > start]
        holds(broken == 0, f"drain: {broken} streams broke")
        holds(fleet.servers[1].poll() == 0, "the drained server ended with an error")
        print(f"drain: {len(leaving)} sessions left within {left:.2f} s, {broken} frames failed, longest gap {max(gaps, default=0) * hertz:.2f} periods")
        without = await ring()
        needless = [id for id in begin if begin[id] != address[1] and without[id] != begin[id]]
        holds(not needless, f"{len(needless)} of {len(begin)} moved needlessly when a server went")

        fleet.start(1)
        for _ in range(100):
            again = await ring()
            if address[1] in again.values():
                break
            await asyncio.sleep(0.1)
        needless = [id for id in without if again[id] not in (without[id], address[1])]
        holds(not needless, f"{len(needless)} moved needlessly when a server came")
        holds(again == begin, "the ring is another one with the same servers")
        await until(30, lambda: all(place(session) == again[session.id] for session in sessions),
                    "not all sessions came where their header leads when they were asked to")
        print(f"back: {len(on(address[1]))} sessions went to the server that came, {len(needless)} of {len(begin)} ids moved needlessly")

        start, killed = time.monotonic(), on(address[2])
        stay = {session.id: place(session) for session in sessions if place(session) != address[2]}
        fleet.servers[2].kill()
        await until(30, lambda: not on(address[2]), "sessions of the killed server were not opened anew")
        await asyncio.sleep(1.5)
        moved = [session.id for session in sessions if session.id in stay and place(session) != stay[session.id]]
        holds(not moved, f"{len(moved)} sessions of other servers moved")
        gaps = sorted(max((gap for at, gap in session.gaps if at > start), default=0) for session in killed)
        worst = gaps[min(len(gaps) - 1, int(0.99 * len(gaps)))] if gaps else 0
        holds(worst < 1, f"kill: 99 % of the gaps are up to {worst:.2f} s")
        print(f"kill: {len(killed)} sessions opened anew, longest gaps: half {gaps[len(gaps) // 2]:.2f} s, 99 % {worst:.2f} s; {len(moved)} others moved")

        watched = sessions[0]
        async with grpc.aio.insecure_channel(place(watched)) as direct:
            watch = direct.unary_stream(SERVICE + "WatchSession", request_serializer=lambda m: m.SerializeToString(),
                                        response_deserializer=types("WatchSessionResponse").FromString)
            news = watch(types("WatchSessionRequest", {"sessionId": watched.id, "sessionKey": "a-secret"}))
            state = await asyncio.wait_for(news.read(), 5)
            frame = await asyncio.wait_for(news.read(), 5)
            holds(state.HasField("state") and (frame.HasField("frame") or frame.notice), "a watcher learns nothing where the session lives")
            news.cancel()
        print("watch: a watcher is told what happens where the session says that it lives")
    finally:
        over.set()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        wrong += [repr(error) for error in ended if isinstance(error, Exception)][:5]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    parser.add_argument("--balancer", choices=("haproxy", "envoy"), default="haproxy")
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--hertz", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        fleet = Fleet(options, folder)
        port = helpers.free_port()
        undisturbed = helpers.start(options.clearance, port)
        try:
            wire = Wire(f"127.0.0.1:{port}", 4)
            types = Types(wire)
            async def run():
                sessions = [Session(fleet, types, k, options.seed) for k in range(options.sessions)]
                return sessions, await play(fleet, types, sessions, options.hertz)
            sessions, wrong = asyncio.run(run())
            frames = events = 0
            for session in sessions:
                frames += len(session.told)
                for k, expected in cold(wire, types, session):
                    if session.told[k] != expected:
                        wrong.append(f"{session.id}: frame {k + 1} was answered otherwise")
                        break
                    events += len(types("FrameReport").FromString(expected).events)
            print(f"equal: {frames} frames with {events} events as on one server")
            if wrong:
                print((folder / "balancer.log").read_text()[-3000:])
        finally:
            fleet.stop()
            undisturbed.terminate()
            undisturbed.wait(30)
    for line in wrong[:20]:
        print(f"   BROKEN: {line}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
