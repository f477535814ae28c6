#!/usr/bin/env python3
"""How long does `scl run` take for a program of one line?

    benches/startup.py [SCL] [--runs N]

Prints, in milliseconds, the median and the quartiles of a run of scl, of `python3 -c 'print(1)'` (the least that any
implementation in Python has to wait for) and of `/bin/true` (what a process costs here), and the ratios of the medians.
The three take turns, so that what else the machine does meets all of them.
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

SCL = Path(__file__).resolve().parent.parent / "target/release/scl"


def milliseconds(command):
    start = time.perf_counter_ns()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter_ns() - start) / 1e6


def measure(commands, runs):
    times = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            elapsed = milliseconds(command)
            if turn > 0:  # the first turn fills caches
                times[name].append(elapsed)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scl", nargs="?", default=SCL)
    parser.add_argument("--runs", type=int, default=50)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "one.scl"
        program.write_text("print(1)\n")
        commands = {
            "scl": [str(arguments.scl), "run", str(program)],
            "python3": ["python3", "-c", "print(1)"],
            "true": ["/bin/true"],
        }
        times = measure(commands, arguments.runs)
    print(f"{'':8} {'median':>8} {'quartiles':>17}   ms, {arguments.runs} runs")
    for name, elapsed in times.items():
        low, median, high = statistics.quantiles(elapsed, n=4)
        print(f"{name:8} {median:8.2f} {low:8.2f} {high:8.2f}")
    medians = {name: statistics.median(elapsed) for name, elapsed in times.items()}
    print(f"python3 / scl: {medians['python3'] / medians['scl']:.2f}")
    print(f"scl / true: {medians['scl'] / medians['true']:.2f}")


if __name__ == "__main__":
    main()
