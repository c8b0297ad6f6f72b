//! A process that is killed while it records leaves a whole file with everything that was published.
//!
//! `RTL_KILLS=200 cargo test -p tracer --test it kill -- --nocapture` kills 200 times and prints the age of the oldest lost
//! dispatch.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rtl::base::clock::Anchor;
use rtl::base::kernels::Kernel;
use rtl::base::settings::Settings;
use rtl::collect::batch_channel::batch_channel;
use rtl::collect::dispatch::{Dispatch, KernelId, Queue, QueueOrdinal};
use rtl::collect::recorder_state::RecorderState;
use rtl::write::record::Recorder;
use support::rusqlite::Connection;

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Output path of the process that is to be killed, and set only there.
const OUTPUT: &str = "RTL_TEST_OUTPUT";

/// Records until it is killed, a thousand dispatches a millisecond at most and a new kernel with a long name now and then, and
/// prints the number of published dispatches.
#[test]
fn a_process_to_be_killed() -> Result {
    let Some(output) = std::env::var_os(OUTPUT) else { return Ok(()) };
    let known = Arc::new(RecorderState::default());
    known.queues.add(Queue { gpu: 0, address: 1, hardware: 2 });
    let (mut sender, receiver) = batch_channel(Arc::default());
    let settings = Settings { output: Some(output), ..Settings::default() };
    let _recorder = Recorder::start(settings, Arc::clone(&known), receiver, |_| ())?;
    let mut kernel = KernelId(0);
    for number in 1.. {
        if number % 5_000 == 1 {
            let mangled = format!("kernel_{number:03000}");
            kernel = KernelId(known.kernels.add(Kernel { mangled, ..Kernel::default() }));
        }
        let end = Anchor::now().boottime;
        let dispatch = Dispatch {
            start: end - 1,
            end,
            correlation: number,
            kernel,
            queue: QueueOrdinal(0),
            tid: std::process::id(),
            grid: [64, 1, 1],
            workgroup: [64, 1, 1],
            ..Dispatch::default()
        };
        known.counters.see(1);
        while sender.send(dispatch).is_err() {
            std::thread::yield_now();
        }
        if number % 1_000 == 0 {
            sender.flush();
            writeln!(std::io::stdout(), "{}", known.counters.snapshot().recorded)?;
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}

/// Kills a recording process after it has printed this number of lines; returns the age of the oldest dispatch that is not in the file.
fn kill_after(lines: u32, path: &Path) -> Result<Duration> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--exact", "kill::a_process_to_be_killed", "--nocapture"])
        .env(OUTPUT, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut spoken = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
    let mut published = 0;
    let mut heard = 0;
    while heard < lines {
        let line = spoken.next().ok_or("the child ended")??;
        if let Ok(count) = line.parse::<i64>() {
            published = count;
            heard += 1;
        }
    }
    child.kill()?;
    let killed = Anchor::now().boottime;
    child.wait()?;
    if !path.exists() {
        assert_eq!(published, 0);
        return Ok(Duration::ZERO);
    }
    let file = Connection::open(path)?;
    let query_text = |sql: &str| file.query_row(sql, [], |row| row.get::<_, String>(0));
    assert_eq!(query_text("PRAGMA integrity_check")?, "ok", "killed after {lines} lines");
    if query_text("SELECT count(*) || '' FROM sqlite_master")? == "0" {
        assert_eq!(published, 0);
        return Ok(Duration::ZERO);
    }
    let rows: i64 = query_text("SELECT count(*) || '' FROM rocpd_op")?.parse()?;
    assert!(rows >= published, "{published} were published and {rows} are there");
    if rows == 0 {
        return Ok(Duration::ZERO);
    }
    let odd = "SELECT count(*) || '' FROM rocpd_op LEFT JOIN rocpd_string ON rocpd_string.id = description_id
               WHERE correlationId IS NOT rocpd_op.id OR string IS NULL";
    assert_eq!(query_text(odd)?, "0");
    let counts =
        "SELECT group_concat(tag || ' ' || value) FROM rocpd_metadata WHERE tag IN ('recorded', 'complete')";
    assert_eq!(query_text(counts)?, format!("complete 0,recorded {rows}"));
    let last: i64 = query_text("SELECT max(end) || '' FROM rocpd_op")?.parse()?;
    Ok(Duration::from_nanos((killed - last).max(0) as u64))
}

#[test]
fn a_killed_process_leaves_a_whole_file_with_all_that_was_published() -> Result {
    let kills: u32 = std::env::var("RTL_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(8);
    let began = Instant::now();
    let mut oldest = Duration::ZERO;
    for kill in 0..kills {
        let folder = tempfile::tempdir()?;
        // The moments are spread over the first publications.
        let lines = 1 + kill * 7_919 % 193;
        oldest = oldest.max(kill_after(lines, &folder.path().join("trace.db"))?);
    }
    writeln!(std::io::stdout(), "{kills} kills in {:?}, at most {oldest:?} of work lost", began.elapsed())?;
    Ok(())
}
