"""The servers that tests/balancers/run.py puts behind a proxy, each in a network of its own where that is allowed, and the
proxy: HAProxy or Envoy with the files of deploy/balancers, or none but the names that gRPC's own ring hash asks for."""
import json, os, pathlib, shutil, socket, struct, subprocess, sys, threading, time, urllib.error, urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "certificates"))
from tampering import ROOT, helpers  # first: it says where the others are

# gRPC takes what a ring is asked for from a header only if it is told to.
os.environ["GRPC_EXPERIMENTAL_RING_HASH_SET_REQUEST_HASH_KEY"] = "true"
import grpc  # noqa: E402

COUNT = 4  # servers, of which the fourth comes later
DRAIN_DELAY = 5
RECONNECT = 8  # seconds, give or take a tenth, until a stream is asked to connect anew
GRPC, PAGES = 50061, 50062


class Networks:
    """A network of its own for each server, that can be cut off; or only addresses of the loopback interface."""

    def __init__(self):
        self.names, self.bridge = [], None
        self.addresses = [f"127.77.0.{k + 1}" for k in range(COUNT)]
        self.home = "127.0.0.1"
        try:
            self.make()
        except (OSError, subprocess.CalledProcessError):
            self.undo()
            self.bridge, self.addresses, self.home = None, [f"127.77.0.{k + 1}" for k in range(COUNT)], "127.0.0.1"

    @property
    def can_cut(self):
        return self.bridge is not None

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True, capture_output=True)

    def make(self):
        net, own = os.getpid() % 250, os.getpid() % 100_000
        self.bridge = f"clb{own}"
        self.ip("link", "add", self.bridge, "type", "bridge")
        self.home = f"10.77.{net}.254"
        self.ip("address", "add", f"{self.home}/24", "dev", self.bridge)
        self.ip("link", "set", self.bridge, "up")
        for k in range(COUNT):
            name, address = f"clr-{own}-{k}", f"10.77.{net}.{k + 1}"
            self.ip("netns", "add", name)
            self.names.append(name)
            self.ip("link", "add", f"clv{own}{k}", "type", "veth", "peer", "name", "eth0", "netns", name)
            self.ip("link", "set", f"clv{own}{k}", "master", self.bridge, "up")
            for words in (["link", "set", "lo", "up"], ["address", "add", f"{address}/24", "dev", "eth0"],
                          ["link", "set", "eth0", "up"]):
                self.ip("-n", name, *words)
            self.addresses[k] = address

    def cut(self, k):
        """Nothing comes through any more, and nobody is told."""
        self.ip("link", "set", f"{self.bridge.replace('clb', 'clv')}{k}", "nomaster")

    def mend(self, k):
        self.ip("link", "set", f"{self.bridge.replace('clb', 'clv')}{k}", "master", self.bridge)

    def within(self, k):
        """What a command begins with that runs there."""
        return ["ip", "netns", "exec", self.names[k]] if self.can_cut else []

    def undo(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        if self.bridge:
            subprocess.run(["ip", "link", "del", self.bridge], capture_output=True)
        self.names = []


class Names:
    """Answers for one name with the servers that take calls, as a headless service of Kubernetes does. (RFC 1035)"""

    def __init__(self, home, addresses):
        self.addresses, self.listed = addresses, []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((home, 0))
        self.at = f"{home}:{self.socket.getsockname()[1]}"
        self.over = False
        for target in (self.answer, self.look):
            threading.Thread(target=target, daemon=True).start()

    def look(self):
        while not self.over:
            found = []
            for address in self.addresses:
                try:
                    urllib.request.urlopen(f"http://{address}:{PAGES}/readyz", timeout=0.4).close()
                    found.append(address)
                except OSError:  # of which those of HTTP are some
                    pass
            self.listed = found
            time.sleep(0.3)

    def answer(self):
        while not self.over:
            query, sender = self.socket.recvfrom(512)
            end = query.index(b"\0", 12) + 5  # the name, its type and its class
            kind = struct.unpack(">H", query[end - 4:end - 2])[0]
            records = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton(address)
                               for address in self.listed if kind == 1)
            head = query[:2] + struct.pack(">HHHHH", 0x8580, 1, len(records) // 16, 0, 0)
            self.socket.sendto(head + query[12:end] + records, sender)


class Fleet:
    """Three servers, a fourth that comes and goes, and what is before them."""

    def __init__(self, clearance, proxy, folder):
        self.clearance, self.proxy, self.folder = clearance, proxy, folder
        self.networks = Networks()
        self.hosts = self.networks.addresses
        self.addresses = [f"{host}:{GRPC}" for host in self.hosts]
        self.servers, self.process, self.names = [None] * COUNT, None, None
        for k in range(3):
            self.start(k)
        self.front, self.options = None, [("grpc.use_local_subchannel_pool", 1)]
        getattr(self, proxy)()

    def start(self, k):
        log = open(self.folder / f"server-{k}.log", "a")
        command = [*self.networks.within(k), self.clearance, "serve", "--listen", self.addresses[k], "--insecure", "--open-sessions",
                   "--http", f"{self.hosts[k]}:{PAGES}", "--advertise", self.addresses[k], "--drain-delay-seconds", str(DRAIN_DELAY),
                   "--drain-seconds-max", "5", "--reconnect-seconds", str(RECONNECT), "--compute-threads", "1"]
        self.servers[k] = subprocess.Popen(command, stdout=log, stderr=log)
        with grpc.insecure_channel(self.addresses[k]) as channel:
            grpc.channel_ready_future(channel).result(30)

    def include(self, listed):
        """Tells the proxy which servers there are."""
        if self.proxy == "haproxy":
            with socket.socket(socket.AF_UNIX) as admin:
                admin.connect(str(self.folder / "socket"))
                admin.sendall(f"set server clearance/s4 state {'ready' if 3 in listed else 'maint'}\n".encode())
                answer = admin.recv(1000).strip()
                assert not answer, answer
        if self.proxy == "envoy":
            entries = "".join("          - {endpoint: {address: {socket_address: {address: %s, port_value: %d}}}}\n" %
                              (self.hosts[k], GRPC) for k in listed)
            head = (ROOT / "deploy/balancers/endpoints.yaml").read_text().split("          - {endpoint")[0]
            (self.folder / "endpoints.new").write_text(head + entries)
            (self.folder / "endpoints.new").rename(self.folder / "endpoints.yaml")

    def haproxy(self):
        self.front = f"127.0.0.1:{helpers.free_port()}"
        text = (ROOT / "deploy/balancers/haproxy.cfg").read_text()
        text = text.replace("bind :50061", f"bind {self.front}").replace("/run/haproxy/admin.sock", str(self.folder / "socket"))
        # The fourth as the file has the others.
        third = next(line for line in text.splitlines() if line.strip().startswith("server s3 "))
        text = text.rstrip("\n") + "\n" + third.replace("s3 10.0.0.3", "s4 10.0.0.4") + " disabled\n"
        for k in range(COUNT):
            text = text.replace(f"server s{k + 1} 10.0.0.{k + 1}:50061", f"server s{k + 1} {self.addresses[k]}")
        assert "10.0.0" not in text and text.count(self.hosts[0].rsplit(".", 1)[0]) >= COUNT, text
        (self.folder / "haproxy.cfg").write_text(text)
        subprocess.run(["haproxy", "-c", "-q", "-f", self.folder / "haproxy.cfg"], check=True)
        self.run(["haproxy", "-db", "-f", self.folder / "haproxy.cfg"])

    def envoy(self):
        self.front = f"127.0.0.1:{helpers.free_port()}"
        text = (ROOT / "deploy/balancers/envoy.yaml").read_text()
        text = text.replace("0.0.0.0, port_value: 50061", self.front.replace(":", ", port_value: ")).replace("/etc/envoy", str(self.folder))
        (self.folder / "envoy.yaml").write_text(text)
        self.include([0, 1, 2])
        envoy = shutil.which("envoy") or str(pathlib.Path(sys.executable).parent / "envoy")
        self.run([envoy, "-c", self.folder / "envoy.yaml", "--disable-hot-restart", "--concurrency", "1", "-l", "warn"])

    def ring_hash(self):
        """No proxy: each client hashes by itself, over the servers that a name leads to."""
        self.names = Names(self.networks.home, self.hosts)
        while len(self.names.listed) < 3:
            time.sleep(0.1)
        self.front = f"dns://{self.names.at}/clearance.test:{GRPC}"
        policy = {"ring_hash_experimental": {"requestHashHeader": "clearance-session", "minRingSize": 1024, "maxRingSize": 8192}}
        config = {"loadBalancingConfig": [policy], "healthCheckConfig": {"serviceName": ""}}
        self.options += [("grpc.service_config", json.dumps(config)), ("grpc.service_config_disable_resolution", 1),
                         # A connection to a server that is cut off is noticed, and another attempt is given up, in a second.
                         ("grpc.keepalive_time_ms", 1000), ("grpc.keepalive_timeout_ms", 1000), ("grpc.min_reconnect_backoff_ms", 1000),
                         ("grpc.initial_reconnect_backoff_ms", 200), ("grpc.max_reconnect_backoff_ms", 1000),
                         ("grpc.dns_min_time_between_resolutions_ms", 500)]

    def run(self, command):
        log = open(self.folder / "balancer.log", "w")
        self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def stop(self):
        if self.names:
            self.names.over = True
        for process in [*self.servers, self.process]:
            if process and process.poll() is None:
                process.kill()
                process.wait()
        self.networks.undo()
