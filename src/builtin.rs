//! The catalogue of native functions and constants: what `use f from m` finds without Python.
//!
//! A function is data: a signature, a line of help and a body. Most bodies hold no code that looks at values: they name a rule
//! for units and a function of bare numbers, and one engine (`elementwise`) applies the pair to scalars, nulls, series and arrays.
//! So a module is a table that can be read, and a new function is one line of it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::diagnostic::Fault;
use crate::units::Unit;
use crate::value::Value;
use elementwise::{Elementwise, Kernel, Overflow};

mod arguments;
mod constants;
mod division;
mod elementwise;
mod fault;
mod integer;
mod kinds;
mod math;
mod numpy;
mod operator;
mod path;
mod python;
mod real;
mod reduce;
mod statistics;
mod virtmat_math;

/// A native function: its signature, its help and its body.
#[derive(Debug)]
pub struct Native {
    /// The module as written after `from`.
    pub module: &'static str,
    /// The name within the module.
    pub name: &'static str,
    /// Names of the parameters; `base?` may be left out, `*values` stands for any number of arguments.
    pub parameters: &'static [&'static str],
    /// How many arguments are accepted; follows from the parameters.
    pub arity: Arity,
    /// What is known of the result before the call.
    pub result: ResultKind,
    /// What it does, in one line.
    pub doc: &'static str,
    body: Body,
}

/// How many arguments a function accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    /// At least so many.
    pub min: u8,
    /// At most so many; `None`: any number.
    pub max: Option<u8>,
}

/// The static type of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// Depends on the arguments.
    Any,
    /// A number of some kind, or several in the shape of the argument.
    Number,
    /// A real number, or several in the shape of the argument.
    Float,
    /// A whole number.
    Integer,
    /// `true` or `false`, or several in the shape of the argument.
    Boolean,
    /// A string.
    String,
    /// A tuple.
    Tuple,
}

/// A function of real numbers, ready for columns.
#[derive(Clone, Debug)]
pub struct ColumnFunction {
    /// What the arguments are converted to.
    pub arguments: Vec<Unit>,
    /// What the result is in.
    pub result: Unit,
    /// The function of the bare numbers.
    pub function: RealFunction,
}

/// A function of bare real numbers.
#[derive(Clone, Copy, Debug)]
pub enum RealFunction {
    /// Of one number.
    One(fn(f64) -> f64, Checked),
    /// Of two numbers.
    Two(fn(f64, f64) -> f64, Checked),
}

impl PartialEq for RealFunction {
    /// The same code with the same check; that a compiler may merge functions which do the same makes them no less the same.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (RealFunction::One(f, left), RealFunction::One(g, right)) => std::ptr::fn_addr_eq(*f, *g) && left == right,
            (RealFunction::Two(f, left), RealFunction::Two(g, right)) => std::ptr::fn_addr_eq(*f, *g) && left == right,
            (RealFunction::One(..), RealFunction::Two(..)) | (RealFunction::Two(..), RealFunction::One(..)) => false,
        }
    }
}

/// Which results of a real function are faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Nothing when whatever comes out is right.
    overflow: Option<Overflow>,
}

impl Checked {
    /// Whether a result that is not finite may be a fault.
    pub fn is_needed(self) -> bool {
        self.overflow.is_some()
    }

    /// Whether a result of these arguments is a fault.
    pub fn refuses(self, result: f64, arguments: &[f64]) -> bool {
        self.overflow.is_some_and(|overflow| overflow.check("", result, arguments).is_err())
    }
}

/// What an import line brings.
#[derive(Clone, Debug)]
pub enum Import {
    /// Something to call.
    Function(&'static Native),
    /// Something to use as a variable.
    Constant(Value),
}

/// What runs when a function is called.
#[derive(Clone, Copy, Debug)]
enum Body {
    /// A function of bare numbers under a rule for units.
    Elementwise(Elementwise),
    /// Code that looks at whole values.
    Whole(fn(&[Value]) -> Result<Value, Fault>),
}

impl Native {
    /// Calls the function; a fault for arguments of a wrong number, type, unit or range.
    pub fn call(&self, args: &[Value]) -> Result<Value, Fault> {
        if !self.arity.accepts(args.len()) {
            return Err(fault::arity(self.name, self.arity, args.len()));
        }
        match self.body {
            Body::Elementwise(function) => function.call(self.name, args),
            Body::Whole(function) => function(args),
        }
    }

    /// The unit that an argument must convert to, when arguments have these units; `None` when any will do or it is not known.
    pub fn takes(&self, index: usize, units: &[Option<Unit>]) -> Option<Unit> {
        match self.body {
            Body::Elementwise(function) => function.units.takes(index, units),
            Body::Whole(_) => None,
        }
    }

    /// A unit of the dimension of the result, when arguments have these units; `None` when it is not known.
    pub fn gives(&self, units: &[Option<Unit>]) -> Option<Unit> {
        match self.body {
            Body::Elementwise(function) if self.result != ResultKind::Boolean => function.units.gives(units),
            Body::Elementwise(_) | Body::Whole(_) => None,
        }
    }

