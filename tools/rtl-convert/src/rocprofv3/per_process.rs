//! One value for each process.

use rtl_schema::ProcessId;

/// One value for each process that has records.
#[derive(Debug)]
pub struct PerProcess<T>(Vec<Option<Box<T>>>);

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> PerProcess<T> {
    /// The place for the value of a process.
    #[inline]
    pub fn slot(&mut self, id: ProcessId) -> &mut Option<Box<T>> {
        if self.0.len() <= id.index() {
            self.0.resize_with(id.index() + 1, || None);
        }
        &mut self.0[id.index()]
    }

    /// The value of a process.
    pub fn get(&self, id: ProcessId) -> Option<&T> {
        self.0.get(id.index())?.as_deref()
    }

    /// The processes with values, in the order of the trace.
    pub fn iter(&self) -> impl Iterator<Item = (ProcessId, &T)> {
        (0..).map(ProcessId).zip(&self.0).filter_map(|(id, value)| Some((id, value.as_deref()?)))
    }
}
