//! A trace that is read piece by piece has the rows of one that is read whole.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use rtl_schema::{Each, Error, Id, OpenTrace, PreparedTrace, Select, Tables, Trace};
use rusqlite::Connection;
use support::{Layout, Options};

/// Every row of a trace in words that do not depend on the numbering of places and shapes, in order.
#[derive(Debug, Default, PartialEq)]
struct Rows {
    dispatches: Vec<String>,
    copies: Vec<String>,
    barriers: Vec<String>,
    calls: Vec<String>,
    ranges: Vec<String>,
    links: Vec<(Id, Id)>,
}

impl Rows {
    fn add(&mut self, tables: &Tables) {
        let place = |track| {
            let track = tables.tracks.get(track);
            let pid = tables.process(track.process).pid;
            format!("{pid:?} {} {} {:?}", tables.agent(track.agent).number, track.queue, track.hardware_queue)
        };
        let name = |id| tables.strings.get(id);
        self.dispatches.extend(tables.dispatches.iter().map(|row| {
            let shape = row.shape.map(|shape| tables.shapes.get(shape));
            let symbol = row.symbol.map(|symbol| &tables.symbols[symbol.index()]);
            let row = (name(row.name), place(row.track), shape, symbol, row);
            format!(
                "{} {} {:?} {:?} {:?}",
                row.0,
                row.1,
                row.2,
                row.3,
                (row.4.id, row.4.start, row.4.duration)
            )
        }));
        self.copies.extend(tables.copies.iter().map(|row| {
            let ends =
                [row.source, row.destination].map(|agent| agent.map(|agent| tables.agent(agent).number));
            let sizes = (row.bytes, row.source_address, row.destination_address, row.correlation);
            format!("{} {} {ends:?} {sizes:?} {} {:?}", row.id, place(row.track), row.start, row.duration)
        }));
        self.barriers.extend(tables.barriers.iter().map(|row| format!("{} {}", row.id, place(row.track))));
        self.calls.extend(tables.api_calls.iter().map(|row| format!("{} {row:?}", name(row.name))));
        self.ranges.extend(tables.ranges.iter().map(|row| format!("{} {row:?}", name(row.name))));
        self.links.extend(&tables.extra_links);
    }
}

/// The rows of a file both ways, and in how many pieces they came.
fn whole_and_in_pieces(path: &Path) -> (Rows, Rows, usize) {
    let trace = Trace::open(path).unwrap();
    let mut whole = Rows::default();
    let read = trace.read(&Select::everything()).unwrap();
    whole.add(&read);
    let (mut joined, mut pieces, mut last) = (Rows::default(), 0, None);
    trace
        .stream(&Select::everything(), |tables| {
            joined.add(tables);
            pieces += 1;
            last = Some((tables.info.clone(), tables.problems.clone(), tables.counters.len()));
            Ok::<(), Error>(())
        })
        .unwrap();
    assert_eq!(last, Some((read.info.clone(), read.problems.clone(), read.counters.len())));
    (whole, joined, pieces)
}

#[test]
fn the_pieces_of_every_story_are_its_rows() {
    for name in support::fixture_names() {
        // RPD's tables refuse rows without an end.
        let layouts = [Layout::Native, Layout::Lite, Layout::Rpd3];
        for layout in layouts.into_iter().filter(|layout| name != "bad-rows" || *layout != Layout::Rpd3) {
            let path = support::fixture_in(&name, layout);
            let (whole, pieces, _) = whole_and_in_pieces(&path);
            assert_eq!(whole, pieces, "{name} as {layout:?}");
        }
    }
}

#[test]
fn a_long_trace_comes_in_several_pieces() {
    let folder = tempfile::tempdir().unwrap();
    for layout in [Layout::Native, Layout::Rpd3] {
        let path = folder.path().join(format!("{layout:?}.db"));
        let options =
            Options { layout, ops: 90_000, api: true, ranges: true, shuffle: true, ..Options::default() };
        support::generate(&options, &path).unwrap();
        let (whole, pieces, count) = whole_and_in_pieces(&path);
        assert!(whole == pieces, "{layout:?}");
        assert!(count > 3, "{layout:?}: {count} pieces");
    }
}

