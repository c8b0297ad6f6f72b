//! Runs that are repeated because the machine was too slow for them. `RTL_RERUNS` names a file that gets a line for every
//! rerun of the suite; `./test` prints it and bounds it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// How often a run is tried.
const RUNS: usize = 5;

/// Repeats a run until its result is whole, five times at most, and returns the last result. Every rerun is recorded with
/// its reason.
///
/// # Panics
/// If the file of reruns cannot be written.
#[track_caller]
pub fn until_whole<T>(reason: &str, run: impl FnMut() -> T, is_whole: impl Fn(&T) -> bool) -> T {
    let file = std::env::var_os("RTL_RERUNS");
    repeated(run, is_whole, || record(file.as_deref().map(Path::new), reason))
}

fn repeated<T>(mut run: impl FnMut() -> T, is_whole: impl Fn(&T) -> bool, again: impl Fn()) -> T {
    let mut result = run();
    for _ in 1..RUNS {
        if is_whole(&result) {
            break;
        }
        again();
        result = run();
    }
    result
}

#[expect(clippy::print_stderr, reason = "a rerun is never silent")]
fn record(file: Option<&Path>, reason: &str) {
    let line = format!("{}: {reason}\n", std::thread::current().name().unwrap_or("a test"));
    eprint!("rerun of {line}");
    let Some(file) = file else { return };
    let written = OpenOptions::new().create(true).append(true).open(file);
    let written = written.and_then(|mut file| file.write_all(line.as_bytes()));
    assert!(written.is_ok(), "{}: {written:?}", file.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_repeated_until_it_is_whole() {
        let mut runs = 0..;
        let third = repeated(|| runs.next(), |run| *run == Some(2), || ());
        assert_eq!((third, runs.next()), (Some(2), Some(3)));
    }

    #[test]
    fn the_fifth_run_is_the_last_one() {
        let mut runs = 0..;
        repeated(|| runs.next(), |_| false, || ());
        assert_eq!(runs.next(), Some(5));
    }

    #[test]
    fn every_rerun_is_a_line_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("reruns");
        record(Some(&file), "the first");
        record(Some(&file), "the second");
        let lines = std::fs::read_to_string(&file).unwrap();
        let name = "rerun::tests::every_rerun_is_a_line_of_the_file";
        assert_eq!(lines, format!("{name}: the first\n{name}: the second\n"));
    }
}
