//! Translates what rows of a trace refer to into the terms of the file.

use rustc_hash::FxHashMap;

use super::mapping::{ClockCursor, TraceMapping};
use super::numbering::Places;
use super::rows::StringId;
use rtl_schema::table::{Collective, Shape, Track};
use rtl_schema::{CollectiveId, Id, NameId, ProcessId, ShapeId, SymbolId, Tables, TrackId};

/// The strings, symbols, tracks and processes of a trace, by which its rows are encoded on any thread. Each piece may add some;
/// none changes.
#[derive(Debug, Clone, Default)]
pub(super) struct Lookup {
    pub(super) places: Places,
    /// The file's text for each string of the trace.
    pub(super) texts: Vec<StringId>,
    /// The first symbol of each name, and the ids of all.
    symbols: FxHashMap<(ProcessId, NameId), SymbolId>,
    symbol_ids: Vec<Id>,
    tracks: Vec<Track>,
    shapes: Vec<Shape>,
    collectives: Vec<Collective>,
    spaces: Vec<u32>,
    /// Identifies its processes and agents among other traces.
    pub(super) mapping: Option<TraceMapping>,
}

impl Lookup {
    pub(super) fn new(mapping: Option<TraceMapping>) -> Self {
        let places = mapping.as_ref().map(Places::from_mapping).unwrap_or_default();
        Self { places, mapping, ..Self::default() }
    }

    /// True where the rows of a piece refer to nothing new, beside texts and places.
    pub(super) fn has(&self, piece: &Tables) -> bool {
        self.symbol_ids.len() == piece.symbols.len()
            && self.tracks.len() == piece.tracks.rows().len()
            && self.shapes.len() == piece.shapes.rows().len()
            && self.collectives.len() == piece.collectives.rows().len()
            && self.spaces.len() == piece.processes.len()
    }

    /// Adds what is new beside texts and places.
    pub(super) fn extend(&mut self, piece: &Tables) {
        for (at, symbol) in piece.symbols.iter().enumerate().skip(self.symbol_ids.len()) {
            self.symbols.entry((symbol.process, symbol.name)).or_insert(SymbolId(at as u32));
            self.symbol_ids.push(symbol.id);
        }
        extend(&mut self.tracks, piece.tracks.rows());
        extend(&mut self.shapes, piece.shapes.rows());
        extend(&mut self.collectives, piece.collectives.rows());
        self.spaces.extend(piece.processes.iter().skip(self.spaces.len()).map(|process| process.space));
    }

    /// A faster [`Self::file_time`], for moments that follow each other.
    pub(super) fn clock(&self) -> ClockCursor<'_> {
        ClockCursor::new(self.mapping.as_ref().map(|mapping| &mapping.clock))
    }

    #[inline]
    pub(super) fn file_time(&self, moment: i64) -> i64 {
        self.mapping.as_ref().map_or(moment, |mapping| mapping.clock.apply(moment))
    }

    /// The end of what began at `start`, on the file's clock.
    #[inline]
    pub(super) fn end(&self, start: i64, duration: Option<i64>) -> Option<i64> {
        duration.map(|duration| self.file_time(start.saturating_add(duration)))
    }

    #[inline]
    pub(super) fn text(&self, name: NameId) -> Option<StringId> {
        match name {
            NameId::NONE => None,
            _ => Some(self.texts.get(name.index()).copied().unwrap_or(StringId::DANGLING)),
        }
    }

    #[inline]
    pub(super) fn track(&self, track: TrackId) -> Track {
        self.tracks[track.index()]
    }

    #[inline]
    pub(super) fn shape(&self, shape: ShapeId) -> Shape {
        self.shapes[shape.index()]
    }

    pub(super) fn collective(&self, collective: CollectiveId) -> Collective {
        self.collectives[collective.index()]
    }

    #[inline]
    pub(super) fn space(&self, process: ProcessId) -> u32 {
        self.spaces.get(process.index()).copied().unwrap_or_default()
    }

    /// The symbol column. It is empty where the symbol is the first of its name, as a reader assumes.
    #[inline]
    pub(super) fn symbol(&self, process: ProcessId, name: NameId, symbol: Option<SymbolId>) -> Option<i64> {
        if symbol.is_none() && self.symbols.is_empty() {
            return None;
        }
        match symbol {
            _ if symbol == self.symbols.get(&(process, name)).copied() => None,
            Some(symbol) => Some(self.symbol_ids[symbol.index()]),
            None => Some(super::rows::NO_SYMBOL),
        }
    }
}

fn extend<T: Copy>(known: &mut Vec<T>, all: &[T]) {
    known.extend_from_slice(&all[known.len()..]);
}
