#!/usr/bin/env python3
"""Tampers with what is answered about polyhedra, and demands that two judges rule alike.

A fresh server of the binary CLEARANCE is asked about bodies that closed meshes bound, most of them not convex, and about
surfaces, some of either beside rounded ones: how they stand, within margins too, how far apart they are, when they meet, turning or not, and which of
several meet first. The judges are its VerifyCertificate and `clients/python`, which
judge all that is claimed: the proofs about the bodies themselves, those about their hulls, and where they meet (the
rounded `point` and `tiedPairs` apart, which nothing proves). Every answer that has a certificate has to be accepted as
it is. A mutation changes the answer, the question, or both; what both judges accept of it must not contradict what is
proven of the question then: another verdict, or distances or times that cannot both be. Of bodies inside each other the script
builds proofs by itself that no faces meet, which are true, and from which only a look along a ray tells how the bodies
stand. A seed gives the same mutations everywhere. Needs grpcio.
usage: mutate_solids.py CLEARANCE [--each 100] [--seed 1]
"""
import copy
from collections import Counter, defaultdict
from types import SimpleNamespace

from tampering import TRIES, main, moved, print_table  # first: it says where the verifiers are
import clearance_compounds as cc  # noqa: E402
import clearance_rounded as cr  # noqa: E402
import clearance_solids as cs  # noqa: E402
import clearance_surfaces as cf  # noqa: E402
from clearance_verify import Refused, require, verify_margin, verify_motion, verify_static  # noqa: E402
from polyhedra import Bodies, asked, cover_of, motion_of, one_in_another, pose_of  # noqa: E402

VERDICTS = [f"VERDICT_{word}" for word in cc.VERDICTS]
OUTCOMES = ["OUTCOME_CONTACT", "OUTCOME_NO_CONTACT", "OUTCOME_UNDECIDED"]
ASK = {"collision": "CheckCollision", "distance": "MeasureDistance", "firstContact": "FindFirstContact", "firstCollision": "FindFirstCollision"}
ROUNDS = 70


# ---- what is answered
def answer_to(wire, kind, question):
    from google.protobuf import json_format
    reply = wire.call(ASK[kind], question)
    if reply.code != "OK":
        return None
    answer = json_format.MessageToDict(reply.message)
    return {key: told for key, told in answer.items() if key not in ("cost", "tiedPairs")}


# ---- the judges
def rust(wire, kind, question, answer):
    """The refusal; none if it accepts. What cannot be read at all is refused, too."""
    try:
        reply = wire.call("VerifyCertificate", {kind: {"question": question, "answer": answer}})
    except Exception as why:  # no message can hold it
        return f"no message: {why}"
    if reply.code == "OK":
        return reply.message.refusal or (None if reply.message.valid else "refused")
    assert reply.code in ("INVALID_ARGUMENT", "UNIMPLEMENTED"), reply
    return reply.words

def python(bodies, kind, question, answer):
    try:
        if kind == "firstCollision":
            return of_several(bodies, question, answer)
        solids, hulls, radii = zip(*(bodies.of(question[side]) for side in "pq"))
        poses = [pose_of(question[side].get("pose", {})) for side in "pq"]
        two = SimpleNamespace(solids=solids, hulls=hulls, radii=radii, poses=poses)
        certificate = answer["certificate"]
        start = {"collision": certificate, "distance": certificate.get("verdict"),
                 "firstContact": certificate.get("initial")}[kind]
        if kind == "firstContact":
            two.motions = [motion_of(question.get(side + "Motion")) for side in "pq"]
            of_bodies = "solid" in certificate or start is not None and not cf.is_about_hulls(start)
            return (moving if of_bodies else moving_hulls)(two, question, answer)
        word = answer.get("verdict", "").removeprefix("VERDICT_")
        said = question.get("margin"), answer.get("withinMargin")
        require(said[1] is None or said[0] is not None, "is said where no margin was given")
        if kind == "distance":
            cf.verify_surface_distance(*solids, *poses, radii, word, answer["distance"], certificate, *said)
        elif cf.is_about_hulls(start):
            standing_hulls(two, word, start, said, answer)
        else:
            cf.verify_surfaces(*solids, *poses, radii, word, start, *said)
            rest = ("linear", (0.0, 0.0, 0.0))
            where(solids, poses, [rest] * 2, word != "SEPARATED" and "solid" in start, (0.0, 0.0), answer)
    except (Refused, LookupError, TypeError, ValueError, AttributeError) as why:
        return str(why) or repr(why)

