//! Small traces with numbers that can be checked by hand.

use crate::common::{analysis, call, copy, dispatch, kernel, range};
use rtl_analysis::Error;
use rtl_analysis::combine::Combined;
use rtl_analysis::kernels::{GroupBy, Sort, sort};
use rtl_analysis::overview::overview;
use rtl_analysis::ranges::{RangeGroup, RangeMethod};
use rtl_analysis::region::{Bound, Filter, apply};
use rtl_analysis::sanity::{Sanity, Suspicion, check};
use rtl_analysis::sweep::Sweep;
use rtl_schema::table::{AgentKind, Direction, Dispatch, Shape};
use rtl_schema::{ProblemKind, Tables};

fn swept(tables: &Tables) -> Sweep {
    analysis(tables).sweep().clone()
}

fn checked(tables: &Tables) -> Sanity {
    check(&analysis(tables))
}

#[test]
fn kernels_are_grouped_by_identity_with_exact_shares() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "gemm.kd", 0, 60);
    kernel(&mut tables, 0, 1, "gemm", 100, 115);
    kernel(&mut tables, 1, 1, "add", 0, 25);
    let groups = analysis(&tables).groups(GroupBy::Kernel);
    let shown: Vec<_> =
        groups.iter().map(|g| (&*g.label, g.stats.calls, g.stats.total_ns, g.share)).collect();
    assert_eq!(shown, [("gemm", 2, 75, 0.75), ("add", 1, 25, 0.25)]);
    assert_eq!(groups[0].category.as_deref(), Some("gemm"));
}

#[test]
fn durations_that_cannot_be_are_in_no_statistic_and_all_in_sanity() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "k", 0, 10);
    kernel(&mut tables, 0, 1, "k", 20, 20);
    kernel(&mut tables, 0, 1, "k", 40, 30);
    dispatch(&mut tables, 0, 1, Dispatch { start: 50, duration: None, ..Dispatch::default() }, "k");
    kernel(&mut tables, 0, 1, "k", 100, 5_000_000_100);
    let analysis = analysis(&tables);
    let group = &analysis.kernels()[0];
    assert_eq!((group.stats.calls, group.stats.total_ns, group.zero), (3, 5_000_000_010, 1));
    assert_eq!((group.stats.p50_ns, group.stats.max_ns), (10, 5_000_000_000));
    let sanity = check(&analysis);
    assert_eq!((sanity.dispatches.zero, sanity.dispatches.negative, sanity.dispatches.missing), (1, 1, 1));
    assert_eq!(
        sanity.strict_failures(),
        ["1 dispatches without an end", "1 dispatches that end before they start"]
    );
    assert_eq!(analysis.sweep().gpus[0].ops, 3);
}

#[test]
fn every_key_groups_all_dispatches_once() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "gemm", 0, 10);
    kernel(&mut tables, 0, 2, "gemm", 0, 20);
    kernel(&mut tables, 1, 1, "softmax", 0, 70);
    let shape = tables.shapes.intern(Shape::from_groups([256, 1, 1], [64, 1, 1]));
    dispatch(
        &mut tables,
        1,
        1,
        Dispatch { start: 80, duration: Some(5), shape: Some(shape), ..Dispatch::default() },
        "gemm",
    );
    tables.processes[0].rank = Some(3);
    let labels = |key| -> Vec<(String, i64)> {
        let groups = analysis(&tables).groups(key);
        assert!((groups.iter().map(|group| group.share).sum::<f64>() - 1.0).abs() < 1e-12);
        groups.into_iter().map(|group| (group.label.to_string(), group.stats.total_ns)).collect()
    };
    let owned = |rows: &[(&str, i64)]| {
        rows.iter().map(|&(label, total)| (label.to_owned(), total)).collect::<Vec<_>>()
    };
    assert_eq!(labels(GroupBy::Gpu), owned(&[("GPU 1", 75), ("GPU 0", 30)]));
    assert_eq!(
        labels(GroupBy::Queue),
        owned(&[("GPU 1 queue 1", 75), ("GPU 0 queue 2", 20), ("GPU 0 queue 1", 10)])
    );
    assert_eq!(labels(GroupBy::Category), owned(&[("reduction", 70), ("gemm", 35)]));
    assert_eq!(labels(GroupBy::Rank), owned(&[("rank 3", 105)]));
    assert_eq!(labels(GroupBy::Process), owned(&[("rank 3", 105)]));
    assert_eq!(labels(GroupBy::Range), owned(&[("(no range)", 105)]));
    assert_eq!(
        labels(GroupBy::Shape),
        owned(&[("unknown shape", 70), ("unknown shape", 30), ("64x1x1 groups of 256x1x1", 5)])
    );
}

