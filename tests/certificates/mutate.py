#!/usr/bin/env python3
"""Tampers with valid certificates and demands that two judges rule alike on every one.

The certificates are of ANSWERS, and of answers that CLEARANCE gives to the moving cases when contact means
a distance within a margin, and freedom holds for deviating motions; half of the mutations are of these.
The judges are `clearance verify` (Rust) and `clients/python`; they share no code. What both accept has
to be true: the oracle, a folder with `exact.py` and `screw.py`, is asked for the mutated claim (needs
numpy, scipy and gmpy2). A judge may refuse what is true: of turning bodies the Rust one computes in f64 and the
Python one in 128 bits, and nearer to a margin than ROUNDING only the second need see on which side they are. Such a
case is `fine`, not `unlike`, and the judges themselves say which it is, with or without the oracle: the one that
refuses accepts as soon as the margin is moved by that much. A seed gives the same mutations everywhere.
usage: mutate.py CLEARANCE CASES.jsonl.gz ANSWERS.jsonl [--each 850] [--seed 1] [--oracle FOLDER] [--jobs 2]
"""
import argparse, copy, gzip, json, math, multiprocessing, os, pathlib, random, subprocess, sys, tempfile
from collections import Counter, defaultdict

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))
from clearance_answers import verify_answer  # noqa: E402
from clearance_verify import Refused  # noqa: E402

STATIC, MOVING = ("SEPARATED", "TOUCHING", "OVERLAPPING"), ("CONTACT", "NO_CONTACT", "UNDECIDED")
ROUNDING = 1e-13  # of the bodies' size and places
WAYS = (-1, 1, -0.01, 0.01)  # that much less or more, or a little: more may be too far for the contact
TRIES = 5000  # in a row that change nothing: then the answers are taken to have no more of a kind
ENDS = ("distance_lower", "distance_upper", "depth_lower", "depth_upper", "enter", "exit", "t_free", "t_contact")


def ulp(draw, x):
    return math.nextafter(x, draw.choice((-math.inf, math.inf)))

def nudged(draw, x):
    """By an ulp, or by a little, either way."""
    return ulp(draw, x) if draw.random() < 0.6 else x * (1 + draw.choice((-1, 1)) * 10 ** draw.uniform(-15, -3))

def pair_lists(cert, face=False):
    """Every list of vertex pairs, those of the depth apart."""
    if face:
        holders = [cert.get("face") or {}, cert.get("surface") or {}]
    else:
        holders = [cert] + cert.get("chain", [])
    names = ("pairs", "distance_pairs", "direction_pairs", "direction_swept", "direction_nearest", "corners")
    return [holder[name] for holder in holders for name in names if holder.get(name)]

def directions(cert, face=False):
    holders = [cert.get("face") or {}] if face else [cert] + cert.get("chain", [])
    return [d for d in holders if "direction" in d or "direction_sign" in d]

# ---- one function a kind: changes the case, the answer and its certificate in place; False: not applicable
def index(draw, case, answer, cert, face=False):
    pair = draw.choice(draw.choice(pair_lists(cert, face)))
    pair[draw.randrange(2)] += draw.choice((-1, 1))

def direction(draw, case, answer, cert, face=False):
    d = draw.choice([d for d in directions(cert, face) if "direction" in d])["direction"]
    k = draw.randrange(3)
    d[k] = ulp(draw, d[k])

def sign(draw, case, answer, cert, face=False):
    d = draw.choice(directions(cert, face))
    if "direction" in d:
        d["direction"] = [-x for x in d["direction"]]
    else:
        d["direction_sign"] = -d["direction_sign"]

def swapped(draw, case, answer, cert):
    if draw.random() < 0.5:  # the bodies, or what the certificate calls them
        for name in ("", "t", "q", "v", "axis", "angle"):
            a, b = name + "P", name + "Q"
            if a in case:
                case[a], case[b] = case[b], case[a]
    else:
        for pairs in pair_lists(cert):
            pairs[:] = [pair[::-1] for pair in pairs]
        for link in cert.get("chain", []):
            link["frame"] = {"p": "q", "q": "p"}.get(link["frame"], link["frame"])

def verdict(draw, case, answer, cert):
    words = STATIC if answer["verdict"] in STATIC else MOVING
    answer["verdict"] = draw.choice([word for word in words if word != answer["verdict"]])

