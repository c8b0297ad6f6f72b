//! The pages of a database file and the trees of its tables.

use std::fs::File;

use platform::positional::read_exact_at;

use super::header::{HEADER, be32, is_recording, read_header};
use super::image::Image;
use super::varint::varint;

const INTERIOR: u8 = 0x05;
const LEAF: u8 = 0x0d;
/// The bytes of a leaf before the places of its cells.
const LEAF_HEADER: usize = 8;
/// SQLite's own limit on the depth of a tree.
const MAX_DEPTH: usize = 20;
/// The byte range SQLite locks; the page around it holds no data.
const LOCK_BYTE: u64 = 1 << 30;
/// How much is read at once: large enough to make few calls, small enough to stay in a core's cache.
const RUN_BYTES: usize = 256 << 10;
/// The kernel copies three times as fast to where a cache line begins.
const CACHE_LINE: usize = 64;
/// The bytes from the begin of a leaf that are there, whatever those behind it are: from wherever a cell pointer can point to, 512.
pub(super) const REACH: usize = (1 << 16) + 512;
/// Pages of something else between two leaves that are read along rather than starting a new run.
const RUN_GAP: u32 = 4;

/// The pages of a database file, read by us while the library holds the lock. `None` from any of its
/// functions means that the file has something unusual or damaged and the library has to judge it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pages<'a> {
    file: &'a File,
    /// The pages that are read from here instead.
    image: Option<&'a Image>,
    state: State,
}

/// The header of the file, and what it says of the pages.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    header: [u8; HEADER],
    size: usize,
    usable: usize,
    count: u32,
}

impl<'a> Pages<'a> {
    /// The pages of a file in the state of `image`, if there is one.
    pub(super) fn open(file: &'a File, image: Option<&'a Image>) -> Option<Self> {
        match image {
            Some(image) => Some(Self { image: Some(image), ..Self::with_header(file, image.header()?)? }),
            None => Self::of_file(file),
        }
    }

    pub(super) fn of_file(file: &'a File) -> Option<Self> {
        Self::with_header(file, read_header(file)?)
    }

    fn with_header(file: &'a File, header: [u8; HEADER]) -> Option<Self> {
        let size = page_size(&header)?;
        let usable = size - usize::from(header[20]);
        let utf8 = be32(&header, 56) == 1;
        if !header.starts_with(b"SQLite format 3\0") || usable < 480 || !utf8 {
            return None;
        }
        let length = file.metadata().ok()?.len();
        let whole = u32::try_from(length / size as u64).ok()?;
        let count = stated_pages(&header).unwrap_or(whole);
        (count <= whole).then_some(Self { file, image: None, state: State { header, size, usable, count } })
    }

