//! The import of a trace that another tool recorded, piece by piece.

use std::sync::Arc;

use super::layout::Table;
use super::lookup::Lookup;
use super::mapping::TraceMapping;
use super::metadata;
use super::numbering::{Renumbered, RenumberedOps};
use super::piece::{Encoded, EncodedPiece, Numbers, OpRow, PieceImport, each_op, encode};
use super::range_ids::{ListedRanges, RangeIds};
use super::rows::StringId;
use super::writer::NativeWriter;
use rtl_schema::{Id, NameId, ProcessId, Result, Tables, TrackId};

/// A trace on its way into a file, as [`Trace::stream`](rtl_schema::Trace::stream) gives it out: calls before the ops that
/// refer to them, and what refers to ops behind those. Beside the strings, memory grows with breaks in the order of
/// rows only.
///
/// A piece takes three steps, of which the first and the last one are short and keep the order of pieces:
/// [`Self::begin`] numbers its rows, [`PieceImport::encode`] encodes them on any thread, and [`Self::end`] puts them into the
/// file. The bytes of the file are the same however many pieces are on the way.
#[derive(Debug, Default)]
pub struct TraceImport {
    pub(super) lookup: Arc<Lookup>,
    ops: RenumberedOps,
    pub(super) calls: Renumbered,
    /// Links of ops to further calls: an op may come after its links.
    links: Vec<(Id, Id)>,
    /// A whole trace releases its range ids once its rows are numbered: the trace behind it may use those numbers.
    is_numbered: bool,
}

impl TraceImport {
    /// Starts a trace that goes into a file of several, with its numbers there.
    #[must_use]
    pub fn with_mapping(mapping: TraceMapping) -> Self {
        Self { lookup: Arc::new(Lookup::new(Some(mapping))), ..Self::default() }
    }

    /// Writes the rows of a piece.
    ///
    /// # Errors
    /// [`rtl_schema::Error::Io`] if the file cannot grow.
    pub fn push(&mut self, writer: &mut NativeWriter, piece: &Tables) -> Result<()> {
        let numbers = self.number(writer, piece);
        let encoded = encode(piece, &numbers);
        self.write(writer, piece, &numbers, encoded)
    }

    /// Takes the rows out of a piece and gives them their numbers in the file. All pieces that have begun must end, in their
    /// order, before the file is used in another way.
    pub fn begin(&mut self, writer: &mut NativeWriter, piece: &mut Tables) -> PieceImport {
        let numbers = self.number(writer, piece);
        PieceImport::new(piece.take_rows(), numbers)
    }

    /// As [`Self::begin`], of a trace that is one piece. Others may begin before it ends; they end, and finish, in the order in which they
    /// have begun.
    pub fn begin_whole(&mut self, writer: &mut NativeWriter, trace: &mut Tables) -> PieceImport {
        let piece = self.begin(writer, trace);
        self.is_numbered = true;
        self.forget_ranges(writer);
        piece
    }

    /// Puts the rows of a piece into the file.
    ///
    /// # Errors
    /// [`rtl_schema::Error::Io`] if the file cannot grow.
    pub fn end(&mut self, writer: &mut NativeWriter, piece: EncodedPiece) -> Result<()> {
        self.write(writer, &piece.rows, &piece.numbers, piece.encoded)
    }

