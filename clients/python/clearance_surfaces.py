"""Checks what the server measures of polyhedra and clouds, and what it says of them that turn or are beside rounded ones.

Answers and certificates are the dictionaries that their messages are as JSON; bodies are `clearance_solids.Solid`s, with
the radii of the balls around all points of a polytope or a `cloud` (0: none). Motions are those of `clearance_verify.verify_motion`.
Every function raises `Refused` with the reason, or returns if the claim is proven. All but the free part of turning
motions is decided in whole numbers and fractions.
"""
from clearance_poses import patient, require
from clearance_rounded import VERDICTS, verify_rounded
from clearance_solids import (FRAMES, Cover, Solid, bracket, direction, initial_verdict, inside, is_at_rest, named_by, only,
                              verify_solid_motion, verify_solids, vertex_pairs)
from clearance_verify import Pair, bound, dot, is_depth, nearest, velocity, verify_motion, verify_static


def above(gap, s, length):
    """The sign of a gap along a direction, by its length, less a length that is not negative."""
    return (gap > 0) * gap ** 2 - length ** 2 * dot(s, s) if gap >= 0 else -1


def cloud(points):
    """The points of a cloud as the server keeps them, for `radii` with their radius: each once and in order, a face each."""
    each = sorted({tuple(x + 0.0 for x in point) for point in points})
    return Solid(each, [[at] * 3 for at in range(len(each))], is_surface=True)


class AtRest(Cover):
    """Along each direction the bodies are at least so far apart, and farther than `more_than`, if that is given."""

    def __init__(self, pair, solids, least, more_than=None):
        super().__init__(pair, solids, (0, 0, 0), 0)
        self.least, self.more_than = least * pair.unit, more_than if more_than is None else more_than * pair.unit

    def apart(self, at, groups, chain):
        named = self.named(groups)
        for _ in chain:
            self.visit(len(named[0]) + len(named[1]))
        require(is_at_rest(chain), f"step {at} is not one of bodies at rest")
        s = self.pair.direction(direction(chain[0].get("direction")))
        gap = self.gap(named, s)
        far = above(gap, s, self.least) >= 0 and (self.more_than is None or gap > 0 and above(gap, s, self.more_than) > 0)
        require(far, f"step {at} does not show that they are so far apart")


class OnCourse(Cover):
    """Links keep what is left of both bodies free from t = 0, as those of two convex bodies do."""

    def __init__(self, pair, solids, course, until):
        super().__init__(pair, solids, (0, 0, 0), until)
        self.course = course

    def apart(self, at, groups, chain):
        named = self.named(groups)
        for _ in chain:
            self.visit(len(named[0]) + len(named[1]))
        require(chain, f"step {at} has no links")
        links = []
        for link in chain:
            told = direction(link.get("direction"))
            for form in ("direction_pairs", "direction_swept", "direction_nearest"):
                if form in told:
                    told[form] = few(named, told[form])
            frame = FRAMES.get(link.get("frame"))
            links.append({"t0": link.get("t0", 0.0), "t1": link.get("t1", 0.0), "frame": frame, **told})
        claim = {"verdict": "UNDECIDED", "t_free": self.until, "certificate": {"chain": links}}
        verify_motion(*self.course.of(named), claim, *self.course.slack)


def few(named, pairs):
    """Pairs of vertices by their places among those that are named."""
    found = []
    for pair in pairs:
        ok = isinstance(pair, list) and len(pair) == 2 and all(v in some for v, some in zip(pair, named))
        require(ok, f"{pair!r} names a vertex that is not there")
        found.append([some.index(v) for v, some in zip(pair, named)])
    return found


class Course:
    """Two bodies on their ways, and what is kept clear: the radii and the margin, and the deviations of both."""

    def __init__(self, p, q, pose_p, pose_q, motion_p, motion_q, reach, deviation):
        self.solids, self.rest, self.slack = (p, q), (pose_p, pose_q, motion_p, motion_q), (reach, deviation)

    def of(self, named):
        """The same of some vertices."""
        points = [[solid.points[v] for v in some] for solid, some in zip(self.solids, named)]
        return [*points, *self.rest]


def compared(pair, solids, pairs, most, length):
    """The sign of the distance of two faces, less a length."""
    named_by(solids, pairs, most)
    v, n = nearest(pair.differences(pairs, 1, most))
    return dot(v, v) - (length * pair.unit * n) ** 2


