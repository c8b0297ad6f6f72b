//! Rows as JSON: `{"schema": "rtl-sql/1", "columns": [...], "rows": [{...}]}`.

use std::io::Write;

use duckdb::{Rows, Value};

/// Prints rows while they come.
pub(super) fn render(mut rows: Rows, out: &mut dyn Write) -> anyhow::Result<()> {
    let columns: Vec<String> = rows.columns().map(serde_json::to_string).collect::<Result<_, _>>()?;
    write!(out, "{{\"schema\":\"rtl-sql/1\",\"columns\":[{}],\"rows\":[", columns.join(","))?;
    let mut separator = "\n";
    while let Some(next) = rows.next_rows()? {
        for row in next {
            write!(out, "{separator}{{")?;
            for (at, (name, value)) in columns.iter().zip(&row).enumerate() {
                write!(out, "{}{name}:", if at == 0 { "" } else { "," })?;
                print(value, out)?;
            }
            write!(out, "}}")?;
            separator = ",\n";
        }
    }
    writeln!(out, "\n]}}")?;
    Ok(())
}

fn print(value: &Value, out: &mut dyn Write) -> anyhow::Result<()> {
    match value {
        Value::Float(number) if !number.is_finite() => write!(out, "null")?,
        Value::Null => write!(out, "null")?,
        Value::Bool(_) | Value::Integer(_) | Value::Decimal(..) | Value::Float(_) => write!(out, "{value}")?,
        Value::Text(text) => serde_json::to_writer(out, text)?,
        Value::List(values) => {
            write!(out, "[")?;
            for (at, value) in values.iter().enumerate() {
                write!(out, "{}", if at == 0 { "" } else { "," })?;
                print(value, out)?;
            }
            write!(out, "]")?;
        }
        Value::Struct(fields) => {
            write!(out, "{{")?;
            for (at, (name, value)) in fields.iter().enumerate() {
                write!(out, "{}{}:", if at == 0 { "" } else { "," }, serde_json::to_string(name)?)?;
                print(value, out)?;
            }
            write!(out, "}}")?;
        }
    }
    Ok(())
}
