//! Tests of a process that is killed at any moment: its file lacks only the last part of its work.
//!
//! `RTL_KILLS=200` kills 200 times; `scripts/bench/ends` prints the losses.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use e2e::account::ExecutedDispatch;
use e2e::{Outcome, Process, Trace};

/// Number of kernels of 20 us that are waited for at once.
const WAVE: &str = "100";

/// Kills happen within this time in us from the first wave on.
const SPAN: u64 = 600_000;

/// Completed work that is not in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Loss {
    /// From the end of the last recorded dispatch to that of the last one executed, in ns.
    time: i64,
    dispatches: usize,
}

/// Checks that the file has the first of the executed dispatches, is whole, and is marked as incomplete.
#[track_caller]
fn assert_has_the_first(outcome: &Outcome) -> Loss {
    assert_eq!(outcome.messages, Vec::<String>::new(), "{outcome:?}");
    let executed: Vec<&ExecutedDispatch> = outcome.executed.iter().filter(|one| one.is_of_program).collect();
    let trace = outcome.traces.first().and_then(|file| Trace::read_begun(file));
    let rows = trace.map_or_else(Vec::new, |trace| {
        assert_eq!(trace.metadata.get("complete").map(String::as_str), Some("0"), "{:?}", trace.metadata);
        assert_eq!(trace.count("recorded"), trace.rows.len() as i64, "{:?}", trace.metadata);
        trace.rows
    });
    for (row, executed) in rows.iter().zip(&executed) {
        assert!((row.start - executed.start).abs() <= e2e::compare::TWO_TICKS, "{row:?} {executed:?}");
        assert!((row.end - executed.end).abs() <= e2e::compare::TWO_TICKS, "{row:?} {executed:?}");
    }
    assert!(rows.len() <= executed.len(), "{outcome:?}");
    let begun = rows.last().map(|row| row.end).or(executed.first().map(|first| first.start));
    let time = executed.last().map_or(0, |last| last.end - begun.unwrap_or(last.end));
    Loss { time, dispatches: executed.len() - rows.len() }
}

#[test]
fn a_process_that_is_killed_at_any_moment_has_all_of_its_work_but_the_last() {
    let kills: u64 = std::env::var("RTL_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(4);
    let stacks = support::every_stack();
    let mut losses: Vec<Loss> = (0..kills)
        .filter_map(|kill| {
            let stack = stacks.get(kill as usize % stacks.len().max(1))?;
            // The moments are spread over the span, in no order.
            let after = (kill * 2_654_435_761 % SPAN).to_string();
            let process = Process::on(stack, "until_killed")?.arguments(&[WAVE, &after]);
            let process = process.setting("KFD_SIM_KERNEL_NS", "20000");
            let outcome = process.traced();
            assert!(!outcome.status.success(), "{outcome:?}");
            let loss = assert_has_the_first(&outcome);
            eprintln!(
                "{} after {after} {:.1} ms {} of {}",
                process.stack().name,
                loss.time as f64 / 1e6,
                loss.dispatches,
                outcome.executed.len()
            );
            Some(loss)
        })
        .collect();
    losses.sort_unstable();
    let Some(last) = losses.len().checked_sub(1) else { return };
    let milliseconds = |at: usize| losses[at].time as f64 / 1e6;
    let most = losses.iter().map(|loss| loss.dispatches).max().unwrap_or_default();
    eprintln!(
        "{} kills: work lost p50 {:.1} ms, p90 {:.1} ms, most {:.1} ms, at most {most} dispatches of 20 us",
        losses.len(),
        milliseconds(last / 2),
        milliseconds(last * 9 / 10),
        milliseconds(last),
    );
}

/// The number of missing dispatches after a burst of 1 to 1,000 kernels, which fit their queue, a second of rest and a kill.
fn missing_after_a_rest(stack: &support::Stack, burst: usize) -> Option<usize> {
    let process = Process::on(stack, "on_request")?.setting("KFD_SIM_KERNEL_NS", "1000..20000");
    let outcome = process.traced_while(|input, output, _| {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let pid = line.trim().to_owned();
        writeln!(input, "{}", 1 + burst * 2_654_435_761 % 1_000).unwrap();
        output.read_line(&mut line).unwrap();
        std::thread::sleep(Duration::from_secs(1));
        Command::new("kill").args(["-KILL", &pid]).status().unwrap();
    });
    assert_eq!(outcome.status.signal(), Some(libc::SIGKILL), "{outcome:?}");
    Some(assert_has_the_first(&outcome).dispatches)
}

/// `scripts/bench/ends` runs this, because whether a second suffices depends on the machine.
#[test]
#[ignore = "depends on how fast the machine is"]
fn a_process_that_is_killed_after_a_second_of_rest_has_all_of_its_work() {
    let bursts: usize = std::env::var("RTL_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(4);
    let stacks = support::every_stack();
    let (next, killed, incomplete) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let burst = next.fetch_add(1, Ordering::Relaxed)
                    && burst < bursts
                    && let Some(stack) = stacks.get(burst % stacks.len().max(1))
                    && let Some(missing) = missing_after_a_rest(stack, burst)
                {
                    killed.fetch_add(1, Ordering::Relaxed);
                    incomplete.fetch_add(usize::from(missing > 0), Ordering::Relaxed);
                }
            });
        }
    });
    eprintln!("{killed:?} kills after a second of rest: {incomplete:?} files lack work");
    assert_eq!(incomplete.into_inner(), 0);
}
