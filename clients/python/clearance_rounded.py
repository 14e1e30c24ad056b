"""Checks what is proven of bodies with round edges: polytopes with a ball of one radius around each of their points.

Certificates are JSON as the server gives it, `{"rounded": {"verdict": ..., "pairs": [{"i": ..., "j": ...}]}}`, or
`{"separated": {"direction": ...}}`, along which more than the radii is left between the polytopes. All but the free part of turning motions is decided in whole numbers and fractions: radii and margins are added exactly, and lengths
are compared by their squares.
"""
from clearance_poses import Refused, finite, patient, require  # noqa: F401
from clearance_solids import FRAMES, bracket, direction, only, vertex_pairs
from clearance_verify import Pair, bound, deep, dot, is_depth, nearest, negative, sign, signed, surrounded
from clearance_verify import verify_motion, verify_range

VERDICTS = {f"VERDICT_{word}": word for word in ("SEPARATED", "TOUCHING", "OVERLAPPING")}


def pairs_of(told, name):
    entries = told.get(name, [])
    require(isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries), "no list of pairs")
    return [[entry.get("i", 0), entry.get("j", 0)] for entry in entries]


def verdict_of(certificate):
    """What a certificate is for."""
    form, told = only(certificate)
    require(form in ("rounded", "separated"), "no proof about rounded bodies")
    return VERDICTS.get(told.get("verdict")) if form == "rounded" else "SEPARATED"


def margin_depth(told):
    """What shows how deep bodies overlap beside a margin below 0, as `clearance_verify.deep` takes it."""
    if "marginDepth" not in told:
        return None
    form, shown = only(told["marginDepth"])
    require(form in ("less", "atLeast"), "neither less nor at least")
    if form == "less":
        return {"less": direction(shown)}
    return {"at_least": {"corners": vertex_pairs(shown.get("corners", [])), "triangles": triangles(shown)}}


@patient
def verify_rounded(p, q, pose_p, pose_q, radius_p, radius_q, verdict, certificate, margin=None, within=None):
    """How two polytopes stand with balls of these radii around all their points (0: none), and whether the distance is
    at most the margin, or they overlap at least as deep as one below 0 says, if `within` says so or denies it. verdict: "SEPARATED", "TOUCHING" or "OVERLAPPING"."""
    require(verdict_of(certificate) == verdict, "the certificate is for another verdict")
    form, told = only(certificate)
    require(not {"cover", "innerVertex"} & set(told), "a cover or a vertex inside is about polyhedra")
    radii = bound(radius_p) + bound(radius_q)
    require(radii > 0, "neither body is rounded")
    pair = Pair(p, q, pose_p, pose_q)

    def farther(s, reach):
        return any(s) and sign(pair, s, reach) > 0

    def nearest_of(pairs, most, reach):
        """v, and the sign of |v| less the reach."""
        v, n = nearest(pair.differences(pairs, 1, most))
        return v, dot(v, v) - (reach * pair.unit * n) ** 2

    if form == "separated":
        s = pair.direction(direction(told.get("direction")))
        require(farther(s, radii), "the direction does not separate")
    else:
        s, length = nearest_of(pairs_of(told, "pairs"), 6 if verdict == "OVERLAPPING" else 3, radii)
        if verdict == "OVERLAPPING":
            require(length < 0, "the pairs are not nearer than the radii")
        elif verdict == "TOUCHING":
            require(length == 0, "the pairs are not as far apart as the radii")
            require(any(s) and sign(pair, s, radii) >= 0, "the bodies may come nearer")
        else:
            require(farther(s, radii), "the pairs do not separate")
    require(len(pairs_of(told, "marginPairs")) <= 3, "not 1 to 3 vertex pairs")
    depth = margin_depth(told) if form == "rounded" else None
    if within is None:
        return
    require(margin is not None and within in (True, False), "is said where no margin was given")
    if is_depth(margin):
        shown = pairs_of(told, "marginPairs") or (pairs_of(told, "pairs") if form == "rounded" else [])
        return deep(pair, radii + signed(margin), within, verdict, shown, depth)
    require(depth is None, "depths are compared with margins below 0")
    reach = radii + bound(margin)
    if verdict != "SEPARATED":
        return require(within, "the bodies are in contact")
    pairs = pairs_of(told, "marginPairs") or (pairs_of(told, "pairs") if form == "rounded" else [])
    if pairs or within:
        s, length = nearest_of(pairs, 3, reach)
    if within:
        return require(length <= 0, "the pairs are farther away than the margin")
    require(farther(s, reach), "the bodies may come within the margin")


@patient
def verify_rounded_distance(p, q, pose_p, pose_q, radius_p, radius_q, verdict, distance, certificate, margin=None, within=None):
    """The bracket of the distance, by its certificate: with v nearest the origin in the hull of its pairs, |v| is at most
    the radii and the upper end, and no point of M is nearer along v than the radii and the lower end."""
    verify_rounded(p, q, pose_p, pose_q, radius_p, radius_q, verdict, certificate["verdict"], margin, within)
    lower, upper = map(bound, bracket(distance))
    require(lower <= upper, "not lower <= upper")
    if verdict != "SEPARATED":
        return require(lower == 0, "a distance in contact")
    radii = bound(radius_p) + bound(radius_q)
    pairs = vertex_pairs(certificate.get("pairs", []))
    shown = is_upper_shown(Pair(p, q, pose_p, pose_q), radii, lower, upper, pairs)
    require(shown, "the pairs are farther away than the upper bound")


