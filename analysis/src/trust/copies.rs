//! Calls that copy memory in a trace without any copy.

use super::evidence;
use super::launched::Launched;
use super::reason::Reason;

/// Part of the name of the kernels by which the runtime of ROCm copies instead of copy engines.
const BY_KERNEL: &str = "copyBuffer";

pub(super) fn reason(launched: &Launched<'_>) -> Option<Reason> {
    let tables = launched.tables;
    let calls = &launched.copies;
    let count = calls.len() as u64;
    if count == 0 || !tables.copies.is_empty() || tables.dispatches.is_empty() {
        return None;
    }
    // A call whose op is a kernel has copied by it.
    let without: Vec<u32> = calls.iter().copied().filter(|&row| launched.ops[row as usize] == 0).collect();
    let by_kernel = tables.strings.iter().any(|(_, text)| text.contains(BY_KERNEL));
    let first = without.first().map(|&row| tables.strings.get(tables.api_calls.name[row as usize]))?;
    let sentence = match without.len() {
        1 => format!("a call copies memory ({first}), and no copy was recorded"),
        many => format!("{many} calls copy memory ({first} first), and no copy was recorded"),
    };
    let evidence = evidence::calls(tables, without.iter().copied());
    let reason = Reason::new("copies-missing", without.len() as u64, count, sentence);
    (!by_kernel).then_some(Reason { evidence, ..reason })
}
