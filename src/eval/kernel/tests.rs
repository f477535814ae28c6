//! Column programs against the evaluator of single values: generated lambdas over generated columns, compared bit by bit.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::{Context, Env, Evaluator, Lookup, Stop, Variables, World};
use crate::diagnostic::Fault;
use crate::model::{
    AggregateKind, Callee, Comparison, Condition, Expr, ExprKind, Function, FunctionId, LoadKind, NativeName, Operand, PartKind, ProductOp,
    Set, SumOp, VarId,
};
use crate::source::{FileId, Span, Spanned};
use crate::units::Unit;
use crate::value::{Column, Complex64, Number, Quantity, Series, Table, Value};

/// Decisions, one after the other; the beginning again when they are used up.
struct Choices {
    stream: Vec<u32>,
    at: usize,
    spans: u32,
    parameters: u32,
    units: Vec<Unit>,
    strict: bool,
    calls: bool,
}

impl Choices {
    fn new(stream: Vec<u32>) -> Choices {
        Choices { stream, at: 0, spans: 0, parameters: 2, units: vec![Unit::NONE], strict: true, calls: false }
    }

    fn next(&mut self) -> u32 {
        let choice = self.stream[self.at % self.stream.len()].wrapping_add((self.at / self.stream.len()) as u32);
        self.at += 1;
        choice
    }

