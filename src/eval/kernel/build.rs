//! Cells from cells: operations over alternatives, constants folded, and choices between two cells.

use std::rc::Rc;

use super::cell::{Cell, Condition, Record, Scalar};
use super::program::{Arg, Const, Kind, Op, Program, Reg};
use crate::diagnostic::Fault;
use crate::units::Unit;
use crate::value::Value;

/// More alternatives than this are not told apart.
const MOST_ALTERNATIVES: usize = 8;

/// What an operation on one value is: for values that are the same in all rows, and for others.
type Unary<'f> = (&'f dyn Fn(&Value) -> Result<Value, Fault>, &'f dyn Fn(&mut Program, Scalar) -> Option<Scalar>);

/// What an operation on two values is.
type Binary<'f> = (&'f dyn Fn(&Value, &Value) -> Result<Value, Fault>, &'f dyn Fn(&mut Program, Scalar, Scalar) -> Option<Scalar>);

impl Program {
    /// A scalar that is the same for all rows; `None` for what no column can hold.
    pub fn constant(&mut self, value: &Value) -> Option<Scalar> {
        let (constant, unit) = match value {
            Value::Bool(bool) => (Const::Bool(*bool), Unit::NONE),
            Value::Str(text) => (self.string(text), Unit::NONE),
            Value::Quantity(quantity) => (Const::number(&quantity.number)?, quantity.unit),
            Value::Null | Value::Tuple(_) | Value::Dict(_) | Value::Series(_) | Value::Table(_) | Value::Array(_) | Value::Function(_) => {
                return None;
            }
        };
        Some(Scalar { arg: Arg::Const(constant), kind: constant.kind(), unit, nullable: false, untyped: false })
    }

    /// An operation on one value.
    pub fn unary(&mut self, cell: &Cell, operation: Unary) -> Cell {
        let (fold, apply) = operation;
        match cell {
            Cell::Spoilt | Cell::Record(_) => Cell::Spoilt,
            Cell::Same(value) => fold(value).map_or(Cell::Spoilt, Cell::Same),
            Cell::Scalar(scalar) => apply(self, *scalar).into(),
            Cell::Either(condition, arms) => {
                let (then, otherwise) = (self.unary(&arms.0, operation), self.unary(&arms.1, operation));
                let condition = self.present(*condition);
                self.either(condition, then, otherwise)
            }
        }
    }

    /// An operation on two values.
    pub fn binary(&mut self, left: &Cell, right: &Cell, operation: Binary) -> Cell {
        let (fold, apply) = operation;
        match (left, right) {
            (Cell::Spoilt | Cell::Record(_), _) | (_, Cell::Spoilt | Cell::Record(_)) => Cell::Spoilt,
            (Cell::Either(condition, arms), other) => {
                let (then, otherwise) = (self.binary(&arms.0, other, operation), self.binary(&arms.1, other, operation));
                let condition = self.present(*condition);
                self.either(condition, then, otherwise)
            }
            (other, Cell::Either(condition, arms)) => {
                let (then, otherwise) = (self.binary(other, &arms.0, operation), self.binary(other, &arms.1, operation));
                let condition = self.present(*condition);
                self.either(condition, then, otherwise)
            }
            (Cell::Same(left), Cell::Same(right)) => fold(left, right).map_or(Cell::Spoilt, Cell::Same),
            (Cell::Same(left), Cell::Scalar(right)) => self.constant(left).and_then(|left| apply(self, left, *right)).into(),
            (Cell::Scalar(left), Cell::Same(right)) => self.constant(right).and_then(|right| apply(self, *left, right)).into(),
            (Cell::Scalar(left), Cell::Scalar(right)) => apply(self, *left, *right).into(),
        }
    }

    /// The first value where a condition holds, the second where it does not, `null` where it is missing.
    pub fn either(&mut self, condition: Condition, then: Cell, otherwise: Cell) -> Cell {
        if let (Cell::Record(left), Cell::Record(right)) = (&then, &otherwise) {
            return self.either_record(condition, left, right).into();
        }
        if let (Some(left), Some(right)) = (self.arm(&then), self.arm(&otherwise))
            && let Some(merged) = self.merged(condition, left, right)
        {
            return merged.into();
        }
        let cell = Cell::Either(condition, Rc::new((then, otherwise)));
        if cell.alternatives() > MOST_ALTERNATIVES { Cell::Spoilt } else { cell }
    }