def pose(draw, case, answer, cert):
    numbers = case[draw.choice(("tP", "tQ", "qP", "qQ"))]
    k = draw.randrange(len(numbers))
    numbers[k] = ulp(draw, float(numbers[k]))

def pair_dropped(draw, case, answer, cert):
    pairs = draw.choice(pair_lists(cert))
    pairs.pop(draw.randrange(len(pairs)))

def link_removed(draw, case, answer, cert):
    cert["chain"].pop(draw.randrange(len(cert["chain"])))

def link_end(draw, cert, way):
    link = draw.choice(cert["chain"])
    length, far = link["t1"] - link["t0"], draw.random() < 0.4
    if draw.random() < 0.7:
        link["t1"] = link["t1"] + way * length * draw.random() if far else math.nextafter(link["t1"], way * math.inf)
    else:
        link["t0"] = link["t0"] - way * length * draw.random() if far else math.nextafter(link["t0"], -way * math.inf)

def link_shortened(draw, case, answer, cert):
    link_end(draw, cert, -1)

def link_lengthened(draw, case, answer, cert):
    link_end(draw, cert, 1)

def end(draw, case, answer, cert):
    name = draw.choice([name for name in ENDS if name in answer])
    answer[name] = nudged(draw, answer[name])
    if name == "t_free" and draw.random() < 0.5:  # with the chain
        cert["chain"][-1]["t1"] = answer[name]

def margin(draw, case, answer, cert):
    name = draw.choice([name for name in ("contact_margin", "deviation") if name in case])
    way = draw.randrange(4)
    case[name] = (nudged(draw, case[name]), case[name] * draw.random(), case[name] * (1 + draw.random()),
                  draw.choice((0.0, -case[name], 2 * case["size"])))[way]

def face(draw, case, answer, cert):
    draw.choice((index, direction, sign))(draw, case, answer, {"face": cert["face"]}, True)

def surface(draw, case, answer, cert):
    corners, triangles = cert["surface"]["corners"], cert["surface"]["triangles"]
    at, way = draw.randrange(len(triangles)), draw.randrange(6)
    if way == 0:
        index(draw, case, answer, {"surface": cert["surface"]}, True)
    elif way == 1:
        triangles.pop(at)
    elif way == 2:
        triangles[at].reverse()
    elif way == 3:
        triangles[at][draw.randrange(3)] = draw.randrange(len(corners) + 1)
    elif way == 4:
        corners.pop(draw.randrange(len(corners)))
    else:
        triangles.append(list(draw.choice(triangles)))

def along(draw, case, answer, cert):
    proof, way = cert["range"], draw.randrange(7)
    end = proof[draw.choice(sorted(proof))]
    if way == 0:
        index(draw, case, answer, end)
    elif way == 1:
        sign(draw, case, answer, end)
    elif way == 2:
        direction(draw, case, answer, end)
    elif way == 3:  # what the answer says with it, and the other bound too
        name = draw.choice([name for name in ("enter", "exit") if name in proof])
        bracket, outer = proof[name]["bracket"], name == "exit"
        bracket[outer] = answer[name] = nudged(draw, bracket[outer])
        if draw.random() < 0.5:
            bracket[1 - outer] = bracket[outer]
    elif way == 4:
        k = draw.randrange(3)
        case["dir"]["d"][k] = ulp(draw, case["dir"]["d"][k])
    elif way == 5:
        pair_dropped(draw, case, answer, end)
    else:
        proof.pop(draw.choice(sorted(proof)))


KINDS = {
    "index +-1": index, "direction by one ulp": direction, "sign": sign, "bodies swapped": swapped,
    "verdict changed": verdict, "pose by one ulp": pose, "pair dropped": pair_dropped,
    "link removed": link_removed, "link shortened": link_shortened, "link lengthened": link_lengthened,
    "interval end moved": end, "margin moved": margin, "face of a depth": face, "surface of a depth": surface,
    "range": along,
}


