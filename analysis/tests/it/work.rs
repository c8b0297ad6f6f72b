//! Complete steps, and work by operator, module, category and step: by hand, and on a real trace.

use rtl_analysis::complete_steps::{CompleteSteps, LeftOut};
use rtl_analysis::profile::{KernelKey, Profile, Warmup, profile};
use rtl_analysis::work::{Work, WorkKey, align};
use rtl_analysis::{Analysis, Categories};
use rtl_schema::table::{ApiCall, Dispatch, Operator, Process, PythonFrame, Range, RangeKind, Track};
use rtl_schema::{NameId, Select, Tables, Trace};
use support::{Need, skip};

/// A trace of one thread: steps of 1,000 ns with operators, calls and kernels in them.
#[derive(Default)]
struct Story(Tables);

impl Story {
    fn step(&mut self, number: i64) -> &mut Self {
        let name = self.0.strings.intern("step");
        let range = Range {
            name,
            tid: Some(1),
            start: number * 1_000,
            duration: Some(990),
            kind: RangeKind::Thread,
            ..Range::default()
        };
        self.0.ranges.push(range);
        self
    }

    fn operator(&mut self, name: &str, (start, end): (i64, i64)) -> &mut Self {
        let name = self.0.strings.intern(name);
        self.0.operators.push(Operator {
            name,
            tid: Some(1),
            start,
            duration: Some(end - start),
            shapes: NameId::NONE,
            types: NameId::NONE,
            ..Operator::default()
        });
        self
    }

    /// A launch at `start`, and its kernel 2,000 ns later, unless it was not recorded.
    fn launch(&mut self, start: i64, kernel: Option<(&str, i64)>) -> &mut Self {
        let tables = &mut self.0;
        let correlation = tables.api_calls.len() as i64 + 1;
        let name = tables.strings.intern("cudaLaunchKernel");
        let call =
            ApiCall { tid: Some(1), name, start, duration: Some(1), correlation, ..ApiCall::default() };
        tables.api_calls.push(call);
        if let Some((kernel, length)) = kernel {
            self.kernel(correlation, start + 2_000, kernel, length);
        }
        self
    }

    fn kernel(&mut self, correlation: i64, start: i64, name: &str, length: i64) -> &mut Self {
        let tables = &mut self.0;
        let name = tables.strings.intern(name);
        let track = tables.tracks.intern(Track::default());
        tables.dispatches.push(Dispatch {
            name,
            track,
            start,
            duration: Some(length),
            correlation,
            ..Dispatch::default()
        });
        tables.processes = vec![Process::default()];
        self
    }

    fn work(&self, key: WorkKey) -> Work {
        let mut tables = self.0.clone();
        let steps = CompleteSteps::of(&tables);
        if let Some(steps) = &steps {
            steps.retain(&mut tables);
        }
        let analysis = Analysis::new(&tables, &Categories::default());
        let Profile { gpus, .. } = profile(&analysis, KernelKey::Name, Warmup::Keep);
        Work::new(&analysis, key, steps.as_ref(), &gpus)
    }
}

/// Two steps of one vendor: a convolution by its library, and an addition.
fn vendor(library: &str, kernel: &str, lengths: [i64; 2]) -> Story {
    let mut story = Story::default();
    for (step, length) in (0..).zip(lengths) {
        let at = step * 1_000;
        story.step(step);
        story.operator("conv", (at + 10, at + 100)).operator(library, (at + 20, at + 90));
        story.launch(at + 30, Some((kernel, length)));
        story.operator("add", (at + 200, at + 300)).launch(at + 210, Some(("elementwise", 50)));
    }
    story
}

