//! The syntax tree: what was written, not yet what it means.
//!
//! Chains of `+ -`, `* /`, `and`, `or` are flat lists, so that their length never becomes depth. What is large and rare is boxed: a
//! node is as large as the largest, and a program has many of them. What may nest is bounded by the
//! token adapter (`layout`), so that walking and dropping a tree need no more than the stack of the main thread.

use std::sync::Arc;

use crate::source::{Span, Spanned};

/// A name or a quoted key, without its quotes.
pub type Name = Spanned<Arc<str>>;

mod visit;

/// A whole program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ast {
    /// In the order of the text; faulty ones are left out.
    pub statements: Vec<Statement>,
    /// In the order of the text.
    pub allowances: Vec<Allowance>,
}

/// `# allow(W0604)`
#[derive(Clone, Debug, PartialEq)]
pub struct Allowance {
    /// As written.
    pub codes: Vec<Spanned<Arc<str>>>,
    /// The statements that it is about; empty when there are none.
    pub within: Span,
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// From its first to its last token.
    pub span: Span,
    /// What it is.
    pub kind: StatementKind,
}

/// The kinds of statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `name = value ? for … on …`
    Variable(Binding),
    /// `name := value …`
    Update(Binding),
    /// `name(parameters) = body`
    Function {
        /// Its name.
        name: Name,
        /// At least one, unless faulty (`f() = 1` is for the checker to refuse).
        parameters: Vec<Name>,
        /// What it gives.
        body: Expr,
    },
    /// `use names from module`, `from module use names`, `use module.name`
    Import {
        /// At least one.
        names: Vec<Name>,
        /// The parts between the dots.
        module: Vec<Name>,
    },
    /// `print(…)`
    Print(Vec<Parameter>),
    /// `view mode (…)`
    View {
        /// `lineplot`, …
        mode: Name,
        /// What is drawn.
        parameters: Vec<Parameter>,
    },
    /// `place to file 'path'`
    Export {
        /// A name with accessors, a property or a query.
        place: Expr,
        /// `file` or `url`.
        medium: Medium,
        /// Where to.
        path: Name,
    },
    /// `vary table`
    Vary(Expr),
    /// `tag table`, `tag dict`
    Tag(Expr),
}

/// A variable's definition or update.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// What is defined.
    pub name: Name,
    /// Its value.
    pub value: Expr,
    /// The place of `?`.
    pub non_strict: Option<Span>,
    /// `for …` and `on …`.
    pub resources: Option<Box<Resources>>,
}

/// A resource annotation; at least one of both is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Resources {
    /// The whole annotation.
    pub span: Span,
    /// `for TIME`
    pub walltime: Option<Measure>,
    /// `on N cores`
    pub cores: Option<Cores>,
}

/// `on N cores with MEMORY`
#[derive(Clone, Debug, PartialEq)]
pub struct Cores {
    /// From `on` to the memory.
    pub span: Span,
    /// As written, with its sign.
    pub count: Spanned<Arc<str>>,
    /// Per core.
    pub memory: Option<Measure>,
}

/// A number literal with its sign and unit, kept as text so that it can be read exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Number and unit.
    pub span: Span,
    /// The number as written, with its sign.
    pub number: Arc<str>,
    /// The unit in brackets.
    pub unit: Option<Box<UnitExpr>>,
}

/// Something printed or drawn, with the unit that it is converted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The value.
    pub value: Expr,
    /// The target unit.
    pub unit: Option<Box<UnitExpr>>,
}

/// Where data come from or go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// `file`
    File,
    /// `url`
    Url,
}

/// A unit in brackets.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitExpr {
    /// With the brackets.
    pub span: Span,
    /// Left to right.
    pub factors: Vec<UnitFactor>,
}

/// One factor of a unit expression.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitFactor {
    /// Name and exponent.
    pub span: Span,
    /// Whether `/` stands before it.
    pub divide: bool,
    /// A name, or a number (of which only `1` means something).
    pub base: UnitBase,
    /// As written after `**`, with its sign.
    pub exponent: Option<Box<Spanned<Arc<str>>>>,
}

