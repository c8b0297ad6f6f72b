//! The runs and ranks that a text of SQL can need: those that its conditions on `job`, `run` and `rank` leave.
//!
//! DuckDB reads no others either, but it opens a data set by the names of all files. The conditions are those of DuckDB's
//! own parse of the text. A text needs everything unless each of its tables stands alone behind a `from` whose `where` has one of
//! `run = 'a'`, `run in ('a', 'b')`, the same of `job` and of `rank`, `rank < 8` and `rank between 0 and 7`, maybe with other
//! conditions that hold as well.

use std::ops::RangeInclusive;

use dataset::Bucket;
use duckdb::Parameter;
use serde_json::{Map, Value};

/// The runs and ranks that a text can need.
#[derive(Debug, Default)]
pub(crate) struct Needed {
    /// The condition of each place that names a table; `None` where one place asks for everything.
    places: Option<Vec<Condition>>,
}

/// The values that the columns of a row can have: one of every list.
#[derive(Debug, Default)]
struct Condition {
    job: Vec<Vec<String>>,
    run: Vec<Vec<String>>,
    rank: Vec<Vec<Ranks>>,
}

/// Ranks from one to another.
type Ranks = RangeInclusive<i64>;

/// An object of the parse.
type Node = Map<String, Value>;

impl Needed {
    /// The needs of a text by its parse, which `json_serialize_sql` gives. `has_column` knows the tables of data sets and their columns.
    pub(crate) fn parse(
        parse: &str,
        parameters: &[(String, Parameter)],
        has_column: &dyn Fn(&str, &str) -> bool,
    ) -> Self {
        let mut search = Search { parameters, has_column, places: Vec::new() };
        let statements = serde_json::from_str::<Value>(parse).ok();
        let is_known = statements.and_then(|parse| search.visit(parse.get("statements")?)).is_some();
        // Without a table there is nothing to be narrowed.
        Self { places: Some(search.places).filter(|places| is_known && !places.is_empty()) }
    }

    /// True if a run can be needed, by the names of its folders.
    pub(crate) fn has(&self, job: &str, run: &str) -> bool {
        // DuckDB decodes these names.
        let can_be = |lists: &[Vec<String>], name: &str| {
            name.contains('%') || lists.iter().all(|values| values.iter().any(|value| value == name))
        };
        let fits = |place: &Condition| can_be(&place.job, job) && can_be(&place.run, run);
        self.places.as_ref().is_none_or(|places| places.iter().any(fits))
    }

    pub(crate) fn has_bucket(&self, bucket: &Bucket) -> bool {
        let has_any = |ranks: &Vec<Ranks>| ranks.iter().any(|ranks| bucket.has_any(ranks));
        let fits = |place: &Condition| place.rank.iter().all(has_any);
        self.places.as_ref().is_none_or(|places| places.iter().any(fits))
    }
}

/// Collects what the places of tables ask for.
struct Search<'a> {
    parameters: &'a [(String, Parameter)],
    has_column: &'a dyn Fn(&str, &str) -> bool,
    places: Vec<Condition>,
}

