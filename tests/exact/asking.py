"""Asks a fresh server batches of questions, judges its answers family by family, and prints what is wrong.

Questions are dictionaries as JSON has them. A family is a function that makes a case of random numbers; a judge says what
is false in an answer. With `--falsify` every answer is made false before it is judged, and the script demands that the
judge finds each of them: that is its own test.
"""
import argparse, json, math, pathlib, random, sys, time
from collections import Counter

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "certificates")]
from tampering import Wire, helpers  # noqa: E402  (it says where the verifiers are)

BATCH = 900  # questions in a call; the server takes a thousand
SHOWN = 10   # wrong cases that are printed in full

CALLS = {"collision": "checkCollision", "distance": "measureDistance", "penetration": "measurePenetration",
         "firstContact": "findFirstContact", "distanceAlong": "measureDistanceAlong"}
VERDICTS = ["UNSPECIFIED", "SEPARATED", "TOUCHING", "OVERLAPPING"]
OUTCOMES = ["UNSPECIFIED", "CONTACT", "NO_CONTACT", "UNDECIDED"]


def snake(name):
    return "".join("_" + c.lower() if c.isupper() else c for c in name)


def in_hex(value):
    """The same with f64 numbers as they are, to the last bit."""
    if isinstance(value, dict):
        return {key: in_hex(told) for key, told in value.items()}
    if isinstance(value, (list, tuple)):
        return [in_hex(told) for told in value]
    return value.hex() if isinstance(value, float) else value


def meshes(case):
    """The bodies that a question names and does not tell."""
    named = [(name, body) for name, body in (("p", case.p), ("q", case.q)) if {"id", "alias"} & set(body.source)]
    return [{name: body.points, "triangles": body.triangles} for name, body in named]


class Questions:
    """Collects questions until a call is full, and hands each answer to who asked."""

    def __init__(self, wire):
        self.wire, self.waiting = wire, []

    def ask(self, kind, question, then):
        self.waiting.append((kind, question, then))
        if len(self.waiting) >= BATCH:
            self.flush()

    def flush(self):
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return
        reply = self.wire.call("BatchQuery", {"items": [{CALLS[kind]: question} for kind, question, _ in waiting]}, 120)
        assert reply.code == "OK", reply
        for (kind, question, then), answer in zip(waiting, reply.message.answers):
            form = answer.WhichOneof("answer")
            then(getattr(answer, form) if form == snake(CALLS[kind]) else answer.status)


def register(wire, specs):
    """The ids of bodies; None in the place of one that the server takes for none."""
    found = []
    for k in range(0, len(specs), 100):
        reply = wire.call("RegisterPolytopes", {"polytopes": specs[k:k + 100]}, 60)
        if reply.code == "OK":
            found += [report.polytope.id for report in reply.message.reports]
            continue
        for spec in specs[k:k + 100]:
            reply = wire.call("RegisterPolytopes", {"polytopes": [spec]})
            assert reply.code == "OK" or reply.reason == "NOT_A_POLYHEDRON", reply
            found.append(reply.message.reports[0].polytope.id if reply.code == "OK" else None)
    return found


# ---- the script's own test
def falsified(draw, kind, answer):
    """Makes one claim of an answer false; whether it could."""
    ways = []
    if "verdict" in answer.DESCRIPTOR.fields_by_name:
        ways.append(lambda: setattr(answer, "verdict", draw.choice([k for k in (1, 2, 3) if k != answer.verdict])))
    if kind in ("collision", "distance") and answer.HasField("within_margin"):
        ways.append(lambda: setattr(answer, "within_margin", not answer.within_margin))
    for name in ("distance", "depth"):
        if name in answer.DESCRIPTOR.fields_by_name and getattr(answer, name).upper > 0:
            ways += [lambda told=getattr(answer, name): setattr(told, "lower", math.nextafter(told.upper, math.inf)),
                     lambda told=getattr(answer, name): setattr(told, "upper", math.nextafter(told.lower, -math.inf))]
            if getattr(answer, name).lower > 2.0 ** -1000:  # then it is promised to be narrow
                ways.append(lambda told=getattr(answer, name): setattr(told, "lower", told.lower * (1 - 2.0 ** -30)))
    if kind == "distanceAlong":
        if answer.HasField("enter"):
            ways += [lambda: (answer.ClearField("enter"), answer.ClearField("exit")),
                     lambda: setattr(answer.exit, "upper", math.nextafter(answer.exit.lower, -math.inf)),
                     lambda: setattr(answer.exit, "lower", answer.exit.upper * 2 + 1)]
        else:
            ways.append(lambda: (answer.enter.SetInParent(), answer.exit.SetInParent()))
    if kind == "firstContact":
        ways.append(lambda: setattr(answer, "outcome", 3 - answer.outcome if answer.outcome < 3 else 1))
        ways.append(lambda: setattr(answer, "initial_verdict", answer.initial_verdict % 3 + 1))
        if answer.outcome == 1 and answer.t_contact > 0:
            ways.append(lambda: setattr(answer, "t_free", answer.t_contact))
            ways.append(lambda: setattr(answer, "t_contact", answer.t_free))
    draw.choice(ways)()


