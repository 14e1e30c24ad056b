"""Balls and capsules that roll, hop and fall through a floor and a rail, frame after frame of a session.

All that is rounded is a point or a segment along z, and turns about itself or about z alone, which leaves it where it is:
so boxes are beside boxes, and their distance has a closed form at every time between two frames. Its square is a convex
function of the time, of pieces that are quadratic. Verdicts, distances, events and their times are compared with that.
"""
import math
import random
from fractions import Fraction

import reference as r
from asking import VERDICTS
from judged import TIME_TOLERANCE, bracketed
from reference import InUnits, Root
import clearance_rounded as cr  # noqa: E402  (asking says where it is)
from clearance_verify import Refused  # noqa: E402
from polyhedra import motion_of, points_of, pose_of  # noqa: E402

FLOOR, RAIL, ROLLER, HOPPER, FALLER, LOG = range(1, 7)
BOXES = {FLOOR: ((-8.0, -1.0, -8.0), (8.0, 0.0, 8.0)), RAIL: ((3.0, 0.0, -8.0), (3.015625, 2.0, 8.0))}
ROUNDED = {ROLLER: (0.0, 0.5), HOPPER: (0.0, 0.375), FALLER: (0.0, 0.25), LOG: (1.0, 0.25)}  # length, radius
STEPS = 40   # frames in a call
PROVEN = 97  # of one frame in so many the certificates are asked for, and verified by the server
# That of first contacts: of the larger of the bodies' size and their coordinates, which the floor's is.
TOLERANCE = Fraction(16, 10 ** 13)


class Rolling:
    """Where the rounded bodies are, and how they move on."""

    def __init__(self, draw):
        self.draw, self.turns = draw, {body: 0.0 for body in ROUNDED}
        self.at = {ROLLER: (0.0, 0.5, 0.0), HOPPER: (-2.0, 0.75, 1.0), FALLER: (1.0, 3.0, 2.0), LOG: (-4.0, 0.25, -3.0)}

    def step(self):
        draw, at = self.draw, dict(self.at)
        for body, (x, y, z) in self.at.items():
            far = {FALLER: 4}.get(body, 1)
            dx, dz = draw.randrange(-32 * far, 32 * far + 1) / 64, draw.randrange(-8, 9) / 64
            x, z = (v - math.copysign(0.25, v) if abs(v) > 9 else v for v in (x + dx, z + dz))
            radius = ROUNDED[body][1]
            if body == FALLER:
                y = draw.choice((3.0, 1.0, -2.0, -1.25, 0.25, draw.randrange(-160, 192) / 64))
            elif body != ROLLER:
                y = radius + draw.choice((0.0, 0.0, 0.0, 2.0 ** -40, 2.0 ** -6, 0.5, -2.0 ** -30, -2.0 ** -8))
                y = draw.choice((y, y, math.nextafter(y, draw.choice((0.0, 1.0)))))
            at[body] = x, y, z
            self.turns[body] -= dx / radius
        self.at = at

    def pose(self, body):
        """A log turns about z alone, with a matrix that leaves z as it is to the last bit."""
        half = math.remainder(self.turns[body], 4 * math.pi) / 2
        rotation = {"w": math.cos(half), "z": math.sin(half)}
        if body != LOG:
            rotation["x"] = rotation.pop("z")
        return {"translation": dict(zip("xyz", self.at[body])), "rotation": rotation}