def mutations(cases, answers, each, seed):
    """`each` of every kind, or as many as the answers have what it needs for, half with a margin, families drawn
    alike: (kind, case, answer) with ids of their own."""
    draw, families = random.Random(seed), ({}, {})
    for answer in answers:
        case = cases[answer["id"]]
        families["contact_margin" in case].setdefault(case["family"], []).append(answer)
    count = 0
    for kind, change in KINDS.items():
        made = tries = 0
        while made < each and tries < TRIES:
            tries += 1
            group = draw.choice([group for group in families if group])
            base = draw.choice(group[draw.choice(sorted(group))])
            case, answer = copy.deepcopy(cases[base["id"]]), copy.deepcopy(base)
            try:
                change(draw, case, answer, answer["certificate"])
            except (LookupError, TypeError, ValueError):
                continue  # this answer has nothing of the kind
            if case == cases[base["id"]] and answer == base:
                continue
            made, count, tries = made + 1, count + 1, 0
            answer["of"] = base["id"]
            case["id"] = answer["id"] = f"mutation-{count:05}"
            yield kind, case, answer


# ---- seeds with margins
def margined(cases, seed):
    """Moving cases with a margin: from a hundredth of the distance at the start to a little more than it, or
    (nearly) it; and in half of them a deviation."""
    draw = random.Random(seed)
    for base in cases.values():
        if base["kind"] == "static" or not base.get("dist"):
            continue
        case, distance = copy.deepcopy(base), base["dist"]
        case["id"] += "+margin"
        case["contact_margin"] = draw.choice((
            distance * draw.uniform(0.01, 1.1), distance * 10 ** draw.uniform(-9, -1), distance, ulp(draw, distance)))
        case["deviation"] = distance * draw.choice((0.0, 0.0, draw.random(), 10 ** draw.uniform(-9, -1)))
        yield case

def answered(binary, hulls, cases, folder):
    """What the library answers."""
    asked, answers = (os.path.join(folder, name) for name in ("asked", "answers"))
    write_cases(asked, hulls, cases)
    subprocess.run([binary, "conformance", asked, "--answers", answers], stdout=subprocess.DEVNULL, check=True)
    with open(answers) as lines:
        return [json.loads(line) for line in lines]

def write_cases(path, hulls, cases):
    with open(path, "w") as file:
        for number, points in hulls.items():
            file.write(json.dumps({"type": "hull", "id": number, "points": points}) + "\n")
        file.writelines(json.dumps(case) + "\n" for case in cases)


# ---- the rulings
HULLS, ORACLE = {}, None

def begin(hulls, folder):
    global ORACLE
    HULLS.update(hulls)
    if folder:
        import oracle
        ORACLE = oracle.Oracle(folder)

def ruling(case, answer):
    """What the verifier in Python says."""
    try:
        proven, unproven = verify_answer(case, HULLS, answer)
        return {"accepted": True, "proven": proven, "open": unproven}
    except (Refused, LookupError, TypeError, ValueError, AttributeError) as why:
        return {"accepted": False, "reason": str(why)}

def ruled(task):
    """What it says of one mutation, and the oracle of what this or the other judge accepts."""
    (_, case, answer), other = task
    said = ruling(case, answer)
    if ORACLE and (said["accepted"] or other["accepted"]):
        said["oracle"] = ORACLE.contradicts(case, HULLS[case["P"]], HULLS[case["Q"]], answer)
    return said

def with_margin_moved(case, answer, way):
    """The same about a margin that is a rounding less or more."""
    case, answer = copy.deepcopy(case), copy.deepcopy(answer)
    case["id"] = answer["id"] = f"{case['id']}{way:+}"
    reach = max(case["size"], *(abs(float(x)) for body in "PQ" for x in case["t" + body]))
    case["contact_margin"] = max(0.0, case["contact_margin"] + way * ROUNDING * reach)
    return "", case, answer

def fine(binary, hulls, made, rust, python, folder):
    """Where one judge refuses what the other accepts, and would not if the margin were a rounding less or more."""
    split = [at for at, (_, case, _) in enumerate(made) if rust[at]["accepted"] != python[at]["accepted"]
             and case["kind"] == "screw" and (case.get("contact_margin") or 0.0) > 0.0]
    moved = [with_margin_moved(*made[at][1:], way) for at in split for way in WAYS]
    begin(hulls, None)
    again = rulings_of_rust(binary, hulls, moved, folder) if moved else [], [ruling(case, answer) for _, case, answer in moved]
    refusing = [again[rust[at]["accepted"]][len(WAYS) * k:len(WAYS) * (k + 1)] for k, at in enumerate(split)]
    return {at for at, both in zip(split, refusing) if any(one["accepted"] for one in both)}