    fn pick(&mut self, of: u32) -> u32 {
        self.next() % of
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.pick(of.len() as u32) as usize].clone()
    }

    fn unit(&mut self) -> Unit {
        let units = self.units.clone();
        self.one(&units)
    }

    fn expr(&mut self, kind: ExprKind) -> Expr {
        self.spans += 2;
        Expr { span: Span { file: FileId(0), start: self.spans, end: self.spans + 1 }, kind }
    }

    fn float(&mut self) -> f64 {
        let small = f64::from(self.pick(2000)) / 8.0 - 125.0;
        let special =
            [0.0, -0.0, 1.0, 2.0, 0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE / 4.0, 1e300, 9e18];
        if self.pick(3) == 0 { self.one(&special) } else { small }
    }

    fn int(&mut self) -> i64 {
        let small = i64::from(self.pick(40)) - 12;
        if self.pick(4) == 0 { self.one(&[i64::MAX, i64::MIN, 0, 1, -1, 2, 1 << 53, (1 << 53) + 1, 1 << 32]) } else { small }
    }

    fn complex(&mut self) -> Complex64 {
        Complex64::new(self.float(), self.float())
    }

    fn literal(&mut self) -> Value {
        let number: Number = match self.pick(12) {
            0..6 => Number::Int(i128::from(self.int())),
            6..10 => self.float().into(),
            10 => self.complex().into(),
            _ => Number::Int(1 << 100),
        };
        Value::Quantity(Quantity { number, unit: self.unit() })
    }

    fn column(&mut self, len: usize) -> Series {
        let unit = self.unit();
        let nulls = self.pick(3) == 0;
        let missing = |choices: &mut Choices| nulls && choices.pick(5) == 0;
        let (data, unit): (Column, Unit) = match self.pick(10) {
            0..3 => ((0..len).map(|_| if missing(self) { None } else { Some(self.float()) }).collect(), unit),
            3..6 => ((0..len).map(|_| if missing(self) { None } else { Some(self.int()) }).collect(), unit),
            6 => ((0..len).map(|_| if missing(self) { None } else { Some(self.complex()) }).collect(), unit),
            7 => ((0..len).map(|_| if missing(self) { None } else { Some(self.pick(2) == 0) }).collect(), Unit::NONE),
            8 => {
                let words: Vec<Option<&str>> =
                    (0..len).map(|_| if missing(self) { None } else { Some(self.one(&["a", "b", "", "1.5"])) }).collect();
                (Column::from_strings(words.into_iter()).unwrap(), Unit::NONE)
            }
            _ => (Column::Null(len), unit),
        };
        Series::new(format!("s{}", self.spans), data, unit)
    }

    fn local(&mut self) -> Expr {
        let index = self.pick(self.parameters);
        self.expr(ExprKind::Local { depth: 0, index })
    }

    fn boxed(&mut self, depth: u32) -> Box<Expr> {
        Box::new(self.number(depth))
    }

    fn number(&mut self, depth: u32) -> Expr {
        let Some(depth) = depth.checked_sub(1) else {
            return if self.pick(3) == 0 {
                let value = self.literal();
                self.expr(ExprKind::Literal(value))
            } else {
                self.local()
            };
        };
        let kind = match self.pick(24) {
            0..4 => return self.local(),
            4 => ExprKind::Literal(self.literal()),
            5..9 => {
                let op = self.one(&[SumOp::Add, SumOp::Subtract]);
                ExprKind::Sum(self.boxed(depth), vec![(op, self.number(depth))])
            }
            9..13 => {
                let op = self.one(&[ProductOp::Multiply, ProductOp::Multiply, ProductOp::Divide]);
                ExprKind::Product(self.boxed(depth), vec![(op, self.number(depth))])
            }
            13 => ExprKind::Negate(self.boxed(depth)),
            14 => {
                let value = self.one(&[2.0_f64, 0.5, -1.0, 3.0, 1.0, 0.0, 1.5]);
                let number = if value.fract() == 0.0 && self.pick(2) == 0 { Number::Int(value as i128) } else { Number::Float(value) };
                let exponent = self.expr(ExprKind::Literal(Value::from(number)));
                ExprKind::Power(self.boxed(depth), Box::new(exponent))
            }
            15 => ExprKind::Power(self.boxed(depth), self.boxed(depth)),
            16..18 => ExprKind::If(Box::new(self.truth(depth)), self.boxed(depth), self.boxed(depth)),
            18 => {
                let (module, name) = self.one(&[
                    ("numpy", "exp"),
                    ("numpy", "sqrt"),
                    ("math", "log"),
                    ("math", "sqrt"),
                    ("math", "exp"),
                    ("builtins", "abs"),
                    ("numpy", "floor"),
                    ("math", "floor"),
                    ("numpy", "sin"),
                    ("builtins", "float"),
                ]);
                ExprKind::Native(NativeName { module: module.into(), name: name.into() }, vec![self.number(depth)])
            }
            19 => {
                let (module, name) =
                    self.one(&[("numpy", "maximum"), ("numpy", "arctan2"), ("math", "fmod"), ("numpy", "add"), ("builtins", "max")]);
                ExprKind::Native(NativeName { module: module.into(), name: name.into() }, vec![self.number(depth), self.number(depth)])
            }
            20 => {
                let part = self.one(&[PartKind::Real, PartKind::Imaginary]);
                ExprKind::Part(part, self.boxed(depth))
            }
            21 if self.calls => ExprKind::Call(FunctionId(0), vec![self.number(depth), self.number(depth)]),
            22 => ExprKind::Aggregate(AggregateKind::Sum, vec![self.number(depth), self.number(depth)]),
            _ => match self.pick(6) {
                0 => ExprKind::Literal(Value::Null),
                1 if !self.strict => ExprKind::Variable(VarId(self.pick(4))),
                2 => return self.truth(depth),
                3 => {
                    let members = vec![("a".into(), self.number(depth)), ("b".into(), self.number(depth))];
                    let dict = self.expr(ExprKind::Dict(members));
                    ExprKind::Key(Box::new(dict), "a".into())
                }
                4 => ExprKind::Plus(self.boxed(depth)),
                _ => return self.word(depth),
            },
        };
        self.expr(kind)
    }

    fn truth(&mut self, depth: u32) -> Expr {
        let depth = depth.saturating_sub(1);
        if depth == 0 {
            let (left, right) = (self.boxed(0), self.boxed(0));
            return self.expr(ExprKind::Compare(Comparison::Less, left, right));
        }
        let comparison = self.one(&[
            Comparison::Equal,
            Comparison::NotEqual,
            Comparison::Less,
            Comparison::LessEqual,
            Comparison::Greater,
            Comparison::GreaterEqual,
        ]);
        let kind = match self.pick(12) {
            0..5 => ExprKind::Compare(comparison, self.boxed(depth), self.boxed(depth)),
            5 => {
                let (left, right) = (self.word(depth), self.word(depth));
                ExprKind::Compare(self.one(&[Comparison::Equal, Comparison::NotEqual]), Box::new(left), Box::new(right))
            }
            6 => ExprKind::Not(Box::new(self.truth(depth))),
            7 => ExprKind::And(vec![self.truth(depth), self.truth(depth)]),
            8 => ExprKind::Or(vec![self.truth(depth), self.truth(depth)]),
            9 => {
                let mut values = vec![self.number(0)];
                for _ in 0..self.pick(12) {
                    let value = match self.pick(12) {
                        0 => Value::Null,
                        1 => Value::from("a"),
                        _ => self.literal(),
                    };
                    values.push(self.expr(ExprKind::Literal(value)));
                }
                if self.pick(4) > 0 {
                    values.remove(0);
                }
                ExprKind::In(self.boxed(depth), Box::new(Set::Values(values)))
            }
            10 => ExprKind::Literal(self.one(&[Value::Null, Value::Bool(true), Value::Bool(false)])),
            _ => return self.local(),
        };
        self.expr(kind)
    }

    fn word(&mut self, depth: u32) -> Expr {
        match (self.pick(3), depth.checked_sub(1)) {
            (0, Some(depth)) => {
                let kind = ExprKind::If(Box::new(self.truth(depth)), Box::new(self.word(depth)), Box::new(self.word(depth)));
                self.expr(kind)
            }
            (1, _) => self.local(),
            _ => {
                let word = self.one(&["a", "b", ""]);
                self.expr(ExprKind::Literal(word.into()))
            }
        }
    }

    fn body(&mut self) -> Expr {
        let depth = 1 + self.pick(4);
        match self.pick(8) {
            0 => self.truth(depth),
            1 => self.word(depth),
            2 => {
                let members = vec![("x".into(), self.number(depth)), ("y".into(), self.truth(depth)), ("z".into(), self.number(depth))];
                self.expr(ExprKind::Dict(members))
            }
            _ => self.number(depth),
        }
    }
}

