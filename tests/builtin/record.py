"""Records what Python computes, for the tests of the native functions.

Run as `python3 tests/builtin/record.py` with numpy 2 and pint 0.24; it rewrites the `.txt` files beside it. Each line is a function,
its arguments and its result, separated by tabs; a result `!kind` stands for an error.
"""

import math
import operator
import os.path
import pathlib
import random
import statistics
import warnings

import numpy
import pint

warnings.simplefilter("ignore")
units = pint.UnitRegistry()
Q = units.Quantity
HERE = pathlib.Path(__file__).parent
chance = random.Random(20240229)

ERRORS = {
    pint.DimensionalityError: "dimension",
    OverflowError: "range",
    ZeroDivisionError: "zero",
    statistics.StatisticsError: "value",
    ValueError: "domain",
}


def text(value):
    """A value as the test reads it."""
    if isinstance(value, pint.Quantity):
        unit = str(value.units)
        return text(value.magnitude) + ("" if unit == "dimensionless" else f" [{unit}]")
    if isinstance(value, (bool, numpy.bool_)):
        return "true" if value else "false"
    if isinstance(value, (complex, numpy.complexfloating)):
        return f"{float(value.real)!r},{float(value.imag)!r}"
    if isinstance(value, (int, numpy.integer)):
        return str(int(value))
    if isinstance(value, (float, numpy.floating)):
        return repr(float(value))
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, (tuple, list)):
        return "(" + "; ".join(map(text, value)) + ")"
    raise TypeError(type(value))


def line(name, function, args, given=None):
    """One line; `args` are passed and `given` (the same unless said) is written."""
    try:
        result = text(function(*args))
    except tuple(ERRORS) as error:
        result = "!" + next(kind for type_, kind in ERRORS.items() if isinstance(error, type_))
    return "\t".join([name, "; ".join(map(text, args if given is None else given)), result])


def write(file, lines):
    (HERE / file).write_text("\n".join(lines) + "\n")


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2, -3, 10, 1e-10, -1e-300, 1e300, -1e300, math.inf, -math.inf, math.nan, 709.5, 710.0, 22.0, 26.5]