def standing_hulls(two, word, start, said, answer):
    require("faceContact" not in answer, "hulls do not tell where the bodies meet")
    require(word == "SEPARATED" and said[1] is not True, "that hulls meet proves nothing of polyhedra")
    if any(two.radii):
        return cr.verify_rounded(*two.hulls, *two.poses, *two.radii, word, start, *said)
    told, cert = cc.static(start)
    require(told == word, "the certificate is for another verdict")
    verify_static(*two.hulls, *two.poses, word, cert)
    if said[1] is not None:
        pairs = cs.vertex_pairs(start["separated"].get("marginPairs", []))
        verify_margin(*two.hulls, *two.poses, *said, word, {**cert, "margin_pairs": pairs})

def moving(two, question, answer):
    slack = [question.get(name, 0.0) for name in ("margin", "pDeviation", "qDeviation")]
    cf.verify_surface_motion(*two.solids, *two.poses, two.radii, *two.motions, answer, slack[0], slack[1:], two.hulls)
    times, motions = (answer.get("tFree", 0.0), answer.get("tContact")), two.motions
    met = answer["outcome"] == OUTCOMES[0]
    if "solid" not in answer["certificate"]:  # in contact at t = 0, whatever they do later
        met, motions = met and "solid" in answer["certificate"]["initial"], [("linear", (0.0, 0.0, 0.0))] * 2
    elif any(slack) or any(two.radii) or any(solid.is_surface for solid in two.solids):
        met = False
    where(two.solids, two.poses, motions, met, times, answer)

def moving_hulls(two, question, answer):
    require("faceContact" not in answer, "hulls do not tell where the bodies meet")
    require(answer["outcome"] == OUTCOMES[1], "hulls do not tell when the bodies meet")
    certificate, margin = answer["certificate"], question.get("margin", 0.0)
    require(not certificate.get("parts"), "no parts")
    deviation = question.get("pDeviation", 0.0) + question.get("qDeviation", 0.0)
    require(answer.get("initialVerdict") == VERDICTS[0], "that hulls meet proves nothing of polyhedra")
    if any(two.radii):
        return cr.verify_rounded_motion(*two.hulls, *two.poses, *two.radii, *two.motions, answer, margin, deviation)
    said, cert = cc.static(certificate["initial"])
    require(said == "SEPARATED", "that hulls meet proves nothing of polyhedra")
    verify_static(*two.hulls, *two.poses, said, cert)
    chain = [{"t0": link.get("t0", 0.0), "t1": link.get("t1", 0.0), "frame": cc.FRAMES.get(link.get("frame")),
              **cs.direction(link.get("direction"))} for link in certificate.get("chain", [])]
    claim = {"verdict": "NO_CONTACT", "t_free": answer.get("tFree", 0.0), "certificate": {"chain": chain}}
    verify_motion(*two.hulls, *two.poses, *two.motions, claim, margin, deviation, cert)

def of_several(bodies, question, answer):
    moving = [(bodies.solid[one["body"]["alias"]], pose_of(one["body"].get("pose", {})), motion_of(one.get("motion")))
              for one in question["bodies"]]
    cs.verify_first_collision(moving, answer)
    met = answer["outcome"] == OUTCOMES[0]
    solids, poses, motions = zip(*(moving[answer[side]] for side in "pq")) if met else (None, None, None)
    return where(solids, poses, motions, met, (answer.get("tFree", 0.0), answer.get("tContact")), answer)

def where(solids, poses, motions, met, times, answer):
    if "faceContact" in answer:
        require(met, "where bodies meet that do not")
        cs.verify_face_contact(*solids, *poses, *motions, times, answer["faceContact"])

# ---- the mutations: each changes the question or the answer in place; LookupError: not applicable
def found(json, names, kind):
    """Every value of a kind that has one of these names, with what holds it."""
    for key, value in json.items() if isinstance(json, dict) else enumerate(json) if isinstance(json, list) else ():
        if key in names and isinstance(value, kind):
            yield json, key
        yield from found(value, names, kind)

def one_of(draw, json, names, kind=list):
    return draw.choice(list(found(json, names, kind)))

def vector_moved(draw, vector, far=4):
    k = draw.choice("xyz")
    vector[k] = draw.choice((-vector.get(k, 0.0), moved(draw, vector.get(k, 0.0)), draw.uniform(-far, far)))

