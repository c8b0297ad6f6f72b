//! A report beside SQL that shares no code with it: the queries of `sql/queries/` where they answer the
//! question, else the ones here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use support::Layout;
use support::rusqlite::Connection;
use support::rusqlite::types::ValueRef;

use crate::report_on;

/// Ops as the queries of `sql/queries/` see them, for those here.
const OPS: &str = "
CREATE TEMP TABLE every AS
    SELECT op.id, gpuId, queueId, start, end, end - start AS duration, roctxId,
        CASE WHEN description_id IS NULL THEN '(no name)' ELSE coalesce(name.string, '(dangling name)') END AS stored,
        CASE
            WHEN type.string LIKE 'Copy%' OR type.string = 'FillBuffer' THEN 'copy'
            WHEN type.string IN ('Barrier', 'UserMarker') THEN type.string
            WHEN name.string LIKE '%nccl%' OR name.string LIKE '%rccl%'
                OR name.string LIKE '%cross\\_device\\_reduce%' ESCAPE '\\' THEN 'collective'
            ELSE 'kernel'
        END AS class
    FROM rocpd_op AS op
        LEFT JOIN rocpd_string AS name ON name.id = description_id
        LEFT JOIN rocpd_string AS type ON type.id = opType_id
    WHERE start IS NOT NULL;
CREATE TEMP TABLE ops AS
    SELECT * FROM every WHERE class IN ('kernel', 'collective', 'copy') AND duration >= 0;
CREATE TEMP VIEW dispatches AS SELECT * FROM ops WHERE class <> 'copy';
CREATE TEMP TABLE ranges AS
    SELECT roctxId AS number, start, end, duration, stored AS name, duration = 0 AS marker
    FROM every WHERE class = 'UserMarker' AND duration >= 0;
";

/// A row by column name.
pub(crate) type Row = Map<String, Value>;

/// A trace, what SQLite says about it and what the program says.
pub(crate) struct Trial {
    connection: Connection,
    report: Value,
    path: PathBuf,
}

impl Trial {
    pub(crate) fn of(path: &Path) -> Self {
        Self::with(Connection::open(path).unwrap(), path, "--names mangled")
    }

    /// The report on `path`, asked for with more words, against a connection that has the same trace in tables
    /// with our columns, whatever its own are.
    pub(crate) fn with(connection: Connection, path: &Path, line: &str) -> Self {
        connection.execute_batch(OPS).unwrap();
        Self { connection, report: report_on(path, line), path: path.to_owned() }
    }

