//! A trace without any op.

use rtl_schema::Tables;

use super::evidence;
use super::launched::Launched;
use super::reason::{Reason, Trust};

pub(super) fn reason(tables: &Tables, launched: &Launched<'_>) -> Option<Reason> {
    if !tables.dispatches.is_empty() || !tables.copies.is_empty() {
        return None;
    }
    let launches = launched.kernels.iter().chain(&launched.graphs).chain(&launched.captured);
    let count = launches.clone().count() as u64;
    // Without a launch the program may have left the GPUs alone.
    let (trust, sentence) = match count {
        0 => (Trust::Limited, "no GPU events".to_owned()),
        _ => (Trust::Bad, format!("no GPU events, though the host made {count} launches")),
    };
    let evidence = evidence::calls(tables, launches.copied());
    Some(Reason { trust, evidence, ..Reason::new("no-gpu-events", count, count, sentence) })
}
