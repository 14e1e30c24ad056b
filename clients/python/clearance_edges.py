#!/usr/bin/env python3
"""Checks certificates of edges of robots from the URDF, the SRDF and the vertices, without trusting the server.

A `Robot` is read here, by this file alone; a `Cell` has some and what stands still; `verify_edge` raises `Refused`
with the reason, or returns if the claim is proven. The formulas are those of docs/robots.md: joint values are placed in
f64 by the documented operations, motion is bounded from the joints, gaps are decided in whole numbers.
"""
import math
import struct
import xml.etree.ElementTree as ElementTree

from clearance_curved import verify_around, verify_inside
from clearance_poses import Refused, patient, require  # noqa: F401
from clearance_solids import Solid, only, verify_solids, vertex_pairs
from clearance_surfaces import AtRest, by_radii, compared
from clearance_surfaces import cloud as faces_of_points
from clearance_verify import (Pair, bound, denominator, dot, matrix_pose, quaternion_pose, verify_margin,  # noqa: F401
                              verify_static, whole)

UNIT, SLACK, LARGEST = 2.0 ** -53, 1e-12, 1e6
HALF_PI = [float.fromhex(x) for x in ("0x1.921fb54400000p+0", "0x1.0b4611a600000p-34", "0x1.3198a2e000000p-69")]
SINE = [(-1) ** (k + 1) / math.factorial(2 * k + 3) for k in range(8)]
VERSINE = [(-1) ** (k + 1) / math.factorial(2 * k + 4) for k in range(8)]
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

# ---- the documented formula
def polynomial(z, c):
    square = z * z
    low = (c[0] + c[1] * z) + (c[2] + c[3] * z) * square
    high = (c[4] + c[5] * z) + (c[6] + c[7] * z) * square
    return low + high * (square * square)

def sine_and_versine(x):
    k = float(round(x * 0.6366197723675814))
    a, b, c = (k * piece for piece in HALF_PI)
    r = ((x - a) - b) - c
    z = r * r
    s, v = r + r * z * polynomial(z, SINE), 0.5 * z + z * z * polynomial(z, VERSINE)
    sine, cosine = ((s, 1.0 - v), (1.0 - v, -s), (-s, -(1.0 - v)), (-(1.0 - v), s))[int(k) % 4]
    return sine, v if int(k) % 4 == 0 else 1.0 - cosine

def row(m, i, v): return (m[i][0] * v[0] + m[i][1] * v[1]) + m[i][2] * v[2]
def product(a, b): return tuple(tuple(row(a, i, [b[0][k], b[1][k], b[2][k]]) for k in range(3)) for i in range(3))
def applied(m, v): return tuple(row(m, i, v) for i in range(3))
def moved(pose, v): return tuple(row(pose[0], i, v) + pose[1][i] for i in range(3))
def compose(a, b): return product(a[0], b[0]), moved(a, b[1])
def cross(a, b): return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
def plus(a, b): return a[0] + b[0], a[1] + b[1], a[2] + b[2]
def scaled(a, w): return a[0] * w, a[1] * w, a[2] * w
def length(v): return math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
def length_at_most(v): return length(v) if 2.0 ** -511 <= length(v) < math.inf else max(map(abs, v))

def stretch(m):
    """By how much a matrix makes a length longer at most."""
    columns = list(zip(*m))
    off = [[(a[0] * b[0] + a[1] * b[1]) + a[2] * b[2] - (1.0 if a is b else 0.0) for b in columns] for a in columns]
    return 1.0 + 0.5 * (max(sum(map(abs, line)) for line in off) + 16.0 * UNIT)

def turned(axis, angle):
    sine, versine = sine_and_versine(angle)
    m = [list(r) for r in IDENTITY]
    i, k = (axis + 1) % 3, (axis + 2) % 3
    m[i][i] = m[k][k] = 1.0 - versine
    m[i][k], m[k][i] = -sine, sine
    return m

# ---- the files
def numbers(element, name, default):
    given = element.get(name) if element is not None else None
    values = [float(word) for word in given.split()] if given is not None else list(default)
    require(len(values) == 3 and all(map(math.isfinite, values)), f"{name} is no vector")
    return values

def origin(element):
    at = element.find("origin")
    if at is not None and at.get("quat_xyzw") is not None:
        x, y, z, w = (float(word) for word in at.get("quat_xyzw").split())
        return quaternion_pose(numbers(at, "xyz", (0, 0, 0)), (w, x, y, z))
    angles = numbers(at, "rpy", (0, 0, 0))
    zero = (0.0, 0.0, 0.0)
    turns = [(turned(axis, angles[axis]), zero) for axis in range(3)]
    return compose(turns[2], compose(turns[1], turns[0]))[0], tuple(numbers(at, "xyz", (0, 0, 0)))