    pub(crate) fn query(&self, sql: &str) -> Vec<Row> {
        let mut statement = self.connection.prepare(sql).unwrap();
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let rows = statement.query_map([], |row| {
            names.iter().enumerate().map(|(at, name)| Ok((name.clone(), value(row.get_ref(at)?)))).collect()
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    fn number(&self, sql: &str) -> i64 {
        self.query(sql)[0].values().next().unwrap().as_i64().unwrap()
    }

    fn rows(&self, section: &str) -> &[Value] {
        self.report[section].as_array().unwrap()
    }

    /// The rows of a section are those of a query by `key`, field by field.
    #[track_caller]
    pub(crate) fn equal(&self, what: &str, key: &str, ours: &[Value], theirs: &[Row], fields: &[&str]) {
        let ours: BTreeMap<String, &Value> = ours.iter().map(|row| (row[key].to_string(), row)).collect();
        let theirs: BTreeMap<String, &Row> = theirs.iter().map(|row| (row[key].to_string(), row)).collect();
        let keys = |names: Vec<&String>| names.into_iter().cloned().collect::<Vec<_>>();
        assert_eq!(
            keys(ours.keys().collect()),
            keys(theirs.keys().collect()),
            "{what} of {}",
            self.path.display()
        );
        for (name, ours) in ours {
            for &field in fields {
                let (one, other) = (&ours[field], &theirs[&name][field]);
                assert_eq!(one, other, "{field} of {name}, {what} of {}", self.path.display());
            }
        }
    }

    fn kernels(&self) {
        let theirs = self.query(include_str!("../../../../sql/queries/kernels_by_name.sql"));
        let ours = self.rows("kernels");
        let fields = ["calls", "total_ns", "min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns"];
        self.equal("kernels", "name", ours, &theirs, &fields);
        let all: i64 = theirs.iter().map(|row| row["total_ns"].as_i64().unwrap()).sum();
        let mut cumulative = 0.0;
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours["name"], theirs["name"], "the same order, ties by name");
            let number = |row: &Value| row.as_f64().unwrap_or(0.0);
            close(number(&ours["mean_ns"]), number(&theirs["mean_ns"]));
            close(number(&ours["stddev_ns"]).powi(2), number(&theirs["variance_ns2"]));
            let share = if all == 0 { 0.0 } else { number(&theirs["total_ns"]) / all as f64 };
            cumulative += share;
            close(number(&ours["share"]), share);
            close(number(&ours["cumulative_share"]), cumulative);
        }
    }

    fn groups(&self) {
        for (by, columns) in [("gpu", "gpuId"), ("queue", "gpuId, queueId")] {
            let report = report_on(&self.path, &format!("--by {by} --section kernels"));
            let figures = ["calls", "total_ns", "min_ns", "max_ns"];
            let mut ours: Vec<Vec<i64>> = report["groups"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| figures.iter().map(|&figure| row[figure].as_i64().unwrap()).collect())
                .collect();
            let theirs = self.query(&format!(
                "SELECT count(*) AS calls, sum(duration) AS total_ns, min(duration) AS min_ns,
                    max(duration) AS max_ns FROM dispatches GROUP BY {columns}"
            ));
            let mut theirs: Vec<Vec<i64>> = theirs
                .iter()
                .map(|row| figures.iter().map(|&figure| row[figure].as_i64().unwrap()).collect())
                .collect();
            ours.sort();
            theirs.sort();
            assert_eq!(ours, theirs, "by {by} of {}", self.path.display());
        }
    }

    fn innermost_ranges(&self) {
        let report = report_on(&self.path, "--by range --section kernels");
        let theirs = self.query(
            "SELECT ifnull(name, '(no range)') AS name, count(*) AS calls, sum(dispatches.duration) AS total_ns
            FROM dispatches LEFT JOIN ranges ON number = roctxId GROUP BY 1",
        );
        self.equal("ranges", "name", report["groups"].as_array().unwrap(), &theirs, &["calls", "total_ns"]);
    }

    fn categories(&self) {
        let mut sums: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
        for kernel in self.rows("kernels") {
            let sum = sums.entry(kernel["category"].as_str().unwrap()).or_default();
            sum.0 += kernel["calls"].as_i64().unwrap();
            sum.1 += kernel["total_ns"].as_i64().unwrap();
        }
        let ours: BTreeMap<&str, (i64, i64)> = self
            .rows("categories")
            .iter()
            .map(|row| {
                let figures = (row["calls"].as_i64().unwrap(), row["total_ns"].as_i64().unwrap());
                (row["name"].as_str().unwrap(), figures)
            })
            .collect();
        assert_eq!(ours, sums);
    }

    /// The length of the union of some classes' intervals on one GPU.
    fn union(&self, gpu: &Value, classes: &str) -> i64 {
        self.number(&format!(
            "WITH reached AS (
                SELECT start, end, max(end) OVER (
                    ORDER BY start, end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ) AS before
                FROM ops WHERE gpuId = {gpu} AND instr('{classes}', class)
            )
            SELECT ifnull(sum(max(0, end - max(start, ifnull(before, start)))), 0) FROM reached"
        ))
    }

