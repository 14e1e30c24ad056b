"""Checks what is proven of bodies with round edges: polytopes with a ball of one radius around each of their points.

Certificates are JSON as the server gives it, `{"rounded": {"verdict": ..., "pairs": [{"i": ..., "j": ...}]}}`. All is decided
in whole numbers and fractions: radii and margins are added exactly, and lengths are compared by their squares.
"""
from clearance_poses import Refused, finite, patient, require  # noqa: F401
from clearance_verify import Pair, bound, dot, nearest

VERDICTS = {f"VERDICT_{word}": word for word in ("SEPARATED", "TOUCHING", "OVERLAPPING")}


def pairs_of(told, name):
    entries = told.get(name, [])
    require(isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries), "no list of pairs")
    return [[entry.get("i", 0), entry.get("j", 0)] for entry in entries]


@patient
def verify_rounded(p, q, pose_p, pose_q, radius_p, radius_q, verdict, certificate, margin=None, within=None):
    """How two polytopes stand with balls of these radii around all their points (0: none), and whether the distance is
    at most the margin, if `within` says so or denies it. verdict: "SEPARATED", "TOUCHING" or "OVERLAPPING"."""
    require(isinstance(certificate, dict) and set(certificate) == {"rounded"}, "no proof about rounded bodies")
    told = certificate["rounded"]
    require(VERDICTS.get(told.get("verdict")) == verdict, "the certificate is for another verdict")
    radii = bound(radius_p) + bound(radius_q)
    require(radii > 0, "neither body is rounded")
    pair = Pair(p, q, pose_p, pose_q)

    def shown(pairs, most, reach):
        """The sign of |v| less the reach; and that of the gap along v less the reach, by the length of v."""
        v, n = nearest(pair.differences(pairs, 1, most))
        reach, square = reach * pair.unit, dot(v, v)

        def gap():
            wide = pair.gap(v)
            return (wide > 0) * wide ** 2 - reach ** 2 * square if any(v) else -1
        return square - (reach * n) ** 2, gap

    length, gap = shown(pairs_of(told, "pairs"), 6 if verdict == "OVERLAPPING" else 3, radii)
    if verdict == "OVERLAPPING":
        require(length < 0, "the pairs are not nearer than the radii")
    elif verdict == "TOUCHING":
        require(length == 0, "the pairs are not as far apart as the radii")
        require(gap() >= 0, "the bodies may come nearer")
    else:
        require(gap() > 0, "the pairs do not separate")
    require(len(pairs_of(told, "marginPairs")) <= 3, "not 1 to 3 vertex pairs")
    if within is None:
        return
    require(margin is not None and within in (True, False), "is said where no margin was given")
    reach = radii + bound(margin)
    if verdict != "SEPARATED":
        return require(within, "the bodies are in contact")
    length, gap = shown(pairs_of(told, "marginPairs") or pairs_of(told, "pairs"), 3, reach)
    if within:
        return require(length <= 0, "the pairs are farther away than the margin")
    require(gap() > 0, "the bodies may come within the margin")
