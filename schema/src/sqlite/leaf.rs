//! Reading a table from its leaf pages: several times as fast as stepping through it.

use super::layout::Layout;
use super::pages::Pages;
use super::record::Decoder;
use super::row::Row;

/// Fewer leaves are not worth a part of their own.
const LEAVES_PER_PART: usize = 1000;

/// Parts for each thread: one core may be half as fast as another.
const PARTS: usize = 8;

/// Calls `each` for every row and returns the number of rows. `Err` has the number of rows before the first one that
/// only the library can read: it has to go on from there.
pub(super) fn scan(
    pages: Pages<'_>,
    layout: &Layout,
    leaves: &[u32],
    mut each: impl FnMut(&Row<'_>),
) -> Result<u64, u64> {
    let mut given = 0;
    let mut decoder = Decoder::new(pages, layout, leaves.len());
    let alone = leaves.len() == 1;
    pages
        .read_leaves(leaves, |leaf| {
            if leaf.pointers.is_empty() && !alone {
                return None;
            }
            decoder.records(leaf, |record| {
                given += 1;
                each(&Row::of_record(record));
            })
        })
        .map(|()| given)
        .ok_or(given)
}

/// The parts that `read` makes of stretches of leaves, by several threads where there are many; `None` where the library has to start
/// again.
pub(super) fn parts<P: Send>(leaves: &[u32], read: impl Fn(&[u32]) -> Option<P> + Sync) -> Option<Vec<P>> {
    let threads = threads::limit();
    let shares = (PARTS * threads).min(leaves.len() / LEAVES_PER_PART);
    if threads < 2 || shares < 2 {
        return Some(vec![read(leaves)?]);
    }
    let shares = leaves.chunks(leaves.len().div_ceil(shares));
    threads::map(shares, read).into_iter().collect()
}
