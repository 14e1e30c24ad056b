"""What is given, and the contract's few recipes in IEEE f64, round to nearest, each operation in
exactly this order. All else that the verifier does is in whole numbers and fractions.
"""
import contextvars, functools, math, time
from fractions import Fraction

PATIENCE = 60.0  # seconds for one claim: a certificate can be made to take days
_end = contextvars.ContextVar("end", default=None)


class Refused(Exception):
    """The claim is not proven; the message says why."""


class TakesTooLong(Refused):
    """Nobody knows yet."""


def look_at_clock():
    if _end.get() is not None and time.monotonic() > _end.get():
        raise TakesTooLong(f"not judged within {PATIENCE:g} s (clearance_poses.PATIENCE): this proves nothing either way")


def patient(judge):
    """Ends what judges a claim after PATIENCE, with all that it calls."""
    @functools.wraps(judge)
    def limited(*claim, **options):
        token = _end.set(time.monotonic() + PATIENCE) if _end.get() is None else None
        try:
            return judge(*claim, **options)
        finally:
            if token:
                _end.reset(token)
    return limited


def require(holds, reason):
    if not holds:
        raise Refused(reason)


def finite(values, count):
    ok = isinstance(values, (list, tuple)) and len(values) == count
    require(ok and all(type(x) in (int, float) and math.isfinite(x) for x in values),
            f"{values!r} is not {count} finite numbers")
    return tuple(float(x) for x in values)


