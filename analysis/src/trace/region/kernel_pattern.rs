//! The kernels that a filter keeps, as users write them.

use std::fmt;
use std::str::FromStr;

use regex_lite::Regex;
use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;

use crate::names::kernel_keys::KernelKeys;
use crate::{Error, Result};

/// A pattern of kernel names, or the key of one kernel.
#[derive(Debug, Clone)]
pub enum KernelPattern {
    /// Kernels whose stored or demangled name matches.
    Name(Regex),
    /// The kernel of this number in [`crate::KernelKeys`].
    Key(usize),
}

impl FromStr for KernelPattern {
    type Err = Error;

    /// Reads a regular expression, or `@k3` for the kernel with the key `k3`.
    fn from_str(text: &str) -> Result<Self> {
        if let Some(key) = text.strip_prefix('@') {
            let number = key.strip_prefix('k').and_then(|number| number.parse().ok());
            return number.map(Self::Key).ok_or_else(|| Error::KernelKey { text: text.to_owned() });
        }
        Regex::new(text)
            .map(Self::Name)
            .map_err(|error| Error::Pattern { text: text.to_owned(), reason: error.to_string() })
    }
}

impl fmt::Display for KernelPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(pattern) => pattern.fmt(formatter),
            Self::Key(number) => write!(formatter, "@k{number}"),
        }
    }
}

/// The names that a pattern matches. Each name is looked at once, because a trace has far more rows.
#[derive(Debug)]
pub(super) struct MatchingKernels<'a> {
    pattern: &'a KernelPattern,
    keys: KernelKeys,
    known: FxHashMap<NameId, bool>,
}

impl<'a> MatchingKernels<'a> {
    /// `keys` are those of the whole trace; a pattern of names needs none.
    pub(super) fn new(pattern: &'a KernelPattern, keys: KernelKeys) -> Self {
        Self { pattern, keys, known: FxHashMap::default() }
    }

    pub(super) fn matches(&mut self, name: NameId, tables: &Tables) -> bool {
        let Self { pattern, keys, known } = self;
        *known.entry(name).or_insert_with(|| {
            let stored = rtl_schema::identity(tables.strings.get(name));
            match pattern {
                KernelPattern::Key(number) => keys.name(*number) == Some(stored),
                KernelPattern::Name(pattern) => {
                    pattern.is_match(stored)
                        || rtl_schema::demangle(stored).is_some_and(|full| pattern.is_match(&full))
                }
            }
        })
    }

    /// True if there were kernels, none of which matches.
    pub(super) fn are_all_others(&self) -> bool {
        !self.known.is_empty() && !self.known.values().any(|matches| *matches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_an_expression_or_a_key() {
        let text = |text: &str| text.parse::<KernelPattern>().map(|pattern| pattern.to_string());
        assert_eq!(text("^gemm").as_deref(), Ok("^gemm"));
        assert_eq!(text("@k12").as_deref(), Ok("@k12"));
        assert_eq!(text("@gemm"), Err(Error::KernelKey { text: "@gemm".to_owned() }));
        assert!(matches!(text("gemm("), Err(Error::Pattern { .. })));
    }
}
