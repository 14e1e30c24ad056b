#!/usr/bin/env python3
"""Certificates that are replaced while a server is in use, and clients whose authority is taken out.

    rotations  the server's certificate is replaced again and again, each time until it is in force, and authorities of clients
               come and go beside; calls, new connections and a session's frames go on all the while: none fails
    removal    an authority of clients is taken out, and nobody tells the server (no SIGHUP): a client of it with the session
               of TLS from before is let in no more, and its streams are ended, within ten seconds

Needs grpcio and cryptography.
usage: rotations.py CLEARANCE [--rotations 1000] [--removals 5]
"""
import argparse, pathlib, random, socket, ssl, sys, tempfile, threading, time

from calling import Authority, CUBE, Report, Server, put, reflected, wait
import grpc

WITHIN = 10  # seconds
LOADS = 6  # threads that call
FRAMES = 20  # a second


class Place:
    """The files of a server, and who is who."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.ours, self.clients, self.other = Authority("ours"), Authority("clients"), Authority("other")
        self.own = self.clients.issue("a client")
        self.show(*self.ours.issue("localhost"))
        self.let_in(self.clients)

    def show(self, certificate, key):
        put(self.folder / "key", key)
        put(self.folder / "crt", certificate)

    def let_in(self, *authorities):
        put(self.folder / "ca", b"".join(authority.pem() for authority in authorities))

    def flags(self):
        return ["--tls-cert", self.folder / "crt", "--tls-key", self.folder / "key", "--tls-client-ca", self.folder / "ca"]

    def channel(self, address, own=None):
        certificate, key = own or self.own
        credentials = grpc.ssl_channel_credentials(self.ours.pem(), key, certificate)
        return grpc.secure_channel(address, credentials, [("grpc.use_local_subchannel_pool", 1)])

    def context(self, own=None, version=None):
        context = ssl.create_default_context(cadata=self.ours.pem().decode())
        certificate, key = own or self.own
        chain = self.folder / f"own-{threading.get_ident()}"
        chain.write_bytes(certificate + key)
        context.load_cert_chain(chain)
        context.set_alpn_protocols(["h2"])
        if version:
            context.minimum_version = context.maximum_version = version
        return context


def shown(place, server):
    """The certificate that a new connection is shown."""
    with socket.create_connection(("127.0.0.1", server.port), 5) as plain, place.context().wrap_socket(plain, server_hostname="localhost") as safe:
        return safe.getpeercert(True)


class Load:
    """Calls over connections that stay, over new ones, and frames of a session; what failed."""

    def __init__(self, wire, place, server):
        self.wire, self.place, self.server = wire, place, server
        self.over, self.failed, self.calls, self.connections, self.frames = threading.Event(), [], 0, 0, 0
        self.question = wire.make("CheckCollision", {"p": {"vertices": {"xyz": CUBE}}, "q": {"vertices": {"xyz": [3, 4, 0]}}})
        self.lock = threading.Lock()
        jobs = [lambda k=k: self.call(1 if k % 2 else 200) for k in range(LOADS)] + [self.stream]
        self.threads = [threading.Thread(target=job) for job in jobs]
        for thread in self.threads:
            thread.start()

    def call(self, per_connection):
        while not self.over.is_set():
            with self.place.channel(self.server.address) as channel:
                for _ in range(per_connection):
                    reply = self.wire.call("CheckCollision", self.question, 20, channel)
                    with self.lock:
                        self.calls += 1
                        if reply.code != "OK":
                            self.failed.append(repr(reply))
                    if self.over.is_set():
                        break
            with self.lock:
                self.connections += 1

    def stream(self):
        body = {"id": 1, "parts": [{"vertices": {"xyz": CUBE}}]}
        channel = self.place.channel(self.server.address)

        def requests():
            yield self.wire.make("StreamSession", {"open": {"sessionId": "rotated", "state": {"bodies": [body, {**body, "id": 2}]}}})
            for frame in range(1, 1 << 30):
                if self.over.wait(1 / FRAMES):
                    return
                poses = [{"id": 1, "pose": {"translation": {"x": frame % 3}}}]
                yield self.wire.make("StreamSession", {"frame": {"frameId": str(frame), "poses": poses}})
        try:
            for reply in self.wire.stub("StreamSession", channel)(requests()):
                self.frames += reply.HasField("report") and not reply.report.HasField("status")
        except grpc.RpcError as error:
            self.failed.append(f"the stream of a session: {error.code()}")
        channel.close()

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join(60)


def rotations(wire, place, server, count, report):
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    start, slowest = time.monotonic(), 0.0
    load = Load(wire, place, server)
    serial = lambda der: x509.load_der_x509_certificate(der).serial_number
    for k in range(count):
        certificate, key = place.ours.issue("localhost")
        place.show(certificate, key)
        if k % 10 == 0:
            place.let_in(*[place.clients, place.other][:1 + k // 10 % 2])
        server.hang_up()
        expected = x509.load_pem_x509_certificate(certificate).public_bytes(serialization.Encoding.DER)
        slowest = max(slowest, wait(20, lambda: serial(shown(place, server)) == serial(expected), f"rotation {k} is not in force", 0.002))
    load.end()
    report.holds(not load.failed, f"{len(load.failed)} calls failed: {load.failed[:3]}")
    report.holds(load.calls > count / 10 and load.frames > 0, "there was no load")
    print(f"rotations: {count} in {time.monotonic() - start:.0f} s, each in force within {slowest:.2f} s; {load.calls} calls over "
          f"{load.connections + LOADS} connections and {load.frames} frames of one stream, {len(load.failed)} failed", flush=True)


def resumed(place, server, context, session):
    """Whether a connection is let in, and with what session; TLS 1.3 tells who is kept out only after the handshake."""
    try:
        with socket.create_connection(("127.0.0.1", server.port), 5) as plain, \
                context.wrap_socket(plain, server_hostname="localhost", session=session) as safe:
            safe.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
            if not safe.recv(9):
                return None, False
            return safe.session, safe.session_reused
    except OSError:  # of which those of TLS are some
        return None, False


def removal(wire, place, server, report):
    """Takes the authority out, and says how long its clients stayed, by stream and by new connections."""
    place.let_in(place.clients, place.other)
    server.hang_up()
    gone, stays = place.own, place.other.issue("another client")
    contexts = [place.context(version=version) for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)]
    tickets = [resumed(place, server, context, None) for context in contexts]
    report.holds(all(ticket for ticket, _ in tickets), "a client is not let in")
    again = [resumed(place, server, context, ticket) for context, (ticket, _) in zip(contexts, tickets)]
    report.holds(all(ticket and not was_resumed for ticket, was_resumed in again), "a session of TLS is resumed")
    channel, other = place.channel(server.address, gone), place.channel(server.address, stays)
    wait(20, lambda: wire.call("Check", {}, 5, other).code == "OK", "the other client is not let in")
    wire.call("OpenSession", {"sessionId": "watched", "replace": True}, 20, channel)
    watches = {name: iter(wire.stub("WatchSession", way)(wire.make("WatchSession", {"sessionId": "watched"})))
               for name, way in (("gone", channel), ("stays", other))}
    for watch in watches.values():
        next(watch)
    ended = {}

    def follow(name):
        try:
            for _ in watches[name]:
                pass
        except grpc.RpcError:
            pass
        ended[name] = time.monotonic()
    for name in watches:
        threading.Thread(target=follow, args=(name,), daemon=True).start()
    time.sleep(random.uniform(0, WITHIN))  # at any moment between two looks of the server
    start = time.monotonic()
    place.let_in(place.other)
    refused = [wait(2 * WITHIN, lambda: not resumed(place, server, context, ticket)[0], "a client is let in still", 0.05)
               for context, (ticket, _) in zip(contexts, tickets)][0]
    wait(2 * WITHIN, lambda: "gone" in ended, "its stream goes on")
    stopped = ended["gone"] - start
    report.holds(refused <= WITHIN and stopped <= WITHIN, f"refused after {refused:.1f} s, streams ended after {stopped:.1f} s")
    report.holds("stays" not in ended and wire.call("GetServerInfo", {}, 5, other).code == "OK", "the other client's stream ended, too")
    for way in (channel, other):
        way.close()
    return refused, stopped


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    parser.add_argument("--rotations", type=int, default=1000)
    parser.add_argument("--removals", type=int, default=5)
    options = parser.parse_args()
    report, wire = Report(), reflected(options.clearance)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        with Server(options.clearance, folder, *place.flags()) as server:
            rotations(wire, place, server, options.rotations, report)
            took = [removal(wire, place, server, report) for _ in range(options.removals)]
            print(f"removal: refused after at most {max(one for one, _ in took):.1f} s, streams ended after at most "
                  f"{max(one for _, one in took):.1f} s, of {len(took)}; nothing is resumed")
        if report.broken:
            print(server.log.read_text()[-2000:])
    sys.exit(1 if report.broken else 0)


if __name__ == "__main__":
    main()