#[test]
fn sorting_puts_equal_values_in_order_of_names() {
    let mut tables = Tables::default();
    for (name, start, end) in [("b", 0, 10), ("a", 10, 20), ("c", 20, 50)] {
        kernel(&mut tables, 0, 1, name, start, end);
    }
    let mut groups = analysis(&tables).groups(GroupBy::Kernel);
    let names = |groups: &[rtl_analysis::kernels::Group]| {
        groups.iter().map(|group| &*group.label).collect::<String>()
    };
    assert_eq!(names(&groups), "cab");
    sort(&mut groups, Sort::Calls);
    assert_eq!(names(&groups), "abc");
}

#[test]
fn busy_is_a_union_and_two_queues_do_not_count_twice() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "a", 0, 100);
    kernel(&mut tables, 0, 2, "b", 50, 150);
    kernel(&mut tables, 0, 1, "c", 170, 200);
    let sweep = swept(&tables);
    let gpu = &sweep.gpus[0];
    assert_eq!((gpu.busy_ns, gpu.wall_ns, gpu.idle_ns), (180, 200, 20));
    assert_eq!((gpu.start_ns, gpu.end_ns, gpu.overlap_ns), (0, 200, 0));
    assert_eq!(sweep.overlaps.count, 0);
}

#[test]
fn collectives_and_copies_are_classes_of_their_own() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "gemm", 0, 100);
    kernel(&mut tables, 0, 2, "ncclDevKernel_AllReduce", 80, 180);
    copy(&mut tables, 0, Direction::HostToDevice, Some(64), 90, 120);
    kernel(&mut tables, 0, 1, "__amd_rocclr_copyBuffer", 200, 210);
    let gpu = swept(&tables).gpus.remove(0);
    assert_eq!((gpu.kernel_ns, gpu.collective_ns, gpu.copy_ns), (110, 100, 30));
    assert_eq!((gpu.kernel_collective_ns, gpu.kernel_copy_ns, gpu.collective_copy_ns), (20, 10, 30));
    // 80..120: first kernel and collective, then all three, then collective and copy.
    assert_eq!((gpu.overlap_ns, gpu.exposed_collective_ns), (40, 80));
    assert_eq!((gpu.ops, gpu.dispatches, gpu.collectives, gpu.copies), (4, 3, 1, 1));
}

#[test]
fn a_gap_is_idle_between_busy_intervals() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "long", 0, 1_000);
    kernel(&mut tables, 0, 2, "short", 10, 20);
    kernel(&mut tables, 0, 1, "after ten", 11_000, 12_000);
    copy(&mut tables, 0, Direction::DeviceToHost, None, 112_000, 113_000);
    let sweep = swept(&tables);
    let gaps: Vec<_> = sweep
        .longest
        .iter()
        .map(|gap| (gap.start_ns, gap.duration_ns, gap.before.as_str(), gap.after.as_str()))
        .collect();
    assert_eq!(
        gaps,
        [(12_000, 100_000, "after ten", "device-to-host"), (1_000, 10_000, "long", "after ten")]
    );
    let buckets: Vec<_> = sweep.gaps[0].buckets.iter().map(|bucket| bucket.count).collect();
    // 10 us and 100 us are the lower bounds of their buckets.
    assert_eq!(buckets, [0, 1, 0, 0, 1, 0, 0, 0]);
}

#[test]
fn overlaps_on_one_queue_and_rows_that_are_there_twice_are_found() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "a", 0, 10);
    kernel(&mut tables, 0, 1, "b", 9, 20);
    kernel(&mut tables, 0, 2, "c", 9, 20);
    kernel(&mut tables, 0, 1, "d", 20, 30);
    kernel(&mut tables, 0, 1, "e", 40, 40);
    kernel(&mut tables, 0, 1, "e", 40, 40);
    let sweep = swept(&tables);
    assert_eq!((sweep.overlaps.count, sweep.overlaps.examples[0].name.as_str()), (1, "b"));
    assert_eq!((sweep.duplicates.count, sweep.duplicates.examples[0].start_ns), (1, 40));
    assert_eq!(sweep.overlaps.examples[0].place, "GPU 0 queue 1");
}