impl Choices {
    fn condition(&mut self, depth: u32, columns: &[Series]) -> Condition {
        let operand = |choices: &mut Choices| {
            if choices.pick(3) > 0 { Operand::Column(choices.name(columns)) } else { Operand::Value(choices.constant()) }
        };
        let parts = |choices: &mut Choices| (0..2 + choices.pick(2)).map(|_| choices.condition(depth - 1, columns)).collect();
        match self.pick(if depth == 0 { 5 } else { 8 }) {
            0..4 => {
                let comparison = self.one(&[Comparison::Less, Comparison::Equal, Comparison::NotEqual, Comparison::GreaterEqual]);
                let span = self.constant().span;
                Condition::Compare(span, comparison, Operand::Column(self.name(columns)), operand(self))
            }
            4 => {
                let values = (0..1 + self.pick(10)).map(|_| self.constant()).collect();
                let name = self.name(columns);
                Condition::In(name.span, name, Box::new(Set::Values(values)))
            }
            5 => Condition::Not(Box::new(self.condition(depth - 1, columns))),
            6 => Condition::And(parts(self)),
            _ => Condition::Or(parts(self)),
        }
    }

    fn name(&mut self, columns: &[Series]) -> Spanned<Arc<str>> {
        let name = columns[self.pick(columns.len() as u32) as usize].name.clone();
        Spanned { node: name, span: self.constant().span }
    }

    fn constant(&mut self) -> Expr {
        let value = match self.pick(12) {
            0 => Value::Null,
            1 => Value::Bool(true),
            2 => Value::from("a"),
            _ => self.literal(),
        };
        self.expr(ExprKind::Literal(value))
    }
}

/// A generated case: columns, a lambda over their elements, a function that it may call.
#[derive(Debug)]
struct Case {
    columns: Vec<Series>,
    as_table: bool,
    body: Expr,
    function: Function,
    captured: Vec<Lookup>,
}