#[test]
fn ops_of_no_step_and_steps_that_lack_ops_are_left_out() {
    let mut story = Story::default();
    // Work of the step before the recording: no call is there.
    story.kernel(999, 10, "gemm", 70);
    for step in 0..4 {
        story.step(step).launch(step * 1_000 + 30, Some(("gemm", 100)));
        story.launch(step * 1_000 + 60, (step < 3).then_some(("add", 10)));
    }
    let steps = CompleteSteps::of(&story.0).unwrap();
    assert_eq!((steps.count(), steps.name(&story.0)), (3, "step"));
    assert_eq!(steps.left_out(), LeftOut { steps: 1, ops: 2, ops_ns: 170 });
    let mut tables = story.0.clone();
    steps.retain(&mut tables);
    assert_eq!(tables.dispatches.len(), 6);
}

#[test]
fn ranges_with_little_of_the_gpu_time_are_no_steps() {
    let mut story = Story::default();
    story.step(0).step(1);
    story.launch(30, Some(("small", 10))).launch(1_030, Some(("small", 10)));
    story.launch(5_000, Some(("large", 100)));
    assert!(CompleteSteps::of(&story.0).is_none());
}

#[test]
fn ranges_around_a_part_of_each_step_are_no_steps() {
    let mut story = Story::default();
    for step in 0..4 {
        story.step(step).launch(step * 1_000 + 30, Some(("forward", 60)));
        // Behind the range, which ends after 990 ns.
        story.launch(step * 1_000 + 995, Some(("backward", 50)));
    }
    assert!(CompleteSteps::of(&story.0).is_none());
}

#[test]
fn what_each_vendor_names_differently_belongs_to_the_operator_around_it() {
    let [one, other] = [("cudnn_conv", "sm90_gemm", [100, 120]), ("miopen_conv", "Cijk_gemm", [60, 70])]
        .map(|(library, kernel, lengths)| vendor(library, kernel, lengths).work(WorkKey::Operator));
    let aligned = align([&[&one], &[&other]], WorkKey::Operator);
    let [before, after] = aligned.profiles.each_ref().map(|profiles| &profiles[0]);
    for (profile, conv) in [(before, 110), (after, 65)] {
        let kernels: Vec<_> = profile
            .kernels
            .iter()
            .map(|kernel| (kernel.name.as_str(), kernel.run.total_ns, kernel.run.calls))
            .collect();
        assert_eq!(kernels, [("add", 50, 2), ("conv", conv, 2)]);
    }
    assert_eq!(aligned.wholes[0][0].trimmed_mean_ns, 160.0);
}

#[test]
fn work_that_one_side_lacks_keeps_its_name() {
    let mut odd = vendor("miopen_conv", "gemm", [60, 70]);
    odd.operator("topk", (500, 600)).launch(510, Some(("sort", 30)));
    let [one, other] =
        [vendor("cudnn_conv", "gemm", [100, 120]), odd].map(|story| story.work(WorkKey::Operator));
    let aligned = align([&[&one], &[&other]], WorkKey::Operator);
    let names = |side: usize| aligned.profiles[side][0].kernels.iter().map(|kernel| kernel.name.clone());
    assert_eq!(names(0).collect::<Vec<_>>(), ["add", "conv"]);
    assert_eq!(names(1).collect::<Vec<_>>(), ["add", "conv", "topk"]);
    // 30 ns in one step of two.
    assert_eq!(aligned.profiles[1][0].kernels[2].run.total_ns, 15);
}

#[test]
fn work_of_other_shapes_is_not_matched_through_an_operator_without_shapes() {
    let [one, other] = ["[[8, 64]]", "[[8, 32]]"].map(|sizes| {
        let mut story = vendor("mm", "gemm", [100, 100]);
        let sizes = story.0.strings.intern(sizes);
        // The convolutions around them state no shapes.
        let names: Vec<_> =
            story.0.operators.name.iter().map(|&name| story.0.strings.get(name) == "mm").collect();
        story.0.operators.shapes =
            names.iter().map(|is_mm| if *is_mm { sizes } else { NameId::NONE }).collect();
        story.work(WorkKey::Operator)
    });
    let aligned = align([&[&one], &[&other]], WorkKey::Operator);
    let names: Vec<_> = aligned.profiles[1][0].kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["add", "mm [[8, 32]]"]);
}

