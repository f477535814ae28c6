//! Times what column programs and sums take within a process, beside plain loops over the same numbers.
//!
//! `columns.py` runs it and compares with numpy and Polars: it prints a line `NAME SIZE SECONDS` for each measurement, the shortest of
//! several runs. Arguments: the number of threads, then sizes; names, when not all programs are wanted.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Instant;

use scl::check::{Extent, Mode, check};
use scl::diagnostic::Fault;
use scl::eval::{Context, Lookup, Variables, World, evaluate, limit_threads};
use scl::model::{LoadKind, Model, VarId};
use scl::source::SourceMap;
use scl::syntax::parse;
use scl::units::Unit;
use scl::value::{Column, Series, Value};

/// What is measured; `x` and `t` are given.
const PROGRAM: &str = "
use exp from numpy
x = (x: 1.0)
t = (t: 1.0) [K]
a = 1e13 [1/s]
e = 0.8 [eV]
k = 8.617e-5 [eV/K]
rate(t) = a*exp(-1*e/(k*t))
square = map((x: x**2 + 1), x)
law = map((t: rate(t)), t)
positive = filter((x: x > 0.0), x)
total = sum(x)
both = map((x, t: x*t + t/2), x, t)
table = Table (x, t)
query = table where column: x > 0.5 and column: t < 400 [K]
";

struct Given {
    model: Model,
    values: Vec<Option<Value>>,
}

impl Variables for Given {
    fn get(&self, id: VarId) -> Lookup {
        self.values[id.index()].clone().map_or(Lookup::Pending, Lookup::Ready)
    }
}

struct Nothing;

impl World for Nothing {
    fn load(&self, _: LoadKind, path: &str) -> Result<Value, Fault> {
        Err(Fault::new("E0000", path))
    }
}

impl Given {
    fn value(&self, index: usize) -> Value {
        let context = Context { functions: &self.model.functions, variables: self, world: &Nothing };
        evaluate(&self.model.variables[index].expr, context).expect("the program is sound")
    }

    fn index(&self, name: &str) -> usize {
        self.model.variables.iter().position(|variable| &*variable.name == name).expect("the program has it")
    }
}

fn time(size: usize, mut run: impl FnMut()) -> f64 {
    let runs = (20_000_000 / size).clamp(7, 400);
    let one = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(|_| one(&mut run)).fold(f64::INFINITY, f64::min)
}

/// Numbers between 0 and 1, the same in each run.
fn numbers(size: usize) -> Vec<f64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..size).map(|_| next()).collect()
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    limit_threads(arguments.next().and_then(NonZeroUsize::new).unwrap_or(NonZeroUsize::MIN));
    let mut sources = SourceMap::default();
    let file = sources.add("columns", PROGRAM);
    let (model, faults) = check(&parse(file, PROGRAM).0, Mode::Workflow, Extent::All);
    assert!(faults.iter().all(|fault| fault.severity != scl::diagnostic::Severity::Error), "{faults:#?}");
    for size in arguments {
        measure(&model, size);
    }
}

fn measure(model: &Model, size: usize) {
    let numbers = numbers(size);
    let x: Vec<f64> = numbers.iter().map(|number| number * 5.0 - 2.0).collect();
    let t: Vec<f64> = numbers.iter().map(|number| number * 200.0 + 300.0).collect();
    let mut given = Given { model: model.clone(), values: vec![None; model.variables.len()] };
    let kelvin = Unit::parse("kelvin").expect("a unit");
    let (at_x, at_t) = (given.index("x"), given.index("t"));
    given.values[at_x] = Some(Series::new("x", Column::from(x.clone()), Unit::NONE).into());
    given.values[at_t] = Some(Series::new("t", Column::from(t.clone()), kelvin).into());
    for name in ["a", "e", "k", "table"] {
        let index = given.index(name);
        given.values[index] = Some(given.value(index));
    }
    for name in ["square", "law", "positive", "total", "both", "query"] {
        if !is_wanted(name) {
            continue;
        }
        let index = given.index(name);
        let seconds = time(size, || drop(black_box(given.value(index))));
        println!("scl-{name} {size} {seconds:e}");
    }
    let (a, e, k) = (1e13, 0.8, 8.617e-5);
    let loops: [(&str, &dyn Fn() -> f64); 4] = [
        ("square", &|| first(x.iter().map(|x| x * x + 1.0).collect())),
        ("law", &|| first(t.iter().map(|t| a * (-e / (k * t)).exp()).collect())),
        ("positive", &|| first(x.iter().copied().filter(|x| *x > 0.0).collect())),
        ("total", &|| x.iter().fold(0.0, |sum, x| sum + x)),
    ];
    for (name, run) in loops.into_iter().filter(|(name, _)| is_wanted(name)) {
        let seconds = time(size, || {
            black_box(run());
        });
        println!("loop-{name} {size} {seconds:e}");
    }
}

/// Whether a program was named, or none was.
fn is_wanted(name: &str) -> bool {
    let named = |argument: &String| argument.parse::<usize>().is_err() && !argument.starts_with('-');
    let mut names = std::env::args().skip(1).filter(named).peekable();
    names.peek().is_none() || names.any(|wanted| wanted == name)
}

fn first(numbers: Vec<f64>) -> f64 {
    black_box(&numbers).first().copied().unwrap_or(0.0)
}
