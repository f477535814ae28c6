//! What is known of a value before it is computed.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::UnitType;

/// Names and types, in order: of a dict's members or a table's columns.
pub type Members = Arc<[(Arc<str>, Type)]>;

/// A static type; `None` and [`Type::Any`] mean "not known".
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Type {
    /// Nothing is known.
    Any,
    /// `true`, `false`
    Bool,
    /// A string.
    Str,
    /// A number with a unit.
    Number {
        /// Whole, real, complex.
        kind: NumberType,
        /// What is known of its unit.
        unit: UnitType,
    },
    /// What a native function gives: a number, or numbers in the shape of an argument. Python does not say before the call, so
    /// `info` knows no more than for [`Type::Any`].
    Native(UnitType),
    /// `(a, b)`
    Tuple(Option<Arc<[Type]>>),
    /// `{k: v}`, and a row of a table in a lambda.
    Dict(Option<Members>),
    /// A column.
    Series {
        /// Type of its elements.
        element: Arc<Type>,
        /// How many.
        len: Option<usize>,
        /// Its name.
        name: Option<Arc<str>>,
    },
    /// Named columns.
    Table {
        /// Names and element types.
        columns: Option<Members>,
        /// How many rows.
        len: Option<usize>,
    },
    /// A rectangular array.
    Array {
        /// Type of its elements.
        element: Arc<Type>,
        /// Lengths of its axes.
        shape: Option<Arc<[usize]>>,
    },
    /// An imported function.
    Function,
}

/// Kinds of number, each a subset of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NumberType {
    /// Whole.
    Integer,
    /// Real.
    Float,
    /// Complex.
    Complex,
    /// Some number.
    Number,
}

/// The most collections of which a type may be made.
const MOST_NESTED: usize = 200;

impl Type {
    /// A number of a kind, of unknown unit.
    pub fn number(kind: NumberType) -> Type {
        Type::Number { kind, unit: UnitType::Any }
    }

    /// What is known of the unit of a number, or of the numbers of a series or array.
    pub fn unit(&self) -> UnitType {
        match self {
            Type::Number { unit, .. } | Type::Native(unit) => *unit,
            Type::Series { element, .. } | Type::Array { element, .. } => element.unit(),
            Type::Any | Type::Bool | Type::Str | Type::Tuple(_) | Type::Dict(_) | Type::Table { .. } | Type::Function => UnitType::Any,
        }
    }

    /// Numbers with other knowledge of their unit; types without numbers stay as they are.
    pub fn with_unit(self, unit: UnitType) -> Type {
        match self {
            Type::Number { kind, .. } => Type::Number { kind, unit },
            Type::Array { element, shape } => Type::Array { element: Arc::new(element.as_ref().clone().with_unit(unit)), shape },
            Type::Series { element, len, name } => Type::Series { element: Arc::new(element.as_ref().clone().with_unit(unit)), len, name },
            other => other,
        }
    }

    /// What is known after any number of steps that make this of `start`, none included: a dimension only if a step does not change
    /// it, for a product of lengths depends on how many there are.
    pub fn repeated(&self, start: &Type) -> Type {
        let members = |of: &Members, from: &Members| {
            let member = |(name, ty): &(Arc<str>, Type)| {
                let from = from.iter().find(|(known, _)| known == name).map_or(&Type::Any, |(_, ty)| ty);
                (name.clone(), ty.repeated(from))
            };
            of.iter().map(member).collect()
        };
        match (self, start) {
            (Type::Number { kind, unit }, _) => Type::Number { kind: *kind, unit: unit.loosened().common(start.unit().loosened()) },
            (Type::Native(unit), _) => Type::Native(unit.loosened().common(start.unit().loosened())),
            (Type::Dict(Some(of)), Type::Dict(Some(from))) => Type::Dict(Some(members(of, from))),
            (Type::Table { columns: Some(of), .. }, Type::Table { columns: Some(from), .. }) => {
                Type::Table { columns: Some(members(of, from)), len: None }
            }
            (Type::Series { element, .. }, Type::Series { element: from, .. }) => Type::series(element.repeated(from)),
            (Type::Array { element, .. }, Type::Array { element: from, .. }) => {
                Type::Array { element: Arc::new(element.repeated(from)), shape: None }
            }
            (Type::Tuple(Some(of)), Type::Tuple(Some(from))) if of.len() == from.len() => {
                Type::Tuple(Some(of.iter().zip(from.iter()).map(|(of, from)| of.repeated(from)).collect()))
            }
            (Type::Bool | Type::Str | Type::Function | Type::Any, _) => self.clone(),
            (Type::Dict(_), _) => Type::Dict(None),
            (Type::Tuple(_), _) => Type::Tuple(None),
            (Type::Table { .. }, _) => Type::Table { columns: None, len: None },
            (Type::Series { .. }, _) => Type::series(Type::Any),
            (Type::Array { .. }, _) => Type::Any,
        }
    }

    /// A series of unknown length and name.
    pub fn series(element: Type) -> Type {
        Type::Series { element: Arc::new(element), len: None, name: None }
    }

    /// Whether nothing is known of what kind of value it is.
    pub fn is_any(&self) -> bool {
        matches!(self, Type::Any | Type::Native(_))
    }