# ---- the closed form
class Approach:
    """The squared distance of two boxes, one of which moves by `travel`; `gaps`: of each axis what is between Q's lower
    end and P's upper one, and between P's lower end and Q's upper one."""

    def __init__(self, gaps, travel, radii):
        self.gaps, self.travel, self.radii, self.reach = gaps, travel, radii, radii * radii

    def squared(self, t):
        return sum(max(0, a + w * t, b - w * t) ** 2 for (a, b), w in zip(self.gaps, self.travel))

    def closing(self, t):
        """How fast they come nearer at a time when they are apart, in f64."""
        terms = [(a + w * t, w) if a + w * t > 0 else (max(0, b - w * t), -w) for (a, b), w in zip(self.gaps, self.travel)]
        return -float(sum(a * w for a, w in terms)) / math.sqrt(self.squared(t))

    def within(self, more):
        """The same, in contact where they are nearer by so much, or farther."""
        return Approach(self.gaps, self.travel, self.radii + more)

    def meets(self, start, end):
        """Whether they are in contact at a time between two: the least is at an end of a piece, or where a quadratic is."""
        times = {start, end}
        for (a, b), w in zip(self.gaps, self.travel):
            times |= {t for t in (w and -a / w, w and b / w) if start < t < end}
        times = sorted(times)
        if any(self.squared(t) <= self.reach for t in times):
            return True
        for first, last in zip(times, times[1:]):
            middle = (first + last) / 2
            terms = [(a, w) if a + w * middle > 0 else (b, -w) if b - w * middle > 0 else (0, 0)
                     for (a, b), w in zip(self.gaps, self.travel)]
            square = sum(w * w for _, w in terms)
            at = -sum(a * w for a, w in terms) / square if square else first
            if first < at < last and self.squared(at) <= self.reach:
                return True
        return False


def box_of(body, at):
    if body in BOXES:
        return tuple(tuple(map(Fraction, corner)) for corner in BOXES[body])
    length = Fraction(ROUNDED[body][0])
    ends = [tuple(Fraction(x) + sign * length / 2 * (k == 2) for k, x in enumerate(at[body])) for sign in (-1, 1)]
    return tuple(ends)


def approach(p, q, before, after):
    travel = [Fraction(0)] * 3
    for body, sign in ((q, 1), (p, -1)):
        if body in ROUNDED:
            travel = [w + sign * (Fraction(y) - Fraction(x)) for w, x, y in zip(travel, before[body], after[body])]
    radii = sum(Fraction(ROUNDED[body][1]) for body in (p, q) if body in ROUNDED)
    (low, high), (bottom, top) = box_of(p, before), box_of(q, before)
    return Approach([(c - b, a - d) for a, b, c, d in zip(low, high, bottom, top)], travel, radii)


# ---- what is told
def corners(body):
    return [[BOXES[body][(k >> axis) & 1][axis] for axis in range(3)] for k in range(8)]


def source(body):
    if body in BOXES:
        return {"vertices": {"xyz": sum(corners(body), [])}}
    length, radius = ROUNDED[body]
    return {"rounded": {**({"length": length} if length else {}), "radius": radius}}


def verdict_of(square, radii):
    return "SEPARATED" if square > radii ** 2 else "TOUCHING" if square == radii ** 2 else "OVERLAPPING"