def rulings_of_rust(binary, hulls, made, folder):
    cases, answers, rulings = (os.path.join(folder, name) for name in ("cases", "answers", "rulings"))
    write_cases(cases, hulls, (case for _, case, _ in made))
    with open(answers, "w") as file:
        file.writelines(json.dumps(answer) + "\n" for _, _, answer in made)
    done = subprocess.run([binary, "verify", cases, answers, "--rulings", rulings], stdout=subprocess.PIPE)
    with open(rulings) as file:
        found = [json.loads(line) for line in file]
    if len(found) != len(made) or done.returncode != int(any(not ruling["accepted"] for ruling in found)):
        sys.exit(f"{binary} verify ruled on {len(found)} of {len(made)}, exit code {done.returncode}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clearance")
    parser.add_argument("cases")
    parser.add_argument("answers")
    parser.add_argument("--each", type=int, default=850, help="mutations of every kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--oracle", help="folder of exact.py and screw.py")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="write the mutations that went wrong to this folder")
    options = parser.parse_args()
    hulls, cases = {}, {}
    with (gzip.open if options.cases.endswith(".gz") else open)(options.cases, "rt") as lines:
        for line in map(json.loads, lines):
            if line["type"] == "hull":
                hulls[line["id"]] = line["points"]
            elif line["type"] == "case":
                cases[line["id"]] = line
    with open(options.answers) as lines:
        answers = [json.loads(line) for line in lines]
    with tempfile.TemporaryDirectory() as folder:
        with_margin = {case["id"]: case for case in margined(cases, options.seed)}
        answers += answered(options.clearance, hulls, with_margin.values(), folder)
        cases |= with_margin
        made = list(mutations(cases, answers, options.each, options.seed))
        rust = rulings_of_rust(options.clearance, hulls, made, folder)
    with multiprocessing.Pool(options.jobs, begin, (hulls, options.oracle)) as pool:
        python = pool.map(ruled, zip(made, rust), chunksize=16)
    with tempfile.TemporaryDirectory() as folder:
        of_precision = fine(options.clearance, hulls, made, rust, python, folder)
    counts, wrong = defaultdict(Counter), []
    for at, ((kind, case, answer), ours, theirs) in enumerate(zip(made, rust, python)):
        count = counts[kind]
        count.update(made=1, accepted=theirs["accepted"])
        if at in of_precision and not theirs.get("oracle"):
            count["fine"] += 1
        elif ours["accepted"] != theirs["accepted"] or theirs["accepted"] and (
                ours["proven"], ours["open"]) != (theirs["proven"], theirs["open"]):
            count["unlike"] += 1
            said = [f"{name} {judge.get('reason') or 'accepts'}" for name, judge in (("Rust", ours), ("Python", theirs))]
            wrong.append((kind, case, answer, ", ".join(said)))
        elif theirs["accepted"] and options.oracle:
            against = theirs["oracle"]
            count["false" if against else "confirmed"] += 1
            if against:
                wrong.append((kind, case, answer, f"accepted, but {against}"))
    print(f"{'kind':22} {'made':>6} {'refused':>8} {'accepted':>9} {'confirmed':>10} {'fine':>5} {'unlike':>7} {'false':>6}")
    total = sum(counts.values(), Counter())
    for kind, count in [*counts.items(), ("all", total)]:
        confirmed = count["confirmed"] if options.oracle else "-"
        print(f"{kind:22} {count['made']:6} {count['made'] - count['accepted']:8} {count['accepted']:9} {confirmed:>10} "
              f"{count['fine']:5} {count['unlike']:7} {count['false']:6}")
    for kind in KINDS:
        if counts[kind]["made"] < options.each:
            print(f"{kind}: {counts[kind]['made']} of {options.each} tried, the answers have nothing more of what it needs")
    for kind, case, answer, what in wrong[:20]:
        print(f"{answer['id']}, {kind} of {answer['of']}: {what}")
    if options.keep and wrong:
        with open(options.keep, "w") as file:
            for kind, case, answer, what in wrong:
                file.write(json.dumps({"kind": kind, "what": what, "case": case, "answer": answer}) + "\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
