#!/usr/bin/env python3
"""What does a task inside the process cost, and the text that it is written in?

    benches/tasks.py [SCL] [--tasks N] [--rounds N] [--python PYTHON]

Programs of N small variables are checked and run: a chain, in which each is defined by the one before; ones that depend on nothing, all
added up at the end; ones that are printed; and ones that depend on three others. Prints, for each, how fast the text is parsed and
checked (`scl check`), what a task costs beyond that (`scl run` minus `scl check`), and the peak memory of both, each divided by the
number of tasks, without that of a program of one line. The examples, repeated under other names, are checked for the speed with more
usual text. Times are of the process: the shortest of all rounds, for the machine may be shared, elapsed and of the processors.

With a PYTHON that has parsl and dask (`pip install parsl dask`), a thousand tasks of no work are run by scl (the whole process, from the
text to the sum), by Parsl with its thread executor and by Dask with its scheduler of threads (both without the start of Python).
"""

import argparse
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCL = ROOT / "target/release/scl"

PARSL = """
import sys, time
import parsl
from parsl import python_app
from parsl.config import Config
from parsl.executors.threads import ThreadPoolExecutor

parsl.load(Config(executors=[ThreadPoolExecutor(max_threads=2)], run_dir=sys.argv[2]))

@python_app
def nothing(x):
    return x + 1

count = int(sys.argv[1])
[task.result() for task in [nothing(x) for x in range(2)]]
start = time.perf_counter()
total = sum(task.result() for task in [nothing(x) for x in range(count)])
print(time.perf_counter() - start)
assert total == count * (count + 1) // 2
parsl.dfk().cleanup()
"""

DASK = """
import sys, time
import dask

@dask.delayed
def nothing(x):
    return x + 1

count = int(sys.argv[1])
dask.compute(nothing(0), scheduler="threads", num_workers=2)
start = time.perf_counter()
total = sum(dask.compute(*[nothing(x) for x in range(count)], scheduler="threads", num_workers=2))
print(time.perf_counter() - start)
assert total == count * (count + 1) // 2
"""


def chain(count):
    lines = ["a0 = 1"] + [f"a{index} = a{index - 1} + 1" for index in range(1, count)]
    return [*lines, f"print(a{count - 1})"], f"{count}\n"


def converted(count):
    lines = ["a0 = 1 [m]"] + [f"a{index} = a{index - 1} + 1 [m]" for index in range(1, count)]
    return [*lines, f"print(a{count - 1})"], f"{count} [meter]\n"


def summed(count):
    lines = [f"a{index} = {index} + 1" for index in range(count)]
    return [*lines, "print(sum(" + ", ".join(f"a{index}" for index in range(count)) + "))"], f"{count * (count + 1) // 2}\n"


