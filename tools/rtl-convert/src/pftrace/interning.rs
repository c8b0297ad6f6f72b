//! Interned data: each text is written once, then referred to by number.

use std::borrow::Cow;

use rtl_schema::{NameId, Strings};
use rustc_hash::FxHashMap;

use super::fields::{debug_annotation, interned, interned_data, track_event};
use super::proto::Message;
use crate::event::Kind;
use crate::event_args::{ArgWriter, EventArg};

/// The interned texts of a packet sequence. A new text is in the packet that uses it first.
#[derive(Debug, Default)]
pub struct Interning {
    /// New entries for the next packet.
    fresh: Vec<u8>,
    /// Whether a name was written; name `n` has number `n + 1`, because 0 is invalid.
    event_names: Vec<bool>,
    /// The numbers of stored texts, by string.
    stored: Vec<u64>,
    labels: FxHashMap<&'static str, u64>,
    values: u64,
}

impl Interning {
    /// The entries of every file: categories, names of arguments.
    pub fn new() -> Self {
        let mut interning = Self::default();
        for kind in Kind::ALL {
            interning.add(interned_data::EVENT_CATEGORIES, category(kind), kind.label());
        }
        for argument in EventArg::ALL {
            interning.add(interned_data::DEBUG_ANNOTATION_NAMES, argument_name(argument), argument.label());
        }
        interning
    }

    /// Moves new entries into a packet.
    #[inline]
    pub fn bring(&mut self, packet: &mut Message<'_>) {
        if !self.fresh.is_empty() {
            packet.content(super::fields::packet::INTERNED_DATA, &self.fresh);
            self.fresh.clear();
        }
    }

    /// Adds an interned message with more than a text.
    pub fn entry(&mut self, field: u32, write: impl FnOnce(&mut Message<'_>)) {
        Message(&mut self.fresh).message(field, write);
    }

    /// The number of an event's name.
    #[inline]
    pub fn event_name<'a>(&mut self, number: usize, text: impl FnOnce() -> Cow<'a, str>) -> u64 {
        let iid = number as u64 + 1;
        if !self.event_names.get(number).is_some_and(|&known| known) {
            self.event_names.resize(self.event_names.len().max(number + 1), false);
            self.event_names[number] = true;
            self.add(interned_data::EVENT_NAMES, iid, &text());
        }
        iid
    }

    /// The number of a new value.
    fn value(&mut self, text: &str) -> u64 {
        self.values += 1;
        self.add(interned_data::DEBUG_ANNOTATION_STRING_VALUES, self.values, text);
        self.values
    }

    fn add(&mut self, field: u32, iid: u64, text: &str) {
        Message(&mut self.fresh).message(field, |entry| {
            entry.number(interned::IID, iid);
            entry.text(interned::TEXT, text);
        });
    }
}

/// The number of a category.
#[inline]
pub fn category(kind: Kind) -> u64 {
    kind as u64 + 1
}

#[inline]
fn argument_name(argument: EventArg) -> u64 {
    argument as u64 + 1
}

impl ArgWriter for Interning {
    #[inline]
    fn number(name: EventArg, value: i64, out: &mut Vec<u8>) {
        Message(out).message(track_event::DEBUG_ANNOTATIONS, |annotation| {
            annotation.number(debug_annotation::NAME_IID, argument_name(name));
            match u64::try_from(value) {
                Ok(value) => annotation.number(debug_annotation::UINT_VALUE, value),
                Err(_) => annotation.signed(debug_annotation::INT_VALUE, value),
            }
        });
    }

    fn axes(&mut self, name: EventArg, sizes: [u64; 3], out: &mut Vec<u8>) {
        Message(out).message(track_event::DEBUG_ANNOTATIONS, |annotation| {
            annotation.number(debug_annotation::NAME_IID, argument_name(name));
            for size in sizes {
                annotation.message(debug_annotation::ARRAY_VALUES, |value| {
                    value.number(debug_annotation::UINT_VALUE, size);
                });
            }
        });
    }

    fn text(&mut self, name: EventArg, text: &str, out: &mut Vec<u8>) {
        reference(name, self.value(text), out);
    }

    fn label(&mut self, name: EventArg, label: &'static str, out: &mut Vec<u8>) {
        let iid = match self.labels.get(label) {
            Some(&iid) => iid,
            None => {
                let iid = self.value(label);
                self.labels.insert(label, iid);
                iid
            }
        };
        reference(name, iid, out);
    }

    fn stored(&mut self, name: EventArg, text: NameId, strings: &Strings, out: &mut Vec<u8>) {
        let at = text.index();
        self.stored.resize(self.stored.len().max(at + 1), 0);
        if self.stored[at] == 0 {
            self.stored[at] = self.value(strings.get(text));
        }
        reference(name, self.stored[at], out);
    }
}

fn reference(argument: EventArg, iid: u64, out: &mut Vec<u8>) {
    Message(out).message(track_event::DEBUG_ANNOTATIONS, |annotation| {
        annotation.number(debug_annotation::NAME_IID, argument_name(argument));
        annotation.number(debug_annotation::STRING_VALUE_IID, iid);
    });
}