def stl_points(content):
    """The corners of the triangles of a binary STL file."""
    count, = struct.unpack_from("<I", content, 80)
    corners = {struct.unpack_from("<3f", content, 84 + 50 * k + 12 + 12 * i) for k in range(count) for i in range(3)}
    return sorted(corners)

def region(points, triangles):
    """What a mesh bounds: a `clearance_solids.Solid` with its vertices and triangles as GetPolytope lists them."""
    points = [tuple(x + 0.0 for x in v) for v in points]
    corners = [[points[v] for v in triangle] for triangle in triangles]
    vertices = sorted({v for triangle in corners for v in triangle})
    place = {v: k for k, v in enumerate(vertices)}
    named = [[place[v] for v in triangle] for triangle in corners]
    return Solid(vertices, sorted(t[k:] + t[:k] for t in named for k in [t.index(min(t))]))

def surface(points, triangles):
    """The triangles of a mesh and nothing beside them: a `clearance_solids.Solid` as GetPolytope lists it."""
    corners = [[tuple(x + 0.0 for x in points[v]) for v in triangle] for triangle in triangles]
    vertices = sorted({v for triangle in corners for v in triangle})
    place = {v: k for k, v in enumerate(vertices)}
    named = {tuple(sorted(place[v] for v in triangle)) for triangle in corners}
    return Solid(vertices, sorted(map(list, named)), is_surface=True)

class Rounded:
    """The hull of points with a ball of this radius around each of its points."""

    def __init__(self, points, radius):
        require(math.isfinite(radius) and radius >= 0, "a radius is finite and not negative")
        self.points, self.radius = points, radius

class Curved:
    """A cylinder, a cone or an ellipsoid with a ball of this radius around each of its points: form and half sizes are those
    of `clearance_curved`. Its points are the corners of the box of the half sizes, which holds it."""

    def __init__(self, form, half, radius=0.0):
        require(math.isfinite(radius) and radius >= 0, "a radius is finite and not negative")
        self.core, self.radius = (form, list(half)), radius
        self.points = [tuple(h if i >> k & 1 else -h for k, h in enumerate(half)) for i in range(8)]

    def scaled(self, scale):
        form, half = self.core
        require(self.radius == 0 or len({abs(s) for s in scale}) == 1, "a radius has one scale along all axes")
        made = [h * s for h, s in zip(half, scale)]
        made = [abs(h) if form != "cone" or k < 2 else h for k, h in enumerate(made)]
        return Curved(form, made, self.radius * abs(scale[0]))

def cloud(points, radius=0.0):
    """Points with a ball of this radius around each, as certificates name them: each once and in order, a face of its own."""
    require(math.isfinite(radius) and radius >= 0, "a radius is finite and not negative")
    made = faces_of_points(points)
    made.radius = radius
    return made

