//! A table with a row for each figure and a column for each tool, and with the bounds on the tracer's figure.

use std::fmt;

pub(crate) struct Table {
    columns: Vec<String>,
    rows: Vec<Row>,
}

struct Row {
    figure: String,
    values: Vec<Option<f64>>,
    decimals: usize,
    /// Bounds that the figure must not, and should not, exceed.
    bounds: Option<(f64, f64)>,
}

/// The index of the tracer's column, in every table.
const OURS: usize = 2;

impl Table {
    pub(crate) fn new<'a>(columns: impl IntoIterator<Item = &'a str>) -> Self {
        Self { columns: columns.into_iter().map(str::to_owned).collect(), rows: Vec::new() }
    }

    /// Adds a figure that is only shown.
    pub(crate) fn row(&mut self, figure: impl Into<String>, values: Vec<Option<f64>>, decimals: usize) {
        self.rows.push(Row { figure: figure.into(), values, decimals, bounds: None });
    }

    /// Adds a figure with the bounds that it must not, and should not, exceed.
    pub(crate) fn judged(
        &mut self,
        figure: impl Into<String>,
        values: impl IntoIterator<Item = Option<f64>>,
        decimals: usize,
        bounds: (f64, f64),
    ) {
        let values = values.into_iter().collect();
        self.rows.push(Row { figure: figure.into(), values, decimals, bounds: Some(bounds) });
    }

    /// True if every figure of the tracer is within the bound that it must not exceed.
    pub(crate) fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.verdict() != "MISSED")
    }
}

impl Row {
    fn verdict(&self) -> &'static str {
        let (Some((must, aim)), Some(Some(value))) = (self.bounds, self.values.get(OURS)) else { return "" };
        if *value > must {
            "MISSED"
        } else if *value > aim {
            "must"
        } else {
            "aim"
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns.iter().map(String::as_str);
        let header = ["figure"].into_iter().chain(columns).chain(["must", "aim", "reached"]);
        let mut lines: Vec<Vec<String>> = vec![header.map(str::to_owned).collect()];
        for row in &self.rows {
            let number = |value: f64| format!("{value:.0$}", row.decimals);
            let bound = |bound: fn((f64, f64)) -> f64| {
                row.bounds.map_or(String::new(), |bounds| number(bound(bounds)))
            };
            let values = row.values.iter().map(|value| value.map_or(String::new(), number));
            let bounds = [bound(|(must, _)| must), bound(|(_, aim)| aim), row.verdict().to_owned()];
            lines.push([row.figure.clone()].into_iter().chain(values).chain(bounds).collect());
        }
        let widths: Vec<usize> = (0..lines[0].len())
            .map(|at| lines.iter().map(|line| line[at].len()).max().unwrap_or(0))
            .collect();
        for (number, line) in lines.iter().enumerate() {
            if number > 0 {
                writeln!(to)?;
            }
            write!(to, "| {:<1$} |", line[0], widths[0])?;
            for (cell, width) in line.iter().zip(&widths).skip(1) {
                write!(to, " {cell:>width$} |")?;
            }
            if number == 0 {
                write!(to, "\n|{}|", "-".repeat(widths[0] + 2))?;
                for width in &widths[1..] {
                    write!(to, "{}:|", "-".repeat(width + 1))?;
                }
            }
        }
        Ok(())
    }
}
