//! Values of results.

use std::fmt::{Display, Formatter, Result};

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    /// DuckDB's widest integers have 128 bits.
    Integer(i128),
    /// A number with `scale` decimal places, times ten to the power of `scale`.
    Decimal(i128, u8),
    Float(f64),
    Text(String),
    /// A list; a map is a list of structures of `key` and `value`.
    List(Vec<Value>),
    /// Fields by name.
    Struct(Vec<(String, Value)>),
}

impl Display for Value {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Self::Null => out.write_str("NULL"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Integer(value) => write!(out, "{value}"),
            Self::Decimal(value, 0) => write!(out, "{value}"),
            Self::Decimal(value, scale) => {
                let sign = if *value < 0 { "-" } else { "" };
                let digits = format!("{:0>width$}", value.unsigned_abs(), width = usize::from(*scale) + 1);
                let (whole, part) = digits.split_at(digits.len() - usize::from(*scale));
                write!(out, "{sign}{whole}.{part}")
            }
            // The shortest text that reads back as this number.
            Self::Float(value) if value.is_finite() => write!(out, "{value:?}"),
            Self::Float(value) => write!(out, "{value}"),
            Self::Text(text) => out.write_str(text),
            Self::List(values) => {
                out.write_str("[")?;
                for (at, value) in values.iter().enumerate() {
                    write!(out, "{}{value}", if at == 0 { "" } else { ", " })?;
                }
                out.write_str("]")
            }
            Self::Struct(fields) => {
                out.write_str("{")?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    write!(out, "{}{name}: {value}", if at == 0 { "" } else { ", " })?;
                }
                out.write_str("}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_has_all_its_places() {
        let text = |value, scale| Value::Decimal(value, scale).to_string();
        assert_eq!([text(5, 3), text(-12_345, 2), text(7, 0)], ["0.005", "-123.45", "7"]);
    }

    #[test]
    fn nested_values_have_brackets() {
        let pair = Value::Struct(vec![("a".to_owned(), Value::Integer(1)), ("b".to_owned(), Value::Null)]);
        assert_eq!(Value::List(vec![pair, Value::Float(0.5)]).to_string(), "[{a: 1, b: NULL}, 0.5]");
    }
}
