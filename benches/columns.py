#!/usr/bin/env python3
"""How fast are map, filter, reduce, sum and queries over columns, beside numpy, Polars and plain loops?

    benches/columns.py [--sizes N,N,...] [--python PYTHON] [--reference TEXTS]

All contestants compute the same from the same kind of numbers, within a process and without reading or printing: scl by
`benches/columns.rs` with one thread and with two, the plain loops of Rust there, numpy with one thread and Polars with one and two in a
PYTHON that has them (`pip install numpy polars`). Rounds are interleaved, each figure is the shortest of its rounds, and the spread is
what the slowest round took more, for the machine may be shared. A ratio below 1 means that scl is faster. TEXTS is the reference
implementation's command (`pip install vre-language`); it gets 2,000 elements, and its start is taken off.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

RIVALS = """
import sys, time
import numpy as np
try:
    import polars as pl
except ImportError:
    pl = None

def best(run, size):
    times = []
    for _ in range(max(7, min(400, 20_000_000 // size))):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)

threads = sys.argv[1]
for size in map(int, sys.argv[2:]):
    numbers = np.random.default_rng(1).uniform(0, 1, size)
    x, t = numbers * 5 - 2, numbers * 200 + 300
    programs = {
        "square": lambda: x**2 + 1,
        "law": lambda: 1e13 * np.exp(-1 * 0.8 / (8.617e-5 * t)),
        "positive": lambda: x[x > 0],
        "total": lambda: x.sum(),
        "both": lambda: x * t + t / 2,
        "query": None,
    }
    for name, run in programs.items():
        if run and threads == "1":
            print("numpy-" + name, size, best(run, size))
    if pl is not None:
        frame = pl.DataFrame({"x": x, "t": t})
        both = (pl.col("x") * pl.col("t") + pl.col("t") / 2).alias("both")
        query = (pl.col("x") > 0.5) & (pl.col("t") < 400)
        print("polars-both", size, best(lambda: frame.select(both), size))
        print("polars-query", size, best(lambda: frame.filter(query), size))
"""


def build():
    command = ["cargo", "build", "--release", "--bench", "columns", "--message-format=json"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    messages = map(json.loads, output.splitlines())
    return next(message["executable"] for message in messages if message.get("target", {}).get("name") == "columns" and message.get("executable"))


def measure(command, threads):
    limits = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")}
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **limits})
    if result.returncode != 0:
        raise SystemExit(f"{command[0]} failed:\n{result.stderr[-2000:]}")
    lines = (line.split() for line in result.stdout.splitlines())
    return {(name, int(size)): float(seconds) for name, size, seconds in lines}


def reference(texts, size=2000, rounds=3):
    """Seconds per element that the reference takes beyond its start."""
    program = "x = range(0.0, {0}.0, 1.0)\ny = map((v: v**2 + 1), x)\nprint(sum(y))\n"
    best = {1: float("inf"), size: float("inf")}
    with tempfile.TemporaryDirectory() as directory:
        for count in [*best] * rounds:
            path = Path(directory) / f"{count}.scl"
            path.write_text(program.format(count))
            start = time.perf_counter()
            subprocess.run([texts, "script", "-f", path, "-m", "deferred"], check=True, capture_output=True)
            best[count] = min(best[count], time.perf_counter() - start)
    return (best[size] - best[1]) / size


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="10000,1000000,10000000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default="python3", help="a Python that has numpy and may have polars")
    parser.add_argument("--reference", help="the command of the reference implementation")
    arguments = parser.parse_args()
    sizes = arguments.sizes.split(",")
    own = build()
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "rivals.py"
        script.write_text(RIVALS)
        found = {}
        for _ in range(arguments.rounds):
            for threads in (1, 2):
                for command in ([own, str(threads), *sizes], [arguments.python, str(script), str(threads), *sizes]):
                    for (name, size), seconds in measure(command, threads).items():
                        label = name if name.startswith(("loop", "numpy")) else f"{name} {threads}"
                        found.setdefault((label, size), []).append(seconds)
    report(found, [int(size) for size in sizes])
    if arguments.reference:
        each = reference(arguments.reference)
        scl = min(found["scl-square 1", int(sizes[0])]) / int(sizes[0])
        print(f"the reference: {1e6 * each:.0f} us an element of x**2 + 1, {each / scl:.0f} times scl with one thread")


def report(found, sizes):
    best = {key: min(times) for key, times in found.items()}
    print(f"{'':10} {'size':>9} {'scl 1':>10} {'spread':>7} {'scl 2':>10} {'1 / 2':>6}   scl with one thread over")
    for name in ("square", "law", "positive", "total", "both", "query"):
        for size in sizes:
            one, two = best[f"scl-{name} 1", size], best[f"scl-{name} 2", size]
            spread = max(found[f"scl-{name} 1", size]) / one - 1
            rivals = [(f"loop-{name}", "loop", one), (f"numpy-{name}", "numpy", one), (f"polars-{name} 1", "polars", one)]
            ratios = [f"{label} {own / best[key, size]:.2f}" for key, label, own in rivals if (key, size) in best]
            if (f"polars-{name} 2", size) in best:
                ratios.append(f"both with two: polars {two / best[f'polars-{name} 2', size]:.2f}")
            figures = f"{1e6 * one:8.1f}us {100 * spread:6.0f}% {1e6 * two:8.1f}us {one / two:6.2f}"
            print(f"{name:10} {size:9} {figures}   {', '.join(ratios)}", flush=True)


if __name__ == "__main__":
    main()
