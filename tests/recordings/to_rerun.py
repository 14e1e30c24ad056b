#!/usr/bin/env python3
"""Rerun has nothing to say of a recording of `clearance record`, bodies arrive in it as transforms, and what `clearance.to_rerun`
tells it are bodies with triangles that move.

Needs the wheel and rerun-sdk (163 MB), whose command `rerun` is beside this Python.
usage: to_rerun.py CLEARANCE
"""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import clearance
import numpy as np

RERUN = pathlib.Path(sys.executable).parent / "rerun"
FRAMES = 20


def started(*command):
    """A process, and the port that it says it listens on."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return process, re.search(r":(\d+)", process.stdout.readline())[1]


def play(address):
    """A cube of a registered shape that passes a wall, a ball, and an arm that turns."""
    cube = clearance.box(1, 1, 1)
    arm = clearance.Robot.from_urdf(
        '<robot name="arm"><link name="base"/><link name="tip"><collision><geometry><box size="0.1 0.1 1"/></geometry></collision></link>'
        '<joint name="j" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="1 0 0"/>'
        '<limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>')
    bodies = [clearance.Body(1, cube, name="wall", fixed=True), clearance.Body(3, clearance.ball(.5), [0, 3, 0], name="ball"),
              clearance.Body(2, clearance.points(np.array(cube.facts[0])).registered(), [-20.25, 0, 0], name="crate")]
    robots = [clearance.RobotBody(10, arm, [0.0], [0, 0, 5], name="arm", fixed_base=True)]
    report = {"first_contacts": True, "impacts": True}
    with clearance.connect(address).session(bodies, robots, report=report, session_id="passing") as session:
        for frame in range(1, FRAMES + 1):
            session.step([2], [[-20.25 + 3 * frame, .25, 0]], robots={10: [.1 * frame]})
        signal.sigtimedwait([], 1)  # What a watcher is told comes after the answer.


def rerun(*words):
    told = subprocess.run([RERUN, *map(str, words)], capture_output=True, text=True, timeout=120)
    return told.returncode, (told.stdout + told.stderr).strip()


def main():
    program, wrong = sys.argv[1], []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        server, port = started(program, "serve", "--listen", "127.0.0.1:0")
        recorder, front = started(program, "record", "--to", f"http://127.0.0.1:{port}", "--listen", "127.0.0.1:0", "--out", folder)
        try:
            play(f"127.0.0.1:{front}")
            recorder.send_signal(signal.SIGINT)
            recorder.wait(20)
        finally:
            for process in (server, recorder):
                process.kill()
                process.wait()
        file = folder / "passing.mcap"
        code, told = rerun("mcap", "check", file)
        stand = re.findall(r"^(\S+) +\d+ +\d+ +(/\S+) +(.*?) *$", told, re.M)
        print(f"   rerun mcap check: {code}, " + ", ".join(f"{topic} {word}" for word, topic, _ in stand))
        if code or {(word, issues) for word, _, issues in stand} != {("ok", "—")} or len(stand) < 8:
            wrong.append(f"rerun mcap check: {told}")
        code, told = rerun("mcap", "convert", file, "--output", folder / "mcap.rrd")
        shown = rerun("rrd", "print", folder / "mcap.rrd")[1] if code == 0 else told
        if "Transform3D" not in shown:
            wrong.append(f"bodies are no transforms: {shown[:300]}")
        own = folder / "own.rrd"
        clearance.to_rerun(file, own)
        code, shown = rerun("rrd", "print", own)
        for word in ("/world/crate", "/world/ball", "/world/arm", "Transform3D", "Mesh3D", "/contacts"):
            if word not in shown:
                wrong.append(f"to_rerun tells no {word}")
        print(f"   to_rerun: {own.stat().st_size} bytes, {shown.count('Transform3D')} lines with transforms")
    for line in wrong:
        print(f"   BROKEN: {line}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
