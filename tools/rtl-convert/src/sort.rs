//! External merge sort: sorted runs in a temporary file, merged while they are read back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, Write};
use std::mem::{replace, take};
use std::path::Path;

use platform::positional::read_exact_at;

/// A record of fixed size.
pub trait Record: Ord + Copy {
    const SIZE: usize;

    /// The first part of the sort key, which decides most comparisons without the whole record.
    fn key(&self) -> i64;

    fn encode(&self, bytes: &mut [u8]);

    fn decode(bytes: &[u8]) -> Self;
}

/// Bytes in memory while all runs are merged.
const MERGE_BYTES: usize = 8 << 20;

/// Collects records in any order, at most one run of them in memory for each thread.
#[derive(Debug)]
pub struct Sorter<'a, R> {
    folder: &'a Path,
    run: Vec<R>,
    length: usize,
    /// Runs that wait to be sorted.
    full: Vec<UnsortedRun<R>>,
    /// Runs without records, whose memory is used again: taking it from the system costs as much as sorting.
    empty: Vec<SortedRun<R>>,
    file: Option<File>,
    /// In records.
    ends: Vec<u64>,
}

/// As many records as are in memory at once.
#[derive(Debug)]
pub struct UnsortedRun<R> {
    records: Vec<R>,
    bytes: Vec<u8>,
}

/// Encoded records in ascending order.
#[derive(Debug)]
pub struct SortedRun<R> {
    records: Vec<R>,
    bytes: Vec<u8>,
}

impl<R: Record> UnsortedRun<R> {
    pub fn sort(self) -> SortedRun<R> {
        let Self { records, mut bytes } = self;
        bytes.reserve_exact(records.len() * R::SIZE);
        let mut record = vec![0; R::SIZE];
        for &(_, at) in &order(&records) {
            records[at as usize].encode(&mut record);
            bytes.extend_from_slice(&record);
        }
        SortedRun { records, bytes }
    }
}

impl<'a, R: Record + Send> Sorter<'a, R> {
    /// Sorts with up to `length` records in memory and the others in a temporary file in `folder`.
    pub fn new(folder: &'a Path, length: usize) -> Self {
        let length = length.max(1);
        let (full, empty) = (Vec::new(), Vec::new());
        Self { folder, run: Vec::new(), length, full, empty, file: None, ends: Vec::new() }
    }

    #[inline]
    pub fn push(&mut self, record: R) -> io::Result<()> {
        if self.run.len() == self.length {
            self.fill()?;
        }
        self.run.push(record);
        Ok(())
    }

    #[cold]
    fn fill(&mut self) -> io::Result<()> {
        if self.full.len() == threads::limit() {
            self.spill()?;
        }
        let (next, bytes) = match self.empty.pop() {
            Some(SortedRun { records, bytes }) => (records, bytes),
            None => (Vec::with_capacity(self.length), Vec::new()),
        };
        let records = replace(&mut self.run, next);
        self.full.push(UnsortedRun { records, bytes });
        Ok(())
    }

    /// Takes the runs that are full. They are sorted on any thread, then [`Self::add`] takes them back.
    pub fn take_full(&mut self) -> Vec<UnsortedRun<R>> {
        take(&mut self.full)
    }

    pub fn add(&mut self, mut run: SortedRun<R>) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(self.folder)?),
        };
        file.write_all(&run.bytes)?;
        self.ends.push(self.ends.last().unwrap_or(&0) + run.records.len() as u64);
        run.records.clear();
        run.bytes.clear();
        self.empty.push(run);
        Ok(())
    }

    fn spill(&mut self) -> io::Result<()> {
        threads::in_order(self.take_full(), UnsortedRun::sort, |run| self.add(run))
    }

    /// All records in ascending order.
    pub fn finish(mut self) -> io::Result<Sorted<R>> {
        if (self.file.is_some() || !self.full.is_empty()) && !self.run.is_empty() {
            self.full.push(UnsortedRun { records: take(&mut self.run), bytes: Vec::new() });
        }
        self.spill()?;
        let Some(file) = self.file else {
            let order = order(&self.run);
            return Ok(Sorted::Memory { run: self.run, order: order.into_iter() });
        };
        (self.run, self.empty) = (Vec::new(), Vec::new());
        let share = (MERGE_BYTES / self.ends.len() / R::SIZE).max(1);
        let (mut runs, mut heads) = (Vec::with_capacity(self.ends.len()), BinaryHeap::new());
        let mut next = 0;
        for end in self.ends {
            let mut run = Run { next, end, bytes: Vec::new(), at: 0, share };
            if let Some(record) = run.next(&file)? {
                heads.push(Reverse((record, runs.len())));
            }
            runs.push(run);
            next = end;
        }
        Ok(Sorted::File { file, runs, heads })
    }
}