def reals(count, low=-20.0, high=20.0):
    return [chance.uniform(low, high) for _ in range(count)] + [math.exp(chance.uniform(-30, 30)) for _ in range(count // 2)]


def math_lines():
    one = """acos acosh asin asinh atan atanh cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 fabs floor gamma isfinite isinf isnan
        lgamma log log10 log1p log2 radians sin sinh sqrt tan tanh trunc ulp modf frexp""".split()
    two = "atan2 copysign fmod hypot isclose log nextafter pow remainder".split()
    whole = "comb factorial gcd isqrt lcm perm".split()
    for name in one:
        function = getattr(math, name)
        args = SPECIAL + reals(16)
        if name in ("acos", "asin", "atanh"):
            args += [chance.uniform(-1, 1) for _ in range(16)]
        if name in ("gamma", "lgamma"):
            args += [chance.uniform(-180, 180) for _ in range(60)] + [float(n) for n in range(-3, 30)] + [170.5, 171.6, 171.7, -170.5, -250.5, 1e-21]
        if name in ("floor", "ceil", "trunc"):
            args = [arg for arg in args if abs(arg) < 1e38]
        for arg in args:
            yield line(f"math.{name}", function, [arg])
    for name in two:
        function = getattr(math, name)
        for _ in range(24):
            yield line(f"math.{name}", function, [chance.choice(SPECIAL + reals(20)), chance.choice(SPECIAL + reals(20))])
    for name in whole:
        function = getattr(math, name)
        for _ in range(30):
            count = {"factorial": 1, "isqrt": 1}.get(name, 2)
            yield line(f"math.{name}", function, [chance.randint(-1, 30) for _ in range(count)])
    for x, exponent in [(1.5, 3), (1, -1074), (1.5, 2000), (0.0, 5000), (-3.25, -2)]:
        yield line("math.ldexp", math.ldexp, [x, exponent])
    yield line("math.hypot", math.hypot, [3, 4, 12.0])
    yield line("math.gcd", math.gcd, [])
    yield line("math.perm", math.perm, [6])
    yield line("math.sin", lambda _: math.sin(0.5), [Q(50, "percent")])
    yield line("math.exp", lambda _: math.exp(100.0), [Q(1.0, "m/cm")])


ONE = """sqrt square absolute fabs exp exp2 expm1 log log10 log2 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh
    arctanh floor ceil rint trunc fix round around sign signbit isnan isinf isfinite conj conjugate deg2rad rad2deg degrees radians
    negative positive nan_to_num isreal iscomplex mean std var min max median ptp size ndim""".split()
TWO = """add subtract multiply divide true_divide power hypot arctan2 maximum minimum copysign nextafter logaddexp logaddexp2 equal less
    greater less_equal greater_equal not_equal isclose""".split()


def numpy_lines():
    numbers = [0, 4, -3, 2.7, -2.7, 0.5, 1e-9, 123456.789, 2.5, -0.5, math.inf, math.nan]
    arguments = [Q(number) for number in numbers]
    arguments += [Q(4.0, "m"), Q(4, "m"), Q(-2.5, "m/s"), Q(90, "deg"), Q(0.3, "rad"), Q(50, "percent"), Q(1, "m/cm"), Q(3.0, "m**2")]
    for name in ONE:
        for argument in arguments:
            yield line(f"numpy.{name}", getattr(numpy, name), [argument])
    for name in ["exp", "sqrt", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "square", "absolute", "conj", "sign", "negative", "isnan"]:
        yield line(f"numpy.{name}", getattr(numpy, name), [Q(1.25 + 0.5j)])
    pairs = [(7, 4), (-7, 4), (7.5, 2.0), (0.25, -3.5), (2, -1), (2.5, 0.5), (1e5, 1.000001e5)]
    operands = [(Q(a), Q(b)) for a, b in pairs]
    operands += [(Q(7.0, "m"), Q(200.0, "cm")), (Q(7.0, "m"), Q(2.0)), (Q(7.0), Q(2.0, "m")), (Q(7.0, "m"), Q(2.0, "s")), (Q(1.0), Q(50.0, "percent"))]
    for name in TWO:
        for operand in operands:
            # Where these overflow, numpy gives infinity and the language a fault.
            if name in ("logaddexp", "logaddexp2", "power") and max(abs(q.m) for q in operand) > 1e3:
                continue
            yield line(f"numpy.{name}", getattr(numpy, name), operand)
    for name in ["mod", "remainder", "fmod", "floor_divide"]:
        for a, b in pairs:
            yield line(f"numpy.{name}", getattr(numpy, name), [Q(a), Q(b)])
    for name in ["heaviside", "fmax", "fmin"]:
        for a, b in pairs + [(0.0, 0.5), (math.nan, 2.0)]:
            yield line(f"numpy.{name}", getattr(numpy, name), [a, b])
    yield line("numpy.modf", lambda q: numpy.modf(q), [Q(-2.5, "m")])


def array(values, unit):
    """An array, as it is passed and as it is written."""
    return Q(numpy.array(values), unit), [Q(value, unit) for value in values]


def reduce_lines():
    for count in [1, 2, 3, 7, 8, 9, 31, 300]:
        for values in ([round(chance.uniform(-5, 5), 3) for _ in range(count)], [chance.randint(-50, 50) for _ in range(count)]):
            passed, given = array(values, "m")
            # Long ones only where the order of additions matters.
            names = ["mean", "var"] if count > 100 else "mean std var min max median ptp size argmax argmin".split()
            for name in names:
                yield line(f"numpy.{name}", getattr(numpy, name), [passed], [given])
            for part in [0.0, 0.25, 0.6, 1.0] if count < 100 else []:
                yield line("numpy.quantile", numpy.quantile, [passed, part], [given, part])
    for count in [2, 3, 10]:
        for values in ([chance.uniform(1, 5) for _ in range(count)], [chance.randint(1, 50) for _ in range(count)]):
            for name in "mean fmean geometric_mean harmonic_mean median median_low median_high pstdev pvariance stdev variance".split():
                yield line(f"statistics.{name}", getattr(statistics, name), [values])
    yield line("statistics.stdev", statistics.stdev, [[1.0]])


def python_lines():
    pairs = [(7, 2), (-7, 2), (7, -2), (7.5, -2.0), (0.3, 0.1), (1, 0), (1.0, 0.0), (2**70, 3)]
    for a, b in pairs:
        for name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "le", "eq", "ne", "gt", "ge"]:
            yield line(f"operator.{name}", getattr(operator, name), [a, b])
        yield line("builtins.divmod", divmod, [a, b])
    for a, b in [(12, 10), (-1, 255), (True, False), (True, True)]:
        for name in ["and_", "or_", "xor"]:
            yield line(f"operator.{name}", getattr(operator, name), [a, b])
    for name in ["neg", "pos", "abs", "not_"]:
        for a in [3, -2.5]:
            yield line(f"operator.{name}", getattr(operator, name), [a])
    for a in [2.5, 3.5, -2.5, 2.4, 7, 1e20]:
        yield line("builtins.round", round, [a])
        yield line("builtins.int", int, [a])
        yield line("builtins.float", float, [a])
        yield line("builtins.str", lambda a: str(Q(a)), [a])
    for a, digits in [(2.675, 2), (2.5, 0), (0.125, 2), (1234.5, -2), (1250, -2), (1350, -2), (-1250, -2), (1e300, 5), (0.1, 25), (5, -1), (15, -1)]:
        yield line("builtins.round", round, [a, digits])
    yield line("builtins.divmod", divmod, [Q(7, "m"), Q(2, "m")])
    yield line("builtins.str", str, [Q(2.5, "m/s**2")])
    yield line("builtins.str", str, [Q(1 - 2j, "V")])
    yield line("builtins.sorted", lambda values: tuple(sorted(values)), [(3, 1.5, 2)])
    yield line("builtins.max", max, [1, 2.5, 2])
    yield line("builtins.min", min, [(3, 1, 2)])
    for parts in [("a",), ("a", "b"), ("a/", "b"), ("a", "/b", "c"), ("", "b"), ("a", ""), ("a", "", "b")]:
        yield line("os.path.join", os.path.join, parts)
    for path in ["a/b.c", "/a", "a/", "//a//b", "", "a.b/c", ".hidden", "x/.hidden.txt", "..", "a.tar.gz"]:
        for name in ["basename", "dirname", "split", "splitext", "isabs"]:
            yield line(f"os.path.{name}", getattr(os.path, name), [path])


write("math.txt", math_lines())
write("numpy.txt", numpy_lines())
write("reduce.txt", reduce_lines())
write("python.txt", python_lines())