def printed(count):
    """Half of the tasks are prints."""
    lines = [f"a{index} = {index} + 1\nprint(a{index})" for index in range(count // 2)]
    return lines, "".join(f"{index + 1}\n" for index in range(count // 2))


def joined(count):
    lines = ["a0 = 1.0 [m]", "a1 = 1.0 [m]", "a2 = 1.0 [m]"]
    lines += [f"a{index} = a{index // 2} + a{index // 3} - a{index - 3}" for index in range(3, count)]
    return [*lines, f"print(a{count - 1} - a{count - 1})"], "0.0 [meter]\n"


SHAPES = {"chain": chain, "chain with units": converted, "summed": summed, "printed": printed, "of three others": joined}


def usual_text(size):
    """The examples under other names, again and again, with all imports at the beginning."""
    imports, bodies = {}, []
    for path in sorted((ROOT / "examples").glob("*.scl")):
        lines = path.read_text().splitlines()
        for names, module in re.findall(r"^use (.+) from ([\w.]+)", "\n".join(lines), re.MULTILINE):
            imports.update({name.strip(): module for name in names.split(",")})
        bodies.append("\n".join(line for line in lines if not line.startswith("use ")))
    text = [f"use {name} from {module}" for name, module in imports.items()]
    length = turn = 0
    while length < size:
        for number, body in enumerate(bodies):
            names = set(re.findall(r"^(\w+) *(?:\([^()]*\))? *=[^=]", body, re.MULTILINE))
            word = lambda match: f"{match[0]}_{number}_{turn}" if match[0] in names else match[0]
            text.append(re.sub(r"'[^'\n]*'|\[[^\]\n]*\]|#.*|\w+", word, body))
            length += len(text[-1])
        turn += 1
    return text


def run(command, expected=None):
    """Seconds elapsed, seconds of the processors, peak memory in bytes."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        output, errors = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or (expected is not None and output != expected):
        raise SystemExit(f"{' '.join(command)}: status {process.returncode}, printed {output[:200]!r}\n{errors[-2000:]}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def least(rounds, measure):
    return tuple(min(column) for column in zip(*(measure() for _ in range(rounds))))


def cost_of_tasks(scl, count, rounds, directory):
    one = directory / "one.scl"
    one.write_text("print(1)\n")
    start = least(max(rounds, 20), lambda: run([scl, "run", str(one)], "1\n"))
    print(f"start-up: {1000 * start[0]:.1f} ms, {start[2] / 2**20:.1f} MiB")
    print(f"{'':18} {'check: MB/s':>22} {'us a task':>22} {'bytes a task':>22}")
    print(f"{'':18} {'elapsed':>11} {'processor':>10} {'elapsed':>11} {'processor':>10} {'check':>11} {'run':>10}")
    for name, shape in SHAPES.items():
        lines, expected = shape(count)
        program = directory / "tasks.scl"
        program.write_text("\n".join(lines) + "\n")
        checked = least(rounds, lambda: run([scl, "check", str(program)]))
        ran = least(rounds, lambda: run([scl, "run", str(program)], expected))
        size = program.stat().st_size / 1e6
        speed = [size / (checked[index] - start[index]) for index in (0, 1)]
        task = [1e6 * (ran[index] - checked[index]) / count for index in (0, 1)]
        memory = [(peak - start[2]) / count for peak in (checked[2], ran[2])]
        print(f"{name:18} {speed[0]:11.1f} {speed[1]:10.1f} {task[0]:11.2f} {task[1]:10.2f} {memory[0]:11.0f} {memory[1]:10.0f}", flush=True)
    program = directory / "usual.scl"
    program.write_text("\n".join(usual_text(3_000_000)) + "\n")
    checked = least(rounds, lambda: run([scl, "check", str(program)]))
    size = program.stat().st_size / 1e6
    print(f"{'examples':18} {size / (checked[0] - start[0]):11.1f} {size / (checked[1] - start[1]):10.1f}")


def python(interpreter, script, directory, count):
    path = directory / "rival.py"
    path.write_text(script)
    result = subprocess.run([interpreter, str(path), str(count), str(directory / "run")], capture_output=True, text=True, cwd=directory)
    if result.returncode != 0:
        raise SystemExit(f"the rival failed:\n{result.stderr[-2000:]}")
    return (float(result.stdout.split()[0]),)


def rivals(scl, interpreter, count, rounds, directory):
    lines, expected = summed(count)
    program = directory / "rival.scl"
    program.write_text("\n".join(lines) + "\n")
    contestants = {"scl run": lambda: run([scl, "run", str(program)], expected)[:1]}
    for module, name, script in [("parsl", "Parsl, threads", PARSL), ("dask", "Dask, threads", DASK)]:
        if subprocess.run([interpreter, "-c", f"import {module}"], capture_output=True).returncode == 0:
            contestants[name] = lambda script=script: python(interpreter, script, directory, count)
        else:
            print(f"{interpreter} has no {module}: left out")
    best = {name: float("inf") for name in contestants}
    # rounds are interleaved, so that what else the machine does meets all
    for _ in range(rounds):
        for name, contestant in contestants.items():
            best[name] = min(best[name], contestant()[0])
    print(f"{count} tasks of no work:")
    for name, seconds in best.items():
        print(f"{name:18} {1e6 * seconds / count:8.1f} us per task {seconds / best['scl run']:8.2f} times scl")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scl", nargs="?", default=SCL)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default="python3", help="a Python that may have parsl and dask")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        cost_of_tasks(str(arguments.scl), arguments.tasks, arguments.rounds, Path(directory))
        rivals(str(arguments.scl), arguments.python, 1000, arguments.rounds, Path(directory))


if __name__ == "__main__":
    main()
