//! The structure of the file: its keys and their values, in any order.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor,
};

use super::collected::{Collected, List};

/// The only key of the outermost object.
pub(super) const KEY: &str = "rocprofiler-sdk-tool";

/// Where a value lies that holds rows at some depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Document,
    /// The value of its one key: a list of processes, or one process.
    Processes,
    Process,
    /// `strings`: kinds, operations, marker texts.
    Strings,
    /// The lists of `buffer_records`.
    Buffers,
    /// The lists of `callback_records`.
    Callbacks,
}

/// A value whose rows are collected.
pub(super) struct Node<'a> {
    place: Place,
    collected: &'a mut Collected,
}

/// A list whose elements go to `each` one by one; any other value is skipped.
struct Each<T, F> {
    each: F,
    element: PhantomData<T>,
}

/// Passes the elements of a list to `each`.
fn list<'de, A, T>(fields: &mut A, each: impl FnMut(T)) -> Result<(), A::Error>
where
    A: MapAccess<'de>,
    T: Deserialize<'de>,
{
    fields.next_value_seed(Each { each, element: PhantomData })
}

impl Collected {
    /// A value of the document whose rows are collected.
    pub(super) fn at(&mut self, place: Place) -> Node<'_> {
        Node { place, collected: self }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> DeserializeSeed<'de> for Each<T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.place {
            Place::Document => "an object with rocprofiler-sdk-tool",
            Place::Processes => "a list of processes",
            Place::Process => "a process",
            Place::Strings => "kinds and operations",
            Place::Buffers | Place::Callbacks => "lists of records",
        })
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        match self.place {
            Place::Document | Place::Process => {
                return Err(A::Error::invalid_type(Unexpected::Seq, &self));
            }
            Place::Processes => {
                while items.next_element_seed(self.collected.at(Place::Process))?.is_some() {
                    self.collected.finish();
                }
            }
            // rocm-trace-lite's imitation writes an empty list.
            Place::Strings => self.collected.imitation = true,
            Place::Buffers | Place::Callbacks => {}
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let Self { place, collected } = self;
        if place == Place::Processes {
            collected.at(Place::Process).visit_map(fields)?;
            collected.finish();
            return Ok(());
        }
        while let Some(key) = fields.next_key::<String>()? {
            let records = if place == Place::Buffers { collected.list(&key) } else { None };
            match (place, key.as_str(), records) {
                (_, _, Some((List::Dispatches, _))) => list(&mut fields, |row| collected.dispatch(row))?,
                (_, _, Some(records)) => list(&mut fields, |row| collected.record(records, row))?,
                (Place::Document, KEY, _) => fields.next_value_seed(collected.at(Place::Processes))?,
                (Place::Process, "metadata", _) => collected.metadata = fields.next_value()?,
                (Place::Process, "agents", _) => list(&mut fields, |agent| collected.agents.push(agent))?,
                (Place::Process, "counters", _) => list(&mut fields, |counter| collected.counter(counter))?,
                (Place::Process, "kernel_symbols", _) => list(&mut fields, |row| collected.symbol(row))?,
                (Place::Process, "strings", _) => fields.next_value_seed(collected.at(Place::Strings))?,
                (Place::Process, "buffer_records", _) => {
                    fields.next_value_seed(collected.at(Place::Buffers))?;
                }
                (Place::Process, "callback_records", _) => {
                    fields.next_value_seed(collected.at(Place::Callbacks))?;
                }
                (Place::Strings, "buffer_records", _) => {
                    list(&mut fields, |kind| collected.kinds.push(kind))?
                }
                (Place::Strings, "marker_api", _) => list(&mut fields, |text| collected.marker_text(text))?,
                (Place::Callbacks, "counter_collection", _) => {
                    list(&mut fields, |row| collected.counters_of_dispatch(row))?;
                }
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> Visitor<'de> for Each<T, F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            (self.each)(item);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}
