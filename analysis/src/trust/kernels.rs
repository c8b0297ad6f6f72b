//! Launches of kernels without a kernel, and GPUs without kernels.

use super::evidence;
use super::launched::Launched;
use super::reason::{Reason, Trust};
use crate::Analysis;
use crate::gpu_time::sweep::Gpu;

/// Only in a trace that ties some launch to its kernel, or has no kernel: else it ties none.
pub(super) fn reason(launched: &Launched<'_>) -> Option<Reason> {
    let is_bare = |row: &&u32| launched.ops[**row as usize] == 0 && !launched.is_in_flight(**row);
    let bare = launched.kernels.iter().filter(is_bare);
    let (count, of) = (bare.clone().count() as u64, launched.kernels.len() as u64);
    if count == 0 || launched.tied == 0 || (count == of && !launched.tables.dispatches.is_empty()) {
        return None;
    }
    let sentence = format!("{count} of {of} kernel launches have no kernel on a GPU");
    let evidence = evidence::calls(launched.tables, bare.copied());
    Some(Reason { evidence, ..Reason::missing("kernels-missing", count, of, sentence) })
}

/// GPUs with copies beside others with kernels: their kernels were probably not recorded.
pub(super) fn of_gpus(analysis: &Analysis<'_>) -> Option<Reason> {
    let gpus = &analysis.sweep().gpus;
    let has_kernels = |gpu: &&Gpu| gpu.with_kernels_ns() > 0;
    let bare: Vec<&Gpu> = gpus.iter().filter(|gpu| !has_kernels(gpu)).collect();
    let first = bare.first().filter(|_| bare.len() < gpus.len())?;
    let sentence = match bare.len() {
        1 => format!(
            "{} has copies and no kernel, which others have: its kernels were probably not recorded",
            first.label
        ),
        many => format!(
            "{many} GPUs ({} first) have copies and no kernel, which others have: their kernels were probably not recorded",
            first.label
        ),
    };
    let reason = Reason::new("gpu-without-kernels", bare.len() as u64, gpus.len() as u64, sentence);
    // A few copies between GPUs are ordinary.
    let longest = gpus.iter().map(|gpu| gpu.wall_ns).max().unwrap_or(0);
    let is_long = bare.iter().any(|gpu| gpu.wall_ns * 2 >= longest);
    Some(Reason { trust: if is_long { Trust::Limited } else { Trust::Good }, ..reason })
}