#[test]
fn copies_of_unknown_size_are_counted_and_left_out_of_bandwidth() {
    let mut tables = Tables::default();
    copy(&mut tables, 0, Direction::HostToDevice, Some(1_000), 0, 100);
    copy(&mut tables, 0, Direction::HostToDevice, Some(3_000), 100, 200);
    copy(&mut tables, 0, Direction::HostToDevice, None, 200, 1_000);
    copy(&mut tables, 0, Direction::HostToDevice, Some(9), 1_000, 1_000);
    let group = rtl_analysis::copies::by_direction(&tables).remove(0);
    assert_eq!((group.count, group.bytes, group.unknown_bytes, group.total_ns), (4, 4_009, 1, 1_000));
    assert_eq!((group.min_bytes, group.max_bytes), (Some(9), Some(3_000)));
    // 4000 bytes in 200 ns.
    assert_eq!(group.bytes_per_second, Some(20e9));
}

#[test]
fn calls_are_grouped_by_function() {
    let mut tables = Tables::default();
    call(&mut tables, 1, "hipLaunchKernel", 1, 0, 5);
    call(&mut tables, 2, "hipLaunchKernel", 2, 0, 7);
    call(&mut tables, 1, "hipDeviceSynchronize", 3, 5, 100);
    let groups = rtl_analysis::api::by_function(&tables);
    let shown: Vec<_> = groups.iter().map(|g| (g.name.as_str(), g.stats.calls, g.stats.total_ns)).collect();
    assert_eq!(shown, [("hipDeviceSynchronize", 1, 95), ("hipLaunchKernel", 2, 12)]);
    assert_eq!(groups[0].domain.as_deref(), Some("hip"));
    // 95 of 107 ns.
    assert!((groups[0].share - 95.0 / 107.0).abs() < 1e-12);
    assert_eq!(groups.iter().map(|group| group.errors).sum::<u64>(), 0);
}

#[test]
fn a_call_that_returned_something_else_than_success_is_an_error_of_its_function() {
    let mut tables = Tables::default();
    for start in [0, 10, 20] {
        call(&mut tables, 1, "hipMalloc", 0, start, start + 5);
    }
    tables.api_calls.result = [0, 2, 0].into_iter().collect();
    call(&mut tables, 1, "hipFree", 0, 30, 31);
    let errors: Vec<_> =
        rtl_analysis::api::by_function(&tables).into_iter().map(|g| (g.name, g.errors)).collect();
    assert_eq!(errors, [("hipMalloc".to_owned(), 1), ("hipFree".to_owned(), 0)]);
}

#[test]
fn calls_without_an_end_are_told_one_by_one_and_are_in_no_time() {
    let mut tables = Tables::default();
    call(&mut tables, 1, "hipMalloc", 0, 0, 5);
    for (tid, start) in [(8, 40), (7, 30)] {
        call(&mut tables, tid, "hipStreamSynchronize", 0, start, start + 5);
    }
    tables.api_calls.duration = [Some(5), None, None].into_iter().collect();
    tables.processes[0].end = Some(100);
    let groups: Vec<_> = rtl_analysis::api::by_function(&tables)
        .into_iter()
        .map(|group| (group.name, group.stats.calls, group.stats.total_ns, group.unfinished))
        .collect();
    assert_eq!(groups, [("hipMalloc".to_owned(), 1, 5, 0), ("hipStreamSynchronize".to_owned(), 0, 0, 2)]);
    let calls = rtl_analysis::api::unfinished(&tables);
    let calls: Vec<_> = calls.iter().map(|call| (call.tid, call.start_ns, call.waited_ns)).collect();
    assert_eq!(calls, [(Some(7), 30, Some(70)), (Some(8), 40, Some(60))]);
}

