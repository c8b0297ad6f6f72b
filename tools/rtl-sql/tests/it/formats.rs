//! The forms of a result, and the commands that begin with a dot.

use std::fs;

use serde_json::json;

use crate::{rows, run, run_in};

const SCHEMA: &str = include_str!("../../../../docs/reference/rtl-sql.schema.json");
const QUERY: &str =
    "select 'a,b' as name, 12 as calls, 2.50 as mean, null as none, [1, 2] as list, 7::hugeint as huge";

fn trace() -> tempfile::TempPath {
    support::fixture("two-kernels")
}

#[test]
fn a_result_has_a_form_for_people_and_four_for_machines() {
    let trace = trace();
    let print = |format| run(&[trace.to_str().unwrap(), "--to", format, QUERY]).map(|run| run.answer);
    let Some(table) = print("text") else { return };
    assert_eq!(
        table.lines().nth(2).unwrap().split_whitespace().collect::<Vec<_>>(),
        ["a,b", "12", "2.50", "-", "[1,", "2]", "7"]
    );
    assert_eq!(print("csv").unwrap(), "name,calls,mean,none,list,huge\r\n\"a,b\",12,2.50,,\"[1, 2]\",7\r\n");
    assert!(print("markdown").unwrap().starts_with("| name | calls | mean |"), "{table}");
    let expected = json!({"name": "a,b", "calls": 12, "mean": 2.5, "none": null, "list": [1, 2], "huge": 7});
    assert_eq!(rows(&[&trace], QUERY).unwrap(), [expected]);
    // The fields of rows are those of the query.
    let mut document: serde_json::Value = serde_json::from_str(&print("json").unwrap()).unwrap();
    document["rows"] = json!([]);
    support::json_schema::JsonSchema::read(SCHEMA).describes(&document);
}

#[test]
fn a_table_for_people_ends_early_and_csv_has_every_row() {
    let trace = trace();
    let print = |format| run(&[trace.to_str().unwrap(), "--to", format, "from range(30000)"]);
    let Some(table) = print("text") else { return };
    assert_eq!(table.answer.lines().count(), 2 + 10_000 + 1);
    assert!(table.answer.ends_with("20000 more rows; --to csv prints all\n"));
    let csv = print("csv").unwrap().answer;
    let rows: Vec<&str> = csv.lines().skip(1).collect();
    assert!(rows.iter().enumerate().all(|(at, row)| *row == at.to_string()));
    assert_eq!(rows.len(), 30_000);
}

#[test]
fn a_parquet_file_holds_the_result_and_is_not_replaced_unasked() {
    let (folder, trace) = (tempfile::tempdir().unwrap(), trace());
    let query = "select name, duration from dispatches -- all";
    let arguments = [trace.to_str().unwrap(), "--to", "parquet", "-o", "out.parquet", query];
    let Some(first) = run_in(folder.path(), &arguments) else { return };
    assert_eq!((first.code, first.messages.as_str()), (0, ""));
    let file = fs::read(folder.path().join("out.parquet")).unwrap();
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"), "{} bytes", file.len());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    let again = run_in(folder.path(), &arguments).unwrap();
    assert_eq!(again.code, 2, "{}", again.messages);
}

#[test]
fn parameters_have_names_and_types() {
    let trace = trace();
    let query = "select $text as text, $number + 1 as number";
    let parameters = ["--param", "text=it's", "-p", "number=41"];
    let Some(run) = run(&[&[trace.to_str().unwrap(), "--to", "csv", query], &parameters[..]].concat()) else {
        return;
    };
    assert_eq!(run.answer, "text,number\r\nit's,42\r\n", "{}", run.messages);
}

#[test]
fn dot_commands_describe_every_table() {
    let trace = trace();
    let answer = |command| run(&[trace.to_str().unwrap(), command]).map(|run| run.answer);
    let Some(tables) = answer(".tables") else { return };
    for table in
        ["ops", "dispatches", "copies", "api_calls", "operators", "ranges", "allocations", "counters"]
    {
        assert!(tables.contains(&format!("{table} ")), "{table} in {tables}");
    }
    assert!(answer(".schema dispatches").unwrap().contains("duration            BIGINT"));
}

#[test]
fn a_text_may_have_several_statements() {
    let trace = trace();
    let text =
        "create table t as select name from dispatches; from dispatches; select count(*) as rows from t;";
    let Some(several) = rows(&[&trace], text) else { return };
    assert_eq!(several, rows(&[&trace], "select count(*) as rows from dispatches").unwrap());
}
