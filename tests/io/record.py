"""Records how the reference implementation writes values to files, and how it prints what it reads from them.

    python record.py TEXTS DIRECTORY

TEXTS is the command of the reference (vre-language 0.10). Writes DIRECTORY/recorded/* and DIRECTORY/printed.txt, whose lines are a
file, a type and the printed value, separated by tabs.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

VALUES = [
    ("mass", "Quantity", "12 [kg]"),
    ("force", "Quantity", "-2.5e-9 [kg*m/s**2]"),
    ("huge", "Quantity", "6.0e23"),
    ("root", "Quantity", "3.0 [eV**0.5/nm**1.5]"),
    ("cold", "Quantity", "-3.5 [degC]"),
    ("impedance", "Quantity", "0.25-1.5 j [ohm]"),
    ("measured", "Quantity", "2.5 +/- 0.125 [mm]"),
    ("missing", "Quantity", "null"),
    ("yes", "Bool", "true"),
    ("word", "String", "'tungsten'"),
    ("wordlike", "String", "'no'"),
    ("numberlike", "String", "'0x10'"),
    ("quotes", "String", "\"it's 5 o'clock: # tea\""),
    ("foreign", "String", "'Ångström ☕'"),
    ("long", "String", "'" + " ".join(["step"] * 30) + "'"),
    ("counts", "Series", "(counts: 4, 8, 15)"),
    ("lengths", "Series", "(lengths: 1, null, 3) [cm]"),
    ("energies", "Series", "(energies: -1.5, null, 1.0e-5) [eV]"),
    ("roots", "Series", "(roots: 1+2 j, -1-0.5 j) [ohm]"),
    ("flags", "Series", "(flags: true, false, true)"),
    ("doubts", "Series", "(doubts: true, null)"),
    ("symbols", "Series", "(symbols: 'O', null, 'H')"),
    ("nothing", "Series", "(nothing: null, null)"),
    ("pairs", "Series", "(pairs: (1 [m], 'x'), (2 [m], 'y'))"),
    ("forces", "Series", "(forces: [0.5, 1.0], [-0.5, 2.0]) [N]"),
    ("masks", "Series", "(masks: [true, false], [false, false])"),
    ("runs", "Table", "((cycle: 1, 2) [fs], (label: 'a', 'b'), (ratio: 0.5, 0.75), (done: true, false))"),
    ("grid", "IntArray", "[[1, 2, 3], [4, 5, 6]]"),
    ("speeds", "FloatArray", "[1.0e-7, 2.5, 3.0e16] [m/s]"),
    ("phases", "ComplexArray", "[1+1 j, 0.5-1e-7 j, 0+2 j]"),
    ("spins", "BoolArray", "[[true, false], [false, true]]"),
    ("labels", "StrArray", "['n', 'on', 'x y']"),
    # Written, but the reference cannot read or print them.
    ("avogadro", None, "602214076000000000000000000"),
    ("members", None, "(1, 'a', true, 2.5 [m], null)"),
    ("fields", None, "{a: 1, m: 'x', z: 2 [s]}"),
]


def run(texts, directory, program):
    (directory / "program.scl").write_text(program, encoding="utf-8")
    command = [texts, "script", "-f", "program.scl", "-m", "deferred"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def main(texts, target):
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        suffixes = ["json", "yaml"]
        files = [(f"{name}.{suffix}", name, kind) for name, kind, _ in VALUES for suffix in suffixes]
        files += [("counts.json.zz", "counts", "Series"), ("runs.yaml.zz", "runs", "Table")]
        definitions = "".join(f"{name} = {value}\n" for name, _, value in VALUES)
        output = run(texts, directory, definitions + "".join(f"{name} to file '{file}'\n" for file, name, _ in files))
        assert "error" not in output, output
        read = [(file, f"x{i}", kind) for i, (file, _, kind) in enumerate(files) if kind]
        output = run(texts, directory, "".join(f"{x} = {kind} from file '{file}'; print({x})\n" for file, x, kind in read))
        lines = output.split(">>>\n")[1].split("\n<<<")[0].splitlines()
        assert len(lines) == len(read), output
        (target / "recorded").mkdir(exist_ok=True)
        for file, _, _ in files:
            shutil.copy(directory / file, target / "recorded" / file)
        printed = "".join(f"{file}\t{kind}\t{line}\n" for (file, _, kind), line in zip(read, lines))
        (target / "printed.txt").write_text(printed, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
