//! The owner of each page of the file. Pages of the published file are never written, so that it stays valid at every moment.

use std::fs::File;
use std::io;

use platform::identity::named_length;
use platform::positional::write_all_at;

use super::page::{self, Child, Page, SIZE};

/// Pages that wait to be written together.
const RUN: usize = 64 * SIZE;
/// Pages for which room is asked at once.
const AHEAD: usize = (1 << 20) / SIZE;
/// The page that holds the byte range which SQLite locks has no content.
const LOCK_PAGE: u32 = (1 << 30) / SIZE as u32 + 1;
/// Pages in use for each free page that is kept back; the oldest free pages are reused first. A concurrent reader may still
/// reach a page that was freed recently.
const REST: usize = 200;
/// Some rest in a small file too, and in a large one not more than were freed within some seconds.
const AT_REST: std::ops::RangeInclusive<usize> = 16..=500;
/// The oldest SQLite that reads the layout: what its header names as the one that wrote it.
const SQLITE_VERSION: u32 = 3_031_000;

/// Where the bytes of a recording go: a file, or what a test puts in its place.
pub trait Target {
    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    /// Where the operating system cannot write.
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Checks that the `length` bytes that were written are still there. Where someone else has cut them off, later writes would
    /// make a file with a hole.
    ///
    /// # Errors
    /// Where they are not.
    fn check(&self, _length: u64) -> io::Result<()> {
        Ok(())
    }

    /// True if [`Target::reserve`] can fail, so that room has to be reserved ahead of rows.
    const RESERVES: bool = false;

    /// Reserves room for `length` bytes in all. Only a lack of room is an error: where nothing can be known, writes tell.
    ///
    /// # Errors
    /// Why there is no room.
    fn reserve(&mut self, _length: u64) -> io::Result<()> {
        Ok(())
    }
}

impl Target for File {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_all_at(self, bytes, offset)
    }

    fn check(&self, length: u64) -> io::Result<()> {
        match named_length(self)? {
            None => Err(io::Error::other("someone else has removed it")),
            Some(now) if now < length => Err(io::Error::other("someone else has made it shorter")),
            Some(_) => Ok(()),
        }
    }
}

/// The pages of a file. Those that the published file refers to are never written, but for the first.
#[derive(Debug)]
pub(crate) struct Store<T> {
    target: T,
    /// The page after the last one that has an owner.
    next: u32,
    /// Pages from `run_start` on that are not written yet.
    run: Vec<u8>,
    run_start: u32,
    free: Free,
    published: Published,
    /// How many pages were ever taken for one publication only.
    borrowed: usize,
    /// True if free pages are used at once, because there may be no others.
    is_short: bool,
    /// Pages that there is room for.
    reserved: usize,
    /// True if someone else has removed the file or a part of it: then nothing more is written.
    is_gone: bool,
}

/// The use of a page, which orders it for readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadOrder {
    /// As soon as it begins.
    First,
    /// At the end of a long table.
    Last,
}

/// Pages without an owner.
#[derive(Debug, Clone, Default)]
struct Free {
    /// The published file calls them free: they may be written. The oldest come first.
    now: Vec<(u32, ReadOrder)>,
    /// The published file still needs them; they are free in the next.
    soon: Vec<(u32, ReadOrder)>,
    /// The page that lists them in the published file.
    list: Option<u32>,
}

/// The state to which a failed publication returns.
#[derive(Debug, Clone, Default)]
struct Published {
    next: u32,
    free: Free,
    borrowed: usize,
    /// How often the file was published.
    count: u32,
}

impl<T: Target> Store<T> {
    /// Makes an empty database of one page: before the first publication there is nothing to point to.
    pub(crate) fn create(mut target: T) -> io::Result<Self> {
        let mut first = header(1, 1, 0, 0);
        first[100] = page::LEAF;
        first[105..107].copy_from_slice(&(SIZE as u16).to_be_bytes());
        target.write_at(&first, 0)?;
        Ok(Self::resume(target, 2))
    }

    /// Goes on where [`Self::flush_all`] was, in a file that ends there.
    pub(crate) fn resume(target: T, next: u32) -> Self {
        Self {
            target,
            next,
            run: Vec::with_capacity(RUN),
            run_start: next,
            free: Free::default(),
            published: Published { next: 2, count: 1, ..Published::default() },
            borrowed: 0,
            is_short: false,
            reserved: 0,
            is_gone: false,
        }
    }

    /// How many pages stay as they are, the first included.
    pub(crate) fn kept(&self) -> usize {
        self.next as usize - 1 - self.borrowed
    }

    /// The number of free pages to keep, by the number of pages in use.
    pub(crate) fn at_rest(kept: usize) -> usize {
        (kept / REST).clamp(*AT_REST.start(), *AT_REST.end())
    }

