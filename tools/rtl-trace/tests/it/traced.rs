//! Commands under `rtl-trace`, with the real tracer in the real runtime on simulated GPUs.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::{fs, io};

use crate::running::{Traced, text};
use e2e::{Process, Trace, library};
use support::stack;

#[test]
fn one_process_gives_one_trace_its_summary_and_a_perfetto_trace() -> io::Result<()> {
    let Some(traced) = Traced::on_a_gpu() else { return Ok(()) };
    let program = traced.program.iter().map(OsString::as_os_str);
    let output = traced.command(&["-m", "standard"], program.chain([OsStr::new("20")])).output()?;
    assert!(output.status.success(), "{output:?}");
    assert_eq!(traced.files(), ["trace.db", "trace.json.gz", "trace_summary.txt"]);
    let trace = Trace::read(&traced.path().join("trace.db"));
    assert_eq!(trace.rows.len(), 20);
    assert_eq!(trace.metadata["mode"], "standard");
    let summary = fs::read_to_string(traced.path().join("trace_summary.txt"))?;
    let (printed, listed) = text(&output.stderr).split_once("Output files:\n").unwrap();
    assert!(summary.starts_with("Trace: trace.db\n") && summary.contains("\n  GPU ops:   20 "), "{summary}");
    let beginning: Vec<&str> = summary.split("\n\n").take(2).collect();
    assert!(summary.contains("alpha") && printed.contains(&beginning.join("\n\n")), "{output:?}");
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert!(printed.starts_with("Trace: trace.db\n"), "{output:?}");
    Ok(())
}

#[test]
fn several_processes_give_one_trace_that_names_each_process() -> io::Result<()> {
    let Some(traced) = Traced::on_a_gpu() else { return Ok(()) };
    let output = traced.shell(&["-o", "job.db", "--no-perfetto"], "\"$@\" 20 & \"$@\" 30 & wait");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(traced.files(), ["job.db", "job_summary.txt"], "{output:?}");
    let trace = Trace::read(&traced.path().join("job.db"));
    assert_eq!(trace.rows.len(), 50);
    let processes = "SELECT count(DISTINCT pid) FROM rocpd_op WHERE gpuId >= 0";
    let processes: i64 = trace.database().query_row(processes, [], |row| row.get(0)).unwrap();
    assert_eq!(processes, 2);
    assert!(text(&output.stderr).starts_with("Merged 2 process traces\n"), "{output:?}");
    assert!(text(&output.stderr).contains("of 2 processes"), "{output:?}");
    Ok(())
}

#[test]
fn a_redirected_output_is_that_of_the_command_alone() {
    let Some(traced) = Traced::on_a_gpu() else { return };
    let output = traced.shell(&["--no-perfetto"], "echo first; \"$@\" 5; echo last");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output.stdout), "first\nlast\n");
    assert!(text(&output.stderr).contains("GPU ops:   5 "), "{output:?}");
}

/// The program runs RTL_RUNS times, by default 5 times.
#[test]
fn a_program_of_hip_is_recorded_whole_every_time() {
    let Some(stack) = stack("bookworm") else { return };
    let Some(process) = Process::for_hip(&stack, "hip_streams", &["4", "20"]) else { return };
    let traced = Traced::running(process);
    let runs = std::env::var("RTL_RUNS").map_or(5, |runs| runs.parse().unwrap());
    let mut before = None;
    for run in 1..=runs {
        let program = traced.program.iter().map(OsString::as_os_str);
        let output = traced.command(&["-m", "standard"], program).output().unwrap();
        assert!(output.status.success(), "run {run}: {output:?}");
        let trace = Trace::read(&traced.path().join("trace.db"));
        assert!(trace.is_complete() && trace.left_out().is_empty(), "run {run}: {:?}", trace.metadata);
        let printed = text(&output.stdout).to_owned();
        let launched: usize =
            printed.lines().filter_map(|line| line.split_once('\t')?.1.parse::<usize>().ok()).sum();
        assert!(
            launched > 0 && trace.rows.len() == launched,
            "run {run}: {} of {launched}",
            trace.rows.len()
        );
        assert_eq!(*before.get_or_insert_with(|| printed.clone()), printed, "run {run}");
    }
}

