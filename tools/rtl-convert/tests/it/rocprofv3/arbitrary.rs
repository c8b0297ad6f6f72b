//! Traces of any content, as far as a native file can hold them.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use rtl_schema::table::{Agent, ApiCall, Copy, Direction, Dispatch, Process, Range, RangeKind, Shape, Track};
use rtl_schema::{AgentId, ProcessId, Tables};

use crate::rocprofv3::hostile_names;

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-zA-Z_][a-zA-Z0-9_<>:, ]{0,20}(\\.kd){0,2}",
        2 => any::<String>().prop_map(|text| text.replace('\0', "")),
        1 => proptest::sample::select(hostile_names()),
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    let axes = || [1_u32..1024, 1..16, 1..4];
    (option::of((axes(), axes())), option::of(0_u32..65536), option::of(0_u32..4096)).prop_map(
        |(extent, lds, scratch)| {
            let extent = extent.map(|(group, items)| Shape::from_items(group, items.map(u64::from)));
            Shape { lds, scratch, ..extent.unwrap_or_default() }
        },
    )
}

const DIRECTIONS: [Direction; 6] = [
    Direction::HostToDevice,
    Direction::DeviceToHost,
    Direction::DeviceToDevice,
    Direction::HostToHost,
    Direction::Fill,
    Direction::Unknown,
];

/// The columns that all rows share: a name, a GPU, a queue, start, duration, thread and correlation id.
type Place = (String, u32, i64, i64, Option<i64>, Option<i64>, i64);

fn place() -> impl Strategy<Value = Place> {
    (
        name(),
        0_u32..3,
        0_i64..200,
        0_i64..1 << 60,
        option::weighted(0.9, -5_i64..1 << 40),
        option::of(1_i64..1 << 22),
        0_i64..1 << 40,
    )
}

/// One process on GPUs 0, 3 and 5.
pub(crate) fn trace() -> impl Strategy<Value = Tables> {
    let dispatches = vec((place(), shape(), option::of(0_i64..9), any::<bool>()), 0..20);
    let copies = vec((place(), proptest::sample::select(&DIRECTIONS[..]), option::of(0_u64..1 << 40)), 0..10);
    let ranges = vec((place(), any::<bool>()), 0..10);
    let calls = vec((place(), option::of(name()), 0_i64..100), 0..10);
    (dispatches, copies, ranges, calls).prop_map(|(dispatches, copies, ranges, calls)| {
        let mut tables = Tables {
            processes: vec![Process { pid: Some(42), ..Process::default() }],
            agents: [0, 3, 5].map(|number| Agent { number, ..Agent::default() }).to_vec(),
            ..Tables::default()
        };
        let track = |gpu, queue, stream| Track {
            process: ProcessId(0),
            agent: AgentId(gpu),
            queue,
            stream,
            hardware_queue: None,
        };
        for ((name, gpu, queue, start, duration, tid, correlation), shape, stream, graph) in dispatches {
            tables.dispatches.push(Dispatch {
                name: tables.strings.intern(&name),
                track: tables.tracks.intern(track(gpu, queue, stream)),
                shape: Some(tables.shapes.intern(shape)),
                start,
                duration,
                tid,
                correlation,
                graph,
                ..Dispatch::default()
            });
        }
        for ((_, gpu, queue, start, duration, tid, correlation), direction, bytes) in copies {
            tables.copies.push(Copy {
                name: tables.strings.intern(""),
                track: tables.tracks.intern(track(gpu, queue, None)),
                start,
                duration,
                direction,
                bytes,
                tid,
                correlation,
                ..Copy::default()
            });
        }
        for (number, ((name, _, _, start, duration, tid, _), marker)) in (1..).zip(ranges) {
            // A range of no length cannot be told from a marker.
            let duration = if marker { Some(0) } else { duration.filter(|&duration| duration != 0) };
            tables.ranges.push(Range {
                id: number,
                tid,
                name: tables.strings.intern(&name),
                kind: if marker { RangeKind::Marker } else { RangeKind::Unknown },
                start,
                duration,
                ..Range::default()
            });
        }
        for ((name, _, _, start, duration, tid, correlation), args, parent) in calls {
            let args = args.filter(|args| !args.is_empty());
            tables.api_calls.push(ApiCall {
                tid,
                name: tables.strings.intern(&name),
                domain: rtl_schema::NameId::NONE,
                category: rtl_schema::NameId::NONE,
                args: args.map_or(rtl_schema::NameId::NONE, |args| tables.strings.intern(&args)),
                start,
                duration,
                correlation,
                parent,
                ..ApiCall::default()
            });
        }
        tables
    })
}
