//! The second oracle of rtl-summary: the queries of `sql/duckdb/`, which share no code with its figures, answer the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::rows_with;

type Rows = Vec<Map<String, Value>>;
type ByKey = BTreeMap<String, Map<String, Value>>;

/// A section of a report, and the query of which the answer is the same.
struct Compared {
    query: &'static str,
    /// Flags of rtl-summary.
    flags: &'static [&'static str],
    /// Columns that identify a row, then figures.
    keys: &'static [&'static str],
    figures: &'static [&'static str],
    section: fn(&Value) -> Rows,
}

const STATS: &[&str] =
    &["calls", "total_ns", "mean_ns", "min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns", "share"];
const BY_STEP: &[&str] = &["--by=step"];
const GROUP: &[&str] = &["calls", "total_ns", "min_ns", "max_ns"];

/// Figures of ops alone, which every dialect has.
const OF_OPS: &[Compared] = &[
    Compared {
        query: "kernels_by_name",
        flags: &[],
        keys: &["name"],
        figures: STATS,
        section: |report| list(&report["kernels"]),
    },
    Compared {
        query: "categories",
        flags: &[],
        keys: &["name"],
        figures: STATS,
        section: |report| list(&report["categories"]),
    },
    Compared {
        query: "gpu_busy",
        flags: &[],
        keys: &["gpu"],
        figures: &["ops", "busy_ns", "wall_ns", "idle_ns"],
        section: |report| list(&report["gpus"]),
    },
    Compared {
        query: "gpu_overlap",
        flags: &[],
        keys: &["gpu"],
        figures: &[
            "kernel_ns",
            "collective_ns",
            "copy_ns",
            "overlap_ns",
            "kernel_collective_ns",
            "kernel_copy_ns",
            "collective_copy_ns",
            "exposed_collective_ns",
        ],
        section: |report| list(&report["gpus"]),
    },
    Compared {
        query: "gaps",
        flags: &[],
        keys: &["gpu", "bucket_us"],
        figures: &["gaps", "total_ns"],
        section: |report| {
            let mut rows = Rows::new();
            for gpu in list(&report["gaps"]) {
                for mut bucket in list(&gpu["buckets"]).into_iter().filter(|bucket| bucket["count"] != 0) {
                    let lower = bucket["from_ns"].as_i64().unwrap() / 1_000;
                    bucket.extend([
                        ("gpu".to_owned(), gpu["gpu"].clone()),
                        ("bucket_us".to_owned(), lower.into()),
                        ("gaps".to_owned(), bucket["count"].clone()),
                    ]);
                    rows.push(bucket);
                }
            }
            rows
        },
    },
    Compared {
        query: "longest_gaps",
        flags: &["--top=10"],
        keys: &["gpu", "start_ns"],
        figures: &["duration_ns"],
        section: |report| list(&report["longest_gaps"]),
    },
    Compared {
        query: "gpu_busy",
        flags: &[],
        keys: &["gpu"],
        figures: &["wall_ns", "idle_ns"],
        section: |report| list(&report["idle"]),
    },
    Compared {
        query: "copy_bandwidth",
        flags: &[],
        keys: &["direction"],
        figures: &["copies", "total_ns", "bytes", "unknown_bytes", "bytes_per_second"],
        section: |report| {
            let mut rows = list(&report["copies"]);
            rows.iter_mut().for_each(|row| _ = row.insert("copies".to_owned(), row["count"].clone()));
            rows
        },
    },
    Compared {
        query: "memory",
        flags: &[],
        keys: &["device", "source", "pid"],
        figures: &[
            "allocations",
            "allocated_bytes",
            "releases",
            "released_bytes",
            "peak_bytes",
            "last_bytes",
        ],
        section: |report| {
            // The events of frameworks' allocators are no table, and memory of the host has no number.
            let is_row = |row: &Map<String, Value>| {
                row["source"] != "framework" && row["device"].as_str().unwrap().starts_with("GPU")
            };
            list(&report["memory"]).into_iter().filter(is_row).collect()
        },
    },
    Compared {
        query: "sanity",
        flags: &[],
        keys: &["finding"],
        figures: &["count"],
        section: |report| {
            let sanity = &report["sanity"];
            let count = |finding: &str| {
                let (part, figure) = finding.split_once('.').unwrap();
                json!({ "finding": finding, "count": sanity[part][figure] }).as_object().unwrap().clone()
            };
            let kinds = ["dispatches", "copies", "api_calls", "ranges"];
            let present = kinds.into_iter().filter(|kind| {
                report["inputs"][0]["rows"][kind] != 0
                    || kind == &"ranges" && report["inputs"][0]["rows"]["markers"] != 0
            });
            let durations = present
                .flat_map(|kind| ["missing", "negative", "zero"].map(|figure| format!("{kind}.{figure}")));
            let suspicious = ["overlaps.count", "duplicates.count"].map(str::to_owned);
            durations.chain(suspicious).map(|finding| count(&finding)).collect()
        },
    },
    Compared {
        query: "trace_rows",
        flags: &[],
        keys: &["trace"],
        figures: &[
            "dispatches",
            "copies",
            "barriers",
            "api_calls",
            "ranges",
            "markers",
            "allocations",
            "start_ns",
            "end_ns",
        ],
        section: |report| {
            let input = &report["inputs"][0];
            let mut row = input["rows"].as_object().unwrap().clone();
            for field in ["start_ns", "end_ns"] {
                row.insert(field.to_owned(), input[field].clone());
            }
            vec![row]
        },
    },
    Compared {
        query: "kernels_by_queue",
        flags: &["--by=queue"],
        keys: &["name"],
        figures: GROUP,
        section: |report| list(&report["groups"]),
    },
];

