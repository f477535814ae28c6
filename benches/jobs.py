#!/usr/bin/env python3
"""What does a job process cost, beside what others start processes with?

    benches/jobs.py [SCL] [--jobs N] [--rounds N] [--python PYTHON]

Each contestant does N tasks of no work on all cores: processes of /bin/true, two at a time and waited for; GNU make -j2 with a
recipe of /bin/true per target; `scl run` with N annotated statements, whose results are kept; and, where PYTHON has it, Parsl with
its thread executor (no process per task) and its process executor (processes that stay). Rounds are interleaved, and the fastest of
each contestant counts, since the machine may be shared. Prints milliseconds per task and the ratio to the bare process.
"""

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

SCL = Path(__file__).resolve().parent.parent / "target/release/scl"

PARSL = """
import sys, time
import parsl
from parsl import python_app
from parsl.config import Config
from parsl.executors.threads import ThreadPoolExecutor
from parsl.executors import HighThroughputExecutor
from parsl.providers import LocalProvider

kind, count = sys.argv[1], int(sys.argv[2])
if kind == "threads":
    executor = ThreadPoolExecutor(max_threads=2)
else:
    executor = HighThroughputExecutor(max_workers_per_node=2, encrypted=False, provider=LocalProvider(init_blocks=1, max_blocks=1))
parsl.load(Config(executors=[executor], run_dir=sys.argv[3]))

@python_app
def nothing(x):
    return x + 1

[task.result() for task in [nothing(x) for x in range(2)]]
start = time.perf_counter()
total = sum(task.result() for task in [nothing(x) for x in range(count)])
print(time.perf_counter() - start)
assert total == sum(range(1, count + 1))
parsl.dfk().cleanup()
"""


def spawn(count, _directory):
    """Bare processes, two at a time."""
    start = time.perf_counter()
    running = []
    for _ in range(count):
        if len(running) == 2:
            running.pop(0).wait()
        running.append(subprocess.Popen(["/bin/true"]))
    for process in running:
        process.wait()
    return time.perf_counter() - start


def make(count, directory):
    targets = " ".join(f"t{index}" for index in range(count))
    recipes = "".join(f"t{index}:\n\t@/bin/true\n" for index in range(count))
    (directory / "Makefile").write_text(f".PHONY: all {targets}\nall: {targets}\n{recipes}")
    return timed(["make", "-s", "-j2", "-C", str(directory)])


def scl(binary):
    def run(count, directory):
        lines = [f"a{index} = {index} + 1 on 1 core" for index in range(count)]
        lines.append("print(sum(" + ", ".join(f"a{index}" for index in range(count)) + "))")
        (directory / "model.scl").write_text("\n".join(lines) + "\n")
        return timed([str(binary), "run", "--quiet", "--system", "local", str(directory / "model.scl")], f"{count * (count + 1) // 2}\n")

    return run


def parsl(python, kind):
    def run(count, directory):
        (directory / "bench.py").write_text(PARSL)
        command = [python, str(directory / "bench.py"), kind, str(count), str(directory / "run")]
        # Parsl starts programs that stand beside its Python
        path = f"{Path(shutil.which(python)).parent}:{os.environ['PATH']}"
        result = subprocess.run(command, capture_output=True, text=True, cwd=directory, env={**os.environ, "PATH": path})
        if result.returncode != 0:
            raise SystemExit(f"Parsl failed:\n{result.stderr[-2000:]}")
        return float(result.stdout.split()[0])

    return run


def timed(command, expected=None):
    start = time.perf_counter()
    result = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if result.returncode != 0 or (expected is not None and result.stdout != expected):
        raise SystemExit(f"{command[0]}: status {result.returncode}, printed {result.stdout!r}\n{result.stderr[-2000:]}")
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scl", nargs="?", default=SCL)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default="python3", help="a Python that may have Parsl")
    arguments = parser.parse_args()
    contestants = {"bare process": spawn, "scl run": scl(arguments.scl)}
    if shutil.which("make"):
        contestants["make -j2"] = make
    if subprocess.run([arguments.python, "-c", "import parsl"], capture_output=True).returncode == 0:
        contestants["Parsl, threads"] = parsl(arguments.python, "threads")
        contestants["Parsl, processes"] = parsl(arguments.python, "processes")
    else:
        print(f"{arguments.python} has no Parsl: left out")
    best = {}
    # what one round leaves is removed at the end: removing thousands of files makes the next round's slower
    with tempfile.TemporaryDirectory() as root:
        for number in range(arguments.rounds):
            for index, (name, run) in enumerate(contestants.items()):
                directory = Path(root) / f"{number}-{index}"
                os.mkdir(directory)
                best[name] = min(best.get(name, float("inf")), run(arguments.jobs, directory))
    for name, seconds in best.items():
        print(f"{name:18} {1000 * seconds / arguments.jobs:8.3f} ms per task {seconds / best['bare process']:8.2f} times the bare process")


if __name__ == "__main__":
    main()