def list_changed(draw, numbers):
    way, at = draw.randrange(5), draw.randrange(len(numbers))
    if way < 2:
        numbers[at] = max(0, numbers[at] + draw.choice((-1, 1)))
    elif way == 2:
        numbers.pop(at)
    elif way == 3:
        numbers.append(draw.choice(numbers) + draw.randrange(2))
    else:
        other = draw.randrange(len(numbers))
        numbers[at], numbers[other] = numbers[other], numbers[at]

def face(draw, question, answer, world):
    holder, key = one_of(draw, answer["certificate"], ("contact", "faces", "crossing"), dict)
    list_changed(draw, holder[key][draw.choice("pq")])

def order(draw, question, answer, world):
    holder, key = one_of(draw, answer["certificate"], ("pOrder", "qOrder"))
    list_changed(draw, holder[key])

def step(draw, question, answer, world):
    steps = (lambda holder, key: holder[key])(*one_of(draw, answer["certificate"], ("steps",)))
    at, way = draw.randrange(len(steps)), draw.randrange(5)
    if way == 0:
        steps.pop(at)
    elif way == 1:
        steps.insert(at, copy.deepcopy(draw.choice(steps)))
    elif way == 2:
        other = draw.randrange(len(steps))
        steps[at], steps[other] = steps[other], steps[at]
    elif way == 3:
        split = draw.choice([one for one in steps if "split" in one])
        split["split"] = draw.choice(("COVER_SPLIT_P", "COVER_SPLIT_Q", "COVER_SPLIT_UNSPECIFIED"))
    else:  # what separates some, of all of them together
        steps[:] = [one for one in steps if "chain" in one][:1]

def link(draw, question, answer, world):
    holder, key = one_of(draw, answer["certificate"], ("chain",))
    one, way = draw.choice(holder[key]), draw.randrange(4)
    if way == 0:
        holder[key].remove(one)
    elif way == 1:
        one["frame"] = draw.choice(("DIRECTION_FRAME_P", "DIRECTION_FRAME_Q"))
    elif way == 2:
        holder[key].append(copy.deepcopy(one))
    else:
        end = draw.choice(("t0", "t1"))
        one[end] = draw.choice((moved(draw, one.get(end, 0.0)), draw.random()))

def direction(draw, question, answer, world):
    holder, key = one_of(draw, answer["certificate"], ("direction",), dict)
    form, told = cs.only(holder[key])
    if form == "vector":
        return vector_moved(draw, told, 1)
    if draw.random() < 0.3:
        told["negative"] = not told.get("negative", False)
    else:
        pair, side = draw.choice(told["pairs"]), draw.choice("ij")
        pair[side] = max(0, pair.get(side, 0) + draw.choice((-1, 1)))

def weights(draw, question, answer, world):
    holder, key = one_of(draw, answer["certificate"], ("weights",))
    at = draw.randrange(len(holder[key]))
    holder[key][at] = draw.choice((0.0, -1.0, 1.0, moved(draw, holder[key][at])))

def point(draw, question, answer, world):
    holder, key = one_of(draw, answer["certificate"], ("point", "offset", "from"), dict)
    vector_moved(draw, holder[key])

def inner_vertices(draw, question, answer, world):
    holder, key = one_of(draw, answer["certificate"], ("pVertices", "qVertices", "triangle"))
    list_changed(draw, holder[key])

def part_dropped(draw, question, answer, world):
    holder, key = one_of(draw, answer["certificate"], ("contact", "faces", "free", "way", "p", "q", "chain", "cover", "initial",
                         "point", "from", "direction", "steps", "pOrder", "qOrder", "pair", "solid"), (dict, list))
    del holder[key]

def time(draw, question, answer, world):
    key, factor = draw.choice(("tFree", "tContact")), draw.choice((0.5, 1.5, 2.0, 1 + 1e-9, 1 - 1e-9, None))
    of = lambda t: moved(draw, t) if factor is None else t * factor
    answer[key] = of(answer[key])
    if draw.random() < 0.5:  # and with it all links, and the bracket's other end
        for holder, end in found(answer["certificate"], ("t1",), float):
            holder[end] = min(1.0, of(holder[end]))
        for end in ("tFree", "tContact"):
            answer[end] = max(answer[key], answer[end]) if end == "tContact" else min(answer[key], answer[end])

