//! A piece of a trace as rows of the file. Most rows are integers alone: they are encoded apart from the file, on any thread.

use std::sync::Arc;

use super::layout::Table;
use super::lookup::Lookup;
use super::mapping::ClockCursor;
use super::numbering::{Renumbered, RenumberedOps};
use super::range_ids::{RangeIds, RangesLeft};
use super::rows::{Call, Op, OpKind, call_row, op_row};
use crate::btree::Block;
use rtl_schema::table::{
    ApiArgument, ApiCall, Collective, Copy, Details, Direction, Dispatch, Operator, PythonFrame, Range,
    RangeKind,
};
use rtl_schema::{AgentId, NameId, Tables};

/// A piece of a trace that has its place in the file: see [`TraceImport::begin`](super::TraceImport::begin).
#[derive(Debug)]
pub struct PieceImport {
    rows: Tables,
    numbers: Numbers,
}

/// A piece whose rows are encoded: see [`TraceImport::end`](super::TraceImport::end).
#[derive(Debug)]
pub struct EncodedPiece {
    pub(super) rows: Tables,
    pub(super) numbers: Numbers,
    pub(super) encoded: Encoded,
}

/// The numbers that a piece takes from the pieces before it, so that it can be encoded apart from them.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) lookup: Arc<Lookup>,
    /// The strings that are new with it.
    pub(super) texts: Vec<NameId>,
    /// The last ids before its rows, by table.
    pub(super) before: [i64; Table::COUNT],
    /// How many rows it has, of the tables whose ids are counted.
    pub(super) rows: [i64; Table::COUNT],
    pub(super) ranges: RangeIds,
}

/// The rows of a piece in the order in which their tables are written.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) blocks: Vec<(Table, Block)>,
    pub(super) ops: RenumberedOps,
    pub(super) calls: Renumbered,
}

impl PieceImport {
    pub(super) fn new(rows: Tables, numbers: Numbers) -> Self {
        Self { rows, numbers }
    }

    /// Encodes the rows: the costly step, which needs neither the file nor the other pieces.
    #[must_use]
    pub fn encode(self) -> EncodedPiece {
        let encoded = encode(&self.rows, &self.numbers);
        EncodedPiece { rows: self.rows, numbers: self.numbers, encoded }
    }
}

pub(super) fn encode(rows: &Tables, numbers: &Numbers) -> Encoded {
    let lookup = &*numbers.lookup;
    let block = |table: Table| Block::after(numbers.before[table as usize]);
    let mut calls = Renumbered::default();
    let mut blocks = Vec::new();
    if !rows.api_calls.is_empty() {
        let written = encode_calls(lookup, rows, block(Table::Api), &mut calls);
        blocks.push((Table::Api, written));
        blocks.push((
            Table::Arg,
            arguments(lookup, rows, numbers.before[Table::Api as usize], block(Table::Arg)),
        ));
    }
    blocks.push((Table::Operator, operators(lookup, rows, block(Table::Operator))));
    blocks.push((Table::PythonFrame, python_frames(lookup, rows, block(Table::PythonFrame))));
    let mut ops = OpRows {
        lookup,
        ranges: numbers.ranges.left(),
        clock: lookup.clock(),
        ops: block(Table::Op),
        copies: Block::after(0),
        collectives: Block::after(0),
        new: RenumberedOps::default(),
    };
    each_op(rows, |op| ops.push(rows, op));
    blocks.extend([(Table::Op, ops.ops), (Table::Copy, ops.copies), (Table::Collective, ops.collectives)]);
    Encoded { blocks, ops: ops.new, calls }
}

/// A row that becomes an op: its table and its place there.
#[derive(Debug, Clone, Copy)]
pub(super) enum OpRow {
    Dispatch(usize),
    Copy(usize),
    Barrier(usize),
    Range(usize),
}

/// Passes ops and ranges to `each` in the order of their ids.
#[inline]
pub(super) fn each_op(rows: &Tables, mut each: impl FnMut(OpRow)) {
    let (mut dispatch, mut copy, mut barrier, mut range) = (0, 0, 0, 0);
    loop {
        let others = [
            rows.copies.get(copy).map(|copy| copy.id),
            rows.barriers.get(barrier).map(|barrier| barrier.id),
            rows.ranges.get(range).map(|range| range.id),
        ];
        let oldest = others.iter().flatten().min();
        while dispatch < rows.dispatches.len()
            && oldest.is_none_or(|&oldest| rows.dispatches.id.get(dispatch) <= oldest)
        {
            each(OpRow::Dispatch(dispatch));
            dispatch += 1;
        }
        match others.iter().position(|id| id.is_some() && id.as_ref() == oldest) {
            Some(0) => {
                each(OpRow::Copy(copy));
                copy += 1;
            }
            Some(1) => {
                each(OpRow::Barrier(barrier));
                barrier += 1;
            }
            Some(_) => {
                each(OpRow::Range(range));
                range += 1;
            }
            None => return,
        }
    }
}

