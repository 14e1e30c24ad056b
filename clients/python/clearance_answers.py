"""Files of cases and of answers for `clearance_verify.py`: which claims an answer makes, and counts.

A case names two hulls, their poses and motions, perhaps the distance that counts as contact and that
P may deviate; an answer its verdict, bounds and certificate.
"""
import argparse, gzip, json, time
from collections import Counter

import clearance_poses
from clearance_poses import patient
from clearance_verify import (Refused, bound, quaternion_pose, require, verify_depth,
                              verify_distance, verify_motion, verify_range, verify_static)

FORMS = {"direction", "direction_pairs", "direction_nearest"}  # of a direction, whatever the motion

@patient
def verify_answer(case, hulls, answer):
    """Checks all certificates of one answer; returns the kinds of claims proven and unproven."""
    p, q = hulls[case["P"]], hulls[case["Q"]]
    cert, verdict = answer["certificate"], answer["verdict"]
    poses = [quaternion_pose(case["t" + b], case["q" + b]) for b in "PQ"]
    if case["kind"] != "static":
        motions = [("linear", case["v" + b]) if case["kind"] == "linear" else
                   ("screw", case["v" + b], case["axis" + b], case["angle" + b], None)
                   for b in "PQ"]
        at_start = cert if not cert.get("chain") and FORMS & cert.keys() else None
        verify_motion(p, q, *poses, *motions, answer, initial=at_start,
                      margin=case.get("contact_margin", 0.0), deviation=case.get("deviation", 0.0))
        return [f"{case['kind']} {verdict}"], []
    verify_static(p, q, *poses, verdict, cert)
    proven, unproven = [f"static {verdict}"], []
    if "range" in cert:
        verify_range(p, q, *poses, case["dir"]["d"], verdict, answer, cert["range"])
        proven.append("range along a direction")
    elif [answer.get(k) for k in ("enter", "exit")] != [None, None]:
        unproven.append("range along a direction")
    bounds = [answer.get(k) for k in ("distance_lower", "distance_upper")]
    if bounds != [None, None]:
        if verdict == "SEPARATED":
            verify_distance(p, q, *poses, *bounds, cert.get("distance_pairs"))
        require(verdict == "SEPARATED" or bounds[0] == 0 <= bound(bounds[1]), "a distance in contact")
        proven.append("distance")
    bounds, face = [answer.get(k) for k in ("depth_lower", "depth_upper")], cert.get("face")
    if bounds != [None, None]:
        if verdict == "OVERLAPPING" and face is not None:
            verify_depth(p, q, *poses, *bounds, face, cert.get("surface"))
        require(verdict == "OVERLAPPING" or bounds[0] == 0 <= bound(bounds[1]), "a depth without overlap")
        (proven if verdict != "OVERLAPPING" or face is not None else unproven).append("depth")
    return proven, unproven

def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("cases")
    parser.add_argument("answers")
    parser.add_argument("--every", type=int, default=1, help="check every Nth answer only")
    parser.add_argument("--families", help="only these, separated by commas")
    parser.add_argument("--patience", type=float, default=clearance_poses.PATIENCE, help="seconds for an answer")
    options = parser.parse_args(arguments)
    clearance_poses.PATIENCE = options.patience
    families = options.families and options.families.split(",")
    hulls, cases, counts, refused, slowest, seen = {}, {}, Counter(), 0, (0, "-"), set()
    with (gzip.open if options.cases.endswith(".gz") else open)(options.cases, "rt") as lines:
        for line in map(json.loads, lines):
            if line["type"] in ("hull", "case"):
                (hulls if line["type"] == "hull" else cases)[line["id"]] = line
    hulls = {name: line["points"] for name, line in hulls.items()}
    with open(options.answers) as lines:
        answers = [json.loads(line) for line in lines][::options.every]
    for answer in answers:
        start, case = time.monotonic(), cases.get(answer["id"])
        if families and case and case["family"] not in families:
            continue
        try:
            require(case, "no such case")
            require(answer["id"] not in seen, "the case is answered already")
            seen.add(answer["id"])
            proven, unproven = verify_answer(case, hulls, answer)
            counts.update([(0, kind) for kind in proven] + [(1, kind) for kind in unproven])
        except (Refused, LookupError, TypeError, ValueError, AttributeError) as why:
            refused += 1
            print(f"refused: {answer['id']}: {why!r}")
        slowest = max(slowest, (time.monotonic() - start, answer["id"]))
    for (open_, kind), count in sorted(counts.items()):
        print(f"{count:7} {kind}{' WITHOUT A CERTIFICATE' if open_ else ' proven'}")
    print(f"{refused} answers refused; the slowest took {slowest[0]:.2f} s: {slowest[1]}")
    return 1 if refused or not counts else 0