class Judge:
    def __init__(self, wire, tally, family):
        self.wire, self.tally, self.family = wire, tally, family
        self.wide = self.unresolved = 0

    def wrong(self, why, frame, *told):
        self.tally.wrong(self.family, f"frame {frame}: {why}", *told)

    def report(self, report, before, after, poses):
        frame, count = report.frame_id, self.tally.of(self.family)
        count["cases"] += 1
        if report.HasField("status") or report.refused_items or report.omitted_pairs or report.stopped:
            return self.wrong(f"refused or cut: {report.status}", frame)
        events = {}
        for event in report.events:
            events.setdefault((event.a, event.b), []).append(event)
        pairs = {(pair.a, pair.b): pair for pair in report.pairs}
        wanted = {(a, b) for a in range(1, 7) for b in range(a + 1, 7)} - {(FLOOR, RAIL)}
        if set(pairs) != wanted:
            self.wrong(f"pairs {sorted(pairs)}", frame)
        for (p, q), pair in pairs.items():
            way = approach(p, q, before, after)
            count["answers"] += 1
            found = self.pair(pair, way) + self.events(events.pop((p, q), []), way)
            if found:
                self.wrong(f"bodies {p} and {q}: {'; '.join(found)}", frame, before, after, self.json(pair))
            if pair.HasField("certificate"):
                self.proofs(frame, pair, before, poses)
        if events:
            self.wrong(f"events of pairs that are not checked: {sorted(events)}", frame)

    def json(self, message):
        from google.protobuf import json_format
        return json_format.MessageToDict(message)

    def pair(self, pair, way):
        square, wrong = way.squared(1), []
        verdict = verdict_of(square, way.radii)
        self.tally.of(self.family)[verdict] += 1
        if VERDICTS[pair.verdict] != verdict:
            wrong.append(f"{VERDICTS[pair.verdict]}, but it is {verdict}")
        if verdict == "SEPARATED":
            wrong += bracketed("distance", pair.distance, InUnits(Root(square, -way.radii), 1))
        elif (pair.distance.lower, pair.distance.upper) != (0, 0):
            wrong.append("a distance in contact")
        if pair.HasField("first_contact") and way.squared(0) > way.reach:
            wrong += self.first(pair.first_contact, way)
        return wrong

    def first(self, told, way):
        outcome, meets = told.outcome, way.meets(0, 1)
        if outcome == 3:
            self.tally.of(self.family)["undecided"] += 1
            return self.undecided(way)
        if (outcome == 1) != meets:
            return [f"outcome {outcome}, but they {'meet' if meets else 'do not meet'}"]
        if not meets:
            return []
        wrong, width = self.began(way, told.t_free, told.t_contact), told.t_contact - told.t_free
        speed = way.closing(Fraction(told.t_contact)) if way.squared(Fraction(told.t_contact)) else math.inf
        if not told.stopped and width > TIME_TOLERANCE and speed > 0 and width * speed > TIME_TOLERANCE * speed + 2 * TOLERANCE:
            wrong.append(f"[{told.t_free!r}, {told.t_contact!r}] is wide, and they close in at {speed}")
        self.unresolved += told.stopped != 0
        self.wide += width > TIME_TOLERANCE
        return wrong

    def undecided(self, way):
        """A graze may be: within a clearance tolerance of contact, and never deeper than that."""
        is_graze = way.within(TOLERANCE).meets(0, 1) and not way.within(-TOLERANCE).meets(0, 1)
        return [] if is_graze else ["undecided, but it is no graze"]

    def bracket(self, name, low, high, is_free, meets):
        if not 0 <= low <= high <= 1:
            return [f"{name} [{low!r}, {high!r}] is no bracket"]
        claims = (is_free, "it is not free outside"), (meets, "no contact in it")
        return [f"{name} [{low!r}, {high!r}]: {why}" for holds, why in claims if not holds]

    def began(self, way, low, high):
        low, high = Fraction(low), Fraction(high)
        return self.bracket("beginning", float(low), float(high), not way.meets(Fraction(0), low), way.meets(low, high))

    def ended(self, way, low, high):
        low, high = Fraction(low), Fraction(high)
        after = Fraction(math.nextafter(float(high), 2.0))
        return self.bracket("end", float(low), float(high), after >= 1 or not way.meets(after, Fraction(1)), way.meets(low, high))

    def events(self, told, way):
        at_first, at_last = way.squared(0) <= way.reach, way.squared(1) <= way.reach
        meets = way.meets(Fraction(0), Fraction(1))
        wanted = [1] * (meets and not at_first) + [2] * (meets and not at_last)
        kinds = sorted(event.kind for event in told)
        if kinds == [3]:
            self.tally.of(self.family)["undecided"] += 1
            return self.undecided(way) + (["undecided where it begins or ends"] if at_first or at_last else [])
        if kinds != wanted:
            return [f"events {kinds}, but they are {wanted}"]
        wrong = []
        for event in told:
            wrong += (self.began if event.kind == 1 else self.ended)(way, event.time.lower, event.time.upper)
        return wrong

    def proofs(self, frame, pair, before, poses):
        """By both verifiers, as answers to questions about the bodies."""
        told, names = self.json(pair), (pair.a, pair.b)
        start, now = ([{**source(body), **({"pose": at[body]} if body in ROUNDED else {})} for body in names] for at in poses)
        claims = [("collision", now, {"verdict": told["verdict"], "certificate": told["certificate"]})]
        if told.get("distanceCertificate"):
            distance = {"distance": told.get("distance", {}), "certificate": told["distanceCertificate"]}
            claims.append(("distance", now, {"verdict": told["verdict"], **distance}))
        if told.get("firstContact", {}).get("certificate"):
            answer = {key: value for key, value in told["firstContact"].items() if key not in ("aPart", "bPart")}
            claims.append(("firstContact", start, answer))
        ways = [{"toPose": {"end": poses[1][body]}} if body in ROUNDED else None for body in names]
        for kind, two, answer in claims:
            question = dict(zip("pq", two))
            if kind == "firstContact":
                question.update({f"{side}Motion": way for side, way in zip("pq", ways) if way})
            self.tally.of(self.family)["proofs"] += 1
            reply = self.wire.call("VerifyCertificate", {kind: {"question": question, "answer": answer}})
            if reply.code != "OK" or not reply.message.valid:
                self.wrong(f"{kind} is refused: {reply.words or reply.message.refusal}", frame, question, answer)
            try:
                verified(names, kind, question, answer)
            except (Refused, LookupError, TypeError, ValueError) as why:
                self.wrong(f"{kind} is refused by clients/python: {why!r}", frame, question, answer)


