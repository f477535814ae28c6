#!/usr/bin/env python3
"""What does a run cost on Slurm, beside Slurm's own clients?

    benches/slurm.py [SCL] [--jobs N] [--tasks N]

Needs a Slurm that answers (SLURM_CONF; `tests/slurm/up DIR PORT` starts one of two pretended nodes). N jobs of no work are done by a loop
of `sbatch` calls, one a job, by one `sbatch --array`, and by `scl run` with N chunks; each until Slurm has no more of them. Prints
seconds, jobs per second and the ratio to the array, how often scl called Slurm's clients, how long after the end of the last job it
printed, and how much memory its driver takes with so many tasks submitted.
"""

import argparse
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

SCL = Path(__file__).resolve().parent.parent / "target/release/scl"
CLIENTS = ["sbatch", "squeue", "scontrol", "sacct", "scancel"]


def script(directory, *options):
    path = directory / "script"
    lines = ["#!/bin/bash", "#SBATCH --cpus-per-task=1 --mem-per-cpu=20M --time=2 --output=/dev/null", *(f"#SBATCH {option}" for option in options)]
    path.write_text("\n".join([*lines, "true", ""]))
    return path


def drain():
    while subprocess.run(["squeue", "--noheader", "--user", str(os.getuid())], capture_output=True, text=True, check=True).stdout.strip():
        time.sleep(0.05)


def loop(count, directory):
    path = script(directory)
    start = time.perf_counter()
    for _ in range(count):
        subprocess.run(["sbatch", "--parsable", path], stdout=subprocess.DEVNULL, check=True)
    drain()
    return time.perf_counter() - start


def array(count, directory):
    path = script(directory, f"--array=1-{count}")
    start = time.perf_counter()
    subprocess.run(["sbatch", "--parsable", path], stdout=subprocess.DEVNULL, check=True)
    drain()
    return time.perf_counter() - start


def model(directory, count):
    path = directory / "model.scl"
    path.write_text(f"s = range(0, {count}, 1)\nm = map((x: x**2), s) in {count} chunks on 1 core with 20 [MiB] for 2 [min]\nprint(sum(m))\n")
    return path


def counted(directory):
    """An environment in which calls of Slurm's clients are counted."""
    wrappers = directory / "wrappers"
    wrappers.mkdir()
    for client in CLIENTS:
        real = subprocess.run(["which", client], capture_output=True, text=True).stdout.strip()
        if real:
            (wrappers / client).write_text(f'#!/bin/sh\necho {client} >>{directory}/calls\nexec {real} "$@"\n')
            (wrappers / client).chmod(0o755)
    return {**os.environ, "PATH": f"{wrappers}:{os.environ['PATH']}"}


def scl(binary, count, directory):
    environment = counted(directory)
    start = time.perf_counter()
    result = subprocess.run([binary, "run", "--quiet", model(directory, count)], capture_output=True, text=True, env=environment)
    printed, seconds = time.time(), time.perf_counter() - start
    if result.returncode != 0:
        raise SystemExit(f"scl failed:\n{result.stderr[-2000:]}")
    ends = [json.loads(path.read_text())["content"]["ended"] for path in directory.glob(".scl/jobs/*/attempt-1/manifest.json")]
    calls = (directory / "calls").read_text().split()
    drain()
    return seconds, printed - max(ends) / 1000, {client: calls.count(client) for client in CLIENTS if client in calls}


def memory(binary, count, directory):
    """Of the driver in KiB for each task, once all are submitted; they are cancelled then."""
    driver = subprocess.Popen([binary, "run", "--quiet", model(directory, count)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    submitted = 0
    while submitted < count and driver.poll() is None:
        time.sleep(0.5)
        submitted = sum(1 for _ in directory.glob(".scl/jobs/*/attempt-1/ticket.json"))
    time.sleep(3)
    status = Path(f"/proc/{driver.pid}/status").read_text()
    kibibytes = int(status.split("VmHWM:")[1].split()[0])
    for _ in range(2):
        driver.send_signal(signal.SIGINT)
        time.sleep(0.5)
    driver.wait()
    return kibibytes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scl", nargs="?", default=SCL)
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--tasks", type=int, default=10_000)
    arguments = parser.parse_args()
    binary = str(Path(arguments.scl).resolve())
    with tempfile.TemporaryDirectory() as root:
        directories = [Path(root) / name for name in ["loop", "array", "scl", "memory"]]
        for directory in directories:
            directory.mkdir()
        count = arguments.jobs
        seconds = {"a call of sbatch a job": loop(count, directories[0]), "one array": array(count, directories[1])}
        seconds["scl run"], late, calls = scl(binary, count, directories[2])
        for name, taken in seconds.items():
            print(f"{name:24} {taken:7.2f} s {count / taken:8.1f} jobs/s {taken / seconds['one array']:6.2f} times the array")
        print(f"calls of scl for {count} chunks: {calls}")
        print(f"from the end of the last job to the line: {late:.2f} s")
        kibibytes = memory(binary, arguments.tasks, directories[3])
        print(f"the driver with {arguments.tasks} tasks: {kibibytes / 1024:.0f} MiB, {kibibytes / arguments.tasks:.2f} KiB a task")
        drain()


if __name__ == "__main__":
    main()
