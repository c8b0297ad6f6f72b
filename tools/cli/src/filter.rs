//! The flags that choose a part of a trace (`--kernel`, `--gpu`, `--from`, ...), equal in every tool.
//!
//! A tool flattens [`FilterArgs`] into its arguments and passes [`FilterArgs::filter`] to
//! [`rtl_analysis::region::apply`]. Moments stay relative until a trace is known.

use std::path::Path;
use std::str::FromStr;

use crate::{Exit, Failure};
use clap::Args;
use rtl_analysis::region::Filter;

/// The region of interest as typed.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Region of interest")]
pub struct FilterArgs {
    /// Only kernels whose name matches, or the kernel with a key of the report: @k1
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,

    /// Only these GPUs; repeat the flag or separate numbers with commas
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub gpu: Vec<u32>,

    /// Only these queues; repeat the flag or separate numbers with commas
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub queue: Vec<i64>,

    /// Only these ranks; repeat the flag or separate numbers with commas
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub rank: Vec<i64>,

    /// Only rows that start at this time or later: with ns, us, ms, s or %, negative counts from the end
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<String>,

    /// Only rows that start before this time, given as for --from
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,

    /// Only work within the roctx ranges of this name
    #[arg(long, value_name = "NAME")]
    pub range: Option<String>,

    /// Omit the idle time before the first and after the last op of each GPU
    #[arg(long)]
    pub trim_idle: bool,

    /// Only the steady part: from the second to the last-but-one call of the kernel with the largest total
    #[arg(long)]
    pub steady: bool,
}

impl FilterArgs {
    /// Whether no filter is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Parses the values.
    ///
    /// # Errors
    /// A usage error for an invalid expression, time or rank.
    pub fn filter(&self) -> Result<Filter, Failure> {
        let ranks = self.rank.iter().map(|&rank| {
            u32::try_from(rank).map_err(|_| Failure::usage(format!("--rank: invalid rank `{rank}`")))
        });
        Ok(Filter {
            kernel: self.kernel.as_deref().map(|text| parsed("--kernel", text)).transpose()?,
            gpus: self.gpu.iter().copied().map(i64::from).collect(),
            queues: self.queue.clone(),
            ranks: ranks.collect::<Result<_, _>>()?,
            from: self.from.as_deref().map(|text| parsed("--from", text)).transpose()?,
            to: self.to.as_deref().map(|text| parsed("--to", text)).transpose()?,
            range: self.range.clone(),
            trim_idle: self.trim_idle,
            steady: self.steady,
        })
    }
}

/// The value of a flag, with its name in the error.
fn parsed<T: FromStr<Err = rtl_analysis::Error>>(flag: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error: rtl_analysis::Error| {
        let hint = error.hint();
        Failure::new(Exit::Usage, error).context(flag).with_hint(hint)
    })
}

/// Why a filter cannot be applied to the trace at `path`.
pub fn failure(path: &Path, error: rtl_analysis::Error) -> Failure {
    let hint = error.hint();
    Failure::input(error).context(path.display().to_string()).with_hint(hint)
}

/// Whether the trace has nothing of what was selected.
pub fn is_empty_selection(failure: &Failure) -> bool {
    let error = failure.error().downcast_ref::<rtl_analysis::Error>();
    error.is_some_and(rtl_analysis::Error::is_empty_selection)
}