impl Case {
    fn new(stream: Vec<u32>) -> Case {
        let unit = |text| Unit::parse(text).unwrap();
        let mut choices = Choices::new(stream);
        choices.units = match choices.pick(9) {
            0..5 => vec![Unit::NONE],
            5..7 => vec![unit("meter"), unit("cm"), unit("meter")],
            // which are one unit, but for the last digits of conversions
            7 => vec![unit("ft*yd*lb"), unit("lb*yd*ft"), unit("yd*lb*ft")],
            _ => ["meter", "", "degC", "delta_degC", "kelvin", "percent", "second", "radian"].map(unit).to_vec(),
        };
        let body = choices.number(2);
        let function = Function { name: "f".into(), name_span: body.span, parameters: vec!["p".into(), "q".into()], body };
        choices.calls = true;
        choices.parameters = 1 + choices.pick(3);
        choices.strict = choices.pick(4) > 0;
        let len = match choices.pick(20) {
            0 => 20_000,
            1..4 => 1500 + choices.pick(2000) as usize,
            _ => 1 + choices.pick(30) as usize,
        };
        let columns = (0..choices.parameters)
            .map(|_| {
                choices.spans += 2;
                choices.column(len)
            })
            .collect();
        let captured = (0..4).map(|_| match choices.pick(8) {
            0 => Lookup::Pending,
            1 => Lookup::Failed,
            _ => Lookup::Ready(choices.literal()),
        });
        let captured = captured.collect();
        let body = choices.body();
        let as_table = choices.pick(5) == 0;
        Case { columns, as_table, body, function, captured }
    }

    /// The lambda over the columns as inputs, or over the rows of a table of them.
    fn map(&self) -> ExprKind {
        let mut body = self.body.clone();
        let inputs: Vec<Value> = if self.as_table {
            let names: Vec<Arc<str>> = self.columns.iter().map(|column| column.name.clone()).collect();
            body.visit_mut(&mut |expr| {
                if let ExprKind::Local { depth: 0, index } = expr.kind {
                    let row = Expr { span: expr.span, kind: ExprKind::Local { depth: 1, index: 0 } };
                    expr.kind = ExprKind::Key(Box::new(row), names[index as usize].clone());
                }
            });
            // the rows, which were not to be visited again
            body.visit_mut(&mut |expr| {
                if let ExprKind::Local { depth, .. } = &mut expr.kind {
                    *depth = 0;
                }
            });
            vec![Table::new(self.columns.iter().cloned().map(Arc::new).collect()).unwrap().into()]
        } else {
            self.columns.iter().cloned().map(Value::from).collect()
        };
        let parameters = inputs.iter().map(|_| "p".into()).collect();
        let literal = |value| Expr { span: self.body.span, kind: ExprKind::Literal(value) };
        let function = Callee::Lambda { span: body.span, parameters, body: Box::new(body) };
        ExprKind::Map { name: "m".into(), function: Box::new(function), inputs: inputs.into_iter().map(literal).collect() }
    }

    fn filter(&self) -> ExprKind {
        let ExprKind::Map { name, function, mut inputs } = self.map() else { unreachable!() };
        ExprKind::Filter { name, function, input: Box::new(inputs.remove(0)) }
    }

    fn reduce(&self) -> ExprKind {
        let ExprKind::Map { function, mut inputs, .. } = self.map() else { unreachable!() };
        ExprKind::Reduce { function, input: Box::new(inputs.remove(0)) }
    }

    /// The rows of a table that meet a condition.
    fn query(&self, condition: Condition) -> ExprKind {
        let table = Table::new(self.columns.iter().cloned().map(Arc::new).collect()).unwrap();
        let source = Expr { span: self.body.span, kind: ExprKind::Literal(table.into()) };
        ExprKind::Query { source: Box::new(source), select: None, condition: Some(Box::new(condition)) }
    }

    fn evaluate(&self, kind: ExprKind, columns_from: usize) -> Result<Value, String> {
        let context = Context { functions: std::slice::from_ref(&self.function), variables: self, world: &Nothing };
        let expr = Expr { span: self.body.span, kind };
        Evaluator { context, columns_from }.eval(&expr, &Env::GLOBAL).map_err(|stop| match stop {
            Stop::Fault(fault) => format!("{fault:#?}"),
            other => format!("{other:?}"),
        })
    }