# ---- the run
class Tally:
    def __init__(self, falsify):
        self.falsify, self.families, self.shown = falsify, {}, 0

    def of(self, family):
        return self.families.setdefault(family, Counter())

    def wrong(self, family, why, *told):
        self.of(family)["wrong"] += 1
        if self.falsify:
            return
        self.shown += 1
        if self.shown <= SHOWN:
            print(f"WRONG in {family}: {why}", *(json.dumps(in_hex(one)) for one in told), sep="\n   ", flush=True)

    def show(self, seconds):
        columns = ("cases", "answers", "SEPARATED", "TOUCHING", "OVERLAPPING", "proofs", "wrong", "undecided", "uncertified")
        print(f"{'family':20}" + "".join(f"{name:>12}" for name in columns))
        total = sum(self.families.values(), Counter())
        for name, count in [*self.families.items(), ("all", total)]:
            print(f"{name:20}" + "".join(f"{count[column]:12}" for column in columns))
        print(f"{seconds:.0f} s")
        if self.falsify:
            missed = total["falsified"] - total["found"]
            print(f"{total['falsified']} answers made false, {total['found']} found to be so")
            return missed or not total["falsified"]
        return total["wrong"] or not total["cases"]


def main(description, run, **defaults):
    """Starts the binary that the command line names, and ends with what `run(wire, tally, options)` finds."""
    parser = argparse.ArgumentParser(description=description.split("\n", 1)[0])
    parser.add_argument("clearance")
    parser.add_argument("--each", type=int, default=defaults["each"], help="cases of every family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--families", default="", help="those whose names contain one of these words, with commas between")
    parser.add_argument("--proofs", type=int, default=20, help="of one case in so many the certificates are verified, twice")
    parser.add_argument("--falsify", action="store_true", help="make every answer false, and demand that it is found")
    for name, value in defaults.items():
        if name != "each":
            parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    port = helpers.free_port()
    server = helpers.start(options.clearance, port, "--log", "error")
    tally, start = Tally(options.falsify), time.monotonic()
    try:
        run(Wire(f"127.0.0.1:{port}", 4), tally, options)
    finally:
        server.terminate()
        server.wait(30)
    sys.exit(1 if tally.show(time.monotonic() - start) else 0)


def draw_of(options, family):
    """Random numbers of a family, whatever other families are asked."""
    return random.Random(f"{options.seed} {family}")


def chosen(families, options):
    words = [word for word in options.families.split(",") if word]
    return {name: made for name, made in families.items() if not words or any(word in name for word in words)}


class Asking:
    """Puts the questions of cases and has their answers judged.

    `judge(case, two, kind, answer)` says what is false; `judges(case, kind, question, answer)`, of answers as JSON, who
    refuses the certificate, and why."""

    def __init__(self, wire, tally, options, judge, judges, allowed):
        self.wire, self.tally, self.options, self.judge, self.judges, self.allowed = wire, tally, options, judge, judges, allowed
        self.questions, self.draw = Questions(wire), random.Random(options.seed)

    def ask(self, family, case, two, kind, question, is_sampled):
        def then(answer):
            self.answered(family, case, two, kind, question, is_sampled, answer)
        self.questions.ask(kind, question, then)

    def answered(self, family, case, two, kind, question, is_sampled, answer):
        count = self.tally.of(family)
        count["answers"] += 1
        if "code" in answer.DESCRIPTOR.fields_by_name:
            return self.tally.wrong(family, f"{kind} is refused: {answer.message} {answer.field}", question, *meshes(case))
        if self.options.falsify:
            falsified(self.draw, kind, answer)
            count["falsified"] += 1
        found = self.judge(case, two, kind, answer)
        if self.options.falsify:
            count["found"] += bool(found)
            if not found:
                print(f"NOT FOUND in {family}: {kind}", json.dumps(in_hex(question)), self.told(answer), sep="\n   ")
            return
        if kind == "collision":
            count[VERDICTS[answer.verdict]] += 1
        unsaid = "outcome" in answer.DESCRIPTOR.fields_by_name and answer.outcome == 3 or getattr(answer, "verdict", 1) == 0
        count["undecided"] += unsaid
        is_bare = getattr(answer, "uncertified", False)
        count["uncertified"] += is_bare
        if is_bare and not self.allowed(answer):
            found.append(f"uncertified for reason {answer.uncertified_reason}")
        if found:
            self.tally.wrong(family, f"{kind}: {'; '.join(found)}", question, self.told(answer), *meshes(case))
        elif is_sampled and not is_bare:
            count["proofs"] += 1
            told = self.told(answer)
            for who, why in self.judges(case, kind, question, told):
                if why:
                    self.tally.wrong(family, f"{kind}: {who} refuses the certificate: {why}", question, told, *meshes(case))

    def told(self, answer):
        from google.protobuf import json_format
        return {key: told for key, told in json_format.MessageToDict(answer).items() if key not in ("cost", "tiedPairs")}