    /// How it is called, for help: `log(x, base?)`.
    pub fn signature(&self) -> String {
        format!("{}({})", self.name, self.parameters.join(", "))
    }

    /// Calls the function for each element of the series and arrays among the arguments, which must have one shape.
    ///
    /// The result is what calls with single elements would give, at the speed of a column. `None` for a function that computes with
    /// whole values, and for arguments that are all scalars: then [`Native::call`] is the way.
    pub fn call_each(&self, args: &[Value]) -> Option<Result<Value, Fault>> {
        match self.body {
            Body::Elementwise(function) if self.arity.accepts(args.len()) => function.call_each(self.name, args),
            Body::Elementwise(_) | Body::Whole(_) => None,
        }
    }

    /// How the function computes with whole columns of real numbers in these units; `None` for functions that look at their arguments
    /// one by one, and for units that they do not take.
    pub fn real_function(&self, units: &[Unit]) -> Option<ColumnFunction> {
        let Body::Elementwise(elementwise) = self.body else { return None };
        let (function, count) = match elementwise.kernel {
            Kernel::Real(real) => (RealFunction::One(real.apply, Checked { overflow: None }), 1),
            Kernel::Strict(apply, overflow) => (RealFunction::One(apply, Checked { overflow: Some(overflow) }), 1),
            Kernel::Real2(real) => (RealFunction::Two(real.apply, Checked { overflow: None }), 2),
            Kernel::Strict2(apply, overflow) => (RealFunction::Two(apply, Checked { overflow: Some(overflow) }), 2),
            Kernel::Test(_) | Kernel::Tests(_) | Kernel::Property(_) | Kernel::Integers(_) | Kernel::Numbers(_) => return None,
        };
        if units.len() != count || !self.arity.accepts(count) {
            return None;
        }
        let (arguments, result) = elementwise.units.all(units).ok()?;
        Some(ColumnFunction { arguments, result, function })
    }

    fn elementwise(
        module: &'static str,
        name: &'static str,
        parameters: &'static [&'static str],
        result: ResultKind,
        doc: &'static str,
        function: Elementwise,
    ) -> Self {
        Native { module, name, parameters, arity: Arity::of(parameters), result, doc, body: Body::Elementwise(function) }
    }

    fn whole(
        module: &'static str,
        name: &'static str,
        parameters: &'static [&'static str],
        result: ResultKind,
        doc: &'static str,
        function: fn(&[Value]) -> Result<Value, Fault>,
    ) -> Self {
        Native { module, name, parameters, arity: Arity::of(parameters), result, doc, body: Body::Whole(function) }
    }
}

impl Arity {
    /// Whether a call with so many arguments is right.
    pub fn accepts(self, count: usize) -> bool {
        count >= usize::from(self.min) && self.max.is_none_or(|max| count <= usize::from(max))
    }

    fn of(parameters: &[&str]) -> Self {
        let count = |test: fn(&str) -> bool| parameters.iter().filter(|name| test(name)).count() as u8;
        let variadic = count(|name| name.starts_with('*'));
        let optional = count(|name| name.ends_with('?'));
        let all = parameters.len() as u8;
        Arity { min: all - variadic - optional, max: (variadic == 0).then_some(all) }
    }
}

/// What `use name from module` brings; `None` when there is nothing native of this name.
pub fn import(module: &str, name: &str) -> Option<Import> {
    match CATALOGUE.get(module)?.get(name)? {
        Entry::Function(native) => Some(Import::Function(native)),
        Entry::Constant(value) => Some(Import::Constant(value.clone())),
    }
}

/// The function of a name; `None` for constants and unknown names.
pub fn native(module: &str, name: &str) -> Option<&'static Native> {
    match CATALOGUE.get(module)?.get(name)? {
        Entry::Function(native) => Some(native),
        Entry::Constant(_) => None,
    }
}

/// All modules, sorted.
pub fn modules() -> impl Iterator<Item = &'static str> {
    CATALOGUE.keys().copied()
}

/// All names of a module, sorted; none for an unknown module.
pub fn names(module: &str) -> impl Iterator<Item = &'static str> {
    CATALOGUE.get(module).into_iter().flat_map(|names| names.keys().copied())
}

type Catalogue = BTreeMap<&'static str, BTreeMap<&'static str, Entry>>;

#[derive(Debug)]
enum Entry {
    Function(Native),
    Constant(Value),
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    let mut catalogue = Catalogue::new();
    for native in functions() {
        catalogue.entry(native.module).or_default().insert(native.name, Entry::Function(native));
    }
    for (module, name, value) in constants::all() {
        catalogue.entry(module).or_default().insert(name, Entry::Constant(value));
    }
    catalogue
});

fn functions() -> impl Iterator<Item = Native> {
    let plain = [math::functions(), python::functions(), path::functions(), statistics::functions()].into_iter().flatten();
    plain.chain(numpy::functions()).chain(reduce::functions()).chain(virtmat_math::functions()).chain(operator::functions())
}

#[cfg(test)]
mod tests;
