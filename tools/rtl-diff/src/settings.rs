//! What the command line and `rtl-diff.toml` mean together: flags first, then the file, then defaults.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cli::{Exit, Failure};
use regex::Regex;
use rtl_analysis::compare::{Noise, Rules};
use rtl_analysis::profile::{KernelKey, Warmup};
use rtl_analysis::region::Filter;
use rtl_schema::Select;

use crate::args::{self, Diff, Files, Inconclusive, Reading};
use crate::calibrate;
use crate::config::{Config, Word};
use crate::date::Date;

/// The settings file that is read unless another is named.
const FILE: &str = "rtl-diff.toml";

/// How runs are read.
#[derive(Debug, Clone)]
pub struct Manner {
    /// Which rows count.
    pub filter: Filter,
    /// Which columns to read.
    pub select: Select,
    /// What kernels are told apart by.
    pub by: KernelKey,
    /// What of each kernel is left out.
    pub warmup: Warmup,
    /// Whether any filter is set.
    pub filtered: bool,
    /// What several files of a side are.
    pub files: Option<Files>,
}

/// What must hold: thresholds as fractions, `None` where there is no such gate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gates {
    /// Any kernel.
    pub kernel: Option<f64>,
    /// GPU time of all kernels but collectives.
    pub total: Option<f64>,
    /// Wall, added over GPUs.
    pub wall: Option<f64>,
    /// Idle part of wall, in points.
    pub idle: Option<f64>,
    /// Kernel launches.
    pub launches: Option<f64>,
    /// Share above which a new kernel fails.
    pub new: Option<f64>,
    /// Share above which a removed kernel fails.
    pub removed: Option<f64>,
}

impl Gates {
    /// What `--gate` alone switches on. Both are justified in docs/design/statistics.md.
    pub const DEFAULT: Self = Self {
        kernel: Some(0.05),
        total: Some(0.05),
        wall: None,
        idle: None,
        launches: None,
        new: None,
        removed: None,
    };

    /// Whether there is any.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// A kernel that may fail for a while.
#[derive(Debug, Clone)]
pub struct Allowance {
    /// Its name matches.
    pub pattern: Regex,
    /// The last day.
    pub expires: Date,
    /// Why.
    pub reason: String,
}

impl Allowance {
    /// Why, and until when.
    pub fn words(&self) -> String {
        format!("{} (until {})", self.reason, self.expires)
    }
}

/// Everything that was decided.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How runs are read.
    pub manner: Manner,
    /// What counts as a change of a kernel.
    pub rules: Rules,
    /// What must hold.
    pub gates: Gates,
    /// Thresholds of single kernels; the first that matches counts.
    pub thresholds: Vec<(Regex, f64)>,
    /// Kernels that may fail.
    pub allowed: Vec<Allowance>,
    /// Allowances that no longer count.
    pub expired: Vec<Allowance>,
    /// The baseline's name of a kernel, and the candidate's.
    pub renames: BTreeMap<String, String>,
    /// What to do about a gate that the data cannot decide.
    pub inconclusive: Inconclusive,
    /// Whether the baseline is many past runs, oldest first, in which drift is looked for.
    pub history: bool,
    /// What runs of one build differ by.
    pub noise: Option<Noise>,
    /// The file that settings are from.
    pub file: Option<PathBuf>,
}

impl Settings {
    /// # Errors
    /// A usage error for values that make no sense and for a settings file that cannot be read.
    pub fn of(diff: &Diff) -> Result<Self, Failure> {
        let (config, file) = read(diff.gates.config.as_deref())?;
        let typed = &diff.gates;
        let table = &config.gate;
        let defaults = if typed.gate { Gates::DEFAULT } else { Gates::default() };
        let share = |flag: Option<crate::quantity::Share>, table: Option<crate::quantity::Share>, default| {
            flag.or(table).map(|share| share.0).or(default)
        };
        let gates = Gates {
            kernel: share(typed.max_kernel, table.kernel, defaults.kernel),
            total: share(typed.max_total, table.total, defaults.total),
            wall: share(typed.max_wall, table.wall, defaults.wall),
            idle: typed.max_idle.or(table.idle).map(|points| points.0),
            launches: share(typed.max_launches, table.launches, defaults.launches),
            new: share(typed.fail_on_new, table.new, defaults.new),
            removed: share(typed.fail_on_removed, table.removed, defaults.removed),
        };
        let rules = Rules::default();
        let rules = Rules {
            threshold: gates.kernel.unwrap_or(rules.threshold),
            min_share: share(typed.min_share, table.min_share, None).unwrap_or(rules.min_share),
            min_calls: typed.min_calls.or(table.min_calls).unwrap_or(rules.min_calls),
            min_change_ns: typed
                .min_change
                .or(table.min_change.map(|time| time.0))
                .map_or(rules.min_change_ns, |time| time as f64),
            seed: typed.seed.unwrap_or(rules.seed),
            ..rules
        };
        let beside = |name: &String| match file.as_deref().and_then(Path::parent) {
            Some(folder) => folder.join(name),
            None => PathBuf::from(name),
        };
        let noise = typed.noise.clone().or_else(|| table.noise.as_ref().map(beside));
        let (allowed, expired) = allowances(&config, file.as_deref())?;
        let mut manner = Manner::of(&diff.reading)?;
        if typed.history.is_some() {
            // A folder of past runs holds one file for each.
            manner.files = manner.files.or(Some(Files::Runs));
        }
        Ok(Self {
            manner,
            rules,
            gates,
            thresholds: config
                .kernel
                .iter()
                .map(|kernel| Ok((pattern(&kernel.pattern, file.as_deref())?, kernel.max.0)))
                .collect::<Result<_, Failure>>()?,
            allowed,
            expired,
            renames: config.rename,
            history: typed.history.is_some(),
            inconclusive: typed.inconclusive.or(table.inconclusive.map(what)).unwrap_or_default(),
            noise: noise.as_deref().map(calibrate::read).transpose()?,
            file,
        })
    }