class Robot:
    """meshes: the points of each mesh, by the name that the URDF uses or its last step; of one that is taken as it is
    what it bounds (`region`), or its `surface`; what was given by id may be `Rounded` or `Curved`. Of cylinders that were
    registered with `gap_max` the server takes polytopes, whose vertices `polytopes` has to give, by the index of the part."""

    def __init__(self, urdf, srdf="", meshes=None, polytopes=None):
        root = ElementTree.fromstring(urdf)
        links = [link.get("name") for link in root.findall("link")]
        joints, by_name, below = root.findall("joint"), {}, {}
        self.frames, self.width = [], 0  # (parent, pose, kind, axis, (variable, multiplier, offset))
        values = {}
        for joint in joints:
            by_name[joint.get("name")] = joint
            if joint.find("mimic") is None:
                values[joint.get("name")] = self.width
                self.width += {"fixed": 0, "planar": 3, "floating": 7}.get(joint.get("type"), 1)
            below.setdefault(joint.find("parent").get("link"), []).append(joint)
        children = {joint.find("child").get("link") for joint in joints}
        base, = [link for link in links if link not in children]
        places, waiting = {base: (None, (IDENTITY, (0.0, 0.0, 0.0)))}, [base]
        while waiting:
            link = waiting.pop()
            frame, at = places[link]
            for joint in reversed(below.get(link, [])):
                child = joint.find("child").get("link")
                places[child] = self.hang(joint, by_name, values, frame, compose(at, origin(joint)))
                waiting.append(child)
        self.parts, self.link_frames = [], []  # (link, frame, pose in the frame, points)
        for index, name in enumerate(links):
            frame, at = places[name]
            self.link_frames.append(frame)
            for collision in root.findall("link")[index].findall("collision"):
                points = (polytopes or {}).get(len(self.parts)) or shape(collision.find("geometry"), meshes or {})
                self.parts.append((index, frame, compose(at, origin(collision)), points))
        self.links, self.link_poses = links, [places[name][1] for name in links]
        joined = {tuple(sorted((links.index(j.find("parent").get("link")), links.index(j.find("child").get("link")))))
                  for j in joints}
        may = set()
        def pairs(tag):
            for pair in ElementTree.fromstring(srdf).findall(tag) if srdf else []:
                if pair.get("link1") in links and pair.get("link2") in links:
                    yield tuple(sorted((links.index(pair.get("link1")), links.index(pair.get("link2")))))
        may.update(pairs("disable_collisions"))
        enabled = set(pairs("enable_collisions"))
        for alone in ElementTree.fromstring(srdf).findall("disable_default_collisions") if srdf else []:
            if alone.get("link") in links:
                k = links.index(alone.get("link"))
                may.update({tuple(sorted((k, m))) for m in range(len(links)) if m != k} - enabled)
        self.may_meet = {**{pair: "JOINED" for pair in joined}, **{pair: "SRDF" for pair in may}}

    def hang(self, joint, by_name, values, parent, at):
        """Adds the frames of a joint; returns where its child is."""
        kind, axis = joint.get("type"), numbers(joint.find("axis"), "xyz", (1, 0, 0))
        size = length(axis)
        axis = tuple(x / size for x in axis) if size else (1.0, 0.0, 0.0)
        multiplier, offset, driver = 1.0, 0.0, joint
        while driver.find("mimic") is not None:
            mimic = driver.find("mimic")
            offset += multiplier * float(mimic.get("offset", 0))
            multiplier *= float(mimic.get("multiplier", 1))
            driver = by_name[mimic.get("joint")]
        if kind == "fixed":
            return parent, at
        require(kind in ("revolute", "continuous", "prismatic"), f"joints of type {kind} are not read here")
        self.frames.append((parent, at, kind, axis, (values[driver.get("name")], multiplier, offset)))
        return len(self.frames) - 1, (IDENTITY, (0.0, 0.0, 0.0))

def shape(geometry, meshes):
    box, mesh = geometry.find("box"), geometry.find("mesh")
    if box is not None:
        half = [0.5 * x for x in numbers(box, "size", ())]
        return [tuple(h if i >> k & 1 else -h for k, h in enumerate(half)) for i in range(8)]
    sphere, capsule = geometry.find("sphere"), geometry.find("capsule")
    if sphere is not None:
        return Rounded([(0.0, 0.0, 0.0)], float(sphere.get("radius")))
    if capsule is not None:
        half = 0.5 * float(capsule.get("length"))
        return Rounded([(0.0, 0.0, -half), (0.0, 0.0, half)], float(capsule.get("radius")))
    cylinder = geometry.find("cylinder")
    if cylinder is not None:
        radius = float(cylinder.get("radius"))
        return Curved("cylinder", [radius, radius, 0.5 * float(cylinder.get("length"))])
    require(mesh is not None, "the vertices of this part are not given")
    name, scale = mesh.get("filename"), numbers(mesh, "scale", (1, 1, 1))
    points = meshes.get(name) or meshes.get(name.replace("\\", "/").rsplit("/", 1)[-1])
    require(points, f"the mesh {name} is not given")
    if isinstance(points, Curved):
        return points.scaled(scale)
    if isinstance(points, Rounded):
        require(len({abs(s) for s in scale}) == 1, "a rounded body has one scale along all axes")
        made = [tuple(x * s for x, s in zip(v, scale)) for v in points.points]
        return Rounded(made, points.radius * abs(scale[0]))
    if isinstance(points, Solid):
        mirrored = scale[0] * scale[1] * scale[2] < 0
        made = [tuple(x * s for x, s in zip(v, scale)) for v in points.points]
        if points.is_surface:
            return surface(made, points.triangles)
        return region(made, [t[::-1] if mirrored else t for t in points.triangles])
    return [tuple(x * s for x, s in zip(v, scale)) for v in points]

RULES = ("JOINED", "SRDF", "IGNORED", "CARRIED")

class Carried:
    """What a link of a robot carries: the index of the robot, the name of the link, where it is in the frame of the link,
    what it is, as in `Cell.still`, and names of links that it may touch."""

    def __init__(self, robot, link, pose, body, touch_links=()):
        self.robot, self.link, self.pose, self.body, self.touch_links = robot, link, pose, body, touch_links

