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
    /// The outermost object.
    Document,
    /// The value of its one key: a list of processes, or one process.
    Processes,
    Process,
    /// `strings`: kinds, operations, marker texts.
    Strings,
    /// The lists of `buffer_records`.
    BufferRecords,
    /// The lists of `callback_records`.
    CallbackRecords,
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

fn each<T, F: FnMut(T)>(each: F) -> Each<T, F> {
    Each { each, element: PhantomData }
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
            Place::BufferRecords | Place::CallbackRecords => "lists of records",
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
            Place::BufferRecords | Place::CallbackRecords => {}
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
            match (place, key.as_str()) {
                (Place::Document, KEY) => fields.next_value_seed(collected.at(Place::Processes))?,
                (Place::Process, "metadata") => collected.metadata = fields.next_value()?,
                (Place::Process, "agents") => {
                    fields.next_value_seed(each(|agent| collected.agents.push(agent)))?;
                }
                (Place::Process, "counters") => {
                    fields.next_value_seed(each(|counter| collected.counter(counter)))?;
                }
                (Place::Process, "strings") => fields.next_value_seed(collected.at(Place::Strings))?,
                (Place::Process, "kernel_symbols") => {
                    fields.next_value_seed(each(|symbol| collected.symbol(symbol)))?;
                }
                (Place::Process, "callback_records") => {
                    fields.next_value_seed(collected.at(Place::CallbackRecords))?;
                }
                (Place::Process, "buffer_records") => {
                    fields.next_value_seed(collected.at(Place::BufferRecords))?;
                }
                (Place::Strings, "buffer_records") => {
                    fields.next_value_seed(each(|kind| collected.kinds.push(kind)))?;
                }
                (Place::Strings, "marker_api") => {
                    fields.next_value_seed(each(|text| collected.marker_text(text)))?;
                }
                (Place::CallbackRecords, "counter_collection") => {
                    fields.next_value_seed(each(|record| collected.counters_of_dispatch(record)))?;
                }
                (Place::BufferRecords, list) => match collected.list(list) {
                    Some((List::Dispatches, _)) => {
                        fields.next_value_seed(each(|dispatch| collected.dispatch(dispatch)))?;
                    }
                    Some(list) => {
                        fields.next_value_seed(each(|record| collected.record(list, record)))?;
                    }
                    None => {
                        fields.next_value::<IgnoredAny>()?;
                    }
                },
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
