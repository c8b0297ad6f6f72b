//! Rows of the GPU: kernels, graphs that were traced as a whole, copies, fills.

use rustc_hash::FxHashMap;

use super::Reading;
use crate::sqlite::{Row, scanned};
use crate::table::{Allocation, AllocationKind, Copy, Direction, Dispatch, Shape, Symbol, Track, all};
use crate::{AgentId, Id, NameId, ProblemKind, Result, SymbolId, TrackId};

/// The columns that every row of the GPU has, in this order.
const COMMON: [&str; 6] = ["start", "end", "deviceId", "streamId", "correlationId", "globalPid"];

/// Columns that every row of the GPU has.
struct Timed {
    id: Id,
    track: TrackId,
    start: i64,
    duration: Option<i64>,
    correlation: Id,
    global: Option<i64>,
}

impl Reading<'_> {
    fn timed(&mut self, table: &str, row: &Row<'_>) -> Option<Timed> {
        let Some(start) = row.int(0) else {
            self.tables.problems.add_in(ProblemKind::MissingStart, table, "start", row.id());
            return None;
        };
        let global = row.int(5);
        let process = self.sources.process(&mut self.tables, global);
        let agent = self.sources.agent(&mut self.tables, global, row.int(2).unwrap_or(0));
        let stream = row.int(3);
        let track = Track { process, agent, queue: stream.unwrap_or(0), stream, hardware_queue: None };
        let correlation = row.int(4).unwrap_or(0);
        self.tables.info.linked |= correlation != 0;
        Some(Timed {
            id: if self.select.ids { row.id() } else { 0 },
            track: self.tables.tracks.intern(track),
            start,
            duration: row.int(1).and_then(|end| end.checked_sub(start)),
            correlation: if self.select.links { correlation } else { 0 },
            global,
        })
    }

    pub(super) fn kernels(&mut self) -> Result<()> {
        const TABLE: &str = "CUPTI_ACTIVITY_KIND_KERNEL";
        let mut columns = COMMON.to_vec();
        columns.extend(["demangledName", "shortName", "mangledName", "registersPerThread"]);
        columns.extend(["gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"]);
        columns.extend(["staticSharedMemory", "dynamicSharedMemory", "graphNodeId"]);
        let [name, short, mangled, registers, grid, block, fixed, dynamic, graph] =
            [6, 7, 8, 9, 10, 13, 16, 17, 18];
        let mut symbols: FxHashMap<(NameId, Option<u32>), SymbolId> = FxHashMap::default();
        let database = self.database;
        database.scan(TABLE, &columns, |row| {
            let Some(timed) = self.timed(TABLE, row) else { return };
            let (sources, tables) = (&mut self.sources, &mut self.tables);
            let id = row.int(name).or_else(|| row.int(short));
            let name = sources.name(tables, id, |text| text);
            if name == NameId::DANGLING {
                tables.problems.add_in(ProblemKind::DanglingName, TABLE, "demangledName", row.id());
            }
            let shape = self.select.any_shape().then(|| {
                let grid = all([0, 1, 2].map(|axis| row.unsigned(grid + axis)));
                let block = all([0, 1, 2].map(|axis| row.unsigned(block + axis)));
                let lds = match (row.unsigned::<u32>(fixed), row.unsigned::<u32>(dynamic)) {
                    (None, None) => None,
                    (fixed, dynamic) => fixed.unwrap_or(0).checked_add(dynamic.unwrap_or(0)),
                };
                let sizes = grid.zip(block).map(|(grid, block)| Shape::from_groups(block, grid));
                Shape { lds, ..sizes.unwrap_or_default() }
            });
            let shape = shape.filter(|shape| *shape != Shape::default());
            let vgprs = row.unsigned(registers).filter(|_| self.select.launch);
            let symbol = vgprs.map(|_| {
                *symbols.entry((name, vgprs)).or_insert_with(|| {
                    let mangled = sources.name(tables, row.int(mangled), |text| text);
                    let process = tables.tracks.get(timed.track).process;
                    tables.symbols.push(Symbol { process, name, mangled, vgprs, ..Symbol::default() });
                    SymbolId(tables.symbols.len() as u32 - 1)
                })
            });
            tables.dispatches.push(Dispatch {
                id: timed.id,
                name,
                track: timed.track,
                start: timed.start,
                duration: timed.duration,
                correlation: timed.correlation,
                shape: shape.map(|shape| tables.shapes.intern(shape)),
                symbol,
                graph: row.int(graph).is_some_and(|node| node != 0),
                ..Dispatch::default()
            });
        })
    }

    /// Launches of graphs, where nsys traces them as a whole, which is its default: their kernels are no rows.
    pub(super) fn graphs(&mut self) -> Result<()> {
        const TABLE: &str = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
        let mut columns = COMMON.to_vec();
        columns.push("graphId");
        let database = self.database;
        database.scan(TABLE, &columns, |row| {
            let Some(timed) = self.timed(TABLE, row) else { return };
            let name =
                row.int(6).map_or_else(|| "CUDA graph".to_owned(), |graph| format!("CUDA graph {graph}"));
            self.tables.dispatches.push(Dispatch {
                id: timed.id,
                name: self.tables.strings.intern(&name),
                track: timed.track,
                start: timed.start,
                duration: timed.duration,
                correlation: timed.correlation,
                graph: true,
                ..Dispatch::default()
            });
        })
    }

    pub(super) fn copies(&mut self) -> Result<()> {
        const TABLE: &str = "CUPTI_ACTIVITY_KIND_MEMCPY";
        let mut columns = COMMON.to_vec();
        columns.extend(["bytes", "copyKind", "srcDeviceId", "dstDeviceId"]);
        let database = self.database;
        database.scan(TABLE, &columns, |row| {
            let Some(timed) = self.timed(TABLE, row) else { return };
            let (name, direction) = kind(row.int(7));
            let agent = Some(self.tables.tracks.get(timed.track).agent);
            let mut end = |at: usize, is_here: bool| {
                let named =
                    row.int(at).map(|device| self.sources.agent(&mut self.tables, timed.global, device));
                named.or(agent.filter(|_| is_here))
            };
            let is_peer = name.contains("Peer");
            let source =
                end(8, !is_peer && matches!(direction, Direction::DeviceToHost | Direction::DeviceToDevice));
            let destination =
                end(9, !is_peer && matches!(direction, Direction::HostToDevice | Direction::DeviceToDevice));
            self.copy(&timed, name, direction, row.unsigned(6), [source, destination]);
        })
    }

    pub(super) fn fills(&mut self) -> Result<()> {
        const TABLE: &str = "CUPTI_ACTIVITY_KIND_MEMSET";
        let mut columns = COMMON.to_vec();
        columns.push("bytes");
        let database = self.database;
        database.scan(TABLE, &columns, |row| {
            let Some(timed) = self.timed(TABLE, row) else { return };
            let agent = Some(self.tables.tracks.get(timed.track).agent);
            self.copy(&timed, "[CUDA memset]", Direction::Fill, row.unsigned(6), [None, agent]);
        })
    }

    fn copy(
        &mut self,
        timed: &Timed,
        name: &str,
        direction: Direction,
        bytes: Option<u64>,
        [source, destination]: [Option<AgentId>; 2],
    ) {
        self.tables.copies.push(Copy {
            id: timed.id,
            name: self.tables.strings.intern(name),
            track: timed.track,
            start: timed.start,
            duration: timed.duration,
            direction,
            bytes,
            source,
            destination,
            correlation: timed.correlation,
            ..Copy::default()
        });
    }

    /// Allocations and releases of the GPU's memory (`--cuda-memory-usage`).
    pub(super) fn allocations(&mut self) -> Result<()> {
        const TABLE: &str = "CUDA_GPU_MEMORY_USAGE_EVENTS";
        scanned!(columns: start, device = "deviceId", global = "globalPid", address, bytes,
            operation = "memoryOperationType", correlation = "correlationId");
        let database = self.database;
        database.scan(TABLE, &columns, |row| {
            let Some(start) = row.int(start) else {
                self.tables.problems.add_in(ProblemKind::MissingStart, TABLE, "start", row.id());
                return;
            };
            let global = row.int(global);
            let agent = row.int(device).map(|device| self.sources.agent(&mut self.tables, global, device));
            let process = self.sources.process(&mut self.tables, global);
            self.tables.allocations.push(Allocation {
                id: row.id(),
                process,
                agent,
                kind: if row.int(operation) == Some(1) {
                    AllocationKind::Free
                } else {
                    AllocationKind::Allocate
                },
                start,
                address: row.int(address).map(i64::cast_unsigned),
                bytes: row.int(bytes).unwrap_or(0).cast_unsigned(),
                correlation: row.int(correlation).unwrap_or(0),
                ..Allocation::default()
            });
        })
    }
}