#[test]
fn ranges_are_recorded_however_the_program_finds_roctx() {
    for how in ["global", "libroctx64.so.4", "/opt/rocm/lib/librocprofiler-sdk-roctx.so.1"] {
        let Some(traced) = Traced::for_program("ranges") else { return };
        let output = traced.shell(&["--no-perfetto", "-m", "standard"], &format!("\"$@\" {how} 1 20"));
        assert!(output.status.success(), "{output:?}");
        let trace = Trace::read(&traced.path().join("trace.db"));
        let tagged = "SELECT count(*) FROM rocpd_op WHERE gpuId >= 0 AND roctxId > 0";
        let tagged: i64 = trace.database().query_row(tagged, [], |row| row.get(0)).unwrap();
        assert!(tagged > 0, "{how}: {output:?}");
    }
}

#[test]
fn a_process_that_outlives_the_command_is_waited_for_while_it_records() {
    let Some(traced) = Traced::on_a_gpu() else { return };
    // The command ends as soon as the other process has begun its file; after a minute without one, too.
    let begun = "ls \"$(dirname \"$RTL_OUTPUT\")\"/*.db";
    let line = format!("\"$@\" 3000 & i=0; until {begun} || [ $((i += 1)) -gt 6000 ]; do sleep 0.01; done");
    let output = traced.shell(&["--no-perfetto", "--quiet"], &format!("({line}) > /dev/null 2>&1"));
    assert!(output.status.success(), "{output:?}");
    let trace = Trace::read(&traced.path().join("trace.db"));
    assert_eq!(trace.rows.len(), 3_000, "{output:?}");
    assert!(trace.is_complete());
}

#[test]
fn a_recording_that_cannot_be_read_is_reported_and_never_deleted() {
    let Some(traced) = Traced::on_a_gpu() else { return };
    let damaged = "printf damaged > \"$(dirname \"$RTL_OUTPUT\")/host_1.db\"";
    let kept = || {
        let folder = traced.files().into_iter().find(|name| name.starts_with(".trace.db.rtl-trace-"));
        fs::read_to_string(traced.path().join(folder.unwrap()).join("host_1.db")).unwrap()
    };
    let output = traced.shell(&["--no-perfetto", "--quiet"], &format!("{damaged}; \"$@\" 7"));
    assert!(output.status.success(), "{output:?}");
    assert!(
        text(&output.stderr).contains("some recordings are missing in the trace and stay in"),
        "{output:?}"
    );
    assert!(text(&output.stderr).contains("host_1.db"), "rtl-merge names the file: {output:?}");
    assert_eq!((Trace::read(&traced.path().join("trace.db")).rows.len(), kept().as_str()), (7, "damaged"));

    let Some(traced) = Traced::on_a_gpu() else { return };
    assert!(traced.shell(&["--no-perfetto", "--quiet"], "\"$@\" 5").status.success());
    let output = traced.shell(&["--no-perfetto", "--quiet"], damaged);
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(text(&output.stderr).contains("hint: the recordings of the processes are in"), "{output:?}");
    assert_eq!(Trace::read(&traced.path().join("trace.db")).rows.len(), 5, "the trace of before");
}

#[test]
fn the_exit_code_is_that_of_the_command() {
    let traced = Traced::plain();
    for (line, code) in [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", 143), ("kill -KILL $$", 137)] {
        let output = traced.shell(&[], line);
        assert_eq!(output.status.code(), Some(code), "{line}: {output:?}");
        assert_eq!(text(&output.stdout), "");
        assert!(
            text(&output.stderr).starts_with("rtl-trace: warning: no GPU work was recorded"),
            "{output:?}"
        );
    }
    assert_eq!(traced.files(), [""; 0]);
}

