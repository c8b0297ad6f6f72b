//! The questions of the guide.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rtl_schema::{Select, Tables, Trace};
use serde_json::{Value, json};

use crate::run;

const GUIDE: &str = include_str!("../../../../docs/guide/sql.md");

/// The questions with their queries, in order.
fn questions() -> Vec<(&'static str, &'static str)> {
    let parts = GUIDE.split("\n**").skip(1);
    let question = |part: &'static str| {
        let (question, rest) = part.split_once("**").unwrap();
        let (_, query) = rest.split_once("```sql\n").unwrap();
        (question, query.split_once("```").unwrap().0)
    };
    parts.map(question).collect()
}

/// Two traces, of which the second has another seed.
fn traces(folder: &Path) -> [PathBuf; 2] {
    [("before.db", 1), ("after.db", 2)].map(|(name, seed)| {
        let path = folder.join(name);
        let options = support::Options {
            ops: 5_000,
            gpus: 2,
            kernels: 40,
            api: true,
            ranges: true,
            seed,
            ..support::Options::default()
        };
        support::generate(&options, &path).unwrap();
        path
    })
}

/// The rows of a text on traces; `None` where the machine has no DuckDB.
fn rows(traces: &[PathBuf], text: &str) -> Option<Vec<Value>> {
    let mut arguments: Vec<&str> = traces.iter().map(|trace| trace.to_str().unwrap()).collect();
    arguments.extend(["-p", "before=before.db", "-p", "after=after.db", "--to", "json", "--", text]);
    let run = run(&arguments)?;
    assert_eq!((run.code, run.messages.as_str()), (0, ""), "{text}");
    let mut document: Value = serde_json::from_str(&run.answer).unwrap();
    Some(serde_json::from_value(document["rows"].take()).unwrap())
}

#[test]
fn every_question_has_a_number_and_a_query_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let questions = questions();
    for (at, (question, _)) in questions.iter().enumerate() {
        assert!(question.starts_with(&format!("{}. ", at + 1)), "{question}");
    }
    assert_eq!(questions.len(), 30);
    let all: String = questions.iter().map(|(_, query)| *query).collect();
    rows(&traces(folder.path()), &all);
}

fn question(number: usize) -> &'static str {
    questions()[number - 1].1
}

/// Calls and time of dispatches by a key.
fn totals<K: Ord>(tables: &Tables, key: impl Fn(usize) -> K) -> BTreeMap<K, (u64, i64)> {
    let mut totals = BTreeMap::new();
    for row in 0..tables.dispatches.len() {
        let total = totals.entry(key(row)).or_insert((0, 0));
        total.0 += 1;
        total.1 += tables.dispatches.duration.valid(row).unwrap_or(0);
    }
    totals
}

#[test]
fn answers_are_those_of_the_readers_and_the_analysis() {
    let folder = tempfile::tempdir().unwrap();
    let [trace, _] = traces(folder.path());
    let tables = Trace::open(&trace).unwrap().read(&Select::everything()).unwrap();
    let name = |row: usize| rtl_schema::identity(tables.strings.get(tables.dispatches.name[row])).to_owned();
    let answer = |number| rows(std::slice::from_ref(&trace), question(number));

    let Some(kernels) = answer(1) else { return };
    let of_kernels = totals(&tables, name);
    assert_eq!(kernels.len(), 10);
    for kernel in &kernels {
        let (calls, total) = of_kernels[kernel["name"].as_str().unwrap()];
        assert_eq!((&kernel["calls"], &kernel["total_ns"]), (&json!(calls), &json!(total)));
    }
    let mut largest: Vec<i64> = of_kernels.values().map(|&(_, total)| total).collect();
    largest.sort_unstable_by(|one, other| other.cmp(one));
    assert_eq!(
        kernels.iter().map(|row| row["total_ns"].as_i64().unwrap()).collect::<Vec<_>>(),
        largest[..10]
    );

    let rules = rtl_analysis::Categories::default();
    let of_categories = totals(&tables, |row| rules.of(&name(row)).to_owned());
    let categories = answer(2).unwrap();
    assert_eq!(categories.len(), of_categories.len());
    for category in &categories {
        assert_eq!(category["total_ns"], json!(of_categories[category["category"].as_str().unwrap()].1));
    }

    let of_queues = totals(&tables, |row| {
        let track = tables.tracks.get(tables.dispatches.track[row]);
        (tables.agent(track.agent).number, track.queue)
    });
    let queues = of_queues.iter().map(|((gpu, queue), (calls, total))| {
        json!({"gpu": gpu, "queue": queue, "kernels": calls, "total_ns": total})
    });
    assert_eq!(answer(13).unwrap(), queues.collect::<Vec<_>>());

    let pieces = rtl_analysis::idle::pieces(&tables);
    let idle: i64 = pieces.iter().map(|piece| piece.end_ns - piece.start_ns).sum();
    let causes = answer(15).unwrap();
    assert_eq!(causes.iter().map(|row| row["total_ns"].as_i64().unwrap()).sum::<i64>(), idle);
    assert_eq!(causes.iter().map(|row| row["pieces"].as_u64().unwrap()).sum::<u64>(), pieces.len() as u64);

    let launches = answer(23).unwrap();
    let tied = rtl_analysis::launches::OpLatencies::of(&tables);
    let of_sql: u64 = launches.iter().map(|row| row["launches"].as_u64().unwrap()).sum();
    assert_eq!(of_sql, tied.dispatches.iter().flatten().count() as u64);
}
