//! The runs that a text of SQL can need: those that its conditions on `job` and `run` leave.
//!
//! DuckDB reads those runs alone, too, but it opens a data set by the names of all files. The conditions are those of DuckDB's
//! own parse of the text. A text needs all runs unless each of its tables stands alone behind a `from` whose `where` has one of
//! `run = 'a'`, `run in ('a', 'b')` and the same of `job`, maybe with other conditions that hold as well.

use duckdb::Parameter;
use serde_json::{Map, Value};

/// The runs that a text can need.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Needed {
    /// What each place of a table asks for; `None` where one asks for all runs.
    places: Option<Vec<Condition>>,
}

/// The values that the columns of a row can have; `None` of any.
#[derive(Debug, Default, PartialEq, Eq)]
struct Condition {
    job: Option<Vec<String>>,
    run: Option<Vec<String>>,
}

/// An object of the parse.
type Node = Map<String, Value>;

impl Needed {
    /// The runs that a text can need, by what `json_serialize_sql` says of it. `is_table` knows the tables of data sets.
    pub(crate) fn of(
        parse: &str,
        parameters: &[(String, Parameter)],
        is_table: &dyn Fn(&str) -> bool,
    ) -> Self {
        let mut search = Search { parameters, is_table, places: Vec::new() };
        let statements = serde_json::from_str::<Value>(parse).ok();
        let is_known = statements.and_then(|parse| search.visit(parse.get("statements")?)).is_some();
        // Without a table there is nothing to be narrowed.
        Self { places: Some(search.places).filter(|places| is_known && !places.is_empty()) }
    }

    /// Whether a run can be needed, by the names of its folders.
    pub(crate) fn has(&self, job: &str, run: &str) -> bool {
        // DuckDB decodes these names.
        let can_be = |values: &Option<Vec<String>>, name: &str| {
            values
                .as_ref()
                .is_none_or(|values| name.contains('%') || values.iter().any(|value| value == name))
        };
        let fits = |place: &Condition| can_be(&place.job, job) && can_be(&place.run, run);
        self.places.as_ref().is_none_or(|places| places.iter().any(fits))
    }
}

/// Collects what the places of tables ask for.
struct Search<'a> {
    parameters: &'a [(String, Parameter)],
    is_table: &'a dyn Fn(&str) -> bool,
    places: Vec<Condition>,
}

impl Search<'_> {
    /// Visits a part of the parse; `None` where it can need all runs.
    fn visit(&mut self, part: &Value) -> Option<()> {
        let node = match part {
            Value::Array(parts) => return parts.iter().try_for_each(|part| self.visit(part)),
            Value::Object(node) => node,
            _ => return Some(()),
        };
        let alone = match kind(part) {
            // A function may read tables by their names, and so may a description.
            "TABLE_FUNCTION" | "SHOW_REF" => return None,
            "BASE_TABLE" if self.names_table(node) => return None,
            "SELECT_NODE" => self.table_alone(node),
            _ => None,
        };
        if let Some(table) = alone {
            let condition = self.condition(node.get("where_clause"), table);
            self.places.push(condition);
        }
        let others = node.iter().filter(|(key, _)| alone.is_none() || *key != "from_table");
        others.map(|(_, part)| part).try_for_each(|part| self.visit(part))
    }

    fn names_table(&self, node: &Node) -> bool {
        text(node, "table_name").is_some_and(|name| (self.is_table)(&name.to_lowercase()))
    }

    /// The table of a query that reads no other one and has the columns that the table declares.
    fn table_alone<'v>(&self, query: &'v Node) -> Option<&'v Node> {
        let from = query.get("from_table").filter(|from| kind(from) == "BASE_TABLE")?.as_object()?;
        // A sample is taken before rows are left out.
        let is_plain = !query.contains_key("sample")
            && ["sample", "column_name_alias", "at_clause"].iter().all(|key| !from.contains_key(*key));
        (is_plain && self.names_table(from)).then_some(from)
    }

    fn condition(&self, part: Option<&Value>, table: &Node) -> Condition {
        let mut condition = Condition::default();
        let mut parts: Vec<&Value> = part.into_iter().collect();
        while let Some(part) = parts.pop() {
            let children = || part.get("children").and_then(Value::as_array).into_iter().flatten();
            match kind(part) {
                "CONJUNCTION_AND" => parts.extend(children()),
                "COMPARE_EQUAL" => {
                    let sides = [&part["left"], &part["right"]];
                    self.narrow(&mut condition, table, sides[0], &sides[1..]);
                    self.narrow(&mut condition, table, sides[1], &sides[..1]);
                }
                "COMPARE_IN" => {
                    let children: Vec<&Value> = children().collect();
                    if let Some((column, values)) = children.split_first() {
                        self.narrow(&mut condition, table, column, values);
                    }
                }
                _ => {}
            }
        }
        condition
    }

    /// Takes over that a column has one of these values, where all of them are texts.
    fn narrow(&self, condition: &mut Condition, table: &Node, column: &Value, values: &[&Value]) {
        let Some(names) = column.get("column_names").and_then(Value::as_array) else { return };
        let known = text(table, "alias").or_else(|| text(table, "table_name")).unwrap_or_default();
        let names: Vec<String> = names.iter().filter_map(Value::as_str).map(str::to_lowercase).collect();
        let column = match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [column] => column,
            [of, column] if of == known.to_lowercase() => column,
            _ => return,
        };
        let place = match column {
            "job" => &mut condition.job,
            "run" | "trace" => &mut condition.run,
            _ => return,
        };
        let Some(values) = values.iter().map(|value| self.constant(value)).collect::<Option<Vec<_>>>() else {
            return;
        };
        match place {
            Some(known) => known.retain(|value| values.contains(value)),
            None => *place = Some(values),
        }
    }

    /// The text that a constant or a parameter is.
    fn constant(&self, part: &Value) -> Option<String> {
        match kind(part) {
            "VALUE_CONSTANT" => {
                let value = part.get("value")?;
                let is_text = value["type"]["id"] == "VARCHAR" && value["type"].get("type_info").is_none();
                value["value"].as_str().filter(|_| is_text).map(str::to_owned)
            }
            "VALUE_PARAMETER" => {
                let name = part.get("identifier")?.as_str()?;
                match self.parameters.iter().find(|(known, _)| known == name)? {
                    (_, Parameter::Text(text)) => Some(text.clone()),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn kind(part: &Value) -> &str {
    part.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn text<'v>(node: &'v Node, key: &str) -> Option<&'v str> {
    node.get(key).and_then(Value::as_str)
}
