//! Operators with the GPU time of what they launched: by hand, and against torch's own averages.

use std::collections::BTreeMap;

use rtl_analysis::operators::{OperatorGroup, OperatorReport, by_name};
use rtl_schema::table::{ApiCall, Copy, Dispatch, Operator, Process, Track};
use rtl_schema::{NameId, Select, Tables, Trace};
use support::{Need, skip};

/// Two threads, 1 with nested operators and 2 with their backward operators.
#[derive(Default)]
struct Story(Tables);

impl Story {
    fn operator(&mut self, tid: i64, name: &str, (start, end): (i64, i64)) -> &mut Self {
        self.numbered(tid, name, (start, end), None, 0)
    }

    fn numbered(
        &mut self,
        tid: i64,
        name: &str,
        (start, end): (i64, i64),
        sequence: Option<u32>,
        forward_thread: u32,
    ) -> &mut Self {
        let name = self.0.strings.intern(name);
        let (tid, duration, absent) = (Some(tid), Some(end - start), NameId::NONE);
        self.0.operators.push(Operator {
            tid,
            name,
            start,
            duration,
            shapes: absent,
            types: absent,
            strides: absent,
            values: absent,
            sequence,
            forward_thread,
            ..Operator::default()
        });
        self
    }

    /// A call at `start`, and its kernel of `length`.
    fn launch(&mut self, tid: i64, start: i64, length: i64) -> &mut Self {
        let tables = &mut self.0;
        let (name, correlation) = (tables.strings.intern("launch"), tables.dispatches.len() as i64 + 1);
        let track = tables.tracks.intern(Track::default());
        let (tid, duration) = (Some(tid), Some(1));
        tables.api_calls.push(ApiCall { tid, name, start, duration, correlation, ..ApiCall::default() });
        let start = start + 1000;
        let duration = Some(length);
        tables.dispatches.push(Dispatch { name, track, start, duration, correlation, ..Dispatch::default() });
        self
    }

    fn report(&mut self) -> OperatorReport {
        self.0.processes = vec![Process::default()];
        by_name(&self.0).unwrap()
    }
}

fn figures<'a>(report: &'a OperatorReport, name: &str) -> &'a OperatorGroup {
    report.groups.iter().find(|group| group.name == name).unwrap()
}

#[test]
fn a_kernel_belongs_to_the_innermost_operator_around_its_call() {
    let mut story = Story::default();
    story.operator(1, "linear", (0, 100)).operator(1, "addmm", (10, 60)).operator(1, "t", (60, 70));
    story.launch(1, 20, 7).launch(1, 60, 5).launch(1, 75, 3).launch(1, 100, 11);
    let report = story.report();
    let own = |name| (figures(&report, name).own_gpu_ns, figures(&report, name).gpu_ns);
    assert_eq!((own("addmm"), own("t"), own("linear")), ((7, 7), (5, 5), (3, 15)));
    assert_eq!((report.gpu_ns, report.in_operators_ns), (26, 15), "a call at the end is outside");
    assert_eq!(figures(&report, "linear").host_ns, 100);
}

#[test]
fn operators_of_another_thread_enclose_nothing() {
    let mut story = Story::default();
    story.operator(1, "outer", (0, 100)).operator(2, "other", (0, 100)).launch(2, 50, 9);
    let report = story.report();
    assert_eq!((figures(&report, "outer").gpu_ns, figures(&report, "other").gpu_ns), (0, 9));
}

#[test]
fn kernels_of_one_call_and_copies_all_count() {
    let mut story = Story::default();
    story.operator(1, "graph", (0, 100)).launch(1, 50, 9);
    let kernel = story.0.dispatches.get(0);
    story.0.dispatches.push(Dispatch { duration: Some(4), ..kernel });
    let Dispatch { name, track, start, correlation, .. } = kernel;
    story.0.copies.push(Copy { name, track, start, correlation, duration: Some(2), ..Copy::default() });
    let report = story.report();
    assert_eq!((figures(&report, "graph").ops, figures(&report, "graph").own_gpu_ns), (3, 15));
}

#[test]
fn backward_time_belongs_to_the_forward_operator_that_made_the_node() {
    let mut story = Story::default();
    // The number is read by linear and t before addmm makes the node.
    story.numbered(1, "linear", (0, 50), Some(7), 0).numbered(1, "t", (5, 9), Some(7), 0);
    story.numbered(1, "addmm", (10, 40), Some(7), 0);
    story.numbered(2, "evaluate: AddmmBackward", (100, 200), Some(7), 1);
    story.numbered(2, "AddmmBackward", (110, 150), Some(7), 1);
    story.launch(2, 120, 30).launch(2, 160, 4);
    let report = story.report();
    assert_eq!(figures(&report, "addmm").backward_gpu_ns, 34);
    assert_eq!((figures(&report, "linear").backward_gpu_ns, figures(&report, "t").backward_gpu_ns), (0, 0));
}

