//! Completion of tables, columns, keywords and commands.

use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper, Result};

const KEYWORDS: [&str; 26] = [
    "select",
    "from",
    "where",
    "group by",
    "order by",
    "limit",
    "having",
    "join",
    "left join",
    "using",
    "with",
    "as",
    "distinct",
    "count(*)",
    "sum(",
    "avg(",
    "min(",
    "max(",
    "median(",
    "quantile_cont(",
    "between",
    "like",
    "desc",
    "union all",
    "over (",
    "partition by",
];

/// Completes words and finds the end of a statement, for the line editor.
#[derive(Debug)]
pub(super) struct Assistant {
    /// Sorted.
    words: Vec<String>,
}

impl Assistant {
    pub(super) fn new(commands: &[&str]) -> Self {
        let names = tables::all().iter().flat_map(|table| {
            std::iter::once(table.name).chain(table.columns.iter().map(|column| column.name))
        });
        let words = names.chain(KEYWORDS).chain(commands.iter().copied());
        let mut words: Vec<String> = words.map(str::to_owned).collect();
        words.sort_unstable();
        words.dedup();
        Self { words }
    }

    /// Where the last word begins, and the words that continue it.
    fn continuations(&self, text: &str) -> (usize, Vec<String>) {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let mut start = text.trim_end_matches(is_part).len();
        // A command has its dot, a column behind the alias of a table has not.
        if text[..start].trim() == "." {
            start = text.find('.').unwrap_or(start);
        }
        let word = text[start..].to_lowercase();
        let continues = |other: &&String| !word.is_empty() && other.starts_with(&word);
        (start, self.words.iter().filter(continues).cloned().collect())
    }
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(&self, line: &str, place: usize, _: &Context<'_>) -> Result<(usize, Vec<String>)> {
        Ok(self.continuations(&line[..place]))
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        Ok(if is_complete(context.input()) {
            ValidationResult::Valid(None)
        } else {
            ValidationResult::Incomplete
        })
    }
}

impl Hinter for Assistant {
    type Hint = String;
}

impl Highlighter for Assistant {}

impl Helper for Assistant {}

/// True for a text that can be executed: a command, or statements that end with a semicolon.
fn is_complete(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.starts_with('.') || text.ends_with(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_columns_and_commands_are_completed() {
        let assistant = Assistant::new(&[".tables", ".schema"]);
        let words = |text| assistant.continuations(text);
        assert_eq!(words("select * from dispa"), (14, vec!["dispatches".to_owned()]));
        assert_eq!(words("select d.launch_l"), (9, vec!["launch_latency".to_owned()]));
        assert_eq!(words(".sch"), (0, vec![".schema".to_owned()]));
        assert_eq!(words("SELECT DISPL").1, ["display_name"]);
        assert_eq!(words("select ").1, [""; 0]);
    }

    #[test]
    fn a_statement_ends_with_a_semicolon() {
        assert!(is_complete("select 1;") && is_complete(".tables") && is_complete(" "));
        assert!(!is_complete("select 1"));
    }
}
