//! Tests that the kernels with which the runtimes of every generation copy and fill move bytes, and have names.

use std::collections::HashSet;
use std::fs;
use std::process::Output;

use crate::common::{Program, number};
use support::{code_object, program, stacks};

/// Generations of GPUs with code of their own in ROCr, and the first runtime that knows them.
const TARGETS: [(&str, &str); 8] = [
    ("gfx906", "5.2.3"),
    ("gfx908", "5.2.3"),
    ("gfx90a", "5.2.3"),
    ("gfx1030", "5.2.3"),
    ("gfx942", "6.1.2"),
    ("gfx1100", "6.1.2"),
    ("gfx950", "6.4.3"),
    ("gfx1201", "6.4.3"),
];

#[test]
fn bytes_that_rocr_moves_by_kernel_or_by_dma_arrive_on_every_gpu() {
    let Some(program) = Program::build("copy") else { return };
    for stack in stacks() {
        for (target, _) in TARGETS.into_iter().filter(|(_, since)| *since <= stack.rocr) {
            for (engine, what) in [("0", "fill"), ("1", "fill"), ("1", "rows")] {
                let mut command = stack.command(&program.path);
                command.args(["100003", what]).env("HSA_ENABLE_SDMA", engine);
                command.env("KFD_SIM_GPUS", "2").env("KFD_SIM_TARGET", target);
                // The program itself compares the bytes, and its exit code is the result.
                let Output { status, stdout, stderr } = command.output().unwrap();
                let texts = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
                assert!(status.success(), "{stack:?} {target} {engine} {what} {texts:?}");
            }
        }
    }
}

#[test]
fn parts_and_rows_that_hip_moves_arrive_by_kernels_with_names() {
    for stack in stacks() {
        let (Some(program), Some(kernels)) = (program("hip_parts"), code_object("kernels", "gfx90a")) else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        for engine in ["0", "1"] {
            let _ = fs::remove_file(&log);
            let mut command = stack.command(&program);
            command.arg(&kernels).env("HSA_ENABLE_SDMA", engine);
            command.env("KFD_SIM_GPUS", "2").env("KFD_SIM_LOG", &log);
            let Output { status, stdout, stderr } = command.output().unwrap();
            let printed = String::from_utf8(stdout).unwrap();
            assert!(status.success(), "{stack:?} {status} {printed} {}", String::from_utf8_lossy(&stderr));
            let ways: Vec<&str> = printed.lines().filter(|line| line.matches('\t').count() == 2).collect();
            assert_eq!(ways.len(), 2 * (3 + 3 * 3), "{printed}");
            assert!(ways.iter().all(|way| way.ends_with("\tsame")), "{stack:?} {engine}\n{printed}");

            let log = fs::read_to_string(&log).unwrap();
            let columns = log.lines().map(|line| line.split('\t').collect::<Vec<_>>());
            let names: HashSet<&str> =
                columns.filter(|columns| columns[0] == "dispatch").map(|columns| columns[9]).collect();
            for name in ["copyBuffer", "copyBufferRectAligned", "fillBufferAligned", "fillBufferAligned2D"] {
                assert!(names.contains(format!("__amd_rocclr_{name}").as_str()), "{stack:?} {names:?}");
            }
        }
    }
}

#[test]
fn a_kernel_of_hip_takes_the_time_of_its_name() {
    const RULES: &str = "scale=1000,_ZN4test4axpyIf*=3000,_ZN4test4axpyIdEEvPT_PKS1_i=5000..5000,7";
    for stack in stacks() {
        let (Some(program), Some(kernels)) = (program("hip_streams"), code_object("kernels", "gfx90a"))
        else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let mut command = stack.command(&program);
        command.arg(&kernels).args(["2", "12"]).env("KFD_SIM_KERNEL_NS", RULES).env("KFD_SIM_LOG", &log);
        let Output { status, stdout, stderr } = command.output().unwrap();
        assert!(status.success(), "{stack:?} {} {}", status, String::from_utf8_lossy(&stderr));
        let log = fs::read_to_string(&log).unwrap();
        let columns = log.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let dispatches: Vec<Vec<&str>> = columns.filter(|columns| columns[0] == "dispatch").collect();
        let time = |columns: &[&str]| number(columns[7]) - number(columns[6]);
        for (name, expected) in
            [("scale", 1_000), ("_ZN4test4axpyIfEEvPT_PKS1_i", 3_000), ("_ZN4test4axpyIdEEvPT_PKS1_i", 5_000)]
        {
            let named = dispatches.iter().filter(|columns| columns[9] == name);
            let times: Vec<u64> = named.map(|columns| time(columns)).collect();
            let launches = format!("{name}\t{}\n", times.len());
            assert!(String::from_utf8_lossy(&stdout).contains(&launches), "{stack:?} {launches}");
            assert!(times.iter().all(|time| *time == expected), "{stack:?} {name} {times:?}");
        }
    }
}
