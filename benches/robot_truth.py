#!/usr/bin/env python3
"""Asks an exact oracle that shares nothing with this project about the nearest pairs of configurations.

    cargo bench --bench robot_truth -- 80000 sample.jsonl
    python3 benches/robot_truth.py sample.jsonl [../shared/conformance]

The sample holds two placed bodies a line, the verdict and the bracket of the signed clearance. The folder holds the
oracle, `exact.py`; it needs numpy and gmpy2. Verdicts have to be those of exact arithmetic, and distances to lie in
their brackets. Ends with an error if one is wrong."""
import fractions, json, pathlib, sys

sys.path.insert(0, str(pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else '../shared/conformance').resolve()))
import exact


def body(placed, exponent):
    """The vertices in integers, in units of 2^-exponent."""
    points, own = placed
    return exact.Body([tuple(c << (exponent - own) for c in point) for point in points])


def judge(case):
    placed = [exact.world_ints(case[k]['x'], case[k]['R'], case[k]['t']) for k in 'pq']
    exponent = max(own for _, own in placed)
    p, q = (body(one, exponent) for one in placed)
    found = exact.gjk(p, q)
    if found['collide'] != (case['verdict'] != 'Separated'):
        return 'the verdict'
    if not found['collide']:
        v = found['V']
        squared = fractions.Fraction(int(exact.dot(v, v)), int(found['D']) ** 2) / fractions.Fraction(4) ** exponent
        if not fractions.Fraction(case['lower']) ** 2 <= squared <= fractions.Fraction(case['upper']) ** 2:
            return 'the distance'
    return None


def main():
    wrong = apart = count = 0
    with open(sys.argv[1]) as lines:
        for count, line in enumerate(lines, 1):
            case = json.loads(line)
            apart += case['verdict'] == 'Separated'
            if problem := judge(case):
                wrong += 1
                print(f'line {count}: {problem} is wrong: {case["verdict"]} [{case["lower"]}, {case["upper"]}]')
    print(f'{count} pairs, {apart} apart, {wrong} wrong')
    sys.exit(bool(wrong or not count))


if __name__ == '__main__':
    main()