/// Name and direction of a kind of copy, as CUPTI numbers them; the names are those of nsys's reports.
fn kind(number: Option<i64>) -> (&'static str, Direction) {
    match number {
        Some(1) => ("[CUDA memcpy Host-to-Device]", Direction::HostToDevice),
        Some(2) => ("[CUDA memcpy Device-to-Host]", Direction::DeviceToHost),
        Some(3) => ("[CUDA memcpy Host-to-Array]", Direction::HostToDevice),
        Some(4) => ("[CUDA memcpy Array-to-Host]", Direction::DeviceToHost),
        Some(5) => ("[CUDA memcpy Array-to-Array]", Direction::DeviceToDevice),
        Some(6) => ("[CUDA memcpy Array-to-Device]", Direction::DeviceToDevice),
        Some(7) => ("[CUDA memcpy Device-to-Array]", Direction::DeviceToDevice),
        Some(8) => ("[CUDA memcpy Device-to-Device]", Direction::DeviceToDevice),
        Some(9) => ("[CUDA memcpy Host-to-Host]", Direction::HostToHost),
        Some(10) => ("[CUDA memcpy Peer-to-Peer]", Direction::DeviceToDevice),
        Some(11) => ("[CUDA Unified Memory memcpy Host-to-Device]", Direction::HostToDevice),
        Some(12) => ("[CUDA Unified Memory memcpy Device-to-Host]", Direction::DeviceToHost),
        Some(13) => ("[CUDA Unified Memory memcpy Device-to-Device]", Direction::DeviceToDevice),
        _ => ("[CUDA memcpy]", Direction::Unknown),
    }
}
