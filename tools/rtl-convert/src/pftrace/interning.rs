//! Interned data: each text is written once, then referred to by number.

use std::borrow::Cow;

use rtl_schema::{NameId, Strings};
use rustc_hash::FxHashMap;

use super::fields::{debug_annotation, interned, interned_data, track_event};
use super::proto::Message;
use crate::event::{Event, Kind};
use crate::event_args::{self, ArgValue, EventArg};
use crate::layout::TimelineLayout;
use crate::names::RenderCache;

/// The interned texts of a packet sequence. A new text is in the packet that uses it first.
#[derive(Debug, Default)]
pub struct Interning {
    /// New entries for the next packet.
    fresh: Message,
    /// Whether a name was written; name `n` has number `n + 1`, because 0 is invalid.
    event_names: Vec<bool>,
    /// The numbers of the arguments of calls, by string.
    calls: Vec<u64>,
    labels: FxHashMap<&'static str, u64>,
    values: u64,
    /// Rendered arguments of shapes and symbols.
    shapes: RenderCache,
    symbols: RenderCache,
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
    pub fn bring(&mut self, packet: &mut Message) {
        let fresh = self.fresh.bytes();
        if !fresh.is_empty() {
            packet.content(super::fields::packet::INTERNED_DATA, fresh);
            fresh.clear();
        }
    }

    /// Adds an interned message with more than a text.
    pub fn entry(&mut self, field: u32, write: impl FnOnce(&mut Message)) {
        self.fresh.message(field, write);
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

    /// Writes the arguments of an event.
    pub fn arguments(&mut self, event: &Event, layout: &TimelineLayout<'_>, out: &mut Message) {
        let tables = layout.tables;
        if let Some(shape) = event.shape {
            let mut shapes = std::mem::take(&mut self.shapes);
            out.append(shapes.get(shape.index(), |bytes| {
                let mut message = Message::default();
                event_args::of_shape(tables.shapes.get(shape), |name, value| match value {
                    ArgValue::Number(value) => number(name, value, &mut message),
                    ArgValue::Text(text) => reference(name, self.value(text), &mut message),
                });
                bytes.append(message.bytes());
            }));
            self.shapes = shapes;
        }
        if let Some(symbol) = event.symbol {
            out.append(self.symbols.get(symbol.index(), |bytes| {
                let mut message = Message::default();
                event_args::of_symbol(&tables.symbols[symbol.index()], |name, value| {
                    number(name, value, &mut message);
                });
                bytes.append(message.bytes());
            }));
        }
        if let Some(direction) = event_args::direction(event) {
            let iid = self.label(direction);
            reference(EventArg::Direction, iid, out);
        }
        event_args::of_event(event, |name, value| number(name, value, out));
        if event.kind == Kind::Call && event.text.is_some() {
            let iid = self.call(event.text, &tables.strings);
            reference(EventArg::Arguments, iid, out);
        }
        if event.function.is_some() {
            let iid = self.call(event.function, &tables.strings);
            reference(EventArg::Function, iid, out);
        }
    }

    /// The number of a call's arguments.
    fn call(&mut self, text: NameId, strings: &Strings) -> u64 {
        let at = text.index();
        self.calls.resize(self.calls.len().max(at + 1), 0);
        if self.calls[at] == 0 {
            self.calls[at] = self.value(strings.get(text));
        }
        self.calls[at]
    }

    /// The number of a fixed text.
    fn label(&mut self, label: &'static str) -> u64 {
        if let Some(&iid) = self.labels.get(label) {
            return iid;
        }
        let iid = self.value(label);
        self.labels.insert(label, iid);
        iid
    }

    /// The number of a new value.
    fn value(&mut self, text: &str) -> u64 {
        self.values += 1;
        self.add(interned_data::DEBUG_ANNOTATION_STRING_VALUES, self.values, text);
        self.values
    }

    fn add(&mut self, field: u32, iid: u64, text: &str) {
        self.fresh.message(field, |entry| {
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

#[inline]
fn number(argument: EventArg, value: i64, out: &mut Message) {
    out.message(track_event::DEBUG_ANNOTATIONS, |annotation| {
        annotation.number(debug_annotation::NAME_IID, argument_name(argument));
        match u64::try_from(value) {
            Ok(value) => annotation.number(debug_annotation::UINT_VALUE, value),
            Err(_) => annotation.signed(debug_annotation::INT_VALUE, value),
        }
    });
}

fn reference(argument: EventArg, iid: u64, out: &mut Message) {
    out.message(track_event::DEBUG_ANNOTATIONS, |annotation| {
        annotation.number(debug_annotation::NAME_IID, argument_name(argument));
        annotation.number(debug_annotation::STRING_VALUE_IID, iid);
    });
}
