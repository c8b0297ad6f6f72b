//! Kernels by module and by step: by hand, and against an independent computation of a real trace.

use std::collections::BTreeMap;
use std::process::Command;

use rtl_analysis::kernels::GroupBy;
use rtl_analysis::{Analysis, Categories};
use rtl_schema::table::{ApiCall, Dispatch, Operator, Process, PythonFrame, Range, RangeKind, Track};
use rtl_schema::{NameId, Select, Tables, Trace};
use support::{Need, skip};

/// The total of each group in ns.
fn totals(tables: &Tables, by: GroupBy) -> BTreeMap<String, i64> {
    let groups = Analysis::new(tables, &Categories::default()).groups(by);
    groups.into_iter().map(|group| (group.label.to_string(), group.stats.total_ns)).collect()
}

#[derive(Default)]
struct Story(Tables);

impl Story {
    fn frame(&mut self, name: &str, (start, end): (i64, i64)) -> &mut Self {
        let (name, tid, duration) = (self.0.strings.intern(name), Some(1), Some(end - start));
        self.0.python_frames.push(PythonFrame { name, tid, start, duration, ..PythonFrame::default() });
        self
    }

    fn operator(&mut self, tid: i64, (start, end): (i64, i64), forward_thread: u32) -> &mut Self {
        let (name, tid, duration) = (self.0.strings.intern("mm"), Some(tid), Some(end - start));
        self.0.operators.push(Operator {
            name,
            tid,
            start,
            duration,
            sequence: Some(5),
            forward_thread,
            shapes: NameId::NONE,
            types: NameId::NONE,
            strides: NameId::NONE,
            values: NameId::NONE,
            ..Operator::default()
        });
        self
    }

    fn step(&mut self, (start, end): (i64, i64), category: &str) -> &mut Self {
        let [name, category] = ["ProfilerStep", category].map(|text| self.0.strings.intern(text));
        let (tid, duration, kind) = (Some(1), Some(end - start), RangeKind::Thread);
        self.0.ranges.push(Range { name, category, tid, start, duration, kind, ..Range::default() });
        self
    }

    /// A call at `start`, and its kernel of `length` long after it.
    fn launch(&mut self, tid: i64, start: i64, length: i64) -> &mut Self {
        let tables = &mut self.0;
        let (name, correlation) = (tables.strings.intern("launch"), tables.dispatches.len() as i64 + 1);
        let track = tables.tracks.intern(Track::default());
        let (tid, duration) = (Some(tid), Some(1));
        tables.api_calls.push(ApiCall { tid, name, start, duration, correlation, ..ApiCall::default() });
        let (start, duration) = (start + 1_000, Some(length));
        tables.dispatches.push(Dispatch { name, track, start, duration, correlation, ..Dispatch::default() });
        tables.processes = vec![Process::default()];
        self
    }
}

fn expected(groups: &[(&str, i64)]) -> BTreeMap<String, i64> {
    groups.iter().map(|&(label, total)| (label.to_owned(), total)).collect()
}

#[test]
fn a_kernel_belongs_to_the_innermost_module_around_its_launch_and_backward_work_to_that_of_its_forward_operator()
 {
    let mut story = Story::default();
    story
        .frame("nn.Module: Block_0", (0, 100))
        .frame("nn.Module: Linear_0", (10, 50))
        .frame("model.py(3): f", (12, 45));
    story.operator(1, (20, 40), 0).operator(2, (200, 300), 1);
    story.launch(1, 25, 7).launch(1, 60, 11).launch(2, 210, 13).launch(2, 400, 17);
    let groups = [("Linear_0", 20), ("Block_0", 11), ("(no module)", 17)];
    assert_eq!(totals(&story.0, GroupBy::Module), expected(&groups));
}

#[test]
fn a_kernel_belongs_to_the_step_that_launched_it_even_where_it_runs_later() {
    let mut story = Story::default();
    story.step((0, 100), "ProfilerStep#7").step((100, 200), "ProfilerStep#8");
    story.launch(1, 25, 7).launch(1, 60, 11).launch(1, 110, 13).launch(1, 400, 17);
    let groups = [("ProfilerStep#7", 18), ("ProfilerStep#8", 13), ("(no step)", 17)];
    assert_eq!(totals(&story.0, GroupBy::Step), expected(&groups));
}

