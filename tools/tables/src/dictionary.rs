//! Texts that many rows refer to.

use crate::loaded::Loaded;

/// A dictionary of a trace. All but [`Dictionary::Label`] have the strings of the trace in the same places, each in another form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dictionary {
    /// One text: the name of the trace.
    Label,
    Texts,
    /// Strings as names of kernels.
    Kernels,
    /// Display names of kernels, and the other strings as stored.
    DisplayNames,
    /// The categories of kernels; null for other strings.
    Categories,
}

impl Dictionary {
    /// How many dictionaries a trace has; `dictionary as usize` is less.
    pub const COUNT: usize = 5;

    /// The number of its texts.
    pub fn len(self, trace: &Loaded) -> usize {
        match self {
            Self::Label => 1,
            _ => trace.places(),
        }
    }

    /// The text at a place; `None` of null.
    pub fn get(self, trace: &Loaded, place: usize) -> Option<&str> {
        match self {
            Self::Label => Some(trace.label()),
            Self::Texts => trace.text(place),
            Self::Kernels => trace.text(place).map(rtl_schema::identity),
            Self::DisplayNames => trace.display_name(place),
            Self::Categories => trace.category(place),
        }
    }
}
