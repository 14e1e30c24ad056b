#!/usr/bin/env python3
"""Writes clearance.json beside this file: what Grafana shows of one or several servers, in its model of dashboards. Import it
with a Prometheus as its source, or put it where Grafana looks for dashboards. tests/metrics asks a real Prometheus each
query in it.

usage: make.py [--check]     --check: say whether the file is what this would write
"""
import json, pathlib, sys

FILE = pathlib.Path(__file__).with_name("clearance.json")
# Whose samples: Grafana fills in the servers that were chosen, and how far back a rate has to look.
OF, BACK = 'job="clearance",instance=~"$instance"', "$__rate_interval"
FAILED = 'code!="OK"'


def of(name, *more):
    return f"{name}{{{','.join([OF, *more])}}}"


def rate(name, *more, by="", function="sum"):
    """How often in a second, in all, or by a label."""
    return f"{function}{f' by ({by}) ' if by else ''}(rate({of(name, *more)}[{BACK}]))"


def share(part, whole, *more, by=""):
    return f"{rate(part, *more, by=by)} / {rate(whole, *more, by=by)}"


def quantile(number, name, *more, by=""):
    """Of a histogram with classic buckets."""
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({number}, sum by ({labels}) (rate({of(name + '_bucket', *more)}[{BACK}])))"


def of_calls(number, by=""):
    """Of the times of calls, by classic buckets or by native ones, whichever Prometheus keeps."""
    name = "clearance_call_seconds"
    native = f"sum{f' by ({by}) ' if by else ''}(rate({of(name)}[{BACK}]))"
    return f"{quantile(number, name, by=by)} or histogram_quantile({number}, {native})"


def quantiles(name):
    return [(quantile(number, name), f"p{number * 100:g}") for number in (0.5, 0.9, 0.99)]


