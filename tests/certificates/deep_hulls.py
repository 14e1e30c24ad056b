#!/usr/bin/env python3
"""Writes cases of large hulls that overlap, for the certificates of their depths: two hulls of 200 to 2000
vertices each (balls, ellipsoids, lenses, rounded boxes), from a shallow cut to one centre. Seeded.
usage: deep_hulls.py OUT.jsonl [--seed 1]
then:  clearance conformance OUT.jsonl --answers A.jsonl; clearance verify OUT.jsonl A.jsonl
"""
import argparse, json, math, random


def ball(draw, count, radii, power=1.0):
    """Points on an ellipsoid; with a power below 1 it is nearer to a box."""
    points = []
    while len(points) < count:
        v = [draw.gauss(0, 1) for _ in range(3)]
        length = math.hypot(*v)
        v = [math.copysign(abs(x / length) ** power, x) for x in v]
        size = sum(abs(x) ** (2 / power) for x in v) ** (power / 2)
        points.append([r * x / size for r, x in zip(radii, v)])
    return points


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw, number = random.Random(options.seed), 0
    shapes = {"ball": ((1, 1, 1), 1.0), "egg": ((1, 0.7, 1.6), 1.0), "lens": ((1, 1, 0.2), 1.0), "box": ((1, 1.2, 0.8), 0.5)}
    with open(options.out, "w") as out:
        out.write('{"type":"meta"}\n')
        for count in (200, 500, 1000, 2000):
            for name, (radii, power) in shapes.items():
                for share in (0.95, 0.5, 0.1, 0.0):  # of the way from one centre to where they part
                    for body in (number, number + 1):
                        points = ball(draw, count, radii, power)
                        out.write(json.dumps({"type": "hull", "id": body, "points": points}) + "\n")
                    way = [draw.gauss(0, 1) for _ in range(3)]
                    far = share * 1.7 * min(radii) / math.hypot(*way)
                    turn = [draw.gauss(0, 1) for _ in range(4)]
                    out.write(json.dumps({
                        "type": "case", "id": f"deep-{name}-{count}-{share}", "family": f"deep_{name}", "kind": "static",
                        "P": number, "Q": number + 1, "tP": [0, 0, 0], "qP": [1, 0, 0, 0], "tQ": [far * x for x in way],
                        "qQ": turn, "verdict": "collide", "touching": False, "size": 2 * max(radii), "world": 4.0}) + "\n")
                    number += 2


if __name__ == "__main__":
    main()
