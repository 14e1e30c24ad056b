#!/usr/bin/env python3
"""Asks an exact oracle that shares nothing with this project about pairs of the benches' scenes.

    cargo bench --bench agreement -- 10000:1:first_contacts game:1:chosen sample=sample.jsonl
    python3 benches/agreement.py sample.jsonl [../shared/conformance]

The sample holds a pair of bodies a line: their poses in two frames, as they were sent, and what a session told of them.
The folder holds the oracle, `exact.py` and `screw.py`; it needs numpy and gmpy2. Of every line:

- both verdicts are those of exact arithmetic, touching apart from overlapping;
- the events are those that the two verdicts call for: a beginning, an end, or both or neither;
- where first contacts were asked, a contact that began was free at the lower end of its bracket and in contact at the
  upper one, both decided in exact arithmetic on points of 240 bits on the stated way, and the oracle's own search for
  the first contact, from cold, ends in the bracket; one that ended was in contact at the lower end and free at the
  upper one, and the same search, backwards in time, ends in the bracket;
- and where nothing is told of two bodies that are apart in both frames, the oracle finds no contact on the way.

The stated way is that of a motion to a pose: what the screw between the two leaves over, a rounding, is in the points of
240 bits, and not in the oracle's search, so brackets may miss that by SLACK. Ends with an error if one is wrong."""
import collections, json, pathlib, sys

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else '../shared/conformance').resolve()))
sys.path.insert(1, str(TOP / 'clients' / 'python'))
import exact, screw
from clearance_poses import axis_and_angle
from exact import gmpy2, mpfr, mpz

# Of the fraction of a frame: what a path that is off by a rounding (1e-15 m) may shift a contact, at 1 mm a frame.
SLACK = 1e-12
# The oracle's search takes a pose by its quaternion; here it gets the matrix.
screw.quat_to_R = lambda rotation: rotation


def pose(told):
    """Rotation and translation, by the documented formula."""
    if 'q' in told:
        return exact.quat_to_R(told['q']), told['t']
    return [told['R'][3 * i:3 * i + 3] for i in range(3)], told['t']


class Way:
    """A body on its way from one pose to another."""

    def __init__(self, points, start, end):
        self.points, self.ends = points, (start, end)
        axis, angle = axis_and_angle(start[0], end[0])
        velocity = [b - a for a, b in zip(start[1], end[1])]
        # For the oracle's search, and for this one's numbers of 400 bits.
        self.moving = screw.Moving(points, start[0], start[1], velocity, axis, angle)
        self.exact_ends = [[[mpfr(x) for x in t] for t in self.placed(k)] for k in (0, 1)]

    def placed(self, k):
        """Points in the world, exactly."""
        (ints, e), scale = exact.world_ints(self.points, *self.ends[k]), None
        scale = exact.mpq(1, mpz(1) << e)
        return [[c * scale for c in point] for point in ints]

    def at(self, t):
        """Points of 240 bits at this fraction of the frame."""
        t = mpfr(t)
        start, end = self.moving, self.exact_ends[1]
        here, there = (screw_at(self, s) for s in (t, mpfr(1)))
        two = gmpy2.exp2(mpfr(screw.SH))
        return [tuple(mpz(gmpy2.rint((h + t * (e - s)) * two)) for h, e, s in zip(*rows))
                for rows in zip(here, end, there)]


def screw_at(way, t):
    """The screw without what it leaves over, in 400 bits."""
    turn = screw._rot_mp(way.moving.axis, mpfr(way.moving.angle) * t)
    (_, t0), (_, t1) = way.ends
    centre = [mpfr(a) + (mpfr(b) - mpfr(a)) * t for a, b in zip(t0, t1)]
    return [[sum(turn[i][k] * y[k] for k in range(3)) + centre[i] for i in range(3)] for y in way.moving.Ymp]


def verdict_of(p, q):
    problem = exact.Problem(p.points, *p.ends[-1], q.points, *q.ends[-1])
    if not problem.gjk()['collide']:
        return 'VERDICT_SEPARATED'
    return 'VERDICT_TOUCHING' if problem.interior_radius_bounds()[0] == 0 else 'VERDICT_OVERLAPPING'


def meets(p, q, t):
    """Whether they are in contact at this fraction of the frame."""
    return exact.Problem.from_ints(p.at(t), screw.SH, q.at(t), screw.SH).gjk()['collide']


def is_in(found, lower, upper):
    """Whether the contact that the oracle found can be in this bracket."""
    return found['result'] == 'hit' and found['t_lb'] <= upper + SLACK and found['t_ub'] >= lower - SLACK


def judge(case):
    """What is wrong, or nothing, and what was judged."""
    bodies = [(body['points'], [pose(one) for one in body['poses']]) for body in case['bodies']]
    forwards = [Way(points, *poses) for points, poses in bodies]
    backwards = [Way(points, *poses[::-1]) for points, poses in bodies]
    for name, ways, verdict in zip(('before', 'now'), (backwards, forwards), case['verdicts']):
        if verdict_of(*ways) != verdict:
            return f'the verdict {name}', None
    apart = [verdict == 'VERDICT_SEPARATED' for verdict in case['verdicts']]
    kinds = [event['kind'].removeprefix('CONTACT_EVENT_KIND_') for event in case['events']]
    if kinds not in {(True, True): ([], ['BEGAN', 'ENDED'], ['UNDECIDED']), (True, False): (['BEGAN'],),
                     (False, True): (['ENDED'],), (False, False): ([],)}[tuple(apart)]:
        return f'the events {kinds}', None
    if not case['first_contacts']:
        return None, 'verdicts alone'
    if not kinds and apart == [True, True]:
        found = screw.toi_screw(*(way.moving for way in forwards))
        if found['result'] == 'hit':
            return f'the contact at {found["t"]}, of which nothing is told,', None
        return None, 'no contact on the way'
    for kind, event in zip(kinds, case['events']):
        lower, upper = event['time']
        if kind == 'BEGAN':
            if meets(*forwards, lower) or not meets(*forwards, upper):
                return f'an end of the bracket [{lower}, {upper}] of what began', None
            if not is_in(screw.toi_screw(*(way.moving for way in forwards)), lower, upper):
                return f'the bracket [{lower}, {upper}] of what began', None
        if kind == 'ENDED':
            if meets(*forwards, upper) or lower > 0 and not meets(*forwards, lower):
                return f'an end of the bracket [{lower}, {upper}] of what ended', None
            if lower > 0 and not is_in(screw.toi_screw(*(way.moving for way in backwards)), 1 - upper, 1 - lower):
                return f'the bracket [{lower}, {upper}] of what ended', None
    return None, ' and '.join(kinds).lower() or 'in contact before and now'


def main():
    wrong, judged = 0, collections.Counter()
    with open(sys.argv[1]) as lines:
        for count, line in enumerate(lines, 1):
            case = json.loads(line)
            problem, what = judge(case)
            judged[what] += 1
            if problem:
                wrong += 1
                print(f'line {count}: {problem} is wrong: {case["scene"]}, frame {case["frame"]}, bodies {case["pair"]}')
    told = ', '.join(f'{count} {what}' for what, count in judged.most_common() if what)
    print(f'{sum(judged.values())} pairs ({told}), {wrong} wrong')
    sys.exit(bool(wrong or not judged))


if __name__ == '__main__':
    main()