def word(draw, question, answer, world):
    key = draw.choice([key for key in ("verdict", "outcome", "initialVerdict") if key in answer])
    words = OUTCOMES if key == "outcome" else VERDICTS
    answer[key] = draw.choice([other for other in words if other != answer[key]])
    if key == "outcome" and draw.random() < 0.5:
        answer["tFree"] = 1.0
        if answer[key] == OUTCOMES[0]:
            answer.setdefault("tContact", 1.0)

def pairs(draw, question, answer, world):
    holder, key = one_of(draw, answer["certificate"], ("pairs", "marginPairs", "contactPairs"))
    found, way = holder[key], draw.randrange(4)
    if way == 0:
        found.pop(draw.randrange(len(found)))
    elif way == 1:
        found.append(copy.deepcopy(draw.choice(found)))
    else:
        pair, side = draw.choice(found), draw.choice("ij")
        pair[side] = max(0, pair.get(side, 0) + draw.choice((-1, 1)))

def bounds(draw, question, answer, world):
    told, end = answer["distance"], draw.choice(("lower", "upper"))
    of = lambda x: draw.choice((moved(draw, x), x * draw.choice((0.5, 1 - 1e-9, 1 + 1e-9, 1.5)), x + 0.125))
    if draw.random() < 0.5:
        told[end] = of(told.get(end, 0.0))
    else:
        told.update(lower=told.get("lower", 0.0) + 0.01, upper=told.get("upper", 0.0) + 0.01)

def within(draw, question, answer, world):
    if draw.random() < 0.7:
        answer["withinMargin"] = not answer["withinMargin"]
    elif world.kind in ("collision", "distance"):
        question["margin"] = draw.choice((0.0, 0.125, 0.25, moved(draw, question["margin"])))

def rounding(draw, question, answer, world):
    holder, key = one_of(draw, question, ("rounded",), dict)
    holder[key]["radius"] = abs(moved(draw, holder[key].get("radius", 0.0)))

def of_radii(draw, question, answer, world):
    """Another proof of rounded bodies, or of another verdict."""
    holder, key = one_of(draw, answer["certificate"], ("rounded",), dict)
    told, way = holder[key], draw.randrange(4)
    if way == 0:
        told["innerVertex"] = draw.randrange(3)
    elif way == 1:
        told.pop(draw.choice([name for name in ("cover", "pairs", "innerVertex") if name in told]))
    else:
        told["verdict"] = draw.choice(VERDICTS)
        if way == 2:
            answer["initialVerdict" if world.kind == "firstContact" else "verdict"] = told["verdict"]

def form_of_proof(draw, question, answer, world):
    """The same faces or cover, as another proof of the verdict."""
    proof = one_of(draw, answer["certificate"], ("solid",), dict)
    form, told = cs.only({name: told for name, told in proof[0][proof[1]].items() if name != "marginPairs"})
    cover = told if form == "separated" else told.get("way")
    faces = told.get("faces") or (told if form == "crossing" else {"p": [0, 1, 2], "q": [0, 1, 2]})
    at = question["q"].get("pose", {}).get("translation", {})
    shown = told.get("pairs", [{}])
    cover = cover or told.get("cover")
    forms = {"separated": cover or {"steps": []}, "crossing": faces, "overlappingPieces": {"pairs": shown},
             "touchingPieces": {"pairs": shown, "cover": cover or {"steps": []}},
             "touching": {"faces": faces, "from": dict(at), "way": cover or {"steps": []}}, "innerPoint": {"point": dict(at)}}
    new = draw.choice([name for name in sorted(forms) if name != form])
    proof[0][proof[1]] = {new: copy.deepcopy(forms[new])}
    of = {"separated": VERDICTS[0], "touching": VERDICTS[1], "touchingPieces": VERDICTS[1]}
    answer["verdict"] = of.get(new, VERDICTS[2])

def named(draw, question, answer, world):
    """Which of several bodies meet, and which do not."""
    free, way = answer["certificate"].get("free", []), draw.randrange(5)
    if way == 0:
        side = draw.choice("pq")
        answer[side] = max(0, answer[side] + draw.choice((-1, 1)))
    elif way == 1:
        free.pop(draw.randrange(len(free)))
    elif way == 2:
        free.insert(draw.randrange(len(free) + 1), copy.deepcopy(draw.choice(free)))
    elif way == 3:
        pair, side = draw.choice(free)["pair"], draw.choice("pq")
        pair[side] = max(0, pair.get(side, 0) + draw.choice((-1, 1)))
    else:
        del answer[draw.choice([key for key in ("p", "q", "tContact") if key in answer])]

