"""Clients with their sessions, in a process of their own that is told what to do through a pipe.

The client here keeps what docs/several-servers.md says that one has to: bodies as the last report confirmed them, contacts
that were announced, and the frame that is not answered."""
import asyncio, collections, hashlib, random, time

import fleet  # it says where the others are
import grpc
from google.protobuf import message_factory
from client import Wire

CUBE = [float(k >> axis & 1) for k in range(8) for axis in range(3)]
BODIES, MOVED = 4, 2
SERVICE = "/clearance.v1.SessionService/"
KEY = "a-secret"
BEGAN, ALL = 1, 4
PER_CHANNEL = 25  # sessions that share a connection
ANSWER_SECONDS = 2  # without an answer for so long, a client asks elsewhere
LEAVE_SECONDS = 1.5  # who is told that a server is about to drain leaves within so long, so that not all leave at once


class Types:
    """Messages as reflection describes them."""

    def __init__(self, wire):
        self.wire, self.made = wire, {}

    def __getattr__(self, name):
        if name not in self.made:
            self.made[name] = message_factory.GetMessageClass(self.wire.pool.FindMessageTypeByName(f"clearance.v1.{name}"))
        return self.made[name]

    def walk(self, seed, number):
        """The frames of a scene: its bodies meet and part again and again."""
        draw = random.Random(f"{seed} {number}")
        at = [[2.0 * k, 0.0, 0.0] for k in range(BODIES)]
        for frame_id in range(1, 1 << 30):
            frame = self.Frame(frame_id=frame_id)
            for k in draw.sample(range(BODIES), MOVED):
                at[k] = [max(-1.0, min(5.0, at[k][0] + draw.uniform(-0.9, 0.9))), draw.uniform(-0.6, 0.6), 0.0]
                frame.packed_poses.ids.append(k + 1)
                frame.packed_poses.translations.extend(at[k])
            yield frame

    def opening(self, id, at, contacts, frame_id):
        """All that a client has to know to go on anywhere."""
        opening = self.OpenSessionRequest(session_id=id, session_key=KEY, replace=True, canonical=True)
        opening.report.pairs = ALL
        opening.report.distances = opening.report.depths = opening.report.first_contacts = True
        opening.state.frame_id = frame_id
        for k in range(BODIES):
            body = opening.state.bodies.add(id=k + 1)
            body.parts.add().vertices.xyz.extend(CUBE)
            body.pose.translation.x, body.pose.translation.y, body.pose.translation.z = at[k]
        for (a, b), began in sorted(contacts.items()):
            contact = opening.state.contacts.add(began_frame_id=began)
            contact.pair.a, contact.pair.b = a, b
        return opening


def first_places():
    return [(2.0 * k, 0.0, 0.0) for k in range(BODIES)]


def digest(report):
    """What a report says, without what it cost."""
    report.ClearField("cost")
    return hashlib.blake2b(report.SerializeToString(deterministic=True), digest_size=12).digest()


class Session:
    """One client with its session, which outlives servers."""

    def __init__(self, channel, types, seed, number):
        self.channel, self.types, self.seed, self.number = channel, types, seed, number
        self.id = f"session-{seed}-{number}"
        self.at, self.contacts = first_places(), {}  # contacts: announced, and not ended: pair to frame
        self.told = []  # what was said of each frame, as digests
        self.events = 0
        self.gaps = collections.deque(maxlen=4000)
        self.places, self.broken = [], collections.Counter()
        self.stream, self.leave_at = None, None

    async def attach(self):
        opening = self.types.StreamSessionRequest(open=self.types.opening(self.id, self.at, self.contacts, len(self.told)))
        if self.stream is not None:
            self.stream.cancel()
        self.leave_at = None
        method = self.channel.stream_stream(SERVICE + "StreamSession", request_serializer=lambda m: m.SerializeToString(),
                                            response_deserializer=self.types.StreamSessionResponse.FromString)
        self.stream = method(metadata=[("clearance-session", self.id)])
        await self.stream.write(opening)
        async with asyncio.timeout(ANSWER_SECONDS):
            reply = await self.stream.read()
        if reply is grpc.aio.EOF:
            raise EOFError
        assert not reply.opened.report.events, reply.opened.report.events
        self.places.append((time.monotonic(), reply.opened.server_address))
        self.incarnation = reply.opened.incarnation

    async def asked(self, frame):
        """The report on a frame, over the stream that there is."""
        if self.stream is None:
            await self.attach()
        await self.stream.write(self.types.StreamSessionRequest(frame=frame))
        async with asyncio.timeout(ANSWER_SECONDS):
            while True:
                reply = await self.stream.read()
                if reply is grpc.aio.EOF:
                    raise EOFError
                if reply.notice and self.leave_at is None:
                    self.leave_at = time.monotonic() + random.uniform(0, LEAVE_SECONDS)
                if reply.HasField("report"):
                    return reply.report

    async def step(self, frame):
        """Sends a frame until it is answered; what the answer says is what this client knows from then on."""
        while True:
            try:
                report = await self.asked(frame)
                break
            except (grpc.aio.AioRpcError, EOFError, TimeoutError, asyncio.InvalidStateError, grpc.aio.UsageError) as error:
                self.fails(error)
                await asyncio.sleep(0.05)
        assert report.frame_id == frame.frame_id and not report.HasField("status"), report
        self.learn(frame, report)

    def fails(self, error):
        self.broken[type(error).__name__ if not isinstance(error, grpc.aio.AioRpcError) else error.code().name] += 1
        assert sum(self.broken.values()) < 2000, f"{self.id}: no server answers: {self.broken}"
        if self.stream is not None:
            self.stream.cancel()
        self.stream = None

    def learn(self, frame, report):
        poses = frame.packed_poses
        for k, body in enumerate(poses.ids):
            self.at[body - 1] = tuple(poses.translations[3 * k:3 * k + 3])
        for event in report.events:
            pair, begins = (event.a, event.b), event.kind == BEGAN
            assert (pair in self.contacts) != begins, f"{self.id}: lost or told twice: {event}"
            if begins:
                self.contacts[pair] = report.frame_id
            else:
                del self.contacts[pair]
        self.events += len(report.events)
        self.told.append(digest(report))

    async def go(self, hertz, until):
        due, last = time.monotonic() + random.random(), None
        frames = self.types.walk(self.seed, self.number)
        while not until.is_set():
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await self.step(next(frames))
            now = time.monotonic()
            if last is not None:
                self.gaps.append((now, now - last))
            last, due = now, max(due + 1 / hertz, now)
            # Between two frames, so that the next one is not late.
            if self.leave_at is not None and now >= self.leave_at:
                try:
                    await self.attach()
                except (grpc.aio.AioRpcError, EOFError, TimeoutError, asyncio.InvalidStateError) as error:
                    self.fails(error)
        if self.stream is not None:
            self.stream.cancel()


