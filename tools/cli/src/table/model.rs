//! Rows under headers, before they are printed.

#[derive(Clone, Debug, Default)]
pub struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

#[derive(Clone, Debug)]
pub struct Column {
    pub(super) header: String,
    pub(super) field: String,
    pub(super) align: Align,
    pub(super) shortens: bool,
    pub(super) wraps: bool,
    pub(super) optional: Option<Optional>,
}

/// The order in which text omits columns of a table that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Optional {
    /// The column goes before names become hard to distinguish.
    Early,
    /// The column goes before the table gets wider than allowed.
    Late,
}

/// One value: its text for people and its value for machines.
#[derive(Clone, Debug)]
pub struct Cell {
    pub(super) text: String,
    value: Option<String>,
    /// The short form takes the place of a text that does not fit.
    pub(super) short: Option<String>,
}

impl Column {
    /// Text, left aligned, never shortened. The CSV field is named as the header.
    pub fn left(header: impl Into<String>) -> Self {
        let header = header.into();
        Self {
            field: header.clone(),
            header,
            align: Align::Left,
            shortens: false,
            wraps: false,
            optional: None,
        }
    }

    pub fn right(header: impl Into<String>) -> Self {
        Self { align: Align::Right, ..Self::left(header) }
    }

    /// Names, left aligned, shortened in the middle to fit; different names stay different.
    pub fn name(header: impl Into<String>) -> Self {
        Self { shortens: true, ..Self::left(header) }
    }

    /// Sentences, left aligned, on several lines where they do not fit.
    pub fn sentence(header: impl Into<String>) -> Self {
        Self { wraps: true, ..Self::left(header) }
    }

    /// A column that text omits where the table does not fit; the last such column goes first.
    #[must_use]
    pub fn optional(self) -> Self {
        Self { optional: Some(Optional::Early), ..self }
    }

    /// A column that text omits where the table does not fit without all optional columns and with the shortest names.
    #[must_use]
    pub fn optional_late(self) -> Self {
        Self { optional: Some(Optional::Late), ..self }
    }

    pub(super) fn is_flexible(&self) -> bool {
        self.shortens || self.wraps
    }

    /// The name of the column in CSV, with its unit: `total_ns`.
    #[must_use]
    pub fn field(self, field: impl Into<String>) -> Self {
        Self { field: field.into(), ..self }
    }
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: None, short: None }
    }

    /// `text` for people, `value` for machines: `Cell::number("1.235 ms", 1_234_567)`.
    pub fn number(text: impl Into<String>, value: impl ToString) -> Self {
        Self { text: text.into(), value: Some(value.to_string()), short: None }
    }

    /// Unknown: [`crate::units::NONE`] for people, an empty field for machines.
    pub fn none() -> Self {
        Self::number(crate::units::NONE, "")
    }

    pub(super) fn is_text(&self) -> bool {
        self.value.is_none()
    }

    pub(super) fn value(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// A table of rows of type `R`, whose columns are declared together with their cells.
#[derive(Clone, Debug)]
pub struct TableOf<R> {
    rows: Vec<R>,
    table: Table,
}

impl<R> TableOf<R> {
    #[must_use]
    pub fn column(mut self, column: Column, cell: impl Fn(&R) -> Cell) -> Self {
        for (row, cells) in self.rows.iter().zip(&mut self.table.rows) {
            cells.push(cell(row));
        }
        self.table.columns.push(column);
        self
    }

    /// Adds a column where `is_shown`.
    #[must_use]
    pub fn column_if(self, is_shown: bool, column: Column, cell: impl Fn(&R) -> Cell) -> Self {
        if is_shown { self.column(column, cell) } else { self }
    }

    #[must_use]
    pub fn build(self) -> Table {
        self.table
    }
}

impl Table {
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// A table with a row for each of `rows`, still without columns.
    pub fn of<R>(rows: impl IntoIterator<Item = R>) -> TableOf<R> {
        let rows: Vec<R> = rows.into_iter().collect();
        let table = Self { columns: Vec::new(), rows: rows.iter().map(|_| Vec::new()).collect() };
        TableOf { rows, table }
    }

    /// Adds a row. Missing cells are empty and cells beyond the last column are dropped.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) -> &mut Self {
        let mut cells: Vec<Cell> = cells.into_iter().collect();
        cells.resize_with(self.columns.len(), || Cell::text(""));
        self.rows.push(cells);
        self
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Sets the short forms of names, which text and Markdown print where a name is too long. `short` returns a form that
    /// no other name has; `None` for a text without one.
    #[must_use]
    pub fn with_short_names(mut self, short: impl Fn(&str) -> Option<String>) -> Self {
        let columns = self.columns.iter().enumerate().filter(|(_, column)| column.shortens);
        let columns: Vec<usize> = columns.map(|(position, _)| position).collect();
        for row in &mut self.rows {
            for &column in &columns {
                row[column].short = short(&row[column].text);
            }
        }
        self
    }

    pub(super) fn texts(&self, column: usize) -> impl Iterator<Item = &str> {
        self.rows.iter().map(move |row| row[column].text.as_str())
    }

    pub(super) fn names(&self, column: usize) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.rows.iter().map(move |row| (row[column].text.as_str(), row[column].short.as_deref()))
    }
}