def meeting(draw, question, answer, world):
    contact = answer.get("faceContact")
    if contact is None:  # that of another answer
        others = [told["faceContact"] for _, told in world.claims if "faceContact" in told]
        answer["faceContact"] = copy.deepcopy(draw.choice(others))
        return
    key, way = draw.choice([key for key in sorted(contact) if key != "point"]), draw.randrange(5)
    if way == 0:
        del contact[key]
    elif way == 1:
        side, named_so = key[0], contact.pop(key)
        form = draw.choice(("Vertex", "Edge", "Facet"))
        number = named_so.get("from", 0) if isinstance(named_so, dict) else named_so
        contact[side + form] = {"from": number, "to": draw.randrange(8)} if form == "Edge" else number
    elif isinstance(contact[key], dict):
        end = draw.choice(("from", "to"))
        contact[key][end] = draw.randrange(8)
    else:
        contact[key] = max(0, contact[key] + draw.choice((-1, 1))) if way == 2 else draw.randrange(16)

def margin(draw, question, answer, world):
    key = draw.choice(("margin", "pDeviation", "qDeviation"))
    if world.kind == "firstCollision" or world.kind in ("collision", "distance") and key != "margin":
        raise LookupError
    question[key] = draw.choice((0.0, 1e-9, 0.25))

def pose(draw, question, answer, world):
    holder, key = one_of(draw, question, ("pose",), dict)
    what = draw.choice(("translation", "translation", "rotation"))
    if what == "rotation":
        k = draw.choice("xyz")
        holder[key][what][k] = draw.choice((moved(draw, holder[key][what].get(k, 0.0)), draw.uniform(-1, 1)))
    else:
        vector_moved(draw, holder[key][what], 2)

def way(draw, question, answer, world):
    holder, key = one_of(draw, question, ("pMotion", "qMotion", "motion"), dict)
    form, told = cs.only(holder[key])
    if draw.random() < 0.2:
        velocity = told.get("velocity", {"x": 1.0})
        holder[key] = {"screw": {"velocity": velocity, "axis": {"z": 1.0}, "angle": draw.choice((0.0, 0.0, 0.1))}}
    else:
        vector_moved(draw, told["velocity"] if form == "linear" else told["end"]["translation"])

def body_changed(draw, question, answer, world):
    holder, key = one_of(draw, question, ("alias",), str)
    holder[key] = draw.choice(world.bodies.variants[holder[key]] if draw.random() < 0.8 else world.bodies.polyhedra)

def exchanged(draw, question, answer, world):
    if "bodies" in question:
        draw.shuffle(question["bodies"])
        return
    question["p"], question["q"] = question["q"], question["p"]
    ways = [question.pop(side + "Motion", None) for side in "pq"]
    question.update({side + "Motion": way for side, way in zip("qp", ways) if way})

def of_another(draw, question, answer, world):
    """What proves another answer, with or without what it says."""
    other = copy.deepcopy(draw.choice(world.claims)[1])
    keep = draw.choice((("certificate",), ("certificate", "verdict", "initialVerdict"), tuple(other)))
    if draw.random() < 0.3:
        answer["certificate"] = {**other["certificate"], **answer["certificate"]}
    else:
        answer.update({key: other[key] for key in keep if key in other})

def inside(draw, question, answer, world):
    """No faces meet, which is so: whether one body is inside the other, a ray has to tell."""
    found = one_in_another(draw, world.bodies)
    question.clear()
    answer.clear()
    free = {"outcome": OUTCOMES[1], "tFree": 1.0}
    if world.kind == "firstCollision":
        covers = [{"pair": {"p": p, "q": q}, "cover": cover_of(world.bodies, [found[p], found[q]])}
                  for p in range(3) for q in range(p + 1, 3)]
        question["bodies"] = [{"body": one} for one in found]
        answer.update(**free, certificate={"free": covers})
        return
    two = draw.sample(found[:2], 2)
    question.update(zip("pq", two))
    cover = cover_of(world.bodies, two)
    if world.kind == "firstContact":
        answer.update(**free, initialVerdict=VERDICTS[0], certificate={"solid": {"free": cover}})
    else:
        answer.update(verdict=VERDICTS[0], certificate={"solid": {"separated": cover}})