#[test]
fn ranges_of_a_name_without_a_category_are_steps_by_number() {
    let mut story = Story::default();
    story.step((0, 100), "").step((100, 200), "").launch(1, 25, 7).launch(1, 110, 13);
    let groups = [("ProfilerStep 1", 7), ("ProfilerStep 2", 13)];
    assert_eq!(totals(&story.0, GroupBy::Step), expected(&groups));
}

/// Kernel time in ns by module and by step, from the events alone.
const ORACLE: &str = r#"
import collections, gzip, json, sys
from decimal import Decimal
events = json.load(gzip.open(sys.argv[1]), parse_float=Decimal)['traceEvents']
ns = lambda us: int((Decimal(us) * 1000).to_integral_value())
spans = [e for e in events if e.get('ph') == 'X']
for e in spans: e['from'], e['to'] = ns(e['ts']), ns(e['ts']) + ns(e['dur'])
of = lambda *cats: [e for e in spans if e.get('cat') in cats]
inside = lambda e, t: e['from'] <= t < e['to']
calls = {e['args']['correlation']: e for e in of('cuda_runtime', 'cuda_driver') if 'correlation' in e['args']}
modules = [e for e in of('python_function') if e['name'].startswith('nn.Module: ')]
operators = of('cpu_op')
forwards = collections.defaultdict(list)
for e in operators:
    if e['args'].get('Fwd thread id', 0) == 0: forwards[e['args'].get('Sequence number')].append(e)
backwards = [e for e in operators if e['args'].get('Fwd thread id', 0) != 0]
steps = [e for e in of('user_annotation') if e['name'].startswith('ProfilerStep#')]
def innermost(rows, tid, t):
    around = [e for e in rows if e['tid'] == tid and inside(e, t)]
    return max(around, key=lambda e: (e['from'], -e['to']), default=None)
def module(call):
    t = call['from']
    found = innermost(modules, call['tid'], t)
    if found: return found['name'][len('nn.Module: '):]
    backward = [e for e in backwards if e['tid'] == call['tid'] and inside(e, t)]
    backward = max(backward, key=lambda e: e['from'], default=None)
    if backward is None: return '(no module)'
    same = forwards[backward['args']['Sequence number']]
    if not same: return '(no module)'
    forward = max(same, key=lambda e: e['from'])
    found = innermost(modules, forward['tid'], forward['from'])
    return found['name'][len('nn.Module: '):] if found else '(no module)'
by_module, by_step = collections.Counter(), collections.Counter()
for kernel in of('kernel'):
    call = calls.get(kernel['args'].get('correlation'))
    by_module[module(call) if call else '(no module)'] += kernel['to'] - kernel['from']
    step = [e['name'] for e in steps if call and inside(e, call['from'])]
    by_step[step[0] if step else '(no step)'] += kernel['to'] - kernel['from']
json.dump([by_module, by_step], sys.stdout)
"#;

#[test]
fn modules_and_steps_of_a_real_trace_have_the_kernel_time_that_python_computes() {
    let Some(shared) = support::shared() else { return };
    let mut most_modules = 0;
    for name in ["stack.json.gz", "gpt-healthy.json.gz"] {
        let path = shared.join("kineto/h200").join(name);
        if !path.exists() {
            return skip(Need::Shared, "no traces of torch.profiler beside the checkout");
        }
        let output = Command::new("python3").args(["-c", ORACLE]).arg(&path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let expected: [BTreeMap<String, i64>; 2] = serde_json::from_slice(&output.stdout).unwrap();
        let tables = Trace::open(&path).unwrap().read(&Select::everything()).unwrap();
        assert_eq!([GroupBy::Module, GroupBy::Step].map(|by| totals(&tables, by)), expected, "{name}");
        most_modules = most_modules.max(expected[0].len());
    }
    assert!(most_modules > 5, "a trace has modules");
}
