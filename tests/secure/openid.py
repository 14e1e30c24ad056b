#!/usr/bin/env python3
"""Tokens of a real provider of OpenID (npm oidc-provider), and tokens that are none.

    taken    tokens that the provider gives are let in, each with the tenant and the role that it says
    rotated  the provider's keys change under open streams: these go on as long as the key of their token is listed, and end
             with it; tokens of the new key are taken
    refused  other algorithms than the key's (none, HS256 with the public key, PS256), other audiences and issuers, what has
             ended or is still to come, other keys, keys that a token brings itself, and changed or cut tokens
    ended    a stream ends with its token, and whoever asks with it later is refused
    address  (a binary with the feature s3) the server asks the provider itself: a new key is taken when its first token comes,
             calls that come meanwhile are told to try again, and a provider that is gone takes nothing away

Needs grpcio and cryptography, Node, and the package in node_modules of a folder (or npm to fetch it).
usage: openid.py CLEARANCE [--node-modules FOLDER] [--rotations 20]
"""
import argparse, base64, hashlib, hmac, json, pathlib, shutil, subprocess, sys, tempfile, threading, time, urllib.parse, urllib.request

from calling import Bring, Report, Server, helpers, put, reflected, wait
import grpc
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "oidc-provider@9.13.3"
AUDIENCE, ELSEWHERE = "https://clearance.example", "https://elsewhere.example"
LEEWAY = 30  # seconds, by which clocks may differ


