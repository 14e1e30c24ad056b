"""Bodies that closed meshes bound, as they are asked about: most are not convex, some have holes, cavities or several
shells, and small ones fit inside of large ones. And surfaces: of such bodies, open ones, and triangles that cross."""
import copy
from collections import defaultdict

import clearance_solids as cs
from clearance_poses import turn_of_spin
from clearance_verify import Pair, matrix_pose, quaternion_pose
from tampering import moved

WORLD = "DIRECTION_FRAME_WORLD"


# ---- bodies
def of_cells(cells, step=1.0):
    """What bounds a body made of unit cubes, in steps."""
    corners, triangles = {}, []
    for cell in sorted(cells):
        for axis in range(3):
            for side in (0, 1):
                beside = tuple(x + (2 * side - 1) * (k == axis) for k, x in enumerate(cell))
                if beside in cells:
                    continue
                square = []
                for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    offset = [0, 0, 0]
                    offset[axis], offset[axis - 2], offset[axis - 1] = side, u, v
                    corner = tuple(step * (x + o) for x, o in zip(cell, offset))
                    square.append(corners.setdefault(corner, len(corners)))
                a, b, c, d = square if side else square[::-1]
                triangles += [[a, b, c], [a, c, d]]
    return [list(corner) for corner in corners], triangles

def of_boxes(*boxes):
    """What is between boxes, each with its lowest corner, its edge, and whether its outside is the body's."""
    points, triangles = [], []
    for low, edge, is_outer in boxes:
        of_box, around = of_cells({(0, 0, 0)}, edge)
        triangles += [[v + len(points) for v in (t if is_outer else t[::-1])] for t in around]
        points += [[x + low for x in point] for point in of_box]
    return points, triangles

def grid(*rows):
    """One layer of cells, seen from above."""
    return {(x, y, 0) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark == "#"}

def grown(draw):
    """Some cells, each beside another."""
    cells = {(0, 0, 0)}
    while len(cells) < 5:
        cell, axis, way = draw.choice(sorted(cells)), draw.randrange(3), draw.choice((-1, 1))
        cells.add(tuple(x + way * (k == axis) for k, x in enumerate(cell)))
    return cells

def shapes(draw):
    made = {
        "block": of_cells({(0, 0, 0)}), "ell": of_cells(grid("##", "#.")), "channel": of_cells(grid("#.#", "###")),
        "ring": of_cells(grid("###", "#.#", "###")), "hollow": of_boxes((0.0, 2.0, True), (0.5, 1.0, False)),
        "nested": of_boxes((0.0, 2.0, True), (0.25, 1.5, False), (0.75, 0.5, True)),
        "two": of_boxes((0.0, 1.0, True), (1.5, 0.5, True)), "bead": of_cells(grid("##", "#."), 0.125),
        "pea": of_cells({(0, 0, 0)}, 0.25), **{f"grown-{k}": of_cells(grown(draw), 0.5) for k in "abc"}}
    for name in ("ell", "channel", "bead", "hollow"):  # in no particular position
        points, triangles = made[name]
        edge = 0.1 * max(points[0][k] - points[-1][k] for k in range(3)) or 0.1
        made["rough-" + name] = [[x + draw.uniform(-edge, edge) / 4 for x in point] for point in points], triangles
    return made

def surfaces(draw):
    """Some of one body, of another with half of its triangles away, and of triangles drawn anyhow on a grid."""
    made = {}
    for name in ("channel", "hollow", "rough-ell"):
        points, triangles = shapes(draw)[name]
        made[f"shell-{name}"] = points, triangles
        made[f"open-{name}"] = points, [t for t in triangles if draw.random() < 0.5] + triangles[:1]
    for name in ("a", "b"):
        points = [[draw.randrange(5) / 4 for _ in range(3)] for _ in range(9)]
        made[f"soup-{name}"] = points, [[draw.randrange(9) for _ in range(3)] for _ in range(12)]
    return made