class Cell:
    """robots: [(Robot, pose of its base)]; still: [(points, pose)], or what a mesh bounds (`region`), its `surface`, a
    `cloud`, a `Rounded` or a `Curved` body for the points; a pose is rows and a translation. carried: [Carried], robot by
    robot. Bodies are called ("link", robot, name), ("carried", index) and ("still", index): ignored has pairs of those,
    paddings is metres by them, margins metres by pairs, in place of the sum of their two. scope: ALL, WORLD or SELF.

    `pairs` are those that need a check, `left_out` those that a joint may change and a rule leaves out, by rule; both by the
    numbers that certificates use."""

    def __init__(self, robots, still, carried=(), ignored=(), paddings=None, adjacent_links=False, scope="ALL", margins=None):
        self.frames, self.parts, self.width = [], [], 0
        first_frames, owners, may_meet = [], [], {}  # owners: by part, what the rules call its body
        for k, (robot, base) in enumerate(robots):
            shift = len(self.frames)
            first_frames.append(shift)
            for parent, at, kind, axis, (variable, *rest) in robot.frames:
                at = at if parent is not None else compose(base, at)
                parent = None if parent is None else parent + shift
                self.frames.append((parent, at, kind, axis, (variable + self.width, *rest)))
            for link, frame, at, points in robot.parts:
                at = at if frame is not None else compose(base, at)
                self.parts.append((None if frame is None else frame + shift, at, points))
                owners.append(("link", k, robot.links[link]))
            for pair, rule in robot.may_meet.items():
                names = frozenset(("link", k, robot.links[link]) for link in pair)
                if rule != "JOINED" or not adjacent_links:
                    may_meet.setdefault(names, rule)
            self.width += robot.width
        standing = [(None, at, body) for body, at in still]
        names = [("still", k) for k in range(len(still))]
        for k, hung in enumerate(carried):
            robot, base = robots[hung.robot]
            link = robot.links.index(hung.link)
            frame, at = robot.link_frames[link], compose(robot.link_poses[link], hung.pose)
            if frame is None:
                standing.append((None, compose(base, at), hung.body))
                names.append(("carried", k))
            else:
                self.parts.append((frame + first_frames[hung.robot], at, hung.body))
                owners.append(("carried", k))
            for touched in (hung.link, *hung.touch_links):
                may_meet.setdefault(frozenset((("carried", k), ("link", hung.robot, touched))), "CARRIED")
        for pair in ignored:
            known = may_meet.get(frozenset(pair), "CARRIED")
            may_meet[frozenset(pair)] = min(known, "IGNORED", key=RULES.index)
        self.moving, self.bodies = len(self.parts), self.parts + standing
        self.solids = {k: body[2] for k, body in enumerate(self.bodies) if isinstance(body[2], Solid)}
        self.curved = {k: body[2].core for k, body in enumerate(self.bodies) if isinstance(body[2], Curved)}
        self.radii = [getattr(body[2], "radius", 0.0) for body in self.bodies]
        self.bodies = [(frame, at, getattr(shape, "points", shape)) for frame, at, shape in self.bodies]
        owners, padded = owners + names, paddings or {}
        self.paddings = [float(padded.get(owner, 0.0)) for owner in owners]
        self.owners, self.margins = owners, {frozenset(pair): float(x) for pair, x in (margins or {}).items()}
        self.pairs, self.left_out = [], {}
        for b in range(len(self.bodies)):
            if scope not in ("ALL", "SELF" if b < self.moving else "WORLD"):
                continue
            for a in range(min(b, self.moving)):
                if self.bodies[a][0] == self.bodies[b][0]:
                    continue  # no joint moves the one against the other
                rule = may_meet.get(frozenset((owners[a], owners[b])))
                if rule:
                    self.left_out[a, b] = rule
                else:
                    self.pairs.append((a, b))
        self.pairs.sort()
        self.stretches = [stretch(rows) for _, (rows, _), _, _, _ in self.frames]
        self.loads = [load(*body) for body in self.bodies]
        self.stretch = [self.stretch_to_world(body[0]) for body in self.bodies]
        self.common = {pair: self.common_frame(pair) for pair in self.pairs}

    def margin(self, pair, asked):
        """Within which distance a pair counts as in contact: that of the question or its own, of which 0 says nothing,
        whichever is greater; its own is what is set for it, or else the sum of its paddings."""
        own = self.margins.get(frozenset(self.owners[body] for body in pair))
        own = self.paddings[pair[0]] + self.paddings[pair[1]] if own is None else own
        found = own if asked == 0 else asked if own == 0 else max(asked, own)
        require(found >= 0, "the margin of a pair is below 0: no certificate shows that")
        return found

    def solid(self, body, vertices=None):
        """A body as certificates name its vertices: of a polytope these, or all of its points."""
        known = self.solids.get(body)
        return known or Solid((vertices or {}).get(body) or sorted(set(map(tuple, self.bodies[body][2]))))

    def chain(self, frame):
        while frame is not None:
            yield frame
            frame = self.frames[frame][0]

    def stretch_to_world(self, frame):
        return math.prod(self.stretches[k] for k in self.chain(frame))

    def common_frame(self, pair):
        a, b = (list(self.chain(self.bodies[body][0])) for body in pair)
        return next((frame for frame in b if frame in a), None)

    def place(self, values):
        placed = []
        for parent, (rows, t), kind, axis, (variable, multiplier, offset) in self.frames:
            x = multiplier * values[variable] + offset
            if kind == "prismatic":
                along = applied(rows, axis)
                own = rows, tuple(t[i] + along[i] * x for i in range(3))
            else:
                s, v = sine_and_versine(x)
                k = ((0.0, -axis[2], axis[1]), (axis[2], 0.0, -axis[0]), (-axis[1], axis[0], 0.0))
                b = product(rows, k)
                c = product(b, k)
                own = tuple(tuple(rows[i][j] + (s * b[i][j] + v * c[i][j]) for j in range(3)) for i in range(3)), t
            placed.append(own if parent is None else compose(placed[parent], own))
        return placed

