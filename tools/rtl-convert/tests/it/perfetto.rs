//! Our files as Perfetto itself understands them: trace_processor is asked what it drew, and its UI shows it. Both formats;
//! skipped in one line where node or the Perfetto UI is missing.

use crate::drawing;
use std::path::{Path, PathBuf};

use crate::drawing::{Folder, Slice, arrows, assert_same, expected, hazards};
use support::perfetto::{Rows, query, show, show_launch};
use support::{Layout, Options};

/// The errors that Perfetto counts in a file.
const FAULTS: &str = "select name from stats where severity in ('error', 'data_loss') and value > 0";

/// Slices with all that says where they are drawn: a track of its own (and what that is within) or a thread.
const SLICES: &str = "
    select s.name, s.ts, s.dur, coalesce(process.name, of_thread.name, parent.name),
        case when thread.tid is null or s.cat in ('kernel', 'gpu_memcpy', 'gpu_memset', 'barrier') then coalesce(thread.name, t.name)
            else coalesce(thread.name, 'Thread ' || thread.tid) end
    from slice s
    join track t on t.id = s.track_id
    left join track parent on parent.id = t.parent_id
    left join process_track p on p.id = t.id left join process using (upid)
    left join thread_track tt on tt.id = t.id left join thread using (utid)
    left join process of_thread on of_thread.upid = thread.upid";

const ARROWS: &str = "
    select one.name, one.ts, other.name, other.ts from flow
    join slice one on one.id = slice_out join slice other on other.id = slice_in";

/// Counters with their unit, which JSON has in the name. Sums are rounded, because formats add values in different orders.
const COUNTERS: &str = "
    select coalesce(process.name, parent.name), trim(t.name || ' ' || coalesce(t.unit, '')),
        count(*), round(sum(value), 6), min(c.ts), max(c.ts)
    from counter c join counter_track t on t.id = c.track_id
    join track on track.id = t.id left join track parent on parent.id = track.parent_id
    left join process_counter_track p on p.id = t.id left join process using (upid)
    group by 1, 2 order by 1, 2";

/// The traces that are shown, written as files of both formats; the stories first.
struct Shown {
    folder: Folder,
    names: Vec<String>,
}

impl Shown {
    fn new() -> Self {
        let mut shown = Self { folder: Folder::new(), names: Vec::new() };
        for name in support::fixture_names() {
            let story = support::fixture(&name);
            shown.add(&name, |path| std::fs::copy(&story, path).map(drop).unwrap());
        }
        for seed in [1, 2] {
            shown.add(&format!("hazards-{seed}"), |path| hazards::write(seed, path));
        }
        for layout in [Layout::Native, Layout::Rpd3] {
            let options =
                Options { layout, ops: 2_000, api: true, ranges: true, shuffle: true, ..Options::default() };
            shown.add(&format!("generated-{layout:?}"), |path| support::generate(&options, path).unwrap());
        }
        if let Some(shared) = support::shared() {
            for name in ["rpd2-vllm-fp8.rpd.gz", "rpd2-matmul-mi200.rpd", "rocprofv3-gfx950.json.gz"] {
                let real = shared.join("traces/real").join(name);
                shown.add(name, |path| std::fs::copy(&real, path).map(drop).unwrap());
            }
        }
        shown
    }

    fn add(&mut self, name: &str, write: impl FnOnce(&Path)) {
        write(&self.input(name));
        for format in ["json.gz", "pftrace"] {
            let (code, _, messages) = self.folder.run(&format!("{name}.db -o {name}.{format}"));
            assert_eq!((code, messages.as_str()), (0, ""), "{name}");
        }
        self.names.push(name.to_owned());
    }

    fn input(&self, name: &str) -> PathBuf {
        self.folder.path(&format!("{name}.db"))
    }

    /// The answers of Perfetto to these questions about each trace in a format.
    fn query(&self, format: &str, questions: &[&str]) -> Option<Vec<Vec<Rows>>> {
        let files: Vec<PathBuf> =
            self.names.iter().map(|name| self.folder.path(&format!("{name}.{format}"))).collect();
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        query(&files, questions)
    }
}