POLYTOPES = {"peg": [[x, y, z] for x in (0.0, 0.5) for y in (0.0, 1.0) for z in (0.0, 0.25)],
             "seed": [[0.0, 0.0, 0.0], [0.25, 0.0, 0.0], [0.0, 0.125, 0.0], [0.0625, 0.0625, 0.25]]}

SMALL = ["bead", "pea", "rough-bead", "seed"]

class Bodies:
    """By alias: the bodies as GetPolytope lists them, their hulls, and others a vertex of which is somewhere else."""

    def __init__(self, wire, draw):
        self.wire, self.solid, self.hull, self.variants = wire, {}, {}, defaultdict(list)
        for alias, (points, triangles) in shapes(draw).items():
            if self.add(alias, points, triangles):
                for k in range(2):
                    self.vary(draw, alias, points, triangles, f"{alias}-{k}")
        for alias, (points, triangles) in surfaces(draw).items():
            self.add(alias, points, triangles, "MESH_TREATMENT_SURFACE")
            self.vary(draw, alias, points, triangles, f"{alias}-0", "MESH_TREATMENT_SURFACE")
        self.surfaces = [alias for alias in self.solid if self.solid[alias].is_surface and alias[-2:] != "-0"]
        for alias, points in POLYTOPES.items():
            self.add(alias, points)
            self.vary(draw, alias, points, None, f"{alias}-0")
        self.polyhedra = [alias for alias in self.solid if self.solid[alias].region and alias[-2:] not in ("-0", "-1")]

    def vary(self, draw, alias, points, triangles, name, treatment="MESH_TREATMENT_POLYHEDRON"):
        points = copy.deepcopy(points)
        point = draw.choice(points)
        k = draw.randrange(3)
        point[k] = moved(draw, point[k]) if draw.random() < 0.5 else point[k] + draw.uniform(-0.1, 0.1)
        if self.add(name, points, triangles, treatment):
            self.variants[alias].append(name)

    def add(self, alias, points, triangles=None, treatment="MESH_TREATMENT_POLYHEDRON"):
        """Whether it is a body: some of those that are made up meet themselves."""
        flat = {"xyz": [x for point in points for x in point]}
        specs = [{"vertices": flat, "alias": alias}]
        if triangles:
            mesh = {"vertices": flat, "triangles": sum(triangles, [])}
            specs = [{"mesh": mesh, "treatment": treatment, "alias": alias}]
        used = sorted({v for t in triangles for v in t}) if triangles else range(len(points))
        specs += [{"vertices": {"xyz": [x for v in used for x in points[v]]}, "alias": f"hull-of-{alias}"}]
        for spec in specs:
            reply = self.wire.call("RegisterPolytopes", {"polytopes": [spec]})
            if reply.code != "OK":
                assert reply.reason == "NOT_A_POLYHEDRON", reply
                return False
        points, facets = self.listed(alias)
        is_surface = treatment == "MESH_TREATMENT_SURFACE"
        self.solid[alias] = cs.Solid(points, facets if triangles else None, facets, bool(triangles) and is_surface)
        self.hull[alias] = self.listed(f"hull-of-{alias}")[0]
        return True

    def of(self, one):
        """Of a body in a question: as GetPolytope lists it, its hull, and the radius of the balls around its points."""
        if "points" in one:
            return cs.Solid(one["points"]), one["points"], one["radius"]
        if "rounded" in one:
            points = points_of(one["rounded"])
            return cs.Solid(points), points, one["rounded"].get("radius", 0.0)
        return self.solid[one["alias"]], self.hull[one["alias"]], 0.0

    def listed(self, alias):
        got = self.wire.call("GetPolytope", {"alias": alias, "withVertices": True, "withFacets": True}).message
        xyz = list(got.vertices.xyz)
        return [xyz[k:k + 3] for k in range(0, len(xyz), 3)], [list(facet.vertices) for facet in got.facets]


def points_of(shape):
    """Those of the polytope that a RoundedShape rounds, in canonical order."""
    half = lambda size: (-size / 2, size / 2) if size else (0.0,)
    if "length" in shape:
        return [[0.0, 0.0, z] for z in half(shape["length"])]
    sizes = shape.get("box", {})
    return [[x, y, z] for x in half(sizes.get("x", 0.0)) for y in half(sizes.get("y", 0.0)) for z in half(sizes.get("z", 0.0))]

