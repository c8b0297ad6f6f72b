//! A trace that goes into a file piece by piece.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use rtl_schema::table::{Agent, Copy, Process, Range, RangeKind, Track};
use rtl_schema::{Error, PieceSink, Select, Tables, Trace};
use rtl_write::{ClockCorrection, NativeWriter, PieceImport, RangeBlock, TraceImport, TraceMapping};
use rusqlite::Connection;
use support::{Options, generate};

type Result<T = ()> = anyhow::Result<T>;

/// Ends pieces when so many later ones have begun.
struct Delayed {
    writer: NativeWriter,
    import: TraceImport,
    begun: VecDeque<PieceImport>,
    most: usize,
    pieces: usize,
}

impl Delayed {
    fn end_to(&mut self, left: usize) -> rtl_schema::Result<()> {
        while self.begun.len() > left
            && let Some(piece) = self.begun.pop_front()
        {
            self.import.end(&mut self.writer, piece.encode())?;
        }
        Ok(())
    }
}

impl PieceSink for Delayed {
    type Task = ();
    type Output = ();
    type Error = Error;

    fn begin(&mut self, piece: &mut Tables) -> rtl_schema::Result<Vec<()>> {
        self.pieces += 1;
        let piece = self.import.begin(&mut self.writer, piece);
        self.begun.push_back(piece);
        self.end_to(self.most)?;
        Ok(Vec::new())
    }

    fn work((): ()) {}

    fn end(&mut self, (): ()) -> rtl_schema::Result<Vec<()>> {
        Ok(Vec::new())
    }
}

/// The numbers of a trace, whose process may have ranges in a later one.
fn mapping(at: i64, process: i64, continues: bool) -> TraceMapping {
    TraceMapping {
        pids: vec![100 + process],
        spaces: vec![process as u32],
        continues,
        gpus: (0..16).map(|gpu| Some(16 * at + gpu)).collect(),
        clock: ClockCorrection::constant(at * 1_000),
        ..TraceMapping::default()
    }
}

/// Writes the traces into a file, of which at most so many have begun before others end. Two each have a process in common.
fn merged_as_wholes(traces: &[&Path], path: &Path, most: usize) -> Result {
    let mut writer = NativeWriter::create(path)?;
    let mut begun = VecDeque::new();
    for (trace, at) in traces.iter().zip(0..) {
        let mut tables = Trace::open(trace)?.read(&Select::everything())?;
        let mut import = TraceImport::with_mapping(mapping(at, at / 2, at % 2 == 0));
        let piece = import.begin_whole(&mut writer, &mut tables);
        begun.push_back((import, piece, tables));
        let is_last = at as usize + 1 == traces.len();
        while begun.len() > if is_last { 0 } else { most }
            && let Some((mut import, piece, last)) = begun.pop_front()
        {
            import.end(&mut writer, piece.encode())?;
            import.finish(&mut writer, &last)?;
        }
    }
    Ok(writer.finish()?)
}

/// Writes the traces into a file, with at most so many pieces on the way. Ranges of every second one are in blocks. Returns the number of
/// all pieces.
fn merged(traces: &[&Path], path: &Path, most: usize) -> Result<usize> {
    const BLOCK: i64 = 100_000;
    let mut writer = NativeWriter::create(path)?;
    writer.keep_range_ids(BLOCK * traces.len() as i64);
    let mut pieces = 0;
    for (trace, at) in traces.iter().zip(0..) {
        let block = RangeBlock { first: 1, last: BLOCK, new: BLOCK * at + 1 };
        let ranges = vec![(at % 2 == 0).then_some(block)];
        let import = TraceImport::with_mapping(TraceMapping { ranges, ..mapping(at, at, false) });
        let mut sink = Delayed { writer, import, begun: VecDeque::new(), most, pieces: 0 };
        let last = Trace::open(trace)?.stream_to(&Select::everything(), &mut sink)?;
        sink.end_to(0)?;
        pieces += sink.pieces;
        writer = sink.writer;
        sink.import.finish(&mut writer, &last)?;
    }
    writer.finish()?;
    Ok(pieces)
}

