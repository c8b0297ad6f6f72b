//! The sizes of collectives, as traces state them.

use rtl_schema::table::Collective;
use rtl_schema::{CollectiveId, NameId, Tables};

use crate::base::first_use::{FirstUseMap, FirstUseSet, position_of};
use crate::base::stats::CallTotal;

/// Statements of a trace on collectives of one size.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct SizedCollective {
    /// The operation as the framework calls it.
    pub operation: String,
    /// The name of the communicator.
    pub communicator: String,
    /// The ranks of the communicator as the framework writes them.
    pub ranks: String,
    /// How many they are.
    pub members: Option<u32>,
    /// The size in bytes.
    pub bytes: u64,
}

/// The distinct ones of a trace that arrives in chunks, numbered from 1; 0 is a collective of unknown size.
#[derive(Debug, Clone, Default)]
pub struct CollectiveSizes {
    /// Indexed by [`CollectiveId`].
    numbers: Vec<u32>,
    distinct: FirstUseSet<SizedCollective>,
}

impl CollectiveSizes {
    /// Takes what a chunk states beyond those before it.
    pub(crate) fn add_chunk(&mut self, chunk: &Tables) {
        for id in self.numbers.len()..chunk.collectives.rows().len() {
            let stated = sized(chunk, chunk.collectives.get(CollectiveId(id as u32)));
            let number = stated.map_or(0, |stated| self.distinct.insert_full(stated).0 as u32 + 1);
            self.numbers.push(number);
        }
    }

    /// Returns whether the trace states anything of any collective.
    pub(crate) fn are_any(&self) -> bool {
        !self.numbers.is_empty()
    }

    #[inline]
    pub(crate) fn number(&self, id: Option<CollectiveId>) -> u32 {
        id.and_then(|id| self.numbers.get(id.index())).copied().unwrap_or(0)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&SizedCollective> {
        self.distinct.get_index(number.checked_sub(1)? as usize)
    }
}

/// Calls of collectives by their size: memory does not grow with the calls.
#[derive(Debug, Clone, Default)]
pub struct CallsBySize {
    totals: FirstUseMap<u32, CallTotal>,
}

impl CallsBySize {
    #[inline]
    pub(crate) fn add(&mut self, number: u32, duration: i64) {
        let position = position_of(&mut self.totals, number);
        self.totals[position].add(duration);
    }

    pub(crate) fn append(&mut self, other: &Self) {
        for (number, total) in other.totals() {
            let position = position_of(&mut self.totals, number);
            self.totals[position].append(total);
        }
    }

    /// The number of each size, and its calls.
    pub(crate) fn totals(&self) -> impl Iterator<Item = (u32, CallTotal)> + '_ {
        self.totals.iter().map(|(&number, &total)| (number, total))
    }
}

fn sized(tables: &Tables, collective: Collective) -> Option<SizedCollective> {
    let [operation, communicator, ranks] = [collective.operation, collective.communicator, collective.ranks]
        .map(|name| text(tables, name).to_owned());
    let bytes = size(tables, collective)?;
    Some(SizedCollective { operation, communicator, ranks, members: collective.size, bytes })
}

fn text(tables: &Tables, name: NameId) -> &str {
    if name.is_some() { tables.strings.get(name) } else { "" }
}

/// The size in bytes: of a gather or a scatter that of all ranks together, which one of its two sides has.
fn size(tables: &Tables, collective: Collective) -> Option<u64> {
    let elements = collective.sent.max(collective.received)?;
    elements.checked_mul(type_bytes(text(tables, collective.data_type))?)
}

/// The bytes of an element of a type that PyTorch, or a collective library, calls so.
fn type_bytes(name: &str) -> Option<u64> {
    Some(match name.to_ascii_lowercase().as_str() {
        "char" | "byte" | "bool" | "int8" | "uint8" => 1,
        name if name.starts_with("float8") => 1,
        "half" | "bfloat16" | "float16" | "short" | "int16" | "uint16" => 2,
        "float" | "float32" | "int" | "int32" | "uint32" | "complexhalf" => 4,
        "double" | "float64" | "long" | "int64" | "uint64" | "complexfloat" => 8,
        "complexdouble" => 16,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_need_a_type_that_is_known() {
        let mut tables = Tables::default();
        let mut of = |data_type: &str, sent, received| {
            let data_type = tables.strings.intern(data_type);
            size(&tables, Collective { data_type, sent, received, ..Collective::default() })
        };
        assert_eq!(of("BFloat16", Some(10), Some(40)), Some(80));
        assert_eq!(of("Float8_e4m3fn", Some(40), Some(10)), Some(40));
        assert_eq!(of("Long", None, Some(2)), Some(16));
        assert_eq!([of("ShortStrings", Some(1), None), of("Int", None, None)], [None, None]);
        assert_eq!(of("Int", Some(u64::MAX), None), None);
    }

    #[test]
    fn calls_that_differ_in_their_number_only_have_one_size() {
        let mut tables = Tables::default();
        let data_type = tables.strings.intern("Int");
        let stated = |sequence| Collective { data_type, sent: Some(2), sequence, ..Collective::default() };
        let ids = [Some(1), Some(2), None].map(|sequence| tables.collectives.intern(stated(sequence)));
        let mut sizes = CollectiveSizes::default();
        sizes.add_chunk(&tables);
        assert_eq!(ids.map(|id| sizes.number(Some(id))), [1; 3]);
        assert_eq!((sizes.number(None), sizes.get(0), sizes.get(1).unwrap().bytes), (0, None, 8));
    }
}