    /// Forgets units but for their dimensions: what a parameter of a lambda is known by.
    pub fn loosened(&self) -> Type {
        match self {
            Type::Number { kind, unit } => Type::Number { kind: *kind, unit: unit.loosened() },
            Type::Native(unit) => Type::Native(unit.loosened()),
            Type::Dict(Some(members)) => Type::Dict(Some(members.iter().map(|(key, member)| (key.clone(), member.loosened())).collect())),
            Type::Any
            | Type::Bool
            | Type::Str
            | Type::Tuple(_)
            | Type::Dict(None)
            | Type::Series { .. }
            | Type::Table { .. }
            | Type::Array { .. }
            | Type::Function => self.clone(),
        }
    }

    /// Forgets what is inside when that is so much that comparing types would take long: pairs of pairs of pairs share their parts,
    /// but to compare them is to look at every part as often as it is used.
    pub fn bounded(self) -> Type {
        match (&self, self.left_of(MOST_NESTED)) {
            (_, Some(_)) => self,
            (Type::Tuple(_), None) => Type::Tuple(None),
            (Type::Dict(_), None) => Type::Dict(None),
            (Type::Table { len, .. }, None) => Type::Table { columns: None, len: *len },
            (
                Type::Any
                | Type::Bool
                | Type::Str
                | Type::Number { .. }
                | Type::Native(_)
                | Type::Series { .. }
                | Type::Array { .. }
                | Type::Function,
                None,
            ) => Type::Any,
        }
    }

    /// What is left of a budget of collections; `None` when it does not suffice.
    fn left_of(&self, budget: usize) -> Option<usize> {
        let budget = if self.is_scalar() == Some(false) { budget.checked_sub(1)? } else { budget };
        match self {
            Type::Tuple(Some(members)) => members.iter().try_fold(budget, |budget, member| member.left_of(budget)),
            Type::Dict(Some(members)) | Type::Table { columns: Some(members), .. } => {
                members.iter().try_fold(budget, |budget, (_, member)| member.left_of(budget))
            }
            Type::Series { element, .. } | Type::Array { element, .. } => element.left_of(budget),
            Type::Tuple(None)
            | Type::Dict(None)
            | Type::Table { columns: None, .. }
            | Type::Any
            | Type::Bool
            | Type::Str
            | Type::Number { .. }
            | Type::Native(_)
            | Type::Function => Some(budget),
        }
    }

    /// What kind of thing it is, for messages: `a number`, `a series`.
    pub fn describe(&self) -> &'static str {
        match self {
            Type::Any | Type::Native(_) => "a value",
            Type::Bool => "a boolean",
            Type::Str => "a string",
            Type::Number { kind: NumberType::Integer, .. } => "an integer",
            Type::Number { kind: NumberType::Float, .. } => "a float",
            Type::Number { kind: NumberType::Complex, .. } => "a complex number",
            Type::Number { kind: NumberType::Number, .. } => "a number",
            Type::Tuple(_) => "a tuple",
            Type::Dict(_) => "a dict",
            Type::Series { .. } => "a series",
            Type::Table { .. } => "a table",
            Type::Array { .. } => "an array",
            Type::Function => "a function",
        }
    }

    /// The name that `info` prints.
    pub fn name(&self) -> &'static str {
        match self {
            Type::Any | Type::Native(_) => "Any",
            Type::Bool => "Boolean",
            Type::Str => "String",
            Type::Number { .. } => "Quantity",
            Type::Tuple(_) => "Tuple",
            Type::Dict(_) => "Dict",
            Type::Series { .. } => "Series",
            Type::Table { .. } => "Table",
            Type::Array { .. } => "Array",
            Type::Function => "Function",
        }
    }

    /// Whether it is one value rather than a collection; `None` when not known.
    pub fn is_scalar(&self) -> Option<bool> {
        match self {
            Type::Any | Type::Native(_) => None,
            Type::Bool | Type::Str | Type::Number { .. } => Some(true),
            Type::Tuple(_) | Type::Dict(_) | Type::Series { .. } | Type::Table { .. } | Type::Array { .. } | Type::Function => Some(false),
        }
    }

    /// Whether it is made of numbers; `None` when not known.
    pub fn is_numeric(&self) -> Option<bool> {
        match self {
            Type::Any | Type::Native(_) => None,
            Type::Number { .. } => Some(true),
            Type::Series { element, .. } | Type::Array { element, .. } => element.is_numeric(),
            Type::Bool | Type::Str | Type::Tuple(_) | Type::Dict(_) | Type::Table { .. } | Type::Function => Some(false),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe())?;
        match self {
            Type::Series { element, .. } | Type::Array { element, .. } if !element.is_any() => {
                write!(f, " of {}", element.plural())
            }
            _ => Ok(()),
        }
    }
}

impl Type {
    fn plural(&self) -> &'static str {
        match self {
            Type::Any | Type::Native(_) => "values",
            Type::Bool => "booleans",
            Type::Str => "strings",
            Type::Number { kind: NumberType::Integer, .. } => "integers",
            Type::Number { kind: NumberType::Float, .. } => "floats",
            Type::Number { kind: NumberType::Complex, .. } => "complex numbers",
            Type::Number { kind: NumberType::Number, .. } => "numbers",
            Type::Tuple(_) => "tuples",
            Type::Dict(_) => "dicts",
            Type::Series { .. } => "series",
            Type::Table { .. } => "tables",
            Type::Array { .. } => "arrays",
            Type::Function => "functions",
        }
    }
}

impl NumberType {
    /// The name that `info` prints as datatype.
    pub fn name(self) -> &'static str {
        match self {
            NumberType::Integer => "Integer",
            NumberType::Float => "Float",
            NumberType::Complex => "Complex",
            NumberType::Number => "Number",
        }
    }
}
