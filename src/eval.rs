//! From expressions to values.
//!
//! Evaluation is pure: it reads variables through [`Variables`] and the outside through [`World`], and neither waits nor changes
//! anything. When a variable is not there yet, it gives [`Stop::Needs`]; the caller computes it and evaluates again. So no chain of
//! variables, however long, becomes depth of the stack, and what is not needed (the branch not taken, an operand that cannot change
//! the result) is never computed.

use std::cell::Cell;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Fault};
use crate::model::{Expr, Function, LoadKind, Parameter, Task, VarId};
use crate::ops;
use crate::source::Span;
use crate::value::Value;

pub use functions::limit_threads;
pub use kernel::obstacles;

mod collections;
mod functions;
mod info;
mod kernel;
mod query;
mod scalar;

/// The stack of every thread that evaluates: what [`MAX_DEPTH`] needs in a debug build, twice.
pub const STACK_SIZE: usize = 256 << 20;

/// Below so many elements a column program does not pay.
const COLUMNS_FROM: usize = 64;

/// How deep evaluation may recurse. The checker bounds the calls that are written inside one another, but arguments are evaluated
/// where they are first used, and a chain of those can be as long as the program has time for.
const MAX_DEPTH: u32 = 10_000;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Why there is no value.
#[derive(Clone, Debug)]
pub enum Stop {
    /// Evaluation failed.
    Fault(Box<Diagnostic>),
    /// A variable is needed that has no value yet.
    Needs(VarId),
    /// A variable is needed whose evaluation failed; it was said there.
    Failed(VarId, Span),
    /// The user does not want to wait any longer.
    Interrupted(Span),
}

impl From<Box<Diagnostic>> for Stop {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Stop::Fault(diagnostic)
    }
}

/// The state of a variable.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// Its value.
    Ready(Value),
    /// Not computed yet.
    Pending,
    /// It has no value, and never will.
    Failed,
}

/// Where the values of variables come from.
pub trait Variables: Sync {
    /// The state of a variable.
    fn get(&self, id: VarId) -> Lookup;
}

/// What evaluation may use of the outside.
pub trait World: Send + Sync {
    /// Reads a value of a kind from a file.
    fn load(&self, kind: LoadKind, path: &str) -> Result<Value, Fault>;

    /// The SHA-256 digest of what a file holds now; nothing when it cannot be read, or nothing is known of files.
    fn digest(&self, _path: &str) -> Option<[u8; 32]> {
        None
    }

    /// Whether evaluation is to end early. It is asked before each call and each row, so it must be quick, and once it says so it must
    /// go on saying so.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// Writes values to files.
pub trait Exporter: Send + Sync {
    /// Writes a value; never over something else.
    fn save(&self, value: &Value, path: &str) -> Result<(), Fault>;
}

/// Everything that an expression may refer to.
#[derive(Clone, Copy)]
pub struct Context<'c> {
    /// Functions by their ids.
    pub functions: &'c [Function],
    /// Variables by their ids.
    pub variables: &'c dyn Variables,
    /// Files.
    pub world: &'c dyn World,
}

/// The value of an expression.
pub fn evaluate(expr: &Expr, context: Context) -> Result<Value, Stop> {
    Evaluator { context, columns_from: COLUMNS_FROM }.eval(expr, &Env::GLOBAL)
}

/// The line that a print statement prints.
pub fn line(parameters: &[Parameter], context: Context) -> Result<String, Stop> {
    let mut parts = Vec::with_capacity(parameters.len());
    for parameter in parameters {
        parts.push(parameter_value(parameter, context)?.to_string());
    }
    Ok(parts.join(" "))
}

/// The value of something printed or drawn, converted to its target unit.
pub fn parameter_value(parameter: &Parameter, context: Context) -> Result<Value, Stop> {
    use crate::diagnostic::At;
    let value = evaluate(&parameter.expr, context)?;
    match &parameter.target {
        None => Ok(value),
        Some(target) => Ok(ops::convert(&value, target.node).at(parameter.expr.span.to(target.span))?),
    }
}

