//! Tests of the settings of the simulated GPUs, through the stock runtime. Where the packages are not installed each test prints
//! one line and passes.

use std::collections::HashSet;

use crate::common::{Dispatch, Program, TWO_TICKS, assert_same, number, on_simulator};

/// The first kernel objects of the program on its first two GPUs.
const FIRST: u64 = 0x10_0000;
const SECOND: u64 = 0x10_0040;
const ON_SECOND_GPU: u64 = 0x20_0000;

/// Running times of the kernels in ns, in the order in which the GPU executed them.
fn times(program: &Program, dispatches: &str, settings: &[(&str, &str)]) -> Vec<u64> {
    let (_, mut executed) = program.dispatches(&[dispatches], settings);
    executed.sort_by_key(|dispatch| dispatch.object);
    executed.iter().map(|dispatch| dispatch.end - dispatch.start).collect()
}

/// The object of the only kernel that ended, and the log's dispatches.
fn first(program: &Program, dispatches: &str, settings: &[(&str, &str)]) -> (u64, Vec<u64>) {
    let (reported, executed) = program.dispatches(&[dispatches, "first"], settings);
    assert_eq!(reported.len(), 1);
    (reported[0].object, executed.iter().map(|dispatch| dispatch.object).collect())
}

fn most_at_once(dispatches: &[Dispatch]) -> usize {
    let running = |at: u64| dispatches.iter().filter(|other| other.start <= at && at < other.end).count();
    dispatches.iter().map(|dispatch| running(dispatch.start)).max().unwrap()
}

#[test]
fn a_kernel_takes_its_own_time() {
    let Some(program) = Program::build("dispatch") else { return };
    let settings = [("KFD_SIM_KERNEL_NS", "0x100040=3000000,0x100080=20,1000")];
    assert_eq!(times(&program, "4", &settings), [1_000, 3_000_000, 20, 1_000]);
}

#[test]
fn times_by_lot_are_the_same_for_the_same_seed_only() {
    let Some(program) = Program::build("dispatch") else { return };
    let times =
        |seed| times(&program, "20", &[("KFD_SIM_KERNEL_NS", "1000..900000"), ("KFD_SIM_SEED", seed)]);
    let seven = times("7");
    assert!(seven.iter().all(|time| (1_000..=900_000).contains(time)), "{seven:?}");
    assert!(seven.iter().collect::<HashSet<_>>().len() > 10, "{seven:?}");
    assert_eq!(seven, times("7"));
    assert_ne!(seven, times("8"));
}

#[test]
fn kernels_of_a_queue_overlap_when_they_may() {
    let Some(program) = Program::build("dispatch") else { return };
    // The long time lets a busy host submit the next ones meanwhile.
    for (overlap, time, expected) in [("1", "100000", 1), ("4", "300000000", 4)] {
        let settings = [("KFD_SIM_OVERLAP", overlap), ("KFD_SIM_KERNEL_NS", time)];
        let (reported, executed) = program.dispatches(&["8"], &settings);
        assert_same(&reported, &executed);
        assert_eq!(most_at_once(&executed), expected, "{executed:?}");
    }
}

#[test]
fn a_later_kernel_of_a_queue_may_end_first() {
    let Some(program) = Program::build("dispatch") else { return };
    let settings = [("KFD_SIM_OVERLAP", "2"), ("KFD_SIM_KERNEL_NS", "0x100000=never,1000")];
    assert_eq!(first(&program, "2", &settings), (SECOND, vec![SECOND]));
}

#[test]
fn a_kernel_that_never_ends_stops_its_queue_and_no_other() {
    let Some(program) = Program::build("dispatch") else { return };
    let settings = [("KFD_SIM_GPUS", "2"), ("KFD_SIM_KERNEL_NS", "0x100000=never,0x200040=never,1000")];
    assert_eq!(first(&program, "2", &settings), (ON_SECOND_GPU, vec![ON_SECOND_GPU]));
}

#[test]
fn a_signal_that_never_changes_was_executed_all_the_same() {
    let Some(program) = Program::build("dispatch") else { return };
    let settings = [("KFD_SIM_DELAY_NS", "0x100000=never")];
    let (object, executed) = first(&program, "2", &settings);
    assert_eq!((object, executed), (SECOND, vec![FIRST, SECOND]));
}

#[test]
fn signals_that_change_late_and_out_of_order_have_their_true_times() {
    let Some(program) = Program::build("dispatch") else { return };
    let settings = [
        ("KFD_SIM_GPUS", "4"),
        ("KFD_SIM_DELAY_NS", "0..3000000"),
        ("KFD_SIM_KERNEL_NS", "1000..9000"),
        ("KFD_SIM_OVERLAP", "8"),
    ];
    let (reported, executed) = program.dispatches(&["100"], &settings);
    assert_eq!(executed.len(), 400);
    assert_same(&reported, &executed);
}

#[test]
fn timestamps_that_lie_reach_the_program_and_not_the_log() {
    let Some(program) = Program::build("dispatch") else { return };
    let run = |kind| {
        let settings = [("KFD_SIM_TIMESTAMPS", kind), ("KFD_SIM_KERNEL_NS", "100000")];
        let (reported, executed) = program.dispatches(&["1"], &settings);
        assert_eq!(executed[0].end - executed[0].start, 100_000);
        (reported[0], executed[0])
    };
    let (reported, executed) = run("inverted");
    assert!(reported.start.abs_diff(executed.end) <= TWO_TICKS, "{reported:?} {executed:?}");
    assert!(reported.end.abs_diff(executed.start) <= TWO_TICKS, "{reported:?} {executed:?}");
    let (reported, _) = run("zero");
    assert_eq!(reported.start, reported.end);
    let (reported, executed) = run("garbage");
    assert!(reported.start.abs_diff(executed.start) > 1_000_000_000, "{reported:?} {executed:?}");
}

