/// Errors of this crate: wrong options, never bad rows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of category rules is no TOML of the expected shape.
    #[error("category rules: {detail}")]
    Rules {
        /// Where and how.
        detail: String,
    },
    /// A rule's regular expression does not compile.
    #[error("category rule {number} ({category}): {detail}")]
    RulePattern {
        /// Its position in the file, from 1.
        number: usize,
        /// The category it names.
        category: String,
        /// The error of the regex compiler.
        detail: String,
    },
    /// A moment is not written as one.
    #[error("not a moment: {text}")]
    Bound {
        /// The given text.
        text: String,
    },
    /// The region of interest ends before it starts.
    #[error("the region ends at {to} ns, before it starts at {from} ns (relative to the trace's start)")]
    EmptyRegion {
        /// Start relative to the trace's start, in ns.
        from: i64,
        /// End relative to the trace's start, in ns.
        to: i64,
    },
    /// No range of the trace has the name asked for.
    #[error("no range is named {name}")]
    NoRange {
        /// The name.
        name: String,
    },
    /// A GPU has too few calls of its main kernel to cut off the first and the last.
    #[error("{place} has no steady part: its main kernel {kernel} has {calls} calls, at least 4 are needed")]
    NotSteady {
        /// The GPU.
        place: String,
        /// Its kernel with the largest total time.
        kernel: String,
        /// How often that was called.
        calls: u64,
    },
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
