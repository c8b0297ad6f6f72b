//! Tests of stock programs of ROCm on the simulator: the runtime reports what the log has as executed. Where the packages are not
//! installed each test prints one line and passes.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use crate::common::{Program, TWO_TICKS, answer, assert_same, is_installed, number, on_simulator};

#[test]
fn the_runtime_reports_what_was_executed_on_every_gpu() {
    let Some(program) = Program::build("dispatch") else { return };
    for gpus in ["1", "2", "4", "8"] {
        let (reported, executed) = program.dispatches(&["10"], &[("KFD_SIM_GPUS", gpus)]);
        assert_eq!(executed.len() as u64, 10 * number(gpus));
        assert_same(&reported, &executed);
    }
}

#[test]
fn a_kernel_takes_the_time_that_is_set() {
    let Some(program) = Program::build("dispatch") else { return };
    let (reported, executed) = program.dispatches(&["3"], &[("KFD_SIM_KERNEL_NS", "2500000")]);
    assert_same(&reported, &executed);
    for dispatch in executed {
        assert_eq!(Duration::from_nanos(dispatch.end - dispatch.start), Duration::from_micros(2_500));
    }
}

#[test]
fn a_barrier_holds_a_queue_until_another_gpu_is_done() {
    let Some(program) = Program::build("dispatch") else { return };
    let (reported, mut executed) = program.dispatches(&["10", "barrier"], &[("KFD_SIM_GPUS", "3")]);
    assert_same(&reported, &executed);
    executed.sort_by_key(|dispatch| dispatch.start);
    let order: Vec<u32> = executed.iter().map(|dispatch| dispatch.gpu).collect();
    assert_eq!(order, [0, 1, 2].repeat(10));
    for pair in executed.windows(2) {
        assert!(pair[0].end <= pair[1].start, "{pair:?}");
    }
}

#[test]
fn a_queue_shorter_than_the_work_is_filled_again_and_again() {
    let Some(program) = Program::build("dispatch") else { return };
    let (reported, executed) = program.dispatches(&["1000"], &[("KFD_SIM_KERNEL_NS", "0")]);
    assert_eq!(executed.len(), 1000);
    assert_eq!(reported.len(), 1000);
}

#[test]
fn a_process_that_runs_out_of_events_still_ends() {
    let Some(program) = Program::build("dispatch") else { return };
    let (reported, executed) = program.dispatches(&["100"], &[("KFD_SIM_EVENTS", "16")]);
    assert_same(&reported, &executed);
}

#[test]
fn bytes_go_through_every_gpu_and_come_back() {
    let Some(program) = Program::build("copy") else { return };
    for (gpus, bytes) in [("1", "1"), ("2", "100001"), ("4", "9000000")] {
        let (printed, log) = program.run(&[bytes], &[("KFD_SIM_GPUS", gpus)]);
        assert_eq!(printed.len() as u64, number(gpus) + 1, "to the first, from one to the next, and back");
        let copies = log.iter().filter(|line| line.starts_with("copy\t"));
        let copied: u64 = copies.map(|line| number(line.split('\t').nth(4).unwrap())).sum();
        assert_eq!(copied, number(bytes) * printed.len() as u64);
    }
}

#[test]
fn the_runtime_reports_a_copy_around_the_time_at_which_it_was_made() {
    let Some(program) = Program::build("copy") else { return };
    let (printed, log) = program.run(&["4096"], &[]);
    let columns = |line: &String| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
    let made: Vec<Vec<String>> = log.iter().map(columns).filter(|columns| columns[0] == "copy").collect();
    assert_eq!((printed.len(), made.len()), (2, 2));
    for (reported, made) in printed.iter().map(columns).zip(made) {
        assert!(number(&reported[1]) <= number(&made[7]) + TWO_TICKS, "{reported:?} {made:?}");
        assert!(number(&reported[2]) + TWO_TICKS >= number(&made[8]), "{reported:?} {made:?}");
    }
}

#[test]
fn rocminfo_lists_every_gpu_by_its_name() {
    let rocminfo = "/usr/bin/rocminfo";
    if !is_installed(rocminfo, "rocminfo") {
        return;
    }
    for (gpus, target) in [(1, "gfx90a"), (8, "gfx90a"), (2, "gfx1030")] {
        let count = gpus.to_string();
        let settings = [("KFD_SIM_GPUS", count.as_str()), ("KFD_SIM_TARGET", target)];
        let text = answer(on_simulator(Path::new(rocminfo), &settings));
        let agents = text.lines().filter(|line| line.split_whitespace().eq(["Name:", target])).count();
        assert_eq!(agents, gpus, "{text}");
    }
}

#[test]
fn settings_that_make_no_sense_end_the_program_with_a_reason() {
    let Some(program) = Program::build("dispatch") else { return };
    let mut command = on_simulator(&program.path, &[("KFD_SIM_GPUS", "65")]);
    let Output { status, stderr, .. } = command.output().unwrap();
    assert_eq!(status.code(), Some(2));
    assert_eq!(
        String::from_utf8(stderr).unwrap(),
        "kfd-sim: KFD_SIM_GPUS=65: not a whole number from 1 to 64\n"
    );
}
