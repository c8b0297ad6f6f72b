//! A stream of batches as a C struct.

use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::array::Array;
use crate::{Batches, Schema};

/// `EIO`, with which a stream says that it failed.
const FAILED: c_int = 5;

/// The layout of C's `struct ArrowArrayStream`. A reader moves it out of its place and releases it; else it is released when it is
/// dropped.
#[repr(C)]
#[derive(Debug)]
pub struct Stream {
    get_schema: unsafe extern "C" fn(*mut Self, *mut Schema) -> c_int,
    get_next: unsafe extern "C" fn(*mut Self, *mut Array) -> c_int,
    get_last_error: unsafe extern "C" fn(*mut Self) -> *const c_char,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

// SAFETY: batches are `Send`, and the struct owns them.
unsafe impl Send for Stream {}

struct Owned {
    batches: Box<dyn Batches>,
    error: CString,
}

impl Stream {
    /// The struct of these batches.
    #[must_use]
    pub fn new(batches: Box<dyn Batches>) -> Self {
        let owned = Box::new(Owned { batches, error: CString::default() });
        Self {
            get_schema,
            get_next,
            get_last_error,
            release: Some(release),
            private_data: Box::into_raw(owned).cast(),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it has not been released, and this is the last use of it.
            unsafe { release(self) }
        }
    }
}

impl Owned {
    fn next(&mut self) -> Result<Array, String> {
        let next = catch_unwind(AssertUnwindSafe(|| self.batches.next()));
        let batch = next.unwrap_or_else(|_| Err("a defect of rtl stopped the stream".to_owned()))?;
        match batch {
            None => Ok(Array::none()),
            Some(batch) if batch.fits(self.batches.fields()) => Ok(Array::new(batch)),
            Some(_) => Err("a defect of rtl: a batch does not match its schema".to_owned()),
        }
    }
}

/// The batches behind the `private_data` of a stream.
unsafe fn owned<'a>(stream: *mut Stream) -> &'a mut Owned {
    // SAFETY: the caller passes a stream that lives.
    let stream = unsafe { &mut *stream };
    // SAFETY: `Stream::new` made it of a box, which lives until the stream is released.
    unsafe { &mut *stream.private_data.cast::<Owned>() }
}

unsafe extern "C" fn get_schema(stream: *mut Stream, to: *mut Schema) -> c_int {
    // SAFETY: the interface has one caller at a time, with a stream that lives.
    let owned = unsafe { owned(stream) };
    let schema = Schema::new(owned.batches.fields());
    // SAFETY: the caller has room for it, with nothing in it.
    unsafe { to.write(schema) };
    0
}

unsafe extern "C" fn get_next(stream: *mut Stream, to: *mut Array) -> c_int {
    // SAFETY: as in `get_schema`.
    let owned = unsafe { owned(stream) };
    match owned.next() {
        Ok(array) => {
            // SAFETY: the caller has room for it, with nothing in it.
            unsafe { to.write(array) };
            0
        }
        Err(error) => {
            owned.error = CString::new(error.replace('\0', " ")).unwrap_or_default();
            FAILED
        }
    }
}

unsafe extern "C" fn get_last_error(stream: *mut Stream) -> *const c_char {
    // SAFETY: as in `get_schema`.
    let owned = unsafe { owned(stream) };
    if owned.error.is_empty() { ptr::null() } else { owned.error.as_ptr() }
}

unsafe extern "C" fn release(stream: *mut Stream) {
    // SAFETY: a consumer passes the struct that it got, which lives.
    let stream = unsafe { &mut *stream };
    stream.release = None;
    // SAFETY: `Stream::new` made it of a box, and what is released once is not released again.
    drop(unsafe { Box::from_raw(stream.private_data.cast::<Owned>()) });
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::{Batch, Column, Dictionary, Field, Kind, Values};

    static DROPPED: AtomicUsize = AtomicUsize::new(0);

    struct TwoBatches {
        fields: Vec<Field>,
        left: usize,
        texts: Arc<Dictionary>,
    }

    impl Drop for TwoBatches {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Batches for TwoBatches {
        fn fields(&self) -> &[Field] {
            &self.fields
        }

        fn next(&mut self) -> Result<Option<Batch>, String> {
            let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
            self.left = left;
            let texts = Values::Texts(vec![0, 1, left as i32], Arc::clone(&self.texts));
            let columns = vec![
                Column { values: Values::Integers(vec![1, 2, 3]), known: Some(vec![0b101]) },
                Column { values: texts, known: None },
            ];
            Ok(Some(Batch { rows: 3, columns }))
        }
    }

    fn stream(left: usize, texts: &Arc<Dictionary>) -> Stream {
        let field = |name: &str, kind| Field { name: name.to_owned(), kind };
        let fields = vec![field("n", Kind::Integer), field("t", Kind::Text)];
        Stream::new(Box::new(TwoBatches { fields, left, texts: Arc::clone(texts) }))
    }

    fn next(stream: &mut Stream) -> Result<Array, String> {
        let mut array = Array::none();
        // SAFETY: both structs live.
        let status = unsafe { (stream.get_next)(stream, &raw mut array) };
        if status == 0 {
            return Ok(array);
        }
        // SAFETY: the stream lives.
        let error = unsafe { (stream.get_last_error)(stream) };
        // SAFETY: it is a text that ends with a zero, of the stream, which lives.
        Err(unsafe { std::ffi::CStr::from_ptr(error) }.to_string_lossy().into_owned())
    }

    #[test]
    fn what_a_reader_took_outlives_the_stream_and_all_is_freed() {
        let texts: Arc<Dictionary> = Arc::new(["a", "bc"].into_iter().collect());
        let mut stream = stream(2, &texts);
        let arrays = [next(&mut stream).unwrap(), next(&mut stream).unwrap()];
        assert!(next(&mut stream).is_ok());
        let before = DROPPED.load(Ordering::Relaxed);
        drop(stream);
        assert_eq!(DROPPED.load(Ordering::Relaxed), before + 1);
        assert_eq!(Arc::strong_count(&texts), 5, "two arrays, each as column and as dictionary");
        drop(arrays);
        assert_eq!(Arc::strong_count(&texts), 1);
    }

    #[test]
    fn a_place_outside_its_dictionary_is_an_error() {
        let texts: Arc<Dictionary> = Arc::new(["a", "bc"].into_iter().collect());
        let mut stream = stream(4, &texts);
        assert_eq!(
            next(&mut stream).err().as_deref(),
            Some("a defect of rtl: a batch does not match its schema")
        );
    }
}
