//! Kernels, copies and barriers, and what kernels state.

use std::ops::Range;

use rtl_schema::table::{
    Barrier, Collective, Copy, Counter, Details, Direction, Dispatch, Shape, Symbol, Track,
};
use rtl_schema::{CollectiveId, NameId, ProcessId, Result, ShapeId, SymbolId, TrackId};
use rustc_hash::FxHashMap;

use super::Reading;
use super::rows::{Column, Group};
use crate::damage::damaged;

const DIRECTIONS: [Direction; 5] = [
    Direction::HostToDevice,
    Direction::DeviceToHost,
    Direction::DeviceToDevice,
    Direction::HostToHost,
    Direction::Fill,
];

type Registers = (ProcessId, NameId, [Option<u32>; 3]);

type Ranks = FxHashMap<Option<u32>, Range<usize>>;

struct Tracks {
    gpus: Column<i64>,
    queues: Column<i64>,
    streams: Column<i64>,
    pids: Column<i64>,
}

impl Tracks {
    fn read(group: &Group<'_>) -> Result<Self> {
        Ok(Self {
            gpus: group.integers("gpu")?,
            queues: group.integers("queue")?,
            streams: group.integers("stream")?,
            pids: group.integers("pid")?,
        })
    }
}

struct Links {
    ids: Column<i64>,
    tids: Column<i64>,
    correlations: Column<i64>,
    ranges: Column<i64>,
    details: [Column<i64>; Details::ALL.len()],
}

impl Links {
    fn details(&self, row: usize) -> Details {
        Details::from_fn(|at| self.details[at].get(row))
    }
}

