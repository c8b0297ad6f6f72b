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
    let evidence = evidence::calls(tables, launches.clone().copied());
    Some(Reason { evidence, ..of_launches(launches.count() as u64) })
}

/// The reason for a host that made this number of launches. Without any the program may have left the GPUs alone.
pub(super) fn of_launches(count: u64) -> Reason {
    let (trust, sentence) = match count {
        0 => (Trust::Limited, "no GPU events".to_owned()),
        _ => (Trust::Bad, format!("no GPU events, though the host made {count} launches")),
    };
    Reason { trust, ..Reason::new("no-gpu-events", count, count, sentence) }
}
