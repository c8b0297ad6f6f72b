use std::fmt;

use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A whole number in any spelling: signed, unsigned to 2^64 (its bits are kept), text, hexadecimal text, an
/// object around it (`{"handle": 5}`, `{"hipError_t_retval": 1}`). Anything else is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::dialect) struct Whole(pub(in crate::dialect) Option<i64>);

/// Text, or a number spelled out; `None` for anything else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::dialect) struct Text(pub(in crate::dialect) Option<String>);

impl Whole {
    /// The number, 0 where there is none.
    pub(in crate::dialect) fn or_zero(self) -> i64 {
        self.0.unwrap_or(0)
    }

    /// The number if it is not negative and fits.
    pub(in crate::dialect) fn unsigned<T: TryFrom<i64>>(self) -> Option<T> {
        self.0.and_then(|value| T::try_from(value).ok())
    }
}

/// A JSON value reduced to a scalar.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::dialect) enum Scalar {
    Whole(i64),
    Real(f64),
    Text(String),
    #[default]
    Nothing,
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Whole(i64::from(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Whole(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar::Whole(value as i64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Real(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Scalar, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nothing)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Scalar, A::Error> {
        let mut handle = None;
        while let Some(key) = fields.next_key::<String>()? {
            if key == "handle" || key.ends_with("_retval") {
                handle = fields.next_value::<Whole>()?.0;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(handle.map_or(Scalar::Nothing, Scalar::Whole))
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Scalar::deserialize(deserializer)? {
            Scalar::Whole(value) => Some(value),
            Scalar::Real(value) if value.fract() == 0.0 && value.abs() < 9e18 => Some(value as i64),
            Scalar::Text(text) => parse(text.trim()),
            Scalar::Real(_) | Scalar::Nothing => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Scalar::deserialize(deserializer)? {
            Scalar::Whole(value) => Some(value.to_string()),
            Scalar::Real(value) => Some(value.to_string()),
            Scalar::Text(text) => Some(text),
            Scalar::Nothing => None,
        }))
    }
}

/// The arguments of a call: a list of typed ones, or an object of names and values.
#[derive(Debug, Default)]
pub(in crate::dialect) struct Arguments(pub(in crate::dialect) Vec<Argument>);

/// One argument of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::dialect) struct Argument {
    pub(in crate::dialect) r#type: Text,
    pub(in crate::dialect) name: Text,
    pub(in crate::dialect) value: Text,
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ArgumentsVisitor;

        impl<'de> Visitor<'de> for ArgumentsVisitor {
            type Value = Arguments;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("arguments")
            }

            fn visit_unit<E>(self) -> Result<Arguments, E> {
                Ok(Arguments::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Arguments, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(items)).map(Arguments)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Arguments, A::Error> {
                let mut arguments = Vec::new();
                while let Some((name, value)) = fields.next_entry::<String, Text>()? {
                    arguments.push(Argument { name: Text(Some(name)), value, ..Argument::default() });
                }
                Ok(Arguments(arguments))
            }
        }

        deserializer.deserialize_any(ArgumentsVisitor)
    }
}

fn parse(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|value| value as i64),
        None => text.parse().ok().or_else(|| text.parse::<u64>().ok().map(|value| value as i64)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Scalar, Whole};

    #[test]
    fn a_whole_number_is_read_in_any_spelling() {
        for (json, value) in [
            ("5", Some(5)),
            ("-1", Some(-1)),
            ("18446744073709551615", Some(-1)),
            ("\"0x00007f5500000000\"", Some(0x7f55_0000_0000)),
            ("\"18446744073709551614\"", Some(-2)),
            ("{\"handle\": 37946}", Some(37946)),
            ("2.0", Some(2)),
            ("2.5", None),
            ("null", None),
            ("[1, 2]", None),
            ("{\"other\": {\"handle\": 1}}", None),
        ] {
            assert_eq!(serde_json::from_str::<Whole>(json).expect("a scalar").0, value, "{json}");
        }
    }

    #[test]
    fn an_operation_is_a_number_or_a_name() {
        let read = |json| serde_json::from_str::<Scalar>(json).expect("an operation");
        assert_eq!(read("308"), Scalar::Whole(308));
        assert_eq!(read("\"hipMalloc\""), Scalar::Text("hipMalloc".to_owned()));
    }
}
