"""Checks what the server says of bodies of several convex parts, as sessions report it.

Proofs are the dictionaries that a PairReport's `certificate`, `distanceCertificate`, `depthCertificate` and
`firstContact` are as JSON (as grpcurl prints them). A body is a list of parts, each its vertices, its pose in the world
and, if it is rounded, the radius: `placed` makes it of the poses in the body. A curved part has `(form, half sizes)`, as
`clearance_curved` does, in place of vertices; each pair of parts with one is judged by itself. A refusal says which entry is refused.
Every function raises `Refused` with the reason, or returns if the claim is proven.
"""
import sys

from clearance_curved import verify_curved
from clearance_solids import FRAMES, bracket, direction, only, vertex_pairs
from clearance_poses import TakesTooLong, patient, turn_of
from clearance_rounded import (is_upper_shown, margin_depth, shown_at_start, verdict_of, verify_rounded,
                               verify_rounded_depth)
from clearance_verify import (Pair, Refused, bound, is_depth, negative, require, sign, verify_depth, verify_distance, verify_margin,
                              verify_motion, verify_static)

VERDICTS = ("SEPARATED", "TOUCHING", "OVERLAPPING")


def composed(body, part):
    """The pose of a part in the world, in IEEE f64 in exactly this order."""
    (rows, t), (of_part, at) = body, part
    along = lambda row, v: (row[0] * v[0] + row[1] * v[1]) + row[2] * v[2]
    turned = tuple(tuple(along(row, column) for column in zip(*of_part)) for row in rows)
    return turned, tuple(along(row, at) + x for row, x in zip(rows, t))


def placed(parts, pose):
    """A body: `parts` are vertices and poses in it, and radii of those that are rounded."""
    return [(points, composed(pose, at), *radius) for points, at, *radius in parts]


def part_motions(parts, pose, motion):
    """How each part moves when the body does: about the body's pivot and by the body's turn, or the parts would drift
    apart."""
    if motion[0] == "linear":
        return [motion] * len(parts)
    pivot = pose[1] if motion[-1] is None else motion[-1]
    if motion[0] == "screw":
        return [(*motion[:-1], pivot)] * len(parts)
    turn = turn_of(pose, motion)
    return [("to_pose", composed(motion[1], at), turn, pivot) for _, at in parts]


def static(json):
    """The verdict that a certificate of two parts is for, and it as `clearance_verify` takes it."""
    form, body = only(json)
    require(form.upper() in VERDICTS, f"{form} says nothing about two parts")
    cert = {} if form == "overlapping" else direction(body.get("direction"))
    cert["pairs"] = vertex_pairs(body.get("pairs", []))
    cert["margin_pairs"] = vertex_pairs(body.get("marginPairs", []))
    cert["margin_depth"] = margin_depth(body) if form == "overlapping" else None
    return form.upper(), cert


def chosen(entry, p, q):
    """The parts that an entry is about."""
    named = []
    for name, body in (("pParts", p), ("qParts", q)):
        found = entry.get(name, [])
        ok = isinstance(found, list) and found and all(type(i) is int and 0 <= i < len(body) for i in found)
        require(ok, f"{name}: {found!r} names a part that does not exist")
        require(len(set(found)) == len(found), f"{name}: {found!r} names a part twice")
        named.append(found)
    return [(i, j) for i in named[0] for j in named[1]]


def parts_of(body_p, body_q, i, j):
    return body_p[i][0], body_q[j][0], body_p[i][1], body_q[j][1]


def radii_of(body_p, body_q, i, j):
    """0 of what is not rounded."""
    return [part[2] if len(part) > 2 else 0.0 for part in (body_p[i], body_q[j])]


def core_of(part):
    """The form and the half sizes of a part, if it is curved."""
    return part[0] if isinstance(part[0][0], str) else None


def side_of(certificate, name):
    found = certificate["curved"].get(name)
    return found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}


def course_of(said, outer, inner):
    """When two parts first meet, as the polytopes around and in them say."""
    if said != "SEPARATED":
        return {"outcome": "OUTCOME_CONTACT", "tFree": 0.0, "tContact": 0.0}
    if outer.get("outcome") == "OUTCOME_NO_CONTACT":
        return {"outcome": "OUTCOME_NO_CONTACT", "tFree": 1.0}
    free = {"tFree": outer.get("tFree", 0.0)}
    if inner.get("outcome") == "OUTCOME_CONTACT":
        return {"outcome": "OUTCOME_CONTACT", **free, "tContact": inner.get("tContact", 1.0)}
    return {"outcome": "OUTCOME_UNDECIDED", **free}