def quaternion_pose(t, q):
    """IEEE f64, round to nearest, in exactly this order: the contract of poses."""
    (w, x, y, z), t = finite(q, 4), finite(t, 3)
    n = math.sqrt(((w * w + x * x) + y * y) + z * z)
    require(1e-100 <= n <= 1e100, "the quaternion's norm is out of range")
    w, x, y, z = w / n, x / n, y / n, z / n
    return (((1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
             (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
             (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y))), t)


def axis_and_angle(start, end):
    """The documented recipe for motions to a pose, in IEEE f64 in exactly this order."""
    m = [[(a[0] * b[0] + a[1] * b[1]) + a[2] * b[2] for b in start] for a in end]
    squares = [1.0 + ((m[0][0] + m[1][1]) + m[2][2]), 1.0 + ((m[0][0] - m[1][1]) - m[2][2]),
               1.0 + ((m[1][1] - m[0][0]) - m[2][2]), 1.0 + ((m[2][2] - m[0][0]) - m[1][1])]
    odd = [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]
    even = [m[2][1] + m[1][2], m[0][2] + m[2][0], m[1][0] + m[0][1]]
    forms = ((squares[0], *odd), (odd[0], squares[1], even[2], even[1]),
             (odd[1], even[2], squares[2], even[0]), (odd[2], even[1], even[0], squares[3]))
    w, x, y, z = forms[squares.index(max(squares))]
    if w < 0 or w == 0 and next((c for c in (x, y, z) if c != 0), 0) < 0:
        w, x, y, z = -w, -x, -y, -z

    def arc(s):
        for _ in range(3):
            s = s / (1.0 + math.sqrt(1.0 + s * s))
        square, series = s * s, 1.0 / 17.0
        for k in (15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0):
            series = 1.0 / k - square * series
        return 8.0 * (s * series)

    n = math.sqrt((x * x + y * y) + z * z)
    if not n > 0:
        return (0.0, 0.0, 0.0), 0.0
    return (x, y, z), 2.0 * (arc(n / w) if n <= w else 1.5707963267948966 - arc(w / n))


def turn_of(pose, motion):
    """Axis and angle of a motion to a pose: as named (those of the body that this is a part of), or of
    its own two poses."""
    return motion[2] if len(motion) == 4 else axis_and_angle(pose[0], motion[1][0])


def turn_of_spin(spin):
    """Axis and angle of a spin (`ToPoseMotion.spin`), in IEEE f64 in exactly this order: the `turn` of a motion
    ("to_pose", end, turn, pivot)."""
    x, y, z = finite(spin, 3)
    return (x, y, z), math.sqrt((x * x + y * y) + z * z)


# ---- contacts of turning bodies that only exact numbers decide
def rate_along(pose, motion, normal):
    """How fast the height along `normal` of every point changes, exactly, if no rotation touches it."""
    axis, angle, is_kept = (0.0, 0.0, 0.0), 0.0, True
    along = lambda v: sum(n * Fraction(x) for n, x in zip(normal, v))
    if motion[0] == "to_pose":
        end = motion[1]
        axis, angle = turn_of(pose, motion)
        is_kept = [along(column) for column in zip(*pose[0])] == [along(column) for column in zip(*end[0])]
        rate = along(end[1]) - along(pose[1])
    else:
        rate = along(motion[1])
        if motion[0] == "screw":
            axis, angle = motion[2:4]
    a, n = [Fraction(x) for x in axis], normal
    is_alone = angle == 0 or all(a[k - 1] * n[k] == a[k] * n[k - 1] for k in range(3))
    return rate if is_kept and is_alone else None


def inside_in_a_plane(points, error):
    """Whether the hull of points, each coordinate off by at most `error`, surely has the origin in its
    interior: every line through the origin and one of them has some surely on both sides."""
    most = max(abs(x) for d in points for x in d) + 1
    doubt = 2 * ((most + error) ** 2 - most ** 2)
    sides = ([a[0] * b[1] - a[1] * b[0] for b in points] for a in points)
    return all(max(side) > doubt and min(side) < -doubt for side in sides)


def meets_in_a_plane(start, unit, poses, motions, t, found, error):
    """Whether the differences have exactly 0 along a direction at t that no rotation touches, a
    coordinate axis or one that a body turns about, and the origin strictly inside in the plane across
    it, seen in two other coordinates. `start`: the exact ones at t = 0 in 1/unit metres."""
    normals = [tuple(int(k == axis) for k in range(3)) for axis in range(3)]
    normals += [tuple(map(Fraction, motion[2])) for motion in motions if motion[0] == "screw"]
    for normal in normals:
        rates = [rate_along(pose, motion, normal) for pose, motion in zip(poses, motions)]
        if None in rates or not any(normal):
            continue
        k = max(range(3), key=lambda k: abs(normal[k]))
        moved = (rates[1] - rates[0]) * unit * Fraction(t)
        flat = [(d[k - 2], d[k - 1]) for d in found]
        heights = [sum(n * x for n, x in zip(normal, d)) + moved for d in start]
        if not any(heights) and inside_in_a_plane(flat, error):
            return True
    return False


def differences_at_end(bodies, poses, motions, pairs):
    """Exactly, if both bodies end exactly at given poses: motions to a pose, and translations."""
    placed = []
    for body, (rows, t), motion, at in zip(bodies, poses, motions, zip(*pairs)):
        by = (0.0, 0.0, 0.0)
        if motion[0] == "to_pose":
            rows, t = motion[1]
        elif motion[0] == "linear" or motion[3] == 0:
            by = motion[1]
        else:
            return None
        placed.append([[sum((Fraction(r) * Fraction(x) for r, x in zip(row, body[i])),
                            Fraction(a) + Fraction(b)) for row, a, b in zip(rows, t, by)] for i in at])
    return [tuple(y - x for x, y in zip(p, q)) for p, q in zip(*placed)]


# ---- what a rotation leaves as it is
def exact_cross(a, b):
    return tuple(a[k - 2] * b[k - 1] - a[k - 1] * b[k - 2] for k in range(3))


def between(a, b):
    return tuple(Fraction(y) - Fraction(x) for x, y in zip(a, b))


def travel_if_alike(poses, motions):
    """How far Q travels relative to P as seen from either, if both turn alike: by one angle about
    parallel axes, what is between the pivots and between the velocities being along them. Every
    difference of two points is then Rot(t) (d + t travel)."""
    if [motion[0] for motion in motions] != ["screw", "screw"]:
        return None
    (u, a, angle), (w, b, other) = [motion[1:4] for motion in motions]
    a, b = [tuple(map(Fraction, axis)) for axis in (a, b)]
    pivots = [pose[1] if motion[4] is None else motion[4] for pose, motion in zip(poses, motions)]
    same_way = sum(x * y for x, y in zip(a, b)) > 0  # turning about the opposite is turning back
    along = (b, between(*pivots), between(u, w))
    is_alike = angle == (other if same_way else -other) and any(a) and any(b)
    return between(u, w) if is_alike and not any(any(exact_cross(a, v)) for v in along) else None


def travel_if_untouched(bodies, poses, motions, pairs):
    """The travel of pairs none of whose vertices a rotation touches: those on the axis of a body."""
    velocities = []
    for body, (rows, t), motion, named in zip(bodies, poses, motions, zip(*pairs)):
        if motion[0] == "to_pose":
            if motion[1][0] != rows or turn_of((rows, t), motion)[1] != 0:
                return None
            velocities.append(between(t, motion[1][1]))
            continue
        if motion[0] == "screw" and motion[3] != 0:
            pivot, axis = t if motion[4] is None else motion[4], tuple(map(Fraction, motion[2]))
            for i in named:
                arm = [sum((Fraction(r) * Fraction(x) for r, x in zip(row, body[i])), c)
                       for row, c in zip(rows, between(pivot, t))]
                if any(exact_cross(axis, arm)):
                    return None
        velocities.append(tuple(map(Fraction, motion[1])))
    return between(*velocities)