# Rows of panels: title, unit, what is asked with the words beside each line, and a sentence for whoever looks.
ROWS = [
    ("Now", [
        ("Servers", "stat", "none", [(f"sum({of('up')})", "up")], "Servers that answer the scrape."),
        ("Version", "stat", "none", [(f"count by (version) ({of('clearance_build')})", "{{version}}")], "Servers by version."),
        ("Draining", "stat", "none", [(f"sum({of('clearance_draining')})", "draining")], "Servers that drain, or are about to."),
        ("Calls", "stat", "reqps", [(rate("clearance_calls_total"), "calls")], "Calls that were answered, and streams that began."),
        ("Failed", "stat", "percentunit", [(f"({rate('clearance_calls_total', FAILED)} or vector(0)) / {rate('clearance_calls_total')}", "failed")],
         "Of all calls those that got another status than OK."),
        ("Connections", "stat", "none", [(f"sum({of('clearance_connections')})", "open")], "Open connections of the gRPC port."),
        ("Sessions", "stat", "none", [(f"sum({of('clearance_sessions')})", "open")], "Open sessions."),
        ("Frames", "stat", "ops", [(rate("clearance_frame_seconds_count"), "frames")], "Frames that were answered."),
    ]),
    ("Calls", [
        ("Calls by method", "lines", "reqps", [(rate("clearance_calls_total", by="method"), "{{method}}")], "Streams count when they begin."),
        ("Calls by code", "lines", "reqps", [(rate("clearance_calls_total", FAILED, by="code"), "{{code}}")],
         "All but OK. INTERNAL is a fault of the server; RESOURCE_EXHAUSTED means that it is full, or a quota is."),
        ("Times of calls", "lines", "s", [(of_calls(number), f"p{number * 100:g}") for number in (0.5, 0.9, 0.99)],
         "From headers to answer, of calls that have one answer."),
        ("p99 by method", "lines", "s", [(of_calls(0.99, by="method"), "{{method}}")], "The same, of each method."),
    ]),
    ("Frames of sessions", [
        ("Frames", "lines", "ops", [(rate("clearance_frame_seconds_count", by="instance"), "{{instance}}")], "Frames that were answered."),
        ("Times of frames", "lines", "s", quantiles("clearance_frame_seconds"), "From when a frame is begun to its report."),
        ("Pairs of bodies", "lines", "ops", [(rate(f"clearance_pairs_{what}_total"), words) for what, words in
         [("looked_at", "looked at"), ("asleep", "asleep"), ("expired", "expired")]],
         "Many that are looked at beside few asleep: bodies move by about their distances in every frame."),
        ("Bodies that move", "lines", "ops", [(rate("clearance_bodies_moved_total"), "bodies")], "Bodies that frames have moved."),
    ]),
    ("Questions", [
        ("Answered", "lines", "ops", [(rate("clearance_questions_answered_total", by="question"), "{{question}}")], "Questions that were answered in full."),
        ("Stopped and refused", "lines", "ops", [(rate("clearance_questions_stopped_total", by="question"), "{{question}} stopped"),
         (rate("clearance_questions_refused_total", by="question"), "{{question}} refused")], "Stopped: a budget or a deadline ran out."),
        ("Configurations, edges and paths", "lines", "ops", [(rate("clearance_searches_total", f'question="{name}"'), name) for name in
         ("check_configurations", "check_edges", "check_path")], "Single configurations and edges that were looked at."),
        ("Questions to scenes", "lines", "ops", [(rate("clearance_questions_answered_total", 'question="query_scene"'), "questions"),
         (rate("clearance_searches_total", 'question="query_scene"'), "searches")], "QueryScene, and the bodies that it looked at."),
        ("Witness hits", "lines", "percentunit", [(share("clearance_witness_hits_total", "clearance_searches_total", by="question"), "{{question}}")],
         "Searches that what was remembered answered. A low share in session_frame: bodies jump instead of moving."),
        ("Exact stages", "lines", "percentunit", [(share("clearance_exact_stages_total", "clearance_searches_total", by="question"), "{{question}}")],
         "Searches that exact arithmetic decided: bodies touch exactly, which costs microseconds."),
        ("Steps of a search", "lines", "none", [(share("clearance_steps_total", "clearance_searches_total", by="question"), "{{question}}")], "On average."),
        ("Supporting vertices", "lines", "ops", [(rate("clearance_supports_total", by="question"), "{{question}}")], "Searches for a supporting vertex."),
    ]),
    ("Compute pool", [
        ("Jobs", "lines", "none", [(f"sum by (instance) ({of('clearance_jobs')})", "{{instance}}"),
         (f"min({of('clearance_jobs_limit')})", "limit")], "Running or waiting; at the limit whoever waits with most is refused (BUSY)."),
        ("Time until a job begins", "lines", "s", quantiles("clearance_pool_wait_seconds"), "Seconds of it: more servers or processors."),
    ]),
    ("Memory", [
        ("Memory by kind", "stack", "bytes", [(f"sum by (kind) ({of('clearance_memory_bytes')})", "{{kind}}")], "What the account has given out."),
        ("Memory beside its bound", "lines", "bytes", [(f"sum by (instance) ({of('clearance_memory_bytes')})", "{{instance}} accounted"),
         (f"sum by (instance) ({of('clearance_memory_resident_bytes')})", "{{instance}} resident"), (f"min({of('clearance_memory_limit_bytes')})", "limit")],
         "What is accounted for is never more than the limit."),
        ("Refused for memory", "lines", "ops", [(rate("clearance_memory_refusals_total"), "refusals")], "Calls get RESOURCE_EXHAUSTED with RetryInfo."),
        ("Memory of sessions", "lines", "bytes", [(f"sum by (instance) ({of('clearance_session_bytes')})", "{{instance}}")], "Estimated."),
    ]),
    ("Store of registrations", [
        ("Bytes beside the bound", "lines", "bytes", [(f"sum by (instance) ({of('clearance_store_bytes')})", "{{instance}}"),
         (f"min({of('clearance_store_limit_bytes')})", "limit")], "With what was deleted within a day."),
        ("Reads and writes", "lines", "ops", [(rate(f"clearance_store_{what}_total"), what) for what in ("writes", "loads", "collected")], ""),
        ("Faults", "lines", "ops", [(rate(f"clearance_store_{what}_total"), words) for what, words in
         [("failures", "does not answer"), ("set_aside", "damaged")]], "One that is damaged is NOT_FOUND, and set aside."),
        ("Times of writing", "lines", "s", quantiles("clearance_store_write_seconds"), "Until what was written is on the disk."),
        ("Times of reading", "lines", "s", quantiles("clearance_store_load_seconds"), ""),
        ("Answers", "lines", "none", [(f"min by (instance) ({of('clearance_store_answers')})", "{{instance}}")], "0: the disk fails, or is full."),
    ]),
    ("Tenants", [
        ("Quotas exceeded", "lines", "ops", [(rate("clearance_quota_refusals_total", by="quota"), "{{quota}}")], "By what the quota counts."),
        ("By tenant", "lines", "ops", [(rate("clearance_tenant_quota_refusals_total", by="tenant"), "{{tenant}}")], "Who wants more than may be had."),
    ]),
    ("What is seen of it", [
        ("Spans", "lines", "ops", [(f"{rate('clearance_spans_total', by='outcome')} or vector(0)", "{{outcome}}")],
         "Sent to the collector, dropped since others waited, or not taken by it (otlp_endpoint)."),
        ("Age", "lines", "s", [(f"time() - {of('clearance_start_time_seconds')}", "{{instance}}")], "Since the server started."),
    ]),
]
SOURCE = {"type": "prometheus", "uid": "${source}"}
WIDTH = 24