fn number(cell: &Option<String>) -> i64 {
    cell.as_ref().unwrap().parse().unwrap()
}

fn text(cell: &Option<String>) -> String {
    cell.clone().unwrap_or_default()
}

/// Rows of [`SLICES`] as slices from the first one, and the time of that.
fn slices(rows: &Rows) -> (Vec<Slice>, i64) {
    let first = rows.iter().map(|row| number(&row[1])).min().unwrap_or(0);
    let slice = |row: &Vec<Option<String>>| {
        let track = text(&row[4]);
        // JSON has a thread for every lane.
        let track = track.split(" (overlap").next().unwrap();
        let start = number(&row[1]).abs_diff(first);
        (
            format!("{} / {track}", text(&row[3])),
            text(&row[0]),
            start,
            u64::try_from(number(&row[2])).unwrap(),
        )
    };
    let mut slices: Vec<Slice> = rows.iter().map(slice).collect();
    slices.sort();
    (slices, first)
}

/// The name that trace_processor reads in JSON: of escapes it understands only that of a quote.
fn as_json_is_read(name: &str) -> String {
    let escaped = serde_json::to_string(name).unwrap();
    escaped[1..escaped.len() - 1].replace("\\\"", "\"")
}

/// The expected drawing of a trace.
struct Source {
    name: String,
    slices: Vec<Slice>,
    arrows: Vec<(String, u64, String, u64)>,
}

fn assert_slices(rows: &Rows, format: &str, source: &Source) {
    let mut expected = source.slices.clone();
    if format == "json.gz" {
        expected.iter_mut().for_each(|slice| slice.1 = as_json_is_read(&slice.1));
        expected.sort();
    }
    assert_same(&slices(rows).0, &expected, &format!("{}.{format}", source.name));
}

fn assert_arrows(rows: &Rows, first: i64, format: &str, source: &Source) {
    let arrow = |row: &Vec<Option<String>>| {
        let from_first = |cell| number(cell).abs_diff(first);
        (text(&row[0]), from_first(&row[1]), text(&row[2]), from_first(&row[3]))
    };
    let mut drawn: Vec<_> = rows.iter().map(arrow).collect();
    drawn.sort();
    let mut expected = source.arrows.clone();
    if format == "json.gz" {
        for arrow in &mut expected {
            (arrow.0, arrow.2) = (as_json_is_read(&arrow.0), as_json_is_read(&arrow.2));
        }
        expected.sort();
    }
    let different = drawn.iter().zip(&expected).find(|(drawn, expected)| drawn != expected);
    assert_eq!((different, drawn.len()), (None, expected.len()), "{}.{format}", source.name);
}

/// Counters as all formats tell them: one counts from the first moment, another from that of the machine, and JSON has no
/// quantity without a word for its unit.
fn counters(rows: &Rows) -> Rows {
    let first = rows.iter().map(|row| number(&row[4])).min().unwrap_or(0);
    let counter = |row: &Vec<Option<String>>| {
        let mut row = row.clone();
        row[1] = Some(text(&row[1]).trim_end_matches(" value").to_owned());
        for at in [4, 5] {
            row[at] = Some((number(&row[at]) - first).to_string());
        }
        row
    };
    let mut counters: Rows = rows.iter().map(counter).collect();
    counters.sort();
    // The row of a GPU in pftrace repeats how busy it is.
    let (own, counters): (Rows, Rows) =
        counters.into_iter().partition(|row| text(&row[1]).starts_with("GPU "));
    for own in own {
        let gpu = text(&own[1]).trim_end_matches(" %").to_owned();
        let same = |row: &&Vec<Option<String>>| text(&row[0]) == gpu && text(&row[1]) == "busy %";
        assert_eq!(counters.iter().find(same).map(|row| &row[2..]), Some(&own[2..]), "{gpu}");
    }
    counters
}