#[test]
fn a_command_that_cannot_be_started_has_the_exit_codes_of_env() {
    let traced = Traced::plain();
    fs::write(traced.path().join("text"), "not a program").unwrap();
    fs::write(traced.path().join("train.py"), "print()").unwrap();
    let exit = |flags: &[&str], line: &str| {
        let output = traced.command(flags, [OsStr::new(line)]).output().unwrap();
        (output.status.code(), text(&output.stderr).to_owned())
    };
    let (code, told) = exit(&[], "no-such-command");
    assert_eq!(code, Some(127));
    assert!(told.starts_with("rtl-trace: error: no such command: no-such-command\nhint:"), "{told}");
    assert_eq!(exit(&[], "./text").0, Some(126));
    let (code, told) = exit(&["-o", "train.py"], "true");
    assert_eq!(code, Some(125));
    assert!(told.starts_with("rtl-trace: error: train.py exists and is not a trace\nhint:"), "{told}");
    assert_eq!(exit(&["--lib", "/nowhere/librtl.so"], "true").0, Some(2), "given twice");
    assert_eq!(exit(&["--no-such-flag"], "true").0, Some(2));
    assert_eq!(traced.files(), ["text", "train.py"]);
}

#[test]
fn every_argument_of_the_command_arrives_as_it_is() {
    let traced = Traced::plain();
    for separator in [&[][..], &["--"]] {
        let line = separator.iter().chain(&["printf", "<%s>", "--help", "-o", "--", "a b", "", "-m"]);
        let output = traced.command(&[], line.map(|word| OsStr::new(*word))).output().unwrap();
        assert_eq!(text(&output.stdout), "<--help><-o><--><a b><><-m>");
    }
}

#[test]
fn the_trace_that_was_there_stays_when_nothing_is_recorded() {
    let Some(traced) = Traced::on_a_gpu() else { return };
    assert!(traced.shell(&["--no-perfetto"], "\"$@\" 5").status.success());
    let before = fs::read(traced.path().join("trace.db")).unwrap();
    assert_eq!(traced.shell(&["--no-perfetto"], "exit 4").status.code(), Some(4));
    assert_eq!(fs::read(traced.path().join("trace.db")).unwrap(), before);
    assert!(traced.shell(&["--no-perfetto"], "\"$@\" 6").status.success());
    assert_eq!(Trace::read(&traced.path().join("trace.db")).rows.len(), 6);
    let refused = traced.shell(&["--no-perfetto", "-o", "trace.db"], "\"$@\" 7");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(text(&refused.stderr).starts_with("rtl-trace: error: trace.db exists\n"), "{refused:?}");
    assert_eq!(Trace::read(&traced.path().join("trace.db")).rows.len(), 6);
}

