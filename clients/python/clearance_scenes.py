#!/usr/bin/env python3
"""The scene of a session as certificates of edges are about it: a `clearance_edges.Cell` of what an answer tells.

An answer about a scene of a session has `scene_cell` if it has certificates: a cell that says the same as the session,
and which body of the session each of its bodies is. `read` makes the cell of that; `contact` names the two bodies of a
contact by their numbers there. Whether the cell is what the session had, whoever knows the session sees from `body_ids`.
"""
import clearance_edges as ce
from clearance_poses import require
from clearance_verify import matrix_pose, quaternion_pose


def pose(told):
    told = told or {}
    at = [float(told.get("translation", {}).get(k, 0.0)) for k in "xyz"]
    if "rotationMatrix" in told:
        return matrix_pose(at, [float(x) for x in told["rotationMatrix"]["rows"]])
    turn = told.get("rotation", {"w": 1.0})
    return quaternion_pose(at, tuple(float(turn.get(k, 0.0)) for k in "wxyz"))

def box(sizes, radius=0.0):
    half = [0.5 * float(sizes.get(k, 0.0)) for k in "xyz"]
    corners = [tuple(h if i >> k & 1 else -h for k, h in enumerate(half)) for i in range(8)]
    return ce.Rounded(corners, radius) if radius else corners

def points_of(xyz):
    require(xyz and len(xyz) % 3 == 0, "no list of points")
    return [tuple(map(float, xyz[k:k + 3])) for k in range(0, len(xyz), 3)]

def rounded(told):
    """A RoundedShape."""
    radius, unsaid = float(told.get("radius", 0.0)), 0.0 if "scale" in told else 1.0
    scale = [float(told.get("scale", {}).get(k, unsaid)) for k in "xyz"]
    require(all(scale), "a scale of 0")
    for form in ("cylinder", "cone"):
        if form in told:
            across = float(told[form].get("radiusXy", 0.0))
            half = [across, across, 0.5 * float(told[form].get("length", 0.0))]
            break
    else:
        form, half = "ellipsoid", [float(told.get("ellipsoid", {}).get(k, 0.0)) for k in "xyz"]
    if form in told:
        made = [h * s for h, s in zip(half, scale)]
        return ce.Curved(form, [abs(h) if form != "cone" or k < 2 else h for k, h in enumerate(made)], radius)
    if "vertices" in told:
        points = points_of(told["vertices"]["xyz"])
    elif "box" in told:
        points = box(told["box"])
    else:
        require("halfSpace" not in told, "half spaces are not read here")
        half = 0.5 * float(told.get("length", 0.0))
        points = [(0.0, 0.0, -half), (0.0, 0.0, half)] if half else [(0.0, 0.0, 0.0)]
    points = [tuple(x * s for x, s in zip(point, scale)) for point in points]
    return ce.Rounded(points, radius) if radius else points

def shape(told, registered):
    """What a body of a cell is; `registered` gives those that are named by id."""
    if "box" in told:
        return box(told["box"])
    if "vertices" in told:
        return points_of(told["vertices"]["xyz"])
    if "rounded" in told:
        return rounded(told["rounded"])
    if "cloud" in told:
        cloud = told["cloud"]
        return ce.cloud(points_of(cloud.get("xyz") or cloud.get("xyzSingle")), float(cloud.get("radius", 0.0)))
    key = told.get("id") or told.get("alias")
    require(key in registered, f"the shape {key} is not given")
    return registered[key]

def one_of(bodies, told, field):
    """The one that a CellBody means, of bodies with their names: by its index, or by its name if no other has it."""
    at = f"{field}Index"
    require((field in told) != (at in told), f"a body is meant by {field} or by {at}")
    if at in told:
        require(0 <= int(told[at]) < len(bodies), f"{at}: there are fewer")
        return bodies[int(told[at])][1]
    meant = [body for name, body in bodies if name and name == told[field]]
    require(len(meant) == 1, f"{field}: {len(meant)} have the name {told[field]!r}")
    return meant[0]

def read(scene_cell, robots, registered=None, scope="ALL"):
    """The cell that an answer tells. scene_cell: a SceneCell, as in JSON. robots: `clearance_edges.Robot`s by id.
    registered: what is registered, by id, as `clearance_edges.Cell` takes what stands still."""
    told = scene_cell["cell"]
    placed, carried, paddings, loads = [], [], {}, []
    for k, one in enumerate(told["robots"]):
        require(one.get("robotId") in robots, f"the robot {one.get('robotId')} is not given")
        robot = robots[one["robotId"]]
        placed.append((robot, pose(one.get("base"))))
        for padding in one.get("paddings", []):
            require(padding["link"] in robot.links, f"the robot has no link {padding['link']}")
            paddings["link", k, padding["link"]] = float(padding.get("padding", 0.0))
        own = []
        for load in one.get("attached", []):
            own.append((load["body"].get("name", ""), ("carried", len(carried))))
            paddings[own[-1][1]] = float(load["body"].get("padding", 0.0))
            body, at = shape(load["body"], registered or {}), pose(load["body"].get("pose"))
            carried.append(ce.Carried(k, load["link"], at, body, load.get("touchLinks", [])))
        loads.append(own)
    still, obstacles = [], []
    for k, one in enumerate(told.get("obstacles", [])):
        still.append((shape(one, registered or {}), pose(one.get("pose"))))
        obstacles.append((one.get("name", ""), ("still", k)))
        paddings["still", k] = float(one.get("padding", 0.0))
    def named(body):
        if "obstacle" in body or "obstacleIndex" in body:
            return one_of(obstacles, body, "obstacle")
        robot = int(body.get("robot", 0))
        require(0 <= robot < len(placed), f"the cell has no robot {robot}")
        if "attached" in body or "attachedIndex" in body:
            return one_of(loads[robot], body, "attached")
        return ("link", robot, *one_of([(link, (link,)) for link in placed[robot][0].links], body, "link"))
    pair = lambda both: (named(both["first"]), named(both["second"]))
    margins = {pair(one["pair"]): float(one.get("margin", 0.0)) for one in told.get("pairMargins", [])}
    ignored = [pair(both) for both in told.get("ignoredPairs", [])]
    adjacent = bool(told.get("adjacentLinks", False))
    cell = ce.Cell(placed, still, carried, ignored, paddings, adjacent, scope, margins)
    require(len(scene_cell.get("bodyIds", [])) == len(cell.bodies), "body_ids are not one for each body")
    return cell

def contact(answer, scene_cell, at):
    """The numbers of the two bodies of the contact at this place in `near_indices`; answer: as in JSON."""
    ids, numbers = scene_cell["bodyIds"], []
    for name in ("nearFirsts", "nearSeconds"):
        require(len(scene_cell.get(name, [])) == len(answer.get(name, [])), f"{name} are not as many as in the answer")
        number = scene_cell[name][at]
        require(number < len(ids) and ids[number] == answer[name][at], f"{name}: another body than that of the contact")
        numbers.append(number)
    return tuple(numbers)