KINDS = {"face": face, "order of triangles": order, "step of a cover": step, "link": link, "direction": direction,
         "point": point, "vertices about a point": inner_vertices, "weights of a point": weights, "part dropped": part_dropped, "time": time,
         "vertex pairs": pairs, "bounds of a distance": bounds, "within the margin": within, "radius asked": rounding,
         "proof by radii": of_radii, "word changed": word, "form of the proof": form_of_proof, "bodies named": named, "where they meet": meeting,
         "margin asked": margin, "pose asked": pose, "motion asked": way, "body asked": body_changed,
         "bodies exchanged": exchanged, "proof of another": of_another, "surfaces apart": inside}


def contradicts(known, said):
    """Whether two answers to one question cannot both be true."""
    of_same = all(known.get(place) == said.get(place) for place in "pq")  # of several bodies the same two
    if known.get("withinMargin", said.get("withinMargin")) != said.get("withinMargin", known.get("withinMargin")):
        return f"within {said.get('withinMargin')}, not {known.get('withinMargin')}"
    if "distance" in known and "distance" in said:
        (low, high), (lower, upper) = map(cs.bracket, (known["distance"], said["distance"]))
        if high < lower or upper < low:
            return f"{lower} to {upper} apart, not {low} to {high}"
    for key in ("verdict", "initialVerdict"):
        if of_same and key in known and key in said and known[key] != said[key]:
            return f"{key} {said[key]}, not {known[key]}"
    if "outcome" in known:
        at_start = lambda answer: answer.get("tContact") == 0.0
        free = [answer.get("tFree", 0.0) for answer in (known, said) if not at_start(answer)]
        met = [answer["tContact"] for answer in (known, said) if answer["outcome"] == OUTCOMES[0]]
        if free and met and max(free) >= min(met):
            return f"free until {max(free)}, in contact by {min(met)}"


def run(wire, draw, options):
    bodies, wrong, claims, seen, counts = Bodies(wire, draw), [], defaultdict(list), Counter(), defaultdict(Counter)

    def judged(what, kind, question, answer):
        said = rust(wire, kind, question, answer), python(bodies, kind, question, answer)
        if (said[0] is None) != (said[1] is None):
            wrong.append(f"{what}: Rust {said[0] or 'accepts'}, Python {said[1] or 'accepts'}\n  {question}\n  {answer}")
        return said

    def answered(kind, question):
        """What is proven of a question, or of the bodies' hulls if only that can be asked; both judges accept it."""
        answer = answer_to(wire, kind, question)
        if answer is None:
            return None
        word = answer.get("verdict") or answer["outcome"]
        if answer.get("uncertified"):
            word += ", uncertified"
        elif None not in judged(f"{kind} as it was answered", kind, question, answer):
            wrong.append(f"{kind} as it was answered: neither accepts\n  {question}\n  {answer}")
        seen[kind, word.split("_", 1)[1]] += 1
        return answer

    for _ in range(ROUNDS):
        for kind, question in asked(draw, bodies):
            answer = answered(kind, question)
            if answer is None:
                wrong.append(f"{kind}: not answered\n  {question}")
            elif not answer.get("uncertified"):
                claims[kind].append((question, answer))
    of_solids = {kind: [claim for claim in told if list(found(claim[1], ("steps", "crossing", "innerPoint", "rounded"), (dict, list)))]
                 for kind, told in claims.items()}
    for name, change in KINDS.items():
        made = tries = 0
        while made < options.each and tries < TRIES:
            tries += 1
            kind = draw.choice(sorted(claims))
            before, known = draw.choice(claims[kind] if draw.random() < 0.3 else of_solids[kind])
            question, answer = copy.deepcopy(before), copy.deepcopy(known)
            try:
                change(draw, question, answer, SimpleNamespace(kind=kind, claims=claims[kind], bodies=bodies))
            except (LookupError, TypeError, ValueError, AttributeError, Refused):
                continue  # this answer has nothing of the kind
            if (question, answer) == (before, known):
                continue
            made, tries = made + 1, 0
            said = judged(f"{name} of {kind}", kind, question, answer)
            counts[name].update(made=1, refused=None not in said, unlike=said.count(None) == 1)
            if said == (None, None):
                truth = known if question == before else answered(kind, question)
                against = "nothing of the kind is answered" if truth is None else contradicts(truth, answer)
                if against:
                    counts[name]["false"] += 1
                    wrong.append(f"{name} of {kind}: accepted, but {against}\n  {question}\n  {answer}")
    print(", ".join(f"{count} {kind} {word}" for (kind, word), count in sorted(seen.items())))
    print_table("of solids", counts)
    return wrong


if __name__ == "__main__":
    main(__doc__, run, each=100)