#[test]
fn an_iteration_of_hsa_that_was_stopped_is_no_error() {
    let mut tables = Tables::default();
    for (start, name) in [(0, "hsa_iterate_agents"), (10, "hsa_iterate_agents"), (20, "hipMalloc")] {
        call(&mut tables, 1, name, 0, start, start + 5);
    }
    tables.api_calls.result = [1, 0x1001, 1].into_iter().collect();
    let errors: Vec<_> =
        rtl_analysis::api::by_function(&tables).into_iter().map(|g| (g.name, g.errors)).collect();
    assert_eq!(errors, [("hsa_iterate_agents".to_owned(), 1), ("hipMalloc".to_owned(), 1)]);
}

fn found<'a>(groups: &'a [RangeGroup], name: &str) -> &'a RangeGroup {
    groups.iter().find(|group| group.name == name).expect("a range of that name")
}

/// A step with two layers, whose ops run later on the GPU.
fn nested(tables: &mut Tables) {
    range(tables, 1, Some(7), "step", 0, 100);
    range(tables, 2, Some(7), "layer", 10, 40);
    range(tables, 3, Some(7), "layer", 50, 80);
    range(tables, 4, Some(8), "other thread", 0, 1_000);
}

#[test]
fn stored_range_ids_count_for_the_ranges_around_them_too() {
    let mut tables = Tables::default();
    nested(&mut tables);
    let on = |range: i64, start: i64| Dispatch { start, duration: Some(10), range, ..Dispatch::default() };
    dispatch(&mut tables, 0, 1, on(1, 500), "a");
    dispatch(&mut tables, 0, 1, on(2, 505), "b");
    dispatch(&mut tables, 0, 1, on(3, 600), "c");
    dispatch(&mut tables, 0, 1, on(0, 700), "d");
    let report = analysis(&tables).ranges().clone();
    assert_eq!(report.methods, [RangeMethod::Stored]);
    let step = found(&report.groups, "step");
    assert_eq!((step.ops, step.gpu_ns, step.gpu_busy_ns, step.stats.total_ns), (3, 30, 25, 100));
    let layer = found(&report.groups, "layer");
    assert_eq!((layer.count, layer.ops, layer.gpu_ns, layer.gpu_busy_ns), (2, 2, 20, 20));
    assert_eq!(found(&report.groups, "other thread").ops, 0);
}

#[test]
fn a_launch_link_decides_by_the_calls_thread_and_time() {
    let mut tables = Tables::default();
    nested(&mut tables);
    for (tid, correlation, start) in [(7, 11, 15), (7, 12, 45), (8, 13, 20), (7, 14, 100)] {
        call(&mut tables, tid, "hipLaunchKernel", correlation, start, start + 2);
        let row = Dispatch { start: 5_000 + start, duration: Some(1), correlation, ..Dispatch::default() };
        dispatch(&mut tables, 0, 1, row, "k");
    }
    let report = analysis(&tables).ranges().clone();
    assert_eq!(report.methods, [RangeMethod::Linked]);
    let ops = |name| found(&report.groups, name).ops;
    assert_eq!((ops("step"), ops("layer"), ops("other thread")), (2, 1, 1));
}

#[test]
fn without_ids_and_links_the_start_of_the_op_decides() {
    let mut tables = Tables::default();
    nested(&mut tables);
    kernel(&mut tables, 0, 1, "inside a layer", 39, 60);
    kernel(&mut tables, 0, 1, "between layers", 40, 45);
    copy(&mut tables, 0, Direction::HostToDevice, None, 55, 60);
    let report = analysis(&tables).ranges().clone();
    assert_eq!(report.methods, [RangeMethod::Contained]);
    let ops = |name| found(&report.groups, name).ops;
    assert_eq!((ops("step"), ops("layer"), ops("other thread")), (3, 2, 3));
    assert_eq!(found(&report.groups, "layer").gpu_ns, 26);
    assert_eq!(found(&report.groups, "layer").gpu_busy_ns, 21);
}

#[test]
fn one_call_that_waited_for_late_ranks_is_named_with_its_moment() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "ncclDevKernel", 1_000, 17_001_000);
    for call in 0..3 {
        kernel(&mut tables, 0, 1, "ncclDevKernel", 20_000_000 + call * 100, 20_000_050 + call * 100);
    }
    let sanity = checked(&tables);
    let dominant = &sanity.dominant[0];
    assert_eq!((dominant.calls, dominant.max_ns, dominant.start_ns), (4, 17_000_000, 1_000));
    assert_eq!((dominant.p50_ns, dominant.place.as_str()), (50, "GPU 0"));
    assert_eq!(dominant.suspicion, Some(Suspicion::LateRanks));
    assert!(sanity.strict_failures().is_empty());
    assert_ne!(sanity, Sanity::default());
}

