//! Bytes that choose the shape and the values of a document, for tests and fuzz targets.

mod kineto;
mod nsys;
mod rocprofv3;
mod xplane;

use serde_json::{Value, json};

pub use self::kineto::kineto;
pub use self::nsys::nsys;
pub use self::rocprofv3::rocprofv3;
pub use self::xplane::xplane;

/// The bytes that choose; zeros when they are used up.
#[derive(Debug)]
pub struct Choices<'a>(pub &'a [u8]);

impl Choices<'_> {
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u8) -> u8 {
        self.byte() % bound
    }

    /// A number: mostly small, sometimes at a limit, sometimes no number.
    pub fn number(&mut self) -> Value {
        match self.below(16) {
            0 => json!(i64::MAX),
            1 => json!(i64::MIN),
            2 => json!(u64::MAX),
            3 => json!(-1),
            4 => json!(i64::MAX.to_string()),
            5 => Value::Null,
            6 => json!(0.5),
            7 => json!("text"),
            8 => json!(1_700_000_000_000_000_000_i64 + i64::from(self.byte())),
            _ => json!(self.below(8)),
        }
    }

    /// One of the values.
    pub fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[usize::from(self.byte()) % values.len()]
    }

    /// At most three values.
    pub fn list(&mut self, of: impl Fn(&mut Self) -> Value) -> Value {
        let length = self.below(4);
        Value::Array((0..length).map(|_| of(self)).collect())
    }
}