/// The rows of traces that are read one after the other, each with the number of its pieces.
fn chained(paths: &[PathBuf], threads: usize) -> Vec<(Rows, usize)> {
    threads::set_limit(NonZero::new(threads).unwrap());
    let mut next = None;
    let read = |at: usize| {
        let opened = next.take().unwrap_or_else(|| prepare(&paths[at]));
        let (mut rows, mut pieces) = (Rows::default(), 0);
        let mut sink = Each::new(|piece: &mut Tables| {
            rows.add(piece);
            pieces += 1;
            Ok::<(), Error>(())
        });
        let open = paths.get(at + 1).map(|path| Box::new(|| prepare(path)) as OpenTrace<'_>);
        next = opened.unwrap().stream_to(open, &mut sink).unwrap().1;
        (rows, pieces)
    };
    (0..paths.len()).map(read).collect()
}

fn prepare(path: &Path) -> Result<PreparedTrace, Error> {
    Trace::open(path)?.prepare(&Select::everything())
}

/// Long traces, short ones, and some that are read as a whole or by SQLite.
fn traces(folder: &Path) -> Vec<PathBuf> {
    let generate = |name: &str, ops, layout| {
        let path = folder.join(name);
        let options = Options { layout, ops, api: true, ranges: true, seed: ops, ..Options::default() };
        support::generate(&options, &path).unwrap();
        path
    };
    let view = generate("view.db", 30_000, Layout::Native);
    let rename = "pragma legacy_alter_table = on; alter table rocpd_op rename to stored_op;
        create view rocpd_op as select * from stored_op order by rowid";
    Connection::open(&view).unwrap().execute_batch(rename).unwrap();
    let story = |layout| {
        let path = folder.join(format!("story-{layout:?}.db"));
        std::fs::copy(support::fixture_in("two-kernels", layout), &path).unwrap();
        path
    };
    vec![
        generate("long.db", 90_000, Layout::Native),
        generate("longer.db", 120_000, Layout::Native),
        view,
        generate("rpd.db", 40_000, Layout::Rpd3),
        story(Layout::Native),
        generate("few.db", 3, Layout::Native),
        story(Layout::Lite),
        generate("lite.db", 60_000, Layout::Lite),
    ]
}

#[test]
fn traces_that_are_read_one_after_the_other_have_the_rows_that_each_has_alone() {
    let folder = tempfile::tempdir().unwrap();
    let traces = traces(folder.path());
    let alone: Vec<(Rows, usize)> =
        traces.iter().flat_map(|trace| chained(std::slice::from_ref(trace), 1)).collect();
    assert!(alone[0].1 > 8, "{} pieces", alone[0].1);
    for threads in [1, 2, 5, 16] {
        assert!(chained(&traces, threads) == alone, "{threads} threads");
    }
}

#[test]
fn a_next_trace_that_cannot_be_read_fails_when_it_is_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let traces = traces(folder.path());
    threads::set_limit(NonZero::new(5).unwrap());
    let mut sink = Each::new(|_: &mut Tables| Ok::<(), Error>(()));
    let missing = folder.path().join("missing.db");
    for first in &traces {
        let open = Box::new(|| prepare(&missing)) as OpenTrace<'_>;
        let (_, next) = prepare(first).unwrap().stream_to(Some(open), &mut sink).unwrap();
        assert!(matches!(next, Some(Err(Error::Missing { .. }))), "after {}", first.display());
    }
    // A writer that heeds no lock.
    let open = Box::new(|| prepare(&traces[1])) as OpenTrace<'_>;
    let (_, next) = prepare(&traces[0]).unwrap().stream_to(Some(open), &mut sink).unwrap();
    let change_counter = 24;
    let mut bytes = std::fs::read(&traces[1]).unwrap();
    bytes[change_counter] ^= 1;
    std::fs::write(&traces[1], bytes).unwrap();
    let failed = next.unwrap().unwrap().stream_to(None, &mut sink).unwrap_err();
    assert!(failed.to_string().contains("it changed while it was read"), "{failed}");
}

#[test]
fn a_reader_that_fails_ends_the_reading() {
    let path = support::fixture("two-kernels");
    let mut calls = 0;
    let stopped = Trace::open(&path).unwrap().stream(&Select::ops(), |_| {
        calls += 1;
        Err(Error::Refused { path: "out".into(), detail: "enough".to_owned() })
    });
    assert!(matches!(stopped, Err(Error::Refused { .. })));
    assert_eq!(calls, 1);
}

#[test]
fn foreign_traces_come_in_the_same_rows() {
    let Some(shared) = support::shared() else { return };
    let mut seen = 0;
    for folder in ["traces/made", "traces/real", "golden"] {
        let entries = std::fs::read_dir(shared.join(folder)).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()).filter(|path| path.is_file()) {
            if Trace::open(&path).is_ok() {
                let (whole, pieces, _) = whole_and_in_pieces(&path);
                assert!(whole == pieces, "{}", path.display());
                seen += 1;
            }
        }
    }
    println!("{seen} traces");
}
