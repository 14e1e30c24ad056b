#!/usr/bin/env python3
"""The driver of the Python client, for `tests/situations`: `driver.py`, or `driver.py --inside` for the engine in its process."""
import json
import sys
import threading
import time

import clearance
from clearance import messages
from clearance.errors import Error

INSIDE = "--inside" in sys.argv[1:]


def name_of(enumeration, prefix, number):
    """The name of a number, in small letters; the number as a text where it has none."""
    try:
        return enumeration.Name(number).removeprefix(prefix).lower()
    except ValueError:
        return str(number)


def events_of(events):
    return [[event.kind.lower(), event.a, event.b] for event in events]


def told(report):
    message = report.message
    counts = message.counts
    return {
        "frame_id": str(report.frame_id),
        "events": events_of(report.events),
        "pairs": [[pair.a, pair.b, name_of(messages.Verdict, "VERDICT_", pair.verdict)] for pair in message.pairs],
        "counts": [counts.separated, counts.touching, counts.overlapping, counts.undecided],
        "refused": [{"code": clearance.Code(item.code).name,
                     "reason": messages.ErrorReason.Name(item.reason).removeprefix("ERROR_REASON_"), "field": item.field}
                    for item in message.refused_items],
        "cut": message.cut,
        "omitted": [message.omitted_pairs, message.omitted_events, message.omitted_items],
    }


def error_of(error):
    return {"code": error.code.name, "reason": error.reason, "field": error.field, "info": error.metadata}


class Watching:
    """What a watch tells, collected by a thread of its own."""

    def __init__(self, watch):
        self.news, self.ended, self.error = [], False, None
        self.last = -1
        self.changed = threading.Condition()
        threading.Thread(target=self.follow, args=(watch,), daemon=True).start()

    def follow(self, watch):
        try:
            for message in watch:
                with self.changed:
                    if message.HasField("state"):
                        self.news.append(["state", str(message.state.frame_id), message.lost_frames])
                        self.last = max(self.last, message.state.frame_id)
                    if message.HasField("frame"):
                        events = events_of(clearance.session.events_of(message.frame.events))
                        self.news.append(["frame", str(message.frame.frame_id), events])
                        self.last = max(self.last, message.frame.frame_id)
                    self.changed.notify_all()
        except Error as error:
            self.error = error_of(error)
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def told(self, until_frame):
        with self.changed:
            self.changed.wait_for(lambda: self.ended or (until_frame is not None and self.last >= until_frame))
            news, self.news = self.news, []
            answer = {"news": news, "ended": self.ended}
            return {**answer, "error": self.error} if self.error else answer


class Driver:
    def __init__(self):
        self.clients, self.shapes, self.sessions, self.watches = {}, {}, {}, {}

    def connect(self, client, addresses, key=None, attempts=None):
        if INSIDE:
            self.clients[client] = clearance.local(threads=1)
            return {}
        more = {} if attempts is None else {"attempts": attempts}
        self.clients[client] = clearance.connect(addresses, key=key, **more)
        return {}

    def register(self, client, shape, points):
        self.shapes[shape] = clearance.points(points).registered()
        return {"id": self.clients[client].register(self.shapes[shape])}

    def body(self, id, shape, at, fixed=False, margin=0.0, name="", groups=()):
        options = {"margin": margin, "groups": groups}
        return clearance.Body(id, self.shapes[shape], at, fixed=fixed, name=name, options=options)

    def open(self, client, session, bodies, pairs="changed", distances=False, first_contacts=False, report_bytes=0,
             session_id="", session_key="", replace=False, idle_seconds=None, **state):
        report = {"pairs": f"PAIR_SELECTION_{pairs.upper()}", "distances": distances, "first_contacts": first_contacts,
                  "reply_bytes_max": report_bytes, "packed": False}
        declared = messages.SessionState(
            frame_id=int(state.pop("frame_id", 0)), release_margin=state.pop("release_margin", 0.0),
            contacts=[{"pair": {"a": a, "b": b}, "began_frame_id": int(began)} for a, b, began in state.pop("contacts", [])],
            rules={"ignored_pairs": [{"a": a, "b": b} for a, b in state.pop("ignored", [])],
                   "checked_groups": [{"a": a, "b": b} for a, b in state.pop("checked_groups", [])]})
        assert not state, state
        options = {"session_id": session_id, "session_key": session_key, "replace": replace, "state": declared}
        if idle_seconds is not None:
            options["idle_timeout"] = {"seconds": idle_seconds}
        bodies = [self.body(**body) for body in bodies]
        opened = self.sessions[session] = self.clients[client].session(bodies, report=report, **options)
        return {"session_id": opened.id, "incarnation": str(opened.incarnation), **told(opened.first)}

    def frame(self, session, poses=(), teleported=(), added=(), removed=(), margins=(), ignored=()):
        fields = {"removed_body_ids": removed,
                  "changed_bodies": [{"id": id, "margin": margin} for id, margin in margins],
                  # One by one, so that an item that is refused has the path of its own.
                  "poses": [{"id": id, "pose": {"translation": {"x": x, "y": y, "z": z}}, "teleported": id in teleported}
                            for id, x, y, z in poses]}
        if ignored:
            fields["rule_changes"] = {"added_ignored_pairs": [{"a": a, "b": b} for a, b in ignored]}
        added = [self.body(**body) for body in added]
        return told(self.sessions[session].step(added=added, **fields))

    def state(self, session):
        state = self.sessions[session].state()
        places = [(body.id, body.pose.translation) for body in state.bodies]
        return {"frame_id": str(state.frame_id), "bodies": sorted([id, at.x, at.y, at.z] for id, at in places),
                "contacts": sorted([one.pair.a, one.pair.b, str(one.began_frame_id)] for one in state.contacts)}

    def take_back(self, session):
        self.sessions[session].take_back()
        return {}

    def ask(self, client, question, p, q, deadline_ms=None, cancel_ms=None):
        engine = self.clients[client]
        method = {"collision": engine.collide, "distance": engine.distance}[question]
        placed = [self.shapes[one["shape"]].at(one["at"]) for one in (p, q)]
        if cancel_ms is None:
            timeout = None if deadline_ms is None else deadline_ms / 1000
            return {"verdict": method(*placed, timeout=timeout).verdict.name.lower()}
        return self.given_up(method, placed, cancel_ms)

    def given_up(self, method, placed, milliseconds):
        """A call is given up by a signal, as Ctrl-C does it."""
        import signal

        def interrupt(*_):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, milliseconds / 1000)
        try:
            return {"verdict": method(*placed).verdict.name.lower()}
        except KeyboardInterrupt:
            raise Error(clearance.Code.CANCELLED, "given up") from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def watch(self, session, watch):
        self.watches[watch] = Watching(self.sessions[session].watch())
        return {}

    def watched(self, watch, until_frame=None, until_end=False):
        return self.watches[watch].told(None if until_frame is None else int(until_frame))

    def close(self, session):
        self.sessions[session].close()
        return {}

    def wait(self, ms):
        time.sleep(ms / 1000)
        return {}

    def obey(self, command):
        do = command.pop("do")
        try:
            return {"ok": True, **getattr(self, do)(**command)}
        except Error as error:
            return {"ok": False, "error": error_of(error)}
        except (AttributeError, TypeError, KeyError, AssertionError) as error:
            return {"ok": False, "error": {"code": "DRIVER", "reason": repr(error), "field": "", "info": {}}}


driver = Driver()
for line in sys.stdin:
    print(json.dumps(driver.obey(json.loads(line))), flush=True)
