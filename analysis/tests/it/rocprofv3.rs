//! rocprofv3's summary table over hand-made records.

use rtl_analysis::rocprofv3::{Domain, Row, summary};
use rtl_schema::table::{
    Allocation, AllocationKind, AllocationLevel, ApiCall, Copy, Direction, Dispatch, Range,
};
use rtl_schema::{NameId, Tables};

fn dispatch(tables: &mut Tables, name: &str, duration: Option<i64>) {
    let name = tables.strings.intern(name);
    tables.dispatches.push(Dispatch { name, duration, ..Dispatch::default() });
}

fn call(tables: &mut Tables, library: Option<&str>, name: &str, duration: i64) {
    let domain = library.map_or(NameId::NONE, |library| tables.strings.intern(library));
    let name = tables.strings.intern(name);
    tables.api_calls.push(ApiCall { name, domain, duration: Some(duration), ..ApiCall::default() });
}

fn range(tables: &mut Tables, name: &str, duration: i64) {
    let name = tables.strings.intern(name);
    tables.ranges.push(Range { name, duration: Some(duration), ..Range::default() });
}

fn brief(rows: &[Row]) -> Vec<(&str, &str, i64)> {
    rows.iter().map(|row| (row.name.as_str(), row.domain.label(), row.times.total_ns())).collect()
}

#[test]
fn rows_are_sorted_by_time_and_equal_ones_by_name() {
    let mut tables = Tables::default();
    for (name, duration) in [("b", 5), ("a", 5), ("long", 7), ("b", 1), ("a", 1)] {
        dispatch(&mut tables, name, Some(duration));
    }
    let summary = summary(&tables);
    assert_eq!(
        brief(&summary.rows),
        [("long", "KERNEL_DISPATCH", 7), ("a", "KERNEL_DISPATCH", 6), ("b", "KERNEL_DISPATCH", 6)]
    );
    assert_eq!(
        (
            summary.total,
            summary.rows[1].times.min_ns,
            summary.rows[1].times.max_ns,
            summary.rows[1].times.calls
        ),
        (19, 1, 5, 2)
    );
    assert_eq!(summary.rows[1].times.mean_ns(), 3.0);
}

#[test]
fn the_standard_deviation_is_the_samples() {
    let mut tables = Tables::default();
    for duration in [9_000, 12_000] {
        dispatch(&mut tables, "two", Some(duration));
    }
    dispatch(&mut tables, "one", Some(5));
    let summary = summary(&tables);
    assert!((summary.rows[0].times.stddev_ns() - 2_121.320_343_559_643).abs() < 1e-9);
    assert_eq!(summary.rows[1].times.stddev_ns(), 0.0);
}

#[test]
fn squares_of_long_calls_do_not_overflow() {
    let mut tables = Tables::default();
    let hour = 3_600_000_000_000;
    for duration in [hour, 3 * hour] {
        dispatch(&mut tables, "wait", Some(duration));
    }
    let expected = hour as f64 * 2.0_f64.sqrt();
    assert!((summary(&tables).rows[0].times.stddev_ns() / expected - 1.0).abs() < 1e-12);
}

#[test]
fn a_call_belongs_to_its_library_or_else_to_its_functions_prefix() {
    let mut tables = Tables::default();
    for (library, name, duration) in [
        (Some("HIP_RUNTIME_API_EXT"), "x", 9),
        (Some("hsa"), "y", 8),
        (Some("RCCL_API"), "z", 7),
        (Some("ROCDECODE_API_EXT"), "d", 6),
        (Some("ROCJPEG_API"), "j", 5),
        (None, "hsa_signal_create", 4),
        (None, "ncclAllReduce", 3),
        (Some("something"), "unheard", 2),
        (Some("x"), "rocDecCreateDecoder", 1),
    ] {
        call(&mut tables, library, name, duration);
    }
    let domains: Vec<_> = summary(&tables).rows.iter().map(|row| row.domain).collect();
    use Domain::{Hip, Hsa, Rccl, RocDecode, RocJpeg};
    assert_eq!(domains, [Hip, Hsa, Rccl, RocDecode, RocJpeg, Hsa, Rccl, Hip, RocDecode]);
}

#[test]
fn a_name_of_two_domains_is_one_row_of_the_first() {
    let mut tables = Tables::default();
    range(&mut tables, "gemm", 10);
    dispatch(&mut tables, "gemm", Some(4));
    let summary = summary(&tables);
    assert_eq!(brief(&summary.rows), [("gemm", "MARKER_API", 14)]);
    assert_eq!(
        (summary.rows[0].times.calls, summary.rows[0].times.min_ns, summary.rows[0].times.max_ns),
        (2, 4, 10)
    );
}

#[test]
fn copies_and_allocations_have_rocprofv3s_names_in_every_dialect() {
    let mut tables = Tables::default();
    let name = tables.strings.intern("CopyHostToDevice");
    let fill = tables.strings.intern("FillBuffer");
    let copy =
        |name, direction, duration| Copy { name, direction, duration: Some(duration), ..Copy::default() };
    tables.copies = vec![copy(name, Direction::HostToDevice, 9), copy(fill, Direction::Fill, 8)];
    let event =
        |level, kind, duration| Allocation { level, kind, duration: Some(duration), ..Allocation::default() };
    tables.allocations = vec![
        event(AllocationLevel::Real, AllocationKind::Allocate, 7),
        event(AllocationLevel::Virtual, AllocationKind::Free, 6),
        event(AllocationLevel::Scratch, AllocationKind::Reclaim, 5),
    ];
    assert_eq!(
        brief(&summary(&tables).rows),
        [
            ("MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY", 9),
            ("FillBuffer", "MEMORY_COPY", 8),
            ("MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION", 7),
            ("MEMORY_ALLOCATION_VMEM_FREE", "MEMORY_ALLOCATION", 6),
            ("SCRATCH_MEMORY_ASYNC_RECLAIM", "SCRATCH_MEMORY", 5),
        ]
    );
}

#[test]
fn records_without_a_valid_end_are_left_out_and_counted() {
    let mut tables = Tables::default();
    for duration in [None, Some(-1), Some(3)] {
        dispatch(&mut tables, "k", duration);
    }
    let summary = summary(&tables);
    assert_eq!((summary.left_out, summary.rows[0].times.calls, summary.total), (2, 1, 3));
}