/// Keys and positions of records in their order: sorting the long records themselves would move more bytes. Sorted rows
/// take one pass.
fn order<R: Record>(run: &[R]) -> Vec<(i64, u32)> {
    let mut order: Vec<(i64, u32)> = run.iter().map(R::key).zip(0..).collect();
    order.sort_unstable_by(|one, other| {
        one.0.cmp(&other.0).then_with(|| run[one.1 as usize].cmp(&run[other.1 as usize]))
    });
    order
}

/// Records in ascending order.
#[derive(Debug)]
pub enum Sorted<R> {
    Memory {
        run: Vec<R>,
        /// Keys and positions, in order.
        order: std::vec::IntoIter<(i64, u32)>,
    },
    /// The records are in the runs of a file, which are read in parallel.
    File {
        file: File,
        /// By run, without the heads.
        runs: Vec<Run>,
        /// The next record of each run.
        heads: BinaryHeap<Reverse<(R, usize)>>,
    },
}

impl<R: Record> Iterator for Sorted<R> {
    type Item = io::Result<R>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Memory { run, order } => order.next().map(|(_, at)| Ok(run[at as usize])),
            Self::File { file, runs, heads } => {
                let mut head = heads.peek_mut()?;
                let (record, run) = head.0;
                match runs[run].next(file) {
                    Ok(Some(following)) => head.0.0 = following,
                    Ok(None) => drop(PeekMut::pop(head)),
                    Err(error) => return Some(Err(error)),
                }
                Some(Ok(record))
            }
        }
    }
}

/// One sorted run of the file.
#[derive(Debug)]
pub struct Run {
    /// The next record that is not in `bytes` yet.
    next: u64,
    end: u64,
    bytes: Vec<u8>,
    at: usize,
    share: usize,
}

impl Run {
    fn next<R: Record>(&mut self, file: &File) -> io::Result<Option<R>> {
        if self.at == self.bytes.len() {
            let count = (self.end - self.next).min(self.share as u64);
            if count == 0 {
                return Ok(None);
            }
            self.bytes.resize(count as usize * R::SIZE, 0);
            read_exact_at(file, &mut self.bytes, self.next * R::SIZE as u64)?;
            self.next += count;
            self.at = 0;
        }
        let record = R::decode(&self.bytes[self.at..self.at + R::SIZE]);
        self.at += R::SIZE;
        Ok(Some(record))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Record for i64 {
        const SIZE: usize = 8;

        // As of events, only a part of what decides.
        fn key(&self) -> i64 {
            self >> 32
        }

        fn encode(&self, bytes: &mut [u8]) {
            bytes.copy_from_slice(&self.to_le_bytes());
        }

        fn decode(bytes: &[u8]) -> Self {
            i64::from_le_bytes(bytes.try_into().expect("eight bytes"))
        }
    }

    fn sorted(values: &[i64], length: usize) -> Vec<i64> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut sorter = Sorter::new(folder.path(), length);
        for &value in values {
            sorter.push(value).expect("room");
            assert!(
                sorter.run.len() <= length && sorter.full.len() <= threads::limit(),
                "few runs are in memory"
            );
        }
        let all = sorter.finish().expect("room").collect::<io::Result<_>>().expect("readable");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing is left behind");
        all
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out_in_order(values in prop::collection::vec(any::<i64>(), 0..300), length in 1_usize..50) {
            let mut expected = values.clone();
            expected.sort_unstable();
            prop_assert_eq!(sorted(&values, length), expected);
        }
    }

    #[test]
    fn runs_may_be_sorted_elsewhere_and_come_back_in_any_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut sorter = Sorter::new(folder.path(), 3);
        let mut away = Vec::new();
        for value in (0..20_i64).rev() {
            sorter.push(value).expect("room");
            away.extend(sorter.take_full());
        }
        assert_eq!(away.len(), 6);
        away.into_iter().rev().for_each(|run| sorter.add(run.sort()).expect("room"));
        let all: Vec<i64> = sorter.finish().expect("room").map(|value| value.expect("readable")).collect();
        assert!(all.into_iter().eq(0..20));
    }

    #[test]
    fn equal_records_all_come_out() {
        assert_eq!(sorted(&[3, 3, 1, 3, 1], 2), [1, 1, 3, 3, 3]);
    }

    #[test]
    fn few_records_need_no_file() {
        let missing = Path::new("/nonexistent");
        let mut sorter = Sorter::new(missing, 4);
        [2_i64, 1].into_iter().for_each(|value| sorter.push(value).expect("memory"));
        let all: Vec<i64> = sorter.finish().expect("memory").map(|value| value.expect("memory")).collect();
        assert_eq!(all, [1, 2]);
    }
}