impl Reading<'_> {
    pub(super) fn ops(&mut self) -> Result<()> {
        let mut ranks: Ranks = FxHashMap::default();
        let mut symbols = FxHashMap::default();
        self.each("dispatches", |trace, group| {
            let before = trace.tables.dispatches.len();
            trace.dispatches(group, &mut symbols)?;
            for (row, at) in (before..trace.tables.dispatches.len()).enumerate() {
                ranks.entry(group.rank(row)).or_insert(at..at).end = at + 1;
            }
            Ok(())
        })?;
        self.each("copies", Self::copies)?;
        self.each("barriers", Self::barriers)?;
        if self.select.secondary {
            self.each("counters", Self::counters)?;
        }
        if self.select.collectives || self.select.shapes || self.select.launch {
            self.each("collectives", |trace, group| trace.collectives(group, &mut ranks))?;
        }
        Ok(())
    }

    fn track(&mut self, group: &Group<'_>, tracks: &Tracks, row: usize) -> Result<TrackId> {
        let process = self.places.process(group, &tracks.pids, row)?;
        let agent = self.places.agent(group, (&tracks.gpus, row), &mut self.tables.agents)?;
        let (queue, stream) = (tracks.queues.id(row), tracks.streams.get(row));
        Ok(self.tables.tracks.intern(Track { process, agent, queue, stream, hardware_queue: None }))
    }

    /// Ops get the thread and the correlation id of their call. As for a database around `rocpd_op`, they only fill memory where there are
    /// no calls.
    fn ties_ops(&self) -> bool {
        use rtl_schema::Dialect::{Lite, Native, Rpd2, Rpd3};
        let select = self.select;
        let needs_calls = matches!(self.run.dialect, Native | Lite | Rpd2 | Rpd3);
        let has_calls = || self.run.manifest.tables.get("api_calls").is_some_and(|calls| calls.rows > 0);
        select.links && (!needs_calls || select.args || select.secondary || has_calls())
    }

    fn links(&self, group: &Group<'_>) -> Result<Links> {
        let select = self.select;
        let mut details = std::array::from_fn(|_| Column::default());
        for (column, detail) in details.iter_mut().zip(Details::ALL) {
            *column = group.integers_if(select.links, detail.name)?;
        }
        Ok(Links {
            ids: group.integers_if(select.ids, "id")?,
            tids: group.integers_if(self.ties_ops(), "tid")?,
            correlations: group.integers_if(self.ties_ops(), "correlation_id")?,
            ranges: group.integers_if(select.ranges, "range_id")?,
            details,
        })
    }

    fn dispatches(&mut self, group: &Group<'_>, symbols: &mut FxHashMap<Registers, SymbolId>) -> Result<()> {
        let starts = group.starts()?;
        let durations = group.durations(&starts)?;
        let names = group.names("name", &mut self.tables.strings)?;
        let (tracks, links, graphs) = (Tracks::read(group)?, self.links(group)?, group.bools("graph")?);
        let (launch, shapes) = (self.select.launch, self.select.shapes || self.select.launch);
        let axes = |names: [&str; 3]| -> Result<[Column<i64>; 3]> {
            let [x, y, z] = names.map(|name| group.integers_if(shapes, name));
            Ok([x?, y?, z?])
        };
        let items = axes(["grid_x", "grid_y", "grid_z"])?;
        let workgroups = axes(["workgroup_x", "workgroup_y", "workgroup_z"])?;
        let registers = ["vgprs", "sgprs", "agprs"].map(|name| group.integers_if(launch, name));
        let [vgprs, sgprs, agprs] = registers;
        let registers = [vgprs?, sgprs?, agprs?];
        let lds = group.integers_if(launch, "lds_bytes")?;
        let scratch = group.integers_if(launch, "scratch_bytes")?;
        for (row, (&start, &duration)) in starts.iter().zip(&durations).enumerate() {
            let (track, name) = (self.track(group, &tracks, row)?, names[row]);
            let shape = Shape {
                lds: lds.as_type(row),
                scratch: scratch.as_type(row),
                ..shape(
                    all(workgroups.each_ref().map(|axis| axis.as_type(row))),
                    all(items.each_ref().map(|axis| axis.bits(row))),
                )
            };
            let shape: Option<ShapeId> =
                (shape != Shape::default()).then(|| self.tables.shapes.intern(shape));
            let numbers = registers.each_ref().map(|registers| registers.as_type::<u32>(row));
            let symbol = numbers.iter().any(Option::is_some).then(|| {
                let process = self.tables.tracks.get(track).process;
                *symbols.entry((process, name, numbers)).or_insert_with(|| {
                    let [vgprs, sgprs, agprs] = numbers;
                    let all = &mut self.tables.symbols;
                    all.push(Symbol {
                        process,
                        id: 0,
                        name,
                        mangled: NameId::NONE,
                        code_object: 0,
                        kernel_object: 0,
                        kernarg: None,
                        lds: None,
                        scratch: None,
                        sgprs,
                        vgprs,
                        agprs,
                        kernarg_alignment: None,
                        entry_offset: None,
                        address: None,
                    });
                    SymbolId(all.len() as u32 - 1)
                })
            });
            self.tables.dispatches.push(Dispatch {
                id: links.ids.id(row),
                name,
                track,
                start,
                duration,
                tid: links.tids.get(row),
                correlation: links.correlations.id(row),
                range: links.ranges.id(row),
                shape,
                symbol,
                graph: graphs.get(row).unwrap_or_default(),
                details: links.details(row),
                collective: None,
            });
        }
        Ok(())
    }

    fn copies(&mut self, group: &Group<'_>) -> Result<()> {
        let starts = group.starts()?;
        let durations = group.durations(&starts)?;
        let names = group.names("name", &mut self.tables.strings)?;
        let (tracks, links) = (Tracks::read(group)?, self.links(group)?);
        let (directions, bytes) = (group.texts("direction")?, group.integers("bytes")?);
        let agents = [group.integers("source_gpu")?, group.integers("destination_gpu")?];
        let addresses = [group.integers("source_address")?, group.integers("destination_address")?];
        for (row, (&start, &duration)) in starts.iter().zip(&durations).enumerate() {
            let direction = directions.get(row).and_then(|text| {
                let label = text.as_str()?;
                DIRECTIONS.into_iter().find(|direction| direction.label() == label)
            });
            let copy = Copy {
                id: links.ids.id(row),
                name: names[row],
                track: self.track(group, &tracks, row)?,
                start,
                duration,
                direction: direction.unwrap_or_default(),
                bytes: bytes.bits(row),
                source: self.places.gpu(group, &agents[0], row)?,
                destination: self.places.gpu(group, &agents[1], row)?,
                source_address: addresses[0].bits(row),
                destination_address: addresses[1].bits(row),
                tid: links.tids.get(row),
                correlation: links.correlations.id(row),
                range: links.ranges.id(row),
                details: links.details(row),
            };
            self.tables.copies.push(copy);
        }
        Ok(())
    }

    fn barriers(&mut self, group: &Group<'_>) -> Result<()> {
        let starts = group.starts()?;
        let durations = group.durations(&starts)?;
        let names = group.names("name", &mut self.tables.strings)?;
        let (tracks, links) = (Tracks::read(group)?, self.links(group)?);
        for (row, (&start, &duration)) in starts.iter().zip(&durations).enumerate() {
            let track = self.track(group, &tracks, row)?;
            let (id, correlation) = (links.ids.id(row), links.correlations.id(row));
            let (name, details) = (names[row], links.details(row));
            self.tables.barriers.push(Barrier { id, name, track, start, duration, correlation, details });
        }
        Ok(())
    }

    fn counters(&mut self, group: &Group<'_>) -> Result<()> {
        let names = group.names("name", &mut self.tables.strings)?;
        let (dispatches, values) = (group.integers("op_id")?, group.floats("value")?);
        let (gpus, pids) = (group.integers("gpu")?, group.integers("pid")?);
        for (row, &name) in names.iter().enumerate() {
            self.tables.counters.push(Counter {
                dispatch: dispatches.id(row),
                process: self.places.process(group, &pids, row)?,
                agent: self.places.gpu(group, &gpus, row)?,
                name,
                value: values.get(row).unwrap_or_default(),
            });
        }
        Ok(())
    }

    /// Rows are those of dispatches of their rank, in the same order. What is left of a rank begins behind the last dispatch that
    /// was found.
    fn collectives(&mut self, group: &Group<'_>, ranks: &mut Ranks) -> Result<()> {
        let starts = group.starts()?;
        let strings = &mut self.tables.strings;
        let names = group.names("name", strings)?;
        let text = ["operation", "communicator", "ranks", "data_type"].map(|name| group.names(name, strings));
        let [operations, communicators, members, types] = text;
        let (operations, communicators, members, types) = (operations?, communicators?, members?, types?);
        let number = |name| group.integers(name);
        let (sizes, sequences) = (number("size")?, number("sequence")?);
        let (sent, received) = (number("sent")?, number("received")?);
        let tracks = Tracks::read(group)?;
        for (row, &start) in starts.iter().enumerate() {
            let track = self.track(group, &tracks, row)?;
            let dispatches = &mut self.tables.dispatches;
            let is_row = |at: &usize| {
                (dispatches.start[*at], dispatches.name[*at], dispatches.track[*at])
                    == (start, names[row], track)
            };
            let at = ranks.get_mut(&group.rank(row)).and_then(|rows| rows.find(is_row));
            let at =
                at.ok_or_else(|| damaged(group.path, format!("no kernel is the collective at {start}")))?;
            let collective = Collective {
                operation: operations[row],
                communicator: communicators[row],
                ranks: members[row],
                size: sizes.as_type(row),
                data_type: types[row],
                sent: sent.bits(row),
                received: received.bits(row),
                sequence: sequences.as_type(row),
            };
            if collective != Collective::default() {
                let id: CollectiveId = self.tables.collectives.intern(collective);
                dispatches.collective.set(at, Some(id));
            }
        }
        Ok(())
    }
}

fn shape(workgroup: Option<[u32; 3]>, items: Option<[u64; 3]>) -> Shape {
    match (workgroup, items) {
        (Some(workgroup), Some(items)) => Shape::from_items(workgroup, items),
        _ => Shape { workgroup, items, ..Shape::default() },
    }
}

fn all<T>([x, y, z]: [Option<T>; 3]) -> Option<[T; 3]> {
    Some([x?, y?, z?])
}