    /// Writes the rows that are known only at the end: the metadata, and links. `last` holds the rows after all pieces.
    /// For one trace among several the caller writes processes and agents by [`NativeWriter::push_process`] and
    /// [`NativeWriter::push_agent`], and the metadata of the trace as a whole.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(mut self, writer: &mut NativeWriter, last: &Tables) -> Result<()> {
        let texts = self.refer(writer, last);
        write_texts(writer, last, &texts)?;
        for (op, call) in std::mem::take(&mut self.links) {
            // Sources with several links number all processes together: their ids need no space.
            // Where only a part of the ops is written, links of others lead nowhere.
            if let (Some(call), Some(op)) = (self.calls.get(0, call), self.ops.get(0, op)) {
                writer.row(Table::ApiOps, &[call.into(), op.into()])?;
            }
        }
        let places = &self.lookup.places;
        match &self.lookup.mapping {
            Some(_) => {
                if !self.is_numbered {
                    self.forget_ranges(writer);
                }
                metadata::write_details(writer, last, places)
            }
            None => metadata::write(writer, last, places),
        }
    }

    /// Forgets the ids of ranges that no later trace may name.
    fn forget_ranges(&self, writer: &mut NativeWriter) {
        if let Some(mapping) = &self.lookup.mapping
            && !mapping.continues
            && !writer.range_ids.is_empty()
        {
            writer.range_ids.retain(|(space, _), _| !mapping.spaces.contains(space));
        }
    }

    pub(super) fn dispatched(&self, process: ProcessId, old: Id) -> Option<i64> {
        self.ops.dispatches.get(self.lookup.space(process), old)
    }

    fn number(&mut self, writer: &mut NativeWriter, piece: &Tables) -> Numbers {
        let texts = self.refer(writer, piece);
        let mut before = [0; Table::COUNT];
        let calls = &piece.api_calls;
        let ops = op_rows(piece);
        let mut rows = [0; Table::COUNT];
        for (table, count) in [
            (Table::Op, ops),
            (Table::Api, calls.len()),
            (Table::Arg, calls.arguments.len()),
            (Table::Operator, piece.operators.len()),
            (Table::PythonFrame, piece.python_frames.len()),
        ] {
            let at = table as usize;
            before[at] = writer.rows(table) + writer.begun[at];
            writer.begun[at] += count as i64;
            rows[at] = count as i64;
        }
        let ranges = self.range_ids(writer, piece);
        Numbers { lookup: Arc::clone(&self.lookup), texts, before, rows, ranges }
    }

    /// Extends the lookup by a piece and returns the strings that the file does not have.
    fn refer(&mut self, writer: &mut NativeWriter, piece: &Tables) -> Vec<NameId> {
        let mut new = Vec::new();
        let known = &self.lookup;
        let is_known =
            known.texts.len() == piece.strings.len() && known.places.has(piece) && known.has(piece);
        if is_known {
            return new;
        }
        let lookup = Arc::make_mut(&mut self.lookup);
        lookup.places.extend(piece, &mut writer.queues);
        lookup.extend(piece);
        for (name, text) in piece.strings.iter().skip(lookup.texts.len()) {
            let known = writer.strings.permanent(text);
            lookup.texts.push(known.unwrap_or_else(|| {
                writer.begun[Table::String as usize] += 1;
                let id = StringId(writer.rows(Table::String) + writer.begun[Table::String as usize]);
                writer.strings.insert_permanent(text, id);
                new.push(name);
                id
            }));
        }
        new
    }

    fn range_ids(&self, writer: &mut NativeWriter, piece: &Tables) -> RangeIds {
        let Some(mapping) = &self.lookup.mapping else { return RangeIds::Moved(0) };
        let dispatches = &piece.dispatches;
        let is_without = dispatches.range.uniform() == Some(0) || dispatches.is_empty();
        if is_without && piece.ranges.is_empty() && piece.copies.iter().all(|copy| copy.range == 0) {
            return RangeIds::Moved(0);
        }
        if let Some(moved) = RangeIds::moved(&mapping.ranges, piece) {
            return moved;
        }
        let mut id = |process: ProcessId, range: Id| match range {
            0 => 0,
            _ => writer.range_id(mapping, process, range),
        };
        let of_track = |track: TrackId| self.lookup.track(track).process;
        // Most dispatches are in the range of the one before, on its queue.
        let mut last: Option<((TrackId, Id), i64)> = None;
        let mut list = ListedRanges::default();
        each_op(piece, |op| {
            list.push(match op {
                OpRow::Dispatch(at) => {
                    let own = (dispatches.track[at], dispatches.range.get(at));
                    let known = last.filter(|(other, _)| *other == own).map(|(_, id)| id);
                    let new = known.unwrap_or_else(|| id(of_track(own.0), own.1));
                    last = Some((own, new));
                    new
                }
                OpRow::Copy(at) => id(of_track(piece.copies[at].track), piece.copies[at].range),
                OpRow::Barrier(_) => 0,
                OpRow::Range(at) => id(piece.ranges[at].process, piece.ranges[at].id),
            });
        });
        RangeIds::Listed(list)
    }

    fn write(
        &mut self,
        writer: &mut NativeWriter,
        piece: &Tables,
        numbers: &Numbers,
        encoded: Encoded,
    ) -> Result<()> {
        write_texts(writer, piece, &numbers.texts)?;
        for (table, block) in encoded.blocks {
            writer.append(table, block)?;
        }
        writer.begun.iter_mut().zip(numbers.rows).for_each(|(begun, written)| *begun -= written);
        self.calls.append(encoded.calls);
        self.calls.sort();
        self.ops.append(encoded.ops);
        self.ops.sort();
        self.links.extend_from_slice(&piece.extra_links);
        self.launches(writer, piece, numbers)?;
        self.secondary_tables(writer, piece, &numbers.lookup)
    }
}

fn op_rows(piece: &Tables) -> usize {
    piece.dispatches.len() + piece.copies.len() + piece.barriers.len() + piece.ranges.len()
}

fn write_texts(writer: &mut NativeWriter, piece: &Tables, texts: &[NameId]) -> Result<()> {
    for &name in texts {
        writer.row(Table::String, &[piece.strings.get(name).into()])?;
    }
    writer.begun[Table::String as usize] -= texts.len() as i64;
    Ok(())
}

impl NativeWriter {
    /// Writes all of `tables`. Ops get new ids, in the order of their old ones where those were read; calls
    /// and ranges too. Everything else reads back as it was.
    ///
    /// # Errors
    /// [`Error::Io`](rtl_schema::Error::Io) if the file cannot grow.
    pub fn push_tables(&mut self, tables: &Tables) -> Result<()> {
        let mut import = TraceImport::default();
        import.push(self, tables)?;
        import.finish(self, tables)
    }
}