#[test]
fn modules_are_aligned_by_path() {
    let [one, other] = [("Linear_3", 100), ("FusedLinear_0", 60)].map(|(layer, length)| {
        let mut story = vendor("library", "gemm", [length; 2]);
        for step in 0..2 {
            for (module, start, end) in [("GPT_0", 5, 400), ("Block_1", 8, 150), (layer, 9, 140)] {
                let name = story.0.strings.intern(&format!("nn.Module: {module}"));
                let (tid, start, duration) = (Some(1), step * 1_000 + start, Some(end - start));
                story.0.python_frames.push(PythonFrame {
                    name,
                    tid,
                    start,
                    duration,
                    ..PythonFrame::default()
                });
            }
        }
        story.work(WorkKey::Module)
    });
    let paths: Vec<String> = align([&[&one], &[&one]], WorkKey::Module).profiles[0][0]
        .kernels
        .iter()
        .map(|kernel| kernel.name.clone())
        .collect();
    assert_eq!(paths, ["GPT_0", "GPT_0/Block_1/Linear_3"]);
    // One side has another layer: both know the block around it.
    let aligned = align([&[&one], &[&other]], WorkKey::Module);
    let modules = |side: usize| {
        let kernels = &aligned.profiles[side][0].kernels;
        kernels.iter().map(|kernel| (kernel.name.clone(), kernel.run.total_ns)).collect::<Vec<_>>()
    };
    assert_eq!(modules(0), [("GPT_0".to_owned(), 50), ("GPT_0/Block_1".to_owned(), 100)]);
    assert_eq!(modules(1), [("GPT_0".to_owned(), 50), ("GPT_0/Block_1".to_owned(), 60)]);
}

#[test]
fn steps_are_aligned_by_position() {
    let [one, other] = [[100, 120], [60, 70]].map(|lengths| vendor("c", "gemm", lengths).work(WorkKey::Step));
    let aligned = align([&[&one], &[&other]], WorkKey::Step);
    let steps: Vec<_> = aligned.profiles[1][0]
        .kernels
        .iter()
        .map(|kernel| (kernel.name.as_str(), kernel.run.total_ns))
        .collect();
    assert_eq!(steps, [("step 1", 110), ("step 2", 120)]);
}

/// The trace of a GPT-like model on an H200: eight steps, and the end of the one before.
fn healthy() -> Option<Tables> {
    let path = support::shared()?.join("kineto/h200/gpt-healthy.json.gz");
    if !path.is_file() {
        skip(Need::Shared, "no torch trace of an H200 beside the checkout");
        return None;
    }
    let select = Select { python: true, ..Select::summary() };
    Some(Trace::open(&path).unwrap().read(&select).unwrap())
}

#[test]
fn a_kernel_that_runs_48_times_in_eight_steps_has_48_calls_and_not_53() {
    let Some(mut tables) = healthy() else { return };
    let calls = |tables: &Tables| {
        let groups = Analysis::new(tables, &Categories::default()).kernels().to_vec();
        let name = "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x128_1x4x1_cga1x1x1_kernel0_0";
        groups.iter().find(|group| &*group.label == name).map(|group| group.stats.calls)
    };
    assert_eq!(calls(&tables), Some(53));
    let steps = CompleteSteps::of(&tables).unwrap();
    steps.retain(&mut tables);
    assert_eq!((steps.count(), steps.left_out().steps, calls(&tables)), (8, 0, Some(48)));
    let groups = Analysis::new(&tables, &Categories::default()).kernels().to_vec();
    let uneven = groups.iter().filter(|group| group.stats.calls % 8 > 0).count();
    assert_eq!(uneven, 0, "every kernel runs as often in each step");
}
