"""Records what Python, numpy, uncertainties and Pint compute, for the tests of the rooms `value` and `ops`.

Run with the packages pint 0.24, numpy and uncertainties under CPython 3.11: `python record.py`; it rewrites the text files
beside it. One case a line, fields separated by `|`; floats as `repr` prints them; a result `!kind` is an exception.
"""

import operator
import pathlib
import random
import struct

import numpy
import pint
from uncertainties import ufloat

HERE = pathlib.Path(__file__).parent
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow}
ERRORS = {
    ZeroDivisionError: "!zero",
    OverflowError: "!overflow",
    pint.DimensionalityError: "!dimension",
    pint.OffsetUnitCalculusError: "!offset",
}


def write(name, rows):
    lines = ("|".join(str(field) for field in row) for row in rows)
    (HERE / f"{name}.txt").write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")


def attempt(function, *operands):
    try:
        return function(*operands)
    except tuple(ERRORS) as error:
        return ERRORS[type(error)]


def number(value):
    if isinstance(value, str):
        return value
    if isinstance(value, complex):
        return f"{value.real!r},{value.imag!r}"
    return repr(value)


def floats():
    special = [0.0, -0.0, 5e-324, 1e-5, 1e-4, 0.00012345, 9.9999e-5, 0.1, 1 / 3, 1.0, 1e15, 123456789012345.6, 1e16,
               1.2345678901234567e16, 1e17, 1e22, 1e23, 1.7976931348623157e308, float("inf"), float("-inf")]
    drawn = [struct.unpack("<d", struct.pack("<Q", random.getrandbits(64)))[0] for _ in range(150)]
    near = [random.uniform(1, 10) * 10.0 ** random.randint(-7, 18) for _ in range(150)]
    for value in special + [value for value in drawn if value == value] + near:
        yield f"{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}", repr(value)


def powers():
    bases = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, -8.0, 0.5, 10.0, 1e200, float("inf"), float("-inf"), 7.3, -7.3]
    exponents = [0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 1 / 3, 3.0, 400.0, -400.0, float("inf"), float("-inf"), 2.5]
    pairs = [(base, exponent) for base in bases for exponent in exponents]
    pairs += [(random.uniform(-20, 20), random.uniform(-6, 6)) for _ in range(150)]
    pairs += [(random.uniform(-20, 20), float(random.randint(-9, 9))) for _ in range(50)]
    for base, exponent in pairs:
        yield repr(base), repr(exponent), number(attempt(operator.pow, base, exponent))


def complexes():
    def draw():
        return complex(random.choice([0.0, 1.0, random.uniform(-9, 9)]), random.choice([0.0, -1.0, random.uniform(-9, 9)]))

    for _ in range(400):
        name, left, right = random.choice(list(OPERATORS)), draw(), draw()
        if random.random() < 0.4:
            right = complex(random.choice([0, 1, 2, 3, -1, -2, 7, 100, 101, 0.5]), 0.0)
        yield name, number(left), number(right), number(attempt(OPERATORS[name], left, right))


def ranges():
    def draw():
        return random.choice([random.randint(-9, 9), round(random.uniform(-9, 9), random.randint(1, 3))])

    for _ in range(200):
        start, stop, step = draw(), draw(), draw() / random.choice([1, 4, 10]) if random.random() < 0.7 else draw()
        if step == 0:
            continue
        values = numpy.arange(start, stop, step).tolist()
        yield repr(start), repr(stop), repr(step), " ".join(map(repr, values))


def uncertains():
    for _ in range(200):
        name = random.choice(list(OPERATORS))
        left, right = [(round(random.uniform(0.1, 9), 2), round(random.uniform(0, 1), 3)) for _ in range(2)]
        result = OPERATORS[name](ufloat(*left), ufloat(*right))
        yield name, *left, *right, repr(result.nominal_value), repr(result.std_dev)


def quantities():
    registry = pint.UnitRegistry(autoconvert_offset_to_baseunit=True)
    units = ["", "m", "cm", "km", "s", "hour", "min", "kg", "m/s", "km/hour", "percent", "rad", "m/cm", "degC", "degF", "kelvin",
             "delta_degC", "delta_degF", "J", "N*m", "eV", "byte", "bit"]
    operators = dict(OPERATORS)
    operators.update({"==": operator.eq, "<": operator.lt, ">=": operator.ge})
    alike = [["m", "cm", "km", "inch"], ["degC", "degF", "kelvin", "delta_degC", "delta_degF"], ["s", "hour", "min"],
             ["J", "N*m", "eV"], ["", "percent", "rad", "m/cm"], ["m/s", "km/hour"], ["byte", "bit"]]

    def draw():
        return random.choice([random.randint(-9, 99), round(random.uniform(-9, 99), 2)])

    for _ in range(900):
        name = random.choice(list(operators))
        group = random.choice(alike) if random.random() < 0.7 else units
        left, right = (draw(), random.choice(group)), (draw(), random.choice(group))
        if name == "**":
            right = (random.choice([0, 1, 2, 3, -1, 0.5, 1.5, 2.0, 1.0]), random.choice(["", "", "", "percent", "m"]))
            left = (abs(left[0]), left[1])
        if right[0] == 0 and right[1] or (left[0] == 0 and right[0] == 0):
            continue  # Pint lets a zero equal anything
        result = attempt(operators[name], registry.Quantity(*left), registry.Quantity(*right))
        if isinstance(result, registry.Quantity):
            shown = f"{number(result.magnitude)} [{result.units}]"
        else:
            shown = number(result)
        yield number(left[0]), left[1], name, number(right[0]), right[1], shown


if __name__ == "__main__":
    random.seed(20240)
    for recorder in (floats, powers, complexes, ranges, uncertains, quantities):
        write(recorder.__name__, recorder())