/// The times and the range of an op in the terms of the file.
struct Numbered {
    start: i64,
    end: Option<i64>,
    details: Details,
    range: i64,
}

/// Fills in the columns that all kinds of ops have. The others are of dispatches only: see [`kernel`].
#[inline(always)]
fn placed(lookup: &Lookup, op: Op, row: &Dispatch, numbers: &Numbered) -> Op {
    let &Dispatch {
        id: _,
        name,
        track,
        start: _,
        duration: _,
        tid,
        correlation,
        range: _,
        shape: _,
        symbol: _,
        graph: _,
        details: _,
        collective: _,
    } = row;
    let place = lookup.track(track);
    let &Numbered { start, end, details, range } = numbers;
    Op {
        gpu: lookup.places.gpu(place.agent),
        queue: Some(lookup.places.queue(track)),
        description: lookup.text(name),
        pid: lookup.places.pid(place.process),
        stream: place.stream,
        tid,
        correlation,
        start,
        end,
        details,
        range,
        ..op
    }
}

#[inline(always)]
fn kernel(lookup: &Lookup, row: &Dispatch, numbers: &Numbered) -> Op {
    let shape = row.shape.map(|shape| lookup.shape(shape)).unwrap_or_default();
    let op = Op {
        kind: if row.graph { OpKind::Task } else { OpKind::KernelExecution },
        items: shape.items,
        workgroup: shape.workgroup,
        lds: shape.lds,
        scratch: shape.scratch,
        symbol: lookup.symbol(lookup.track(row.track).process, row.name, row.symbol),
        ..Op::default()
    };
    placed(lookup, op, row, numbers)
}

/// Encodes the ops of a piece, with the numbers that follow from the ops before.
struct OpRows<'a> {
    lookup: &'a Lookup,
    ranges: RangesLeft<'a>,
    clock: ClockCursor<'a>,
    ops: Block,
    copies: Block,
    collectives: Block,
    new: RenumberedOps,
}

impl OpRows<'_> {
    #[inline]
    fn push(&mut self, rows: &Tables, op: OpRow) {
        match op {
            OpRow::Dispatch(at) => self.dispatch(&rows.dispatches.get(at)),
            OpRow::Copy(at) => self.copy(&rows.copies[at]),
            OpRow::Barrier(at) => {
                let op = Op { kind: OpKind::Barrier, ..Op::default() };
                self.place(op, &(&rows.barriers[at]).into());
            }
            OpRow::Range(at) => self.range(&rows.ranges[at]),
        }
    }

    #[inline]
    fn numbers(&mut self, row: &Dispatch) -> Numbered {
        Numbered {
            start: self.clock.at(row.start),
            end: row.duration.map(|duration| self.clock.at(row.start.saturating_add(duration))),
            details: row.details.map_times(|moment| self.clock.at(moment)),
            range: self.ranges.next(row.range),
        }
    }

    /// Adds an op that is no dispatch.
    #[inline]
    fn place(&mut self, op: Op, row: &Dispatch) -> i64 {
        let numbers = self.numbers(row);
        let new = self.ops.push(&op_row(&placed(self.lookup, op, row, &numbers)));
        let space = self.lookup.space(self.lookup.track(row.track).process);
        self.new.others.push(space, row.id, new);
        new
    }

    #[inline]
    fn dispatch(&mut self, row: &Dispatch) {
        let (lookup, numbers) = (self.lookup, self.numbers(row));
        let new = self.ops.push(&op_row(&kernel(lookup, row, &numbers)));
        let space = lookup.space(lookup.track(row.track).process);
        self.new.dispatches.push(space, row.id, new);
        if let Some(collective) = row.collective {
            self.collective(new, lookup.collective(collective));
        }
    }

    fn copy(&mut self, row: &Copy) {
        // The other columns are those that a dispatch has too.
        let &Copy {
            id: _,
            name: _,
            track,
            start: _,
            duration: _,
            direction,
            bytes,
            source: from,
            destination: to,
            source_address,
            destination_address,
            tid: _,
            correlation: _,
            range: _,
            details: _,
        } = row;
        let lookup = self.lookup;
        let own = lookup.track(track).agent;
        // A reader infers these from gpuId, direction and peer; the rest needs a row of its own.
        let (peer, source, destination) = match direction {
            Direction::HostToDevice | Direction::Fill => (None, None, Some(own)),
            Direction::DeviceToHost => (None, Some(own), None),
            Direction::DeviceToDevice if from.is_some() => (from, from, Some(own)),
            _ => (None, None, None),
        };
        let inferred = (source, destination) == (from, to);
        let gpu = |agent: Option<AgentId>| agent.and_then(|agent| lookup.places.gpu(agent));
        let op = Op { kind: OpKind::of_copy(direction), bytes, peer: gpu(peer), ..Op::default() };
        let id = self.place(op, &row.into());
        if !inferred || source_address.is_some() || destination_address.is_some() {
            let address = |address: Option<u64>| address.map(|address| address as i64);
            let cells = [address(source_address), address(destination_address), gpu(from), gpu(to)];
            self.copies.push_at(id, &cells);
        }
    }

    fn range(&mut self, row: &Range) {
        let &Range { id, process, tid, name, category, kind, start, duration, correlation } = row;
        let lookup = self.lookup;
        let range = self.ranges.next(id);
        self.ops.push(&op_row(&Op {
            gpu: Some(-1),
            queue: Some(0),
            start: self.clock.at(start),
            end: duration.map(|duration| self.clock.at(start.saturating_add(duration))),
            description: lookup.text(name),
            kind: OpKind::UserMarker,
            range,
            tid,
            correlation,
            sequence: match kind {
                RangeKind::Thread => Some(0),
                RangeKind::Process => Some(1),
                RangeKind::Marker | RangeKind::Unknown => None,
            },
            pid: lookup.places.pid(process),
            category: lookup.text(category),
            ..Op::default()
        }));
    }

    fn collective(&mut self, op: i64, row: Collective) {
        let Collective { operation, communicator, ranks, size, data_type, sent, received, sequence } = row;
        let text = |name| self.lookup.text(name).map(|text| text.0);
        let elements = |count: Option<u64>| count.map(|count| count as i64);
        let cells = [
            text(operation),
            text(communicator),
            text(ranks),
            size.map(i64::from),
            text(data_type),
            elements(sent),
            elements(received),
            sequence.map(i64::from),
        ];
        self.collectives.push_at(op, &cells);
    }
}

