"""Checks what is proven of cylinders, cones and ellipsoids: by polytopes around them and in them.

Questions, answers and certificates are the dictionaries that their messages are as JSON. A curved body is `(form, half,
radius)`: "cylinder", "cone" or "ellipsoid", its half sizes along the axes of its own frame (of a cone c may be negative: then
its apex is below), and the radius of the balls around all its points. That the polytopes are around it and in it is decided in
whole numbers here; what is claimed of them, whoever judges such bodies decides.
"""
from collections import Counter

from clearance_poses import Refused, patient, require  # noqa: F401
from clearance_solids import bracket
from clearance_verify import bound, cross, denominator, dot, sub, whole

VERDICTS = {f"VERDICT_{word}": word for word in ("SEPARATED", "TOUCHING", "OVERLAPPING")}
IN_CONTACT = ("TOUCHING", "OVERLAPPING")
SIDES = ("outer", "inner")
SIZES = 2.0 ** -300, 2.0 ** 300
# Where the certificate of an answer has the proof of the verdict, and what a side calls the certificate and the bracket.
PLACES = {"collision": (None, None), "distance": ("verdict", "distance"), "penetration": ("verdict", "depth"),
          "firstContact": ("initial", None), "distanceAlong": (None, None)}


def points_of(told):
    xyz = told.get("xyz", [])
    require(isinstance(xyz, list) and len(xyz) % 3 == 0 and xyz, "no list of points")
    points = [[float(x) for x in xyz[k:k + 3]] for k in range(0, len(xyz), 3)]
    require(all(a < b for a, b in zip(points, points[1:])), "the vertices are not in order")
    return points


def scaled(half, points):
    """All in whole numbers."""
    require(half[0] > 0 and half[1] > 0, "the body has no such size")
    require(all(SIZES[0] <= abs(size) <= SIZES[1] for size in half), "a half size is below 2^-300 or above 2^300")
    numbers = [*half, *(x for point in points for x in point)]
    for number in numbers:
        bound(number) if number >= 0 else bound(-number)
    scale = denominator(numbers)
    return whole(half, scale), [whole(point, scale) for point in points]


def verify_inside(form, half, points):
    """Each of the points is in the body without its radius."""
    (a, b, c), points = scaled(half, points)
    require(form == "cone" or c > 0, "the body has no such size")
    for x, y, z in points:
        around = (x * b) ** 2 + (y * a) ** 2  # times (a b)^2 less
        if form == "ellipsoid":
            held = around * c * c + (z * a * b) ** 2 <= (a * b * c) ** 2
        elif form == "cylinder":
            held = abs(z) <= c and around <= (a * b) ** 2
        else:
            held = (z + c) * c >= 0 and (c - z) * c >= 0 and around * (2 * c) ** 2 <= (a * b * (c - z)) ** 2
        require(held, "a vertex is not in the curved body")


def verify_around(form, half, points, triangles):
    """The hull of the points holds the body: a closed surface of such triangles has it behind the plane of each."""
    require(isinstance(triangles, list) and len(triangles) % 3 == 0, "triangles are three corners each")
    require(all(isinstance(at, int) and 0 <= at < len(points) for at in triangles), "the surface has triangles, of its vertices")
    triangles = [triangles[k:k + 3] for k in range(0, len(triangles), 3)]
    edges = Counter(edge for i, j, k in triangles for edge in ((i, j), (j, k), (k, i)))
    require(all(edges[j, i] == count for (i, j), count in list(edges.items())), "the surface is not closed")
    (a, b, c), points = scaled(half, points)
    require(form == "cone" or c > 0, "the body has no such size")
    has_area = False
    for i, j, k in triangles:
        n = cross(sub(points[j], points[i]), sub(points[k], points[i]))
        if not any(n):
            continue
        has_area, level, along = True, dot(n, points[i]), c * n[2]
        around = (a * n[0]) ** 2 + (b * n[1]) ** 2
        reaches = lambda square, level: level >= 0 and square <= level ** 2
        behind = (reaches(around + along ** 2, level) if form == "ellipsoid" else
                  reaches(around, level - abs(along)) if form == "cylinder" else
                  along <= level and reaches(around, level + along))
        require(behind, "the curved body is beyond a triangle around it")
    require(has_area, "the surface has no area")


def side_answer(kind, side):
    """What is claimed of one side, as an answer of its own."""
    told = {key: side[key] for key in ("withinMargin", "outcome", "tFree", "tContact", "enter", "exit") if key in side}
    told["initialVerdict" if kind == "firstContact" else "verdict"] = side.get("verdict")
    if PLACES[kind][1] and "bracket" in side:
        told[PLACES[kind][1]] = side["bracket"]
    require(isinstance(side.get(kind), dict), "a side has a certificate of another kind, or none")
    if kind == "distanceAlong":
        return {**told, "certificate": side[kind].get("verdict"), "rangeCertificate": side[kind].get("range")}
    return {**told, "certificate": side[kind]}


def stands(kind, answer):
    verdict = VERDICTS.get(answer.get("initialVerdict" if kind == "firstContact" else "verdict"))
    require(verdict, "a verdict is required")
    return verdict