    fn gpus(&self) {
        let theirs = self.query(include_str!("../../../../sql/queries/gpu_busy.sql"));
        self.equal("GPUs", "gpu", self.rows("gpus"), &theirs, &["ops", "busy_ns", "wall_ns", "idle_ns"]);
        let classes = self.query(include_str!("../../../../sql/queries/gpu_classes.sql"));
        for ours in self.rows("gpus") {
            let gpu = &ours["gpu"];
            for class in ["kernel", "collective", "copy"] {
                let theirs = classes.iter().find(|row| row["gpu"] == *gpu && row["class"] == class);
                let theirs = theirs.map_or(0, |row| row["busy_ns"].as_i64().unwrap());
                assert_eq!(
                    ours[format!("{class}_ns")],
                    theirs,
                    "{class} on GPU {gpu} of {}",
                    self.path.display()
                );
            }
            let [k, c, m] = ["kernel", "collective", "copy"].map(|class| self.union(gpu, class));
            let [kc, km, cm] = ["kernel collective", "kernel copy", "collective copy"]
                .map(|classes| self.union(gpu, classes));
            let all = self.union(gpu, "kernel collective copy");
            // The sizes of two sets exceed the size of their union by what they share.
            let [both_kc, both_km, both_cm] = [k + c - kc, k + m - km, c + m - cm];
            let three = all - k - c - m + both_kc + both_km + both_cm;
            assert_eq!(ours["busy_ns"], all);
            assert_eq!(ours["kernel_collective_ns"], both_kc);
            assert_eq!(ours["kernel_copy_ns"], both_km);
            assert_eq!(ours["collective_copy_ns"], both_cm);
            assert_eq!(ours["overlap_ns"], both_kc + both_km + both_cm - 2 * three);
            assert_eq!(ours["exposed_collective_ns"], kc - k);
            let figures = self.query(&format!(
                "SELECT min(start) AS start_ns, max(end) AS end_ns, sum(class <> 'copy') AS dispatches,
                    sum(class = 'collective') AS collectives, sum(class = 'copy') AS copies
                FROM ops WHERE gpuId = {gpu}"
            ));
            for (field, theirs) in &figures[0] {
                assert_eq!(&ours[field], theirs, "{field} of GPU {gpu} of {}", self.path.display());
            }
            close(ours["busy_share"].as_f64().unwrap() * ours["wall_ns"].as_f64().unwrap(), all as f64);
        }
    }

