//! One state of a recording that its writer may be extending.
//!
//! The writer (`rtl-write`) takes no lock. It publishes a state by the first page and never changes a finished leaf. All
//! other pages of a state (inner nodes, the newest leaves, the schema) are used again some publications later, so an image
//! has a copy of them. SQLite reads the schema from the image, scans read the finished leaves from the recording.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use tempfile::NamedTempFile;

use super::layout::{Layout, Place, Stored};
use super::open::{PATIENCE, PAUSE};
use super::pages::{HEADER, Pages, is_recording};
use super::record::{Decoder, overflow_chains};

/// The newest leaves of each table that an image has. Those of one publication are fewer.
const NEWEST: usize = 64;
/// Recordings have fewer tables.
const MOST_TABLES: usize = 256;
/// The column of the schema that has the root of a table.
const ROOT: usize = 3;

/// Pages of one state, at their places in a file that lacks all others.
#[derive(Debug)]
pub(super) struct Image {
    file: File,
    /// The numbers of the pages, sorted.
    pages: Vec<u32>,
}

impl Image {
    /// An image of the state that `recording` has now, and the file in which SQLite finds it. `None` if the pages of the
    /// recording do not make up a state, or its writer publishes faster than they can be read.
    ///
    /// # Errors
    /// The image cannot be written.
    pub(super) fn of(recording: &File) -> io::Result<Option<(Self, NamedTempFile)>> {
        let Some(state) = state(recording) else { return Ok(None) };
        let image = NamedTempFile::new()?;
        for (number, page) in &state {
            image.as_file().write_all_at(page, u64::from(number - 1) * page.len() as u64)?;
        }
        let length = recording.metadata()?.len().max(image.as_file().metadata()?.len());
        image.as_file().set_len(length)?;
        let pages = state.into_keys().collect();
        Ok(Some((Self { file: image.reopen()?, pages }, image)))
    }

    /// The header of the state.
    pub(super) fn header(&self) -> Option<[u8; HEADER]> {
        super::pages::read_header(&self.file)
    }

    /// Replaces the pages in `buffer`, of which the first is number `first`, by those of the image.
    pub(super) fn patch(&self, first: u32, buffer: &mut [u8], size: usize) -> Option<()> {
        let last = first + (buffer.len() / size) as u32;
        let from = self.pages.partition_point(|&page| page < first);
        for page in self.pages[from..].iter().take_while(|&&page| page < last) {
            let at = (page - first) as usize * size;
            self.file.read_exact_at(&mut buffer[at..at + size], u64::from(page - 1) * size as u64).ok()?;
        }
        Some(())
    }
}

/// The pages of one state that its writer may use again, by their numbers.
fn state(recording: &File) -> Option<BTreeMap<u32, Vec<u8>>> {
    let until = Instant::now() + PATIENCE;
    loop {
        let pages = Pages::of_file(recording)?;
        let first = pages.first()?;
        let state = collect(pages, &first);
        // Pages of the published state are not written: whatever was read before the next one is whole.
        if pages.first()? == first {
            return state;
        }
        if Instant::now() > until {
            return None;
        }
        std::thread::sleep(PAUSE / 10);
    }
}

/// Collects the pages below the first one.
fn collect(pages: Pages<'_>, first: &[u8]) -> Option<BTreeMap<u32, Vec<u8>>> {
    let mut state = BTreeMap::from([(1, first.to_vec())]);
    let leaves = pages.schema_children(first)?;
    for root in roots(pages, &leaves)? {
        let leaves = pages.leaves_through(root, |number, page| drop(state.insert(number, page.to_vec())))?;
        let newest = leaves.len().saturating_sub(NEWEST);
        // SQLite looks for the least rowid in the oldest leaf.
        let oldest = leaves.first().filter(|_| newest > 0);
        for &leaf in oldest.into_iter().chain(&leaves[newest..]) {
            take_leaf(pages, leaf, &mut state)?;
        }
    }
    for leaf in leaves {
        take_leaf(pages, leaf, &mut state)?;
    }
    Some(state)
}

/// The roots of all tables in the leaves of the schema.
fn roots(pages: Pages<'_>, leaves: &[u32]) -> Option<Vec<u32>> {
    let layout =
        Layout { root: 1, places: vec![Place::Stored(ROOT)], stored: vec![Stored::default(); ROOT + 1] };
    let mut decoder = Decoder::new(pages, &layout, leaves.len());
    let mut roots = Vec::new();
    pages.read_leaves(leaves, |leaf| {
        decoder.records(leaf, |record| {
            // A view has none.
            let root = record.integer(0).flatten().and_then(|root| u32::try_from(root).ok());
            roots.extend(root.filter(|&root| root > 0));
        })
    })?;
    roots.sort_unstable();
    roots.dedup();
    (roots.len() <= MOST_TABLES).then_some(roots)
}

/// Adds a leaf and what does not fit onto it.
fn take_leaf(pages: Pages<'_>, number: u32, state: &mut BTreeMap<u32, Vec<u8>>) -> Option<()> {
    let mut chains = Vec::new();
    pages.read_leaves(&[number], |leaf| overflow_chains(leaf, &mut chains))?;
    state.insert(number, pages.page(number)?);
    for mut next in chains {
        while next != 0 && !state.contains_key(&next) {
            let page = pages.page(next)?;
            let after = page.first_chunk().map(|after| u32::from_be_bytes(*after))?;
            state.insert(next, page);
            next = after;
        }
    }
    Some(())
}

/// Whether the header is still that of a recording.
pub(super) fn is_still_one(recording: &File) -> bool {
    super::pages::read_header(recording).is_some_and(|header| is_recording(&header))
}
