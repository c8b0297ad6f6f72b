//! Reads `rocpd_metadata`: tags with numbers, texts or JSON objects, some of which several rows have.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::layout::{objects, tags};
use crate::sqlite::Database;
use crate::{Dialect, Result, TraceInfo};

/// The rows of `rocpd_metadata`, in order.
#[derive(Debug, Default)]
pub(crate) struct Metadata(Vec<(String, String)>);

impl Metadata {
    pub(crate) fn read(database: &Database) -> Result<Self> {
        let mut rows = Vec::new();
        database.scan("rocpd_metadata", &["tag", "value"], |row| {
            if let Some(tag) = row.text(0) {
                rows.push((tag.into_owned(), row.text(1).unwrap_or_default().into_owned()));
            }
        })?;
        Ok(Self(rows))
    }

    pub(crate) fn push(&mut self, tag: String, value: String) {
        self.0.push((tag, value));
    }

    /// The first value of `tag`.
    pub(crate) fn get(&self, tag: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == tag).map(|(_, value)| value.as_str())
    }

    /// All values of `tag`.
    pub(crate) fn all<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(name, _)| name == tag).map(|(_, value)| value.as_str())
    }

    /// The first value of `tag` as a number.
    pub(crate) fn number(&self, tag: &str) -> Option<i64> {
        self.get(tag)?.trim().parse().ok()
    }

    /// All values of `tags` that are JSON objects, each with its tag, in the order of the file.
    pub(crate) fn objects<'a>(&'a self, tags: &'a [&str]) -> impl Iterator<Item = (&'a str, Object)> {
        let rows = self.0.iter().filter(|(tag, _)| tags.contains(&tag.as_str()));
        rows.filter_map(|(tag, text)| Some((tag.as_str(), Object(serde_json::from_str(text).ok()?))))
    }

    /// The recorder, and the counts of lost and skipped rows.
    pub(crate) fn info(self, dialect: Dialect, tool: &str) -> TraceInfo {
        let text = |tag| self.get(tag).map(str::to_owned);
        let losses = self
            .0
            .iter()
            .filter(|(tag, _)| is_loss(tag))
            .filter_map(|(tag, value)| Some((tag.clone(), value.trim().parse().ok()?)))
            .collect();
        TraceInfo {
            dialect,
            schema_version: text(tags::RTL_SCHEMA).or_else(|| text(tags::SCHEMA_VERSION)),
            tool: text(tags::TOOL).unwrap_or_else(|| tool.to_owned()),
            tool_version: text(tags::TOOL_VERSION),
            mode: text(tags::MODE),
            losses,
            metadata: self.0,
            ..TraceInfo::default()
        }
    }
}

/// A metadata value that is a JSON object; fields of an unexpected type are absent.
#[derive(Debug)]
pub(crate) struct Object(Map<String, Value>);

impl Object {
    /// All fields that a `T` has.
    pub(crate) fn read<T: DeserializeOwned + Default>(&self) -> T {
        objects::read(&self.0)
    }

    pub(crate) fn int(&self, field: &str) -> Option<i64> {
        let value = self.0.get(field)?;
        value.as_i64().or_else(|| value.as_u64().map(|value| value as i64))
    }

    /// Sizes along x, y and z.
    pub(crate) fn axes<T: DeserializeOwned>(&self, field: &str) -> Option<[T; 3]> {
        serde_json::from_value(self.0.get(field)?.clone()).ok()
    }

    /// The text of a string; the JSON of anything else but null.
    pub(crate) fn text(&self, field: &str) -> Option<String> {
        match self.0.get(field)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }
}

/// Tags that count ops or ranges which are not in the file: `lost:times`, `copies_lost:times`, `skipped:paused`, ...
fn is_loss(tag: &str) -> bool {
    let kind = tag.split_once(':').map_or("", |(kind, _)| kind);
    matches!(kind.rsplit_once('_').map_or(kind, |(_, what)| what), "lost" | "skipped")
}
