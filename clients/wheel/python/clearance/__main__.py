"""`clearance serve`, or `python -m clearance serve`: a server, as it is in this package."""
from __future__ import annotations

import os
import sys

from . import _engine

USAGE = "usage: clearance serve [FLAG...]    (clearance serve --help lists all)"


def main() -> None:
    """Runs what the command line says."""
    words = sys.argv[1:]
    if words in (["--version"], ["-V"]):
        print(f"clearance {_engine.__version__}")
        return
    if not words or words[0] != "serve":
        print(USAGE, file=sys.stdout if words and words[0] in ("-h", "--help") else sys.stderr)
        sys.exit(0 if words and words[0] in ("-h", "--help") else 2)
    # The allocator reads its settings when a program starts, so this one starts once more with them.
    missing = dict(_engine.allocator_settings())
    if missing and not os.environ.get("CLEARANCE_STARTED_AGAIN"):
        environment = {**os.environ, **missing, "CLEARANCE_STARTED_AGAIN": "1"}
        os.execve(sys.executable, [sys.executable, "-m", "clearance", *words], environment)
    os.environ.pop("CLEARANCE_STARTED_AGAIN", None)
    try:
        _engine.serve(words[1:])
    except RuntimeError as error:
        print(f"clearance: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