def load(frame, pose, points):
    """Frame, lever, centre and radius of a ball in the frame: what bounds the motion of points."""
    placed = [moved(pose, v) for v in points]
    low, high = ([pick(v[k] for v in placed) for k in range(3)] for pick in (min, max))
    centre = tuple(a + (b - a) * 0.5 for a, b in zip(low, high))
    lever = max(map(length, placed)) * (1 + SLACK)
    return frame, lever, centre, max(length(plus(v, scaled(centre, -1.0))) for v in placed) + lever * SLACK

def above(*lengths):
    """At least the sum."""
    lengths = [x for x in lengths if x > 0]
    return sum(lengths) if len(lengths) < 2 else math.nextafter(math.fsum(lengths), math.inf)

# ---- the judge
class Edge:
    def __init__(self, cell, start, end, margin, vertices=None):
        self.vertices, self.hulls = vertices, []
        for values in (start, end):
            ok = len(values) == cell.width and all(type(q) is float and math.isfinite(q) for q in values)
            require(ok, "an end has not as many finite values as the joints take")
        self.cell, self.ends = cell, (start, end)
        # As seen from the frame that carries both, which may stretch one way more than another.
        # Without the balls around their points: two have to keep the radii, too.
        self.keep = {pair: above(cell.margin(pair, margin), *(cell.radii[body] for body in pair))
                     * (1 + 4 * (cell.stretch_to_world(common) - 1)) for pair, common in cell.common.items()}
        self.rates, self.farthest = [], []
        for _, _, _, _, (variable, multiplier, offset) in cell.frames:
            a, b = (multiplier * values[variable] + offset for values in self.ends)
            self.rates.append(b - a)
            self.farthest.append(max(abs(a), abs(b)) + abs(offset))
        require(max(self.farthest, default=0) <= LARGEST, "a value is too large")
        self.rounding = [self.rounding_of(load) for load in cell.loads]

    def rounding_of(self, load):
        frame, lever, _, _ = load
        turned_by, frames = 0.0, 2.0
        for k in self.cell.chain(frame):
            frames += 1.0
            if self.cell.frames[k][2] == "prismatic":
                turned_by += self.farthest[k]
                lever += self.farthest[k]
            else:
                turned_by += (self.farthest[k] + 4.0) * lever
            lever = lever * self.cell.stretches[k] + length(self.cell.frames[k][1][1])
        return UNIT * (160.0 * frames * lever + 16.0 * turned_by)

    def speed(self, body, seen_from, placed, half):
        frame, lever, centre, radius = self.cell.loads[body]
        if frame is None:
            return 0.0
        most, growth, velocity, spin = 0.0, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        centre = moved(placed[frame], centre)
        seen = True
        for k in self.cell.chain(frame):
            wide, seen = self.cell.stretches[k], seen and k != seen_from
            if not seen:
                most, growth = most * wide, growth * wide
                continue
            _, (_, t), kind, axis, _ = self.cell.frames[k]
            rate, along = self.rates[k], scaled(applied(placed[k][0], axis), self.rates[k])
            if kind == "prismatic":
                most += abs(rate)
                velocity = plus(velocity, along)
                lever += self.farthest[k]
            else:
                growth += abs(rate) * (abs(rate) * lever + 2.0 * most)
                most += abs(rate) * lever
                velocity = plus(velocity, cross(along, plus(centre, scaled(placed[k][1], -1.0))))
                spin = plus(spin, along)
            lever = lever * wide + length(t)
            most, growth = most * wide, growth * wide
        whole_way = self.cell.stretch[body]
        now = length(velocity) + length(spin) * radius * whole_way + most * (4 * (whole_way - 1) + SLACK)
        return min(most, now + 0.5 * half * growth) * (1 + SLACK)

    def speed_along(self, body, seen_from, placed, half, along):
        """How fast its points get higher or lower along a unit vector, at most, in the mean over half of a piece."""
        frame, lever, centre, radius = self.cell.loads[body]
        if frame is None:
            return 0.0
        wide, centre = self.cell.stretch[body], moved(placed[frame], centre)
        tilts, frames, turned_by, swing = [], 2.0, 0.0, 0.0
        for k in reversed(list(self.cell.chain(frame))):
            _, _, kind, axis, _ = self.cell.frames[k]
            frames += 1.0
            turned_by += 0.0 if kind == "prismatic" else self.farthest[k] + 4.0
            if k == seen_from:
                tilts, swing = [], 0.0
                continue
            there = applied(list(zip(*placed[k][0])), along)
            now = (row([axis], 0, there), 0.0, 0.0) if kind == "prismatic" else cross(there, axis)
            error = UNIT * (160.0 * frames + 16.0 * turned_by)
            most = min(length(now) + error + half * wide * swing, wide * (1 + SLACK))
            swing += 0.0 if kind == "prismatic" else abs(self.rates[k]) * most
            tilts.append((k, now, error, most))
        most, growth, steepest, off, rise, gradient = 0.0, 0.0, 0.0, 0.0, 0.0, (0.0, 0.0, 0.0)
        for k, now, error, tilt in reversed(tilts):
            _, (_, t), kind, _, _ = self.cell.frames[k]
            rate, fast = self.rates[k], abs(self.rates[k])
            wrong = 16.0 * error + (4.0 * (wide - 1.0) + SLACK) * length(now)
            if kind == "prismatic":
                steepest, off, rise = steepest + fast * tilt, off + fast * wrong, rise + now[0] * rate
                most += fast
                lever += self.farthest[k]
            else:
                growth += fast * tilt * (fast * lever + 2.0 * most)
                steepest, off = steepest + fast * tilt * lever, off + fast * wrong * lever
                turning = scaled(applied(placed[k][0], now), rate)
                rise += row([turning], 0, plus(centre, scaled(placed[k][1], -1.0)))
                gradient = plus(gradient, turning)
                most += fast * lever
            lever, most = lever * self.cell.stretches[k] + length(t), most * self.cell.stretches[k]
        here = abs(rise) + length(gradient) * radius * wide + off
        return min(steepest, here + 0.5 * half * growth) * (1 + SLACK)

    def closing(self, pair, placed, half, along):
        """How fast two bodies close in, at most; along a direction that shows their gap, if one does."""
        size = max(map(abs, along))
        unit = [x / size for x in along] if 0 < size < math.inf else None
        unit = unit and [x / length(unit) for x in unit]
        total = 0.0
        for body in pair:
            speed = self.speed(body, self.cell.common[pair], placed, half)
            total += min(speed, self.speed_along(body, self.cell.common[pair], placed, half, unit)) if unit else speed
        return total

    def reach(self, pair, closing, half):
        return (half * closing + sum(self.rounding[body] for body in pair) + self.keep[pair]) * (1 + SLACK)

    def at(self, t):
        values = [b if t >= 1.0 else a + t * (b - a) for a, b in zip(*self.ends)]
        placed = self.cell.place(values)
        return placed, [pose if frame is None else compose(placed[frame], pose) for frame, pose, _ in self.cell.bodies]

    def piece(self, start, piece):
        end = piece["end"]
        middle = start + 0.5 * (end - start)
        half = max(middle - start, end - middle)
        placed, poses = self.at(middle)
        speeds, cell = piece["speeds"], self.cell
        require(len(speeds) == cell.moving, "it does not give a speed for each part")
        for part, speed in enumerate(speeds):
            ok = math.isfinite(speed) and speed >= self.speed(part, None, placed, half)
            require(ok, f"part {part} may be faster than is said")
        balls = [(load[2] if load[0] is None else moved(placed[load[0]], load[2]), load[3] * wide)
                 for load, wide in zip(cell.loads, cell.stretch)]
        count = len(piece["firsts"])
        ok = [len(piece[name]) for name in ("seconds", "gaps", "closings")] == [count] * 3
        require(ok and len(piece["directions"]) == 3 * count, "the lists of pairs are not equally long")
        named = [list(piece.get(name, [])) or [0] * count for name in ("first_hulls", "second_hulls")]
        require(all(len(hulls) == count for hulls in named), "hulls are named of some pairs only")
        at, covers = 0, list(piece.get("covers", []))
        for pair in cell.pairs:
            common = cell.common[pair]
            if at < count and (piece["firsts"][at], piece["seconds"][at]) == pair:
                closing, gap = piece["closings"][at], piece["gaps"][at]
                along = piece["directions"][3 * at:3 * at + 3]
                least = self.closing(pair, placed, half, along)
                require(math.isfinite(closing) and closing >= least, f"{pair} may close in faster than is said")
                require(gap > self.reach(pair, closing, half), f"the gap of {pair} is less than the two can move")
                held = [self.hull(body, hulls[at]) for body, hulls in zip(pair, named)]
                if covers and not any(along):
                    self.covered(pair, held, poses, (covers.pop(0), gap))
                else:
                    self.gap(pair, held, poses, (along, gap))
                at += 1
                continue
            (p, r), (q, s) = (balls[body] for body in pair)
            closing = (speeds[pair[0]] if pair[1] >= cell.moving
                       else sum(self.speed(body, common, placed, half) for body in pair))
            apart = length_at_most(plus(p, scaled(q, -1.0))) - r - s - sum(map(abs, p + q)) * SLACK
            require(apart > self.reach(pair, closing, half), f"nothing shows that {pair} stay apart")
        require(at == count, "its pairs are not in order, or need none")
        require(not covers, "more covers than directions that are zero")

    def around(self, hulls):
        """Takes the polytopes around curved bodies: each with its number, vertices and triangles."""
        for at, told in enumerate(hulls):
            core = self.cell.curved.get(told["body"])
            require(core, f"polytope {at}: its body is not curved")
            points = [tuple(point) for point in told["outer"]]
            verify_around(*core, points, told["outer_triangles"])
            self.hulls.append((told["body"], points))

    def hull(self, body, named):
        """The points of the polytope that stands in the place of a body; none: it stands there itself."""
        if named == 0:
            return None
        ok = named <= len(self.hulls) and self.hulls[named - 1][0] == body
        require(ok, f"a polytope that is around another body than {body}, or none")
        return self.hulls[named - 1][1]

    def covered(self, pair, held, poses, shown):
        """Along each direction of the cover the two are farther apart than the gap."""
        cover, gap = shown
        solids = [Solid(hull) if hull else self.cell.solid(body, self.vertices) for body, hull in zip(pair, held)]
        placed = Pair(*(solid.points for solid in solids), *(poses[body] for body in pair))
        AtRest(placed, solids, bound(gap), bound(gap)).verify(cover)

    def gap(self, pair, held, poses, shown):
        direction, gap = shown
        (p, q), (pose_p, pose_q) = ([hull or self.cell.bodies[b][2] for b, hull in zip(pair, held)], [poses[b] for b in pair])
        placed = Pair(p, q, pose_p, pose_q)
        require(all(map(math.isfinite, direction)) and any(direction), "the direction is zero or not finite")
        s = whole(direction, denominator(direction))
        found = placed.gap(s)
        require(found > 0 and found ** 2 > (bound(gap) * placed.unit) ** 2 * dot(s, s), f"the gap of {pair} is less")