#[test]
fn an_operator_that_only_calls_itself_again_counts_once() {
    let mut story = Story::default();
    story.operator(1, "mean", (0, 100)).operator(1, "mean", (10, 60)).operator(1, "mean", (20, 40));
    story.launch(1, 30, 7);
    story.operator(1, "stack", (200, 300)).operator(1, "stack", (210, 220)).operator(1, "cat", (230, 240));
    let report = story.report();
    let mean = figures(&report, "mean");
    assert_eq!((mean.calls, mean.ops, mean.own_gpu_ns, mean.gpu_ns, mean.host_ns), (1, 1, 7, 7, 100));
    assert_eq!(figures(&report, "stack").calls, 2, "the outer one does more");
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let mut story = Story::default();
    story.operator(1, "inner", (10, 60)).operator(1, "outer", (0, 100)).operator(1, "empty", (60, 60));
    story.launch(1, 75, 3).launch(1, 20, 7);
    let report = story.report();
    assert_eq!((figures(&report, "inner").gpu_ns, figures(&report, "outer").gpu_ns), (7, 10));
    assert_eq!(by_name(&Tables::default()), None);
}

/// A line of `key_averages(group_by_input_shape=True)`.
#[derive(serde::Deserialize)]
struct Average {
    name: String,
    shapes: String,
    calls: u64,
    self_device_us: f64,
    device_us: f64,
}

/// Torch adds doubles: whole nanoseconds again.
fn nanoseconds(microseconds: f64) -> i64 {
    (microseconds * 1000.0).round() as i64
}

#[test]
fn every_operator_has_the_times_of_torchs_own_averages() {
    let Some(shared) = support::shared() else { return };
    let folder = shared.join("kineto/h200");
    let (trace, averages) = (folder.join("averages.json.gz"), folder.join("averages.key_averages.json"));
    let Ok(averages) = std::fs::read_to_string(&averages) else {
        return skip(Need::Shared, "no averages of torch beside the checkout");
    };
    let averages: Vec<Average> = serde_json::from_str(&averages).unwrap();
    let report = by_name(&Trace::open(trace).unwrap().read(&Select::summary()).unwrap()).unwrap();
    // By name, and by name and shapes: calls, GPU time with that of inner operators, own GPU time.
    let mut expected: BTreeMap<(&str, Option<&str>), (u64, i64, i64)> = BTreeMap::new();
    for average in &averages {
        for shapes in [None, Some(average.shapes.as_str())] {
            let sum = expected.entry((&average.name, shapes)).or_default();
            sum.0 += average.calls;
            sum.1 += nanoseconds(average.device_us);
            sum.2 += nanoseconds(average.self_device_us);
        }
    }
    // Torch hangs a kernel that was launched during a buffer request of its profiler under that too, and so counts it
    // twice in the operators around the call.
    let twice = expected[&("Activity Buffer Request", None)].2;
    let mut by_operator: BTreeMap<&str, (u64, i64, i64)> = BTreeMap::new();
    let mut with_shapes = 0;
    for group in &report.groups {
        let sum = by_operator.entry(&group.name).or_default();
        *sum = (sum.0 + group.calls, sum.1 + group.gpu_ns, sum.2 + group.own_gpu_ns);
        // Torch leaves out the shapes of lists of tensors and of arguments at the end that are none.
        let shapes = group.shapes.as_deref().unwrap_or("[]");
        if let Some(&(calls, _, own_gpu_ns)) = expected.get(&(&group.name, Some(shapes)))
            && calls == group.calls
        {
            assert_eq!(group.own_gpu_ns, own_gpu_ns, "{} {shapes}", group.name);
            with_shapes += 1;
        }
    }
    assert!(with_shapes * 10 > report.groups.len() * 9, "{with_shapes} of {}", report.groups.len());
    let mut differ = Vec::new();
    for (name, (calls, gpu_ns, own_gpu_ns)) in by_operator {
        let average = expected[&(name, None)];
        assert_eq!((calls, own_gpu_ns), (average.0, average.2), "{name}");
        if gpu_ns != average.1 {
            differ.push((name, average.1 - gpu_ns));
        }
    }
    assert_eq!(differ, [("aten::layer_norm", twice), ("aten::native_layer_norm", twice)]);
    assert!(report.in_operators_ns > 0);
}
