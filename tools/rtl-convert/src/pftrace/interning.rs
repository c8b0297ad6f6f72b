//! Interned data: each text is written once, then referred to by number.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rtl_schema::{NameId, Strings};
use rustc_hash::FxHashMap;

use super::fields::{debug_annotation, interned, interned_data, packet, track_event};
use super::proto::Message;
use crate::event::Kind;
use crate::event_args::{ArgWriter, EventArg};

/// The numbers of texts in arguments. Batches on other threads read those that [`Interning`] gave out before it sent them.
#[derive(Debug)]
pub struct TextNumbers {
    /// By string; 0 is none so far.
    stored: Box<[AtomicU32]>,
    others: Mutex<FxHashMap<String, u32>>,
}

impl TextNumbers {
    pub fn new(strings: usize) -> Self {
        Self { stored: (0..strings).map(|_| AtomicU32::new(0)).collect(), others: Mutex::default() }
    }

    /// Each text that is not stored is asked for once.
    fn other(&self, text: &str) -> Option<u32> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner).get(text).copied()
    }
}

/// Gives out numbers in the order of events. As a writer of arguments it appends nothing.
#[derive(Debug)]
pub struct Interning {
    /// Entries that no packet has.
    fresh: Vec<u8>,
    /// Marks names that were written; name `n` has number `n + 1`, because 0 is invalid.
    event_names: Vec<bool>,
    texts: Arc<TextNumbers>,
    count: u32,
}

impl Interning {
    pub fn new(texts: Arc<TextNumbers>) -> Self {
        let mut interning = Self { fresh: Vec::new(), event_names: Vec::new(), texts, count: 0 };
        for kind in Kind::ALL {
            interning.add(interned_data::EVENT_CATEGORIES, category(kind), kind.label());
        }
        for argument in EventArg::ALL {
            interning.add(interned_data::DEBUG_ANNOTATION_NAMES, argument_name(argument), argument.label());
        }
        interning
    }

    pub fn is_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Moves new entries into a packet.
    pub fn bring(&mut self, packet: &mut Message<'_>) {
        packet.content(packet::INTERNED_DATA, &self.fresh);
        self.fresh.clear();
    }

    /// Adds an interned message with more than a text.
    pub fn entry(&mut self, field: u32, write: impl FnOnce(&mut Message<'_>)) {
        Message(&mut self.fresh).message(field, write);
    }

    #[inline]
    pub fn event_name<'a>(&mut self, number: usize, text: impl FnOnce() -> Cow<'a, str>) -> u32 {
        let iid = number as u32 + 1;
        if !self.event_names.get(number).is_some_and(|&known| known) {
            self.event_names.resize(self.event_names.len().max(number + 1), false);
            self.event_names[number] = true;
            self.add(interned_data::EVENT_NAMES, iid.into(), &text());
        }
        iid
    }

    fn value(&mut self, text: &str) -> u32 {
        self.count += 1;
        self.add(interned_data::DEBUG_ANNOTATION_STRING_VALUES, self.count.into(), text);
        self.count
    }

    fn add(&mut self, field: u32, iid: u64, text: &str) {
        self.entry(field, |entry| {
            entry.number(interned::IID, iid);
            entry.text(interned::TEXT, text);
        });
    }
}

impl ArgWriter for Interning {
    #[inline]
    fn number(_: EventArg, _: i64, _: &mut Vec<u8>) {}

    #[inline]
    fn axes(&mut self, _: EventArg, _: [u64; 3], _: &mut Vec<u8>) {}

    fn text(&mut self, _: EventArg, text: &str, _: &mut Vec<u8>) {
        if self.texts.other(text).is_none() {
            let number = self.value(text);
            let mut others = self.texts.others.lock().unwrap_or_else(PoisonError::into_inner);
            others.insert(text.to_owned(), number);
        }
    }

    #[inline]
    fn stored(&mut self, _: EventArg, text: NameId, strings: &Strings, _: &mut Vec<u8>) {
        // The queue of batches orders this before what other threads read.
        if self.texts.stored[text.index()].load(Ordering::Relaxed) == 0 {
            let number = self.value(strings.get(text));
            self.texts.stored[text.index()].store(number, Ordering::Relaxed);
        }
    }
}

#[inline]
pub fn category(kind: Kind) -> u64 {
    kind as u64 + 1
}

#[inline]
fn argument_name(argument: EventArg) -> u64 {
    argument as u64 + 1
}

/// Writes arguments, with the numbers of their texts.
impl ArgWriter for &TextNumbers {
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
        reference(name, self.other(text).expect("texts have numbers before batches are sent"), out);
    }

    fn stored(&mut self, name: EventArg, text: NameId, _: &Strings, out: &mut Vec<u8>) {
        reference(name, self.stored[text.index()].load(Ordering::Relaxed), out);
    }
}

fn reference(argument: EventArg, iid: u32, out: &mut Vec<u8>) {
    Message(out).message(track_event::DEBUG_ANNOTATIONS, |annotation| {
        annotation.number(debug_annotation::NAME_IID, argument_name(argument));
        annotation.number(debug_annotation::STRING_VALUE_IID, iid.into());
    });
}