@patient
def verify_edge(cell, start, end, margin, claim, certificate, vertices=None):
    """claim: {"free_until": t, "contact": None or (t, (a, b))}; certificate: {"pieces": [...], "contact": None or
    {"verdict": ..., "certificate": ..., "margin_pairs": ...}} with the fields of the interface; of a mesh the
    contact is {"solid": ...}, of what is rounded {"rounded": ...} or {"solid": {"marginPairs": ...}}, and the covers of a
    piece are as in JSON. Of curved bodies "hulls" has {"body": number, "outer": points, "outer_triangles": indices}, and
    "first_inside" and "second_inside" are points in the bodies of the contact. The proof of a contact
    names vertices of polytopes: those points of a body, by x, y, z, that are corners of its hull. Where others are among
    the points, `vertices` gives the corners by body; any that are points of it will do."""
    require(math.isfinite(margin) and margin >= 0, "a margin is finite and not negative")
    until, contact = claim["free_until"], claim.get("contact")
    require(0 <= until <= 1, "free_until is not in [0, 1]")
    edge, reached = Edge(cell, start, end, margin, vertices), 0.0
    edge.around(certificate.get("hulls", []))
    for index, piece in enumerate(certificate["pieces"]):
        require(reached < piece["end"] <= 1, f"piece {index} does not join")
        try:
            edge.piece(reached, piece)
        except Refused as why:
            raise Refused(f"piece {index}: {why}") from why
        reached = piece["end"]
    require(reached >= until, "the pieces end before free_until")
    proof = certificate.get("contact")
    require((contact is None) == (proof is None), "a contact without a proof, or a proof of what is not said")
    inside = [certificate.get(name) for name in ("first_inside", "second_inside")]
    if contact is None:
        return require(inside == [None, None], "points in bodies of no contact")
    at, pair = contact
    require(until <= at <= 1, "contact_at is not in [free_until, 1]")
    require(tuple(pair) in cell.common, "this pair needs no check")
    margin = cell.margin(pair, margin)
    _, poses = edge.at(at)
    solids, places = [standing(cell, vertices, *told) for told in zip(pair, inside)], [poses[body] for body in pair]
    bodies = [solid.points for solid in solids]
    radii = [cell.radii[body] for body in pair]
    if "rounded" in proof:
        told = proof["rounded"]
        require(told.get("verdict") == "VERDICT_OVERLAPPING", "what is rounded is shown to overlap")
        placed = Pair(*(solid.points for solid in solids), *places)
        return by_radii(placed, solids, radii, sum(map(bound, radii)), "OVERLAPPING", told)
    if "solid" in proof:
        return verify_contact(solids, places, radii, margin, proof["solid"])
    require(not any(body in cell.solids for body in pair), "contact of a hull is none of a mesh")
    verify_static(*bodies, *(poses[body] for body in pair), proof["verdict"], proof["certificate"])
    if proof["verdict"] == "SEPARATED":
        shown = {**proof["certificate"], "margin_pairs": proof.get("margin_pairs")}
        verify_margin(*bodies, *(poses[body] for body in pair), margin, True, "SEPARATED", shown)