def judge_curved(p, q, certificate, margin=None, motions=None, deviation=0.0):
    """How two parts stand of which one is curved, what is told of the margin, and what is measured: around their distance
    or depth by its name, or when they first meet. What is said of them is said by the proof, and proven here."""
    require("curved" in certificate, "one of the parts is curved")
    outer, inner = (side_of(certificate, name) for name in ("outer", "inner"))
    said = ("SEPARATED" if outer.get("verdict") == "VERDICT_SEPARATED" else
            "OVERLAPPING" if inner.get("verdict") == "VERDICT_OVERLAPPING" else "TOUCHING")
    within = lambda told: told.get("withinMargin")
    told = False if within(outer) is False else True if within(inner) is True else None
    kinds = [kind for side in (outer, inner) for kind in ("collision", "distance", "penetration", "firstContact") if kind in side]
    kind = "firstContact" if motions else next((kind for kind in kinds if kind != "firstContact"), "collision")
    answer, measured = {"verdict": f"VERDICT_{said}", "certificate": certificate}, {}
    if kind in ("distance", "penetration"):
        name, deep = ("distance", "SEPARATED") if kind == "distance" else ("depth", "OVERLAPPING")
        low, high = (outer, inner) if kind == "distance" else (inner, outer)
        ends = [bracket(side["bracket"])[end] for end, side in enumerate((low, high))] if said == deep else [0.0, 0.0]
        measured = {name: ends}
        answer = {**answer, name: dict(zip(("lower", "upper"), ends)), "certificate": {"verdict": certificate}}
        if kind == "distance" and told is None and margin is not None and margin >= 0:
            shown = True if ends[1] <= margin else False if ends[0] > margin else None
        else:
            shown = told
    elif kind == "firstContact":
        measured, shown = course_of(said, outer, inner), None
        answer = {"initialVerdict": f"VERDICT_{said}", **measured, "certificate": {"initial": certificate}}
    else:
        shown = told
    if told is not None and kind != "firstContact":
        answer["withinMargin"] = told
    cores = [core_of(part) for part in (p, q)]
    radii = [part[2] if len(part) > 2 else 0.0 for part in (p, q)]
    curved = [core and (*core, radius) for core, radius in zip(cores, radii)]

    def judge(points, side):
        two = [(found or part[0], *part[1:]) for found, part in zip(points, (p, q))]
        one, other = two[:1], two[1:]
        if kind == "firstContact":
            cert = side["certificate"]
            found = (stand(one, other, 0, 0, cert["initial"]) if "initial" in cert else
                     "SEPARATED" if cert.get("chain") and cert["chain"][0].get("t0", 0.0) <= 0 else None)
            require(side["initialVerdict"] == f"VERDICT_{found}", "the certificate of a side is for another verdict")
            return verify_compound_motion(one, other, *([motion] for motion in motions), side, margin or 0.0, deviation)
        of_verdict = side["certificate"] if kind == "collision" else side["certificate"]["verdict"]
        found = stand(one, other, 0, 0, of_verdict, margin, side.get("withinMargin"))
        require(side["verdict"] == f"VERDICT_{found}", "the certificate of a side is for another verdict")
        if kind == "distance":
            verify_compound_distance(one, other, found, side["distance"], side["certificate"])
        elif kind == "penetration":
            verify_compound_depth(one, other, found, side["depth"], side["certificate"])

    verify_curved(kind, curved, {} if margin is None else {"margin": margin}, answer, judge)
    return said, shown, measured


def stand_curved(p, q, certificate, margin, within):
    """How two parts stand of which one is curved."""
    said, shown, _ = judge_curved(p, q, certificate, margin)
    if within is not None:
        require(shown is within, "it does not show what is said of the margin")
    return said


def is_curved_pair(p, q, i, j):
    return bool(core_of(p[i]) or core_of(q[j]))


def entries_of(p, q, certificate):
    """The entries of a verdict's certificate; of two bodies of one part each it may be that of two."""
    found = certificate.get("compound", {}).get("entries")
    if found is None and len(p) == len(q) == 1:
        found = [{"pParts": [0], "qParts": [0], "certificate": certificate}]
    require(isinstance(found, list), "entries are missing")
    return found