    /// Whether column programs and the evaluator of single values agree.
    fn agrees(&self, kind: &ExprKind) -> Result<(), String> {
        let (expected, found) = (self.evaluate(kind.clone(), usize::MAX), self.evaluate(kind.clone(), 1));
        match (&expected, &found) {
            (Ok(expected), Ok(found)) if expected.same(found) => Ok(()),
            (Err(expected), Err(found)) if expected == found => Ok(()),
            _ => Err(format!("expected {}\nfound {}", shown(&expected), shown(&found))),
        }
    }

    fn has_program(&self) -> bool {
        let ExprKind::Map { function, inputs, .. } = self.map() else { unreachable!() };
        let context = Context { functions: std::slice::from_ref(&self.function), variables: self, world: &Nothing };
        let evaluator = Evaluator { context, columns_from: 1 };
        let rows: Vec<super::Rows> = inputs
            .iter()
            .map(|input| match &input.kind {
                ExprKind::Literal(Value::Series(series)) => super::Rows::Series(series.clone()),
                ExprKind::Literal(Value::Table(table)) => super::Rows::Table(table.clone()),
                _ => unreachable!(),
            })
            .collect();
        evaluator.map_columns(&"m".into(), &function, &rows, self.body.span, &Env::GLOBAL).is_some()
    }
}

fn shown(result: &Result<Value, String>) -> String {
    match result {
        Ok(value) => format!("{value:?}").chars().take(4000).collect(),
        Err(fault) => fault.clone(),
    }
}

impl Variables for Case {
    fn get(&self, id: VarId) -> Lookup {
        self.captured[id.index()].clone()
    }
}

struct Nothing;

impl World for Nothing {
    fn load(&self, _: LoadKind, path: &str) -> Result<Value, Fault> {
        Err(Fault::new("E0000", path))
    }
}