def rounded(draw):
    """A ball, a capsule or a box with round edges."""
    core = draw.choice(({}, {}, {"length": 0.5}, {"box": {"x": 0.5, "y": 0.25, "z": draw.choice((0.0, 0.25))}}))
    return {"rounded": {**core, "radius": draw.choice((0.25, 0.5, 0.125, draw.uniform(0.05, 0.6)))}}


def curved(draw):
    """A cylinder, a cone or an ellipsoid, now and then with a radius."""
    size = lambda: draw.choice((0.25, 0.5, draw.uniform(0.1, 0.75)))
    core = draw.choice(({"cylinder": {"radiusXy": size(), "length": size()}}, {"cone": {"radiusXy": size(), "length": size()}},
                        {"ellipsoid": {k: size() for k in "xyz"}}))
    return {"rounded": {**core, **draw.choice(({}, {"radius": 0.125}))}}


# ---- questions
def pose_at(draw, solid, far, is_exact):
    """Somewhere about the origin; if it is exact, faces are often in one plane."""
    unit = draw.choice((2, 4, 4)) if is_exact else draw.choice((8, None))
    middle = [(max(axis) + min(axis)) / 2 for axis in zip(*solid.points)]
    at = [draw.uniform(-far, far) - x for x in middle]
    turns = ([0.0] * 3, [0.0] * 3, [1.0, 0.0, 0.0]) if is_exact else ([0.0] * 3, [draw.uniform(-1, 1) for _ in range(3)])
    at = at if unit is None else [round(unit * x) / unit for x in at]
    return {"translation": dict(zip("xyz", at)), "rotation": dict(zip("wxyz", [1.0, *draw.choice(turns)]))}

def motion(draw, pose):
    """None, or one that turns nothing."""
    unit = draw.choice((1, 2, None))
    step = [draw.uniform(-4, 4) for _ in range(3)]
    step = dict(zip("xyz", step if unit is None else [round(unit * x) / unit for x in step]))
    ways = (None, {"linear": {"velocity": step}}, {"toPose": {"end": {**pose, "translation": step}}})
    return draw.choice(ways)

def turning(draw, pose):
    """One that turns, or not."""
    velocity = dict(zip("xyz", (draw.uniform(-3, 3) for _ in range(3))))
    axis = dict(zip("xyz", (draw.choice((0.0, 1.0, draw.uniform(-1, 1))) for _ in range(2)))) | {"z": 1.0}
    end = {"translation": velocity, "rotation": dict(zip("wxyz", (draw.uniform(-1, 1) for _ in range(4))))}
    ways = ({"screw": {"velocity": velocity, "axis": axis, "angle": draw.uniform(-3, 3)}}, {"toPose": {"end": end}})
    return draw.choice((*ways, motion(draw, pose) or {"linear": {}}))

def asked(draw, bodies):
    """Two bodies, standing and moving, one of them often rounded, and three that move."""
    others, is_exact = bodies.polyhedra + sorted(POLYTOPES), draw.random() < 0.6
    def body(among, far):
        alias = draw.choice([alias for alias in among if not (is_exact and alias.startswith("rough"))])
        return {"alias": alias, "pose": pose_at(draw, bodies.solid[alias], far, is_exact)}
    def moving(one, name):
        way = motion(draw, one["pose"])
        return {name: way} if way else {}
    two = [body(bodies.polyhedra, 0.5), body(draw.choice((others, SMALL)), 1.0)]
    if draw.random() < 0.4:
        two = [body(bodies.surfaces, 0.5), body(draw.choice((bodies.surfaces, sorted(POLYTOPES), bodies.polyhedra)), 1.0)]
    if draw.random() < 0.3:
        two[1] = {**rounded(draw), "pose": two[1]["pose"]}
    draw.shuffle(two)
    def margin():
        return {"margin": draw.choice((0.0, 0.125, 0.25, draw.uniform(0, 1)))} if draw.random() < 0.5 else {}
    yield "collision", {**dict(zip("pq", two)), **margin()}
    two[1] = {**two[1], "pose": pose_at(draw, bodies.of(two[1])[0], draw.choice((1, 2)), is_exact)}
    yield "distance", {**dict(zip("pq", two)), **margin()}
    yield "firstContact", {"p": two[0], "q": two[1], **moving(two[0], "pMotion"), **moving(two[1], "qMotion")}
    ways = {side + "Motion": turning(draw, one["pose"]) for side, one in zip("pq", two) if draw.random() < 0.7}
    slack = {name: draw.choice((0.0, 0.0, 0.125, 0.01)) for name in ("margin", "pDeviation")}
    yield "firstContact", {"p": two[0], "q": two[1], **ways, **slack}
    three = [body(others, 2), body(others, 2), body(SMALL, 1.5)]
    yield "firstCollision", {"bodies": [{"body": one, **moving(one, "motion")} for one in three]}

