//! The structure of the file: its keys and their values, in any order.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::collected::{Collected, List};
use super::rows;
use crate::dialect::rocprofiler::devices::Devices;
use crate::{Select, Tables};

/// The only key of the outermost object.
pub(super) const KEY: &str = "rocprofiler-sdk-tool";

/// The outermost object.
pub(super) struct Document<'a> {
    pub(super) select: &'a Select,
    pub(super) devices: &'a mut Devices,
    pub(super) tables: &'a mut Tables,
}

/// The value of its one key: a list of processes, or one process.
struct Processes<'a, 'b>(&'b mut Document<'a>);

/// One process.
struct Process<'a, 'b>(&'b mut Collected<'a>);

/// The lists of `buffer_records`.
struct BufferRecords<'a, 'b>(&'b mut Collected<'a>);

/// The lists of `callback_records`.
struct CallbackRecords<'a, 'b>(&'b mut Collected<'a>);

/// `strings`: kinds, operations, marker texts.
struct Strings<'a, 'b>(&'b mut Collected<'a>);

/// A list whose elements go to `each` one by one; any other value is skipped.
struct Each<T, F> {
    each: F,
    element: PhantomData<T>,
}

impl<T, F: FnMut(T)> Each<T, F> {
    fn new(each: F) -> Self {
        Self { each, element: PhantomData }
    }
}

/// Makes a visitor a seed for values of any type.
macro_rules! seed {
    ($([$($generics:tt)*] $name:ty),+ $(,)?) => {$(
        impl<'de, $($generics)*> DeserializeSeed<'de> for $name
        where
            Self: Visitor<'de>,
        {
            type Value = <Self as Visitor<'de>>::Value;

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
                deserializer.deserialize_any(self)
            }
        }
    )+};
}

seed!(
    ['a] Document<'a>,
    ['a, 'b] Processes<'a, 'b>,
    ['a, 'b] Process<'a, 'b>,
    ['a, 'b] BufferRecords<'a, 'b>,
    ['a, 'b] CallbackRecords<'a, 'b>,
    ['a, 'b] Strings<'a, 'b>,
    [T, F] Each<T, F>,
);

/// Values without content: `null`, and lists and objects in each other's place.
macro_rules! nothing {
    (null) => {
        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }
    };
    (list) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            Ok(())
        }
    };
}

macro_rules! expects {
    ($what:literal) => {
        type Value = ();

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str($what)
        }
    };
}

impl<'de> Visitor<'de> for Document<'_> {
    expects!("an object with rocprofiler-sdk-tool");

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        while let Some(key) = fields.next_key::<String>()? {
            if key == KEY {
                fields.next_value_seed(Processes(&mut self))?;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Processes<'_, '_> {
    expects!("a list of processes");
    nothing!(null);

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        loop {
            let mut collected = Collected::new(self.0.select, self.0.tables);
            if items.next_element_seed(Process(&mut collected))?.is_none() {
                return Ok(());
            }
            collected.finish(self.0.devices);
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<(), A::Error> {
        let mut collected = Collected::new(self.0.select, self.0.tables);
        Process(&mut collected).visit_map(fields)?;
        collected.finish(self.0.devices);
        Ok(())
    }
}

impl<'de> Visitor<'de> for Process<'_, '_> {
    expects!("a process");
    nothing!(null);

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let collected = self.0;
        while let Some(key) = fields.next_key::<String>()? {
            match key.as_str() {
                "metadata" => collected.metadata = fields.next_value()?,
                "agents" => fields.next_value_seed(Each::new(|agent| collected.agents.push(agent)))?,
                "counters" => fields.next_value_seed(Each::new(|counter| collected.counter(counter)))?,
                "strings" => fields.next_value_seed(Strings(collected))?,
                "kernel_symbols" => fields.next_value_seed(Each::new(|symbol| collected.symbol(symbol)))?,
                "callback_records" => fields.next_value_seed(CallbackRecords(collected))?,
                "buffer_records" => fields.next_value_seed(BufferRecords(collected))?,
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Strings<'_, '_> {
    expects!("kinds and operations");
    nothing!(null);

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let collected = self.0;
        while let Some(key) = fields.next_key::<String>()? {
            match key.as_str() {
                "buffer_records" => {
                    fields.next_value_seed(Each::new(|kind: rows::KindInfo| collected.kinds.push(kind)))?;
                }
                "marker_api" => fields.next_value_seed(Each::new(|text| collected.marker_text(text)))?,
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    /// rocm-trace-lite's imitation writes an empty list.
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.imitation = true;
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

impl<'de> Visitor<'de> for CallbackRecords<'_, '_> {
    expects!("lists of records");
    nothing!(null);
    nothing!(list);

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let collected = self.0;
        while let Some(key) = fields.next_key::<String>()? {
            if key == "counter_collection" {
                fields.next_value_seed(Each::new(|record| collected.counters_of_dispatch(record)))?;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for BufferRecords<'_, '_> {
    expects!("lists of records");
    nothing!(null);
    nothing!(list);

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let collected = self.0;
        while let Some(key) = fields.next_key::<String>()? {
            match collected.list(&key) {
                Some(List::Dispatches) => {
                    fields.next_value_seed(Each::new(|dispatch| collected.dispatch(dispatch)))?;
                }
                Some(list) => {
                    fields.next_value_seed(Each::new(|record| collected.record(list, record)))?;
                }
                None => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> Visitor<'de> for Each<T, F> {
    expects!("a list");
    nothing!(null);

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
