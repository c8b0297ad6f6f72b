//! The filters of a region.

use super::bound::Bound;
use super::kernel_pattern::KernelPattern;

/// The rows to keep; the default keeps everything and costs nothing.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Dispatches of these kernels and no other op; calls and ranges stay.
    pub kernel: Option<KernelPattern>,
    /// Ops of GPUs with one of these numbers; empty keeps all.
    pub gpus: Vec<i64>,
    /// Ops of queues with one of these numbers; empty keeps all.
    pub queues: Vec<i64>,
    /// Rows of processes with one of these ranks; empty keeps all.
    pub ranks: Vec<u32>,
    /// Rows that start at this moment or later.
    pub from: Option<Bound>,
    /// Rows that start before this moment.
    pub to: Option<Bound>,
    /// Rows inside ranges of this name.
    pub range: Option<String>,
    /// From the first start to the last end of an op: calls and ranges outside go.
    pub trim_idle: bool,
    /// On each GPU, from the start of the second to the end of the last-but-one call of its main kernel.
    pub steady: bool,
}

impl Filter {
    pub(super) fn describe(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(pattern) = &self.kernel {
            words.push(format!("kernel {pattern}"));
        }
        let mut list = |word: &str, values: Vec<String>| {
            if !values.is_empty() {
                words.push(format!("{word} {}", values.join(", ")));
            }
        };
        list("GPU", self.gpus.iter().map(i64::to_string).collect());
        list("queue", self.queues.iter().map(i64::to_string).collect());
        list("rank", self.ranks.iter().map(u32::to_string).collect());
        for (word, bound) in [("from", self.from), ("to", self.to)] {
            match bound {
                Some(Bound::FromStart(offset)) => words.push(format!("{word} {offset} ns")),
                Some(Bound::FromEnd(offset)) => words.push(format!("{word} {offset} ns before the end")),
                Some(Bound::Share(share)) => words.push(format!("{word} {} %", share * 100.0)),
                None => {}
            }
        }
        if let Some(name) = &self.range {
            words.push(format!("range {name}"));
        }
        for (is_set, word) in [(self.steady, "steady"), (self.trim_idle, "idle time trimmed")] {
            if is_set {
                words.push(word.to_owned());
            }
        }
        words
    }
}