def panel(number, place, row):
    title, kind, unit, asked, words = row
    is_stat = kind == "stat"
    custom = {"fillOpacity": 20, "stacking": {"mode": "normal"}} if kind == "stack" else {"fillOpacity": 0}
    targets = [{"refId": chr(ord("A") + k), "expr": query, "legendFormat": legend, "datasource": SOURCE} for k, (query, legend) in enumerate(asked)]
    return {
        "id": number, "type": "stat" if is_stat else "timeseries", "title": title, "description": words, "datasource": SOURCE,
        "gridPos": place, "targets": targets,
        "fieldConfig": {"defaults": {"unit": unit, "min": 0, **({} if is_stat else {"custom": custom})}, "overrides": []},
        "options": {"reduceOptions": {"calcs": ["lastNotNull"]}} if is_stat else {"legend": {"displayMode": "table", "calcs": ["lastNotNull", "max"]}},
    }


def dashboard():
    panels, y, number = [], 0, 1
    for title, rows in ROWS:
        panels.append({"id": number, "type": "row", "title": title, "collapsed": False, "gridPos": {"x": 0, "y": y, "w": WIDTH, "h": 1}, "panels": []})
        number, y, x = number + 1, y + 1, 0
        width, height = (WIDTH // len(rows), 4) if rows[0][1] == "stat" else (WIDTH // 2, 8)
        for row in rows:
            if x + width > WIDTH:
                x, y = 0, y + height
            panels.append(panel(number, {"x": x, "y": y, "w": width, "h": height}, row))
            number, x = number + 1, x + width
        y += height
    variables = [
        {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"},
        {"name": "instance", "type": "query", "label": "Server", "datasource": SOURCE, "multi": True, "includeAll": True, "allValue": ".*",
         "refresh": 2, "query": {"query": "label_values(clearance_build, instance)", "refId": "instance"}},
    ]
    return {
        "uid": "clearance", "title": "Clearance", "tags": ["clearance"], "schemaVersion": 39, "version": 1, "editable": True,
        "refresh": "30s", "time": {"from": "now-1h", "to": "now"}, "timezone": "browser", "templating": {"list": variables}, "panels": panels,
    }


def main():
    text = json.dumps(dashboard(), indent=1) + "\n"
    if "--check" in sys.argv:
        sys.exit(0 if FILE.read_text() == text else "deploy/grafana/clearance.json is not what make.py writes")
    FILE.write_text(text)


if __name__ == "__main__":
    main()
