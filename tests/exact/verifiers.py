"""Who judges certificates: the server's VerifyCertificate, and `clients/python`."""
import asking  # noqa: F401  (it says where the verifiers are)
import clearance_compounds as cc
import clearance_rounded as cr
import clearance_solids as cs
import clearance_surfaces as cf
import mutate_solids
from clearance_verify import Refused, matrix_pose, require, verify_depth, verify_distance, verify_margin, verify_motion, verify_range, verify_static
from reference import extremes


class Verifiers:
    def __init__(self, wire):
        self.wire, self.known = wire, {}

    def __call__(self, case, kind, question, answer):
        """Each of them, with why it refuses."""
        yield "VerifyCertificate", mutate_solids.rust(self.wire, kind, question, answer)
        yield "clients/python", self.python(case, kind, question, answer)

    def python(self, case, kind, question, answer):
        if case.p.triangles or case.q.triangles or "solid" in answer["certificate"]:
            return mutate_solids.python(self.bodies(case), kind, question, answer)
        try:
            p, q = (extremes(body.points) for body in (case.p, case.q))
            poses = [matrix_pose(list(body.at), list(body.rows)) for body in (case.p, case.q)]
            convex(kind, p, q, poses, [case.p.radius, case.q.radius], case, question, answer)
        except (Refused, LookupError, TypeError, ValueError, AttributeError) as why:
            return str(why) or repr(why)

    def bodies(self, case):
        return Known(self, case)

    def listed(self, alias):
        """The vertices and facets that the server lists."""
        if alias not in self.known:
            name = "alias" if not alias[2:3] == "-" else "id"
            got = self.wire.call("GetPolytope", {name: alias, "withVertices": True, "withFacets": True}).message
            xyz = list(got.vertices.xyz)
            self.known[alias] = [xyz[k:k + 3] for k in range(0, len(xyz), 3)], [list(facet.vertices) for facet in got.facets]
        return self.known[alias]


class Known:
    """The bodies of a case, as `mutate_solids` asks for them."""

    def __init__(self, verifiers, case):
        self.verifiers, self.case = verifiers, case

    def of(self, told):
        body = self.case.p if told == self.case.p.asked() else self.case.q
        if body.triangles is None and body.radius:
            hull = extremes(body.points)
            return cs.Solid(hull), hull, body.radius
        if getattr(body, "is_cloud", False):
            solid = cf.cloud(body.points)
            return solid, extremes(solid.points), body.radius
        points, facets = self.verifiers.listed(told.get("alias") or told["id"])
        is_surface = bool(body.triangles) and not body.is_region
        solid = cs.Solid(points, facets if body.triangles else None, facets, is_surface)
        return solid, extremes(points), body.radius


def convex(kind, p, q, poses, radii, case, question, answer):
    verdict, certificate, within = answer.get("verdict", "").removeprefix("VERDICT_"), answer["certificate"], answer.get("withinMargin")
    margin, is_rounded = question.get("margin"), any(radii)
    ways = getattr(case, "ways", None) or [("linear", tuple(body.moves)) for body in (case.p, case.q)]
    if is_rounded:
        bodies = p, q, *poses, *radii
        if kind == "collision":
            return cr.verify_rounded(*bodies, verdict, certificate, margin, within)
        if kind == "distance":
            return cr.verify_rounded_distance(*bodies, verdict, answer["distance"], certificate, margin, within)
        if kind == "penetration":
            return cr.verify_rounded_depth(*bodies, verdict, answer["depth"], certificate)
        if kind == "distanceAlong":
            return cr.verify_rounded_range(*bodies, [question["direction"].get(k, 0.0) for k in "xyz"], answer)
        return cr.verify_rounded_motion(*bodies, *ways, answer, question.get("margin", 0.0))
    start = {"collision": certificate, "distanceAlong": certificate,
             "firstContact": certificate.get("initial")}.get(kind, certificate.get("verdict"))
    if kind == "firstContact":
        verdict = answer["initialVerdict"].removeprefix("VERDICT_")
    word, proof = cc.static(start)
    require(word == verdict, "the certificate is for another verdict")
    verify_static(p, q, *poses, verdict, proof)
    if kind in ("collision", "distance") and within is not None:
        pairs = cs.vertex_pairs(next(iter(start.values())).get("marginPairs", []))
        verify_margin(p, q, *poses, margin, within, verdict, {**proof, "margin_pairs": pairs})
    if kind == "distance" and verdict == "SEPARATED":
        verify_distance(p, q, *poses, *cs.bracket(answer["distance"]), cs.vertex_pairs(certificate["pairs"]))
    if kind == "distanceAlong":
        along = [question["direction"].get(k, 0.0) for k in "xyz"]
        verify_range(p, q, *poses, along, verdict, *cr.range_claim(answer))
    if kind == "penetration" and verdict == "OVERLAPPING":
        told = certificate["surface"]
        surface = {"corners": cs.vertex_pairs(told["corners"]), "triangles": cr.triangles(told)}
        verify_depth(p, q, *poses, *cs.bracket(answer["depth"]), cs.direction(certificate["face"]), surface)
    if kind == "firstContact" and verdict == "SEPARATED":
        links = [{"t0": link.get("t0", 0.0), "t1": link.get("t1", 0.0), "frame": cc.FRAMES.get(link.get("frame")),
                  **cs.direction(link.get("direction"))} for link in certificate.get("chain", [])]
        claim = {"verdict": answer["outcome"].removeprefix("OUTCOME_"), "t_free": answer.get("tFree", 0.0),
                 "t_contact": answer.get("tContact"),
                 "certificate": {"chain": links, "pairs": cs.vertex_pairs(certificate.get("contactPairs", []))}}
        verify_motion(p, q, *poses, *ways, claim, question.get("margin", 0.0), 0.0, initial=cr.shown_at_start(start))