    /// Reserves room for `pages` pages, and where that is possible for more, `most` in all.
    pub(crate) fn reserve(&mut self, pages: usize, most: usize) -> io::Result<()> {
        if pages <= self.reserved {
            return Ok(());
        }
        let ahead = (pages + AHEAD).min(most);
        self.reserved = match self.target.reserve((ahead * SIZE) as u64) {
            Ok(()) => ahead,
            Err(_) => {
                self.target.reserve((pages * SIZE) as u64)?;
                pages
            }
        };
        Ok(())
    }

    /// From now on free pages are used at once.
    pub(crate) fn use_all(&mut self) {
        self.is_short = true;
    }

    pub(crate) fn pages(&self) -> u32 {
        self.next - 1
    }

    /// The number of a new page at the end of the file, to be written before the next publication.
    pub(crate) fn append(&mut self) -> io::Result<u32> {
        if self.next == LOCK_PAGE {
            let empty = [0; SIZE];
            self.next += 1;
            self.write(LOCK_PAGE, &empty)?;
        }
        let page = self.next;
        self.next = page.checked_add(1).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(page)
    }

    /// The number of a page for the next publication alone.
    pub(crate) fn borrow(&mut self) -> io::Result<u32> {
        let resting = if self.is_short { 0 } else { Self::at_rest(self.kept()) };
        let is_rested = self.free.now.len() > resting;
        let usable = |(_, used): &(u32, ReadOrder)| *used == ReadOrder::First || is_rested;
        if let Some(at) = self.free.now.iter().position(usable) {
            return Ok(self.free.now.remove(at).0);
        }
        self.borrowed += 1;
        self.append()
    }

    /// Takes back a page that was borrowed for the last publication.
    pub(crate) fn give_back(&mut self, page: u32, used: ReadOrder) {
        self.free.soon.push((page, used));
    }

    /// Writes a page, at once or before the next publication.
    pub(crate) fn write(&mut self, page: u32, content: &Page) -> io::Result<()> {
        if page < self.run_start {
            return self.target.write_at(content, offset(page));
        }
        let at = (page - self.run_start) as usize * SIZE;
        if at == self.run.len() {
            self.run.extend_from_slice(content);
        } else {
            let end = (at + SIZE).max(self.run.len());
            self.run.resize(end, 0);
            self.run[at..at + SIZE].copy_from_slice(content);
        }
        if self.run.len() >= RUN { self.flush() } else { Ok(()) }
    }

    /// Puts finished pages behind all others and returns their numbers.
    pub(crate) fn append_all(&mut self, pages: Vec<u8>) -> io::Result<Vec<u32>> {
        let (first, count) = (self.next, (pages.len() / SIZE) as u32);
        let end = first.checked_add(count).ok_or(io::ErrorKind::FileTooLarge)?;
        let is_behind = self.run_start as usize + self.run.len() / SIZE == first as usize;
        // Few pages wait with others.
        if pages.len() < RUN || !is_behind || (first..end).contains(&LOCK_PAGE) {
            let append = |content| {
                let page = self.append()?;
                self.write(page, content).map(|()| page)
            };
            return pages.as_chunks().0.iter().map(append).collect();
        }
        self.flush()?;
        self.check()?;
        self.target.write_at(&pages, offset(self.run_start))?;
        (self.next, self.run_start) = (end, end);
        Ok((first..end).collect())
    }

    /// Writes what waits. The number of the page after the last one is all that [`Self::resume`] needs, as long as nothing
    /// was published or borrowed.
    pub(crate) fn flush_all(&mut self) -> io::Result<u32> {
        self.flush()?;
        Ok(self.next)
    }

    /// Fails where someone else has removed the file or a part of it.
    pub(crate) fn check(&mut self) -> io::Result<()> {
        if self.is_gone {
            return Err(io::Error::other("it is not there any more"));
        }
        let checked = self.target.check(offset(self.run_start));
        self.is_gone = checked.is_err();
        checked
    }

    pub(crate) fn into_target(self) -> T {
        self.target
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.run.is_empty() {
            self.check()?;
            self.target.write_at(&self.run, offset(self.run_start))?;
            self.run_start += (self.run.len() / SIZE) as u32;
            self.run.clear();
        }
        Ok(())
    }

    /// Writes the first page: from now on the file is what was written before. Its schema's root is a node of
    /// `children` and `right`.
    pub(crate) fn publish(&mut self, children: &[Child], right: u32) -> io::Result<()> {
        let list = self.borrow()?;
        let mut free = Free { now: std::mem::take(&mut self.free.now), soon: Vec::new(), list: Some(list) };
        free.now.append(&mut self.free.soon);
        free.now.extend(self.free.list.map(|page| (page, ReadOrder::First)));
        self.write(list, &trunk(&free.now))?;
        self.flush()?;
        let count = self.published.count.wrapping_add(1);
        let mut first = header(count, self.pages(), list, free.now.len() + 1);
        page::interior(&mut first, 100, children, right);
        self.target.write_at(&first, 0)?;
        self.free = free;
        self.published =
            Published { next: self.next, free: self.free.clone(), borrowed: self.borrowed, count };
        Ok(())
    }

