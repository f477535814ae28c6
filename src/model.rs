//! The checked program.
//!
//! A model holds no unresolved name, no unknown unit and no unvalidated request: `check` is the only way to make one. Names are
//! ids, literals are values, and what a value is called is part of the tree ([`ExprKind::Map`] carries the name of its result).
//! A [`Task`] is the part of a model that one job evaluates, closed over its inputs, and can be written to a file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::resources::Request;
use crate::source::{Span, Spanned};
use crate::syntax::ast::{AddOp, Aggregate, Medium, MulOp, Part, SourceKind};
use crate::units::Unit;
use crate::value::Value;

pub use crate::ops::{Comparison, Property, Target};
pub use types::{NumberType, Type};
pub use unit_type::UnitType;
pub use visit::Child;

mod literal;
mod types;
mod unit_type;
mod visit;

/// A variable of a model, or an input of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VarId(pub u32);

/// A user's function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FunctionId(pub u32);

impl VarId {
    /// As an index into [`Model::variables`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl FunctionId {
    /// As an index into [`Model::functions`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A whole checked program.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// In the order of the text.
    pub variables: Vec<Variable>,
    /// In the order of the text.
    pub functions: Vec<Function>,
    /// Prints, views and exports in the order of the text.
    pub outputs: Vec<Output>,
}

/// A variable and how it is computed.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Unique among variables, functions and imports.
    pub name: Arc<str>,
    /// Where the name is defined.
    pub name_span: Span,
    /// The whole statement.
    pub span: Span,
    /// Its value.
    pub expr: Expr,
    /// Whether `?` marks it.
    pub non_strict: bool,
    /// `in K chunks`, for a map, filter or reduce that is the whole expression.
    pub chunks: Option<Spanned<u32>>,
    /// Makes it a batch task.
    pub request: Option<Box<Spanned<Request>>>,
    /// What is known of its value.
    pub ty: Type,
}

/// A user's function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Its name.
    pub name: Arc<str>,
    /// Where the name is defined.
    pub name_span: Span,
    /// Names of its parameters, for messages.
    pub parameters: Vec<Arc<str>>,
    /// Parameters are `Local {depth: 0, index}` at its top.
    pub body: Expr,
}

/// A statement that has an effect.
#[derive(Clone, Debug)]
pub enum Output {
    /// `print(…)`
    Print {
        /// The statement.
        span: Span,
        /// What is printed on its line.
        parameters: Vec<Parameter>,
    },
    /// `view mode (…)`
    View {
        /// The statement.
        span: Span,
        /// `lineplot`, …
        mode: Arc<str>,
        /// What is drawn.
        parameters: Vec<Parameter>,
    },
    /// `place to file 'path'`
    Export {
        /// The statement.
        span: Span,
        /// What is written.
        place: Expr,
        /// `file` or `url`.
        medium: Medium,
        /// Where to.
        path: Spanned<Arc<str>>,
    },
}

impl Output {
    /// What it computes.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let (parameters, place) = match self {
            Output::Print { parameters, .. } | Output::View { parameters, .. } => (parameters.as_slice(), None),
            Output::Export { place, .. } => (Default::default(), Some(place)),
        };
        parameters.iter().map(|parameter| &parameter.expr).chain(place)
    }

    /// The statement.
    pub fn span(&self) -> Span {
        match self {
            Output::Print { span, .. } | Output::View { span, .. } | Output::Export { span, .. } => *span,
        }
    }
}

/// Something printed or drawn.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The value.
    pub expr: Expr,
    /// What it is converted to.
    pub target: Option<Spanned<Target>>,
}