def verify_coverage(cell, told):
    """That certificates are about the pairs that they are said to be about; told: a PairCoverage, as in JSON."""
    require(int(told.get("covered", 0)) == len(cell.pairs), f"{len(cell.pairs)} pairs need a check")
    names = [list(told.get(name, [])) for name in ("firsts", "seconds", "rules")]
    require(len({len(values) for values in names}) == 1, "the lists of pairs are not equally long")
    said = [((a, b), rule.removeprefix("LEFT_OUT_RULE_")) for a, b, rule in zip(*names)]
    for pair, rule in said:
        known = cell.left_out.get(pair)
        require(known == rule, f"{pair} is left out by {known or 'no rule'}, and not by {rule}")
    require(said == sorted(cell.left_out.items()), "a pair is left out, and it is not said, or not in order")

def standing(cell, vertices, body, inside):
    """What is in contact for a body: itself, or the hull of points in it if it is curved."""
    require((inside is not None) == (body in cell.curved), f"points in body {body} are needed if it is curved, and only then")
    if inside is not None:
        require(inside, "no list of points")
        verify_inside(*cell.curved[body], inside)
        return Solid([tuple(point) for point in inside])
    solid, known = cell.solid(body, vertices), set(map(tuple, cell.bodies[body][2]))
    require(all(tuple(corner) in known for corner in solid.points), f"a corner of {body} is none of its points")
    return solid

CONTACTS = {"touching": "TOUCHING", "touchingPieces": "TOUCHING", "crossing": "OVERLAPPING",
            "innerPoint": "OVERLAPPING", "innerPiece": "OVERLAPPING", "overlappingPieces": "OVERLAPPING"}

def verify_contact(solids, poses, radii, margin, proof):
    """That two bodies one of which at least is a mesh or rounded are in contact, or within the margin; `proof`: a
    SolidProof."""
    if set(proof) == {"marginPairs"}:
        pair = Pair(*(solid.points for solid in solids), *poses)
        reach = sum(map(bound, (*radii, margin)))
        near = compared(pair, solids, vertex_pairs(proof["marginPairs"]), 3, reach) <= 0
        return require(near, "the pairs are farther away than the margin")
    told = {name: part for name, part in proof.items() if name != "marginPairs"}
    verdict = CONTACTS.get(only(told)[0])
    require(verdict, "what is separated is not in contact")
    verify_solids(*solids, *poses, verdict, told)
