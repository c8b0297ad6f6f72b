//! The library of a call, by its domain or the name of its function.

/// The library of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Library {
    Hip,
    Hsa,
    Other,
}

impl Library {
    /// CUDA's functions are those of HIP by other names.
    pub(super) fn of(domain: &str, function: &str) -> Self {
        let begins = |word: &str| {
            [domain, function]
                .iter()
                .any(|text| text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)))
        };
        match () {
            () if begins("hip") || begins("cuda") => Self::Hip,
            () if begins("hsa") => Self::Hsa,
            () => Self::Other,
        }
    }
}