/// A checked expression.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Expr {
    /// From its first to its last token.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// The kinds of checked expression.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ExprKind {
    /// A constant: null, a boolean, a string, a quantity, an array, an imported constant or function.
    Literal(#[serde(with = "literal")] Value),
    /// `2.0 +/- 0.1 [m]`: each evaluation is an independent variable.
    Uncertain {
        /// The nominal value.
        nominal: f64,
        /// The standard deviation, not negative.
        deviation: f64,
        /// Of both.
        unit: Unit,
    },
    /// A variable of the model, or an input of the task.
    Variable(VarId),
    /// A parameter of a function or lambda: `depth` lambdas or functions further out.
    Local {
        /// 0 for the innermost.
        depth: u32,
        /// Position among its parameters.
        index: u32,
    },
    /// `-x`
    Negate(Box<Expr>),
    /// `+x`: a number, unchanged.
    Plus(Box<Expr>),
    /// `a + b - c`, from the left.
    Sum(Box<Expr>, Vec<(SumOp, Expr)>),
    /// `a * b / c`, from the left.
    Product(Box<Expr>, Vec<(ProductOp, Expr)>),
    /// `a ** b`
    Power(Box<Expr>, Box<Expr>),
    /// `a < b`
    Compare(Comparison, Box<Expr>, Box<Expr>),
    /// `a in b`: membership in a series or in listed values.
    In(Box<Expr>, Box<Set>),
    /// `not a`
    Not(Box<Expr>),
    /// `a and b`, short-circuiting.
    And(Vec<Expr>),
    /// `a or b`, short-circuiting.
    Or(Vec<Expr>),
    /// Only the taken branch is evaluated.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// `{k: v}`
    Dict(Vec<(Arc<str>, Expr)>),
    /// `(name: …) [unit]`
    Series {
        /// Its name.
        name: Arc<str>,
        /// Elements.
        elements: Vec<Expr>,
        /// Multiplied with each bare element.
        unit: Option<Unit>,
    },
    /// Series of one length.
    Table(Vec<Expr>),
    /// `x.key`
    Key(Box<Expr>, Arc<str>),
    /// `x[i]`
    Index(Box<Expr>, i64),
    /// `x[start:stop:step]`
    Slice(Box<Expr>, Slice),
    /// `x:name`
    Property(Box<Expr>, Property),
    /// A call of a user's function; arguments are evaluated at most once, when needed.
    Call(FunctionId, Vec<Expr>),
    /// A call of a native function.
    Native(NativeName, Vec<Expr>),
    /// `map(f, a, b)`; a series, or a table when all results are dicts.
    Map {
        /// Name of the resulting series.
        name: Arc<str>,
        /// As many parameters as inputs.
        function: Box<Callee>,
        /// Series or tables.
        inputs: Vec<Expr>,
    },
    /// `filter(f, a)`
    Filter {
        /// Name of the resulting series.
        name: Arc<str>,
        /// One parameter.
        function: Box<Callee>,
        /// A series or a table.
        input: Box<Expr>,
    },
    /// `reduce(f, a)`
    Reduce {
        /// Two parameters.
        function: Box<Callee>,
        /// A series or a table.
        input: Box<Expr>,
    },
    /// `sum(s)`, `sum(a, b)`
    Aggregate(AggregateKind, Vec<Expr>),
    /// `real(x)`, `imag(x)`
    Part(PartKind, Box<Expr>),
    /// `range(a, b, c)`
    Range {
        /// Name of the resulting series.
        name: Arc<str>,
        /// First value.
        start: Box<Expr>,
        /// Not reached.
        stop: Box<Expr>,
        /// Difference of neighbours.
        step: Box<Expr>,
    },
    /// `info(x)`
    Info {
        /// Of what.
        value: Box<Expr>,
        /// The variable's name, when it is one.
        name: Option<Arc<str>>,
        /// What is known of it without evaluation.
        ty: Box<Type>,
    },
    /// `Quantity from file 'a.yaml'`
    Source {
        /// What is expected.
        kind: LoadKind,
        /// A string.
        path: Box<Expr>,
    },
    /// `t select a where …`
    Query {
        /// A table or series.
        source: Box<Expr>,
        /// Columns to keep, in this order.
        select: Option<Vec<Spanned<Arc<str>>>>,
        /// Rows to keep.
        condition: Option<Box<Condition>>,
    },
}