#[test]
fn a_long_call_is_compared_with_those_of_its_launch_shape_and_with_the_wall_time() {
    // Starts, durations and work-groups of calls of one kernel; then the suspicion.
    let short = [(1_000, 10, 1), (2_000, 10, 1), (3_000, 10, 1), (4_000, 10, 1)];
    let cases = [
        (vec![(0, 900, 1)], Some(Suspicion::FirstCall)),
        (vec![(9_000, 900, 1)], Some(Suspicion::Unknown)),
        (vec![(0, 900, 64)], None),
        (vec![(0, 900, 1), (1_000_000, 1, 1)], None),
    ];
    for (calls, suspicion) in cases {
        let mut tables = Tables::default();
        for (start, duration, groups) in calls.iter().chain(&short) {
            let shape = Shape { groups: Some([*groups, 1, 1]), ..Shape::default() };
            let shape = tables.shapes.intern(shape);
            let row = Dispatch {
                start: *start,
                duration: Some(*duration),
                shape: Some(shape),
                ..Dispatch::default()
            };
            dispatch(&mut tables, 0, 1, row, "gather");
        }
        let dominant = checked(&tables).dominant;
        let suspicions: Vec<_> = dominant.iter().map(|dominant| dominant.suspicion).collect();
        assert_eq!(suspicions, [suspicion], "{calls:?}");
    }
    let mut tables = Tables::default();
    for (start, duration, _) in [(0, 900, 0)].iter().chain(&short) {
        kernel(&mut tables, 0, 1, "gather", *start, start + duration);
    }
    assert_eq!(checked(&tables).dominant[0].suspicion, None, "of an unknown shape");
}

#[test]
fn ops_that_the_backward_thread_launches_belong_to_the_step() {
    let mut tables = Tables::default();
    range(&mut tables, 1, Some(7), "ProfilerStep", 0, 100);
    range(&mut tables, 2, Some(7), "forward", 0, 100);
    range(&mut tables, 3, Some(8), "node", 40, 60);
    for (tid, correlation, start) in [(7, 11, 15), (8, 12, 45), (9, 13, 50), (8, 14, 120)] {
        call(&mut tables, tid, "hipLaunchKernel", correlation, start, start + 2);
        let row = Dispatch { start: 5_000 + start, duration: Some(1), correlation, ..Dispatch::default() };
        dispatch(&mut tables, 0, 1, row, "k");
    }
    let report = analysis(&tables).ranges().clone();
    let ops = |name| found(&report.groups, name).ops;
    assert_eq!((ops("ProfilerStep"), ops("forward"), ops("node")), (3, 1, 1));
}

#[test]
fn processes_and_gpus_without_events_are_not_active() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "k", 0, 10);
    let own = tables.processes.len().max(1);
    tables.processes.resize_with(own + 1, Default::default);
    tables.agents.push(rtl_schema::table::Agent { number: 4, kind: AgentKind::Gpu, ..Default::default() });
    let about = overview(&tables);
    assert_eq!((about.processes.len(), about.active.processes.len()), (own + 1, own));
    let gpus: Vec<i64> = about.active.gpus.iter().map(|&position| about.gpus[position].gpu).collect();
    assert_eq!((about.gpus.len(), gpus), (2, vec![0]));
}

#[test]
fn strict_fails_on_dangling_ids_and_lost_records_and_not_on_unresolved_names() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "kernel_0x7f00", 0, 10);
    assert_eq!(checked(&tables).unresolved_names, 1);
    assert!(checked(&tables).strict_failures().is_empty());
    tables.problems.add_many(ProblemKind::DanglingName, "rocpd_op.description_id", 17, 2);
    tables.info.losses = vec![("drop_shutdown".to_owned(), 3), ("drop_sig_fail".to_owned(), 0)];
    let failures = checked(&tables).strict_failures();
    assert_eq!(
        failures,
        ["2 rows with a dangling name in rocpd_op.description_id", "3 lost records (drop_shutdown)"]
    );
}