fn cases() -> u32 {
    std::env::var("SCL_TEST_COLUMN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn maps_are_what_the_evaluator_gives(stream in prop::collection::vec(any::<u32>(), 1..300)) {
        let case = Case::new(stream);
        let agrees = case.agrees(&case.map());
        prop_assert!(agrees.is_ok(), "{}\n{:#?}", agrees.unwrap_err(), case);
    }

    #[test]
    fn filters_are_what_the_evaluator_gives(stream in prop::collection::vec(any::<u32>(), 1..300)) {
        let mut case = Case::new(stream);
        case.columns.truncate(1);
        case.body.visit_mut(&mut |expr| if let ExprKind::Local { index, .. } = &mut expr.kind { *index = 0 });
        let agrees = case.agrees(&case.filter());
        prop_assert!(agrees.is_ok(), "{}\n{:#?}", agrees.unwrap_err(), case);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn folds_are_what_the_evaluator_gives(stream in prop::collection::vec(any::<u32>(), 1..300)) {
        let mut case = Case::new(stream);
        case.columns.truncate(1);
        case.as_table = false;
        case.body.visit_mut(&mut |expr| if let ExprKind::Local { index, .. } = &mut expr.kind { *index %= 2 });
        let agrees = case.agrees(&case.reduce());
        prop_assert!(agrees.is_ok(), "{}\n{:#?}", agrees.unwrap_err(), case);
    }

    #[test]
    fn queries_are_what_the_evaluator_gives(stream in prop::collection::vec(any::<u32>(), 1..300)) {
        let case = Case::new(stream.clone());
        let mut choices = Choices::new(stream.into_iter().rev().collect());
        choices.units = case.columns.iter().map(|column| column.unit).chain([Unit::NONE]).collect();
        let depth = choices.pick(3);
        let condition = choices.condition(depth, &case.columns);
        let agrees = case.agrees(&case.query(condition.clone()));
        prop_assert!(agrees.is_ok(), "{}\n{:#?}\n{:#?}", agrees.unwrap_err(), condition, case);
    }
}

/// A case of a function of two parameters `f` and a lambda over one column.
fn one_case(column: Column, f: ExprKind, body: Expr) -> Case {
    let function = Function { name: "f".into(), name_span: body.span, parameters: vec!["p".into(), "q".into()], body: at(f) };
    Case { columns: vec![Series::new("x", column, Unit::NONE)], as_table: false, body, function, captured: Vec::new() }
}

fn at(kind: ExprKind) -> Expr {
    Expr { span: Span { file: FileId(0), start: 0, end: 1 }, kind }
}

fn argument(index: u32) -> Expr {
    at(ExprKind::Local { depth: 0, index })
}

/// A dict of two members, each of which is a dict of two members that are the same, and so on, is small in memory only.
#[test]
fn dicts_that_double_take_no_time() {
    let f = ExprKind::Dict(vec![("a".into(), argument(0)), ("b".into(), argument(0))]);
    let mut body = argument(0);
    for _ in 0..60 {
        body = at(ExprKind::Call(FunctionId(0), vec![body, argument(0)]));
    }
    for _ in 0..60 {
        body = at(ExprKind::Key(Box::new(body), "a".into()));
    }
    let case = one_case((0..10).map(Some).collect(), f, body);
    case.agrees(&case.map()).unwrap();
}

/// A member with too many alternatives, one of which is a fault, of a dict whose other member is used.
#[test]
fn a_fault_in_a_member_that_is_not_used_is_one() {
    let literal = |value: i128, unit: &str| at(ExprKind::Literal(Quantity::new(value, Unit::parse(unit).unwrap()).into()));
    let is = |int: i128| Box::new(at(ExprKind::Compare(Comparison::Equal, Box::new(argument(0)), Box::new(literal(int, "")))));
    let fault = at(ExprKind::Product(Box::new(literal(1, "")), vec![(ProductOp::Divide, argument(0))]));
    let many = |units: [&str; 5], last: Expr| {
        let choose = |rest, (int, unit)| at(ExprKind::If(is(int), Box::new(literal(1, unit)), Box::new(rest)));
        (10..).zip(units).fold(last, choose)
    };
    let dict = |member| at(ExprKind::Dict(vec![("a".into(), argument(0)), ("b".into(), member)]));
    let then = dict(many(["m", "km", "cm", "mm", "inch"], fault.clone()));
    let otherwise = dict(many(["ft", "dm", "um", "nm", "yd"], fault));
    let dict = at(ExprKind::If(is(5), Box::new(then), Box::new(otherwise)));
    let case = one_case((-9..9).map(Some).collect(), ExprKind::Literal(Value::Null), at(ExprKind::Key(Box::new(dict), "a".into())));
    case.agrees(&case.map()).unwrap();
    assert!(case.evaluate(case.map(), 1).is_err());
}

/// Equal units with their factors in two orders: that of the first row is that of the series, and conversions have its digits.
#[test]
fn the_order_of_factors_is_kept() {
    let literal = |unit: &str| at(ExprKind::Literal(Quantity::new(1.1, Unit::parse(unit).unwrap()).into()));
    let condition =
        at(ExprKind::Compare(Comparison::Less, Box::new(argument(0)), Box::new(at(ExprKind::Literal(Quantity::int(5).into())))));
    let choice = |then, otherwise| at(ExprKind::If(Box::new(condition.clone()), Box::new(literal(then)), Box::new(literal(otherwise))));
    for body in [choice("ft*yd*lb", "lb*yd*ft"), choice("lb*yd*ft", "ft*yd*lb")] {
        let case = one_case((0..10).rev().map(Some).collect(), ExprKind::Literal(Value::Null), body);
        case.agrees(&case.map()).unwrap();
    }
}

/// A string in many rows, which are more than a column can hold.
#[test]
fn too_much_text_is_a_fault() {
    let text = |text: String| Box::new(at(ExprKind::Literal(Value::Str(text.into()))));
    let condition =
        at(ExprKind::Compare(Comparison::Less, Box::new(argument(0)), Box::new(at(ExprKind::Literal(Quantity::int(5).into())))));
    let body = at(ExprKind::If(Box::new(condition), text("short".to_owned()), text("long".repeat(1 << 20))));
    // the first slice alone; and so many that only a few of them fit
    for len in [1000, 200_000] {
        let case = one_case((0..len).map(Some).collect(), ExprKind::Literal(Value::Null), body.clone());
        case.agrees(&case.map()).unwrap();
        assert!(case.evaluate(case.map(), 1).is_err_and(|fault| fault.contains("E0409")));
    }
}

/// A native function that has no column form is a call as well, before which the user is asked.
#[test]
fn native_functions_can_be_interrupted() {
    struct Impatient;

    impl World for Impatient {
        fn load(&self, _: LoadKind, path: &str) -> Result<Value, Fault> {
            Err(Fault::new("E0000", path))
        }

        fn is_interrupted(&self) -> bool {
            true
        }
    }

    let case = one_case((0..100).map(Some).collect(), ExprKind::Literal(Value::Null), argument(0));
    let ExprKind::Reduce { input, .. } = case.reduce() else { unreachable!() };
    let name = NativeName { module: "operator".into(), name: "add".into() };
    let reduce = at(ExprKind::Reduce { function: Box::new(Callee::Native(name, case.body.span)), input });
    let context = Context { functions: std::slice::from_ref(&case.function), variables: &case, world: &Impatient };
    let result = Evaluator { context, columns_from: 1 }.eval(&reduce, &Env::GLOBAL);
    assert!(matches!(result, Err(Stop::Interrupted(_))));
}

/// What is generated must not be beyond column programs most of the time.
#[test]
fn most_cases_have_a_program() {
    let stream =
        |seed: u32| (0..200_u32).map(|at| (seed.wrapping_mul(2_654_435_761) ^ at).wrapping_mul(0x9E37_79B1).rotate_left(at % 31)).collect();
    let programs = (0..300).filter(|seed| Case::new(stream(*seed)).has_program()).count();
    assert!(programs > 120, "{programs} of 300");
}

/// What `scl check --columns` says of a program, by line.
#[test]
fn obstacles_are_found_in_functions_and_lambdas() {
    let text = "\
use len from builtins
x = (x: 1, 2, 3)
pair(a) = len((a, a))
plain(a) = a*sum(x) + if(a in (1, 2), 1, sum(map((b: b + 1), x)))
f = map((a: plain(a)), x)
g = map((a: pair(a)), x)
h = filter((a: a > sum(range(0, a, 1))), x)
i = reduce((a, b: a + b*(1.0 +/- 0.1)), x)
j = map((a: a*(x[0] + 1)), x)
k = map((a: a in (1, a)), x)
l = map((a: sum(map((b: a*b), x))), x)
";
    let (ast, faults) = crate::syntax::parse(FileId(0), text);
    assert!(faults.is_empty(), "{faults:?}");
    let (model, _) = crate::check::check(&ast, crate::check::Mode::Workflow, crate::check::Extent::All);
    let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
    let found: Vec<(usize, String)> = super::obstacles(&model)
        .into_iter()
        .map(|warning| (line(warning.span().start), warning.labels[1].message.replace(" has no form for whole columns", "")))
        .collect();
    let expected = [
        (6, "a tuple"),
        (7, "a range that is made for each row"),
        (8, "an uncertain number"),
        (10, "a member of a list that differs from row to row"),
        (11, "a map, filter or reduce within a function"),
    ];
    assert_eq!(found, expected.map(|(line, name)| (line, name.to_owned())));
}

/// Functions that call one another twice each are many calls when they are written out.
#[test]
fn obstacles_of_many_calls_take_no_time() {
    let functions: String = (1..60).map(|at| format!("f{at}(a) = f{0}(a) + f{0}(a + 1)\n", at - 1)).collect();
    let text = format!("x = (x: 1, 2)\nf0(a) = a\n{functions}y = map((a: f59(a)), x)\n");
    let (ast, _) = crate::syntax::parse(FileId(0), &text);
    let (model, _) = crate::check::check(&ast, crate::check::Mode::Workflow, crate::check::Extent::Outputs);
    assert!(super::obstacles(&model).is_empty());
}