def of_curved(p, q, certificate):
    """The entries about curved parts with their places, each of two parts; the verdicts are proven apart from this."""
    has_curved = any(core_of(part) for part in (*p, *q))
    for entry in entries_of(p, q, certificate.get("verdict", {})) if has_curved else ():
        parts = chosen(entry, p, q)
        if len(parts) == 1 and is_curved_pair(p, q, *parts[0]):
            yield parts[0], judge_curved(p[parts[0][0]], q[parts[0][1]], entry["certificate"])


def none_curved(p, q, parts):
    require(not any(is_curved_pair(p, q, i, j) for i, j in parts), "curved parts are proven by themselves")


def stand(p, q, i, j, certificate, margin=None, within=None):
    """How two parts stand, by a certificate of these."""
    if core_of(p[i]) or core_of(q[j]):
        return stand_curved(p[i], q[j], certificate, margin, within)
    margin = None if within is None else margin
    bodies, radii = parts_of(p, q, i, j), radii_of(p, q, i, j)
    if any(radii):
        said = verdict_of(certificate)
        verify_rounded(*bodies, *radii, said, certificate, margin, within)
        return said
    said, cert = static(certificate)
    verify_static(*bodies, said, cert)
    if within is not None:
        verify_margin(*bodies, margin, within, said, cert)
    return said


def only_vectors(directions):
    """Vertex pairs say nothing about parts of which several are named."""
    ok = all(isinstance(s, dict) and "vector" in s for s in directions)
    require(ok, "of several parts together a proof is a vector that separates them")


def each(entries, path, judge):
    for at, entry in enumerate(entries):
        try:
            judge(entry)
        except Refused as why:
            raise type(why)(f"{path}[{at}]: {why}") from why


def covered(p, q, seen):
    missing = [(i, j) for i in range(len(p)) for j in range(len(q)) if (i, j) not in seen]
    require(not missing, f"no entry is about these parts: {missing[:1]}")


@patient
def verify_compounds(p, q, verdict, certificate, margin=None, within=None):
    """A verdict on two bodies, and whether they are within a margin: of one below 0 if two parts overlap at least so deep."""
    path, whole = "certificate.compound.entries", {"pParts": [0], "qParts": [0], "certificate": certificate}
    single = len(p) == len(q) == 1 and "compound" not in certificate
    entries = [whole] if single else certificate.get("compound", {}).get("entries", [])
    seen, verdicts = set(), set()

    def judge(entry):
        parts, certificate = chosen(entry, p, q), entry.get("certificate")
        if len(parts) > 1:
            require(only(certificate)[0] == "separated", "of several parts together a proof is a vector that separates them")
            only_vectors([certificate["separated"].get("direction")])
            require(not any(core_of(p[i]) or core_of(q[j]) for i, j in parts), "curved parts are proven by themselves")
        asked = margin if margin is not None and not is_depth(margin) else None
        verdicts.update(stand(p, q, i, j, certificate, asked) for i, j in parts)
        seen.update(parts)

    each(entries, path, judge)
    require(verdict == max(verdicts, key=VERDICTS.index, default=None), "the entries are for another verdict")
    if verdict != "OVERLAPPING":
        covered(p, q, seen)
    if within is None:
        return
    require(margin is not None and within in (True, False), "no such claim")
    has_curved = any(core_of(part) for part in (*p, *q))
    require(not (is_depth(margin) and has_curved), "no claim is about depths of curved parts")
    if is_depth(margin) and not within:
        covered(p, q, seen)
    if not is_depth(margin) and verdict != "SEPARATED":
        return require(within, "the bodies are in contact")
    shown = 0

    def compare(entry):
        nonlocal shown
        for i, j in chosen(entry, p, q):
            try:
                stand(p, q, i, j, entry["certificate"], margin, within)
                shown += 1
            except Refused as why:
                if not within or isinstance(why, TakesTooLong):
                    raise
    each(entries, path, compare)
    require(shown, "no entry shows that the bodies are within the margin")


