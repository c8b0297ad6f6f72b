//! One state of a recording that its writer may be extending.
//!
//! The writer (`rtl-write`) takes no lock. It publishes a state by the first page and never changes a finished leaf. All
//! other pages of a state (inner nodes, the newest leaves, the schema) are used again some publications later, so an image
//! has a copy of them. SQLite reads the schema from the image, scans read the finished leaves from the recording.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use atomic_file::PrivateDir;
use platform::permissions::create_private;
use platform::positional::write_all_at;

use super::header::HEADER;

/// The name of an image in its folder.
pub(super) const IMAGE: &str = "image";

/// Pages of one state, by their numbers.
#[derive(Debug)]
pub(super) struct Image(BTreeMap<u32, Vec<u8>>);

impl Image {
    /// An image of these pages.
    pub(super) fn new(state: BTreeMap<u32, Vec<u8>>) -> Self {
        Self(state)
    }

    /// Writes the pages at their places into a file that lacks all others, and returns the folder in which SQLite finds it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&self, recording: &File) -> io::Result<PrivateDir> {
        let folder = PrivateDir::create_in(&std::env::temp_dir())?;
        let image = create_private(&folder.path().join(IMAGE))?;
        for (number, page) in &self.0 {
            write_all_at(&image, page, u64::from(number - 1) * page.len() as u64)?;
        }
        let length = recording.metadata()?.len().max(image.metadata()?.len());
        image.set_len(length)?;
        Ok(folder)
    }

    /// The header of the state.
    pub(super) fn header(&self) -> Option<[u8; HEADER]> {
        self.0.get(&1)?.first_chunk().copied()
    }

    /// Replaces the pages in `buffer`, of which the first is number `first`, by those of the image.
    pub(super) fn patch(&self, first: u32, buffer: &mut [u8], size: usize) -> Option<()> {
        let last = first + (buffer.len() / size) as u32;
        for (page, content) in self.0.range(first..last) {
            let at = (page - first) as usize * size;
            buffer[at..at + size].copy_from_slice(content.get(..size)?);
        }
        Some(())
    }
}
