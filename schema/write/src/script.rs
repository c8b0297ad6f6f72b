//! The statements of the scripts in `sql/`.

/// The names of the tables of a script and the statements that create them, in its order.
pub(crate) fn tables_of(script: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    created(script, "CREATE TABLE ")
}

/// The names of the views of a script and the statements that create them, in its order.
pub(crate) fn views_of(script: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    created(script, "CREATE VIEW ")
}

fn created(script: &'static str, head: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    script.match_indices(head).filter_map(|(start, head)| {
        let sql = script[start..].split(";\n").next()?;
        Some((sql[head.len()..].split([' ', '{']).next()?, sql))
    })
}