def is_upper_shown(pair, radii, lower, upper, pairs):
    """Whether pairs show the upper bound of a distance; they have to show the lower one."""
    v, n = nearest(pair.differences(pairs, 1, 3))
    require(any(v) and sign(pair, v, radii + lower) >= 0, "M is nearer than the lower bound")
    return dot(v, v) <= ((radii + upper) * pair.unit * n) ** 2


@patient
def verify_rounded_depth(p, q, pose_p, pose_q, radius_p, radius_q, verdict, depth, certificate):
    """The bracket of the depth. Upper end: M reaches no farther along the face than it, less the radii (not even to the
    origin, where this is negative). Lower end: the verdict's pairs are no farther from the origin than the radii less it;
    where the radii alone are less they hold it, and the surface, if there is one, is no nearer than it less the radii."""
    verify_rounded(p, q, pose_p, pose_q, radius_p, radius_q, verdict, certificate["verdict"])
    lower, upper = map(bound, bracket(depth))
    require(lower <= upper, "not lower <= upper")
    if verdict != "OVERLAPPING":
        return require(lower == 0, "a depth without overlap")
    pair, radii = Pair(p, q, pose_p, pose_q), bound(radius_p) + bound(radius_q)
    require("face" in certificate, "the face is missing")
    s = pair.direction(direction(certificate["face"]))
    require(sign(pair, negative(s), radii - upper) >= 0, "M reaches beyond the upper bound")
    if lower > radii and "surface" in certificate:
        told = certificate["surface"]
        surface = {"corners": vertex_pairs(told.get("corners", [])), "triangles": triangles(told)}
        return surrounded(pair, (lower - radii) * pair.unit, surface)
    pairs = vertex_pairs(certificate["verdict"]["rounded"].get("pairs", []))
    v, n = nearest(pair.differences(pairs, 1, 6))
    left = max(radii - lower, 0) * pair.unit * n
    require(dot(v, v) <= left ** 2, "the pairs do not show the lower bound")


def range_claim(answer):
    """What MeasureDistanceAlong says, as JSON, and what proves it, for `verify_range`."""
    require(("enter" in answer) == ("exit" in answer), "both ends are required, or neither")
    told, proof = answer.get("rangeCertificate"), {}
    require(isinstance(told, dict), "a range has a proof")
    if "never" in told:
        proof["never"] = direction(told["never"])
    for name in ("enter", "exit"):
        require(name in answer or name not in told, "the proof is of another answer")
        if name in told:
            pairs = vertex_pairs(told[name].get("pairs", []))
            proof[name] = {**direction(told[name].get("direction")), "bracket": bracket(answer[name]), "pairs": pairs}
    ends = {"enter": bracket(answer["enter"])[0], "exit": bracket(answer["exit"])[1]} if "enter" in answer else {}
    require("enter" in proof or not ends or bracket(answer["enter"]) == (0.0, 0.0), "a range that begins later has a proof of it")
    return ends, proof


@patient
def verify_rounded_range(p, q, pose_p, pose_q, radius_p, radius_q, along, answer):
    """For which t >= 0 P, moved by t along, meets Q. answer: as MeasureDistanceAlong's is as JSON."""
    verdict = VERDICTS.get(answer.get("verdict"))
    verify_rounded(p, q, pose_p, pose_q, radius_p, radius_q, verdict, answer["certificate"])
    reach = bound(radius_p) + bound(radius_q)
    verify_range(p, q, pose_p, pose_q, along, verdict, *range_claim(answer), reach)


def shown_at_start(initial):
    """What the certificate of bodies that are apart at t = 0 is for `verify_motion`."""
    form, told = only(initial)
    if form == "separated":
        return direction(told.get("direction"))
    pairs = pairs_of(told, "marginPairs") or pairs_of(told, "pairs")
    require(1 <= len(pairs) <= 3, "not 1 to 3 vertex pairs")
    return {"direction_nearest": pairs, "direction_sign": 1}


def triangles(surface):
    corners = surface.get("triangles", [])
    require(isinstance(corners, list) and len(corners) % 3 == 0, "triangles are three corners each")
    return [corners[k:k + 3] for k in range(0, len(corners), 3)]


@patient
def verify_rounded_motion(p, q, pose_p, pose_q, radius_p, radius_q, motion_p, motion_q, answer, margin=0.0, deviation=0.0):
    """The first contact over a step. answer: as FindFirstContact's is as JSON; motions as `clearance_verify` takes them."""
    certificate = answer["certificate"]
    initial, outcome = certificate["initial"], answer.get("outcome", "").removeprefix("OUTCOME_")
    # Reports of sessions do not say it, and leave it to its proof.
    verdict = VERDICTS.get(answer["initialVerdict"]) if "initialVerdict" in answer else verdict_of(initial)
    verify_rounded(p, q, pose_p, pose_q, radius_p, radius_q, verdict, initial)
    t_free, chain = answer.get("tFree", 0.0), certificate.get("chain", [])
    if verdict != "SEPARATED":
        at_once = outcome == "CONTACT" and t_free == 0 and answer.get("tContact") == 0 and not chain
        return require(at_once, "bodies in contact at t = 0 meet then")
    links = [{"t0": link.get("t0", 0.0), "t1": link.get("t1", 0.0), "frame": FRAMES.get(link.get("frame")),
              **direction(link.get("direction"))} for link in chain]
    claim = {"verdict": outcome, "t_free": t_free, "t_contact": answer.get("tContact"),
             "certificate": {"chain": links, "pairs": vertex_pairs(certificate.get("contactPairs", []))}}
    reach = bound(radius_p) + bound(radius_q) + bound(margin)
    verify_motion(p, q, pose_p, pose_q, motion_p, motion_q, claim, reach, deviation, initial=shown_at_start(initial))
