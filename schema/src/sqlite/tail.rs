//! The rows that a recording gets while it is read again and again.
//!
//! Rows are only appended, so a read begins behind the last row of the one before: it takes the inner nodes on the way to the
//! new leaves, and these. SQLite's library reads the declaration of each table once.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::database::Database;
use super::header::{is_recording, read_header};
use super::image::Image;
use super::layout::{Layout, Place, Stored};
use super::leaf;
use super::pages::Pages;
use super::record::Decoder;
use super::row::Row;
use super::state::{newest, of_one_state, take_leaf};
use crate::content::io as io_error;
use crate::{Error, Result};

/// How long a state of a file that changes without end is looked for.
const PATIENCE: Duration = Duration::from_secs(2);
/// The columns of the schema: the name and the root of a table.
const NAME: usize = 1;
const ROOT: usize = 3;

/// A table whose rows are read.
#[derive(Debug)]
pub(crate) struct Followed {
    name: &'static str,
    columns: Vec<&'static str>,
    /// Found once the table exists.
    layout: Option<Layout>,
    /// The last row that was read.
    after: i64,
    /// True if rows may be replaced, so that all of them are read each time.
    is_replaced: bool,
}

impl Followed {
    /// These columns of a table, from its first row on.
    pub(crate) fn new(name: &'static str, columns: &[&'static str]) -> Self {
        Self { name, columns: columns.to_vec(), layout: None, after: i64::MIN, is_replaced: false }
    }

    /// These columns of a table whose last rows are replaced with each publication.
    pub(crate) fn replaced(name: &'static str, columns: &[&'static str]) -> Self {
        Self { is_replaced: true, ..Self::new(name, columns) }
    }

    /// Takes all rows up to this one as read.
    pub(crate) fn read_to(&mut self, row: i64) {
        if !self.is_replaced {
            self.after = row;
        }
    }
}

/// A recording that is read again and again.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    file: File,
    /// The first page of the state that was read last.
    last: Vec<u8>,
}

/// One published state, as far as it is new.
#[derive(Debug)]
pub(crate) struct Publication {
    image: Image,
    roots: Vec<(String, u32)>,
}

impl Tail {
    /// Opens a recording; `None` where the file was written otherwise.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>> {
        let file = File::open(path).map_err(io_error("read", path))?;
        let header = read_header(&file);
        let recording = header.is_some_and(|header| is_recording(&header));
        Ok(recording.then(|| Self { path: path.to_owned(), file, last: Vec::new() }))
    }

    /// The state that the file has now, with what is new in these tables; `None` where it is the state of the call before.
    ///
    /// # Errors
    /// The pages of the file do not make up a state, or the declaration of a table cannot be read.
    pub(crate) fn publication(&mut self, read: &mut [&mut Followed]) -> Result<Option<Publication>> {
        let last = &self.last;
        let found = of_one_state(&self.file, PATIENCE, |pages, first| {
            if first == *last {
                return Some(None);
            }
            let (pages, roots) = collect(pages, first, read)?;
            Some(Some((first.to_vec(), Publication { image: Image::new(pages), roots })))
        });
        let found = found.ok_or_else(|| self.damaged("its pages do not belong together"))?;
        let Some((first, publication)) = found else { return Ok(None) };
        let exists = |name: &str| publication.roots.iter().any(|(table, _)| table == name);
        if read.iter().any(|table| table.layout.is_none() && exists(table.name)) {
            let database = Database::open(&self.path, &self.path)?;
            for table in read.iter_mut().filter(|table| table.layout.is_none()) {
                table.layout = database.layout(table.name, &table.columns)?.filter(|_| exists(table.name));
            }
        }
        self.last = first;
        Ok(Some(publication))
    }

    /// The new rows of a table.
    ///
    /// # Errors
    /// A page cannot be read.
    pub(crate) fn rows<'a>(&'a self, state: &'a Publication, table: &'a Followed) -> Result<NewRows<'a>> {
        let mut rows =
            NewRows { tail: self, pages: None, leaves: Vec::new(), next: 0, table, last: table.after };
        let root = state.roots.iter().find(|(name, _)| name == table.name);
        if let (Some((_, root)), Some(layout)) = (root, &table.layout) {
            let damaged = || self.damaged(table.name);
            let pages = Pages::open(&self.file, Some(&state.image)).ok_or_else(damaged)?;
            rows.leaves = pages.leaves_after(*root, table.after, |_, _| ()).ok_or_else(damaged)?;
            rows.pages = Some((pages, layout));
        }
        Ok(rows)
    }

    fn damaged(&self, what: &str) -> Error {
        Error::Damaged { path: self.path.clone(), detail: what.to_owned() }
    }
}

/// New rows of a table, piece by piece.
#[derive(Debug)]
pub(crate) struct NewRows<'a> {
    tail: &'a Tail,
    pages: Option<(Pages<'a>, &'a Layout)>,
    leaves: Vec<u32>,
    next: usize,
    table: &'a Followed,
    last: i64,
}

impl NewRows<'_> {
    /// Calls `each` with the rows of at most `leaves` pages. Returns false if there are no more.
    ///
    /// # Errors
    /// A page cannot be read.
    pub(crate) fn next(&mut self, leaves: usize, mut each: impl FnMut(&Row<'_>)) -> Result<bool> {
        let Some((pages, layout)) = self.pages.filter(|_| self.next < self.leaves.len()) else {
            return Ok(false);
        };
        let end = self.leaves.len().min(self.next.saturating_add(leaves));
        let (after, last) = (self.table.after, &mut self.last);
        let read = leaf::scan(pages, layout, &self.leaves[self.next..end], |row| {
            if row.id() > after {
                *last = row.id();
                each(row);
            }
        });
        read.map_err(|_| self.tail.damaged(self.table.name))?;
        self.next = end;
        Ok(true)
    }

    /// The last row that was read, for [`Followed::read_to`].
    pub(crate) fn last(&self) -> i64 {
        self.last
    }
}

/// Tables, each with the page of its root.
type Roots = Vec<(String, u32)>;

/// The pages of a state that its writer may use again, and the roots of its tables.
fn collect(
    pages: Pages<'_>,
    first: &[u8],
    read: &[&mut Followed],
) -> Option<(BTreeMap<u32, Vec<u8>>, Roots)> {
    let mut state = BTreeMap::from([(1, first.to_vec())]);
    let roots = roots(pages, &pages.schema_children(first)?)?;
    for (name, root) in &roots {
        let Some(table) = read.iter().find(|table| table.name == name) else { continue };
        let keep = |number: u32, page: &[u8]| drop(state.insert(number, page.to_vec()));
        let leaves = pages.leaves_after(*root, table.after, keep)?;
        for &leaf in &leaves[newest(&leaves)..] {
            take_leaf(pages, leaf, &mut state)?;
        }
    }
    Some((state, roots))
}

/// The names and roots of the tables in the leaves of the schema.
fn roots(pages: Pages<'_>, leaves: &[u32]) -> Option<Roots> {
    let places = vec![Place::Stored(NAME), Place::Stored(ROOT)];
    let layout = Layout { root: 1, places, stored: vec![Stored::default(); ROOT + 1] };
    let mut decoder = Decoder::new(pages, &layout, leaves.len());
    let mut roots = Vec::new();
    pages.read_leaves(leaves, |leaf| {
        decoder.records(leaf, |record| {
            let row = Row::of_record(record);
            if let (Some(name), Some(root)) = (row.text(0), row.unsigned::<u32>(1).filter(|&root| root > 0)) {
                roots.push((name.into_owned(), root));
            }
        })
    })?;
    Some(roots)
}