def verified(names, kind, question, answer):
    points = [r.extremes(corners(body)) if body in BOXES else points_of(source(body)["rounded"]) for body in names]
    radii = [ROUNDED[body][1] if body in ROUNDED else 0.0 for body in names]
    bodies = *points, *(pose_of(question[side].get("pose", {})) for side in "pq"), *radii
    if kind == "firstContact":
        return cr.verify_rounded_motion(*bodies, *(motion_of(question.get(f"{side}Motion")) for side in "pq"), answer)
    verdict = answer["verdict"].removeprefix("VERDICT_")
    if kind == "distance":
        return cr.verify_rounded_distance(*bodies, verdict, answer["distance"], answer["certificate"])
    cr.verify_rounded(*bodies, verdict, answer["certificate"])


def falsified(draw, report):
    """Makes one thing in a report false."""
    pair, way = draw.choice(report.pairs), draw.randrange(3)
    decided = [k for k, event in enumerate(report.events) if event.kind < 3]
    if decided and way == 0:
        del report.events[draw.choice(decided)]
    elif pair.distance.upper > 0 and way == 1:
        pair.distance.lower = math.nextafter(pair.distance.upper, math.inf)
    else:
        pair.verdict = pair.verdict % 3 + 1


def roll(wire, tally, options):
    family = "rolling"
    rolling, judge = Rolling(random.Random(f"{options.seed} rolling")), Judge(wire, tally, family)
    bodies = [{"id": body, "parts": [source(body)], "fixed": True} for body in BOXES]
    bodies += [{"id": body, "parts": [source(body)], "pose": rolling.pose(body)} for body in ROUNDED]
    report = {"pairs": "PAIR_SELECTION_ALL", "distances": True, "firstContacts": True}
    opened = wire.call("OpenSession", {"sessionId": "rolling", "state": {"bodies": bodies}, "report": report, "replace": True})
    assert opened.code == "OK", opened
    last = dict(rolling.at), {body: rolling.pose(body) for body in ROUNDED}
    for first in range(1, options.frames + 1, STEPS):
        frames, states = [], []
        for frame in range(first, min(first + STEPS, options.frames + 1)):
            rolling.step()
            poses = {body: rolling.pose(body) for body in ROUNDED}
            states.append((dict(rolling.at), poses))
            told = {"frameId": frame, "poses": [{"id": body, "pose": pose} for body, pose in poses.items()]}
            frames.append({**told, "report": {**report, "certificates": True}} if frame % PROVEN == 0 else told)
        reply = wire.call("StepSession", {"sessionId": "rolling", "frames": frames}, 60)
        assert reply.code == "OK", reply
        for report_of, (at, poses) in zip(reply.message.reports, states):
            count = tally.of(family)
            before = count["wrong"]
            if tally.falsify:
                falsified(rolling.draw, report_of)
                count["falsified"] += 1
            judge.report(report_of, last[0], at, (last[1], poses))
            count["found"] += tally.falsify and count["wrong"] > before
            last = at, poses
    print(f"rolling: {judge.wide} first contacts in brackets wider than {TIME_TOLERANCE}, as slow ones may be; "
          f"of all {judge.unresolved} say that they are stopped")