/// Figures of calls and of what ties ops to them.
const OF_CALLS: &[Compared] = &[
    Compared {
        query: "api_calls",
        flags: &[],
        keys: &["domain", "name"],
        figures: &[
            "calls", "total_ns", "mean_ns", "min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns", "share",
            "errors",
        ],
        section: |report| list(&report["api"]),
    },
    Compared {
        query: "launch_latency",
        flags: &[],
        keys: &["name"],
        figures: &["total_ns", "min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns"],
        section: |report| {
            let mut rows = list(&report["launches"]["kernels"]);
            let copies = report["launches"]["copies"].as_object().filter(|copies| copies["calls"] != 0);
            rows.extend(copies.map(|copies| {
                let mut row = copies.clone();
                row.insert("name".to_owned(), Value::Null);
                row
            }));
            rows
        },
    },
    Compared {
        query: "queue_depth",
        flags: &[],
        keys: &["gpu"],
        figures: &["idle_ns", "host_ns", "waiting_ns"],
        section: |report| list(&report["queues"]["idle"]),
    },
    Compared {
        query: "queue_depth",
        flags: &[],
        keys: &["gpu"],
        figures: &["wall_ns", "mean", "max"],
        section: |report| {
            list(&report["queues"]["depth"]).into_iter().filter(|row| row["queue"].is_null()).collect()
        },
    },
];

/// Figures of ranges, of traces whose ops carry the id of their innermost range.
const OF_RANGES: &[Compared] = &[
    Compared {
        query: "ranges_with_work",
        flags: &[],
        keys: &["name", "marker"],
        figures: &["calls", "total_ns", "min_ns", "p50_ns", "max_ns", "ops", "gpu_ns", "gpu_busy_ns"],
        section: |report| list(&report["ranges"]["groups"]),
    },
    Compared {
        query: "kernels_by_range",
        flags: &["--by=range"],
        keys: &["name"],
        figures: GROUP,
        section: |report| list(&report["groups"]),
    },
    Compared {
        query: "kernels_by_step",
        flags: BY_STEP,
        keys: &["name"],
        figures: GROUP,
        section: |report| list(&report["groups"]),
    },
];

