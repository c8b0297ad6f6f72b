//! The shape of `rtl-diff.toml`. What is missing there is decided by flags or defaults.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::quantity::{Points, Share, parse_time};

/// The whole file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Gates and floors.
    #[serde(default)]
    pub gate: GateTable,
    /// Thresholds of single kernels; the first that matches counts.
    #[serde(default)]
    pub kernel: Vec<KernelTable>,
    /// What may fail for a while.
    #[serde(default)]
    pub allow: Vec<AllowTable>,
    /// The baseline's name of a kernel, and the candidate's.
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
}

/// `[gate]`: as the flags of the same names.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GateTable {
    /// Any kernel.
    pub kernel: Option<Share>,
    /// GPU time of all kernels.
    pub total: Option<Share>,
    /// First start to last end.
    pub wall: Option<Share>,
    /// Idle part of wall.
    pub idle: Option<Points>,
    /// Kernel launches.
    pub launches: Option<Share>,
    /// New kernels above this share.
    pub new: Option<Share>,
    /// Removed kernels above this share.
    pub removed: Option<Share>,
    /// Least share that counts.
    pub min_share: Option<Share>,
    /// Least number of calls that counts.
    pub min_calls: Option<u64>,
    /// Least change of a call that counts, with its unit.
    pub min_change: Option<Time>,
    /// `pass`, `warn` or `fail`.
    pub inconclusive: Option<Word>,
    /// What `rtl-diff calibrate` wrote; relative to the settings file.
    pub noise: Option<String>,
}

/// A duration with its unit, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time(pub i64);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_time(&String::deserialize(deserializer)?).map(Self).map_err(serde::de::Error::custom)
    }
}

/// What to do about a gate that the data cannot decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// Nothing.
    Pass,
    /// Say so.
    Warn,
    /// Exit 4.
    Fail,
}

/// `[[kernel]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelTable {
    /// A regular expression, searched in the name.
    #[serde(rename = "match")]
    pub pattern: String,
    /// What it may be slower by.
    pub max: Share,
}

/// `[[allow]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowTable {
    /// A regular expression, searched in the name.
    #[serde(rename = "match")]
    pub pattern: String,
    /// The last day on which it counts, `2027-01-31`.
    pub expires: String,
    /// Why.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_file_is_read() {
        let config: Config = toml::from_str(
            r##"
            [gate]
            kernel = "5%"
            idle = "2pp"
            min-change = "200ns"
            inconclusive = "fail"
            [[kernel]]
            match = "Cijk_.*"
            max = "8%"
            [[allow]]
            match = "my_new_kernel"
            expires = "2027-01-31"
            reason = "#123"
            [rename]
            "old" = "new"
            "##,
        )
        .expect("all keys are known");
        assert_eq!((config.gate.kernel, config.gate.idle), (Some(Share(0.05)), Some(Points(0.02))));
        assert_eq!((config.gate.min_change, config.gate.inconclusive), (Some(Time(200)), Some(Word::Fail)));
        assert_eq!((config.kernel[0].max, config.allow[0].reason.as_str()), (Share(0.08), "#123"));
        assert_eq!(config.rename["old"], "new");
    }

    #[test]
    fn a_misspelt_key_is_told() {
        assert!(toml::from_str::<Config>("[gates]\nkernel = \"5%\"").is_err());
        assert!(toml::from_str::<Config>("[gate]\nkernel = 5").is_err());
    }
}
