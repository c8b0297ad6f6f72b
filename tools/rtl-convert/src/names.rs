use std::borrow::Cow;

use schema::{NameId, Strings};

/// What an event is called: a mangled name demangled, without the suffix of kernel descriptors.
pub fn shown(strings: &Strings, id: NameId) -> Cow<'_, str> {
    let name = schema::identity(strings.get(id));
    schema::demangle(name).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// One rendering of each string or shape, made when it is first needed.
#[derive(Debug, Default)]
pub struct Cache(Vec<Option<Box<[u8]>>>);

impl Cache {
    /// The rendering of number `at`.
    #[inline]
    pub fn get(&mut self, at: usize, render: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at].get_or_insert_with(|| {
            let mut bytes = Vec::new();
            render(&mut bytes);
            bytes.into_boxed_slice()
        })
    }
}
