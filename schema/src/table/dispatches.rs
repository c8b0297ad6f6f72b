use crate::{Column, Durations, Id, NameId, ShapeId, SymbolId, TrackId};

/// One kernel launch executed by a GPU.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Dispatch {
    /// The id of the source; order of equal starts.
    pub id: Id,
    /// The kernel's name as stored; [`crate::identity`] tells what identifies it.
    pub name: NameId,
    /// Where it ran.
    pub track: TrackId,
    /// Start in ns.
    pub start: i64,
    /// End minus start in ns: negative as stored, `None` where the end is missing.
    pub duration: Option<i64>,
    /// The thread that launched it.
    pub tid: Option<i64>,
    /// Ties it to the launching call; 0 is unknown.
    pub correlation: Id,
    /// The id of the innermost range it was launched in (roctxId); 0 is none.
    pub range: Id,
    /// Launch shape, LDS and scratch, if known.
    pub shape: Option<ShapeId>,
    /// The loaded kernel, with its register counts, if known.
    pub symbol: Option<SymbolId>,
    /// Whether it came out of a graph launch (RPD's `Task`).
    pub graph: bool,
    /// Host time in ns at which its packet was enqueued, if known.
    pub enqueued: Option<i64>,
}

/// All kernel launches of a trace, in the order of the source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dispatches {
    /// Ids of the source, when selected.
    pub id: Column<Id>,
    /// Names as stored.
    pub name: Vec<NameId>,
    /// Where each ran.
    pub track: Vec<TrackId>,
    /// Starts in ns.
    pub start: Vec<i64>,
    /// Durations in ns.
    pub duration: Durations,
    /// Launching threads.
    pub tid: Column<Option<i64>>,
    /// Correlation ids, 0 where unknown.
    pub correlation: Column<Id>,
    /// Innermost range ids, 0 where none.
    pub range: Column<Id>,
    /// Launch shapes.
    pub shape: Column<Option<ShapeId>>,
    /// Loaded kernels.
    pub symbol: Column<Option<SymbolId>>,
    /// Which came out of a graph launch.
    pub graph: Column<bool>,
    /// Host times in ns at which packets were enqueued.
    pub enqueued: Column<Option<i64>>,
    /// How many of the last rows are plain, and missing in the columns that say nothing of those.
    plain: usize,
    /// How many of those rows have their shape nevertheless: all of them or none.
    shaped: usize,
}

impl Dispatches {
    /// Appends a row. Inlined, because a row is too long to be passed cheaply.
    #[inline(always)]
    pub fn push(&mut self, row: Dispatch) {
        self.settle();
        self.id.push(row.id);
        self.name.push(row.name);
        self.track.push(row.track);
        self.start.push(row.start);
        self.duration.push(row.duration);
        self.tid.push(row.tid);
        self.correlation.push(row.correlation);
        self.range.push(row.range);
        self.shape.push(row.shape);
        self.symbol.push(row.symbol);
        self.graph.push(row.graph);
        self.enqueued.push(row.enqueued);
    }

    /// Appends a row of which only this is known. The other columns catch up with the next other row, or with
    /// [`Self::settle`], which must come before anything is read: most rows of most traces are plain.
    #[inline(always)]
    pub(crate) fn push_plain(
        &mut self,
        name: NameId,
        track: TrackId,
        start: i64,
        duration: Option<i64>,
        range: Id,
    ) {
        self.name.push(name);
        self.track.push(track);
        self.start.push(start);
        self.duration.push(duration);
        self.range.push(range);
        self.plain += 1;
    }

    /// Appends a row as [`Self::push_plain`] does whose launch shape is asked for. Between two settlements come rows of
    /// one of the two kinds only.
    #[inline(always)]
    pub(crate) fn push_shaped(
        &mut self,
        name: NameId,
        track: TrackId,
        start: i64,
        duration: Option<i64>,
        range: Id,
        shape: Option<ShapeId>,
    ) {
        self.push_plain(name, track, start, duration, range);
        self.shape.push(shape);
        self.shaped += 1;
    }

    /// Brings all columns to the same length.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if self.plain > 0 {
            self.catch_up();
        }
    }

    #[cold]
    fn catch_up(&mut self) {
        let rows = std::mem::take(&mut self.plain);
        let shapeless = rows - std::mem::take(&mut self.shaped);
        self.id.pad(rows);
        self.tid.pad(rows);
        self.correlation.pad(rows);
        self.shape.pad(shapeless);
        self.symbol.pad(rows);
        self.graph.pad(rows);
        self.enqueued.pad(rows);
    }

    /// The row at `row`.
    pub fn get(&self, row: usize) -> Dispatch {
        Dispatch {
            id: self.id.get(row),
            name: self.name[row],
            track: self.track[row],
            start: self.start[row],
            duration: self.duration.get(row),
            tid: self.tid.get(row),
            correlation: self.correlation.get(row),
            range: self.range.get(row),
            shape: self.shape.get(row),
            symbol: self.symbol.get(row),
            graph: self.graph.get(row),
            enqueued: self.enqueued.get(row),
        }
    }

    /// The name of row `row` as stored.
    pub fn name(&self, row: usize) -> NameId {
        self.name[row]
    }

    /// The start of row `row` in ns.
    pub fn start(&self, row: usize) -> i64 {
        self.start[row]
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.name.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = Dispatch> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Appends all rows of `other`, whose tracks and shapes are renumbered by the two tables.
    pub fn append(&mut self, mut other: Self, tracks: &[TrackId], shapes: &[ShapeId]) {
        self.settle();
        other.settle();
        self.id.append_with(other.id, |id| id);
        self.name.extend_from_slice(&other.name);
        drop(other.name);
        self.track.extend(other.track.iter().map(|track| tracks[track.index()]));
        drop(other.track);
        self.start.extend_from_slice(&other.start);
        drop(other.start);
        self.duration.append(other.duration);
        self.tid.append_with(other.tid, |tid| tid);
        self.correlation.append_with(other.correlation, |id| id);
        self.range.append_with(other.range, |id| id);
        self.shape.append_with(other.shape, |shape| shape.map(|shape| shapes[shape.index()]));
        self.symbol.append_with(other.symbol, |symbol| symbol);
        self.graph.append_with(other.graph, |graph| graph);
        self.enqueued.append_with(other.enqueued, |moment| moment);
    }

    /// Keeps the rows for which `keep` says true.
    pub fn retain(&mut self, keep: &[bool]) {
        self.id.retain(keep);
        retain(&mut self.name, keep);
        retain(&mut self.track, keep);
        retain(&mut self.start, keep);
        self.duration.retain(keep);
        self.tid.retain(keep);
        self.correlation.retain(keep);
        self.range.retain(keep);
        self.shape.retain(keep);
        self.symbol.retain(keep);
        self.graph.retain(keep);
        self.enqueued.retain(keep);
    }
}

fn retain<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut flags = keep.iter();
    values.retain(|_| *flags.next().unwrap_or(&false));
}