fn encode_calls(lookup: &Lookup, rows: &Tables, mut calls: Block, new: &mut Renumbered) -> Block {
    let mut clock = lookup.clock();
    for row in rows.api_calls.iter() {
        let ApiCall {
            id,
            process,
            tid,
            name,
            domain,
            category,
            args,
            start,
            duration,
            correlation,
            parent,
            stream,
            result,
        } = row;
        let written = calls.push(&call_row(&Call {
            start: clock.at(start),
            duration,
            name: lookup.text(name),
            tid,
            correlation,
            domain: lookup.text(domain),
            parent,
            stream,
            pid: lookup.places.pid(process),
            category: lookup.text(category),
            args: lookup.text(args),
            result,
        }));
        // Calls are referred to without their space: see `TraceImport::finish`.
        new.push(0, id, written);
    }
    calls
}

/// The arguments of calls, of which the first is the one after `before`.
fn arguments(lookup: &Lookup, rows: &Tables, before: i64, mut arguments: Block) -> Block {
    let text = |name| lookup.text(name).map(|text| text.0);
    for &ApiArgument { call, position, kind, name, value } in &rows.api_calls.arguments {
        let (call, position) = (before + 1 + i64::from(call), i64::from(position));
        arguments.push(&[Some(call), Some(position), text(kind), text(name), text(value)]);
    }
    arguments
}

fn operators(lookup: &Lookup, rows: &Tables, mut operators: Block) -> Block {
    let text = |name| lookup.text(name).map(|text| text.0);
    for row in rows.operators.iter() {
        let Operator {
            id: _,
            process,
            tid,
            name,
            start,
            duration,
            shapes,
            types,
            strides,
            values,
            sequence,
            forward_thread,
        } = row;
        operators.push(&[
            Some(lookup.file_time(start)),
            duration,
            text(name),
            tid,
            text(shapes),
            text(types),
            sequence.map(i64::from),
            Some(forward_thread).filter(|&thread| thread != 0).map(i64::from),
            lookup.places.pid(process),
            text(strides),
            text(values),
        ]);
    }
    operators
}

fn python_frames(lookup: &Lookup, rows: &Tables, mut frames: Block) -> Block {
    for row in rows.python_frames.iter() {
        let PythonFrame { id: _, process, tid, name, start, duration, number, caller, module } = row;
        frames.push(&[
            Some(lookup.file_time(start)),
            duration,
            lookup.text(name).map(|text| text.0),
            tid,
            number.map(i64::from),
            caller.map(i64::from),
            module.map(i64::from),
            lookup.places.pid(process),
        ]);
    }
    frames
}