#[test]
fn perfetto_draws_every_slice_arrow_and_counter_as_it_was() {
    let shown = Shown::new();
    let source = |name: &String| {
        let input = shown.input(name);
        Source { name: name.clone(), slices: expected(&input), arrows: arrows(&input) }
    };
    let sources: Vec<Source> = shown.names.iter().map(source).collect();
    let mut told: Vec<Vec<Rows>> = Vec::new();
    for format in ["json.gz", "pftrace"] {
        let Some(answers) = shown.query(format, &[FAULTS, SLICES, ARROWS, COUNTERS]) else { return };
        for (source, answers) in sources.iter().zip(&answers) {
            let name = &source.name;
            assert_eq!(answers[0], Rows::new(), "{name}.{format}");
            assert_slices(&answers[1], format, source);
            assert_arrows(&answers[2], slices(&answers[1]).1, format, source);
            let idle = ["empty", "only-markers"].contains(&name.as_str());
            assert_eq!(answers[3].is_empty(), idle, "{name}.{format}");
        }
        told.push(answers.iter().map(|answers| counters(&answers[3])).collect());
    }
    assert_eq!(told[0], told[1], "both formats have the same counters");
}

#[test]
fn arrows_lead_from_a_call_to_its_kernel_and_from_a_graph_launch_to_all_of_its_kernels() {
    let folder = Folder::new();
    std::fs::copy(support::database(support::CALLS, Layout::Native).unwrap(), folder.path("in.db")).unwrap();
    let names = "
        select one.name, other.name, other.ts - one.ts from flow
        join slice one on one.id = slice_out join slice other on other.id = slice_in order by other.ts";
    let told = "
        select s.name, replace(replace(a.key, 'debug.', ''), 'args.', ''), a.display_value
        from slice s join args a using (arg_set_id)
        where a.key glob '*function' or a.key glob '*result' or a.key glob '*launch_latency_ns'
        order by s.ts, a.key";
    for format in ["json", "pftrace"] {
        for (line, launch) in [("", "hipLaunchKernel"), ("--kernel-names", "void gemm(float*)")] {
            assert_eq!(folder.run(&format!("in.db -o out.{format} --force {line}")).0, 0);
            let Some(answers) = query(&[&folder.path(&format!("out.{format}"))], &[FAULTS, names, told])
            else {
                return;
            };
            assert_eq!(answers[0][0], Rows::new());
            let rows = |rows: &Rows| -> Vec<String> {
                rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join(" | ")).collect()
            };
            let expected = [
                format!("{launch} | void gemm(float*) | 100"),
                "hipGraphLaunch | node | 100".to_owned(),
                "hipGraphLaunch | node | 120".to_owned(),
                "hipMemcpyAsync | host-to-device copy | 100".to_owned(),
            ];
            assert_eq!(rows(&answers[0][1]), expected, "{format} {line}");
            let latency = "void gemm(float*) | launch_latency_ns | 92";
            let expected = match line {
                "" => vec!["hipLaunchKernel | result | 719", latency],
                _ => vec![
                    "void gemm(float*) | function | hipLaunchKernel",
                    "void add<float>(float*) | function | hipLaunchKernel",
                    "void add<float>(float*) | result | 719",
                    latency,
                ],
            };
            assert_eq!(rows(&answers[0][2]), expected, "{format} {line}");
        }
    }
}

#[test]
fn launch_shapes_are_numbers_by_axis() {
    let folder = Folder::new();
    let story = "INSERT INTO kernels(gpu, queue, start, end, name, items, workgroup) VALUES (0, 0, 100, 110, 'gemm', 256, 64)";
    std::fs::copy(support::database(story, Layout::Native).unwrap(), folder.path("in.db")).unwrap();
    let shapes = "
        select replace(replace(a.key, 'debug.', ''), 'args.', ''), a.int_value
        from slice s join args a using (arg_set_id) where a.key glob '*work-items*' order by a.key";
    for format in ["json", "pftrace"] {
        assert_eq!(folder.run(&format!("in.db -o out.{format}")).0, 0);
        let Some(answers) = query(&[&folder.path(&format!("out.{format}"))], &[FAULTS, shapes]) else {
            return;
        };
        assert_eq!(answers[0][0], Rows::new());
        let axes: Vec<(String, i64)> =
            answers[0][1].iter().map(|row| (text(&row[0]), number(&row[1]))).collect();
        let expected = [("work-items[0]", 256), ("work-items[1]", 1), ("work-items[2]", 1)];
        assert_eq!(axes, expected.map(|(axis, size)| (axis.to_owned(), size)), "{format}");
    }
}

