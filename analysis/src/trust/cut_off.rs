//! A file without the end of the work.

use rtl_schema::Tables;

use super::reason::Reason;

pub(super) fn reason(tables: &Tables) -> Option<Reason> {
    Some(Reason::new("cut-off", 1, 0, tables.info.cut_off()?.to_owned()))
}
