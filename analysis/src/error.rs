/// Errors of this crate: wrong options, never bad rows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of category rules is no TOML of the expected shape.
    #[error("category rules: {detail}")]
    Rules {
        /// Where the error is in the text, as the parser of the format describes it.
        detail: String,
    },
    /// A rule's regular expression does not compile.
    #[error("category rule {number} ({category}): {detail}")]
    RulePattern {
        /// Position of the rule in the file, from 1.
        number: usize,
        /// The category it names.
        category: String,
        /// The error of the regex compiler.
        detail: String,
    },
    /// A moment is not written as one.
    #[error("not a moment: {text}")]
    Bound {
        /// The text as it was given.
        text: String,
    },
    /// A moment is a number without a unit.
    #[error("a time without a unit: {text}")]
    Unit {
        /// The text as it was given.
        text: String,
    },
    /// A pattern of kernel names is no regular expression.
    #[error("invalid regular expression `{text}`: {reason}")]
    Pattern {
        /// The text as it was given.
        text: String,
        /// The error of the regex compiler.
        reason: String,
    },
    /// A text after `@` is no key of a kernel.
    #[error("not a key of a kernel: {text}")]
    KernelKey {
        /// The text as it was given.
        text: String,
    },
    /// The region of interest ends before it starts.
    #[error("the region ends at {}, before it starts at {} (relative to the trace's start)", time(*to), time(*from))]
    EmptyRegion {
        /// Start relative to the trace's start, in ns.
        from: i64,
        /// End relative to the trace's start, in ns.
        to: i64,
    },
    /// No row starts in the window.
    #[error("nothing starts {window}: the trace lasts {}", time(*span))]
    EmptyWindow {
        /// The bounds in words.
        window: String,
        /// The length of the trace in ns.
        span: i64,
    },
    /// No range of the trace has the name asked for.
    #[error("no range is named {name}: the trace has {existing}")]
    NoRange {
        /// The name as it was given.
        name: String,
        /// The ranges of the trace.
        existing: String,
    },
    /// No kernel of the trace matches a pattern.
    #[error("no kernel matches {pattern}: the trace has {existing}")]
    NoKernel {
        /// The pattern as it was given.
        pattern: String,
        /// The kernels of the trace.
        existing: String,
    },
    /// The trace has none of the given GPUs, queues or ranks.
    #[error("no {wanted} in the trace, which has {existing}")]
    NoPlace {
        /// The numbers asked for.
        wanted: String,
        /// The numbers that exist.
        existing: String,
    },
    /// Each filter keeps rows, all of them together keep none.
    #[error("no op passes all filters: {filters}")]
    NothingLeft {
        /// The filters in words.
        filters: String,
    },
    /// A GPU has too few calls of its main kernel to cut off the first and the last.
    #[error("{place} has no steady part: its main kernel {kernel} has {calls} calls, at least 4 are needed")]
    NotSteady {
        /// The GPU's label, such as `GPU 0`.
        place: String,
        /// The GPU's kernel with the largest total time.
        kernel: String,
        /// How often that was called.
        calls: u64,
    },
}

impl Error {
    /// Returns whether a trace has nothing of what was selected; another trace may have it.
    #[must_use]
    pub fn is_empty_selection(&self) -> bool {
        matches!(
            self,
            Self::EmptyWindow { .. }
                | Self::NoRange { .. }
                | Self::NoKernel { .. }
                | Self::NoPlace { .. }
                | Self::NothingLeft { .. }
        )
    }

    /// Returns what the user can try, on one line; empty where nothing is known.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Bound { .. } => "write 250us, 10ms, 1.5s, 25%, or -5ms from the end",
            Self::Unit { .. } => "add a unit: 10ns, 10us, 10ms or 10s; or write 10% of the trace",
            Self::Pattern { .. } => "write \\( and \\[ for literal brackets",
            Self::KernelKey { .. } => {
                "write @k1 as in the column Key of the report; a name that begins with @ is ^@"
            }
            Self::EmptyRegion { .. } => {
                "--time START..END starts before it ends; negative times count from the end"
            }
            Self::EmptyWindow { .. } => "times count from the start of the trace; negative ones from the end",
            Self::NoRange { .. } => "`rtl-summary --section ranges TRACE` lists the ranges",
            Self::NoKernel { .. } => {
                "the pattern is a regular expression, (?i) ignores case; `rtl-summary --section kernels TRACE` lists names"
            }
            Self::NoPlace { .. } => "`rtl-summary --section trace,gpus TRACE` lists GPUs and ranks",
            Self::NothingLeft { .. } => "leave out one of the filters",
            Self::Rules { .. } | Self::RulePattern { .. } => "",
            Self::NotSteady { .. } => "--time START..END is a part of the trace",
        }
    }
}

/// A time in the largest unit of which it has at least one: `1.5 ms`.
pub(crate) fn time(nanoseconds: i64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    match units.into_iter().find(|(unit, _)| nanoseconds.unsigned_abs() >= *unit) {
        Some((unit, symbol)) => {
            let number = format!("{:.3}", nanoseconds as f64 / unit as f64);
            format!("{} {symbol}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        None => format!("{nanoseconds} ns"),
    }
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
