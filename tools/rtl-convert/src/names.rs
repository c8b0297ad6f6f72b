//! The names of events.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use clap::ValueEnum;
use rtl_analysis::display_names::distinct_short_names;
use rtl_analysis::idle::Cause;
use rtl_schema::{NameId, Strings};

use crate::event::{DIRECTIONS, Event, Kind};

/// The style of kernel names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum NameStyle {
    /// Demangled, with their types
    #[default]
    Full,
    /// As the trace has them
    Mangled,
    /// As rocprofv3 truncates them; kernels that this makes equal also show how they differ
    Short,
}

/// The names of events, by number.
#[derive(Debug)]
pub struct EventNames<'a> {
    strings: &'a Strings,
    names: NameStyle,
    short: HashMap<NameId, String>,
    /// Names of copies that state the type alone, which each recorder spells otherwise.
    copy_types: HashSet<NameId>,
}

/// The names of other events without one, at the end by cause of idle time; before them come those of copies, by direction.
const UNNAMED: [&str; 11] = [
    "barrier",
    "(no name)",
    "(dangling name)",
    Cause::Synchronise.label(),
    Cause::BlockingCopy.label(),
    Cause::Allocation.label(),
    Cause::Loading.label(),
    Cause::Launch.label(),
    Cause::Host.label(),
    Cause::Queued.label(),
    Cause::Unknown.label(),
];

impl<'a> EventNames<'a> {
    /// The names of a trace with these `kernels`.
    pub fn new(strings: &'a Strings, names: NameStyle, kernels: &[NameId]) -> Self {
        let short = if names == NameStyle::Short { short(strings, kernels) } else { HashMap::new() };
        let copy_types = strings.iter().filter(|(_, text)| is_copy_type(text)).map(|(id, _)| id).collect();
        Self { strings, names, short, copy_types }
    }

    /// The number of an event's name, below [`Self::count`].
    #[inline]
    pub fn number(&self, event: &Event) -> usize {
        let is_named = || event.name.is_some() && !self.strings.get(event.name).is_empty();
        let named = match event.kind {
            Kind::Copy => is_named() && !self.copy_types.contains(&event.name),
            Kind::Barrier => is_named(),
            _ => event.name.is_some(),
        };
        if named { event.name.index() } else { self.strings.len() + unnamed(event) }
    }

    pub fn count(&self) -> usize {
        self.strings.len() + DIRECTIONS.len() + UNNAMED.len()
    }

    pub fn text(&self, number: usize) -> Cow<'_, str> {
        if let Some(unnamed) = number.checked_sub(self.strings.len()) {
            return match DIRECTIONS.get(unnamed) {
                Some(direction) => Cow::Owned(format!("{} copy", direction.label())),
                None => Cow::Borrowed(UNNAMED[unnamed - DIRECTIONS.len()]),
            };
        }
        let id = NameId(number as u32);
        let name = rtl_schema::identity(self.strings.get(id));
        match (self.names, self.short.get(&id)) {
            (NameStyle::Mangled, _) => Cow::Borrowed(name),
            (_, Some(short)) => Cow::Borrowed(short),
            _ => full(name),
        }
    }
}

/// A name in full: demangled, without the suffix of kernel descriptors.
pub fn shown(strings: &Strings, id: NameId) -> Cow<'_, str> {
    full(rtl_schema::identity(strings.get(id)))
}

fn full(name: &str) -> Cow<'_, str> {
    rtl_schema::demangle(name).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Such a name says no more than the direction: `CopyHostToDevice`, `MEMORY_COPY_HOST_TO_DEVICE`, `FillBuffer`.
fn is_copy_type(name: &str) -> bool {
    const LONGEST: usize = 40;
    if name.len() > LONGEST || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return false;
    }
    let plain = name.replace('_', "").to_ascii_lowercase();
    let way = ["hipmemcpy", "memorycopy", "copy"].iter().find_map(|start| plain.strip_prefix(start));
    let way = way.unwrap_or(&plain);
    let way = way.strip_suffix("2d").or(way.strip_suffix("3d")).unwrap_or(way);
    ["copy", "fillbuffer", "memset"].contains(&&*plain)
        || ["hosttodevice", "devicetohost", "devicetodevice", "hosttohost"].contains(&way)
}

