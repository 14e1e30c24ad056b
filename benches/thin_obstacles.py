#!/usr/bin/env python3
"""What sampling misses among thin things, and whether the proofs of `CheckEdges` miss anything.

    python3 benches/thin_obstacles.py [--server BINARY] [--edges N]

A Panda among sheets of 2 mm and wires of 2 by 2 mm. Random straight joint paths of 0.2 to 1 and of 2 to 6 rad (in the
sum over all joints) are proven free or in contact by `CheckEdges`, and sampled at 11, 51 and 201 configurations, whose
verdicts are exact. The two may disagree in one way only: a path in contact of which no sample is. Every path of which
201 samples see nothing is then sampled 100,000 times between its ends; where even these see nothing, the configuration
of the first contact is asked about by itself, and coal gives a second opinion of it. Packages are those of `planner.py`.
"""
import argparse, dataclasses, os, subprocess, sys, tempfile

import planner
from planner import TARGET, TOP, np

SAMPLES = (11, 51, 201)
FINE = 100_000
AT_ONCE = 50_000


def things(count=60, seed=7):
    """Sheets and wires where the arm moves, as `planner.boxes` gives boxes."""
    rng = np.random.default_rng(seed)
    sizes = [rng.permutation([.3, .3, .002] if i % 2 else [.5, .002, .002]) for i in range(count)]
    return [(size, at) for size, (_, at) in zip(sizes, planner.boxes(count, seed))]


class Judge:
    """The service, asked about many configurations and about paths."""

    def __init__(self, service, cell):
        self.service, self.cell = service, cell
        self.separated = service.geometry.VERDICT_SEPARATED
        outcome = service.geometry
        self.free, self.contact = outcome.OUTCOME_NO_CONTACT, outcome.OUTCOME_CONTACT

    def hits(self, configurations):
        """Which of the configurations are in contact."""
        hit = []
        for k in range(0, len(configurations), AT_ONCE):
            values = configurations[k:k + AT_ONCE].ravel()
            # A sample may be beyond a joint's limit by a rounding; it is answered all the same.
            request = self.service.pb.CheckConfigurationsRequest(cell=self.cell, values=values, report_limits=True)
            hit.append(np.array(self.service.robots.CheckConfigurations(request).verdicts) != self.separated)
        return np.concatenate(hit)

    def sampled(self, a, b, count):
        """Which paths are in contact at one of `count` samples."""
        t = np.linspace(0, 1, count)[:, None]
        return np.array([self.hits(start + t * (end - start)).any() for start, end in zip(a, b)])

    def paths(self, a, b):
        """Each path's outcome, and at which t it is in contact; NaN where it is not."""
        request = self.service.pb.CheckEdgesRequest(cell=self.cell, starts=a.ravel(), ends=b.ravel())
        answer = self.service.robots.CheckEdges(request)
        at = np.full(len(a), np.nan)
        at[np.array(answer.near_indices, dtype=int)] = answer.contact_at
        return np.array(answer.outcomes), at


@dataclasses.dataclass
class Confirmed:
    """How contacts that 201 samples do not see were confirmed."""
    finely: int = 0
    exactly: int = 0
    by_coal: int = 0
    not_at_all: int = 0


def confirm(judge, peer, a, b, at):
    """Looks finely, then exactly, at paths in contact that samples did not see."""
    seen = Confirmed()
    for start, end, t in zip(a, b, at):
        touching = start + t * (end - start)
        seen.by_coal += bool(peer.collides(touching[:peer.model.nq]))
        if judge.sampled([start], [end], FINE + 1)[0]:
            seen.finely += 1
        elif judge.hits(touching[None])[0]:
            seen.exactly += 1
        else:
            seen.not_at_all += 1
    return seen


def compare(judge, peer, count):
    """Whether anything was wrong: a path proven free that a sample finds in contact, or a contact that nothing confirms."""
    wrong = 0
    for least, most in ((.2, 1), (2, 6)):
        a, b = planner.edges(count, least, most)
        start_free = ~judge.hits(a)
        a, b = a[start_free], b[start_free]
        outcomes, at = judge.paths(a, b)
        free, contact = outcomes == judge.free, outcomes == judge.contact
        undecided = len(a) - free.sum() - contact.sum()
        print(f'{len(a)} paths of {least} to {most} rad from a free configuration: {free.sum()} proven free, '
              f'{contact.sum()} in contact, {undecided} undecided')
        for samples in SAMPLES:
            hit = judge.sampled(a, b, samples)
            missed, false = contact & ~hit, free & hit
            wrong += int(false.sum())
            print(f'  {samples} samples miss {missed.sum()} of {contact.sum()} contacts; '
                  f'of the paths proven free they find {false.sum()} in contact', flush=True)
        seen = confirm(judge, peer, a[missed], b[missed], at[missed])
        wrong += seen.not_at_all
        print(f'  of the {missed.sum()} contacts that {SAMPLES[-1]} samples miss, {FINE:,} samples find {seen.finely}; at the '
              f'configuration of the contact {seen.exactly} others are so exactly, {seen.not_at_all} are not; '
              f'coal sees {seen.by_coal} of all there')
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--server', default=str(TARGET / 'release' / 'clearance'))
    parser.add_argument('--edges', type=int, default=20_000, help='of at most 1 rad, and as many of 2 to 6')
    asked = parser.parse_args()
    if not os.path.exists(asked.server):
        subprocess.run(['cargo', 'build', '--release', '--quiet'], cwd=TOP, check=True)
    with tempfile.TemporaryDirectory() as scratch:
        service = planner.Service(asked.server, scratch)
        try:
            scene = things()
            judge, peer = Judge(service, service.cell(scene)), planner.Peer(scene, scratch)
            sys.exit(1 if compare(judge, peer, asked.edges) else 0)
        finally:
            service.stop()


if __name__ == '__main__':
    main()
