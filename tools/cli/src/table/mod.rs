//! A table, printed as text, CSV or Markdown.

mod csv;
mod markdown;
mod model;
mod text;

use std::io::{self, Write};

pub use self::model::{Align, Cell, Column, Table, TableOf};
use crate::color::Paint;

#[derive(Clone, Copy, Debug)]
pub enum Layout {
    /// Aligned columns, names shortened to fit.
    Text {
        /// The width in columns of a terminal (see [`crate::terminal::width`]); `None` shortens nothing that fits
        /// 60,000 columns.
        width: Option<usize>,
        paint: Paint,
    },
    /// RFC 4180 with field names as header and full values.
    Csv,
    /// A GitHub table with full names.
    Markdown,
}

impl Table {
    /// Prints the table with a line break at the end.
    pub fn render(&self, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
        match layout {
            Layout::Text { width, paint } => text::render(self, width, paint, out),
            Layout::Csv => csv::render(self, out),
            Layout::Markdown => markdown::render(self, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernels() -> Table {
        let mut table = Table::new([
            Column::name("Kernel").field("name"),
            Column::right("Calls").field("calls"),
            Column::right("Total").field("total_ns"),
        ]);
        table.row([
            "gemm_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1_nt".into(),
            "7".into(),
            Cell::number("1.5 ms", 1_500_000),
        ]);
        table.row(["copy|\"fast\", a".into(), Cell::none(), Cell::number("12.0 ms", 12_000_000)]);
        table
    }

    fn print(table: &Table, layout: Layout) -> String {
        let mut bytes = Vec::new();
        table.render(layout, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn text_is_aligned_and_fits_the_width() {
        let text = print(&kernels(), Layout::Text { width: Some(40), paint: Paint::default() });
        let expected = "\
Kernel                    Calls    Total
────────────────────────────────────────
gemm_aaaaaaa…aaaaaaa1_nt      7   1.5 ms
copy|\"fast\", a                -  12.0 ms
";
        assert_eq!(text, expected);
    }

    #[test]
    fn optional_columns_are_omitted_where_the_table_does_not_fit() {
        let mut table = Table::new([
            Column::name("Kernel"),
            Column::right("Calls"),
            Column::right("Minimum").optional(),
            Column::right("Maximum").optional(),
        ]);
        table.row(["a_kernel_with_a_long_name".into(), "7".into(), "1.000".into(), "2.000".into()]);
        let header = |width| {
            let text = print(&table, Layout::Text { width, paint: Paint::default() });
            text.lines().next().unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(header(Some(80)), ["Kernel", "Calls", "Minimum", "Maximum"]);
        assert_eq!(header(Some(41)), ["Kernel", "Calls", "Minimum"]);
        assert_eq!(header(Some(40)), ["Kernel", "Calls"]);
        assert_eq!(header(Some(20)), ["Kernel"]);
        assert_eq!(header(None).len(), 4, "a table of any width has them all");
    }

    #[test]
    fn late_columns_are_omitted_where_even_the_shortest_names_do_not_fit() {
        let mut table = Table::new([
            Column::name("Kernel"),
            Column::right("Calls"),
            Column::right("Median").optional_late(),
            Column::right("Maximum").optional_late(),
            Column::right("Deviation").optional(),
        ]);
        let name = "a_kernel_with_a_name_that_is_long";
        table.row([name.into(), "7".into(), "1.000".into(), "2.000".into(), "0.500".into()]);
        let header = |width| {
            let text = print(&table, Layout::Text { width: Some(width), paint: Paint::default() });
            text.lines().next().unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(header(68), ["Kernel", "Calls", "Median", "Maximum", "Deviation"]);
        // A name takes 24 columns at least, the others 5, 6 and 7 with two spaces before each.
        assert_eq!(header(48), ["Kernel", "Calls", "Median", "Maximum"]);
        assert_eq!(header(47), ["Kernel", "Calls", "Median"]);
        assert_eq!(header(30), ["Kernel", "Calls"]);
        assert!(print(&table, Layout::Csv).contains("Maximum"));
    }

    #[test]
    fn full_names_may_be_wider_than_the_terminal() {
        let text = print(&kernels(), Layout::Text { width: None, paint: Paint::default() });
        assert!(text.contains("gemm_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1_nt  "), "{text}");
    }

    #[test]
    fn csv_has_field_names_full_values_and_quotes_where_needed() {
        assert_eq!(
            print(&kernels(), Layout::Csv),
            "name,calls,total_ns\r\n\
             gemm_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1_nt,7,1500000\r\n\
             \"copy|\"\"fast\"\", a\",,12000000\r\n"
        );
    }

    #[test]
    fn markdown_escapes_what_would_end_a_cell() {
        assert_eq!(
            print(&kernels(), Layout::Markdown).lines().nth(3),
            Some("| `copy\\|\"fast\", a` | - | 12.0 ms |")
        );
    }

    #[test]
    fn a_csv_text_that_a_spreadsheet_would_execute_gets_an_apostrophe() {
        let mut table = Table::new([Column::name("Kernel"), Column::right("Change")]);
        for name in ["=cmd()", "+a", "-a", "@a", "'a", "a=b"] {
            table.row([name.into(), Cell::number("-1.0 ms", -1_000_000)]);
        }
        let csv = print(&table, Layout::Csv);
        assert_eq!(
            csv.lines().skip(1).collect::<Vec<_>>(),
            [
                "'=cmd(),-1000000",
                "'+a,-1000000",
                "'-a,-1000000",
                "'@a,-1000000",
                "''a,-1000000",
                "a=b,-1000000"
            ]
        );
        let restored =
            |line: &str| line.strip_prefix('\'').unwrap_or(line).split(',').next().map(str::to_owned);
        let names: Vec<_> = csv.lines().skip(1).filter_map(restored).collect();
        assert_eq!(names, ["=cmd()", "+a", "-a", "@a", "'a", "a=b"]);
    }

    #[test]
    fn columns_that_do_not_fit_are_named() {
        let mut table = Table::new([
            Column::name("Kernel"),
            Column::right("Calls"),
            Column::right("Total"),
            Column::right("Maximum").optional(),
        ]);
        table.row(["gemm".into(), "7".into(), "1.000".into(), "2.000".into()]);
        let text = |width| print(&table, Layout::Text { width: Some(width), paint: Paint::default() });
        assert_eq!(text(40).lines().count(), 3);
        assert_eq!(text(22).lines().nth(3), Some("not shown: Maximum"));
        let hidden: Vec<_> = text(15).lines().skip(3).map(str::to_owned).collect();
        assert_eq!(hidden.join(" "), "not shown: Total, Maximum");
        assert!(text(15).lines().take(3).all(|line| line.chars().count() <= 15), "{}", text(15));
    }

    #[test]
    fn sentences_continue_on_the_next_line() {
        let mut table = Table::new([Column::left("Gate"), Column::sentence("Measured")]);
        table.row(["total".into(), "one two three four five six seven".into()]);
        let text = print(&table, Layout::Text { width: Some(25), paint: Paint::default() });
        assert_eq!(
            text.lines().skip(2).collect::<Vec<_>>(),
            ["total  one two three four", "       five six seven"]
        );
    }

    #[test]
    fn a_row_that_is_too_short_or_too_long_is_no_panic() {
        let mut table = Table::new([Column::left("a"), Column::left("b")]);
        table.row([Cell::text("1")]).row(["1".into(), "2".into(), "3".into()]);
        assert_eq!(print(&table, Layout::Csv), "a,b\r\n1,\r\n1,2\r\n");
    }

    #[test]
    fn a_name_too_long_for_any_table_is_shortened_rather_than_broken() {
        let mut table = Table::new([Column::name("Kernel"), Column::right("Calls")]);
        table.row(["k".repeat(70_000).as_str().into(), "7".into()]);
        let text = print(&table, Layout::Text { width: None, paint: Paint::default() });
        assert_eq!(text.lines().count(), 3);
        assert!(text.ends_with("kkk      7\n"));
    }
}
