"""A robot's path as an SVG: the outlines of its hulls at some of its configurations, among the things around it."""
from planner import coal, np, pin

# Looks from the front left and from above; right, up and towards the eye.
EYE = np.array([.75, -.55, .42])
EYE /= np.linalg.norm(EYE)
RIGHT = np.cross([0, 0, 1], EYE)
RIGHT /= np.linalg.norm(RIGHT)
UP = np.cross(EYE, RIGHT)
SCALE, WIDTH, HEIGHT = 330, 860, 640
CUBE = np.array([[x, y, z] for x in (-.5, .5) for y in (-.5, .5) for z in (-.5, .5)])
FILLS = {'start': '#2b8a5a', 'between': '#8fa6bf', 'goal': '#2f6db5', 'thing': '#c9b79c'}


def outline(points):
    """The corners of the convex hull of points in the picture, in order (Andrew's monotone chain)."""
    points = sorted(map(tuple, points))
    chains = []
    for ordered in (points, points[::-1]):
        chain = []
        for x, y in ordered:
            while len(chain) > 1 and ((chain[-1][0] - chain[-2][0]) * (y - chain[-2][1])
                                      <= (chain[-1][1] - chain[-2][1]) * (x - chain[-2][0])):
                chain.pop()
            chain.append((x, y))
        chains += chain[:-1]
    return chains


def shape(corners, fill, opacity):
    """A hull's outline and how near it is to the eye."""
    flat = np.column_stack([WIDTH * .48 + SCALE * corners @ RIGHT, HEIGHT * .86 - SCALE * corners @ UP])
    text = ' '.join(f'{x:.1f},{y:.1f}' for x, y in outline(flat))
    drawn = f'<polygon points="{text}" fill="{fill}" fill-opacity="{opacity}" stroke="{fill}" stroke-opacity="{min(1, 2.5 * opacity):.2f}"/>'
    return float((corners @ EYE).mean()), drawn


def corners_of(geometry):
    """The vertices of a hull of the peer's model in its own frame."""
    if isinstance(geometry, coal.Box):
        return 2 * CUBE * geometry.halfSide
    return np.array([geometry.point(i) for i in range(geometry.num_points)])


def arm(peer, q, fill, opacity):
    """The robot's hulls at the joint values q."""
    placed = pin.GeometryData(peer.geometry)
    pin.updateGeometryPlacements(peer.model, peer.data, peer.geometry, placed, q[:peer.model.nq])
    for held, at in zip(peer.geometry.geometryObjects, placed.oMg):
        if not held.name.startswith('box'):
            yield shape(corners_of(held.geometry) @ at.rotation.T + at.translation, fill, opacity)


def spread(waypoints, count=14):
    """Configurations at equal distances along the path, its ends among them."""
    ways = np.cumsum([0] + [np.abs(b - a).sum() for a, b in zip(waypoints, waypoints[1:])])
    wanted = np.linspace(0, ways[-1], count)
    return np.column_stack([np.interp(wanted, ways, joint) for joint in waypoints.T])


def draw(peer, things, waypoints):
    """The whole picture."""
    shapes = [shape(CUBE * size @ at[:3, :3].T + at[:3, 3], FILLS['thing'], .55) for size, at in things]
    path = spread(waypoints)
    for q in path[1:-1]:
        shapes += arm(peer, q, FILLS['between'], .13)
    shapes += arm(peer, path[0], FILLS['start'], .75)
    shapes += arm(peer, path[-1], FILLS['goal'], .75)
    drawn = '\n'.join(text for _, text in sorted(shapes, key=lambda each: each[0]))
    words = f'A path of {len(waypoints) - 1} edges, each proven free: from green to blue.'
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">\n'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n{drawn}\n'
            f'<text x="20" y="{HEIGHT - 18}" font-size="16" fill="#333">{words}</text>\n</svg>\n')
