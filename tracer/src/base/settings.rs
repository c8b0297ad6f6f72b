//! The settings from the environment, read once when the library is loaded.

use std::ffi::OsString;

use crate::base::filter::Filter;
use crate::base::variables;

/// Selects the dispatches that are recorded (docs/guide/modes.md), with rocm-trace-lite's meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Leaves out kernels with a completion signal.
    Lite,
    #[default]
    Standard,
    /// Records as `Standard`, and also the calls of HIP.
    Hip,
    Full,
}

impl Mode {
    /// The spelling in RTL_MODE and in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lite => "lite",
            Self::Standard => "standard",
            Self::Hip => "hip",
            Self::Full => "full",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "default" { "standard" } else { name };
        [Self::Lite, Self::Standard, Self::Hip, Self::Full].into_iter().find(|mode| mode.name() == name)
    }
}

/// Selects how much of the process the file describes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metadata {
    #[default]
    All,
    /// Leaves out the command line, which may hold private data.
    Minimal,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// RTL_MODE.
    pub mode: Mode,
    /// RTL_DEBUG: 0 for warnings, 1 also for events, 2 also for packets.
    pub debug: u8,
    /// RTL_OUTPUT, else RPD_LITE_OUTPUT: the pattern of the file's name, unexpanded.
    pub output: Option<OsString>,
    /// RTL_MAX_SIZE: the largest size of the file in bytes.
    pub max_size: Option<u64>,
    /// RTL_BUFFER: the memory of dispatches on their way to the file, in bytes.
    pub buffer: Option<u64>,
    /// RTL_METADATA.
    pub metadata: Metadata,
    /// RTL_START: nothing is recorded until the program or a request resumes.
    pub is_stopped: bool,
    /// RTL_COPY=0: copies are not recorded.
    pub no_copies: bool,
    /// Set where the program that receives the records does not want kernels.
    pub no_kernels: bool,
    /// RTL_BARRIER=1: barriers are recorded.
    pub barriers: bool,
    /// RTL_HSA_HOST_DISPATCH=1: the time at which each op was enqueued is recorded.
    pub host_dispatch: bool,
    /// RTL_HSA_API_FILTER and RTL_HSA_API_FILTER_OUT: selects calls of HSA.
    pub hsa_filter: Filter,
    /// RTL_HSA_ARGS=1: calls of HSA are recorded with their arguments.
    pub hsa_arguments: bool,
    /// RTL_HIP_API_FILTER and RTL_HIP_API_FILTER_OUT: selects calls of HIP.
    pub hip_filter: Filter,
    /// RTL_HIP_ARGS=1: calls of HIP are recorded with their arguments.
    pub hip_arguments: bool,
}

impl Settings {
    /// Reads the environment of this process. Each value that makes no sense adds one line to `complaints` and counts as not set.
    pub fn read(complaints: &mut Vec<String>) -> Self {
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        complaints.extend(names.filter_map(|name| variables::misspelt(&name)));
        Self::from(|name| std::env::var_os(name), complaints)
    }

    /// Reads settings from variables that `variable` looks up, so that tests need no environment.
    pub fn from(variable: impl Fn(&str) -> Option<OsString>, complaints: &mut Vec<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let list = |name| set(name).map(|value| value.to_string_lossy().into_owned()).unwrap_or_default();
        let filter = |wanted, unwanted| Filter { wanted: list(wanted), unwanted: list(unwanted) };
        let mut read = Reader { set: &set, complaints };
        let modes = "not lite, standard, hip or full; recording in mode standard";
        let sizes = "not a size such as 500M or 2G; the file is not limited";
        let buffers = "not a size such as 64M or 1G; using 256M";
        let kinds = |value: &str| word(value, [("all", Metadata::All), ("minimal", Metadata::Minimal)]);
        let starts = |value: &str| word(value, [("running", false), ("stopped", true)]);
        let start = "not running or stopped; recording from the start";
        let submissions = "not 0 or 1; recording no times of submission";
        let arguments = "not 0 or 1; recording no arguments";
        Self {
            output: set("RTL_OUTPUT").or_else(|| set("RPD_LITE_OUTPUT")),
            mode: read.value("RTL_MODE", Mode::named, modes).unwrap_or_default(),
            debug: read
                .value("RTL_DEBUG", |value| value.parse().ok(), "not 0, 1 or 2; staying silent")
                .unwrap_or_default(),
            max_size: read.value("RTL_MAX_SIZE", size, sizes),
            buffer: read.value("RTL_BUFFER", size, buffers),
            metadata: read
                .value("RTL_METADATA", kinds, "not all or minimal; recording all")
                .unwrap_or_default(),
            is_stopped: read.value("RTL_START", starts, start).unwrap_or_default(),
            no_copies: read.value("RTL_COPY", switch, "not 0 or 1; recording copies") == Some(false),
            barriers: read.value("RTL_BARRIER", switch, "not 0 or 1; recording no barriers") == Some(true),
            hsa_arguments: read.value("RTL_HSA_ARGS", switch, arguments) == Some(true),
            host_dispatch: read.value("RTL_HSA_HOST_DISPATCH", switch, submissions) == Some(true),
            hip_arguments: read.value("RTL_HIP_ARGS", switch, arguments) == Some(true),
            hsa_filter: filter("RTL_HSA_API_FILTER", "RTL_HSA_API_FILTER_OUT"),
            hip_filter: filter("RTL_HIP_API_FILTER", "RTL_HIP_API_FILTER_OUT"),
            no_kernels: false,
        }
    }
}

struct Reader<'a, F> {
    set: F,
    complaints: &'a mut Vec<String>,
}

