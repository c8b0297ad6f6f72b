//! Any text of SQL and any condition, against a reading of them by other rules. The fuzz target `sql` of `tests/fuzz/` uses this
//! file, too.

use dataset::Bucket;
use duckdb::Parameter;
use serde_json::{Value, json};
use support::choices::Choices;

use crate::failure::from_duckdb;
use crate::needed::Needed;
use crate::refused::refuse_functions;

/// Checks a text as a statement, as the parse of one, and as a message of DuckDB; returns true if it was refused.
pub(crate) fn assert_text(text: &str) -> bool {
    let is_refused = refuse_functions(text).is_err();
    assert!(is_refused || !calls_computed_query(&tokens(text)), "{text:?} computes the text of query()");
    let needed = Needed::parse(text, &[], &has_column);
    assert!(serde_json::from_str::<Value>(text).is_ok() || needed.has("any", "run"), "{text:?} is no parse");
    let message = from_duckdb(duckdb::Error::Query(text.to_owned())).message();
    assert!(!message.contains('\n'), "{message:?}");
    is_refused
}

/// A token of DuckDB's grammar, as far as calls need it.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    /// A string without an escape, a quote in it or another string behind it.
    Plain(String),
    Other(char),
}

/// DuckDB replaces these by blanks before it reads a text, unless they are quoted.
fn is_blank(letter: char) -> bool {
    matches!(
        letter,
        ' ' | '\t' | '\n' | '\r' | '\x0c' | '\u{a0}' | '\u{2000}'
            ..='\u{200b}' | '\u{202f}' | '\u{205f}' | '\u{2060}' | '\u{3000}' | '\u{feff}'
    )
}

