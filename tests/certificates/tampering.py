"""What the scripts share that tamper with answers of a running server: where things are, the server itself, small
changes of numbers, and the table of what the judges said."""
import argparse, importlib.machinery, importlib.util, math, pathlib, random, sys
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "clients" / "python"), str(ROOT / "tests" / "attack" / "malformed")]
sys.path.append(str(ROOT / "tests" / "exact"))
from client import Wire  # noqa: E402

loader = importlib.machinery.SourceFileLoader("doc_examples", str(ROOT / ".ci" / "doc_examples"))
helpers = importlib.util.module_from_spec(importlib.util.spec_from_loader("doc_examples", loader))
loader.exec_module(helpers)

TRIES = 2000  # in a row that change nothing: then the answers are taken to have no more of a kind


def moved(draw, x):
    """A neighbour of a number, or one further off."""
    if draw.random() < 0.5:
        return math.nextafter(x, draw.choice((-math.inf, math.inf)))
    return x * (1 + draw.choice((-1, 1)) * 10 ** draw.uniform(-15, 0))


def main(description, run, **each):
    """Starts the binary that the command line names, and ends with what `run(wire, draw, options)` finds wrong.

    `each`: how many mutations are made of every kind if the command line says nothing, an option for each name."""
    parser = argparse.ArgumentParser(description=description.split("\n", 1)[0])
    parser.add_argument("clearance")
    for name, count in each.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=count, help="mutations of every kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    port = helpers.free_port()
    server = helpers.start(options.clearance, port)
    try:
        wrong = run(Wire(f"127.0.0.1:{port}", 4), random.Random(options.seed), options)
    finally:
        server.terminate()
        server.wait(30)
    for line in wrong[:20]:
        print(line)
    sys.exit(1 if wrong else 0)


def print_table(title, counts):
    """Counters of what was made, refused, judged unlike and accepted though false, a row for every kind."""
    print(f"{title:36} {'made':>6} {'refused':>8} {'unlike':>7} {'false':>6}")
    for name, count in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        print(f"{name:36} {count['made']:6} {count['refused']:8} {count['unlike']:7} {count['false']:6}")