    /// Forgets what was written since the last publication, after an error.
    pub(crate) fn rollback(&mut self) {
        self.is_short = true;
        self.run.clear();
        self.next = self.published.next;
        self.run_start = self.next;
        self.borrowed = self.published.borrowed;
        self.free = self.published.free.clone();
    }
}

fn offset(page: u32) -> u64 {
    u64::from(page - 1) * SIZE as u64
}

/// The list of unused pages. There are never more than those of two publications and those at rest: it has room for
/// 1,022.
fn trunk(free: &[(u32, ReadOrder)]) -> Page {
    let mut page = [0; SIZE];
    page[4..8].copy_from_slice(&(free.len() as u32).to_be_bytes());
    for (place, (free, _)) in page[8..].chunks_exact_mut(4).zip(free) {
        place.copy_from_slice(&free.to_be_bytes());
    }
    page
}

/// The first page without the root of the schema (file format, "The Database Header"). `count` goes up with each
/// publication, so that a concurrent reader notices the change of pages and schema.
fn header(count: u32, pages: u32, free: u32, free_pages: usize) -> Page {
    let mut page = [0; SIZE];
    page[..16].copy_from_slice(b"SQLite format 3\0");
    page[16..18].copy_from_slice(&(SIZE as u16).to_be_bytes());
    // A rollback journal, nothing reserved, and the three fixed fractions.
    page[18..24].copy_from_slice(&[1, 1, 0, 64, 32, 32]);
    for (at, value) in [
        (24, count),
        (28, pages),
        (32, free),
        (36, free_pages as u32),
        (40, count),
        (44, 4),
        (56, 1),
        (92, count),
        (96, SQLITE_VERSION),
    ] {
        page[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    struct DiscardedPages;

    impl Target for DiscardedPages {
        fn write_at(&mut self, _: &[u8], _: u64) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_page_that_sqlite_locks_is_nobodys() {
        let mut store = Store::create(DiscardedPages).unwrap();
        store.publish(&[], 2).unwrap();
        store.next = LOCK_PAGE - 1;
        store.run_start = store.next;
        assert_eq!(store.append().unwrap(), LOCK_PAGE - 1);
        assert_eq!(store.append().unwrap(), LOCK_PAGE + 1);
    }

    #[test]
    fn pages_that_are_appended_together_leave_the_page_out_that_sqlite_locks() {
        let mut store = Store::create(DiscardedPages).unwrap();
        (store.next, store.run_start) = (LOCK_PAGE - 3, LOCK_PAGE - 3);
        let numbers = store.append_all(vec![1; 2 * RUN]).unwrap();
        let expected: Vec<u32> =
            (LOCK_PAGE - 3..).filter(|&page| page != LOCK_PAGE).take(2 * RUN / SIZE).collect();
        assert_eq!(numbers, expected);
        let behind = store.append_all(vec![1; RUN]).unwrap();
        assert_eq!(behind.first(), expected.last().map(|last| last + 1).as_ref());
    }

    #[test]
    fn a_page_is_used_again_only_when_the_published_file_does_not_need_it() {
        let mut store = Store::create(DiscardedPages).unwrap();
        let first = store.borrow().unwrap();
        store.publish(&[], first).unwrap();
        store.give_back(first, ReadOrder::First);
        let second = store.borrow().unwrap();
        assert_ne!(second, first, "the file still refers to it");
        store.publish(&[], second).unwrap();
        store.give_back(second, ReadOrder::First);
        let reused = [store.borrow().unwrap(), store.borrow().unwrap()];
        assert!(reused.contains(&first) && !reused.contains(&second));
    }

    #[test]
    fn the_end_of_a_table_rests_until_enough_others_do() {
        let mut store = Store::create(DiscardedPages).unwrap();
        let mut seen = Vec::new();
        let reused = loop {
            let page = store.borrow().unwrap();
            store.publish(&[], page).unwrap();
            if seen.contains(&page) {
                break page;
            }
            store.give_back(page, ReadOrder::Last);
            seen.push(page);
        };
        assert!(seen.len() > *AT_REST.start() / 2, "{} publications", seen.len());
        assert!(seen.iter().position(|&page| page == reused).unwrap() <= 2, "the oldest first");
    }

    #[test]
    fn going_back_forgets_what_was_taken() {
        let mut store = Store::create(DiscardedPages).unwrap();
        let page = store.borrow().unwrap();
        store.publish(&[], page).unwrap();
        let (kept, next) = (store.kept(), store.next);
        store.give_back(page, ReadOrder::Last);
        store.append().unwrap();
        store.borrow().unwrap();
        store.rollback();
        assert_eq!((store.kept(), store.next), (kept, next));
        assert!(store.free.soon.is_empty());
    }
}