fn tokens(text: &str) -> Vec<Token> {
    let letters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    let find = |from: usize, end: &[char]| {
        (from..letters.len()).find(|&at| letters[at..].starts_with(end)).unwrap_or(letters.len())
    };
    while at < letters.len() {
        let rest = &letters[at..];
        let is_name = |letter: &char| {
            letter.is_ascii_alphanumeric() || *letter == '_' || !letter.is_ascii() && !is_blank(*letter)
        };
        match rest[0] {
            letter if is_blank(letter) => at += 1,
            '-' if rest.starts_with(&['-', '-']) => {
                at += rest.iter().take_while(|letter| !matches!(letter, '\n' | '\r')).count();
            }
            '/' if rest.starts_with(&['/', '*']) => {
                let mut depth = 0;
                loop {
                    let here = letters.get(at..).unwrap_or_default();
                    match here {
                        ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
                        ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
                        [] => break,
                        _ => at += 1,
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            quote @ ('\'' | '"') => {
                let has_escapes = quote == '\''
                    && matches!(tokens.last(), Some(Token::Name(name)) if name == "e")
                    && { at > 0 && matches!(letters[at - 1], 'e' | 'E') };
                let mut content = String::new();
                at += 1;
                loop {
                    match letters.get(at..).unwrap_or_default() {
                        ['\\', _, ..] if has_escapes => at += 2,
                        [one, other, ..] if *one == quote && *other == quote => {
                            content.push(quote);
                            at += 2;
                        }
                        [one, ..] if *one == quote => break,
                        [one, ..] => {
                            content.push(*one);
                            at += 1;
                        }
                        // DuckDB refuses a text that ends within quotes.
                        [] => return Vec::new(),
                    }
                }
                at += 1;
                let is_plain = !has_escapes && !content.contains('\'');
                tokens.push(match (quote, is_plain) {
                    ('"', _) => Token::Name(content.to_ascii_lowercase()),
                    (_, true) => Token::Plain(content),
                    (..) => Token::Other('\''),
                });
            }
            '$' => {
                let tag = rest[1..].iter().take_while(|letter| is_name(letter)).count();
                let is_quote =
                    rest.get(1 + tag) == Some(&'$') && !rest.get(1).is_some_and(char::is_ascii_digit);
                at = if is_quote {
                    let fence = &rest[..tag + 2];
                    find(at + tag + 2, fence) + fence.len()
                } else {
                    at + 1 + tag
                };
                tokens.push(Token::Other('$'));
            }
            letter if is_name(&letter) && !letter.is_ascii_digit() => {
                let length = rest.iter().take_while(|letter| is_name(letter) || **letter == '$').count();
                tokens.push(Token::Name(rest[..length].iter().collect::<String>().to_ascii_lowercase()));
                at += length;
            }
            letter => {
                tokens.push(Token::Other(letter));
                at += 1;
            }
        }
    }
    tokens
}

/// True if `query` is called with anything but a string that has no quotes and calls it no such way either.
fn calls_computed_query(tokens: &[Token]) -> bool {
    let is_query = |token: &Token| *token == Token::Name("query".to_owned());
    (0..tokens.len()).any(|at| match &tokens[at..] {
        [name, Token::Other('('), Token::Plain(text), Token::Other(')'), ..] if is_query(name) => {
            calls_computed_query(&self::tokens(text))
        }
        [name, Token::Other('('), ..] => is_query(name),
        _ => false,
    })
}

fn has_column(table: &str, column: &str) -> bool {
    match table {
        "dispatches" => ["job", "run", "rank"].contains(&column),
        "agents" => ["job", "run"].contains(&column),
        _ => false,
    }
}

const JOBS: [&str; 3] = ["a", "b", "x%41"];
const RUNS: [&str; 3] = ["1", "2", ""];
const RANKS: [Option<i64>; 6] = [None, Some(0), Some(1), Some(3), Some(4), Some(i64::MAX / 2)];

/// The values that `$text`, `$number` and `$null` have.
fn parameters() -> [(String, Parameter); 3] {
    let [text, number, null] = ["text", "number", "null"].map(str::to_owned);
    [(text, Parameter::Text("a".to_owned())), (number, Parameter::Integer(3)), (null, Parameter::Null)]
}

/// A row of a table, as far as runs and ranks are chosen by it.
struct Row {
    job: &'static str,
    run: &'static str,
    rank: Option<i64>,
}

/// False, true or unknown: the value of a condition for a row.
type Truth = Option<bool>;

type Condition = Box<dyn Fn(&Row) -> Truth>;

/// A value of a row or a constant.
#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Text(String),
    Number(i64),
    Null,
}

type Get = Box<dyn Fn(&Row) -> Operand>;

fn operand(choices: &mut Choices<'_>) -> (Value, Get) {
    let constant = |id: &str, value: Value| json!({"class": "CONSTANT", "type": "VALUE_CONSTANT", "value": {"type": {"id": id}, "is_null": false, "value": value}});
    let parameter = |name: &str| json!({"class": "PARAMETER", "type": "VALUE_PARAMETER", "identifier": name});
    match choices.below(8) {
        0..=3 => {
            let (name, get): (_, fn(&Row) -> Operand) = match choices.below(4) {
                0 => ("job", |row| Operand::Text(row.job.to_owned())),
                1 => ("run", |row| Operand::Text(row.run.to_owned())),
                2 => ("trace", |row| Operand::Text(row.run.to_owned())),
                _ => ("RANK", |row| row.rank.map_or(Operand::Null, Operand::Number)),
            };
            let names = if choices.below(4) == 0 { json!(["Dispatches", name]) } else { json!([name]) };
            (json!({"class": "COLUMN_REF", "type": "COLUMN_REF", "column_names": names}), Box::new(get))
        }
        4 => {
            let text = choices.of(&["a", "b", "1", "2", "", "3", "A", "xA"]);
            (constant("VARCHAR", json!(text)), Box::new(move |_| Operand::Text(text.to_owned())))
        }
        5 => {
            let number = choices.of(&[0, 1, 2, 3, 4, -1, i64::MAX, i64::MIN]);
            let kind = choices.of(&["INTEGER", "BIGINT"]);
            (constant(kind, json!(number)), Box::new(move |_| Operand::Number(number)))
        }
        6 => match choices.below(3) {
            0 => (parameter("text"), Box::new(|_| Operand::Text("a".to_owned()))),
            1 => (parameter("number"), Box::new(|_| Operand::Number(3))),
            _ => (parameter("null"), Box::new(|_| Operand::Null)),
        },
        _ => (constant("SQLNULL", Value::Null), Box::new(|_| Operand::Null)),
    }
}

/// How two values compare; unknown where DuckDB would have to convert one of them.
fn compare(one: &Operand, other: &Operand) -> Option<std::cmp::Ordering> {
    match (one, other) {
        (Operand::Text(one), Operand::Text(other)) => Some(one.cmp(other)),
        (Operand::Number(one), Operand::Number(other)) => Some(one.cmp(other)),
        _ => None,
    }
}

fn condition(choices: &mut Choices<'_>, depth: u8) -> (Value, Condition) {
    let kinds = if depth == 0 { 3 } else { 6 };
    match choices.below(kinds) {
        0 => {
            let (input, value) = operand(choices);
            let list: Vec<_> = (0..=choices.below(3)).map(|_| operand(choices)).collect();
            let children: Vec<Value> =
                std::iter::once(input).chain(list.iter().map(|(part, _)| part.clone())).collect();
            let is = move |row: &Row| {
                let value = value(row);
                let found =
                    list.iter().any(|(_, other)| compare(&value, &other(row)).is_some_and(|it| it.is_eq()));
                found.then_some(true)
            };
            (json!({"class": "OPERATOR", "type": "COMPARE_IN", "children": children}), Box::new(is))
        }
        1 => {
            let [input, lower, upper] = std::array::from_fn(|_| operand(choices));
            let part = json!({"class": "BETWEEN", "type": "COMPARE_BETWEEN", "input": input.0, "lower": lower.0, "upper": upper.0});
            let is = move |row: &Row| {
                let input = (input.1)(row);
                let above = compare(&input, &(lower.1)(row))?.is_ge();
                Some(above && compare(&input, &(upper.1)(row))?.is_le())
            };
            (part, Box::new(is))
        }
        2 => {
            type Is = fn(std::cmp::Ordering) -> bool;
            let operators: [(&str, Is); 6] = [
                ("COMPARE_EQUAL", |it| it.is_eq()),
                ("COMPARE_NOTEQUAL", |it| it.is_ne()),
                ("COMPARE_LESSTHAN", |it| it.is_lt()),
                ("COMPARE_LESSTHANOREQUALTO", |it| it.is_le()),
                ("COMPARE_GREATERTHAN", |it| it.is_gt()),
                ("COMPARE_GREATERTHANOREQUALTO", |it| it.is_ge()),
            ];
            let (name, holds) = choices.of(&operators);
            let [left, right] = std::array::from_fn(|_| operand(choices));
            let part = json!({"class": "COMPARISON", "type": name, "left": left.0, "right": right.0});
            (part, Box::new(move |row| compare(&(left.1)(row), &(right.1)(row)).map(holds)))
        }
        kind @ (3 | 4) => {
            let parts: Vec<_> = (0..=choices.below(3)).map(|_| condition(choices, depth - 1)).collect();
            let (children, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
            let name = if kind == 3 { "CONJUNCTION_AND" } else { "CONJUNCTION_OR" };
            let is = move |row: &Row| {
                let truths: Vec<Truth> = parts.iter().map(|part| part(row)).collect();
                // One such part decides alone.
                let decisive = Some(kind == 4);
                if truths.contains(&decisive) {
                    decisive
                } else if truths.contains(&None) {
                    None
                } else {
                    Some(kind == 3)
                }
            };
            (json!({"class": "CONJUNCTION", "type": name, "children": children}), Box::new(is))
        }
        _ => {
            let (part, is) = condition(choices, depth - 1);
            let part = json!({"class": "OPERATOR", "type": "OPERATOR_NOT", "children": [part]});
            (part, Box::new(move |row| is(row).map(|is| !is)))
        }
    }
}

/// Checks a condition that the bytes choose: no run and no rank of which it is true is left out. Returns true if anything is.
pub(crate) fn assert_condition(bytes: &[u8]) -> bool {
    let mut choices = Choices(bytes);
    let (mut statements, mut conditions) = (Vec::new(), Vec::new());
    for _ in 0..=choices.below(3) {
        let (table, alias) = choices.of(&[("dispatches", None), ("Dispatches", Some("d")), ("agents", None)]);
        let mut from = json!({"type": "BASE_TABLE", "table_name": table});
        if let Some(alias) = alias {
            from["alias"] = json!(alias);
        }
        let mut query = json!({"type": "SELECT_NODE", "from_table": from, "select_list": [{"type": "STAR"}]});
        let mut is: Condition = Box::new(|_| Some(true));
        if choices.below(8) > 0 {
            let depth = choices.below(4);
            (query["where_clause"], is) = condition(&mut choices, depth);
        }
        conditions.push((is, table != "agents", alias.is_none() && table != "agents"));
        statements.push(json!({"node": query}));
    }
    let parse = json!({"error": false, "statements": statements}).to_string();
    let needed = Needed::parse(&parse, &parameters(), &has_column);
    let mut is_narrowed = false;
    for job in JOBS {
        for run in RUNS {
            is_narrowed |= !needed.has(job, run);
            for rank in RANKS {
                // DuckDB decodes the names of folders.
                let row = Row { job: if job == "x%41" { "xA" } else { job }, run, rank };
                for (is, has_rank, has_name) in &conditions {
                    // A qualified column is unknown to a table of another name, and a rank to a table without.
                    if !(*has_rank && *has_name) || is(&row) != Some(true) {
                        continue;
                    }
                    assert!(needed.has(job, run), "{job} {run} {rank:?}: {parse}");
                    for width in [1, 4] {
                        let bucket = Bucket::of(rank, width);
                        assert!(needed.has_bucket(&bucket), "{job} {run} {rank:?}, {width}: {parse}");
                    }
                }
            }
        }
    }
    is_narrowed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_and_any_condition_leave_what_a_query_needs() {
        let (mut refused, mut narrowed) = (0, 0);
        for bytes in support::mutations("sql", 400) {
            refused += usize::from(assert_text(&String::from_utf8_lossy(&bytes)));
            narrowed += usize::from(assert_condition(&bytes));
        }
        assert!(refused > 0 && narrowed > 0, "{refused} refused, {narrowed} narrowed");
    }
}
