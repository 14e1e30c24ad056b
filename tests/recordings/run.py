#!/usr/bin/env python3
"""A session that goes through the recorder is read by the official reader of MCAP, its messages for other tools are those of
Foxglove's own package to the last field, bodies arrive in it where they are, and every answer is the same when it is played again.

Needs grpcio, mcap, mcap-protobuf-support and foxglove-sdk.
usage: run.py CLEARANCE
"""
import pathlib, signal, subprocess, sys, tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "certificates"))
from tampering import helpers  # first: it says where the others are
from client import Wire  # noqa: E402
import foxglove.messages  # noqa: E402
from google.protobuf.descriptor_pb2 import FileDescriptorSet  # noqa: E402
from mcap.reader import make_reader  # noqa: E402
from mcap_protobuf.decoder import DecoderFactory  # noqa: E402

CUBE = {"xyz": [float(k >> axis & 1) for k in range(8) for axis in range(3)]}
FRAMES = 40
SHOWN = {"/tf": "FrameTransforms", "/scene": "SceneUpdate", "/contacts": "PointCloud"}


def play(wire):
    """A cube that passes another one, so fast that they meet between two frames; a ball beside them."""
    assert wire.call("RegisterPolytopes", {"polytopes": [{"vertices": CUBE, "alias": "cube"}]}).code == "OK"
    ball = {"rounded": {"radius": 0.5}}
    bodies = [{"id": 1, "name": "shelf", "fixed": True, "parts": [{"alias": "cube"}]},
              {"id": 2, "name": "crate", "parts": [{"alias": "cube"}], "pose": {"translation": {"x": -20.25}}},
              {"id": 3, "name": "ball", "parts": [ball], "pose": {"translation": {"y": 3}}}]
    report = {"pairs": "PAIR_SELECTION_ALL", "distances": True, "firstContacts": True, "certificates": True, "impacts": True}
    opened = wire.call("OpenSession", {"sessionId": "passing", "report": report, "state": {"bodies": bodies}})
    assert opened.code == "OK", opened
    for frame in range(1, FRAMES + 1):
        poses = [{"id": 2, "pose": {"translation": {"x": -20.25 + 1.5 * frame, "y": 0.25}}}]
        told = wire.call("StepSession", {"sessionId": "passing", "frames": [{"frameId": frame, "poses": poses}]})
        assert told.code == "OK", told


def named(data):
    """The files of a schema by their names, as bytes."""
    return {file.name: file.SerializeToString() for file in FileDescriptorSet.FromString(data).file}


def look(path):
    """What is wrong with the file."""
    wrong, counts, places, points = [], {}, {}, 0
    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for schema, channel, _, message in reader.iter_decoded_messages():
            counts[channel.topic] = counts.get(channel.topic, 0) + 1
            if channel.topic in SHOWN:
                own = named(schema.data)
                theirs = named(getattr(foxglove.messages, SHOWN[channel.topic]).get_schema().data)
                if own != theirs:
                    wrong.append(f"{channel.topic}: {sorted(name for name in own.keys() | theirs.keys() if own.get(name) != theirs.get(name))}")
            if channel.topic == "/tf":
                for one in message.transforms:
                    places.setdefault(one.child_frame_id, []).append((one.translation.x, one.translation.y))
            if channel.topic == "/contacts":
                points += len(message.data) // message.point_stride
    crate = places.get("crate", [])
    if (-20.25 + 1.5 * FRAMES, 0.25) != (crate or [None])[-1] or places.get("ball") != [(0.0, 3.0)]:
        wrong.append(f"bodies are told at {places}")
    if points < 2:
        wrong.append(f"{points} points of contacts")
    wanted = {"/clearance/frame": FRAMES, "/clearance/report": FRAMES + 1, "/clearance/open": 1, "/clearance/registration": 1}
    wrong += [f"{topic}: {counts.get(topic)} messages" for topic, count in wanted.items() if counts.get(topic) != count]
    print("   " + ", ".join(f"{topic} {count}" for topic, count in sorted(counts.items())))
    return sorted(set(wrong))


def main():
    clearance = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        port, front = helpers.free_port(), helpers.free_port()
        server = subprocess.Popen([clearance, "serve", "--listen", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL)
        recorder = subprocess.Popen([clearance, "record", "--to", f"http://127.0.0.1:{port}", "--listen", f"127.0.0.1:{front}",
                                     "--out", folder], stdout=subprocess.PIPE, text=True)
        try:
            Wire(f"127.0.0.1:{port}", 6)
            wire = Wire(f"127.0.0.1:{front}", 6)
            play(wire)
            # What a watcher is told comes after the answer.
            signal.sigtimedwait([], 1)
            assert wire.call("CloseSession", {"sessionId": "passing"}).code == "OK"
            recorder.send_signal(signal.SIGINT)
            said, _ = recorder.communicate(timeout=20)
        finally:
            for process in (server, recorder):
                process.kill()
                process.wait()
        wrong = [] if said.strip().endswith(f"passing.mcap: {FRAMES} frames") else [f"the recorder says {said!r}"]
        file = pathlib.Path(folder) / "passing.mcap"
        wrong += look(file)
        for shorter in (1.0, 0.7, 0.3):
            whole = file.read_bytes()
            cut = pathlib.Path(folder) / f"cut-{shorter}.mcap"
            cut.write_bytes(whole[:int(len(whole) * shorter)])
            played = subprocess.run([clearance, "replay", str(cut)], capture_output=True, text=True)
            print("   " + played.stdout.strip().rpartition("/")[2])
            if played.returncode or " 0 differ" not in played.stdout:
                wrong.append(played.stdout + played.stderr)
    for line in wrong:
        print(f"   BROKEN: {line}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