def cover_in(verdict, certificate):
    """The cover of bodies that are apart, if the certificate is about the bodies themselves."""
    if verdict == "SEPARATED":
        return certificate["solid"].get("separated") if "solid" in certificate else certificate["rounded"].get("cover")


def is_about_hulls(certificate):
    form, told = only(certificate)
    return form not in ("solid", "rounded") or form == "rounded" and told.get("verdict") == "VERDICT_SEPARATED" and "cover" not in told


@patient
def verify_surfaces(p, q, pose_p, pose_q, radii, verdict, certificate, margin=None, within=None):
    """How two bodies stand, and whether they are within a margin, if `within` says so or denies it; `certificate`: a
    StaticCertificate that is about the bodies themselves."""
    form, told = only(certificate)
    solids, reach = (p, q), sum(map(bound, radii))
    if form == "solid":
        require(reach == 0, "nothing but a rounded proof is about rounded bodies")
        told = {name: part for name, part in told.items() if name != "marginPairs"}
        verify_solids(p, q, pose_p, pose_q, verdict, told)
    else:
        require(form == "rounded" and VERDICTS.get(told.get("verdict")) == verdict, "the certificate is for another verdict")
        by_radii(Pair(p.points, q.points, pose_p, pose_q), solids, radii, reach, verdict, told)
    pairs = vertex_pairs(certificate[form].get("marginPairs", []))
    require(len(pairs) <= 3, "not 1 to 3 vertex pairs")
    if within is None:
        return
    require(margin is not None and within in (True, False), "is said where no margin was given")
    if is_depth(margin):
        return require(verdict != "OVERLAPPING" and not within, "no claim is about depths of bodies that are not convex")
    if verdict != "SEPARATED":
        return require(within, "the bodies are in contact")
    pair, beyond = Pair(p.points, q.points, pose_p, pose_q), reach + bound(margin)
    if within:
        return require(compared(pair, solids, pairs, 3, beyond) <= 0, "the pairs are farther away than the margin")
    AtRest(pair, solids, beyond, beyond).verify(cover_in(verdict, certificate))


def by_radii(pair, solids, radii, reach, verdict, told):
    """How two bodies stand of which one is rounded."""
    pairs, vertex, cover = vertex_pairs(told.get("pairs", [])), told.get("innerVertex"), told.get("cover")
    require((cover is None) == (verdict == "OVERLAPPING"), "a cover is of bodies that do not overlap")
    require(vertex is None or verdict == "OVERLAPPING", "a vertex inside is of bodies that overlap")
    if verdict == "SEPARATED":
        require(not pairs, "pairs are of bodies in contact")
        return AtRest(pair, solids, reach, reach).verify(cover)
    if vertex is None:
        length = compared(pair, solids, pairs, 3 if verdict == "TOUCHING" else 6, reach)
        require(length == 0 if verdict == "TOUCHING" else length < 0, "the pairs are not so far apart")
        if verdict == "TOUCHING":
            AtRest(pair, solids, reach).verify(cover)
        return
    require(not pairs, "pairs or a vertex, not both")
    rounded = [k for k in (0, 1) if not solids[k].region and radii[k] > 0 and solids[1 - k].region]
    require(rounded, "one is rounded, and the other bounds a region")
    of = rounded[0]
    require(type(vertex) is int and 0 <= vertex < len(solids[of].points), "a vertex that does not exist")
    named = solids[of].triangles is None or any(vertex in corners for corners in solids[of].triangles)
    require(named, "the vertex is of no triangle")
    held = inside(pair.placed[of][vertex], pair.placed[1 - of], solids[1 - of].triangles)
    require(held is True, "the vertex is not inside the mesh")


@patient
def verify_surface_distance(p, q, pose_p, pose_q, radii, verdict, distance, certificate, margin=None, within=None):
    """The bracket of a distance; `certificate`: a DistanceCertificate."""
    lower, upper = map(bound, bracket(distance))
    require(lower <= upper, "not lower <= upper")
    stands = certificate["verdict"]
    require(not is_about_hulls(stands), "hulls do not tell how far apart the bodies are")
    verify_surfaces(p, q, pose_p, pose_q, radii, verdict, stands, margin, within)
    if verdict != "SEPARATED":
        return require(lower == 0, "a distance in contact")
    pair, solids, reach = Pair(p.points, q.points, pose_p, pose_q), (p, q), sum(map(bound, radii))
    pairs = vertex_pairs(certificate.get("pairs", []))
    require(compared(pair, solids, pairs, 3, reach + upper) <= 0, "the pairs are farther away than the upper bound")
    AtRest(pair, solids, reach + lower, reach).verify(cover_in(verdict, stands))