    /// A condition that spoils the rows where it is missing: there an operation gets a `null` without type.
    pub fn present(&mut self, condition: Condition) -> Condition {
        if !condition.nullable {
            return condition;
        }
        Condition { reg: self.emit(Op::Present(condition.reg), Kind::Bool), nullable: false }
    }

    /// Records of the same names; they cannot be missing as a whole.
    fn either_record(&mut self, condition: Condition, left: &Record, right: &Record) -> Option<Cell> {
        let pairs = || left.fields.iter().zip(&right.fields);
        if left.fields.len() != right.fields.len() || pairs().any(|((left, _), (right, _))| left != right) {
            return None;
        }
        let condition = self.present(condition);
        let fields = pairs().map(|((name, then), (_, otherwise))| {
            let cell = self.either(condition, then.clone(), otherwise.clone());
            // A member that is not used must still be known to be spoilt.
            let mut is_computed = false;
            [then, otherwise].into_iter().for_each(|arm| registers(arm, &mut |_| is_computed = true));
            let is_lost = is_computed && matches!(cell, Cell::Spoilt);
            (!is_lost).then(|| (name.clone(), cell))
        });
        Some(Cell::Record(Rc::new(Record::new(fields.collect::<Option<_>>()?))))
    }

    /// One scalar for two arms; `None` within when nothing is left to choose, and around it when they are of different kinds or units.
    fn merged(&mut self, condition: Condition, then: Arm, otherwise: Arm) -> Option<Option<Scalar>> {
        let (kind, unit) = match (then, otherwise) {
            (Arm::Scalar(left), Arm::Scalar(right)) if left.kind != right.kind || !left.unit.is_identical(right.unit) => return None,
            (Arm::Scalar(scalar), _) | (_, Arm::Scalar(scalar)) => (scalar.kind, scalar.unit),
            _ => return Some(None),
        };
        let mut nullable = condition.nullable;
        let mut untyped = condition.nullable;
        let regs = [then, otherwise].map(|arm| match arm {
            Arm::Scalar(scalar) => {
                nullable |= scalar.nullable;
                untyped |= scalar.untyped;
                self.reg(scalar.arg)
            }
            Arm::Null => {
                (nullable, untyped) = (true, true);
                self.emit(Op::Missing, kind)
            }
            Arm::Spoilt => self.emit(Op::Spoilt, kind),
        });
        let arg = Arg::Reg(self.emit(Op::Select(condition.reg, regs[0], regs[1]), kind));
        Some(Some(Scalar { arg, kind, unit, nullable, untyped }))
    }

    /// A cell as one side of a choice between scalars.
    fn arm(&mut self, cell: &Cell) -> Option<Arm> {
        match cell {
            Cell::Spoilt => Some(Arm::Spoilt),
            Cell::Same(Value::Null) => Some(Arm::Null),
            Cell::Same(value) => self.constant(value).map(Arm::Scalar),
            Cell::Scalar(scalar) => Some(Arm::Scalar(*scalar)),
            Cell::Record(_) | Cell::Either(..) => None,
        }
    }

    /// A cell in a register whose elements are spoilt where those of others are, which are evaluated too but not used.
    pub fn after(&mut self, cell: Cell, others: &[Reg]) -> Cell {
        others.iter().fold(cell, |cell, other| {
            let spoil = |program: &mut Program, scalar: Scalar| {
                let reg = program.reg(scalar.arg);
                Some(Scalar { arg: Arg::Reg(program.emit(Op::After(reg, *other), scalar.kind)), ..scalar })
            };
            match &cell {
                Cell::Same(value) => self.constant(value).and_then(|scalar| spoil(self, scalar)).into(),
                _ => self.unary(&cell, (&|value| Ok(value.clone()), &spoil)),
            }
        })
    }
}

/// One side of a choice between scalars.
#[derive(Clone, Copy)]
enum Arm {
    Spoilt,
    Null,
    Scalar(Scalar),
}

/// Registers that a cell is made of.
pub fn registers(cell: &Cell, each: &mut dyn FnMut(Reg)) {
    match cell {
        Cell::Spoilt | Cell::Same(_) => {}
        Cell::Scalar(scalar) => {
            if let Arg::Reg(reg) = scalar.arg {
                each(reg);
            }
        }
        Cell::Record(record) => record.fields.iter().for_each(|(_, field)| registers(field, each)),
        Cell::Either(condition, arms) => {
            each(condition.reg);
            registers(&arms.0, each);
            registers(&arms.1, each);
        }
    }
}
