//! The live view in tmux, of a program that runs on the simulated GPU.

use std::fs;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use e2e::Process;
use support::{Need, skip};

const PATIENCE: Duration = Duration::from_secs(60);

/// A tmux server of its own with one pane, in which a shell runs.
struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    /// Where tmux is missing the test prints one line and is skipped.
    fn new(folder: &Path) -> Option<Self> {
        if !Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success()) {
            skip(Need::Machine, "no tmux (apt-get install tmux)");
            return None;
        }
        let tmux = Self { socket: folder.join("tmux") };
        tmux.call(&["new-session", "-d", "-x", "100", "-y", "24", "env PS1='shell> ' TERM=screen sh"]);
        tmux.wait_for("a prompt", |screen| screen.contains("shell>"));
        Some(tmux)
    }

    fn call(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.arg("-f").arg("/dev/null").arg("-S").arg(&self.socket).args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn screen(&self) -> String {
        self.call(&["capture-pane", "-p"])
    }

    #[track_caller]
    fn wait_for(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if is_there(&screen) {
                return screen;
            }
            assert!(Instant::now() < until, "no {what} in:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn command(&self, line: &str) {
        self.call(&["send-keys", "-l", line]);
        self.call(&["send-keys", "Enter"]);
    }

    fn resize(&self, columns: usize, lines: usize) {
        self.call(&["resize-window", "-x", &columns.to_string(), "-y", &lines.to_string()]);
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

fn line(output: &mut dyn BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

/// The trace, which the recorder begins on a thread of its own.
fn first_file(folder: &Path) -> PathBuf {
    let until = Instant::now() + PATIENCE;
    loop {
        let first = fs::read_dir(folder).ok().and_then(|mut files| files.next());
        if let Some(file) = first {
            return file.unwrap().path();
        }
        assert!(Instant::now() < until, "no trace");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns true if the row of the kernel has this number of calls in total.
fn has_calls(screen: &str, calls: &str) -> bool {
    screen.lines().any(|line| line.contains("alpha") && line.split_whitespace().any(|word| word == calls))
}

#[test]
fn the_view_in_tmux_follows_a_recorded_program_and_gives_the_pane_back() {
    let folder = tempfile::tempdir().unwrap();
    let Some(process) = Process::new("on_request") else { return };
    let Some(tmux) = Tmux::new(folder.path()) else { return };
    let outcome = process.traced_while(|input, output, traces| {
        let pid = line(output);
        let mut launch = |count: u32| {
            writeln!(input, "{count}").unwrap();
            assert_eq!(line(output), "done");
        };
        launch(5);
        let trace = first_file(traces);
        let top = format!("'{}' --interval 0.1 '{}'", env!("CARGO_BIN_EXE_rtl-top"), trace.display());
        tmux.command(&top);
        tmux.wait_for("view", |screen| screen.contains(&format!("pid {pid}")) && has_calls(screen, "5"));
        launch(37);
        tmux.wait_for("new calls", |screen| has_calls(screen, "42"));

        // A line that is wider than a pane would break and push the others down.
        for (columns, lines) in [(60, 12), (140, 40)] {
            tmux.resize(columns, lines);
            launch(100);
            let screen = tmux.wait_for("new size", |screen| screen.contains(&format!("pid {pid}")));
            assert!(
                screen.lines().count() <= lines && screen.lines().all(|line| line.chars().count() <= columns)
            );
            assert_eq!(screen.lines().filter(|line| line.contains("alpha")).count(), 1, "{screen}");
        }
        tmux.wait_for("all calls", |screen| has_calls(screen, "242"));

        tmux.call(&["send-keys", "C-c"]);
        tmux.wait_for("prompt", |screen| screen.trim_end().ends_with("shell>"));
        // The screen of the shell, its cursor, and lines that are edited and echoed.
        assert_eq!(tmux.call(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]).trim(), "0 1");
        tmux.command("stty -a; echo code $?");
        let screen = tmux.wait_for("answer", |screen| screen.contains("code 0"));
        assert!(
            screen.contains(" echo ") && screen.contains("icanon") && screen.contains("isig"),
            "{screen}"
        );
        assert!(screen.contains("shell> '"), "what stood there before is back: {screen}");
    });
    assert!(outcome.status.success() && outcome.messages.is_empty(), "{outcome:?}");
}
