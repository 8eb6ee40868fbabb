#!/usr/bin/env python3
"""Trains the demonstration model moons.reference from nothing, and writes files to try it with.

Two half circles of points that reach into each other: a network of 2, 12 and 2 numbers learns which one a point belongs
to. Plain Python, no packages, the same files every time. Usage: make_moons.py [FOLDER]
"""
import math
import pathlib
import random
import struct
import sys

HIDDEN, STEPS, RATE = 12, 3000, 0.5


def moons(count: int, noise: float, generator: random.Random) -> list:
    """(x, y, which moon)"""
    points = []
    for i in range(count):
        angle, moon = math.pi * generator.random(), i % 2
        x, y = (math.cos(angle), math.sin(angle)) if moon == 0 else (1 - math.cos(angle), 0.5 - math.sin(angle))
        points.append((x + generator.gauss(0, noise), y + generator.gauss(0, noise), moon))
    return points


def forward(network: tuple, x: float, y: float) -> tuple:
    w1, b1, w2, b2 = network
    hidden = [max(0.0, x * w1[0][j] + y * w1[1][j] + b1[j]) for j in range(HIDDEN)]
    scores = [sum(hidden[j] * w2[j][k] for j in range(HIDDEN)) + b2[k] for k in range(2)]
    powers = [math.exp(score - max(scores)) for score in scores]
    return hidden, [power / sum(powers) for power in powers]


def train(points: list, generator: random.Random) -> tuple:
    w1 = [[generator.gauss(0, 1) for _ in range(HIDDEN)] for _ in range(2)]
    b1 = [0.0] * HIDDEN
    w2 = [[generator.gauss(0, 0.5) for _ in range(2)] for _ in range(HIDDEN)]
    b2 = [0.0, 0.0]
    network = (w1, b1, w2, b2)
    for _ in range(STEPS):
        dw1, db1 = [[0.0] * HIDDEN for _ in range(2)], [0.0] * HIDDEN
        dw2, db2 = [[0.0, 0.0] for _ in range(HIDDEN)], [0.0, 0.0]
        for x, y, moon in points:
            hidden, chances = forward(network, x, y)
            error = [chances[0] - (moon == 0), chances[1] - (moon == 1)]
            for j in range(HIDDEN):
                back = (error[0] * w2[j][0] + error[1] * w2[j][1]) if hidden[j] > 0 else 0.0
                dw1[0][j] += x * back
                dw1[1][j] += y * back
                db1[j] += back
                dw2[j][0] += hidden[j] * error[0]
                dw2[j][1] += hidden[j] * error[1]
            db2[0] += error[0]
            db2[1] += error[1]
        step = RATE / len(points)
        for weights, change in ((w1[0], dw1[0]), (w1[1], dw1[1]), (b1, db1), (b2, db2), *zip(w2, dw2)):
            for i, value in enumerate(change):
                weights[i] -= step * value
    return network


def numbers(values: list) -> str:
    return " ".join(f"{value:.7g}" for value in values)


def npy(rows: list) -> bytes:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    flat = [value for row in rows for value in row]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(flat)}f", *flat)


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    generator = random.Random(2)
    network = train(moons(200, 0.1, generator), generator)
    unseen = moons(1000, 0.1, generator)
    right = sum((forward(network, x, y)[1][1] > 0.5) == (moon == 1) for x, y, moon in unseen)
    w1, b1, w2, b2 = network
    text = f"""enginehost-reference 1
# Which of two moons a point belongs to; made by make_moons.py.
meta labels upper moon, lower moon
meta accuracy {right / len(unseen):.3f} of {len(unseen)} points not seen in training
input points [count,2]
constant w1 [2,{HIDDEN}] (
  {numbers(w1[0])}
  {numbers(w1[1])})
constant b1 [{HIDDEN}] ({numbers(b1)})
constant w2 [{HIDDEN},2] (
""" + "\n".join("  " + numbers(row) for row in w2) + f""")
constant b2 [2] ({numbers(b2)})
product1 = MatMul(points, w1)
sum1 = Add(product1, b1)
hidden = Relu(sum1)
product2 = MatMul(hidden, w2)
scores = Add(product2, b2)
chances = Softmax(scores, axis=1)
output chances [count,2]
"""
    (folder / "moons.reference").write_text(text)
    points = [(-1.0, 0.0), (0.0, 1.0), (1.0, 0.2), (0.0, 0.3), (1.0, -0.5), (2.0, 0.5)]
    (folder / "moons_points.npy").write_bytes(npy(points))
    (folder / "moons_chances.npy").write_bytes(npy([forward(network, x, y)[1] for x, y in points]))
    print(f"{right} of {len(unseen)} unseen points are right")


if __name__ == "__main__":
    main()