    fn gaps(&self) {
        let theirs = self.query(include_str!("../../../../sql/queries/gaps.sql"));
        let figure = |row: &Value, field: &str| row[field].as_i64().unwrap();
        let mut ours = Vec::new();
        for gpu in self.rows("gaps") {
            for bucket in gpu["buckets"].as_array().unwrap().iter().filter(|bucket| bucket["count"] != 0) {
                let lower = figure(bucket, "from_ns") / 1_000;
                ours.push([figure(gpu, "gpu"), lower, figure(bucket, "count"), figure(bucket, "total_ns")]);
            }
        }
        let fields = ["gpu", "bucket_us", "gaps", "total_ns"];
        let theirs: Vec<_> =
            theirs.iter().map(|row| fields.map(|field| row[field].as_i64().unwrap())).collect();
        assert_eq!(ours, theirs, "gaps of {}", self.path.display());
        let longest = self.query(
            "WITH reached AS (
                SELECT gpuId, start, max(end) OVER (
                    PARTITION BY gpuId ORDER BY start, end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ) AS before FROM ops
            )
            SELECT gpuId AS gpu, before AS start_ns, start - before AS duration_ns
            FROM reached WHERE start > before ORDER BY duration_ns DESC, before, gpu LIMIT 10",
        );
        let fields = ["gpu", "start_ns", "duration_ns"];
        let ours: Vec<_> =
            self.rows("longest_gaps").iter().map(|gap| fields.map(|field| figure(gap, field))).collect();
        let theirs: Vec<_> =
            longest.iter().map(|gap| fields.map(|field| gap[field].as_i64().unwrap())).collect();
        assert_eq!(ours, theirs, "longest gaps of {}", self.path.display());
        for gap in self.rows("longest_gaps") {
            let start = figure(gap, "start_ns");
            let end = start + figure(gap, "duration_ns");
            for (name, bound) in [("before", format!("end = {start}")), ("after", format!("start = {end}"))] {
                let there = self.query(&format!(
                    "SELECT stored, class FROM ops WHERE gpuId = {} AND {bound}",
                    gap["gpu"]
                ));
                let name = gap[name].as_str().unwrap();
                let is_it = |op: &Row| match op["class"].as_str().unwrap() {
                    "copy" => {
                        ["fill", "FillBuffer", "Copy", "MEMORY_COPY"]
                            .iter()
                            .any(|word| name.starts_with(word))
                            || name.contains("-to-")
                    }
                    _ => op["stored"]
                        .as_str()
                        .unwrap()
                        .strip_prefix(name)
                        .is_some_and(|rest| ["", ".kd", " [clone .kd]"].contains(&rest)),
                };
                assert!(there.iter().any(is_it), "{gap} of {}", self.path.display());
            }
        }
    }

    fn copies(&self, sized: bool) {
        let mut theirs = match sized {
            true => self.query(include_str!("../../../../sql/queries/copy_bandwidth.sql")),
            false => self.query(include_str!("../../../../sql/queries/copies_by_direction.sql")),
        };
        for row in &mut theirs {
            let direction = match row["type"].as_str().unwrap() {
                "CopyHostToDevice" => "host-to-device",
                "CopyDeviceToHost" => "device-to-host",
                "CopyDeviceToDevice" => "device-to-device",
                "FillBuffer" => "fill",
                other => panic!("no story has {other}"),
            };
            row.insert("direction".to_owned(), direction.into());
            row.insert("count".to_owned(), row["copies"].clone());
        }
        let ours = self.rows("copies");
        self.equal("copies", "direction", ours, &theirs, &["count", "total_ns"]);
        if !sized {
            return;
        }
        for theirs in &theirs {
            let ours = ours.iter().find(|row| row["direction"] == theirs["direction"]).unwrap();
            let number = |row: &Value| row.as_f64().unwrap_or(0.0);
            assert_eq!(number(&ours["bytes"]), number(&theirs["bytes"]));
            assert_eq!(number(&ours["unknown_bytes"]), number(&theirs["copies"]) - number(&theirs["sized"]));
            close(number(&ours["bytes_per_second"]), number(&theirs["bytes_per_ns"]) * 1e9);
        }
    }

    fn ranges(&self) {
        let ours = self.report["ranges"]["groups"].as_array().unwrap();
        // An op is inside its innermost range and inside all that are around that one.
        let theirs = self.query(
            "WITH around AS (
                SELECT DISTINCT inside.number, outside.name FROM ranges AS inside JOIN ranges AS outside
                ON outside.start <= inside.start AND inside.end <= outside.end AND NOT outside.marker
            ),
            reached AS (
                SELECT name, start, end, duration, max(end) OVER (
                    PARTITION BY name, gpuId ORDER BY start, end
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ) AS before
                FROM ops JOIN around ON number = roctxId
            ),
            enclosed AS (
                SELECT name, count(*) AS ops, sum(duration) AS gpu_ns,
                    sum(max(0, end - max(start, ifnull(before, start)))) AS gpu_busy_ns
                FROM reached GROUP BY name
            )
            SELECT name, marker, count(*) AS count, count(*) AS calls, sum(duration) AS total_ns,
                min(duration) AS min_ns, max(duration) AS max_ns,
                iif(marker, 0, ifnull(ops, 0)) AS ops, iif(marker, 0, ifnull(gpu_ns, 0)) AS gpu_ns,
                iif(marker, 0, ifnull(gpu_busy_ns, 0)) AS gpu_busy_ns
            FROM ranges LEFT JOIN enclosed USING (name) GROUP BY name, marker",
        );
        let fields = ["count", "calls", "total_ns", "min_ns", "max_ns", "ops", "gpu_ns", "gpu_busy_ns"];
        self.equal("ranges", "name", ours, &theirs, &fields);
    }

    /// `domain` is the column of the domain's text, `NULL` where there is none.
    pub(crate) fn api(&self, domain: &str) {
        let theirs = self.query(&format!(
            "WITH calls AS (
                SELECT name.string AS name, domain.string AS domain, end - start AS duration
                FROM rocpd_api JOIN rocpd_string AS name ON name.id = apiName_id
                    LEFT JOIN rocpd_string AS domain ON domain.id = {domain}
            ),
            ranked AS (
                SELECT *, row_number() OVER (PARTITION BY name ORDER BY duration) AS place,
                    count(*) OVER (PARTITION BY name) AS calls
                FROM calls
            )
            SELECT name, domain, calls, sum(duration) AS total_ns, min(duration) AS min_ns, max(duration) AS max_ns,
                max(iif(place = (calls * 50 + 99) / 100, duration, NULL)) AS p50_ns,
                max(iif(place = (calls * 95 + 99) / 100, duration, NULL)) AS p95_ns,
                max(iif(place = (calls * 99 + 99) / 100, duration, NULL)) AS p99_ns
            FROM ranked GROUP BY name",
        ));
        let fields = ["domain", "calls", "total_ns", "min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns"];
        self.equal("API calls", "name", self.rows("api"), &theirs, &fields);
    }

    /// Calls by function and library, as the query of `sql/queries/` says.
    pub(crate) fn calls(&self) {
        let theirs = self.query(include_str!("../../../../sql/queries/api_calls.sql"));
        let ours = self.rows("api");
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            for field in ["domain", "name", "calls", "total_ns", "p50_ns", "p95_ns", "p99_ns", "errors"] {
                assert_eq!(ours[field], theirs[field], "{field} of {theirs:?} of {}", self.path.display());
            }
            close(ours["share"].as_f64().unwrap(), theirs["share"].as_f64().unwrap());
        }
    }

    /// Launch latency and queue depth, as the queries of `sql/queries/` say.
    pub(crate) fn launches(&self) {
        let theirs = self.query(include_str!("../../../../sql/queries/launch_latency.sql"));
        let (copies, kernels): (Vec<Row>, Vec<Row>) =
            theirs.into_iter().partition(|row| row["name"].is_null());
        let launches = &self.report["launches"];
        let ours = launches["kernels"].as_array().unwrap();
        let fields = ["total_ns", "min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns"];
        self.equal("launches", "name", ours, &kernels, &fields);
        let sum =
            |rows: &[Row], field: &str| rows.iter().map(|row| row[field].as_i64().unwrap()).sum::<i64>();
        for (ours, theirs) in [(&launches["all"], &kernels), (&launches["copies"], &copies)] {
            assert_eq!(ours["calls"], sum(theirs, "launches"), "launches of {}", self.path.display());
            assert_eq!(ours["total_ns"], sum(theirs, "total_ns"), "launches of {}", self.path.display());
        }
        let theirs = self.query(include_str!("../../../../sql/queries/queue_depth.sql"));
        let idle = self.report["queues"]["idle"].as_array().unwrap();
        self.equal("idle time", "gpu", idle, &theirs, &["idle_ns", "host_ns", "waiting_ns"]);
        let depth = self.report["queues"]["depth"].as_array().unwrap().iter();
        let gpus: Vec<Value> = depth.filter(|row| row["queue"].is_null()).cloned().collect();
        self.equal("queue depth", "gpu", &gpus, &theirs, &["wall_ns", "max"]);
        for (ours, theirs) in gpus.iter().zip(&theirs) {
            close(ours["mean"].as_f64().unwrap(), theirs["mean"].as_f64().unwrap());
        }
    }

    fn about_and_sanity(&self) {
        let about = &self.report["inputs"][0];
        let count = |condition: &str| self.number(&format!("SELECT count(*) FROM every WHERE {condition}"));
        let kernel = "class IN ('kernel', 'collective')";
        let copy = "class = 'copy'";
        assert_eq!(about["rows"]["dispatches"], count(kernel));
        assert_eq!(about["rows"]["copies"], count(copy));
        assert_eq!(about["rows"]["ranges"], count("class = 'UserMarker' AND duration <> 0"));
        assert_eq!(about["rows"]["markers"], count("class = 'UserMarker' AND duration = 0"));
        let sanity = &self.report["sanity"];
        for (rows, class) in [("dispatches", kernel), ("copies", copy)] {
            assert_eq!(sanity[rows]["missing"], count(&format!("{class} AND end IS NULL")));
            assert_eq!(sanity[rows]["negative"], count(&format!("{class} AND end < start")));
            assert_eq!(sanity[rows]["zero"], count(&format!("{class} AND end = start")));
        }
        assert_eq!(
            sanity["duplicates"]["count"],
            self.number(
                "SELECT ifnull(sum(copies - 1), 0) FROM (
                    SELECT count(*) AS copies FROM dispatches GROUP BY gpuId, queueId, stored, start, end
                )"
            )
        );
        assert_eq!(
            sanity["overlaps"]["count"],
            self.number(
                "WITH reached AS (
                    SELECT start, max(end) OVER (
                        PARTITION BY gpuId, queueId ORDER BY start, end
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                    ) AS before FROM dispatches
                )
                SELECT count(*) FROM reached WHERE start < before"
            ),
            "overlaps of {}",
            self.path.display()
        );
        let dominant = self.query(
            "SELECT stored AS kernel, count(*) AS calls, max(duration) AS max_ns, sum(duration) AS total_ns
            FROM dispatches GROUP BY stored HAVING count(*) >= 4 AND 2 * max(duration) > sum(duration)",
        );
        let ours = sanity["dominant"].as_array().unwrap();
        self.equal("dominant calls", "kernel", ours, &dominant, &["calls", "max_ns", "total_ns"]);
    }

    pub(crate) fn span(&self, calls: bool) {
        let calls = if calls { "UNION ALL SELECT start, end FROM rocpd_api" } else { "" };
        let theirs = self.query(&format!(
            "SELECT min(start) AS start_ns, max(max(start, ifnull(end, start))) AS end_ns
            FROM (SELECT start, end FROM every {calls})"
        ));
        for (field, theirs) in &theirs[0] {
            assert_eq!(&self.report["inputs"][0][field], theirs, "{field} of {}", self.path.display());
        }
    }

    /// Our ranges and markers, told apart by a 0 or a 1 after the name.
    pub(crate) fn ranges_with_kind(&self) -> Vec<Value> {
        let mut rows = self.report["ranges"]["groups"].as_array().unwrap().clone();
        for row in &mut rows {
            let kind = i32::from(row["marker"].as_bool().unwrap());
            row["name"] = format!("{}{kind}", row["name"].as_str().unwrap()).into();
        }
        rows
    }

    /// All figures about ops; `sized` says whether the column `bytes` is there.
    pub(crate) fn ops(&self, sized: bool) {
        self.kernels();
        self.groups();
        self.categories();
        self.gpus();
        self.gaps();
        self.copies(sized);
        self.about_and_sanity();
    }

    pub(crate) fn everything(&self, layout: Layout, api: bool) {
        self.ops(layout == Layout::Native);
        self.innermost_ranges();
        self.ranges();
        self.span(api);
        if api {
            // rocm-trace-lite has no domains.
            if layout == Layout::Native {
                self.launches();
                self.calls();
            }
            self.api(if layout == Layout::Native { "domain_id" } else { "NULL" });
        }
    }
}

pub(crate) fn value(stored: ValueRef<'_>) -> Value {
    match stored {
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
    }
}

/// Two floating point figures are equal but for rounding.
#[track_caller]
pub(crate) fn close(one: f64, other: f64) {
    let error = (one - other).abs() / one.abs().max(other.abs()).max(1.0);
    assert!(error < 1e-6, "{one} is not {other}");
}
