//! Vectors that a table function fills.

use std::marker::PhantomData;

use crate::CHUNK;
use crate::functions;
use crate::handles::{ChunkHandle, VectorHandle};
use crate::logical_type::Type;

/// The chunk that a scan fills.
#[derive(Debug)]
pub struct Chunk<'a> {
    handle: ChunkHandle,
    of: PhantomData<&'a ()>,
}

impl Chunk<'_> {
    pub(crate) fn new(handle: ChunkHandle) -> Self {
        Self { handle, of: PhantomData }
    }

    /// The vector of the column at this place among the projected ones, for `rows` rows.
    ///
    /// # Panics
    /// Of more rows than [`CHUNK`].
    pub fn vector(&mut self, place: usize, rows: usize) -> OutputVector<'_> {
        assert!(rows <= CHUNK, "a chunk has no room for {rows} rows");
        let handle = functions::data_chunk_get_vector(self.handle, place as u64);
        OutputVector { handle, rows, of: PhantomData }
    }

    /// States how many rows were filled; none ends the scan.
    pub fn set_len(&mut self, rows: usize) {
        functions::data_chunk_set_size(self.handle, rows as u64);
    }
}

/// A vector to fill. Its values must be of the type that its column was declared with.
#[derive(Debug)]
pub struct OutputVector<'a> {
    handle: VectorHandle,
    rows: usize,
    of: PhantomData<&'a ()>,
}

impl OutputVector<'_> {
    /// The values of a column of [`Type::Integer`].
    pub fn integers(&mut self) -> &mut [i64] {
        self.values()
    }

    /// The values of a column of [`Type::Float`].
    pub fn floats(&mut self) -> &mut [f64] {
        self.values()
    }

    /// The values of a column of [`Type::Bool`], 0 or 1.
    pub fn bools(&mut self) -> &mut [u8] {
        self.values()
    }

    fn values<T>(&mut self) -> &mut [T] {
        let data = functions::vector_get_data(self.handle).cast::<T>();
        // SAFETY: The vector has room for `CHUNK` values of at least this size, and `rows` is at most that.
        unsafe { std::slice::from_raw_parts_mut(data, self.rows) }
    }

    /// Makes rows null whose bit is unset: a word for 64 rows.
    pub fn set_validity(&mut self, words: &[u64; CHUNK / 64]) {
        functions::vector_ensure_validity_writable(self.handle);
        let mask = functions::vector_get_validity(self.handle);
        // SAFETY: The mask of a chunk's vector has a bit for each of `CHUNK` rows.
        unsafe { mask.copy_from_nonoverlapping(words.as_ptr(), words.len()) };
    }

    /// The text of a row of a column of [`Type::Text`].
    pub fn set_text(&mut self, row: usize, text: &str) {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        assign(self.handle, row, text);
    }

    /// The texts of all rows of a column of [`Type::Text`]: their places in a dictionary, of which nothing is copied.
    ///
    /// # Panics
    /// Where a place is beyond the dictionary.
    pub fn set_dictionary(&mut self, dictionary: &Dictionary, places: &[u32]) {
        let length = dictionary.length;
        let are_within = places.iter().fold(true, |are, &place| are & ((place as usize) < length));
        assert!(are_within && places.len() == self.rows, "places within the dictionary");
        let selection = functions::create_selection_vector(places.len() as u64);
        let own = functions::selection_vector_get_data_ptr(selection);
        // SAFETY: The selection was made for that many places.
        unsafe { own.copy_from_nonoverlapping(places.as_ptr(), places.len()) };
        functions::vector_reference_vector(self.handle, dictionary.handle);
        functions::slice_vector(self.handle, selection, places.len() as u64);
        // SAFETY: The vector shares the places; this handle is used no more.
        unsafe { functions::destroy_selection_vector(selection) };
    }
}

/// Texts that many rows refer to. Vectors of chunks share them.
#[derive(Debug)]
pub struct Dictionary {
    handle: VectorHandle,
    length: usize,
}

// SAFETY: A dictionary does not change, and references to it are counted atomically.
unsafe impl Send for Dictionary {}
// SAFETY: As above.
unsafe impl Sync for Dictionary {}

impl Dictionary {
    /// A dictionary of texts, `None` for null.
    pub fn new<'a>(texts: impl ExactSizeIterator<Item = Option<&'a str>>) -> Self {
        let length = texts.len();
        let of = Type::Text.logical();
        let handle = functions::create_vector(of.0, length.max(1) as u64);
        functions::vector_ensure_validity_writable(handle);
        let mask = functions::vector_get_validity(handle);
        for (row, text) in texts.take(length).enumerate() {
            match text {
                Some(text) => assign(handle, row, text),
                None => {
                    // SAFETY: The mask has a bit for every row of the vector.
                    let place = unsafe { mask.add(row / 64) };
                    // SAFETY: As above.
                    let word = unsafe { &mut *place };
                    *word &= !(1 << (row % 64));
                }
            }
        }
        Self { handle, length }
    }
}

impl Drop for Dictionary {
    fn drop(&mut self) {
        // SAFETY: The handle is used no more; vectors that refer to the texts keep them.
        unsafe { functions::destroy_vector(&mut self.handle) };
    }
}

fn assign(vector: VectorHandle, row: usize, text: &str) {
    // SAFETY: The vector is of texts and has the row; the text has that length and is copied.
    unsafe {
        functions::vector_assign_string_element_len(
            vector,
            row as u64,
            text.as_ptr().cast(),
            text.len() as u64,
        );
    }
}