/// What a unit factor is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum UnitBase {
    /// `km`
    Name(Arc<str>),
    /// `1`
    Number(Arc<str>),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// From its first to its last token.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// The kinds of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number with an optional uncertainty and unit.
    Number {
        /// The magnitude.
        number: Number,
        /// After `+/-` or `±`: a number, or `null` (which the checker refuses).
        uncertainty: Option<Box<Expr>>,
        /// In brackets.
        unit: Option<Box<UnitExpr>>,
    },
    /// Quotes taken off, `\'`, `\"` and `\\` replaced.
    String(Arc<str>),
    /// `true`, `false`
    Bool(bool),
    /// `null`, `default`
    Null,
    /// A name.
    Reference(Arc<str>),
    /// `name@uuid`
    Reuse {
        /// Before `@`.
        name: Arc<str>,
        /// 32 hexadecimal digits.
        uuid: Arc<str>,
    },
    /// `x.key`
    Key(Box<Expr>, Name),
    /// `x[i]`
    Index(Box<Expr>, Spanned<Arc<str>>),
    /// `x[start:stop:step]`
    Slice(Box<Expr>, Box<Slice>),
    /// `x:name`, `x:array`, `x:columns`
    Property(Box<Expr>, Spanned<Property>),
    /// `f(…)`
    Call {
        /// The function's name.
        function: Name,
        /// Possibly none, for the checker to refuse.
        arguments: Vec<Expr>,
    },
    /// `-x`, `+x`
    Sign(Sign, Box<Expr>),
    /// `a + b - c`
    Sum(Box<Expr>, Vec<(AddOp, Expr)>),
    /// `a * b / c`
    Product(Box<Expr>, Vec<(MulOp, Expr)>),
    /// `a ** b`
    Power(Box<Expr>, Box<Expr>),
    /// `a < b`
    Comparison(Box<Expr>, Spanned<CompareOp>, Box<Expr>),
    /// `a in b`
    Membership(Box<Expr>, Box<Expr>),
    /// `not a`
    Not(Box<Expr>),
    /// `a and b and c`
    And(Vec<Expr>),
    /// `a or b or c`
    Or(Vec<Expr>),
    /// `if(c, a, b)`, `a if c else b`
    If {
        /// Boolean.
        condition: Box<Expr>,
        /// When true.
        then: Box<Expr>,
        /// When false.
        otherwise: Box<Expr>,
    },
    /// `(x)`
    Group(Box<Expr>),
    /// `(a, b)`, `(a,)`
    Tuple(Vec<Expr>),
    /// `(name: …) [unit]`
    Series {
        /// Before the colon.
        name: Name,
        /// At least one.
        elements: Vec<Expr>,
        /// Of all elements.
        unit: Option<Box<UnitExpr>>,
    },
    /// `((a: …), (b: …))`, `Table (a, b)`
    Table(Vec<Expr>),
    /// `{k: v}`
    Dict(Vec<(Name, Expr)>),
    /// `[1, 2] [m]`
    Array {
        /// Literals or arrays; the checker refuses anything else.
        elements: Vec<Expr>,
        /// Of all elements.
        unit: Option<Box<UnitExpr>>,
    },
    /// `map(…)`, `filter(…)`, `reduce(…)`
    Iterate {
        /// Which of the three.
        kind: Iterate,
        /// What is applied.
        function: Box<Callee>,
        /// At least one.
        inputs: Vec<Expr>,
        /// The digits of `in K chunks`.
        chunks: Option<Box<Spanned<Arc<str>>>>,
    },
    /// `sum(…)`, `any(…)`, `all(…)`
    Aggregate(Aggregate, Vec<Expr>),
    /// `real(x)`, `imag(x)`
    Part(Part, Box<Expr>),
    /// `range(a, b, c)`, `range from a to b step c`
    Range {
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
        /// After `detail:`.
        detail: Option<Name>,
    },
    /// `Quantity from file 'a.yaml'`
    Source {
        /// What is expected.
        kind: Spanned<SourceKind>,
        /// `file` or `url`.
        medium: Medium,
        /// A string literal or a reference.
        path: Box<Expr>,
    },
    /// `t select a, b where …`
    Query {
        /// A name with at most one key.
        source: Box<Expr>,
        /// Columns to keep.
        select: Option<Vec<Name>>,
        /// Rows to keep.
        condition: Option<Box<Expr>>,
    },
    /// `column:c`, within a condition
    Column(Name),
}

/// A number as written, without its sign unless it is complex.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// Digits.
    Int(Arc<str>),
    /// With a point or an exponent.
    Float(Arc<str>),
    /// Real and imaginary part, the sign before the literal applied to the first that is written: `-1-2 j` is no [`ExprKind::Sign`].
    Complex {
        /// 0 when not written.
        real: f64,
        /// Before `j`.
        imaginary: f64,
    },
}

/// `start:stop:step`, each as written with its sign.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Slice {
    /// First index.
    pub start: Option<Spanned<Arc<str>>>,
    /// Not reached.
    pub stop: Option<Spanned<Arc<str>>>,
    /// Difference of neighbours.
    pub step: Option<Spanned<Arc<str>>>,
}

/// `:name`, `:array`, `:columns`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// The name of a series.
    Name,
    /// The elements of a series.
    Array,
    /// The column names of a table.
    Columns,
}

/// `+` or `-` before an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `+`
    Plus,
    /// `-`
    Minus,
}

/// `+` or `-` between operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
}

/// `*` or `/`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MulOp {
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

/// Comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

/// The three iterating functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iterate {
    /// Element by element.
    Map,
    /// Keeps what is true.
    Filter,
    /// Folds from the left.
    Reduce,
}

/// What map, filter and reduce apply.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// `(x, y: body)`
    Lambda {
        /// With its parentheses.
        span: Span,
        /// At least one.
        parameters: Vec<Name>,
        /// What it gives.
        body: Box<Expr>,
    },
    /// The name of a function.
    Name(Name),
}

/// Functions of a series or of a list of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// `sum`
    Sum,
    /// `any`
    Any,
    /// `all`
    All,
}

/// Parts of a complex number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `real`
    Real,
    /// `imag`
    Imaginary,
}

/// What a file is expected to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A number with a unit.
    Quantity,
    /// A boolean.
    Bool,
    /// A string.
    String,
    /// A series.
    Series,
    /// A table.
    Table,
    /// An array of booleans.
    BoolArray,
    /// An array of strings.
    StrArray,
    /// An array of integers.
    IntArray,
    /// An array of floats.
    FloatArray,
    /// An array of complex numbers.
    ComplexArray,
    /// An atomistic structure.
    Structure,
}
