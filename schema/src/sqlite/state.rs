//! Collects the pages of one state of a recording: those of its [`Image`](super::image::Image).

use std::collections::BTreeMap;
use std::fs::File;
use std::time::{Duration, Instant};

use super::layout::{Layout, Place, Stored};
use super::pages::Pages;
use super::record::{Decoder, overflow_chains};

/// The pause before another attempt.
const PAUSE: Duration = Duration::from_micros(500);
/// The newest leaves of each table that an image has. Those of one publication are fewer.
const NEWEST: usize = 64;
/// Recordings have fewer tables.
const MOST_TABLES: usize = 256;
/// The column of the schema that has the root of a table.
const ROOT: usize = 3;

/// The pages of one state that its writer may use again, by their numbers. `None` if the pages of the file do not make up a
/// state, or its writer publishes faster than they can be read.
pub(super) fn state(recording: &File, patience: Duration) -> Option<BTreeMap<u32, Vec<u8>>> {
    of_one_state(recording, patience, collect)
}

/// Passes the pages of one state, and the first of them, to `collect` and returns its result.
pub(super) fn of_one_state<T>(
    recording: &File,
    patience: Duration,
    mut collect: impl FnMut(Pages<'_>, &[u8]) -> Option<T>,
) -> Option<T> {
    let until = Instant::now() + patience;
    loop {
        let pages = Pages::of_file(recording)?;
        let first = pages.first()?;
        let state = collect(pages, &first);
        // Pages of the published state are not written: whatever was read before the next one is whole.
        if pages.are_of(&first) && pages.first()? == first {
            return state;
        }
        if Instant::now() > until {
            return None;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Collects the pages below the first one.
fn collect(pages: Pages<'_>, first: &[u8]) -> Option<BTreeMap<u32, Vec<u8>>> {
    let mut state = BTreeMap::from([(1, first.to_vec())]);
    let leaves = pages.schema_children(first)?;
    for root in roots(pages, &leaves)? {
        let leaves = pages.leaves_through(root, |number, page| drop(state.insert(number, page.to_vec())))?;
        let newest = newest(&leaves);
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

/// The position of the first leaf of a table that its writer may use again.
pub(super) fn newest(leaves: &[u32]) -> usize {
    leaves.len().saturating_sub(NEWEST)
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
pub(super) fn take_leaf(pages: Pages<'_>, number: u32, state: &mut BTreeMap<u32, Vec<u8>>) -> Option<()> {
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