#[test]
fn a_file_has_the_same_bytes_however_many_pieces_are_on_the_way() -> Result {
    let folder = tempfile::tempdir()?;
    let [one, two, few, out] = ["one", "two", "few", "out"].map(|name| folder.path().join(name));
    generate(&Options { ops: 130_000, ranges: true, ..Options::default() }, &one)?;
    generate(&Options { ops: 70_000, seed: 2, api: true, ranges: true, ..Options::default() }, &two)?;
    generate(&Options { ops: 3, seed: 3, ..Options::default() }, &few)?;
    let traces = [&*one, &few, &two, &few];
    let pieces = merged(&traces, &out, 0)?;
    assert!(pieces > 12, "{pieces} are few pieces");
    let expected = std::fs::read(&out)?;
    let file = Connection::open(&out)?;
    let sound: String = file.query_row("pragma integrity_check", [], |row| row.get(0))?;
    assert_eq!(sound, "ok");
    for most in [1, 3, usize::MAX] {
        merged(&traces, &out, most)?;
        assert!(std::fs::read(&out)? == expected, "{most} on the way");
    }
    Ok(())
}

#[test]
fn traces_may_begin_before_others_end() -> Result {
    let folder = tempfile::tempdir()?;
    let traces: Vec<PathBuf> = (0..6).map(|at| folder.path().join(format!("{at}.db"))).collect();
    for (path, seed) in traces.iter().zip(0..) {
        let ops = if seed == 3 { 1 } else { 500 * (seed + 1) };
        let ranges = seed != 2;
        generate(
            &Options { ops, seed: seed % 4, api: true, ranges, shuffle: true, ..Options::default() },
            path,
        )?;
    }
    let traces: Vec<&Path> = traces.iter().map(PathBuf::as_path).collect();
    let out = folder.path().join("out");
    merged_as_wholes(&traces, &out, 0)?;
    let expected = std::fs::read(&out)?;
    let file = Connection::open(&out)?;
    let sound: String = file.query_row("pragma integrity_check", [], |row| row.get(0))?;
    assert_eq!(sound, "ok");
    for most in [1, 3, usize::MAX] {
        merged_as_wholes(&traces, &out, most)?;
        assert!(std::fs::read(&out)? == expected, "{most} have begun");
    }
    Ok(())
}

/// A trace with a range of this id, where `ranges` says so, and a copy in it.
fn trace_of(id: i64, ranges: bool) -> Tables {
    let mut tables = Tables::default();
    tables.processes.push(Process { pid: Some(7), ..Process::default() });
    tables.agents.push(Agent::default());
    let track = tables.tracks.intern(Track::default());
    let name = tables.strings.intern("step");
    if ranges {
        tables.ranges.push(Range {
            id,
            name,
            duration: Some(100),
            kind: RangeKind::Thread,
            ..Range::default()
        });
    }
    tables.copies.push(Copy { id: id + 1, track, range: id, duration: Some(1), ..Copy::default() });
    tables
}

/// The ids of ranges and, for each copy, that of its range, in the file of these parts.
fn ranges_of(parts: Vec<(TraceMapping, Tables)>) -> Result<(Vec<i64>, Vec<i64>)> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let mut writer = NativeWriter::create(&out)?;
    writer.keep_range_ids(1_000);
    for (mapping, mut tables) in parts {
        let mut import = TraceImport::with_mapping(mapping);
        let piece = import.begin(&mut writer, &mut tables);
        import.end(&mut writer, piece.encode())?;
        import.finish(&mut writer, &tables)?;
    }
    writer.finish()?;
    let read = Trace::open(&out)?.read(&Select::everything())?;
    let ranges = read.ranges.iter().map(|range| range.id).collect();
    Ok((ranges, read.copies.iter().map(|copy| copy.range).collect()))
}

#[test]
fn a_later_part_finds_a_range_although_another_process_lies_between() -> Result {
    let parts = vec![
        (mapping(0, 0, true), trace_of(5, true)),
        (mapping(1, 1, false), trace_of(5, true)),
        (mapping(2, 0, false), trace_of(5, false)),
    ];
    assert_eq!(ranges_of(parts)?, (vec![1_001, 1_002], vec![1_001, 1_002, 1_001]));
    Ok(())
}

#[test]
fn ranges_of_a_block_keep_their_distances_and_others_get_ids_behind_all_blocks() -> Result {
    let block = RangeBlock { first: 4, last: 9, new: 101 };
    let with_block = |at, id, ranges| {
        (TraceMapping { ranges: vec![Some(block)], ..mapping(at, 0, at == 0) }, trace_of(id, ranges))
    };
    let parts = vec![
        with_block(0, 5, true),
        (mapping(1, 1, false), trace_of(5, true)),
        with_block(2, 5, false),
        with_block(3, 70, true),
    ];
    assert_eq!(ranges_of(parts)?, (vec![102, 1_001, 1_002], vec![102, 1_001, 102, 1_002]));
    Ok(())
}
