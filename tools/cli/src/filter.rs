//! The flags that choose a part of a trace (`--kernel`, `--gpu`, `--time`, ...), equal in every tool.
//!
//! A tool flattens [`FilterArgs`] into its arguments and passes [`FilterArgs::filter`] to
//! [`rtl_analysis::region::apply`]. Moments stay relative until a trace is known.

use std::path::Path;
use std::str::FromStr;

use crate::{Exit, Failure};
use clap::Args;
use rtl_analysis::region::Filter;

/// The region of interest as the user wrote it.
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

    /// Only this time: START..END, START.. or ..END, with ns, us, ms, s or %, negative from the end; `steady`: from the
    /// second to the last-but-one call of the kernel with the largest total; `active`: from the first to the last op of each GPU
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = Period::from_str)]
    pub time: Vec<Period>,

    /// Only work within the roctx ranges of this name
    #[arg(long, value_name = "NAME")]
    pub range: Option<String>,
}

/// A value of `--time`. Several keep the intersection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Period {
    /// The texts of the start and the end; an empty one does not limit.
    Between(String, String),
    Steady,
    Active,
}

impl FromStr for Period {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "steady" => Ok(Self::Steady),
            "active" => Ok(Self::Active),
            _ => match text.split_once("..") {
                Some((start, end)) if text != ".." => Ok(Self::Between(start.to_owned(), end.to_owned())),
                _ => Err("write START..END, such as 2s..3s, or `steady` or `active`"),
            },
        }
    }
}

impl FilterArgs {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The flag that takes some ops of a GPU away and leaves others, so that gaps between them say nothing.
    pub fn thinning_flag(&self) -> Option<&'static str> {
        match self {
            Self { kernel: Some(_), .. } => Some("--kernel"),
            Self { queue, .. } if !queue.is_empty() => Some("--queue"),
            Self { range: Some(_), .. } => Some("--range"),
            _ => None,
        }
    }

    /// Parses the values; an invalid expression, time or rank is a usage error.
    pub fn filter(&self) -> Result<Filter, Failure> {
        let ranks = self.rank.iter().map(|&rank| {
            u32::try_from(rank).map_err(|_| Failure::usage(format!("--rank: invalid rank `{rank}`")))
        });
        Ok(Filter {
            kernel: self.kernel.as_deref().map(|text| parsed("--kernel", text)).transpose()?,
            gpus: self.gpu.iter().copied().map(i64::from).collect(),
            queues: self.queue.clone(),
            ranks: ranks.collect::<Result<_, _>>()?,
            from: self.limit("starts", |start, _| start)?,
            to: self.limit("ends", |_, end| end)?,
            range: self.range.clone(),
            trim_idle: self.time.contains(&Period::Active),
            steady: self.time.contains(&Period::Steady),
        })
    }

    /// The start or the end of `--time`. There is only one of each, because the trace decides which of two is the later one.
    fn limit<T: FromStr<Err = rtl_analysis::Error>>(
        &self,
        what: &str,
        side: impl for<'a> Fn(&'a str, &'a str) -> &'a str,
    ) -> Result<Option<T>, Failure> {
        let limits = self.time.iter().filter_map(|period| match period {
            Period::Between(start, end) => Some(side(start, end)).filter(|text| !text.is_empty()),
            Period::Steady | Period::Active => None,
        });
        match limits.collect::<Vec<_>>().as_slice() {
            [] => Ok(None),
            [one] => parsed("--time", one).map(Some),
            _ => Err(Failure::usage(format!("--time {what} twice")).with_hint("give one START..END")),
        }
    }
}

/// Parses the value of a flag, whose name an error begins with.
fn parsed<T: FromStr<Err = rtl_analysis::Error>>(flag: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error: rtl_analysis::Error| {
        let hint = error.hint();
        Failure::new(Exit::Usage, error).context(flag).with_hint(hint)
    })
}

/// The failure of a filter that cannot be applied to the trace at `path`.
pub fn failure(path: &Path, error: rtl_analysis::Error) -> Failure {
    let hint = error.hint();
    Failure::input(error).context(path.display().to_string()).with_hint(hint)
}

/// Returns true if the trace has nothing of what was selected.
pub fn is_empty_selection(failure: &Failure) -> bool {
    let error = failure.error().downcast_ref::<rtl_analysis::Error>();
    error.is_some_and(rtl_analysis::Error::is_empty_selection)
}