/// An input of a task.
#[derive(Clone, Debug)]
pub enum Input {
    /// Its value.
    Value(Value),
    /// It has none, because its evaluation failed; matters only when it is used.
    Failed,
}

/// Evaluates what a job was made for.
pub fn run(task: &Task, inputs: &[Input], world: &dyn World) -> Result<Value, Box<Diagnostic>> {
    let context = Context { functions: &task.functions, variables: &Inputs(inputs), world };
    evaluate(&task.expr, context).map_err(|stop| match stop {
        Stop::Fault(diagnostic) => diagnostic,
        Stop::Needs(id) => Box::new(missing_input(task, id, task.expr.span)),
        Stop::Failed(id, span) => Box::new(missing_input(task, id, span)),
        Stop::Interrupted(span) => Box::new(Diagnostic::error("E0446", "evaluation was interrupted", span)),
    })
}

fn missing_input(task: &Task, id: VarId, span: Span) -> Diagnostic {
    let name = task.inputs.get(id.index()).map_or("an input", AsRef::as_ref);
    Diagnostic::error("E0440", format!("`{name}` has no value because its evaluation failed"), span)
}

struct Inputs<'i>(&'i [Input]);

impl Variables for Inputs<'_> {
    fn get(&self, id: VarId) -> Lookup {
        match self.0.get(id.index()) {
            Some(Input::Value(value)) => Lookup::Ready(value.clone()),
            Some(Input::Failed) | None => Lookup::Failed,
        }
    }
}

/// Parameters of functions and lambdas around an expression.
struct Env<'e> {
    slots: &'e [Slot<'e>],
    outer: Option<&'e Env<'e>>,
}

/// A parameter: a value, or an argument that is evaluated when it is first needed.
enum Slot<'e> {
    Value(Value),
    Lazy { expr: &'e Expr, env: &'e Env<'e>, value: std::sync::OnceLock<Value> },
}

impl Env<'_> {
    const GLOBAL: Env<'static> = Env { slots: &[], outer: None };
}

/// One level of recursion, until it is dropped.
struct Level {
    before: u32,
}

impl Level {
    /// One deeper than the thread is.
    fn deeper(span: Span) -> Result<Level, Stop> {
        let before = DEPTH.get();
        if before >= MAX_DEPTH {
            let fault = Diagnostic::error("E0450", "evaluation is nested too deep", span);
            return Err(Stop::Fault(Box::new(fault.help("assign intermediate results to variables"))));
        }
        Ok(Level::at(before + 1))
    }

    /// As deep as the thread that handed this one its work.
    fn at(depth: u32) -> Level {
        Level { before: DEPTH.replace(depth) }
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.set(self.before);
    }
}

struct Evaluator<'c> {
    context: Context<'c>,
    /// From how many elements on a column program is tried.
    columns_from: usize,
}

impl<'c> Evaluator<'c> {
    fn variable(&self, id: VarId, span: Span) -> Result<Value, Stop> {
        match self.context.variables.get(id) {
            Lookup::Ready(value) => Ok(value),
            Lookup::Pending => Err(Stop::Needs(id)),
            Lookup::Failed => Err(Stop::Failed(id, span)),
        }
    }

    fn local(&self, depth: u32, index: u32, env: &Env) -> Result<Value, Stop> {
        let mut env = env;
        for _ in 0..depth {
            env = env.outer.expect("the checker resolved the depth of each parameter");
        }
        match &env.slots[index as usize] {
            Slot::Value(value) => Ok(value.clone()),
            Slot::Lazy { expr, env, value } => {
                if let Some(value) = value.get() {
                    return Ok(value.clone());
                }
                let computed = self.eval(expr, env)?;
                Ok(value.get_or_init(|| computed).clone())
            }
        }
    }
}

/// A string value.
fn text(text: &str) -> Value {
    Value::Str(Arc::from(text))
}
