//! A trace that is read piece by piece has the rows of one that is read whole.

use std::path::Path;

use rtl_schema::{Error, Id, Select, Tables, Trace};
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