def base64url(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def number(value, size=None):
    return base64url(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


class Key:
    """One that signs tokens. (RFC 7517, RFC 7518, RFC 8037)"""

    def __init__(self, algorithm, id):
        self.algorithm, self.id = algorithm, id
        if algorithm == "RS256":
            self.secret = rsa.generate_private_key(65537, 2048)
            own = self.secret.private_numbers()
            self.public = {"kty": "RSA", "n": number(own.public_numbers.n), "e": number(own.public_numbers.e)}
            hidden = {"d": own.d, "p": own.p, "q": own.q, "dp": own.dmp1, "dq": own.dmq1, "qi": own.iqmp}
            hidden = {name: number(value) for name, value in hidden.items()}
        elif algorithm == "EdDSA":
            self.secret = ed25519.Ed25519PrivateKey.generate()
            self.public = {"kty": "OKP", "crv": "Ed25519", "x": base64url(self.secret.public_key().public_bytes_raw())}
            hidden = {"d": base64url(self.secret.private_bytes_raw())}
        else:
            curve, self.size = {"ES256": (ec.SECP256R1(), 32), "ES384": (ec.SECP384R1(), 48)}[algorithm]
            self.secret = ec.generate_private_key(curve)
            own = self.secret.private_numbers()
            at = {"x": number(own.public_numbers.x, self.size), "y": number(own.public_numbers.y, self.size)}
            self.public = {"kty": "EC", "crv": f"P-{curve.key_size}", **at}
            hidden = {"d": number(own.private_value, self.size)}
        self.public |= {"kid": id, "use": "sig", "alg": algorithm}
        self.private = self.public | hidden

    def sign(self, text):
        if self.algorithm == "RS256":
            return self.secret.sign(text, padding.PKCS1v15(), hashes.SHA256())
        if self.algorithm == "EdDSA":
            return self.secret.sign(text)
        hashed = hashes.SHA256() if self.size == 32 else hashes.SHA384()
        r, s = utils.decode_dss_signature(self.secret.sign(text, ec.ECDSA(hashed)))
        return r.to_bytes(self.size, "big") + s.to_bytes(self.size, "big")

    def token(self, claims, sign=None, **header):
        head = {"alg": self.algorithm, "typ": "at+jwt", "kid": self.id} | header
        text = ".".join(base64url(json.dumps(part).encode()) for part in (head, claims)).encode()
        return f"{text.decode()}.{base64url((sign or self.sign)(text))}"


class Provider:
    """The process; with other keys it is started anew."""

    def __init__(self, modules, folder):
        self.modules, self.folder, self.port, self.process = modules, pathlib.Path(folder), helpers.free_port(), None
        self.issuer = f"http://127.0.0.1:{self.port}"

    def start(self, keys):
        self.stop()
        put(self.folder / "keys.json", json.dumps({"keys": [key.private for key in keys]}))
        log = open(self.folder / "provider.log", "w")
        self.process = subprocess.Popen(["node", HERE / "provider.mjs", str(self.port), self.folder / "keys.json"], cwd=self.modules,
                                        stdout=log, stderr=log)
        wait(60, lambda: "ready" in (self.folder / "provider.log").read_text() or self.process.poll() is not None, "no provider")
        assert self.process.poll() is None, (self.folder / "provider.log").read_text()

    def listed(self):
        with urllib.request.urlopen(f"{self.issuer}/jwks", timeout=10) as reply:
            return reply.read()

    def token(self, client, scope, audience=AUDIENCE):
        form = {"grant_type": "client_credentials", "client_id": client, "client_secret": f"{client}-secret", "resource": audience}
        data = urllib.parse.urlencode(form | ({"scope": scope} if scope else {})).encode()
        with urllib.request.urlopen(f"{self.issuer}/token", data, timeout=10) as reply:
            return json.load(reply)["access_token"]

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()


class Play:
    """A server that takes the provider's tokens, and whoever asks it."""

    def __init__(self, wire, server, provider, list, report):
        self.wire, self.server, self.provider, self.list, self.report = wire, server, provider, list, report
        self.channel = grpc.insecure_channel(server.address)

    def ask(self, token, method="ListSessions", request=None):
        return self.wire.call(method, request or {}, 10, Bring.over(self.channel, token))

    def is_taken(self, token, words):
        reply = self.ask(token)
        self.report.holds(reply.code == "OK", f"{words}: {reply}")

    def is_refused(self, token, words):
        reply = self.ask(token)
        self.report.holds(reply.code == "UNAUTHENTICATED" and reply.reason == "UNAUTHENTICATED", f"{words}: {reply}")

    def reads(self, listed):
        put(self.list, listed)
        self.server.hang_up()

    def watch(self, token, id):
        """A stream that is followed; what ends it is put into what is returned."""
        ended, begun = [], threading.Event()
        way = Bring.over(self.channel, token)
        self.wire.call("OpenSession", {"sessionId": id, "replace": True}, 10, way)

        def follow():
            try:
                for _ in self.wire.stub("WatchSession", way)(self.wire.make("WatchSession", {"sessionId": id})):
                    begun.set()
                ended.append("OK")
            except grpc.RpcError as error:
                ended.append(error.code().name)
        threading.Thread(target=follow, daemon=True).start()
        wait(10, lambda: begun.is_set() or ended, f"{id} cannot be watched")
        return ended


def taken(play):
    for client, role in (("acme", "query"), ("acme", "write"), ("acme", "admin"), ("bolt", "write"), ("bolt", "")):
        token = play.provider.token(client, role)
        play.is_taken(token, f"{client} as {role}")
        may = [play.ask(token, "CloseSession", {"sessionId": "nothing"}).code != "PERMISSION_DENIED",
               play.ask(token, "GetServerMetrics").code != "PERMISSION_DENIED"]
        play.report.holds(may == [role in ("write", "admin"), role == "admin"], f"{client} as {role} may {may}")
    acme, bolt = (play.provider.token(client, "write") for client in ("acme", "bolt"))
    assert play.ask(acme, "OpenSession", {"sessionId": "ours"}).code == "OK"
    play.report.holds(play.ask(bolt, "GetSession", {"sessionId": "ours"}).code == "NOT_FOUND", "another tenant sees it")
    play.report.holds(play.ask(play.provider.token("acme", "query"), "GetSession", {"sessionId": "ours"}).code == "OK", "ours does not")
    print("taken: tokens of two clients with every role, each as its own tenant", flush=True)


def rotated(play, count):
    """Each key signs, then is only listed beside the next one, then is gone."""
    kinds, old, streams = ["RS256", "ES256", "EdDSA"], Key("RS256", "first"), 0
    play.provider.start([old])
    play.reads(play.provider.listed())
    for k in range(count):
        new = Key(kinds[k % 3], f"key-{k}")
        wait(10, lambda: play.ask(play.provider.token("acme", "write")).code == "OK", "the list is not read")
        before = play.provider.token("acme", "write")
        stream = play.watch(before, f"rotated-{k}")
        play.provider.start([new, old])
        play.reads(play.provider.listed())
        after = play.provider.token("acme", "write")
        wait(10, lambda: play.ask(after).code == "OK", "the new key is not taken")
        play.report.holds(after.split(".")[0] != before.split(".")[0], "the provider goes on with the old key")
        play.is_taken(before, "the key is listed still")
        other = play.watch(after, f"rotated-{k}-new")
        play.report.holds(not stream, f"a stream ended though its key is listed: {stream}")
        play.provider.start([new])
        play.reads(play.provider.listed())
        wait(10, lambda: stream, "a stream goes on though its key is gone")
        play.report.holds(stream == ["UNAUTHENTICATED"] and not other, f"streams ended with {stream} and {other}")
        play.is_refused(before, "its key is gone")
        play.is_taken(after, "its key is listed")
        old, streams = new, streams + 2
    print(f"rotated: {count} times under {streams} open streams; {count} ended with their keys, by UNAUTHENTICATED", flush=True)
    return old


def forged(keys, issuer):
    """Tokens that are none, by what is wrong with them."""
    now = int(time.time())
    good = {"iss": issuer, "aud": AUDIENCE, "exp": now + 300, "iat": now, "sub": "acme", "tenant": "acme", "role": "admin"}
    rsa_key, curve, edwards = keys
    stranger = Key("RS256", rsa_key.id)
    shown = rsa_key.secret.public_key()
    pem = shown.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    der = shown.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    secrets = {"PEM": pem, "PEM without its end": pem.rstrip(), "DER": der, "modulus": shown.public_numbers().n.to_bytes(256, "big"),
               "JWK": json.dumps(rsa_key.public).encode(), "nothing": b""}
    for name in ("none", "None", "NONE", "", "nOnE"):
        yield f"alg {name!r}, unsigned", rsa_key.token(good, lambda _: b"", alg=name)
        yield f"alg {name!r}, signed", rsa_key.token(good, alg=name)
    for name, secret in secrets.items():
        for alg, hashed in (("HS256", hashlib.sha256), ("HS384", hashlib.sha384), ("HS512", hashlib.sha512)):
            yield f"{alg} with the public key ({name})", rsa_key.token(good, lambda text: hmac.new(secret, text, hashed).digest(), alg=alg)
    salted = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
    yield "PS256", rsa_key.token(good, lambda text: rsa_key.secret.sign(text, salted, hashes.SHA256()), alg="PS256")
    yield "PS256 that says RS256", rsa_key.token(good, lambda text: rsa_key.secret.sign(text, salted, hashes.SHA256()))
    yield "RS512", rsa_key.token(good, lambda text: rsa_key.secret.sign(text, padding.PKCS1v15(), hashes.SHA512()), alg="RS512")
    yield "RS1", rsa_key.token(good, lambda text: rsa_key.secret.sign(text, padding.PKCS1v15(), hashes.SHA1()))
    for key, alg in ((rsa_key, "ES256"), (rsa_key, "EdDSA"), (curve, "RS256"), (curve, "ES384"), (curve, "EdDSA"), (edwards, "ES256")):
        yield f"{key.algorithm} that says {alg}", key.token(good, alg=alg)
    for key, other in ((rsa_key, curve), (curve, rsa_key), (edwards, curve), (curve, edwards)):
        yield f"{key.algorithm} under the name of {other.algorithm}", key.token(good, kid=other.id)
    yield "ES256 as DER", curve.token(good, lambda text: curve.secret.sign(text, ec.ECDSA(hashes.SHA256())))
    yield "ES256 of zeros", curve.token(good, lambda _: bytes(64))  # CVE-2022-21449
    yield "EdDSA of zeros", edwards.token(good, lambda _: bytes(64))
    yield "a stranger's key", stranger.token(good)
    yield "a stranger's key that it brings", stranger.token(good, jwk=stranger.public)
    yield "a stranger's key, by address", stranger.token(good, jku="http://127.0.0.1:1/jwks", x5u="http://127.0.0.1:1/x5u")
    yield "no name of a key", rsa_key.token(good, kid=None)
    for name in ("", "../../../dev/null", "' or 1=1 --", "x" * 4000):
        yield f"a key of the name {name[:20]!r}", rsa_key.token(good, kid=name)
    for claim, values in {"aud": [ELSEWHERE, AUDIENCE + "/", AUDIENCE.upper(), [ELSEWHERE], [], "", None, 1, {"a": AUDIENCE}],
                          "iss": ["http://127.0.0.1:1", issuer + "/", "", None, [], {"a": issuer}],
                          "exp": [now - LEEWAY - 5, 0, -1, None, "soon", str(now + 300), [now + 300]],
                          "nbf": [now + LEEWAY + 30, now + 10**9], "tenant": [None, "", "a b", "../acme", "x" * 500, ["acme"], 1],
                          "role": ["owner", "", [], ["owner"], 1, {"admin": True}, "ADMIN"]}.items():
        for value in values:
            yield f"{claim} is {str(value)[:40]!r}", rsa_key.token(good | {claim: value})
    for claim in ("aud", "iss", "exp", "tenant"):
        yield f"without {claim}", rsa_key.token({name: value for name, value in good.items() if name != claim})
    fine = rsa_key.token(good)
    head, body, signature = fine.split(".")
    yield "without its signature", f"{head}.{body}."
    yield "with half of its signature", f"{head}.{body}.{signature[:100]}"
    yield "two parts", f"{head}.{body}"
    yield "four parts", f"{fine}.{signature}"
    yield "claims of another", f"{head}.{base64url(json.dumps(good | {'tenant': 'bolt'}).encode())}.{signature}"
    yield "with a line at its end in Base64", f"{head}.{body}.{signature}=="
    yield "claims that are a list", rsa_key.token([good])
    yield "with another end of its signature", f"{head}.{body}.{signature[:-4]}AAAA"
    # Whoever does not understand one refuses the token. (RFC 7515, section 4.1.11)
    yield "a critical extension", rsa_key.token(good, crit=["more"], more=1)
    yield "a body that is not encoded", rsa_key.token(good, crit=["b64"], b64=False)
    yield "9,000 bytes", rsa_key.token(good | {"more": "x" * 9000})


def refused(play):
    keys = [Key("RS256", "rsa"), Key("ES256", "curve"), Key("EdDSA", "edwards")]
    play.provider.start(keys)
    play.reads(play.provider.listed())
    wait(10, lambda: play.ask(play.provider.token("acme", "write")).code == "OK", "the list is not read")
    now = int(time.time())
    good = {"iss": play.provider.issuer, "aud": [ELSEWHERE, AUDIENCE], "exp": now + 300, "tenant": "acme", "role": "admin"}
    for key in keys:
        play.is_taken(key.token(good), f"a good one by {key.algorithm}")
    play.is_taken(keys[0].token(good | {"exp": now - LEEWAY + 10}), "within the leeway")
    play.is_refused(play.provider.token("acme", "write", ELSEWHERE), "the provider's own, for another audience")
    count = 0
    for what, token in forged(keys, play.provider.issuer):
        play.is_refused(token, what)
        count += 1
    print(f"refused: {count + 1} kinds of tokens that are none", flush=True)
    return keys[0]


def ended(play, key):
    now = time.time()
    token = key.token({"iss": play.provider.issuer, "aud": AUDIENCE, "exp": now + 3 - LEEWAY, "tenant": "acme", "role": "write"})
    stream = play.watch(token, "short")
    play.is_taken(token, "it has three seconds more")
    wait(10, lambda: stream, "a stream goes on though its token has ended")
    late = time.time() - now - 3
    play.report.holds(stream == ["UNAUTHENTICATED"] and -0.1 < late < 1, f"it ended with {stream}, {late:.1f} s late")
    play.is_refused(token, "it has ended")
    print(f"ended: a stream {late:.2f} s after its token", flush=True)


def address(options, wire, folder, provider, report):
    provider.start([Key("ES256", "before")])
    flags = ("--jwt-jwks", f"{provider.issuer}/jwks", "--jwt-issuer", provider.issuer, "--jwt-audience", AUDIENCE)
    checked = subprocess.run([options.clearance, "serve", "--check-config", *flags], capture_output=True, text=True)
    if "with the feature s3 alone" in checked.stderr:
        return print("address: skipped, the binary is built without the feature s3")
    report.holds(checked.returncode == 0, f"the provider's list is not read: {checked.stderr}")
    with Server(options.clearance, folder, *flags) as server:
        play = Play(wire, server, provider, None, report)
        before = provider.token("acme", "write")
        play.is_taken(before, "a token of the provider's")
        stream = play.watch(before, "by-address")
        provider.stop()
        play.is_taken(before, "a token of a provider that is gone")
        provider.start([Key("EdDSA", "after")])
        after, codes = provider.token("acme", "write"), []
        took = wait(10, lambda: codes.append(play.ask(after).code) or codes[-1] == "OK", "the new key is not asked for")
        report.holds(set(codes[:-1]) == {"UNAVAILABLE"}, f"meanwhile calls were {set(codes)}")
        wait(5, lambda: stream, "a stream goes on though its key is gone")
        play.is_refused(before, "its key is gone")
        # Whoever names any key does not have the provider asked again and again.
        play.is_refused(Key("ES256", "made-up").token({"iss": provider.issuer, "aud": AUDIENCE, "exp": time.time() + 60, "tenant": "acme"}),
                        "a key that is made up")
        provider.stop()
        play.is_taken(after, "the provider is gone once more")
    failed = subprocess.run([options.clearance, "serve", "--listen", "127.0.0.1:0", *flags], capture_output=True, text=True, timeout=60)
    report.holds(failed.returncode and "jwt_jwks" in failed.stderr, f"a server starts without its list: {failed.stderr}")
    print(f"address: a new key was taken {took:.2f} s after its first token, {len(codes) - 1} calls were UNAVAILABLE before", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    parser.add_argument("--node-modules", help="a folder whose node_modules has the package")
    parser.add_argument("--rotations", type=int, default=20)
    options = parser.parse_args()
    if not shutil.which("node"):
        sys.exit(print("skipped: no node"))
    report, wire = Report(), reflected(options.clearance)
    with tempfile.TemporaryDirectory() as folder:
        modules = options.node_modules or folder
        if not pathlib.Path(modules, "node_modules", "oidc-provider").exists():
            command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", modules, PACKAGE]
            if not shutil.which("npm") or subprocess.run(command).returncode:
                sys.exit(print(f"skipped: {PACKAGE} cannot be fetched"))
        provider, list = Provider(modules, folder), pathlib.Path(folder, "jwks.json")
        try:
            provider.start([Key("ES256", "zeroth")])
            put(list, provider.listed())
            with Server(options.clearance, folder, "--jwt-jwks", list, "--jwt-issuer", provider.issuer, "--jwt-audience", AUDIENCE) as server:
                play = Play(wire, server, provider, list, report)
                taken(play)
                rotated(play, options.rotations)
                ended(play, refused(play))
            address(options, wire, folder, provider, report)
        finally:
            provider.stop()
    sys.exit(1 if report.broken else 0)


if __name__ == "__main__":
    main()
