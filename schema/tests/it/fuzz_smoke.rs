//! The checks of the fuzz targets of `tests/fuzz/`, on their corpus and on some thousand mutations of it that are
//! the same every time.

use crate::databases;
use std::fs;
use std::path::{Path, PathBuf};

use rtl_schema::{Select, Trace};
use tempfile::TempDir;

const MUTATIONS: usize = 250;

fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/corpus").join(target);
    let mut seeds: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "no corpus for {target}");
    seeds
}

/// A small generator (xorshift): tests need no better one.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    /// Some changed bytes, mostly where the structure is, and sometimes the end cut off.
    fn mutate(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        for _ in 0..=self.below(8) {
            let at = match self.below(3) {
                0 => self.below(bytes.len()),
                1 => (self.below(bytes.len()) & !511) + self.below(16),
                _ => self.below(bytes.len().min(120)),
            };
            if let Some(byte) = bytes.get_mut(at) {
                *byte = [0, 1, 0x7f, 0x80, 0xff, self.below(256) as u8][self.below(6)];
            }
        }
        if self.below(6) == 0 {
            bytes.truncate(self.below(bytes.len()));
        }
        bytes
    }
}

/// Calls `check` with a file for every seed and its mutations.
fn replay(target: &str, check: impl Fn(&Path)) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for seed in corpus(target) {
        let seed = fs::read(seed).unwrap();
        for round in 0..=MUTATIONS {
            let bytes = if round == 0 { seed.clone() } else { random.mutate(&seed) };
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("trace");
            fs::write(&path, bytes).unwrap();
            check(&path);
        }
    }
}

/// A file is a trace, or an error of one line names it.
fn read_or_refuse(path: &Path) {
    if let Err(error) = Trace::open(path).and_then(|trace| trace.read(&Select::everything())) {
        assert_eq!(error.path(), path);
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn any_bytes_open_as_a_trace_or_an_error() {
    replay("open", read_or_refuse);
}

#[test]
fn any_text_opens_as_a_trace_or_an_error() {
    replay("text", read_or_refuse);
}

#[test]
fn any_document_of_kineto_opens_as_a_trace_or_an_error() {
    replay("kineto", |path| {
        fs::write(path, support::choices::kineto(&fs::read(path).unwrap())).unwrap();
        read_or_refuse(path);
    });
}

#[test]
fn damaged_databases_read_as_sqlite_reads_them() {
    replay("leaf", |path| _ = databases::assert_agreement(path));
}