/// The position of an event's name among those of events without one.
fn unnamed(event: &Event) -> usize {
    match event.kind {
        Kind::Copy => event.direction() as usize,
        Kind::Barrier => DIRECTIONS.len(),
        Kind::Idle => {
            let last = Cause::ALL.len() - 1;
            let cause = event.bytes.and_then(|cause| usize::try_from(cause).ok());
            DIRECTIONS.len() + UNNAMED.len() - Cause::ALL.len() + cause.map_or(last, |cause| cause.min(last))
        }
        _ if event.name == NameId::NONE => DIRECTIONS.len() + 1,
        _ => DIRECTIONS.len() + 2,
    }
}

/// Names that are equal when short get numbers.
fn short(strings: &Strings, kernels: &[NameId]) -> HashMap<NameId, String> {
    let stored: Vec<&str> = kernels.iter().map(|&id| strings.get(id)).collect();
    kernels.iter().copied().zip(distinct_short_names(&stored)).collect()
}

/// The rendering of each text or shape, made at its first use.
#[derive(Debug, Default)]
pub struct RenderCache(Vec<Option<Box<[u8]>>>);

impl RenderCache {
    /// Appends the rendering of number `at`.
    #[inline]
    pub fn append(&mut self, at: usize, out: &mut Vec<u8>, render: impl FnOnce(&mut Vec<u8>)) {
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        out.extend_from_slice(self.0[at].get_or_insert_with(|| {
            let mut bytes = Vec::new();
            render(&mut bytes);
            bytes.into_boxed_slice()
        }));
    }
}

/// As [`RenderCache`], for several threads at the same time.
#[derive(Debug)]
pub struct SharedCache(Box<[OnceLock<Chunk>]>);

/// Renderings of numbers in turn: of many texts, few may be used.
type Chunk = Box<[OnceLock<Box<[u8]>>; CHUNK]>;

const CHUNK: usize = 64;

impl SharedCache {
    /// No rendering of the numbers below `count`.
    pub fn new(count: usize) -> Self {
        Self((0..count.div_ceil(CHUNK)).map(|_| OnceLock::new()).collect())
    }

    /// Appends the rendering of number `at`.
    #[inline]
    pub fn append(&self, at: usize, out: &mut Vec<u8>, render: impl FnOnce(&mut Vec<u8>)) {
        let chunk = self.0[at / CHUNK].get_or_init(|| Box::new([const { OnceLock::new() }; CHUNK]));
        out.extend_from_slice(chunk[at % CHUNK].get_or_init(|| {
            let mut bytes = Vec::new();
            render(&mut bytes);
            bytes.into_boxed_slice()
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event_names(names: NameStyle, texts: &[&str]) -> Vec<String> {
        let mut strings = Strings::default();
        let kernels: Vec<NameId> = texts.iter().map(|text| strings.intern(text)).collect();
        let event_names = EventNames::new(&strings, names, &kernels);
        (0..texts.len()).map(|number| event_names.text(number).into_owned()).collect()
    }

    #[test]
    fn a_name_is_shown_whole_as_it_is_stored_or_short() {
        let stored = ["_Z3addIfEvPT_.kd"];
        assert_eq!(event_names(NameStyle::Full, &stored), ["void add<float>(float*)"]);
        assert_eq!(event_names(NameStyle::Mangled, &stored), ["_Z3addIfEvPT_"]);
        assert_eq!(event_names(NameStyle::Short, &stored), ["add"]);
    }

    #[test]
    fn kernels_that_differ_are_never_called_the_same() {
        let stored =
            ["void add<float>(float*)", "void add<int>(int*)", "void add<int>(int*).kd", "copy(int)"];
        let short = event_names(NameStyle::Short, &stored);
        assert_eq!(short, ["add [float]", "add [int]", "add [int]", "copy"]);
    }
}