def turns_nothing(pose, motion):
    """Whether a body translates."""
    return velocity(pose, motion, 1 << 1200) is not None


@patient
def verify_surface_motion(p, q, pose_p, pose_q, radii, motion_p, motion_q, answer, margin=0.0, deviations=(0.0, 0.0), hulls=()):
    """A FindFirstContactResponse whose certificate is about the bodies themselves. hulls: the points of both bodies'
    hulls, which may show that they are separated at t = 0."""
    reach, deviation = sum(map(bound, (*radii, margin))), sum(map(bound, deviations))
    is_by_pieces = p.is_surface or q.is_surface or reach or deviation
    exact = not is_by_pieces and turns_nothing(pose_p, motion_p) and turns_nothing(pose_q, motion_q)
    verdict, certificate = initial_verdict(answer), answer["certificate"]
    outcome = answer.get("outcome")
    require(outcome in ("OUTCOME_CONTACT", "OUTCOME_NO_CONTACT", "OUTCOME_UNDECIDED"), f"no outcome {outcome!r}")
    if verdict != "SEPARATED":
        at_once = outcome == "OUTCOME_CONTACT" and answer.get("tFree", 0.0) == 0 == answer.get("tContact")
        require(at_once and "solid" not in certificate, "the bodies are in contact at t = 0")
        return verify_surfaces(p, q, pose_p, pose_q, radii, verdict, certificate["initial"])
    if exact:
        return verify_solid_motion(p, q, pose_p, pose_q, motion_p, motion_q, answer)
    require(outcome != "OUTCOME_CONTACT" or "tContact" in answer, "no tContact")
    t_free, t_contact = bound(answer.get("tFree", 0.0)), bound(answer.get("tContact", 1.0))
    require(t_free <= t_contact <= 1, "not 0 <= tFree <= tContact <= 1")
    require(outcome != "OUTCOME_NO_CONTACT" or t_free == 1, "no contact, but not free until the end")
    proof, solids = certificate["solid"], (p, q)
    at_once = outcome == "OUTCOME_CONTACT" and t_contact == 0
    is_open = outcome == "OUTCOME_UNDECIDED" and t_free == 0
    require("initial" in certificate or not (at_once or is_open), "nothing shows that they are separated at t = 0")
    if "initial" in certificate:
        verify_start(p, q, pose_p, pose_q, radii, certificate["initial"], hulls)
    course = Course(p, q, pose_p, pose_q, motion_p, motion_q, reach, deviation)
    if outcome == "OUTCOME_CONTACT":
        pairs = vertex_pairs(proof.get("contactPairs", []))
        named = named_by(solids, pairs, 6)
        claim = {"verdict": "CONTACT", "t_free": t_free, "t_contact": t_contact,
                 "certificate": {"pairs": few(named, pairs)}}
        verify_motion(*course.of(named), claim, reach, deviation, is_free_shown=True)
    if at_once or is_open:
        return
    pair = Pair(p.points, q.points, pose_p, pose_q)
    cover = OnCourse(pair, solids, course, t_free) if t_free > 0 else AtRest(pair, solids, reach, reach)
    cover.verify(proof.get("free", {}))


def verify_start(p, q, pose_p, pose_q, radii, certificate, hulls):
    """That bodies are separated at t = 0, or their hulls are."""
    if not is_about_hulls(certificate):
        return verify_surfaces(p, q, pose_p, pose_q, radii, "SEPARATED", certificate)
    require(hulls, "nothing is known of the hulls")
    if sum(map(bound, radii)) > 0:
        return verify_rounded(*hulls, pose_p, pose_q, *radii, "SEPARATED", certificate)
    form, told = only(certificate)
    require(form == "separated", "the certificate is for another verdict")
    verify_static(*hulls, pose_p, pose_q, "SEPARATED", direction(told.get("direction")))
