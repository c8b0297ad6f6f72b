//! A file-size limit of the process (`ulimit -f`), whose signal kills by default, ends the recording and nothing else.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rtl::base::kernels::Kernel;
use rtl::base::settings::Settings;
use rtl::collect::batch_channel::batch_channel;
use rtl::collect::dispatch::{Dispatch, Queue};
use rtl::collect::recorder_state::RecorderState;
use rtl::write::record::Recorder;
use support::rusqlite::Connection;

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Output path of the process with the limit, and set only there.
const OUTPUT: &str = "RTL_TEST_OUTPUT";
const DISPATCHES: u64 = 100_000;

#[test]
fn a_process_with_a_limit() -> Result {
    let Some(output) = std::env::var_os(OUTPUT) else { return Ok(()) };
    let known = Arc::new(RecorderState::default());
    known.queues.add(Queue { gpu: 0, address: 1, hardware: 2 });
    known.kernels.add(Kernel { mangled: "kernel".to_owned(), ..Kernel::default() });
    let (mut sender, receiver) = batch_channel(Arc::default());
    let settings = Settings { output: Some(output), ..Settings::default() };
    let recorder = Recorder::start(settings, Arc::clone(&known), receiver, |_| ())?;
    for number in 1..=DISPATCHES {
        known.counters.see(1);
        let start = number as i64 * 1_000;
        let dispatch = Dispatch { start, end: start + 1, correlation: number, ..Dispatch::default() };
        while sender.send(dispatch).is_err() {
            std::thread::yield_now();
        }
        if number == 1_000 {
            sender.flush();
            let deadline = Instant::now() + Duration::from_secs(60);
            while known.counters.snapshot().recorded < 1_000 && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
    drop(sender);
    let ending = recorder.finish(Instant::now() + Duration::from_secs(60));
    assert!(ending.failure.is_some_and(|failure| failure.contains("File too large")));
    assert_eq!(known.counters.snapshot().on_the_way(), 0);
    Ok(())
}

#[test]
fn the_signal_of_a_file_size_limit_never_reaches_the_process() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    // The unit is 512 bytes, or 1,024 in some shells.
    let script = r#"ulimit -f 1000; exec "$0" --exact file_size::a_process_with_a_limit"#;
    let output =
        Command::new("sh").args(["-c", script]).arg(std::env::current_exe()?).env(OUTPUT, &path).output()?;
    assert!(output.status.success(), "{output:?}");
    is_whole(&path)
}

fn is_whole(path: &Path) -> Result {
    assert!(std::fs::metadata(path)?.len() <= 1_000 << 10);
    let file = Connection::open(path)?;
    let query_text = |sql: &str| file.query_row(sql, [], |row| row.get::<_, String>(0));
    assert_eq!(query_text("PRAGMA integrity_check")?, "ok");
    let rows: u64 = query_text("SELECT count(*) || '' FROM rocpd_op")?.parse()?;
    assert!((1_000..DISPATCHES).contains(&rows));
    let counts = "SELECT group_concat(tag || ' ' || value) FROM rocpd_metadata
                WHERE tag IN ('complete', 'recorded') OR tag LIKE 'lost:%'";
    assert_eq!(query_text(counts)?, format!("complete 0,recorded {rows},lost:write {}", DISPATCHES - rows));
    Ok(())
}