def rests(kind, answer, outer, inner):
    """Whether what is told follows from what holds of the two sides; each is none where it is not told."""
    verdict = stands(kind, answer)
    outside, within = (side and stands(kind, side) for side in (outer, inner))
    shown = {"SEPARATED": outside == "SEPARATED", "OVERLAPPING": within == "OVERLAPPING",
             "TOUCHING": outside in ("TOUCHING", "SEPARATED") and within in IN_CONTACT}[verdict]
    require(shown, "what stands in and around the bodies does not show the verdict")
    told = answer.get("withinMargin")
    if told is not None:
        side = inner if told else outer
        shown = side and side.get("withinMargin") is told
        require(shown, "what stands in and around the bodies does not show what is said of the margin")
    name = PLACES[kind][1]
    if name:
        lower, upper = map(bound, bracket(answer[name]))
        require(lower <= upper, "not lower <= upper")
        if verdict != ("SEPARATED" if kind == "distance" else "OVERLAPPING"):
            return require(lower == 0, "a bracket that is not from 0")
        require(outer and inner, "a bracket takes both sides")
        low, high = (outer, inner) if kind == "distance" else (inner, outer)
        shown = lower <= bound(bracket(low[name])[0]) and bound(bracket(high[name])[1]) <= upper
        return require(shown, "what stands in and around the bodies does not show the bracket")
    if kind == "firstContact":
        course(verdict, answer, outer, inner)
    if kind == "distanceAlong":
        passing(verdict, answer, outer, inner)


def passing(verdict, answer, outer, inner):
    """A range is at least as long as that of what is inside, and no longer than that of what is around."""
    ends = lambda told: [[bound(t) for t in bracket(told[name])] for name in ("enter", "exit")]
    require(("enter" in answer) == ("exit" in answer), "both ends are required, or neither")
    if "enter" not in answer:
        never = outer is not None and not {"enter", "exit"} & set(outer)
        return require(verdict == "SEPARATED" and never, "what stands around the bodies does not show that they never meet")
    require(outer and inner and all({"enter", "exit"} <= set(side) for side in (outer, inner)), "a range takes both sides")
    (told, around, inside) = map(ends, (answer, outer, inner))
    require(all(0 <= low <= high for low, high in told), "not lower <= upper")
    begins = told[0] == [0, 0]
    if verdict == "SEPARATED":
        begins = told[0][0] <= around[0][0] and inside[0][1] <= told[0][1]
    ended = told[1][0] <= inside[1][0] and around[1][1] <= told[1][1]
    require(begins and ended, "what stands in and around the bodies does not show the range")


def course(verdict, answer, outer, inner):
    outcome, t_free = answer.get("outcome"), bound(answer.get("tFree", 0.0))
    never = outer is not None and outer.get("outcome") == "OUTCOME_NO_CONTACT"
    until = 1 if never else bound(outer.get("tFree", 0.0)) if outer is not None else -1
    kept = t_free == 0 or t_free <= until
    if outcome == "OUTCOME_CONTACT":
        t_contact = bound(answer["tContact"])
        if verdict != "SEPARATED":
            return require(t_free == t_contact == 0, "bodies in contact at t = 0 meet then")
        met = inner is not None and inner.get("outcome") == outcome and bound(inner["tContact"]) <= t_contact <= 1
        return require(kept and t_free <= t_contact and met, "the sides do not show the first contact")
    require(outcome in ("OUTCOME_NO_CONTACT", "OUTCOME_UNDECIDED"), "an outcome is required")
    free = never if outcome == "OUTCOME_NO_CONTACT" else verdict == "SEPARATED"
    require(kept and free, "the sides do not show that they are free")


@patient
def verify_curved(kind, curved, question, answer, judge):
    """An answer about two bodies one of which at least is curved. kind: "collision", "distance", "penetration" or
    "firstContact". curved: what P and Q are, each `(form, half, radius)` or None if it is not curved. judge(points, answer)
    raises `Refused` if the answer is not proven of the polytopes with these points, in the place of the bodies that are
    curved (None: of the other), with their radii, poses and motions."""
    place = PLACES[kind][0]
    proof = answer["certificate"] if place is None else answer["certificate"][place]
    require(isinstance(proof.get("curved"), dict), "no proof about curved bodies")
    proof = proof["curved"]
    if kind in ("collision", "distance") and "withinMargin" in answer:
        require(question.get("margin") is not None, "is said where no margin was given")
    hulls = {}
    for name, body in zip("pq", curved):
        require((body is not None) == (name in proof), "the polytopes are those of the bodies that are curved")
        if body is None:
            continue
        (form, half, _), told = body, proof[name]
        if "outer" in told:
            hulls[name, "outer"] = points_of(told["outer"])
            verify_around(form, half, hulls[name, "outer"], told.get("outerTriangles", []))
        if "inner" in told:
            hulls[name, "inner"] = points_of(told["inner"])
            verify_inside(form, half, hulls[name, "inner"])
    require(all(isinstance(proof.get(name, []), list) and len(proof.get(name, [])) <= 1 for name in SIDES), "a side is told twice")
    sides = {name: side_answer(kind, told) for name in SIDES for told in proof.get(name, [])}
    for told in sides.values():
        require("withinMargin" not in told or question.get("margin") is not None, "is said where no margin was given")
    told = dict(answer)
    if told.get("withinMargin") is True and stands(kind, told) in IN_CONTACT and bound(question["margin"]) >= 0:
        # That it is within the margin follows from the verdict.
        del told["withinMargin"]
    rests(kind, told, sides.get("outer"), sides.get("inner"))
    for name, told in sides.items():
        require(all(body is None or (side, name) in hulls for side, body in zip("pq", curved)), "polytopes are missing")
        judge([hulls.get((side, name)) for side in "pq"], told)
