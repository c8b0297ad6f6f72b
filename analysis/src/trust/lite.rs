//! A mode of recording that leaves kernels out.

use rtl_schema::Tables;

use super::reason::Reason;
use crate::overview;

pub(super) fn reason(tables: &Tables) -> Option<Reason> {
    Some(Reason::new("lite-mode", 1, 0, overview::lite_note(&tables.info)?.to_owned()))
}
