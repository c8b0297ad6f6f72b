//! A terminal that a program runs in.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// A test on a busy machine waits so long for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program in a terminal of its own.
pub(crate) struct Terminal {
    child: Child,
    controller: File,
    /// The open file keeps the terminal when the program has ended.
    side: File,
    output: Receiver<Vec<u8>>,
    written: Vec<u8>,
}

impl Terminal {
    /// Starts the program as the leader of a session on a terminal of 80 columns and 24 lines.
    pub(crate) fn run(program: &str, arguments: &[&str]) -> Self {
        let controller: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
        let side = || File::options().read(true).write(true).open(&name).unwrap();
        let controller = File::from(controller);
        let terminal = side();
        resize(&controller, 80, 24);
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait", program]).args(arguments).env("TERM", "xterm-256color");
        command
            .env_remove("COLUMNS")
            .stdin(Stdio::from(side()))
            .stdout(Stdio::from(side()))
            .stderr(Stdio::from(side()));
        let child = command.spawn().unwrap();
        let (sender, output) = channel();
        let mut reader = controller.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read) = reader.read(&mut buffer) {
                if read == 0 || sender.send(buffer[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, controller, side: terminal, output, written: Vec::new() }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.controller.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn resize(&self, columns: u16, lines: u16) {
        resize(&self.controller, columns, lines);
    }

    pub(crate) fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(50)) {
                self.written.extend_from_slice(&bytes);
                if screen(&self.written).contains(text) {
                    return;
                }
            }
        }
        panic!("no {text} in:\n{}", screen(&self.written));
    }

    /// The process of the program itself, which `setsid` may have started.
    pub(crate) fn pid(&self) -> u32 {
        let setsid = self.child.id();
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let read =
                |what: &str| std::fs::read_to_string(format!("/proc/{setsid}/{what}")).unwrap_or_default();
            if read("comm").trim() != "setsid" {
                return setsid;
            }
            if let Some(pid) = read(&format!("task/{setsid}/children")).split_whitespace().next() {
                return pid.parse().unwrap();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("setsid does not start the program");
    }

    /// Waits for the end and returns the exit status and all that was written, with its control sequences.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(Instant::now() < until, "it does not end"),
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(300)) {
            self.written.extend_from_slice(&bytes);
        }
        let modes = tcgetattr(&self.side).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG), "{modes:?}");
        (status, String::from_utf8_lossy(&self.written).into_owned())
    }
}

fn resize(controller: &File, columns: u16, lines: u16) {
    let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(controller, size).unwrap();
}

/// The screen of a terminal after these bytes, as far as the view uses terminals: text, places and clearing.
fn screen(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut lines: Vec<Vec<char>> = Vec::new();
    let (mut line, mut column) = (0, 0);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\r' => column = 0,
            '\n' => line += 1,
            '\x1b' => {
                if rest.next() != Some('[') {
                    continue;
                }
                let mut parameters = String::new();
                let last = rest.by_ref().find(|c| {
                    parameters.push(*c);
                    c.is_ascii_alphabetic()
                });
                let number = |at: usize| -> usize {
                    let digits =
                        parameters.trim_end_matches(|c: char| c.is_ascii_alphabetic()).split(';').nth(at);
                    digits.and_then(|digits| digits.parse().ok()).unwrap_or(1)
                };
                match last {
                    Some('H') => (line, column) = (number(0) - 1, number(1) - 1),
                    Some('J') => lines.clear(),
                    _ => {}
                }
            }
            c => {
                lines.resize(lines.len().max(line + 1), Vec::new());
                let cells = &mut lines[line];
                cells.resize(cells.len().max(column + 1), ' ');
                cells[column] = c;
                column += 1;
            }
        }
    }
    lines.into_iter().map(|line| line.into_iter().collect::<String>() + "\n").collect()
}