#[test]
fn signals_go_to_the_command_and_what_is_ignored_stays_ignored() {
    let traced = Traced::plain();
    let waits = "trap 'exit 9' TERM; trap 'echo usr1' USR1; echo ready; while :; do sleep 0.02; done";
    for (outer, signals, code) in [
        ("exec \"$@\"", &["USR1", "TERM"][..], 9),
        // The shell ignores SIGHUP as nohup does.
        ("trap '' HUP; exec \"$@\"", &["HUP", "USR1", "TERM"], 9),
    ] {
        let inner = traced.command(&["--quiet"], ["sh", "-c", waits].map(OsStr::new));
        let mut shell = Command::new("sh");
        shell.args(["-c", outer, "sh"]).arg(inner.get_program()).args(inner.get_args());
        shell.current_dir(traced.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = shell.spawn().unwrap();
        let mut lines = BufReader::new(running.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        for signal in signals {
            let kill = format!("kill -{signal} {}", running.id());
            assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
            if *signal == "USR1" {
                assert_eq!(lines.next().unwrap().unwrap(), "usr1");
            }
        }
        assert_eq!(running.wait().unwrap().code(), Some(code), "{outer}");
    }
}

#[test]
fn another_tool_in_the_environment_is_reported_and_omitted() {
    let traced = Traced::plain();
    let mut command = traced.command(&[], ["sh", "-c", "echo $HSA_TOOLS_LIB"].map(OsStr::new));
    let output = command.env("HSA_TOOLS_LIB", "/opt/other.so").output().unwrap();
    let library = library::tracer().canonicalize().unwrap();
    assert_eq!(text(&output.stdout).trim(), library.to_str().unwrap());
    assert!(text(&output.stderr).contains("HSA_TOOLS_LIB was /opt/other.so"), "{output:?}");
}

#[test]
fn a_recording_is_stopped_and_started_from_another_process() {
    let Some(process) = Process::new("on_request") else { return };
    let control = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-trace"));
        command.arg("--control").args(words).output().unwrap()
    };
    let outcome = process.traced_while(|input, output, _| {
        let mut line = || {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let pid = line();
        let mut launch = |count: u32| {
            writeln!(input, "{count}").unwrap();
            assert_eq!(line(), "done");
        };
        launch(5);
        for (request, answer, count) in [("stop", "stopped", 7), ("start", "started", 3)] {
            let output = control(&[&pid, request]);
            assert!(output.status.success(), "{output:?}");
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(said, format!("recording of process {pid} {answer}\n"));
            launch(count);
        }
        assert!(control(&[&pid, "stop"]).status.success());
    });
    let trace = outcome.trace();
    assert_eq!((trace.rows.len(), trace.count("skipped:paused")), (8, 7));
    assert_eq!(control(&["4194305", "stop"]).status.code(), Some(125), "no such process");
    assert_eq!(control(&["1", "pause"]).status.code(), Some(2));
}

#[test]
fn what_a_killed_rtl_trace_leaves_is_announced_and_recovered() {
    let Some(traced) = Traced::on_a_gpu() else { return };
    let killed = traced.shell(&["-o", "job.db", "--quiet"], "\"$@\" 20; kill -KILL $PPID");
    assert_eq!(killed.status.code(), None, "{killed:?}");
    let [folder] = traced.files().try_into().unwrap();
    assert!(folder.starts_with(".job.db.rtl-trace-"), "{folder}");

    let next = traced.command(&["-o", "job.db"], ["true"].map(OsStr::new)).output().unwrap();
    let told = text(&next.stderr).lines().next().unwrap();
    assert!(
        told.contains("a killed rtl-trace has left recordings in") && told.contains("`rtl recover "),
        "{told}"
    );

    fs::write(traced.path().join("job.db"), "mine").unwrap();
    let refused = traced.command(&["--recover"], []).output().unwrap();
    assert_eq!(refused.status.code(), Some(125), "{refused:?}");
    assert!(text(&refused.stderr).contains("job.db exists and is not replaced\nhint: "), "{refused:?}");
    assert_eq!(fs::read_to_string(traced.path().join("job.db")).unwrap(), "mine");
    fs::remove_file(traced.path().join("job.db")).unwrap();

    let recovered = traced.command(&["--recover"], []).output().unwrap();
    assert!(recovered.status.success(), "{recovered:?}");
    assert_eq!(traced.files(), ["job.db", "job.json.gz", "job_summary.txt"]);
    assert_eq!(Trace::read(&traced.path().join("job.db")).rows.len(), 20);
    let summary = fs::read_to_string(traced.path().join("job_summary.txt")).unwrap();
    let beginning = summary.split("\n\n").next().unwrap();
    assert!(text(&recovered.stdout).contains(beginning), "{recovered:?}");
}

#[test]
fn a_program_under_address_sanitizer_runs_without_preloading_and_the_reason_is_named_with_it() {
    let traced = Traced::plain();
    let source = traced.path().join("checked.c");
    fs::write(&source, "int main(void) { return 7; }").unwrap();
    let mut compile = Command::new("cc");
    compile.current_dir(traced.path()).args([
        "-fsanitize=address",
        "-shared-libasan",
        "-o",
        "checked",
        "checked.c",
    ]);
    let is_built = |compile: &mut Command| compile.output().is_ok_and(|output| output.status.success());
    let mut plain = Command::new("cc");
    plain.current_dir(traced.path()).args(["-fsanitize=address", "-o", "checked", "checked.c"]);
    if !is_built(&mut compile) && !is_built(&mut plain) {
        return support::skip(support::Need::Machine, "no AddressSanitizer");
    }
    let run = |flags: &[&str]| traced.command(flags, ["./checked"].map(OsStr::new)).output().unwrap();
    let output = run(&[]);
    assert_ne!(output.status.code(), Some(7), "{output:?}");
    let told = text(&output.stderr);
    assert!(told.contains("AddressSanitizer ends ./checked") && told.contains("--no-preload"), "{told}");
    let output = run(&["--no-preload"]);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let told = text(&output.stderr);
    assert!(!told.contains("AddressSanitizer") && !told.contains("HIP calls"), "{told}");
    let told = run(&["--no-preload", "-m", "hip"]);
    assert!(text(&told.stderr).contains("HIP calls are not recorded"), "{told:?}");
}

#[test]
fn kernels_are_recorded_without_preloading() {
    let Some(traced) = Traced::on_a_gpu() else { return };
    let output = traced.shell(&["--no-preload", "--no-perfetto"], "\"$@\" 12");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(Trace::read(&traced.path().join("trace.db")).rows.len(), 12);
}

#[test]
fn the_reason_for_which_the_tracer_refuses_a_runtime_is_repeated() {
    let Some(process) = Process::new("no_signal") else { return };
    let process = process.on_rocm_10().setting("ROCM10_SIZE", "720").setting("ROCM10_STEP", "0x10");
    let traced = Traced::running(process);
    let output = traced.shell_on_rocm_10("\"$@\" 5");
    assert!(output.status.success(), "{output:?}");
    let said = text(&output.stderr).lines().last().unwrap();
    assert!(said.contains("no trace is written: ") && said.contains("720 bytes, step 0x10"), "{output:?}");
    assert!(!said.contains("no process queued"), "{output:?}");
    assert_eq!(traced.files(), [""; 0]);
}

#[test]
fn a_process_whose_packets_were_not_seen_has_a_trace_that_says_so() {
    let Some(process) = Process::new("unseen") else { return };
    let traced = Traced::running(process.on_rocm_10());
    let output = traced.shell_on_rocm_10("\"$@\" counted");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(Trace::read(&traced.path().join("trace.db")).count("packets_lost:counted_queue"), 22);
    let summary = fs::read_to_string(traced.path().join("trace_summary.txt")).unwrap();
    assert!(summary.contains("the recorder lost 22 records"), "{summary}");
}

#[test]
fn a_misspelt_variable_of_the_tracer_is_named_though_no_process_loads_it() {
    let traced = Traced::plain();
    let mut command = traced.command(&[], ["true".as_ref()]);
    let output = command.env("RTL_MODEE", "lite").env("RTL_ELSEWHERE", "1").output().unwrap();
    let messages = text(&output.stderr);
    assert!(messages.contains("warning: RTL_MODEE: unknown setting; hint: RTL_MODE\n"), "{messages}");
    assert!(!messages.contains("RTL_ELSEWHERE"), "{messages}");
}

#[test]
fn a_process_without_kernels_and_one_without_the_runtime_have_different_reasons() {
    let Some(process) = Process::new("unseen") else { return };
    let output = Traced::running(process).shell(&[], "\"$@\" created");
    assert!(text(&output.stderr).contains("no process queued a kernel"), "{output:?}");
    let output = Traced::plain().shell(&[], "true");
    assert!(!text(&output.stderr).contains("no process queued a kernel"), "{output:?}");
}
