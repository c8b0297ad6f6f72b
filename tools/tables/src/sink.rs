//! The interface of an engine's vectors, which columns write their values into.

use crate::dictionary::Dictionary;
use crate::loaded::Loaded;

/// The most rows that a column writes at once, as many as a vector of DuckDB has.
pub const CHUNK: usize = 2048;

/// Which rows of a chunk are known: a bit for each, a word for 64.
pub type Validity = [u64; CHUNK / 64];

/// The vector of an engine, with room for the rows that a column writes. A column calls the methods of its type only.
pub trait Sink {
    /// The values of a column of [`Type::Integer`](crate::Type::Integer), one for each row.
    fn integers(&mut self) -> &mut [i64];

    /// The values of a column of [`Type::Float`](crate::Type::Float), one for each row.
    fn floats(&mut self) -> &mut [f64];

    /// The values of a column of [`Type::Bool`](crate::Type::Bool), 0 or 1, one for each row.
    fn bools(&mut self) -> &mut [u8];

    /// Makes rows null whose bit is unset. Without this call all rows are known.
    fn set_validity(&mut self, validity: &Validity);

    /// The text of a row of a column of [`Type::Text`](crate::Type::Text).
    fn set_text(&mut self, row: usize, text: &str);

    /// The texts of all rows of a column of [`Type::Text`](crate::Type::Text) as places in a dictionary of the trace, in
    /// which a text may be null.
    fn set_places(&mut self, trace: &Loaded, dictionary: Dictionary, places: &[u32]);
}
