//! The state of all recordings: the JSON of `--once --to json`, which text and screen show, too.

use rtl_analysis::live::State;
use serde::{Deserialize, Serialize};

pub const SCHEMA: &str = "rtl-top/1";

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Document {
    pub schema: String,
    /// The recordings are sorted by rank, then by path.
    pub recordings: Vec<Recording>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Recording {
    pub path: String,
    pub phase: Phase,
    pub pid: Option<i64>,
    pub rank: Option<u32>,
    pub host: Option<String>,
    pub command: Option<String>,
    /// The time from the start of the recording to the end of the last moments in ns.
    pub recorded_ns: Option<i64>,
    #[serde(flatten)]
    pub state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The process records, as far as is known.
    #[default]
    Recording,
    /// The recorder has ended properly.
    Ended,
    /// The process is gone, and its recorder has not ended properly.
    Stopped,
}

impl Phase {
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Recording => "recording",
            Self::Ended => "ended",
            Self::Stopped => "stopped: its process is gone",
        }
    }

    /// The first word of the label, for tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.label().split(':').next().unwrap_or_default()
    }
}
