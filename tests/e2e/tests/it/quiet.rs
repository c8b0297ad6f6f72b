//! Tests that a process which does nothing for a while has all of its work in the file.

use std::io::Write;
use std::thread::sleep;
use std::time::{Duration, Instant};

use e2e::compare::assert_complete;
use e2e::{Process, Trace};

/// Far more time than a busy machine takes.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn all_that_has_completed_is_in_the_file_although_nothing_follows() {
    for process in Process::on_every_stack("on_request") {
        let outcome =
            process.setting("KFD_SIM_KERNEL_NS", "1000..60000").traced_while(|input, output, traces| {
                let mut line = String::new();
                output.read_line(&mut line).unwrap();
                let mut launched = 0;
                // A burst ends before the recorder takes its first part, and the collector may then fall asleep.
                for kernels in [40; 60] {
                    launched += kernels;
                    writeln!(input, "{kernels}").unwrap();
                    output.read_line(&mut line).unwrap();
                    let until = Instant::now() + PATIENCE;
                    let recorded = || {
                        let files = std::fs::read_dir(traces).unwrap().map(|file| file.unwrap().path());
                        files.map(|file| Trace::kernels_so_far(&file)).max().unwrap_or_default()
                    };
                    let mut last = recorded();
                    while last < launched && Instant::now() < until {
                        sleep(Duration::from_millis(5));
                        last = recorded();
                    }
                    assert_eq!(last, launched);
                }
            });
        assert_complete(&outcome);
    }
}