    /// The pages of a state that [`Self::state`] returned before.
    pub(super) fn with_state(file: &'a File, image: Option<&'a Image>, state: State) -> Self {
        Self { file, image, state }
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    /// True if the file still has the state that is read.
    pub(super) fn unchanged(&self) -> bool {
        match self.image {
            Some(_) => read_header(self.file).is_some_and(|header| is_recording(&header)),
            None => read_header(self.file) == Some(self.state.header),
        }
    }

    /// True if the header of `first`, the first page, is the one by which the pages were found.
    pub(super) fn are_of(&self, first: &[u8]) -> bool {
        first.starts_with(&self.state.header)
    }

    /// The size of all pages in bytes.
    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.state.count) * self.state.size as u64
    }

    pub(super) fn first(&self) -> Option<Vec<u8>> {
        let mut page = vec![0; self.state.size];
        read_exact_at(self.file, &mut page, 0).ok()?;
        Some(page)
    }

    /// A page that a tree may use.
    pub(super) fn page(&self, number: u32) -> Option<Vec<u8>> {
        let mut page = vec![0; self.state.size];
        self.read(number, &mut page)?;
        Some(page)
    }

    /// The children of the schema's root, which lies on the `first` page behind the header of the file.
    pub(super) fn schema_children(&self, first: &[u8]) -> Option<Vec<u32>> {
        let mut children = Vec::new();
        self.children(first, HEADER, i64::MIN, &mut children)?;
        Some(children)
    }

    /// The leaves of the table whose tree starts at `root`, in rowid order.
    pub(super) fn leaves(&self, root: u32) -> Option<Vec<u32>> {
        self.leaves_through(root, |_, _| ())
    }

    /// As [`Self::leaves`], and calls `each` with the number and content of every inner node.
    pub(super) fn leaves_through(&self, root: u32, each: impl FnMut(u32, &[u8])) -> Option<Vec<u32>> {
        self.leaves_after(root, i64::MIN, each)
    }

    /// The leaves with the rows beyond rowid `after`, of which the first may have others, too. Only the inner nodes on the
    /// way to these are read.
    pub(super) fn leaves_after(
        &self,
        root: u32,
        after: i64,
        mut each: impl FnMut(u32, &[u8]),
    ) -> Option<Vec<u32>> {
        let mut page = vec![0; self.state.size];
        let mut level = vec![root];
        for _ in 0..MAX_DEPTH {
            // Leaves all lie at one depth, so the first page of a level determines the kind of the others.
            self.read(level[0], &mut page)?;
            if page[0] == LEAF {
                return level.iter().all(|&leaf| self.holds(leaf)).then_some(level);
            }
            let mut children = Vec::with_capacity(level.len() * 2);
            for interior in level {
                self.read(interior, &mut page)?;
                self.children(&page, 0, after, &mut children)?;
                each(interior, &page);
                if children.len() > self.state.count as usize {
                    return None;
                }
            }
            level = children;
        }
        None
    }

    /// Calls `each` with every leaf and its cells.
    pub(super) fn read_leaves(&self, leaves: &[u32], each: impl FnMut(Leaf<'_>) -> Option<()>) -> Option<()> {
        self.read_leaves_into(&mut LeafBuffer::default(), leaves, each)
    }

    /// As [`Self::read_leaves`], with memory that is used again.
    pub(super) fn read_leaves_into(
        &self,
        buffer: &mut LeafBuffer,
        leaves: &[u32],
        mut each: impl FnMut(Leaf<'_>) -> Option<()>,
    ) -> Option<()> {
        let span = leaves.len().saturating_mul(RUN_GAP as usize);
        let longest = u32::try_from((RUN_BYTES / self.state.size).clamp(1, span.max(1))).ok()?;
        let length = longest as usize * self.state.size + REACH;
        let buffer = buffer.of_length(length);
        let mut rest = leaves;
        while let Some(&first) = rest.first() {
            let near =
                |pair: &[u32]| pair[0] < pair[1] && pair[1] - pair[0] <= RUN_GAP && pair[1] - first < longest;
            let run = 1 + rest.windows(2).take_while(|pair| near(pair)).count();
            let pages = (rest[run - 1] - first) as usize + 1;
            self.read(first, &mut buffer[..pages * self.state.size])?;
            for &leaf in &rest[..run] {
                let at = (leaf - first) as usize * self.state.size;
                each(self.leaf(buffer[at..].first_chunk()?)?)?;
            }
            rest = &rest[run..];
        }
        Some(())
    }

    /// Appends bytes of an overflow chain until `target` holds `length`.
    pub(super) fn read_overflow(&self, first: u32, target: &mut Vec<u8>, length: usize) -> Option<()> {
        let mut page = vec![0; self.state.size];
        let mut next = first;
        while target.len() < length {
            self.read(next, &mut page)?;
            next = be32(&page, 0);
            let wanted = (length - target.len()).min(self.state.usable - 4);
            target.extend_from_slice(&page[4..4 + wanted]);
        }
        Some(())
    }

    fn leaf<'p>(&self, reach: &'p [u8; REACH]) -> Option<Leaf<'p>> {
        let page = &reach[..self.state.size];
        let cells = self.cells(page, LEAF, LEAF_HEADER, 0)?;
        let pointers = &page[LEAF_HEADER..LEAF_HEADER + 2 * cells];
        Some(Leaf { page: &page[..self.state.usable], pointers, reach })
    }

    /// The children of an inner node, which begins at `start` of its page, that may have rows beyond rowid `after`.
    fn children(&self, page: &[u8], start: usize, after: i64, children: &mut Vec<u32>) -> Option<()> {
        let cells = self.cells(page, INTERIOR, 12, start)?;
        if cells == 0 {
            return None;
        }
        let pointers = start + 12..start + 12 + 2 * cells;
        for pointer in page[pointers.clone()].as_chunks::<2>().0 {
            let at = usize::from(u16::from_be_bytes(*pointer));
            if at < pointers.end {
                return None;
            }
            let last = varint(&page[..self.state.usable], &mut (at + 4))? as i64;
            if last > after {
                children.push(be32(page, at));
            }
        }
        children.push(be32(page, start + 8));
        Some(())
    }

    fn cells(&self, page: &[u8], kind: u8, header: usize, start: usize) -> Option<usize> {
        let cells = usize::from(u16::from_be_bytes([page[start + 3], page[start + 4]]));
        (page[start] == kind
            && cells <= (self.state.size - 8) / 6
            && start + header + 2 * cells <= self.state.usable)
            .then_some(cells)
    }

    /// True if a tree may use that page. The first page has a header of its own and roots only the schema.
    fn holds(&self, page: u32) -> bool {
        page >= 2 && page <= self.state.count && u64::from(page - 1) != LOCK_BYTE / self.state.size as u64
    }

    fn read(&self, first: u32, buffer: &mut [u8]) -> Option<()> {
        if !self.holds(first) {
            return None;
        }
        read_exact_at(self.file, buffer, u64::from(first - 1) * self.state.size as u64).ok()?;
        self.image.map_or(Some(()), |image| image.patch(first, buffer, self.state.size))
    }
}

