//! One run reduced to what a comparison needs.

use crate::common::{analysis, copy, dispatch, kernel, shuffled};
use proptest::prelude::*;
use rtl_analysis::profile::{Activity, KernelKey, Profile, Warmup, profile};
use rtl_schema::Tables;
use rtl_schema::table::{Direction, Dispatch, Shape};

fn of(tables: &Tables, by: KernelKey) -> Profile {
    profile(&analysis(tables), by, Warmup::Keep)
}

#[test]
fn a_kernel_has_its_durations_its_neighbours_and_its_place() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 0, "gemm", 0, 100);
    kernel(&mut tables, 0, 0, "softmax.kd", 120, 150);
    kernel(&mut tables, 0, 0, "gemm", 160, 270);
    kernel(&mut tables, 1, 0, "ncclDevKernel", 0, 50);
    copy(&mut tables, 0, Direction::HostToDevice, Some(8), 260, 280);
    let profile = of(&tables, KernelKey::Name);

    let names: Vec<&str> = profile.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["gemm", "ncclDevKernel", "softmax"]);
    assert!(profile.kernels[1].collective);
    let gemm = &profile.kernels[0].run;
    assert_eq!((gemm.calls, gemm.total_ns, gemm.min_ns), (2, 210, 100));
    assert_eq!(profile.kernels[2].neighbours, [Some("gemm".to_owned()), Some("gemm".to_owned())]);
    assert_eq!(profile.kernels[0].neighbours, [None, Some("softmax".to_owned())]);

    let gpu = &profile.gpus[0];
    assert_eq!((gpu.gpu, gpu.wall_ns, gpu.busy_ns), (0, 280, 250));
    let work: Vec<_> = gpu.work.iter().map(|work| (work.item, work.calls, work.total_ns)).collect();
    assert_eq!(
        work,
        [
            (Activity::Kernel(0), 2, 210),
            (Activity::Kernel(2), 1, 30),
            (Activity::Copies(Direction::HostToDevice), 1, 20)
        ]
    );
}

#[test]
fn by_launch_a_kernel_is_told_apart_by_its_shape_but_not_by_its_scratch() {
    let mut tables = Tables::default();
    for (call, (items, scratch)) in [(256, 0), (256, 16), (512, 0)].into_iter().enumerate() {
        let shape = Shape { scratch: Some(scratch), ..Shape::from_items([256, 1, 1], [items, 1, 1]) };
        let shape = Some(tables.shapes.intern(shape));
        let start = call as i64 * 100;
        dispatch(
            &mut tables,
            0,
            0,
            Dispatch { start, duration: Some(10), shape, ..Dispatch::default() },
            "gemm",
        );
    }
    let launches: Vec<_> = of(&tables, KernelKey::Launch)
        .kernels
        .into_iter()
        .map(|kernel| (kernel.launch.unwrap(), kernel.run.calls))
        .collect();
    assert_eq!(
        launches,
        [("1x1x1 groups of 256x1x1".to_owned(), 2), ("2x1x1 groups of 256x1x1".to_owned(), 1)]
    );
    let whole = of(&tables, KernelKey::Name);
    assert_eq!((whole.kernels.len(), whole.kernels[0].shapes.len(), whole.gpus[0].work.len()), (1, 2, 2));
}

#[test]
fn warm_up_is_left_out_of_durations_and_not_of_the_books() {
    let mut tables = Tables::default();
    for gpu in 0..2 {
        for (call, duration) in [900, 100, 100].into_iter().enumerate() {
            let start = call as i64 * 1_000;
            kernel(&mut tables, gpu, 0, "gemm", start, start + duration);
        }
    }
    let profile = profile(&analysis(&tables), KernelKey::Name, Warmup::Calls(1));
    assert_eq!((profile.kernels[0].run.calls, profile.kernels[0].run.total_ns), (4, 400));
    assert_eq!(profile.kernels[0].warmup, 2);
    assert_eq!(profile.gpus[1].work[0].total_ns, 1_100);
}

prop_compose! {
    /// GPU, name, start and duration of kernels, many of which start together.
    fn rows()(rows in prop::collection::vec((0_u32..3, 0_usize..4, 0_i64..60, -3_i64..40), 0..80)) -> Tables {
        let mut tables = Tables::default();
        for (gpu, name, start, duration) in rows {
            kernel(&mut tables, gpu, 0, ["a", "b", "b.kd", "nccl_c"][name], start, start + duration);
        }
        tables
    }
}

proptest! {
    #[test]
    fn the_order_of_rows_does_not_matter(tables in rows(), seed in 0_u64..100) {
        prop_assert_eq!(of(&tables, KernelKey::Name), of(&shuffled(&tables, seed), KernelKey::Name));
    }

    #[test]
    fn sums_are_those_of_the_summary(tables in rows()) {
        let profile = of(&tables, KernelKey::Name);
        let analysis = analysis(&tables);
        let groups = analysis.kernels();
        prop_assert_eq!(profile.kernels.len(), groups.len());
        for kernel in &profile.kernels {
            let group = groups.iter().find(|group| *group.label == *kernel.name).unwrap();
            prop_assert_eq!(kernel.run.calls, group.stats.calls);
            prop_assert_eq!(kernel.run.total_ns, group.stats.total_ns);
            prop_assert_eq!(kernel.run.median_ns, group.stats.p50_ns);
        }
        let worked: i64 = profile.gpus.iter().flat_map(|gpu| &gpu.work).map(|work| work.total_ns).sum();
        prop_assert_eq!(worked, groups.iter().map(|group| group.stats.total_ns).sum::<i64>());
    }
}