impl Search<'_> {
    /// Visits a part of the parse; `None` where it can need everything.
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
        self.has_column(node, "run")
    }

    fn has_column(&self, table: &Node, column: &str) -> bool {
        text(table, "table_name").is_some_and(|name| (self.has_column)(&name.to_lowercase(), column))
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
                "COMPARE_IN" => {
                    let children: Vec<&Value> = children().collect();
                    if let Some((column, values)) = children.split_first() {
                        self.narrow(&mut condition, table, column, "COMPARE_EQUAL", values);
                    }
                }
                operator @ "COMPARE_BETWEEN" => {
                    let bounds = [&part["lower"], &part["upper"]];
                    self.narrow(&mut condition, table, &part["input"], operator, &bounds);
                }
                operator => {
                    let (left, right) = (&part["left"], &part["right"]);
                    self.narrow(&mut condition, table, left, operator, &[right]);
                    self.narrow(&mut condition, table, right, mirrored(operator), &[left]);
                }
            }
        }
        condition
    }

    /// Takes over the comparison of a column with values, where all of them are of its type.
    fn narrow(
        &self,
        condition: &mut Condition,
        table: &Node,
        column: &Value,
        operator: &str,
        values: &[&Value],
    ) {
        let Some(names) = column.get("column_names").and_then(Value::as_array) else { return };
        let known = text(table, "alias").or_else(|| text(table, "table_name")).unwrap_or_default();
        let names: Vec<String> = names.iter().filter_map(Value::as_str).map(str::to_lowercase).collect();
        let column = match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [column] => column,
            [of, column] if of == known.to_lowercase() => column,
            _ => return,
        };
        let Some(values) = values.iter().map(|value| self.constant(value)).collect::<Option<Vec<_>>>() else {
            return;
        };
        match column {
            "job" => condition.job.extend(texts(operator, values)),
            "run" | "trace" => condition.run.extend(texts(operator, values)),
            // Of a table without ranks it is a column of the query's own.
            "rank" if self.has_column(table, column) => condition.rank.extend(ranks(operator, values)),
            _ => {}
        }
    }

    /// The value that a constant or a parameter is, if it is a text or an integer.
    fn constant(&self, part: &Value) -> Option<Parameter> {
        match kind(part) {
            "VALUE_CONSTANT" => {
                let value = part.get("value")?;
                match value["type"]["id"].as_str()? {
                    "VARCHAR" if value["type"].get("type_info").is_none() => {
                        value["value"].as_str().map(|text| Parameter::Text(text.to_owned()))
                    }
                    "INTEGER" | "BIGINT" => value["value"].as_i64().map(Parameter::Integer),
                    _ => None,
                }
            }
            "VALUE_PARAMETER" => {
                let name = part.get("identifier")?.as_str()?;
                self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
            }
            _ => None,
        }
    }
}

/// The operator of a comparison whose sides change places.
fn mirrored(operator: &str) -> &str {
    match operator {
        "COMPARE_LESSTHAN" => "COMPARE_GREATERTHAN",
        "COMPARE_LESSTHANOREQUALTO" => "COMPARE_GREATERTHANOREQUALTO",
        "COMPARE_GREATERTHAN" => "COMPARE_LESSTHAN",
        "COMPARE_GREATERTHANOREQUALTO" => "COMPARE_LESSTHANOREQUALTO",
        operator => operator,
    }
}

/// The texts of which a comparison with values is true; `None` where that is not known.
fn texts(operator: &str, values: Vec<Parameter>) -> Option<Vec<String>> {
    let text = |value| if let Parameter::Text(text) = value { Some(text) } else { None };
    if operator == "COMPARE_EQUAL" { values.into_iter().map(text).collect() } else { None }
}

/// The ranks of which a comparison with values is true; `None` where that is not known.
fn ranks(operator: &str, values: Vec<Parameter>) -> Option<Vec<Ranks>> {
    let integer = |value| if let Parameter::Integer(integer) = value { Some(integer) } else { None };
    let values = values.into_iter().map(integer).collect::<Option<Vec<_>>>()?;
    match (operator, &values[..]) {
        ("COMPARE_EQUAL", values) => Some(values.iter().map(|&rank| rank..=rank).collect()),
        ("COMPARE_BETWEEN", &[lower, upper]) => Some(vec![lower..=upper]),
        ("COMPARE_LESSTHAN", &[bound]) => Some(vec![i64::MIN..=bound.saturating_sub(1)]),
        ("COMPARE_LESSTHANOREQUALTO", &[bound]) => Some(vec![i64::MIN..=bound]),
        ("COMPARE_GREATERTHAN", &[bound]) => Some(vec![bound.saturating_add(1)..=i64::MAX]),
        ("COMPARE_GREATERTHANOREQUALTO", &[bound]) => Some(vec![bound..=i64::MAX]),
        _ => None,
    }
}

fn kind(part: &Value) -> &str {
    part.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn text<'v>(node: &'v Node, key: &str) -> Option<&'v str> {
    node.get(key).and_then(Value::as_str)
}
