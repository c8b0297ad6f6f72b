//! Texts of SQL that a query of traces may not have, because DuckDB's settings alone do not forbid what they do.

/// Functions that write files or print, whatever the settings forbid, and those that execute the text of a file or of a value.
const REFUSED: [&str; 5] = [
    "enable_logging",
    "enable_profiling",
    "enable_peg_parser",
    "import_database",
    "json_execute_serialized_sql",
];

/// Refuses a text that could call a function of [`REFUSED`], or `query()` with a text that is not there to be seen. DuckDB knows
/// no other spelling of a name than its letters, so that none is missed; a string may have them as well.
pub(crate) fn refuse_functions(text: &str) -> duckdb::Result<()> {
    let text = text.to_ascii_lowercase();
    let refused = REFUSED.iter().find(|name| text.contains(**name));
    let refused = refused.or_else(|| has_computed_query(&text).then_some(&"query"));
    refused.map_or(Ok(()), |name| {
        Err(duckdb::Error::Query(format!("Permission Error: {name}() is not available in a query of traces")))
    })
}

/// Returns true if a text of small letters may call `query()` with anything but a string without quotes.
fn has_computed_query(text: &str) -> bool {
    const NAME: &str = "query";
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    // DuckDB reads some spaces of Unicode as blanks, U+00A0 and U+FEFF among them.
    let is_blank =
        |character: char| character.is_whitespace() || !character.is_ascii() && !is_name(character);
    text.match_indices(NAME).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + NAME.len()..]);
        // A word that begins with a digit ends with its number.
        let word = before.rsplit(|character| !is_name(character)).next().unwrap_or_default();
        let is_longer = word.starts_with(|first: char| !first.is_ascii_digit());
        if is_longer || after.starts_with(is_name) {
            return false;
        }
        let after = after.trim_start_matches('"').trim_start_matches(is_blank);
        let is_called = ["(", "--", "/*"].iter().any(|next| after.starts_with(next));
        // In a string, such as the name of a kernel, unless something else has a quote in it.
        let is_plain = !["--", "/*", "$", "\\", "\""].iter().any(|other| before.contains(other));
        let is_in_string = is_plain && before.matches('\'').count() % 2 == 1;
        let string = after.strip_prefix('(').and_then(|after| after.trim_start().strip_prefix('\''));
        let string = string.and_then(|string| string.split_once('\''));
        let string = string.filter(|(_, after)| after.trim_start().starts_with(')'));
        is_called && !is_in_string && string.is_none_or(|(string, _)| has_computed_query(string))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_query_is_a_string_that_can_be_seen() {
        for text in [
            "select 1 from ops where name = 'query(int*)'",
            "with query as (select 1) select * from query",
            "select count(*) from query('from dispatches') where name = 'a'",
            "select 'it''s' as \"query\", my_query(1), a2query(1), query_table('ops')",
        ] {
            assert!(!has_computed_query(text), "{text}");
        }
        for text in [
            "from query('from ' || 'ops')",
            "from query('from '\n'ops')",
            "from query('from query(''from ops'')')",
            "from query('from query(chr(65))')",
            "from query(e'from ops')",
            "from query($text)",
            "from system.main.\"query\" (('x'))",
            "from query/**/('x')",
            "from query--\n('x')",
            "select '' from query(x)",
            "/*'*/ from query(x) --'",
            "select $$'$$ from query(x)",
            "select e'\\'' from query(x)",
            "select \"'\" from query(x)",
            "from query\u{a0}('from ' || 'ops')",
            "from 2query('from ' || 'ops')",
            "from\u{3000}query('from ' || 'ops')",
            "from query\u{feff}\u{2060} ('from ' || 'ops')",
        ] {
            assert!(has_computed_query(text), "{text}");
        }
    }
}
