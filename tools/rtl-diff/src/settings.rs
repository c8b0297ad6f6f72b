//! The settings of a comparison: flags first, then `rtl-diff.toml`, then defaults.

use std::collections::BTreeMap;
use std::path::Path;

use cli::Failure;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use regex_lite::Regex;
use rtl_analysis::compare::{Noise, Rules};
use rtl_analysis::profile::{KernelKey, Warmup};
use rtl_analysis::region::{Filter, KernelPattern};
use rtl_analysis::work::WorkKey;
use rtl_schema::Select;

use crate::args::{self, Allow, Diff, Files, Reading, Thresholds};
use crate::config::{AllowTable, Config};
use crate::noise;

/// Work of fewer steps on a side shows too little to be judged.
const MIN_STEPS: u64 = 3;

#[derive(Debug)]
pub(crate) struct ReadOptions {
    pub(crate) filter: Filter,
    pub(crate) filtered: bool,
    pub(crate) select: Select,
    pub(crate) by: KernelKey,
    pub(crate) what: args::By,
    /// The work that is compared in place of kernels.
    pub(crate) work: Option<WorkKey>,
    /// True if figures are those of complete steps, where a trace has steps.
    pub(crate) complete_steps: bool,
    pub(crate) warmup: Warmup,
    /// The user's word on several files of a side.
    pub(crate) files: Option<Files>,
}

/// Kernels that may fail until a day.
#[derive(Debug, Clone)]
pub(crate) struct Allowance {
    pub(crate) pattern: Regex,
    pub(crate) expires: Date,
    pub(crate) reason: String,
}

#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) reading: ReadOptions,
    pub(crate) rules: Rules,
    pub(crate) thresholds: Thresholds,
    /// The first entry that matches a kernel counts.
    kernel_thresholds: Vec<(Regex, f64)>,
    allowed: Vec<Allowance>,
    /// Allowances whose last day is over.
    pub(crate) expired: Vec<Allowance>,
    /// Names in the baseline and in the candidate.
    pub(crate) renames: BTreeMap<String, String>,
    /// True if the baseline is many past runs, oldest first, to be searched for drift.
    pub(crate) history: bool,
    pub(crate) allow_incomparable: bool,
    pub(crate) noise: Option<Noise>,
}

impl Settings {
    pub(crate) fn new(diff: &Diff) -> Result<Self, Failure> {
        let (config, file) = Config::read(diff.gates.config.as_deref())?;
        let flags = &diff.gates;
        let defaults = if flags.gate { Thresholds::default_gates() } else { Thresholds::default() };
        let thresholds = flags.thresholds.clone().or(config.gate).or(defaults);
        let rules = Rules::default();
        let rules = Rules {
            threshold: thresholds.kernel.map_or(rules.threshold, |share| share.0),
            min_share: thresholds.min_share.map_or(rules.min_share, |share| share.0),
            min_calls: thresholds.min_calls.unwrap_or(match diff.reading.by.work() {
                Some(_) => MIN_STEPS,
                None => rules.min_calls,
            }),
            min_change_ns: thresholds.min_change.map_or(rules.min_change_ns, |time| time.0),
            seed: flags.seed.unwrap_or(rules.seed),
            ..rules
        };
        let compile = |pattern: &str| regex(pattern, file.as_deref());
        let allowances: Vec<Allowance> = (config.allow.into_iter())
            .map(|entry| allowance(entry, compile))
            .collect::<Result<_, Failure>>()?;
        let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
        let (allowed, expired) = allowances.into_iter().partition(|entry| today <= entry.expires);
        let mut reading = ReadOptions::new(&diff.reading)?;
        if flags.history.is_some() {
            // A folder of past runs has one file for each run.
            reading.files = reading.files.or(Some(Files::Runs));
        }
        Ok(Self {
            reading,
            rules,
            kernel_thresholds: (config.kernel.iter())
                .map(|kernel| Ok((compile(&kernel.pattern)?, kernel.max.0)))
                .collect::<Result<_, Failure>>()?,
            allowed,
            expired,
            renames: config.rename,
            history: flags.history.is_some(),
            allow_incomparable: diff.allows(Allow::Incomparable),
            noise: thresholds.noise.as_deref().map(noise::read).transpose()?,
            thresholds,
        })
    }

