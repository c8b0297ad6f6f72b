//! A trace that goes into a file piece by piece.

use std::collections::VecDeque;
use std::path::Path;

use rtl_schema::{Error, PieceSink, Select, Tables, Trace};
use rtl_write::{ClockCorrection, NativeWriter, PageRun, PieceImport, TraceImport, TraceMapping};
use rusqlite::Connection;
use support::{Options, generate};

type Result<T = ()> = anyhow::Result<T>;

/// Ends pieces when so many later ones have begun, and keeps the pages that are to be written.
struct Delayed {
    writer: NativeWriter,
    import: TraceImport,
    begun: VecDeque<PieceImport>,
    most: usize,
    pieces: usize,
    runs: Vec<PageRun>,
}

impl Delayed {
    fn end_to(&mut self, left: usize) -> rtl_schema::Result<()> {
        while self.begun.len() > left
            && let Some(piece) = self.begun.pop_front()
        {
            self.import.end(&mut self.writer, piece.encode())?;
            self.runs.extend(self.writer.take_runs());
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

/// Which thread writes pages.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Pages {
    AtOnce,
    /// Another one, the last page first.
    Later,
}

/// How many there were of what a file was made of.
#[derive(Default)]
struct Made {
    pieces: usize,
    runs: usize,
}

/// Writes the traces into a file, with at most so many pieces on the way.
fn merged(traces: &[&Path], path: &Path, most: usize, pages: Pages) -> Result<Made> {
    let mut writer = NativeWriter::create(path)?;
    let mut all = Made::default();
    for (trace, at) in traces.iter().zip(0..) {
        let mapping = TraceMapping {
            pids: vec![100 + at],
            spaces: vec![at as u32],
            gpus: (0..16).map(|gpu| Some(16 * at + gpu)).collect(),
            clock: ClockCorrection::constant(at * 1_000),
            ..TraceMapping::default()
        };
        let import = TraceImport::with_mapping(mapping);
        if pages == Pages::Later {
            writer.defer()?;
        }
        let mut sink = Delayed { writer, import, begun: VecDeque::new(), most, pieces: 0, runs: Vec::new() };
        let last = Trace::open(trace)?.stream_to(&Select::everything(), &mut sink)?;
        sink.end_to(0)?;
        sink.runs.iter().rev().try_for_each(PageRun::write)?;
        all.pieces += sink.pieces;
        all.runs += sink.runs.len();
        writer = sink.writer;
        writer.write_at_once()?;
        sink.import.finish(&mut writer, &last)?;
    }
    writer.finish()?;
    Ok(all)
}

#[test]
fn a_file_has_the_same_bytes_however_many_pieces_are_on_the_way_and_whichever_thread_writes_pages() -> Result
{
    let folder = tempfile::tempdir()?;
    let [one, two, few, out] = ["one", "two", "few", "out"].map(|name| folder.path().join(name));
    generate(&Options { ops: 130_000, ranges: true, ..Options::default() }, &one)?;
    generate(&Options { ops: 70_000, seed: 2, api: true, ranges: true, ..Options::default() }, &two)?;
    generate(&Options { ops: 3, seed: 3, ..Options::default() }, &few)?;
    let traces = [&*one, &few, &two, &few];
    let made = merged(&traces, &out, 0, Pages::AtOnce)?;
    assert!(made.pieces > 12 && made.runs == 0, "{} are few pieces", made.pieces);
    let expected = std::fs::read(&out)?;
    let file = Connection::open(&out)?;
    let sound: String = file.query_row("pragma integrity_check", [], |row| row.get(0))?;
    assert_eq!(sound, "ok");
    for (most, pages) in [1, 3, usize::MAX].into_iter().zip([Pages::AtOnce, Pages::Later, Pages::AtOnce]) {
        let made = merged(&traces, &out, most, pages)?;
        assert!(std::fs::read(&out)? == expected, "{most} on the way, pages {pages:?}");
        assert!((made.runs > 12) == (pages == Pages::Later), "{} runs", made.runs);
    }
    Ok(())
}