/// The right side of `in`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Set {
    /// A series.
    Series(Expr),
    /// `(a, b, null)`
    Values(Vec<Expr>),
}

/// What map, filter and reduce apply.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Callee {
    /// Parameters are `Local {depth: 0, index}` at the top of its body.
    Lambda {
        /// With its parentheses.
        span: Span,
        /// Names of its parameters.
        parameters: Vec<Arc<str>>,
        /// What it gives.
        body: Box<Expr>,
    },
    /// A user's function.
    Function(FunctionId, Span),
    /// A native function.
    Native(NativeName, Span),
}

/// A native function, by module and name; the catalogue of `builtin` has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NativeName {
    /// `math`, `numpy`, …
    pub module: Arc<str>,
    /// `exp`, …
    pub name: Arc<str>,
}

/// A row condition of a query.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Condition {
    /// A comparison with at least one column.
    Compare(Span, Comparison, Operand, Operand),
    /// `c in …`
    In(Span, Spanned<Arc<str>>, Box<Set>),
    /// `not …`
    Not(Box<Condition>),
    /// All of them.
    And(Vec<Condition>),
    /// Any of them.
    Or(Vec<Condition>),
    /// A condition without columns, the same for each row.
    Constant(Expr),
}

/// One side of a comparison in a query.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Operand {
    /// `column:c`
    Column(Spanned<Arc<str>>),
    /// Any expression, the same for each row.
    Value(Expr),
}

macro_rules! mirror {
    ($(#[$doc:meta])* $name:ident from $ast:ident { $($(#[$vdoc:meta])* $variant:ident = $from:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }
        impl From<$ast> for $name {
            fn from(kind: $ast) -> Self {
                match kind {
                    $($ast::$from => $name::$variant),+
                }
            }
        }
    };
}

mirror! {
    /// Operators of a sum.
    SumOp from AddOp {
        /// `+`
        Add = Add,
        /// `-`
        Subtract = Subtract,
    }
}

mirror! {
    /// Operators of a product.
    ProductOp from MulOp {
        /// `*`
        Multiply = Multiply,
        /// `/`
        Divide = Divide,
    }
}

mirror! {
    /// Functions of a series or of a list of scalars.
    AggregateKind from Aggregate {
        /// `sum`
        Sum = Sum,
        /// `any`
        Any = Any,
        /// `all`
        All = All,
    }
}

mirror! {
    /// Parts of a complex number.
    PartKind from Part {
        /// `real`
        Real = Real,
        /// `imag`
        Imaginary = Imaginary,
    }
}

mirror! {
    /// What a file is expected to hold.
    LoadKind from SourceKind {
        /// A number with a unit.
        Quantity = Quantity,
        /// A boolean.
        Bool = Bool,
        /// A string.
        String = String,
        /// A series.
        Series = Series,
        /// A table.
        Table = Table,
        /// An array of booleans.
        BoolArray = BoolArray,
        /// An array of strings.
        StrArray = StrArray,
        /// An array of integers.
        IntArray = IntArray,
        /// An array of floats.
        FloatArray = FloatArray,
        /// An array of complex numbers.
        ComplexArray = ComplexArray,
        /// An atomistic structure.
        Structure = Structure,
    }
}

/// Python's slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// First index.
    pub start: Option<i64>,
    /// Not reached.
    pub stop: Option<i64>,
    /// Not zero.
    pub step: Option<i64>,
}

/// What one job evaluates: an expression, closed over its inputs, with the functions that it calls.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The variable, with the number of its chunk if it is one: `rates`, `rates#1`.
    pub name: Arc<str>,
    /// Its variables are inputs by position.
    pub expr: Expr,
    /// Its function ids are positions here.
    pub functions: Vec<Function>,
    /// Names of the inputs, for people.
    pub inputs: Vec<Arc<str>>,
}