#[test]
fn a_clean_trace_has_nothing_to_say() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "a", 0, 10);
    assert_eq!(checked(&tables), Sanity::default());
}

#[test]
fn a_lite_mode_trace_says_what_is_missing() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "a", 0, 10);
    tables.info.mode = Some("lite".to_owned());
    let about = overview(&tables);
    assert!(about.notes[0].contains("collectives"), "{:?}", about.notes);
    assert_eq!(
        (about.start_ns, about.end_ns, about.span_ns, about.rows.dispatches),
        (Some(0), Some(10), 10, 1)
    );
}

#[test]
fn the_steady_part_leaves_out_the_first_and_the_last_call_of_the_main_kernel() {
    let mut tables = Tables::default();
    for step in 0..4 {
        kernel(&mut tables, 0, 1, "main", step * 100, step * 100 + 50);
        kernel(&mut tables, 0, 1, "small", step * 100 + 60, step * 100 + 70);
    }
    let region = apply(&mut tables, &Filter { steady: true, ..Filter::default() }).unwrap();
    assert_eq!((region.start_ns, region.end_ns), (Some(100), Some(250)));
    let starts: Vec<_> = tables.dispatches.start.clone();
    assert_eq!(starts, [100, 160, 200]);
    let error = apply(&mut tables, &Filter { steady: true, ..Filter::default() }).unwrap_err();
    assert_eq!(error, Error::NotSteady { place: "GPU 0".into(), kernel: "main".into(), calls: 2 });
}

#[test]
fn a_range_as_region_keeps_its_ops_calls_and_inner_ranges() {
    let mut tables = Tables::default();
    nested(&mut tables);
    kernel(&mut tables, 0, 1, "in", 15, 16);
    kernel(&mut tables, 0, 1, "out", 45, 46);
    call(&mut tables, 7, "in", 0, 50, 51);
    call(&mut tables, 8, "other thread", 0, 52, 53);
    let mut by_range = tables.clone();
    apply(&mut by_range, &Filter { range: Some("layer".into()), ..Filter::default() }).unwrap();
    assert_eq!((by_range.dispatches.len(), by_range.api_calls.len(), by_range.ranges.len()), (1, 1, 2));
    let missing = apply(&mut tables, &Filter { range: Some("lair".into()), ..Filter::default() });
    let Err(Error::NoRange { name, existing }) = missing else { panic!("{missing:?}") };
    assert_eq!(name, "lair");
    assert!(existing.contains("layer"), "{existing}");
}

#[test]
fn filters_by_place_and_name_keep_what_they_say() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "gemm", 0, 10);
    kernel(&mut tables, 1, 2, "gemm", 0, 10);
    kernel(&mut tables, 1, 1, "_Z3fooIiEvT_", 0, 10);
    copy(&mut tables, 1, Direction::HostToDevice, None, 0, 5);
    let count = |filter: &Filter| {
        let mut tables = tables.clone();
        let region = apply(&mut tables, filter).unwrap();
        assert_eq!(region.ops_before, 4);
        region.ops_after
    };
    assert_eq!(count(&Filter::default()), 4);
    assert_eq!(count(&Filter { gpus: vec![1], ..Filter::default() }), 3);
    assert_eq!(count(&Filter { queues: vec![1], ..Filter::default() }), 2);
    assert_eq!(count(&Filter { kernel: Some("@k1".parse().unwrap()), ..Filter::default() }), 2);
    assert_eq!(count(&Filter { kernel: Some("foo<int>".parse().unwrap()), ..Filter::default() }), 1);
}