@patient
def verify_compound_distance(p, q, verdict, distance, certificate):
    """How far apart two bodies are, of which `verify_compounds` has proven the verdict by `certificate["verdict"]`."""
    lower, upper = bracket(distance)
    if verdict != "SEPARATED":
        return require(bound(lower) <= 0 <= bound(upper), "the bracket does not hold 0")
    entries, seen, shown = certificate.get("parts", []), set(), 0
    for parts, (_, _, measured) in of_curved(p, q, certificate):
        require("distance" in measured, "an entry does not say how far the parts are apart")
        require(lower <= measured["distance"][0], "the parts come closer than the lower bound")
        shown += measured["distance"][1] <= upper
        seen.add(parts)
    if len(p) == len(q) == 1 and not entries and not seen:
        entries = [{"pParts": [0], "qParts": [0], "pairs": certificate.get("pairs", [])}]

    def judge(entry):
        nonlocal shown
        parts, pairs = chosen(entry, p, q), vertex_pairs(entry.get("pairs", []))
        none_curved(p, q, parts)
        seen.update(parts)
        if "direction" not in entry:
            require(len(parts) == 1, "of several parts together a proof is a vector that separates them")
            bodies, radii = parts_of(p, q, *parts[0]), radii_of(p, q, *parts[0])
            if any(radii):
                shown += is_upper_shown(Pair(*bodies), sum(map(bound, radii)), bound(lower), bound(upper), pairs)
                return
            verify_distance(*bodies, lower, sys.float_info.max, pairs)
            try:
                verify_distance(*bodies, 0.0, upper, pairs)
                shown += 1
            except TakesTooLong:
                raise
            except Refused:
                pass
            return
        require(not pairs, "either a direction or vertex pairs")
        if len(parts) > 1:
            only_vectors([entry["direction"]])
        for i, j in parts:
            pair = Pair(*parts_of(p, q, i, j))
            s = pair.direction(direction(entry["direction"]))
            least = sum(map(bound, radii_of(p, q, i, j))) + bound(lower)
            require(sign(pair, s, least) >= 0, "the parts come closer than the lower bound")

    each(entries, "certificate.parts", judge)
    bound(upper)
    require(shown, "no entry shows the upper bound")
    if lower > 0:
        covered(p, q, seen)


@patient
def verify_compound_depth(p, q, verdict, depth, certificate):
    """How deep two bodies overlap, of which `verify_compounds` has proven the verdict by `certificate["verdict"]`."""
    lower, upper = bracket(depth)
    if verdict != "OVERLAPPING":
        return require(bound(lower) <= 0 <= bound(upper), "the bracket does not hold 0")
    seen, lower_shown = set(), False
    for parts, (said, _, measured) in of_curved(p, q, certificate):
        require(said != "OVERLAPPING" or "depth" in measured, "an entry does not say how deep the parts overlap")
        least, most = measured.get("depth", (0.0, 0.0)) if said == "OVERLAPPING" else (0.0, 0.0)
        require(most <= upper, "the parts may be deeper than the upper bound")
        lower_shown = lower_shown or lower <= least
        seen.add(parts)
    named = [entry for entry in entries_of(p, q, certificate["verdict"])
             if len(chosen(entry, p, q)) > 1 or not is_curved_pair(p, q, *chosen(entry, p, q)[0])]
    require(len(named) == 1 or not named and seen, "one entry has to name the deepest parts")
    if named:
        seen.update(verify_deepest(p, q, depth, certificate, named[0]))
    else:
        require(lower_shown, "no entry shows the lower bound")

    def judge(entry):
        parts = chosen(entry, p, q)
        none_curved(p, q, parts)
        if len(parts) > 1:
            only_vectors([entry.get("direction")])
        for i, j in parts:
            pair = Pair(*parts_of(p, q, i, j))
            s = pair.direction(direction(entry.get("direction")))
            beyond = sum(map(bound, radii_of(p, q, i, j))) - bound(upper)
            require(sign(pair, negative(s), beyond) >= 0, "the parts may be deeper than the upper bound")
        seen.update(parts)

    each(certificate.get("parts", []), "certificate.parts", judge)
    covered(p, q, seen)


def verify_deepest(p, q, depth, certificate, named):
    """How deep the parts overlap that are said to be the deepest, which an entry names."""
    (lower, upper), deepest = bracket(depth), chosen(named, p, q)
    require(len(deepest) == 1, "one entry has to name the deepest parts")
    surface = certificate.get("surface")
    if surface is not None:
        flat = surface.get("triangles", [])
        require(len(flat) % 3 == 0, "three corners a triangle")
        surface = {"corners": vertex_pairs(surface.get("corners", [])),
                   "triangles": [flat[k:k + 3] for k in range(0, len(flat), 3)]}
    bodies, radii = parts_of(p, q, *deepest[0]), radii_of(p, q, *deepest[0])
    if any(radii):
        of_two = {**certificate, "verdict": named.get("certificate", certificate["verdict"])}
        verify_rounded_depth(*bodies, *radii, "OVERLAPPING", depth, of_two)
    else:
        verify_depth(*bodies, lower, upper, direction(certificate.get("face")), surface)
    return deepest


