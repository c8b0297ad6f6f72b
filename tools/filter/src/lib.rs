//! The flags that choose a part of a trace (`--kernel`, `--gpu`, `--from`, ...), equal in every tool.
//!
//! A tool flattens [`FilterArgs`] into its arguments and passes [`FilterArgs::filter`] to
//! [`rtl_analysis::region::apply`]. Moments stay relative until a trace is known.

use clap::Args;
use cli::{Exit, Failure};
use rtl_analysis::region::{Bound, Filter};

/// The region of interest as typed.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Region of interest")]
pub struct FilterArgs {
    /// Only kernels whose name matches
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
            kernel: self.kernel.as_deref().map(regex).transpose()?,
            gpus: self.gpu.iter().copied().map(i64::from).collect(),
            queues: self.queue.clone(),
            ranks: ranks.collect::<Result<_, _>>()?,
            from: self.from.as_deref().map(|text| time("--from", text)).transpose()?,
            to: self.to.as_deref().map(|text| time("--to", text)).transpose()?,
            range: self.range.clone(),
            trim_idle: self.trim_idle,
            steady: self.steady,
        })
    }
}

fn regex(text: &str) -> Result<regex::Regex, Failure> {
    regex::Regex::new(text).map_err(|error| {
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        Failure::usage(format!("--kernel: invalid regular expression `{text}`: {reason}"))
            .with_hint("write \\( and \\[ for literal brackets")
    })
}

fn time(flag: &str, text: &str) -> Result<Bound, Failure> {
    text.parse().map_err(|error: rtl_analysis::Error| {
        Failure::new(Exit::Usage, error)
            .context(flag)
            .with_hint("write 250us, 10ms, 1.5s, 1000 for ns, 25%, or -5ms from the end")
    })
}