#[test]
fn a_selection_of_nothing_is_an_error_that_names_what_exists() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "gemm", 0, 10);
    kernel(&mut tables, 1, 2, "add", 0, 5);
    let error = |filter: Filter| apply(&mut tables.clone(), &filter).unwrap_err().to_string();
    for (filter, message) in [
        (
            Filter { kernel: Some("nosuch".parse().unwrap()), ..Filter::default() },
            "no kernel matches nosuch: the trace has 2 kernels: gemm, add",
        ),
        (
            Filter { kernel: Some("@k3".parse().unwrap()), ..Filter::default() },
            "no kernel matches @k3: the trace has 2 kernels: gemm, add",
        ),
        (Filter { gpus: vec![9], ..Filter::default() }, "no GPU 9 in the trace, which has GPU 0, 1"),
        (Filter { queues: vec![9], ..Filter::default() }, "no queue 9 in the trace, which has queue 1, 2"),
        (Filter { ranks: vec![3], ..Filter::default() }, "no rank 3 in the trace, which has no ranks"),
        (
            Filter { from: Some("100s".parse().unwrap()), ..Filter::default() },
            "nothing starts at 100 s or later: the trace lasts 10 ns",
        ),
        (
            Filter { kernel: Some("gemm".parse().unwrap()), gpus: vec![1], ..Filter::default() },
            "no op passes all filters: kernel gemm, GPU 1",
        ),
    ] {
        assert_eq!(error(filter), message);
    }
    let some = Filter { gpus: vec![0, 9], ..Filter::default() };
    assert!(apply(&mut tables.clone(), &some).is_ok(), "one of them exists");
    assert!(apply(&mut Tables::default(), &some).is_err());
}

#[test]
fn idle_time_is_trimmed_to_the_first_and_last_op() {
    let mut tables = Tables::default();
    call(&mut tables, 1, "hipInit", 0, 0, 10);
    call(&mut tables, 1, "hipLaunchKernel", 0, 120, 130);
    kernel(&mut tables, 0, 1, "a", 100, 200);
    call(&mut tables, 1, "hipFree", 0, 500, 510);
    apply(&mut tables, &Filter { trim_idle: true, ..Filter::default() }).unwrap();
    assert_eq!(tables.api_calls.start, [120]);
}

#[test]
fn a_window_that_ends_before_it_starts_is_refused() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "a", 1_000, 2_000);
    let filter =
        Filter { from: Some(Bound::FromStart(500)), to: Some(Bound::FromEnd(600)), ..Filter::default() };
    assert_eq!(apply(&mut tables, &filter), Err(Error::EmptyRegion { from: 500, to: 400 }));
}

#[test]
fn two_traces_become_one_with_gpus_ids_and_names_kept_apart() {
    let mut first = Tables::default();
    nested(&mut first);
    dispatch(
        &mut first,
        0,
        1,
        Dispatch { start: 0, duration: Some(10), range: 1, ..Dispatch::default() },
        "a",
    );
    let mut second = Tables::default();
    kernel(&mut second, 0, 1, "b", 0, 1);
    kernel(&mut second, 0, 1, "a", 5, 10);
    range(&mut second, 1, Some(7), "epoch", 0, 4);
    let mut both = Combined::default();
    both.append(first);
    both.append(second);
    let both = both.into_tables();
    let analysis = analysis(&both);
    let gpus: Vec<_> = analysis.sweep().gpus.iter().map(|gpu| (gpu.gpu, gpu.busy_ns)).collect();
    assert_eq!(gpus, [(0, 10), (1, 6)]);
    let kernels: Vec<_> = analysis.kernels().iter().map(|k| (&*k.label, k.stats.total_ns)).collect();
    assert_eq!(kernels, [("a", 15), ("b", 1)]);
    let ranges = analysis.ranges();
    assert_eq!(ranges.methods, [RangeMethod::Stored, RangeMethod::Contained]);
    assert_eq!((found(&ranges.groups, "step").ops, found(&ranges.groups, "epoch").ops), (1, 1));
}

#[test]
fn an_empty_trace_has_an_empty_report() {
    let tables = Tables::default();
    let analysis = analysis(&tables);
    assert!(analysis.kernels().is_empty() && analysis.sweep().gpus.is_empty());
    assert_eq!(overview(&tables).start_ns, None);
}

#[test]
fn memory_grows_with_the_rows_and_not_with_the_square_of_the_gpus() {
    const GPUS: u32 = 80_000;
    let mut tables = Tables::default();
    for gpu in 0..GPUS {
        kernel(&mut tables, gpu, 0, "gemm", 0, 10);
        kernel(&mut tables, gpu, 1, "gemm", 5, 15);
    }
    kernel(&mut tables, 7, 1, "gemm", 12, 20);
    let analysis = analysis(&tables);
    let sweep = analysis.sweep();
    assert_eq!((sweep.gpus.len(), sweep.overlaps.count), (GPUS as usize, 1));
    assert_eq!((sweep.gpus[7].busy_ns, sweep.gpus[8].busy_ns), (20, 15));
}