class Worker:
    """Some of the sessions, and what is asked about them."""

    def __init__(self, options, types):
        self.options, self.types = options, types
        channels = [grpc.aio.insecure_channel(options["front"], options=options["channel"])
                    for _ in range(-(-len(options["numbers"]) // PER_CHANNEL))]
        self.channels = channels
        self.sessions = [Session(channels[k // PER_CHANNEL], types, options["seed"], number)
                         for k, number in enumerate(options["numbers"])]

    def answer(self, word, since):
        def gaps(session):
            # A frame that is not answered yet has a gap, too.
            return max((gap for at, gap in session.gaps if at > since), default=0.0)
        ask = {"places": lambda s: s.places[-1][1] if s.places else None,
               "moves": lambda s: [place for at, place in s.places if at > since],
               "gaps": gaps,
               "frames": lambda s: len(s.told),
               "incarnations": lambda s: s.incarnation,
               "broken": lambda s: dict(s.broken)}[word]
        return {session.id: ask(session) for session in self.sessions}

    async def run(self, pipe):
        over, asked, loop = asyncio.Event(), asyncio.Event(), asyncio.get_running_loop()
        loop.add_reader(pipe.fileno(), asked.set)
        tasks = [asyncio.create_task(session.go(self.options["hertz"], over)) for session in self.sessions]
        while not over.is_set():
            await asked.wait()
            asked.clear()
            while pipe.poll():
                word, since = pipe.recv()
                if word == "end":
                    over.set()
                else:
                    pipe.send(self.answer(word, since))
        loop.remove_reader(pipe.fileno())
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        for channel in self.channels:
            await channel.close()
        return [repr(error) for error in ended if isinstance(error, BaseException)]


def cold(wire, types, session):
    """The first frame that one server says otherwise which nobody disturbs, and how many events it tells."""
    opening = types.opening(session.id, first_places(), {}, 0)
    assert wire.call("OpenSession", opening).code == "OK"
    frames, events, batch = types.walk(session.seed, session.number), 0, 100
    for first in range(0, len(session.told), batch):
        some = [next(frames) for _ in range(min(batch, len(session.told) - first))]
        reply = wire.call("StepSession", types.StepSessionRequest(session_id=session.id, session_key=KEY, frames=some), 60)
        assert reply.code == "OK", reply
        for k, report in enumerate(reply.message.reports):
            events += len(report.events)
            if digest(report) != session.told[first + k]:
                return first + k + 1, events
    return None, events


def work(pipe, options):
    """A process of its own: sessions until they are told to end, then the same frames on a server that nobody disturbs."""
    wire = Wire(options["undisturbed"], 4)
    types = Types(wire)

    async def live():
        worker = Worker(options, types)
        return worker, await worker.run(pipe)
    worker, wrong = asyncio.run(live())
    frames = told = events = 0
    for session in worker.sessions:
        at, expected = cold(wire, types, session)
        if at is not None:
            wrong.append(f"{session.id}: frame {at} was answered otherwise")
        elif expected != session.events:
            wrong.append(f"{session.id}: {session.events} events were told in place of {expected}")
        frames, told, events = frames + len(session.told), told + session.events, events + expected
    pipe.send({"frames": frames, "events": told, "expected": events, "wrong": wrong})
