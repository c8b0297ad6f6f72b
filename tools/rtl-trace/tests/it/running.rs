//! `rtl-trace` as its tests run it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use e2e::{Process, library};
use tempfile::TempDir;

/// Changes a word of the program's command, whose `env LD_PRELOAD=...` would take away what rtl-trace has preloaded.
fn preloading_too(word: OsString) -> Vec<OsString> {
    match word.to_str().and_then(|word| word.strip_prefix("LD_PRELOAD=")) {
        None => vec![word],
        Some(library) => {
            let line = format!("LD_PRELOAD=\"$LD_PRELOAD:{library}\" exec \"$@\"");
            ["sh", "-c", &line, "sh"].map(OsString::from).to_vec()
        }
    }
}

/// `rtl-trace` in a folder of its own, and what its command finds in the environment.
pub(crate) struct Traced {
    folder: TempDir,
    /// A program of the end-to-end tests with its starter.
    pub(crate) program: Vec<OsString>,
    environment: Vec<(OsString, Option<OsString>)>,
    _process: Option<Process>,
}

impl Traced {
    pub(crate) fn plain() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), program: vec![], environment: vec![], _process: None }
    }

    /// A command that may run the bench's program on a simulated GPU; `None` where that cannot run.
    pub(crate) fn on_a_gpu() -> Option<Self> {
        Self::for_program("loop")
    }

    /// Records any program of the end-to-end tests.
    pub(crate) fn for_program(program: &str) -> Option<Self> {
        Process::new(program).map(Self::running)
    }

    pub(crate) fn running(process: Process) -> Self {
        let command = process.command(&process.folder().join("run"));
        let words = std::iter::once(command.get_program()).chain(command.get_args()).map(OsStr::to_owned);
        let program = words.flat_map(preloading_too).collect();
        let ours = ["RTL_OUTPUT", "KFD_SIM_LOG", "REPORT"];
        let environment = command.get_envs().filter(|(name, _)| !ours.iter().any(|ours| name == ours));
        let environment =
            environment.map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned))).collect();
        Self { folder: tempfile::tempdir().unwrap(), program, environment, _process: Some(process) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command<'a>(&self, flags: &[&str], line: impl IntoIterator<Item = &'a OsStr>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-trace"));
        command.current_dir(self.path()).arg("--lib").arg(library::tracer()).args(flags).args(line);
        command.env_remove("RTL_OUTPUT").env_remove("HSA_TOOLS_LIB").stdin(Stdio::null());
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// Runs a line of the shell in which `$@` is the program, with its arguments to follow.
    pub(crate) fn shell(&self, flags: &[&str], line: &str) -> Output {
        let words: Vec<OsString> = ["sh", "-c", line, "sh"].iter().map(OsString::from).collect();
        let words = words.iter().chain(&self.program).map(OsString::as_os_str);
        self.command(flags, words).output().unwrap()
    }

    /// Records a program on the runtime of ROCm 10, which needs tools of its own around the tracer that `rtl trace` names
    /// alone.
    pub(crate) fn shell_on_rocm_10(&self, line: &str) -> Output {
        let runtime = library::tool("rocm10");
        let runtime = runtime.display();
        self.shell(
            &["--no-perfetto"],
            &format!("HSA_TOOLS_LIB=\"{runtime} $HSA_TOOLS_LIB {runtime}\"; {line}"),
        )
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}