/// Memory for the leaves that are read at once.
#[derive(Debug, Default)]
pub(super) struct LeafBuffer(Vec<u8>);

impl LeafBuffer {
    fn of_length(&mut self, length: usize) -> &mut [u8] {
        if self.0.len() < length + CACHE_LINE {
            // Memory of the system, which is zero without being written.
            self.0 = vec![0; length + CACHE_LINE];
        }
        let start = self.0.as_ptr().align_offset(CACHE_LINE).min(CACHE_LINE);
        &mut self.0[start..start + length]
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf<'a> {
    /// The bytes of the page that cells may use.
    pub(super) page: &'a [u8],
    /// Two bytes per cell: where it starts.
    pub(super) pointers: &'a [u8],
    /// The page and bytes behind it: code that loads more of a cell than it has needs no check.
    pub(super) reach: &'a [u8; REACH],
}

impl Leaf<'_> {
    #[inline]
    pub(super) fn first(&self) -> usize {
        LEAF_HEADER + self.pointers.len()
    }
}

/// The length of the file by its own header, if the header states it.
pub(super) fn stated_length(header: &[u8; HEADER]) -> Option<u64> {
    Some(u64::from(stated_pages(header)?) * page_size(header)? as u64)
}

/// The page count is valid only if its writer was the last writer (older SQLite did not maintain it).
fn stated_pages(header: &[u8; HEADER]) -> Option<u32> {
    let count = be32(header, 28);
    (count != 0 && be32(header, 24) == be32(header, 92)).then_some(count)
}

fn page_size(header: &[u8; HEADER]) -> Option<usize> {
    match u16::from_be_bytes([header[16], header[17]]) {
        1 => Some(1 << 16),
        size if size >= 512 && size.is_power_of_two() => Some(usize::from(size)),
        _ => None,
    }
}
