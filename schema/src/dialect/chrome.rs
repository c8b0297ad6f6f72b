//! Chrome's trace format: the events of a document, read one by one.

use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::marker::PhantomData;
use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::content::skip_byte_order_mark;
use crate::{Error, Result};

/// The error for a document that ends early, or breaks before its end.
pub(super) fn not_json(path: &Path, error: &serde_json::Error) -> Error {
    let (path, detail) = (path.to_owned(), error.to_string());
    if error.is_eof() { Error::Damaged { path, detail } } else { Error::Malformed { path, detail } }
}

/// Passes every event to `each`; returns whether the document is whole. One that ends early is read to its last event.
pub(super) fn read<T, F>(path: &Path, mut reader: BufReader<File>, mut each: F) -> Result<bool>
where
    T: for<'de> Deserialize<'de>,
    F: FnMut(T),
{
    let failed = |source| Error::Io { action: "read", path: path.to_owned(), source };
    skip_byte_order_mark(&mut reader).map_err(failed)?;
    let mut json = serde_json::Deserializer::from_reader(reader);
    let mut count = 0_u64;
    let mut counting = |event| {
        count += 1;
        each(event);
    };
    let place = Place { each: &mut counting, is_list: false, event: PhantomData };
    match place.deserialize(&mut json) {
        Ok(()) => Ok(true),
        Err(error) if error.is_io() => Err(failed(error.into())),
        Err(error) if error.is_eof() && count > 0 => Ok(false),
        Err(error) => Err(not_json(path, &error)),
    }
}

/// A document, or the list of its events.
struct Place<'a, T, F> {
    each: &'a mut F,
    is_list: bool,
    event: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> DeserializeSeed<'de> for Place<'_, T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> Visitor<'de> for Place<'_, T, F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_list { "a list of events" } else { "an object with traceEvents" })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(event) = items.next_element()? {
            (self.each)(event);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(key) = fields.next_key::<String>()? {
            if key == "traceEvents" && !self.is_list {
                fields.next_value_seed(Place { each: &mut *self.each, is_list: true, event: PhantomData })?;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