#[test]
fn the_ui_draws_the_arrow_of_a_selected_launch() {
    let folder = Folder::new();
    std::fs::copy(support::database(support::CALLS, Layout::Native).unwrap(), folder.path("in.db")).unwrap();
    assert_eq!(folder.run("in.db -o out.pftrace").0, 0);
    let (trace, picture) = (folder.path("out.pftrace"), folder.path("out.png"));
    let Some(titles) = show_launch("hipLaunchKernel", &trace, &picture, &["Thread 7", "Queue 0"]) else {
        return;
    };
    assert!(titles.iter().any(|title| title == "GPU 0"), "{titles:?}");
    assert!(std::fs::read(picture).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn render_stages_are_ops_of_the_queues_of_all_gpus() {
    let folder = Folder::new();
    let path = folder.path("in.db");
    hazards::write(3, &path);
    assert_eq!(folder.run("in.db -o out.pftrace --gpu-events").0, 0);
    let question = "
        select s.name, s.ts, s.dur, t.name from gpu_slice s join gpu_track t on t.id = s.track_id";
    let Some(answers) = query(&[&folder.path("out.pftrace")], &[FAULTS, question]) else { return };
    assert_eq!(answers[0][0], Rows::new());
    let first = drawing::expected_start(&drawing::rows(&path));
    let mut drawn: Vec<Slice> = answers[0][1]
        .iter()
        .map(|row| {
            let track = text(&row[3]).replace(" Queue", " / Queue").replace(" Copies", " / Copies");
            (track, text(&row[0]), number(&row[1]).abs_diff(first), number(&row[2]).unsigned_abs())
        })
        .collect();
    drawn.sort();
    let mut expected = expected(&path);
    // Idle time is no op: it stays a track of slices.
    expected.retain(|slice| slice.0.starts_with("GPU") && !slice.0.ends_with("Idle causes"));
    assert_same(&drawn, &expected, "render stages");
}

#[test]
fn the_ui_shows_gpus_by_number_then_queues_copies_and_counters() {
    let folder = Folder::new();
    let options = Options { ops: 2_000, gpus: 11, ranges: true, ..Options::default() };
    support::generate(&options, &folder.path("in.db")).unwrap();
    assert_eq!(folder.run("in.db -o out.pftrace").0, 0);
    let wanted = ["GPU 10 (AMD Instinct MI300X)", "Thread 4242"];
    let Some(titles) = show(&folder.path("out.pftrace"), &folder.path("out.png"), &wanted) else { return };
    let gpu = |number| format!("GPU {number} (AMD Instinct MI300X)");
    let tracks = ["Queue 0", "Queue 1", "Copies", "busy", "ops in flight", "copied"];
    let gpus: Vec<String> = (0..11)
        .flat_map(|number| std::iter::once(gpu(number)).chain(tracks.map(str::to_owned)))
        .chain(["Process 4242 4242".to_owned(), "Thread 4242".to_owned()])
        .collect();
    let start = titles.iter().position(|title| *title == gpu(0)).unwrap();
    assert_eq!(titles[start..], gpus);
    assert!(std::fs::read(folder.path("out.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn the_ui_shows_a_trace_of_a_real_gpu() {
    let Some(shared) = support::shared() else { return };
    let folder = Folder::new();
    std::fs::copy(shared.join("traces/real/rpd2-vllm-fp8.rpd.gz"), folder.path("in.db")).unwrap();
    assert_eq!(folder.run("in.db -o out.pftrace").0, 0);
    let Some(titles) = show(&folder.path("out.pftrace"), &folder.path("out.png"), &["Thread 1806"]) else {
        return;
    };
    let expected = [
        "GPU 2",
        "Queue 0",
        "Copies",
        "Idle causes",
        "busy",
        "ops in flight",
        "queue depth",
        "copied",
        "sclk",
        "Process 1560 1560",
        "Thread 1560",
        "Thread 1801",
        "Thread 1802",
        "Thread 1806",
    ];
    let start = titles.iter().position(|title| title == "GPU 2").unwrap();
    assert_eq!(titles[start..][..expected.len()], expected);
}