/// Rows of a list; none where there is no list.
fn list(value: &Value) -> Rows {
    value.as_array().into_iter().flatten().map(|row| row.as_object().unwrap().clone()).collect()
}

fn report(path: &Path, flags: &[&str]) -> Value {
    let words = ["rtl-summary", "--to=json"].iter().chain(flags).map(Into::into);
    let line = words.chain([path.as_os_str().to_owned()]).collect();
    let called = cli::call(line, rtl_summary::run);
    serde_json::from_str(&called.report).unwrap_or_else(|_| panic!("{}: {called:?}", path.display()))
}

/// The text of a query, with the units of the section.
fn query(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../sql/duckdb/{name}.sql"));
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.trim_end().trim_end_matches(';');
    match name {
        "copy_bandwidth" => format!(
            "from ({text}) select direction, copies, total_ns, coalesce(bytes, 0) as bytes,
                copies - sized as unknown_bytes, bytes_per_ns * 1e9 as bytes_per_second"
        ),
        _ => text.to_owned(),
    }
}

/// The name of the range that is a step, of a report by step: groups are its name with a number.
fn step(report: &Value) -> Option<String> {
    let names =
        report["groups"].as_array()?.iter().filter_map(|group| group["name"].as_str()?.rsplit_once(' '));
    let mut numbered = names.filter(|(_, number)| number.parse::<u32>().is_ok());
    numbered.next().map(|(name, _)| name.to_owned())
}

fn by_key(rows: Rows, keys: &[&str], place: &str) -> ByKey {
    let count = rows.len();
    // A source may have mangled names, which rtl-summary shows demangled.
    let text = |value: &Value| match value.as_str() {
        Some(name) => rtl_schema::demangle(name).unwrap_or_else(|| name.to_owned()),
        None => value.to_string(),
    };
    let key = |row: &Map<String, Value>| {
        keys.iter().map(|&key| text(row.get(key).unwrap_or(&Value::Null))).collect::<Vec<_>>().join(" ")
    };
    let rows: ByKey = rows.into_iter().map(|row| (key(&row), row)).collect();
    assert_eq!(rows.len(), count, "keys of {place}");
    rows
}