@patient
def verify_compound_motion(p, q, motions_p, motions_q, answer, margin=0.0, deviation=0.0):
    """A first contact on the way (`answer`: a PairReport's firstContact), or that there is none. Motions: one for
    each part, see `part_motions`. An answer that was stopped, with nothing proven free, claims nothing of the start."""
    outcome = answer.get("outcome", "").removeprefix("OUTCOME_")
    certificate, t_free = answer.get("certificate", {}), answer.get("tFree", 0.0)
    alone = len(p) == len(q) == 1 and "parts" not in certificate
    entries = ([{"pParts": [0], "qParts": [0], "certificate": certificate}] if alone
               else certificate.get("parts", []))
    require(alone or entries, "no entry is about the parts")
    contact = outcome == "CONTACT"
    t_contact = bound(answer.get("tContact")) if contact else 1
    require(bound(t_free) <= t_contact <= 1, "not 0 <= t_free <= t_contact <= 1")
    start_open = "stopped" in answer and t_free == 0 and outcome != "NO_CONTACT"
    seen, met, unmet = set(), False, "no entry shows the contact"

    def free(bodies, motions, claim, initial, reach):
        if not (contact and t_contact == 0) and not (start_open and not claim["certificate"]["chain"]):
            # Contact by then is that of others.
            claim = {**claim, "verdict": "UNDECIDED" if contact else outcome}
            verify_motion(*bodies, *motions, claim, reach, deviation, initial=initial)
            if contact and not claim["certificate"]["chain"]:
                verify_margin(*bodies, reach, False, "SEPARATED", {**initial, "margin_pairs": []})

    def known_way(said, way):
        """Whether curved parts, which are free as long as is claimed, show the contact as well."""
        meets = way["outcome"] == "OUTCOME_CONTACT"
        shows = contact and meets and way["tContact"] <= t_contact
        if not (contact and t_contact == 0):
            require(said == "SEPARATED" and not (meets and way["tContact"] <= 0), "in contact at t = 0")
            kept = way["outcome"] == "OUTCOME_NO_CONTACT" or outcome != "NO_CONTACT" and t_free <= way["tFree"]
            require(kept, "the parts are not free until then")
        return shows

    def judge(entry):
        nonlocal met, unmet
        parts, cert = chosen(entry, p, q), entry.get("certificate", {})
        if len(parts) > 1:
            only_vectors([link.get("direction") for link in cert.get("chain", [])])
            if "initial" in cert:
                only_vectors([cert["initial"].get("separated", {}).get("direction")])
        chain = [{"t0": link.get("t0", 0.0), "t1": link.get("t1", 0.0), "frame": FRAMES.get(link.get("frame")),
                  **direction(link.get("direction"))} for link in cert.get("chain", [])]
        claim = {"verdict": outcome, "t_free": t_free, "t_contact": answer.get("tContact"),
                 "certificate": {"chain": chain, "pairs": vertex_pairs(cert.get("contactPairs", []))}}
        if len(parts) == 1 and is_curved_pair(p, q, *parts[0]):
            i, j = parts[0]
            said, _, way = judge_curved(p[i], q[j], cert.get("initial", {}), margin, (motions_p[i], motions_q[j]), deviation)
            met = met or known_way(said, way)
            seen.update(parts)
            return
        none_curved(p, q, parts)
        for i, j in parts:
            bodies, motions, radii = parts_of(p, q, i, j), (motions_p[i], motions_q[j]), radii_of(p, q, i, j)
            reach, said, initial = bound(margin) + sum(map(bound, radii)), None, None
            if "initial" in cert:
                said = stand(p, q, i, j, cert["initial"])
                if said == "SEPARATED":
                    initial = shown_at_start(cert["initial"])
            if said in VERDICTS[1:]:
                require(contact and t_contact == 0 and not chain, "in contact at t = 0")
                met = True
                continue
            if contact and len(parts) == 1 and claim["certificate"]["pairs"]:
                try:
                    verify_motion(*bodies, *motions, claim, reach, deviation, initial=initial)
                    met = True
                    continue
                except Refused as why:
                    unmet = str(why)
            free(bodies, motions, claim, initial, reach)
        seen.update(parts)

    each(entries, "certificate.parts", judge)
    require(met or not contact, unmet)
    if t_contact != 0 and not start_open:
        covered(p, q, seen)
