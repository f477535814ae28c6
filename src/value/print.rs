//! The printed form of values.
//!
//! Numbers look as Python prints them: the shortest digits that read back as the same double, an exponent below `1e-4` and from
//! `1e16`. The unit of a series, table column or array stands once, after it.

use std::fmt::{self, Display, Formatter};

use super::{Array, Column, Number, Quantity, Series, Table, Uncertain, Value};
use crate::units::Unit;

/// A double as Python prints it.
#[derive(Clone, Copy, Debug)]
pub struct Float(pub f64);

impl Display for Float {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_nan() {
            return f.write_str("nan");
        }
        if self.0.is_sign_negative() {
            f.write_str("-")?;
        }
        if self.0.is_infinite() {
            return f.write_str("inf");
        }
        let scientific = shortest(self.0.abs());
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        match exponent {
            -4..=-1 => write!(f, "0.{:0>width$}", digits, width = digits.len() + exponent.unsigned_abs() as usize - 1),
            0..=15 => fixed(f, &digits, exponent as usize + 1),
            _ => write!(f, "{mantissa}e{}{:0>2}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs()),
        }
    }
}

/// The shortest digits that read back as the same double, in Rust's exponent form, whose layout differs from Python's.
///
/// Where two numbers of that length are equally near (from 15 digits on), Python takes the even one and Rust may take the other.
fn shortest(float: f64) -> String {
    let shortest = format!("{float:e}");
    let digits = shortest.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    if digits < 15 {
        return shortest;
    }
    let even = format!("{float:.*e}", digits - 1);
    if even.parse() == Ok(float) { even } else { shortest }
}

/// A number of at least one, whose point stands after `point` digits.
fn fixed(f: &mut Formatter<'_>, digits: &str, point: usize) -> fmt::Result {
    if digits.len() > point {
        return write!(f, "{}.{}", &digits[..point], &digits[point..]);
    }
    write!(f, "{digits:0<point$}.0")
}

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Number::Null => f.write_str("null"),
            Number::Int(int) => write!(f, "{int}"),
            Number::Float(float) => Float(*float).fmt(f),
            Number::Complex(complex) => {
                let sign = if complex.im.is_sign_negative() && !complex.im.is_nan() { "" } else { "+" };
                write!(f, "{}{sign}{} j", Float(complex.re), Float(complex.im))
            }
            Number::Uncertain(uncertain) => uncertain.fmt(f),
        }
    }
}

impl Display for Uncertain {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} ± {}", Float(self.nominal), Float(self.std_dev()))
    }
}

impl Display for Quantity {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)?;
        unit(f, self.unit)
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(bool) => write!(f, "{bool}"),
            Value::Str(string) => write!(f, "'{string}'"),
            Value::Quantity(quantity) => quantity.fmt(f),
            Value::Tuple(members) => {
                f.write_str("(")?;
                list(f, members.iter())?;
                f.write_str(if members.len() == 1 { ",)" } else { ")" })
            }
            Value::Dict(fields) => {
                f.write_str("{")?;
                list(f, fields.iter().map(|(key, value)| Field(key, value)))?;
                f.write_str("}")
            }
            Value::Series(series) => series.fmt(f),
            Value::Table(table) => table.fmt(f),
            Value::Array(array) => array.fmt(f),
            Value::Function(name) => f.write_str(name),
        }
    }
}

impl Display for Series {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_identifier(&self.name) {
            write!(f, "({}:", self.name)?;
        } else {
            write!(f, "('{}':", self.name)?;
        }
        if !self.is_empty() {
            f.write_str(" ")?;
        }
        list(f, (0..self.len()).map(|i| self.data.get(i, Unit::NONE)))?;
        f.write_str(")")?;
        unit(f, self.unit)
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        list(f, self.columns().iter())?;
        f.write_str(")")
    }
}

impl Display for Array {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        axis(f, &self.shape, &self.data, 0)?;
        unit(f, self.unit)
    }
}

struct Field<'a>(&'a str, &'a Value);

impl Display for Field<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0, self.1)
    }
}

/// The elements from `start` on that lie under these axes.
fn axis(f: &mut Formatter<'_>, shape: &[usize], data: &Column, start: usize) -> fmt::Result {
    f.write_str("[")?;
    match shape {
        [] => {}
        [len] => list(f, (start..start + len).map(|i| data.get(i, Unit::NONE)))?,
        [len, inner @ ..] => {
            let size: usize = inner.iter().product();
            for i in 0..*len {
                separate(f, i)?;
                axis(f, inner, data, start + i * size)?;
            }
        }
    }
    f.write_str("]")
}

fn list(f: &mut Formatter<'_>, items: impl Iterator<Item = impl Display>) -> fmt::Result {
    for (i, item) in items.enumerate() {
        separate(f, i)?;
        item.fmt(f)?;
    }
    Ok(())
}

fn separate(f: &mut Formatter<'_>, i: usize) -> fmt::Result {
    if i > 0 { f.write_str(", ") } else { Ok(()) }
}

fn unit(f: &mut Formatter<'_>, unit: Unit) -> fmt::Result {
    if unit.is_none() { Ok(()) } else { write!(f, " [{unit}]") }
}

fn is_identifier(name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    name.chars().next().is_some_and(|first| word(first) && !first.is_numeric()) && name.chars().all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(float: f64) -> String {
        Float(float).to_string()
    }

    #[test]
    fn floats_switch_to_exponents_where_python_does() {
        assert_eq!(printed(0.0001), "0.0001");
        assert_eq!(printed(0.00012345), "0.00012345");
        assert_eq!(printed(0.000099999), "9.9999e-05");
        assert_eq!(printed(1e15), "1000000000000000.0");
        assert_eq!(printed(1234567890123456.7), "1234567890123456.8");
        assert_eq!(printed(1e16), "1e+16");
        assert_eq!(printed(5e-324), "5e-324");
        assert_eq!(printed(-1.5e300), "-1.5e+300");
    }

    #[test]
    fn special_floats_have_names() {
        assert_eq!([f64::INFINITY, f64::NEG_INFINITY, -f64::NAN, -0.0].map(printed), ["inf", "-inf", "nan", "-0.0"]);
    }

    #[test]
    fn every_printed_float_reads_back() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let float = f64::from_bits(bits);
            assert!(float.is_nan() || printed(float).parse() == Ok(float), "{float:e}");
        }
    }

    #[test]
    fn collections_nest() {
        let meter = Unit::parse("m").unwrap();
        let series = Series::new("my v", Column::from_iter([Some(1.5), None]), meter);
        assert_eq!(Value::from(series).to_string(), "('my v': 1.5, null) [meter]");
        let array = Array::new(vec![2, 2], Column::from(vec![1, 2, 3, 4]), meter).unwrap();
        assert_eq!(Value::from(array).to_string(), "[[1, 2], [3, 4]] [meter]");
        assert_eq!(Value::from(vec![Value::from("x")]).to_string(), "('x',)");
        assert_eq!(Value::from(vec![]).to_string(), "()");
        assert_eq!(Value::from(Quantity::null(meter)).to_string(), "null [meter]");
    }

    #[test]
    fn a_sign_stands_between_the_parts_of_a_complex_number() {
        let printed = |re, im| Number::from(num_complex::Complex64::new(re, im)).to_string();
        assert_eq!(printed(0.0, 2.0), "0.0+2.0 j");
        assert_eq!(printed(-1.0, -1.0), "-1.0-1.0 j");
        assert_eq!(printed(1.0, f64::NAN), "1.0+nan j");
    }
}
