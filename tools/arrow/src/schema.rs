//! The types of a table as a C struct.

use std::ffi::{CString, c_char, c_void};
use std::ptr;

use crate::{Field, Kind};

const NULLABLE: i64 = 2;

/// The layout of C's `struct ArrowSchema`.
#[repr(C)]
#[derive(Debug)]
pub struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

// SAFETY: the struct owns what it points to, and nothing in that belongs to a thread.
unsafe impl Send for Schema {}

/// The memory that a schema points to, as its `private_data`.
struct Owned {
    name: CString,
    children: Vec<*mut Schema>,
    dictionary: *mut Schema,
}

impl Schema {
    /// The struct of a table with these columns.
    #[must_use]
    pub fn new(fields: &[Field]) -> Self {
        let field = |field: &Field| {
            let (format, values) = match field.kind {
                Kind::Integer => (c"l", None),
                Kind::Float => (c"g", None),
                Kind::Bool => (c"b", None),
                Kind::Text => (c"i", Some(Self::build(c"U", "", 0, Vec::new(), None))),
            };
            Self::build(format, &field.name, NULLABLE, Vec::new(), values)
        };
        Self::build(c"+s", "", 0, fields.iter().map(field).collect(), None)
    }

    fn build(
        format: &'static std::ffi::CStr,
        name: &str,
        flags: i64,
        children: Vec<Self>,
        dictionary: Option<Self>,
    ) -> Self {
        let boxed = |schema| Box::into_raw(Box::new(schema));
        let mut owned = Box::new(Owned {
            // Names of columns have no zero bytes.
            name: CString::new(name).unwrap_or_default(),
            children: children.into_iter().map(boxed).collect(),
            dictionary: dictionary.map_or(ptr::null_mut(), boxed),
        });
        Self {
            format: format.as_ptr(),
            name: owned.name.as_ptr(),
            metadata: ptr::null(),
            flags,
            n_children: owned.children.len() as i64,
            children: owned.children.as_mut_ptr(),
            dictionary: owned.dictionary,
            release: Some(release),
            private_data: Box::into_raw(owned).cast(),
        }
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it has not been released, and this is the last use of it.
            unsafe { release(self) }
        }
    }
}

unsafe extern "C" fn release(schema: *mut Schema) {
    // SAFETY: a consumer passes the struct that it got, which lives.
    let schema = unsafe { &mut *schema };
    schema.release = None;
    // SAFETY: `build` made it of a box, and what is released once is not released again.
    let owned = unsafe { Box::from_raw(schema.private_data.cast::<Owned>()) };
    for part in owned.children.iter().copied().chain(Some(owned.dictionary)).filter(|part| !part.is_null()) {
        // SAFETY: `build` made it of a box; dropping it releases it unless a consumer has moved it out.
        drop(unsafe { Box::from_raw(part) });
    }
}