/// Integers are equal, and other numbers but for rounding.
fn agree(one: &Value, other: &Value) -> bool {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    match (one.as_i64(), other.as_i64()) {
        (Some(one), Some(other)) => one == other,
        _ if one.is_number() && other.is_number() => {
            let (one, other) = (number(one), number(other));
            (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
        }
        _ => one == other,
    }
}

/// The rows of all queries; `None` without DuckDB. One program answers them, because each start of DuckDB costs more than they do.
fn answers(path: &Path, names: &[&str], parameters: &[String]) -> Option<BTreeMap<String, Rows>> {
    let texts = names.iter().map(|name| {
        let text = query(name);
        format!("select '{name}' as query, to_json(list(rows))::text as rows from (\n{text}\n) as rows")
    });
    let rows = rows_with(&[path], &texts.collect::<Vec<_>>().join("\nunion all\n"), parameters)?;
    let answer = |row: &Value| {
        let rows = row["rows"].as_str().map_or_else(Rows::new, |rows| serde_json::from_str(rows).unwrap());
        (row["query"].as_str().unwrap().to_owned(), rows)
    };
    Some(rows.iter().map(answer).collect())
}

/// The differences between sections of a report and the answers of their queries; `None` without DuckDB. Counts the figures that
/// were compared.
fn differences(path: &Path, sections: &[&Compared], compared: &mut usize) -> Option<Vec<String>> {
    let mut reports: BTreeMap<&[&str], Value> = BTreeMap::new();
    sections.iter().for_each(|section| {
        reports.entry(section.flags).or_insert_with(|| report(path, section.flags));
    });
    let step = reports.get(BY_STEP).and_then(step);
    let is_asked = |section: &&&Compared| section.flags != BY_STEP || step.is_some();
    let names: BTreeSet<&str> = sections.iter().filter(is_asked).map(|section| section.query).collect();
    let parameters: Vec<String> = step.iter().map(|step| format!("step={step}")).collect();
    let mut answers = answers(path, &Vec::from_iter(names), &parameters)?;
    let mut found = Vec::new();
    for Compared { query, flags, keys, figures, section } in sections.iter().filter(is_asked) {
        let place = format!("{query} of {}", path.display());
        let rows = answers.entry((*query).to_owned()).or_default().clone();
        let (ours, theirs) = (by_key(section(&reports[flags]), keys, &place), by_key(rows, keys, &place));
        let lacking = |one: &ByKey, other: &ByKey| -> Vec<String> {
            one.keys().filter(|key| !other.contains_key(*key)).cloned().collect()
        };
        for (which, rows) in
            [("rtl-summary", lacking(&ours, &theirs)), ("the query", lacking(&theirs, &ours))]
        {
            if !rows.is_empty() {
                found.push(format!("{place}: only {which} has the rows {rows:?}"));
            }
        }
        for (key, ours) in &ours {
            let Some(theirs) = theirs.get(key) else { continue };
            for &figure in *figures {
                let (one, other) = (&ours[figure], &theirs[figure]);
                *compared += 1;
                if !agree(one, other) {
                    found.push(format!("{place}: {figure} of {key}: {one} and {other}"));
                }
            }
        }
    }
    Some(found)
}

/// How many figures of sections are those of the queries; `None` without DuckDB.
#[track_caller]
fn compare(path: &Path, sections: &[&[Compared]]) -> Option<usize> {
    let mut compared = 0;
    let sections: Vec<&Compared> = sections.iter().copied().flatten().collect();
    let found = differences(path, &sections, &mut compared)?;
    assert!(found.is_empty(), "{found:#?}");
    Some(compared)
}

#[test]
fn sections_of_fixtures_are_those_of_the_queries() {
    for name in support::fixture_names() {
        let Some(_) = compare(&support::fixture(&name), &[OF_OPS, OF_CALLS, OF_RANGES]) else { return };
    }
}

#[test]
fn sections_of_generated_traces_are_those_of_the_queries() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 1..3 {
        let path = folder.path().join(format!("{seed}.db"));
        let options = support::Options {
            ops: 20_000,
            seed,
            gpus: 1 + seed as u32,
            kernels: 60,
            shuffle: seed == 2,
            api: true,
            ranges: true,
            ..support::Options::default()
        };
        support::generate(&options, &path).unwrap();
        let Some(compared) = compare(&path, &[OF_OPS, OF_CALLS, OF_RANGES]) else { return };
        assert!(compared > 1_000, "{compared} figures");
    }
}

#[test]
fn sections_of_real_traces_are_those_of_the_queries() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let shared = support::shared();
    let shared = shared
        .iter()
        .flat_map(|shared| ["traces/real", "traces/made", "kineto"].map(|folder| shared.join(folder)));
    for folder in shared.chain(["real", "foreign"].map(|folder| fixtures.join(folder))) {
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.is_file() && rtl_schema::Trace::open(path).is_ok()) {
            let Some(_) = compare(path, &[OF_OPS, OF_CALLS]) else { return };
        }
    }
}

#[test]
fn a_figure_or_a_row_that_differs_is_found() {
    let path = support::fixture("two-kernels");
    let longer = |report: &Value| {
        let mut rows = list(&report["kernels"]);
        rows[0]["total_ns"] = (rows[0]["total_ns"].as_i64().unwrap() + 1).into();
        rows
    };
    let fewer = |report: &Value| list(&report["kernels"]).split_off(1);
    for (section, expected) in
        [(longer as fn(&Value) -> Rows, ": total_ns of "), (fewer, "only the query has the rows ")]
    {
        let altered = Compared { section, ..OF_OPS[0] };
        let Some(found) = differences(&path, &[&altered], &mut 0) else { return };
        assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
    }
}