impl<F: Fn(&str) -> Option<OsString>> Reader<'_, F> {
    /// Parses a variable, or adds a complaint that names the `expected` values.
    fn value<T>(&mut self, name: &str, parse: impl Fn(&str) -> Option<T>, expected: &str) -> Option<T> {
        let value = (self.set)(name)?;
        let parsed = value.to_str().and_then(parse);
        if parsed.is_none() {
            self.complaints.push(format!("{name}={}: {expected}", value.to_string_lossy()));
        }
        parsed
    }
}

fn word<T, const N: usize>(value: &str, known: [(&str, T); N]) -> Option<T> {
    known.into_iter().find(|(word, _)| *word == value).map(|(_, meaning)| meaning)
}

/// RTG decides by the first letter, too: a digit, or a word for yes or no.
fn switch(value: &str) -> Option<bool> {
    match value.as_bytes().first()?.to_ascii_lowercase() {
        b'1'..=b'9' | b't' | b'y' => Some(true),
        b'0' | b'f' | b'n' => Some(false),
        _ => None,
    }
}

/// Parses bytes with an optional suffix K, M, G or T (powers of 1024).
fn size(value: &str) -> Option<u64> {
    let digits = value.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match value[digits.len()..].to_ascii_uppercase().trim_end_matches("IB").trim_end_matches('B')
    {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    let count: u64 = digits.parse().ok()?;
    count.checked_mul(1 << shift).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(environment: &[(&str, &str)]) -> (Settings, Vec<String>) {
        let mut complaints = Vec::new();
        let find = |name: &str| {
            let found = environment.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        (Settings::from(find, &mut complaints), complaints)
    }

    #[test]
    fn nothing_set_is_standard_and_silent() {
        assert_eq!(read(&[]), (Settings::default(), Vec::new()));
        assert_eq!(read(&[("RTL_MODE", ""), ("RTL_DEBUG", "")]).0, Settings::default());
    }

    #[test]
    fn every_value_that_rocm_trace_lite_knows_is_known() {
        for (value, mode) in [
            ("lite", Mode::Lite),
            ("standard", Mode::Standard),
            ("default", Mode::Standard),
            ("hip", Mode::Hip),
            ("full", Mode::Full),
        ] {
            let (settings, complaints) = read(&[("RTL_MODE", value)]);
            assert_eq!((settings.mode, complaints.len()), (mode, 0));
        }
    }

    #[test]
    fn the_older_name_of_the_output_counts_where_the_newer_is_not_set() {
        assert_eq!(read(&[("RPD_LITE_OUTPUT", "old")]).0.output, Some("old".into()));
        assert_eq!(read(&[("RPD_LITE_OUTPUT", "old"), ("RTL_OUTPUT", "new")]).0.output, Some("new".into()));
    }

    #[test]
    fn a_recording_starts_stopped_only_where_that_is_asked_for() {
        assert!(!read(&[]).0.is_stopped && !read(&[("RTL_START", "running")]).0.is_stopped);
        assert!(read(&[("RTL_START", "stopped")]).0.is_stopped);
    }

    #[test]
    fn sizes_have_suffixes() {
        for (text, bytes) in
            [("4096", 4096), ("3k", 3 << 10), ("500M", 500 << 20), ("2GiB", 2 << 30), ("1TB", 1 << 40)]
        {
            assert_eq!(read(&[("RTL_MAX_SIZE", text)]).0.max_size, Some(bytes), "{text}");
            assert_eq!(read(&[("RTL_BUFFER", text)]).0.buffer, Some(bytes), "{text}");
        }
    }

    #[test]
    fn copies_are_recorded_and_barriers_are_not_unless_it_is_asked_for() {
        let copies_and_barriers = |environment: &[(&str, &str)]| {
            let settings = read(environment).0;
            (!settings.no_copies, settings.barriers)
        };
        assert_eq!(copies_and_barriers(&[]), (true, false));
        assert_eq!(copies_and_barriers(&[("RTL_COPY", "1"), ("RTL_BARRIER", "0")]), (true, false));
        assert_eq!(copies_and_barriers(&[("RTL_COPY", "0"), ("RTL_BARRIER", "1")]), (false, true));
    }

    #[test]
    fn switches_are_read_as_rtg_reads_them() {
        let is_on = |value| read(&[("RTL_HIP_ARGS", value)]).0.hip_arguments;
        assert!(["1", "2", "true", "True", "t", "yes", "Y"].into_iter().all(is_on));
        assert!(!["0", "false", "F", "no", "N", ""].into_iter().any(is_on));
        // RTG takes this for no.
        assert_eq!(read(&[("RTL_HIP_ARGS", "on")]).1.len(), 1);
    }

    #[test]
    fn a_value_that_makes_no_sense_is_one_line_and_counts_as_not_set() {
        let nonsense = [
            ("RTL_MODE", "fast"),
            ("RTL_DEBUG", "yes"),
            ("RTL_MAX_SIZE", "99999999999999999999G"),
            ("RTL_BUFFER", "much"),
            ("RTL_METADATA", "none"),
            ("RTL_START", "later"),
            ("RTL_COPY", "off"),
            ("RTL_BARRIER", "-1"),
            ("RTL_HSA_HOST_DISPATCH", "on"),
            ("RTL_HSA_ARGS", "all"),
            ("RTL_HIP_ARGS", "?"),
        ];
        let (settings, complaints) = read(&nonsense);
        assert_eq!(settings, Settings::default());
        assert_eq!(complaints.len(), 11);
        assert_eq!(
            complaints[0],
            "RTL_MODE=fast: not lite, standard, hip or full; recording in mode standard"
        );
        for size in ["0", "G", "-1", "1X", "1.5G"] {
            assert_eq!(read(&[("RTL_MAX_SIZE", size)]).0.max_size, None, "{size}");
        }
    }
}
