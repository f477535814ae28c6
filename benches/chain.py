#!/usr/bin/env python3
"""How do time and memory grow with the length of a chain of statements?

    benches/chain.py [SCL] [--sizes N,N,...] [--mode MODE]

A chain of N is N variables, each defined by the one before: as deep and as narrow as a task graph can be. Prints time and peak
memory for each size, and by what factor they grow between sizes; with a factor like that of the sizes the growth is linear.
"""

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

SCL = Path(__file__).resolve().parent.parent / "target/release/scl"


def chain(size):
    lines = ["x0 = 1.0 [m]"]
    lines += [f"x{index} = x{index - 1} + 1.0 [mm]" for index in range(1, size)]
    lines.append(f"print(x{size - 1})")
    return "\n".join(lines) + "\n"


def run(command):
    """Seconds, peak memory in MiB, exit status and standard output."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - start, usage.ru_maxrss / 1024, process.returncode, output


def check(size, status, output):
    words = output.split()
    expected = 1.0 + 0.001 * (size - 1)
    if status != 0 or len(words) != 2 or abs(float(words[0]) / expected - 1) > 1e-6:
        raise SystemExit(f"chain of {size}: exit status {status}, printed {output!r}, not about {expected} [meter]")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scl", nargs="?", default=SCL)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--mode", default="workflow")
    arguments = parser.parse_args()
    print(f"{'chain':>8} {'seconds':>9} {'MiB':>8} {'x size':>7} {'x time':>7} {'x MiB':>7}")
    before = None
    with tempfile.TemporaryDirectory() as directory:
        for size in map(int, arguments.sizes.split(",")):
            program = Path(directory) / "chain.scl"
            program.write_text(chain(size))
            seconds, mebibytes, status, output = run([str(arguments.scl), "run", "--mode", arguments.mode, str(program)])
            check(size, status, output)
            now = (size, seconds, mebibytes)
            growth = "" if before is None else " ".join(f"{new / old:7.2f}" for new, old in zip(now, before))
            print(f"{size:8} {seconds:9.3f} {mebibytes:8.1f} {growth}", flush=True)
            before = now


if __name__ == "__main__":
    main()
