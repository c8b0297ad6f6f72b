//! Results do not depend on the number of threads, which divide rows and GPUs among themselves.

use std::num::NonZero;

use rtl_analysis::kernels::GroupBy;
use rtl_analysis::{Analysis, Categories, Part, findings, trust};
use rtl_schema::table::{Agent, AgentKind, Copy, Dispatch, Process, Shape, Track};
use rtl_schema::{AgentId, ProcessId, Tables};

/// More rows than a thread takes alone, on GPUs of which one has most of them; a few start before rows that precede them.
fn tables() -> Tables {
    const GPUS: u32 = 5;
    let mut tables = Tables {
        processes: (0..GPUS).map(|rank| Process { rank: Some(rank), ..Process::default() }).collect(),
        agents: (0..GPUS)
            .map(|number| Agent { number: number.into(), kind: AgentKind::Gpu, ..Agent::default() })
            .collect(),
        ..Tables::default()
    };
    let mut random = 1_u64;
    let mut below = |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    for row in 0..260_000_i64 {
        let gpu = below(9).saturating_sub(4) as u32;
        let (process, agent) = (ProcessId(gpu), AgentId(gpu));
        let track = Track { process, agent, queue: below(2) as i64, ..Track::default() };
        let track = tables.tracks.intern(track);
        let kernel = below(40);
        let name = match (row % 400, kernel) {
            (0..5, _) => "ncclDevKernel_AllReduce_Sum".to_owned(),
            _ => format!("kernel_{kernel}"),
        };
        let name = tables.strings.intern(&name);
        let start = row * 700 - below(5_000) as i64;
        let duration = match below(1_000) {
            0 => None,
            1 => Some(-1),
            2 => Some(5_000_000_000),
            3 => Some(0),
            _ => Some((below(2_000) + 500 * kernel) as i64),
        };
        if row % 97 == 0 {
            let copy = Copy { track, name, start, duration, ..Copy::default() };
            tables.copies.push(copy);
            continue;
        }
        let shape = Shape::from_items([64, 1, 1], [64 * (1 + kernel), 1, 1]);
        let shape = (kernel % 3 > 0).then(|| tables.shapes.intern(shape));
        tables.dispatches.push(Dispatch { track, name, start, duration, shape, ..Dispatch::default() });
    }
    tables
}

/// All that a report is made of.
fn figures(tables: &Tables) -> String {
    let analysis = Analysis::new(tables, &Categories::default());
    analysis.prepare(&[Part::Kernels, Part::Compared, Part::Sweep, Part::Idle]);
    let health = trust::health(&analysis, None);
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        (analysis.kernels(), analysis.categories()),
        analysis.groups(GroupBy::Queue),
        analysis.groups(GroupBy::Shape),
        analysis.sweep(),
        analysis.idle(),
        analysis.ranks(),
        findings::findings(&analysis, &health),
        health,
    )
}

#[test]
fn figures_do_not_depend_on_the_number_of_threads() {
    let tables = tables();
    let with = |threads| {
        threads::set_limit(NonZero::new(threads).unwrap());
        figures(&tables)
    };
    let alone = with(1);
    for threads in [2, 3, 7, 16] {
        assert!(alone == with(threads), "{threads} threads");
    }
}
