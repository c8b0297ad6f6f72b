//! Tables that the script sorts, filters and copies.

use maud::{Markup, html};
use serde_json::Value;

#[derive(Debug, Clone)]
pub struct Cell {
    shown: Markup,
    value: Option<String>,
    is_number: bool,
}

impl Cell {
    /// `text` is for people; the script sorts and copies the exact `value`.
    pub fn number(text: impl AsRef<str>, value: impl Into<Value>) -> Self {
        let text = text.as_ref();
        Self { shown: html! { (text) }, value: Some(value.into().to_string()), is_number: true }
    }

    pub fn text(text: &str) -> Self {
        Self { shown: html! { (crate::text(text)) }, value: None, is_number: false }
    }

    /// A short form of a text, with the text itself under the pointer and in copies.
    pub fn short(short: &str, text: &str) -> Self {
        if short == text {
            return Self::text(text);
        }
        let value = crate::text(text).into_owned();
        Self { shown: html! { (crate::text(short)) }, value: Some(value), is_number: false }
    }

    #[must_use]
    pub fn drawing(shown: Markup) -> Self {
        Self { shown, value: None, is_number: false }
    }

    /// An unknown value counts as a number, so that its column stays one.
    #[must_use]
    pub fn none() -> Self {
        Self { shown: html! { "–" }, value: Some(String::new()), is_number: true }
    }
}

/// Names in a form that fits a cell: different names stay different.
#[must_use]
pub fn fitting(names: &[&str]) -> Vec<String> {
    /// The letters that fit into the width that the style allows.
    const LETTERS: usize = 44;
    cli::shorten_distinct(names, LETTERS)
}

/// A table of more rows has the full height of a table (`.long` of the style), so that it needs no layout before it is seen.
const LONG: usize = 30;

#[derive(Debug, Clone)]
pub struct Table {
    pub id: &'static str,
    pub caption: String,
    /// The head of each column and the name of the field in machine formats, which is empty for a drawing.
    pub columns: Vec<(&'static str, &'static str)>,
    /// A cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// The number of all rows, of which `rows` may be the first.
    pub all: usize,
    /// The noun of the filter, such as `kernel`; none for a table without a filter.
    pub filter: Option<&'static str>,
}

impl Table {
    #[must_use]
    pub fn render(&self) -> Markup {
        let Self { id, caption, columns, rows, all, filter } = self;
        html! {
            div.tools {
                @if let Some(what) = filter {
                    label { "Filter by " (what) " " input type="search" data-filter=(id) spellcheck="false" autocomplete="off"; }
                }
                button type="button" data-copy=(id) { "Copy as CSV" }
                span.told role="status" data-told=(id) {}
            }
            div.scroll.long[rows.len() > LONG] tabindex="0" role="region" aria-label=(crate::text(caption)) {
                table id=(id) {
                    caption { (crate::text(caption)) }
                    thead { tr {
                        @for (at, (head, field)) in columns.iter().enumerate() {
                            @let class = if is_number(rows, at) { "n" } else { "" };
                            @if field.is_empty() {
                                th scope="col" class=(class) { (head) }
                            } @else {
                                th scope="col" data-f=(field) class=(class) { button type="button" { (head) } }
                            }
                        }
                    } }
                    tbody {
                        @for row in rows {
                            tr { @for cell in row { (cell_markup(cell)) } }
                        }
                    }
                }
            }
            @if *all > rows.len() {
                p.note { "The first " (rows.len()) " of " (cli::units::count(*all as u64)) " rows; the report in this page has all." }
            }
        }
    }
}

fn is_number(rows: &[Vec<Cell>], column: usize) -> bool {
    rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.is_number))
}

fn cell_markup(Cell { shown, value, is_number }: &Cell) -> Markup {
    html! {
        @match (value, is_number) {
            (Some(value), true) => td data-v=(value) { (shown) },
            (Some(value), false) => td title=(value) { (shown) },
            (None, _) => td { (shown) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_table_waits_with_its_layout_until_it_is_seen() {
        for (rows, is_long) in [(LONG, false), (LONG + 1, true)] {
            let table = Table {
                id: "a",
                caption: String::new(),
                columns: vec![("A", "a")],
                rows: vec![vec![Cell::text("x")]; rows],
                all: rows,
                filter: None,
            };
            assert_eq!(
                table.render().into_string().contains("class=\"scroll long\""),
                is_long,
                "{rows} rows"
            );
        }
    }
}