#[test]
fn the_runtime_follows_a_clock_that_drifts() {
    let Some(program) = Program::build("dispatch") else { return };
    for drift in ["-300", "300"] {
        let settings = [("KFD_SIM_DRIFT_PPM", drift), ("KFD_SIM_GPUS", "2")];
        let (reported, executed) = program.dispatches(&["20"], &settings);
        assert_same(&reported, &executed);
    }
}

#[test]
fn a_signal_that_has_changed_is_in_the_log() {
    let Some(program) = Program::build("dispatch") else { return };
    let settings = [("KFD_SIM_KERNEL_NS", "0..20000"), ("KFD_SIM_OVERLAP", "4"), ("KFD_SIM_GPUS", "2")];
    let (printed, _) = program.run(&["200", "logged"], &settings);
    assert_eq!(printed.len(), 400);
}

#[test]
fn the_log_says_which_queues_the_program_asked_for() {
    let Some(program) = Program::build("dispatch") else { return };
    let (_, log) = program.run(&["3"], &[("KFD_SIM_GPUS", "2")]);
    let lines = |kind: &'static str| {
        let columns = log.iter().map(|line| line.split('\t').collect::<Vec<_>>());
        columns.filter(move |columns| columns[0] == kind)
    };
    let programs: Vec<&str> =
        lines("queue").filter(|columns| columns[7] == "program").map(|columns| columns[3]).collect();
    assert_eq!(programs.len(), 2, "one for each GPU: {log:?}");
    assert!(lines("dispatch").all(|columns| programs.contains(&columns[3])), "{log:?}");

    let Some(copies) = Program::build("copy") else { return };
    let (_, log) = copies.run(&["4096"], &[]);
    assert!(log.iter().any(|line| line.ends_with("\truntime")));
    assert!(!log.iter().any(|line| line.ends_with("\tprogram")), "{log:?}");
}

#[test]
fn bytes_that_kernels_of_the_runtime_move_arrive() {
    let Some(program) = Program::build("copy") else { return };
    for (gpus, bytes) in [("1", "1"), ("1", "4099"), ("2", "100001"), ("4", "3000000")] {
        for engine in ["0", "1"] {
            let settings = [("KFD_SIM_GPUS", gpus), ("HSA_ENABLE_SDMA", engine)];
            let (printed, log) = program.run(&[bytes, "fill"], &settings);
            let moved = |kind: &str| -> u64 {
                let columns = log.iter().map(|line| line.split('\t').collect::<Vec<_>>());
                columns.filter(|columns| columns[0] == kind).map(|columns| number(columns[4])).sum()
            };
            assert_eq!(moved("copy"), number(bytes) * printed.len() as u64, "{log:?}");
            assert_eq!(moved("fill"), number(bytes) & !3, "{log:?}");
            // The oldest runtime always fills by kernel.
            assert_eq!(log.iter().any(|line| line.contains("\tdma\t")), engine == "1", "{log:?}");
        }
    }
}

#[test]
fn a_copy_says_whose_memory_it_comes_from_and_goes_to() {
    let Some(program) = Program::build("copy") else { return };
    let (_, log) = program.run(&["4096"], &[("KFD_SIM_GPUS", "2")]);
    let columns = log.iter().map(|line| line.split('\t').collect::<Vec<_>>());
    let nodes: Vec<(u64, u64)> = columns
        .filter(|columns| columns[0] == "copy")
        .map(|columns| (number(columns[9]), number(columns[10])))
        .collect();
    assert_eq!(nodes, [(0, 1), (1, 2), (2, 0)]);
}

#[test]
fn a_copy_takes_the_time_that_its_bytes_need() {
    let Some(program) = Program::build("copy") else { return };
    for engine in ["0", "1"] {
        let settings = [("KFD_SIM_COPY_MB_S", "1"), ("HSA_ENABLE_SDMA", engine)];
        let (printed, log) = program.run(&["4096"], &settings);
        let columns = log.iter().map(|line| line.split('\t').collect::<Vec<_>>());
        let copies: Vec<u64> = columns
            .filter(|columns| columns[0] == "copy")
            .map(|columns| number(columns[8]) - number(columns[7]))
            .collect();
        assert_eq!(copies.len(), 2);
        // The speed is one byte a microsecond; a busy host may take longer.
        assert!(copies.iter().all(|time| *time >= 4_096_000), "{copies:?}");
        for line in printed {
            let columns: Vec<u64> = line.split('\t').map(number).collect();
            assert!(columns[2] - columns[1] + TWO_TICKS >= 4_096_000, "{line}");
        }
    }
}

#[test]
fn a_value_outside_its_grammar_ends_the_program_with_a_reason() {
    let Some(program) = Program::build("dispatch") else { return };
    for (name, value) in [
        ("KFD_SIM_KERNEL_NS", "soon"),
        ("KFD_SIM_DELAY_NS", "a=1,2,3"),
        ("KFD_SIM_TIMESTAMPS", "false"),
        ("KFD_SIM_OVERLAP", "65"),
        ("KFD_SIM_SEED", "-1"),
        ("KFD_SIM_DRIFT_PPM", "100001"),
        ("KFD_SIM_COPY_MB_S", "0"),
    ] {
        let output = on_simulator(&program.path, &[(name, value)]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        let reason = String::from_utf8(output.stderr).unwrap();
        assert!(reason.starts_with(&format!("kfd-sim: {name}={value}: not ")), "{reason}");
        assert_eq!(reason.lines().count(), 1, "{reason}");
    }
}