    pub(crate) fn threshold_of(&self, name: &str) -> Option<f64> {
        let mut thresholds = self.kernel_thresholds.iter();
        thresholds.find(|(pattern, _)| pattern.is_match(name)).map(|&(_, threshold)| threshold)
    }

    /// The reason and the last day, if a kernel may fail.
    pub(crate) fn allowance(&self, name: &str) -> Option<String> {
        let allowance = self.allowed.iter().find(|allowance| allowance.pattern.is_match(name))?;
        Some(format!("{} (until {})", allowance.reason, allowance.expires))
    }
}

impl ReadOptions {
    pub(crate) fn new(reading: &Reading) -> Result<Self, Failure> {
        let filter = reading.filter.filter()?;
        if let Some(KernelPattern::Key(_)) = filter.kernel {
            return Err(Failure::usage(
                "--kernel: a key is that of a kernel in one trace, and two sides are compared",
            )
            .with_hint("give the name of the kernel"));
        }
        let ranges = filter.range.is_some();
        let by = if reading.by == args::By::Launch { KernelKey::Launch } else { KernelKey::Name };
        let work = reading.by.work();
        if work.is_some() && reading.skip_warmup.is_some() {
            return Err(Failure::usage("--skip-warmup leaves out calls of kernels, and steps are compared")
                .with_hint("leave out steps by `--time` or `--range`"));
        }
        let shapes = work.is_none() && (by == KernelKey::Launch || reading.by != args::By::NameOnly);
        let is_region = ranges || filter.steady || filter.from.is_some() || filter.to.is_some();
        Ok(Self {
            filter,
            filtered: !reading.filter.is_empty(),
            select: Select {
                shapes,
                links: true,
                ranges: true,
                api: true,
                operators: matches!(work, Some(WorkKey::Operator | WorkKey::Module)),
                python: work == Some(WorkKey::Module),
                ..Select::ops()
            },
            by,
            what: reading.by,
            work,
            complete_steps: work.is_some() || !is_region,
            warmup: reading.skip_warmup.unwrap_or_default(),
            files: reading.files,
        })
    }
}

fn regex(text: &str, file: Option<&Path>) -> Result<Regex, Failure> {
    Regex::new(text).map_err(|error| {
        Failure::usage(format!("invalid regular expression `{text}`: {error}"))
            .context(file.map(|file| file.display().to_string()).unwrap_or_default())
            .with_hint("write \\\\( and \\\\[ for brackets that stand for themselves")
    })
}

fn allowance(
    AllowTable { pattern, expires, reason }: AllowTable,
    compile: impl Fn(&str) -> Result<Regex, Failure>,
) -> Result<Allowance, Failure> {
    // The crate reads other forms, too, but a settings file has one.
    let day = expires.parse::<Date>().ok().filter(|day| day.to_string() == expires).ok_or_else(|| {
        Failure::usage(format!("[[allow]] {pattern}: invalid date `{expires}`"))
            .with_hint("write expires = \"2027-01-31\"")
    })?;
    if reason.trim().is_empty() {
        return Err(Failure::usage(format!("[[allow]] {pattern}: the reason is missing"))
            .with_hint("give one, e.g. reason = \"#123: slower until the new tile is tuned\""));
    }
    Ok(Allowance { pattern: compile(&pattern)?, expires: day, reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_no_day_is_refused() {
        let parse = |expires: &str| {
            let (pattern, reason) = ("gemm".to_owned(), "#7".to_owned());
            allowance(AllowTable { pattern, expires: expires.to_owned(), reason }, |text| regex(text, None))
        };
        for text in ["2026-02-29", "2026-13-01", "2026-1-1", "tomorrow", "2026-01-01-01", "1900-02-29", ""] {
            assert!(parse(text).is_err(), "{text}");
        }
        let [earlier, later] = ["2000-02-29", "2026-12-01"].map(|day| parse(day).map(|entry| entry.expires));
        assert!(earlier.expect("a leap day") < later.expect("a day"));
    }
}