def one_in_another(draw, bodies):
    """Two or three bodies, the small ones somewhere in what is around the large one."""
    large = draw.choice([alias for alias in bodies.polyhedra if alias not in SMALL and not alias.startswith("rough")])
    found = [{"alias": large, "pose": {"translation": {}, "rotation": {"w": 1.0}}}]
    for alias in draw.sample(SMALL, 2):
        at = [draw.uniform(min(axis), max(axis)) for axis in zip(*bodies.solid[large].points)]
        found.append({"alias": alias, "pose": {"translation": dict(zip("xyz", at)), "rotation": {"w": 1.0}}})
    return found

def numbers_of(json, names):
    return [json.get(k, 0.0) for k in names]

def pose_of(json):
    if "rotationMatrix" in json:
        return matrix_pose(numbers_of(json.get("translation", {}), "xyz"), json["rotationMatrix"]["rows"])
    return quaternion_pose(numbers_of(json.get("translation", {}), "xyz"), numbers_of(json.get("rotation", {"w": 1.0}), "wxyz"))

def motion_of(json):
    form, told = cs.only(json or {"linear": {}})
    if form == "toPose":
        turn = [turn_of_spin(numbers_of(told["spin"], "xyz"))] if "spin" in told else []
        return "to_pose", pose_of(told["end"]), *turn, None
    velocity = tuple(numbers_of(told.get("velocity", {}), "xyz"))
    if form == "screw":
        return "screw", velocity, tuple(numbers_of(told["axis"], "xyz")), told["angle"], None
    return "linear", velocity


# ---- a proof of our own
def cover_of(bodies, two):
    """A cover of two bodies, of coordinate axes alone; LookupError: they leave some faces together."""
    solids, poses = [bodies.solid[one["alias"]] for one in two], [pose_of(one["pose"]) for one in two]
    placed, steps = Pair(*(one.points for one in solids), *poses).placed, []
    def halves(groups):
        ends = []
        for points, solid, group in zip(placed, solids, groups):
            some = points if group is None else [points[v] for t in group for v in solid.triangles[t]]
            ends.append([(min(axis), max(axis)) for axis in zip(*some)])
        for k, (p, q) in enumerate(zip(*ends)):
            for sign in (1.0, -1.0):
                if (q[0] - p[1] if sign > 0 else p[0] - q[1]) > 0:
                    steps.append({"chain": [{"frame": WORLD, "direction": {"vector": {"xyz"[k]: sign}}, "t1": 1.0}]})
                    return
        k = max((0, 1), key=lambda k: len(groups[k] or ()))
        if groups[k] is None or len(groups[k]) < 2:
            raise LookupError("they meet, or are too near")
        steps.append({"split": f"COVER_SPLIT_{'PQ'[k]}"})
        half = len(groups[k]) // 2
        for part in (groups[k][:half], groups[k][half:]):
            halves([part if k == of else group for of, group in enumerate(groups)])
    halves([solid.triangles and list(range(len(solid.triangles))) for solid in solids])
    return {"steps": steps}
