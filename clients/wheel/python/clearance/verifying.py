"""Answers judged by the independent verifier: exact arithmetic of the standard library, and no line shared with the engine.

The modules of `clients/python` are in the folder `independent` of this package, and need nothing of it. What is judged is the
certificate, about the points as they were given: those that are no corners of a hull are looked at as well.
"""
from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
from google.protobuf.json_format import MessageToDict

from . import _wire, messages
from .errors import NotVerified
from .shapes import Placed

_folder = os.path.join(os.path.dirname(__file__), "independent")
sys.path.append(_folder)  # They call each other by their names.
try:
    import clearance_compounds
    import clearance_poses
    import clearance_rounded
    import clearance_solids
    import clearance_verify
finally:
    sys.path.remove(_folder)


def _body(body: Placed) -> tuple[list[list[float]], float, Any]:
    """Its vertices as certificates count them and then its other points, its radius, and its pose."""
    if body.shape.facts is None:
        raise NotVerified(f"a {body.shape.kind} is judged by clients/python and by VerifyCertificate, not here")
    xyz, radius = body.shape.facts
    translation, rotation = body.told
    place = np.asarray(translation, dtype=float)
    if place.shape == (4, 4):
        place, rotation = place[:3, 3], place[:3, :3]
    turn = [1.0, 0.0, 0.0, 0.0] if rotation is None else np.asarray(rotation, dtype=float).ravel().tolist()
    pose = clearance_verify.quaternion_pose if len(turn) == 4 else clearance_verify.matrix_pose
    return _in_order(xyz), radius, pose(place.tolist(), turn)


def _in_order(xyz: Any) -> list[list[float]]:
    """The corners of the hull, sorted, and after them all other points. Which are corners the engine says; whatever it
    says, all points are judged."""
    from .client import local
    spec = _wire.delimited(1, _wire.delimited(1, _wire.numbers(1, xyz)))
    request = spec + messages.RegisterPolytopesRequest(validate_only=True).SerializeToString()
    told = local().call("PolytopeService/RegisterPolytopes", request)
    places = messages.RegisterPolytopesResponse.FromString(told).reports[0].vertex_of_given
    points = (np.asarray(xyz, dtype=float) + 0.0).tolist()
    corners: dict[int, list[float]] = {}
    others = []
    for place, point in zip(places, points, strict=True):
        corners.setdefault(place, point) if place >= 0 else others.append(point)
    if sorted(corners) != list(range(len(corners))):
        raise NotVerified("the corners of a body are not told")
    return [corners[place] for place in range(len(corners))] + others


def _judged(judge: Any) -> None:
    try:
        judge()
    except clearance_poses.Refused as refused:
        raise NotVerified(str(refused)) from None


def _certificate(told: Any, name: str) -> Any:
    if told.uncertified or not told.HasField(name):
        reason = messages.UncertifiedReason.Name(told.uncertified_reason) if told.uncertified else "none was asked for"
        raise NotVerified(f"the answer has no certificate: {reason}")
    return MessageToDict(getattr(told, name))


def _static(p: Any, q: Any, verdict: str, certificate: Any, margin: float | None = None, within: bool | None = None) -> None:
    (points_p, radius_p, pose_p), (points_q, radius_q, pose_q) = p, q
    if radius_p or radius_q:
        clearance_rounded.verify_rounded(points_p, points_q, pose_p, pose_q, radius_p, radius_q, verdict, certificate, margin,
                                         within)
        return
    shown, proof = clearance_compounds.static(certificate)
    clearance_verify.require(shown == verdict, "the certificate is for another verdict")
    clearance_verify.verify_static(points_p, points_q, pose_p, pose_q, verdict, proof)
    if within is not None:
        clearance_verify.verify_margin(points_p, points_q, pose_p, pose_q, margin, within, verdict, proof)


def collision(p: Placed, q: Placed, margin: float | None, told: Any) -> None:
    """Judges a `CheckCollisionResponse`; raises `NotVerified` where its certificate does not prove it."""
    verdict = messages.Verdict.Name(told.verdict).removeprefix("VERDICT_")
    certificate = _certificate(told, "certificate")
    within = told.within_margin if told.HasField("within_margin") else None
    both = _body(p), _body(q)
    _judged(lambda: _static(*both, verdict, certificate, margin, within))


def distance(p: Placed, q: Placed, told: Any) -> None:
    """Judges a `MeasureDistanceResponse`."""
    verdict = messages.Verdict.Name(told.verdict).removeprefix("VERDICT_")
    certificate = _certificate(told, "certificate")
    lower, upper = told.distance.lower, told.distance.upper
    both = _body(p), _body(q)
    (points_p, radius_p, pose_p), (points_q, radius_q, pose_q) = both

    def judge() -> None:
        if radius_p or radius_q:
            bracket = {"lower": lower, "upper": upper}
            clearance_rounded.verify_rounded_distance(points_p, points_q, pose_p, pose_q, radius_p, radius_q, verdict,
                                                      bracket, certificate)
            return
        _static(*both, verdict, certificate["verdict"])
        if verdict != "SEPARATED":
            clearance_verify.require(lower == 0.0 <= upper, "a distance in contact")
            return
        pairs = clearance_solids.vertex_pairs(certificate.get("pairs", []))
        clearance_verify.verify_distance(points_p, points_q, pose_p, pose_q, lower, upper, pairs)

    _judged(judge)