    /// The threshold of a kernel, where it has its own.
    pub fn threshold_of(&self, name: &str) -> Option<f64> {
        self.thresholds.iter().find(|(pattern, _)| pattern.is_match(name)).map(|&(_, threshold)| threshold)
    }

    /// Why a kernel may fail, if it may.
    pub fn allowance(&self, name: &str) -> Option<&Allowance> {
        self.allowed.iter().find(|allowance| allowance.pattern.is_match(name))
    }
}

impl Manner {
    /// # Errors
    /// A usage error for filters that make no sense.
    pub fn of(reading: &Reading) -> Result<Self, Failure> {
        let filter = reading.filter.filter()?;
        let ranges = filter.range.is_some();
        let by = match reading.by {
            args::By::Name => KernelKey::Name,
            args::By::Launch => KernelKey::Launch,
        };
        let links = ranges || !filter.ranks.is_empty();
        let shapes = by == KernelKey::Launch || !reading.no_mix;
        let select = Select { shapes, links, ranges, api: ranges, ..Select::ops() };
        Ok(Self {
            filter,
            select,
            by,
            warmup: reading.skip_warmup.unwrap_or_default(),
            filtered: !reading.filter.is_empty(),
            files: reading.files,
        })
    }
}

fn what(word: Word) -> Inconclusive {
    match word {
        Word::Pass => Inconclusive::Pass,
        Word::Warn => Inconclusive::Warn,
        Word::Fail => Inconclusive::Fail,
    }
}

fn read(named: Option<&Path>) -> Result<(Config, Option<PathBuf>), Failure> {
    let path = match named {
        Some(path) => path,
        None if Path::new(FILE).is_file() => Path::new(FILE),
        None => return Ok((Config::default(), None)),
    };
    let unusable = |error: anyhow::Error| {
        Failure::new(Exit::Usage, error)
            .context(path.display().to_string())
            .with_hint("docs/guide/ci.md shows a settings file with every key")
    };
    let text = std::fs::read_to_string(path).map_err(|error| unusable(error.into()))?;
    let config = toml::from_str(&text).map_err(|error| {
        let line =
            error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        unusable(anyhow::anyhow!("line {line}: {}", error.message()))
    })?;
    Ok((config, Some(path.to_owned())))
}

fn pattern(text: &str, file: Option<&Path>) -> Result<Regex, Failure> {
    Regex::new(text).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Failure::usage(format!("`{text}` is no regular expression: {reason}"))
            .context(file.map(|file| file.display().to_string()).unwrap_or_default())
            .with_hint("write \\\\( and \\\\[ for brackets that stand for themselves")
    })
}

/// The entries that count today, and those that no longer do.
fn allowances(config: &Config, file: Option<&Path>) -> Result<(Vec<Allowance>, Vec<Allowance>), Failure> {
    let today = Date::today();
    let entries = config.allow.iter().map(|entry| {
        let expires = Date::parse(&entry.expires).ok_or_else(|| {
            Failure::usage(format!("[[allow]] {}: `{}` is no day", entry.pattern, entry.expires))
                .with_hint("write expires = \"2027-01-31\"")
        })?;
        if entry.reason.trim().is_empty() {
            return Err(Failure::usage(format!("[[allow]] {} has no reason", entry.pattern))
                .with_hint("say why, e.g. reason = \"#123: slower until the new tile is tuned\""));
        }
        Ok(Allowance { pattern: pattern(&entry.pattern, file)?, expires, reason: entry.reason.clone() })
    });
    let entries = entries.collect::<Result<Vec<_>, Failure>>()?;
    Ok(entries.into_iter().partition(|entry| today <= entry.expires))
}
