"""What the scripts about safety share: a server with TLS, keys or tokens, certificates, and callers that bring something."""
import collections, datetime, pathlib, signal, subprocess, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "certificates"))
from tampering import ROOT, helpers  # first: it says where the others are
import grpc  # noqa: E402
from client import Report, Wire  # noqa: E402

__all__ = ["ROOT", "Authority", "Bring", "Report", "Server", "helpers", "key_line", "reflected", "wait"]

# Whoever ends a script ends what it started.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))

CUBE = [float(k >> axis & 1) for k in range(8) for axis in range(3)]


def reflected(clearance):
    """The messages, as a server describes them that asks nobody who he is."""
    port = helpers.free_port()
    server = helpers.start(clearance, port)
    try:
        wire = Wire(f"127.0.0.1:{port}", 1)
        # All that is needed later, since the server goes.
        for name in ("Status", "ErrorInfo", "BadRequest", "RetryInfo"):
            wire.type(f"google.rpc.{name}")
        return wire
    finally:
        server.terminate()
        server.wait(30)


def key_line(clearance, name, tenant, role):
    """A new key, and its line for the server's file."""
    said = subprocess.run([clearance, "key", "--name", name, "--tenant", tenant, "--role", role], check=True, capture_output=True, text=True)
    key, line = said.stdout.split("\n")[:2]
    return key, line


class Bring(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor, grpc.StreamUnaryClientInterceptor,
            grpc.StreamStreamClientInterceptor):
    """Brings a key or a token with each call over a channel."""

    Details = collections.namedtuple("Details", ("method", "timeout", "metadata", "credentials", "wait_for_ready", "compression"))

    class Call(Details, grpc.ClientCallDetails):
        pass

    def __init__(self, key):
        self.key = key

    def bring(self, go_on, details, request):
        metadata = [*(details.metadata or ()), ("authorization", f"Bearer {self.key}")]
        return go_on(Bring.Call(details.method, details.timeout, metadata, details.credentials, details.wait_for_ready,
                                details.compression), request)

    intercept_unary_unary = intercept_unary_stream = intercept_stream_unary = intercept_stream_stream = bring

    @staticmethod
    def over(channel, key):
        return grpc.intercept_channel(channel, Bring(key))


class Server:
    """One that is started with these flags, on a port of the loopback interface."""

    def __init__(self, clearance, folder, *flags):
        self.port = helpers.free_port()
        self.log = pathlib.Path(folder) / f"server-{self.port}.log"
        self.address = f"127.0.0.1:{self.port}"
        log = open(self.log, "w")
        self.process = subprocess.Popen([clearance, "serve", "--listen", self.address, *map(str, flags)], stdout=log, stderr=log)
        wait(30, lambda: "listening on" in self.log.read_text() or self.process.poll() is not None, "the server does not start")
        assert self.process.poll() is None, self.log.read_text()

    def hang_up(self):
        """Tells it to read its files again."""
        self.process.send_signal(signal.SIGHUP)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)


class Authority:
    """One that signs certificates. (X.509, RFC 5280)"""

    def __init__(self, name):
        from cryptography import x509
        from cryptography.hazmat.primitives.asymmetric import ec
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.certificate = self.signed(self.name, self.key, x509.BasicConstraints(ca=True, path_length=None))

    def signed(self, subject, key, constraints):
        import ipaddress
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key.public_key())
                   .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(minutes=5))
                   .not_valid_after(now + datetime.timedelta(days=1)).add_extension(constraints, critical=True)
                   .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
                                  critical=False))
        return builder.sign(self.key, hashes.SHA256())

    def pem(self):
        return written(self.certificate)

    def issue(self, name, key=None):
        """A certificate and its key, both PEM."""
        from cryptography import x509
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        key = key or ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        certificate = self.signed(subject, key, x509.BasicConstraints(ca=False, path_length=None))
        secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return written(certificate), secret


def written(certificate):
    from cryptography.hazmat.primitives import serialization
    return certificate.public_bytes(serialization.Encoding.PEM)


def put(path, content):
    """Replaces a file as a whole."""
    path = pathlib.Path(path)
    other = path.with_suffix(".new")
    other.write_bytes(content if isinstance(content, bytes) else content.encode())
    other.rename(path)


def wait(seconds, fact, words, every=0.02):
    """Waits until something holds, and says for how long."""
    start = time.monotonic()
    while not fact():
        assert time.monotonic() < start + seconds, words
        time.sleep(every)
    return time.monotonic() - start
