//! A program on simulated GPUs, with or without tools in it.

mod hip;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use support::code_object::{Kernel, Symbols, Target, code_object};
use support::{Stack, program, stack, stacks, until_whole};
use tempfile::TempDir;

use crate::library;
use crate::outcome::{LEAK, Outcome, files};
use crate::trace::Trace;

/// Names of the kernels in the programs' code object, unless the test selects others.
pub const KERNELS: [&str; 3] = ["alpha", "beta", "_Z5gammaPKfPf"];

#[derive(Debug)]
pub struct Process {
    program: PathBuf,
    arguments: Vec<String>,
    stack: Stack,
    settings: Vec<(String, OsString)>,
    /// The library under test.
    tracer: PathBuf,
    /// Tools that HSA_TOOLS_LIB names before the tracer.
    tools_before: Vec<PathBuf>,
    /// Makes the runtime one like ROCm 10's.
    newer_runtime: Option<PathBuf>,
    /// Tools that HSA_TOOLS_LIB names after the tracer.
    tools: Vec<PathBuf>,
    folder: Arc<TempDir>,
    is_hip: bool,
    /// True if the tracer is preloaded, too.
    is_preloaded: bool,
    /// Other libraries that are preloaded, with and without the tracer.
    preloads: Vec<PathBuf>,
    /// Libraries that are preloaded around the tracer.
    judges: Vec<PathBuf>,
    companions: Vec<PathBuf>,
    /// The command that starts the program, if it is not started by itself.
    starter: Vec<String>,
    has_time_limit: bool,
    /// True if the program starts other Pythons.
    is_python: bool,
}

impl Process {
    /// A program of `tests/programs` on Debian 12's runtime. `None` after one printed line, where that or a compiler is missing.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let stack = stack("bookworm")?;
        Self::on(&stack, name)
    }

    /// The program on every runtime that a test runs on.
    #[must_use]
    pub fn on_every_stack(name: &str) -> Vec<Self> {
        stacks().iter().filter_map(|stack| Self::on(stack, name)).collect()
    }

    /// A program on a certain runtime.
    #[must_use]
    pub fn on(stack: &Stack, name: &str) -> Option<Self> {
        Some(Self::starting(stack, program(name)?).kernels(&KERNELS))
    }

    fn starting(stack: &Stack, program: PathBuf) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self {
            program,
            arguments: vec![],
            stack: stack.clone(),
            settings: vec![],
            is_hip: false,
            is_preloaded: false,
            preloads: vec![],
            judges: vec![],
            companions: vec![],
            starter: vec![],
            has_time_limit: true,
            tracer: library::tracer(),
            is_python: false,
            tools_before: vec![],
            newer_runtime: None,
            tools: vec![],
            folder,
        }
    }

    #[must_use]
    pub fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        self
    }

    /// Sets an environment variable; the last one of a name counts.
    #[must_use]
    pub fn setting(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.settings.push((name.to_owned(), value.into()));
        self
    }

    /// Sets the number of GPUs.
    #[must_use]
    pub fn gpus(self, gpus: usize) -> Self {
        self.setting("KFD_SIM_GPUS", gpus.to_string())
    }

    /// Sets the tracer's mode.
    #[must_use]
    pub fn mode(self, mode: &str) -> Self {
        self.setting("RTL_MODE", mode)
    }

    /// Sets the mode of the runs from here on.
    pub fn set_mode(&mut self, mode: &str) {
        self.settings.push(("RTL_MODE".to_owned(), mode.into()));
    }

    /// Sets the mangled names of the kernels in the code object.
    #[must_use]
    pub fn kernels(self, names: &[&str]) -> Self {
        self.code_object("CODE_OBJECT", names)
    }

    /// Adds a code object whose path the program finds in a variable.
    #[must_use]
    pub fn code_object(self, variable: &str, names: &[&str]) -> Self {
        let kernels: Vec<Kernel> = names.iter().map(|&name| Kernel::named(name)).collect();
        let path = self.folder.path().join(format!("{variable}.co"));
        let target = Target::named("gfx90a").unwrap();
        fs::write(&path, code_object(target, &kernels, Symbols::Both)).unwrap();
        self.setting(variable, path)
    }

    /// Adds a tool of `tests/e2e/tools` that wraps the tracer's queues.
    #[must_use]
    pub fn tool(mut self, name: &str) -> Self {
        self.tools.push(library::tool(name));
        self
    }

    /// Starts the program by another one, such as valgrind with its arguments. On Debian 12's own runtime only.
    #[must_use]
    pub fn started_by(mut self, starter: &[&str]) -> Self {
        self.starter = starter.iter().map(|&part| part.to_owned()).collect();
        self
    }

    /// Does not kill the process when it takes long.
    #[must_use]
    pub fn without_time_limit(mut self) -> Self {
        self.has_time_limit = false;
        self
    }

    /// Preloads the tracer where it is a tool of the runtime, as is necessary for the functions that replace those of other
    /// libraries.
    #[must_use]
    pub fn preloaded(mut self) -> Self {
        self.is_preloaded = true;
        self
    }

    /// Preloads a tool of `tests/e2e/tools`, with and without the tracer.
    #[must_use]
    pub fn preload(mut self, name: &str) -> Self {
        self.preloads.push(library::tool(name));
        self
    }

    /// Makes the tracer panic at a place of its own (`tracer/src/base/fault.rs`): `record`, or `record:5` for the sixth time.
    #[must_use]
    pub fn fails_at(self, place: &str) -> Self {
        self.setting("RTL_FAULT", place)
    }

    /// Links the program to this library.
    #[must_use]
    pub fn linked_to(mut self, name: &str, library: &Path) -> Self {
        let path = library.to_str().unwrap();
        let folder = format!("-Wl,-rpath,{}", library.parent().unwrap().display());
        self.program = support::program_with(name, &["-DROCTX_LINKED", path, &folder]).unwrap();
        self
    }

    /// Runs another program in place of its own.
    #[must_use]
    pub fn program(mut self, program: PathBuf) -> Self {
        self.program = program;
        self
    }

    /// Adds a tool of `tests/e2e/tools` that is loaded before the tracer, in traced runs only.
    #[must_use]
    pub fn tool_before(mut self, name: &str) -> Self {
        self.tools_before.push(library::tool(name));
        self
    }

    /// Gives the runtime the extension table of ROCm 10, and makes all queues by descriptor (`tests/e2e/tools/rocm10.c`).
    #[must_use]
    pub fn on_rocm_10(mut self) -> Self {
        self.newer_runtime = Some(library::tool("rocm10"));
        self
    }

    #[must_use]
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// A folder that lives as long as this.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The command, without the tracer, and with its report, log and traces in a folder.
    #[must_use]
    pub fn command(&self, folder: &Path) -> Command {
        self.command_preloading(&self.preloads, folder)
    }

    fn command_preloading(&self, libraries: &[PathBuf], folder: &Path) -> Command {
        fs::create_dir_all(folder.join("traces")).unwrap();
        let mut command = self.started(self.stack.command_preloading(
            libraries,
            self.newer_runtime.as_deref(),
            &self.program,
        ));
        if self.is_python && self.stack.name != "bookworm" {
            // Python itself would make the system's loader start another one.
            command.env("PYTHON", starter_of(&command, folder));
        }
        command.args(&self.arguments);
        command.env("REPORT", folder.join("report")).env("KFD_SIM_LOG", folder.join("log"));
        command.env("CALLS", folder.join("calls")).env("JUDGED", folder.join("judged"));
        command.env("RTL_OUTPUT", folder.join("traces/trace_%p.db")).env("RTL_MODE", "standard");
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        // In this folder a test notices files that are left by accident.
        command.current_dir(folder.join("traces"));
        command
    }

    /// Changes the runtime's command to start this process: `timeout` and its two arguments come first, the program last.
    fn started(&self, command: Command) -> Command {
        let mut words = vec![command.get_program().to_owned()];
        words.extend(command.get_args().map(OsStr::to_owned));
        if !self.has_time_limit {
            words.drain(..3);
        }
        let before_program = words.len() - 1;
        words.splice(before_program..before_program, self.starter.iter().map(OsString::from));
        let mut started = Command::new(&words[0]);
        started.args(&words[1..]);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => started.env(name, value),
                None => started.env_remove(name),
            };
        }
        started
    }

    #[must_use]
    pub fn bare(&self) -> Outcome {
        // A tool that wraps the tracer's queues needs some that can be intercepted.
        let least = (!self.tools.is_empty()).then(|| library::tool("pass_through"));
        let tools: Vec<PathBuf> = least.into_iter().chain(self.tools.iter().cloned()).collect();
        self.run("bare", &tools)
    }

    /// Runs it with the least of all tools.
    #[must_use]
    pub fn floor(&self) -> Outcome {
        self.run("floor", &[library::tool("pass_through")])
    }

    /// Runs it with the tracer, whatever the program does.
    #[must_use]
    pub fn traced(&self) -> Outcome {
        self.run("traced", &self.with_tracer())
    }

    fn with_tracer(&self) -> Vec<PathBuf> {
        let around = self.newer_runtime.iter().cloned();
        let before = around.clone().chain(self.tools_before.iter().cloned());
        before.chain([self.tracer.clone()]).chain(around).chain(self.tools.iter().cloned()).collect()
    }

    /// Runs it without and with the tracer, and checks that exit code, standard output and standard error are the same, except
    /// for the tracer's lines about losses.
    #[must_use]
    #[track_caller]
    pub fn unchanged(&self) -> Outcome {
        self.unchanged_from(&self.bare())
    }

    /// Does what [`Process::unchanged`] does, where the run without the tracer is known.
    #[must_use]
    #[track_caller]
    pub fn unchanged_from(&self, bare: &Outcome) -> Outcome {
        let traced = self.traced_whole(bare.status, bare.stderr.contains(LEAK));
        self.assert_same(bare, traced)
    }

    /// Does what [`Process::unchanged`] does for a program whose trace need not be complete: the recording fails, or the process
    /// ends too early for it.
    #[must_use]
    #[track_caller]
    pub fn unchanged_in_one_run(&self) -> Outcome {
        self.assert_same(&self.bare(), self.traced())
    }

    #[track_caller]
    fn assert_same(&self, bare: &Outcome, traced: Outcome) -> Outcome {
        let seen = |outcome: &Outcome| (outcome.status, outcome.stdout.clone(), outcome.stderr.clone());
        assert_eq!(seen(bare), seen(&traced), "without and with the tracer, on {:?}", self.stack.name);
        assert_eq!(bare.traces, Vec::<PathBuf>::new());
        traced
    }

    /// Runs it with the tracer until its traces are complete, where its exit is known. The tracer delays the end of a process by
    /// half a second at most: a machine that is busy for so long leaves a trace that is marked as incomplete, or signals, which
    /// Debian's builds of the runtime report; ROCm 7's reports signals of its own (`may_leak`) without the tracer, too. Every
    /// such rerun is recorded ([`until_whole`]).
    fn traced_whole(&self, end: ExitStatus, may_leak: bool) -> Outcome {
        let is_whole = |traced: &Outcome| {
            let complete = |file: &PathBuf| Trace::read_begun(file).is_some_and(|trace| trace.is_complete());
            let is_killed = end.code().is_none();
            is_killed
                || traced.status.code() != end.code()
                || !traced.is_late()
                    && traced.traces.iter().all(complete)
                    && (may_leak || !traced.stderr.contains(LEAK))
        };
        until_whole("the trace was not written in time", || self.traced(), is_whole)
    }

    /// Runs it with the tracer only, and checks that it succeeds: without the tracer it need not.
    #[must_use]
    #[track_caller]
    pub fn well_when_traced(&self) -> Outcome {
        self.traced_whole(ExitStatus::default(), true).assert_well()
    }

    /// Does what [`Process::unchanged`] does for a program that succeeds.
    #[must_use]
    #[track_caller]
    pub fn well(&self) -> Outcome {
        self.unchanged().assert_well()
    }

    /// Runs it with the tracer and with its standard input open until a trace has this number of kernels, for at most a minute: the
    /// state before a process is killed.
    #[must_use]
    pub fn traced_until(&self, kernels: i64) -> Outcome {
        self.traced_until_then(kernels, |_| ())
    }

    /// Does what [`Process::traced_until`] does, and then passes the files to `act`.
    #[must_use]
    pub fn traced_until_then(&self, kernels: i64, act: impl FnOnce(&[PathBuf])) -> Outcome {
        let (mut command, folder) = self.prepare("traced", &self.with_tracer());
        let mut running =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        let says_enough =
            || files(&folder.join("traces")).iter().any(|file| Trace::kernels_so_far(file) >= kernels);
        while Instant::now() < until && running.try_wait().unwrap().is_none() && !says_enough() {
            std::thread::sleep(Duration::from_millis(5));
        }
        act(&files(&folder.join("traces")));
        drop(running.stdin.take());
        self.outcome(running.wait_with_output().unwrap(), &folder)
    }

    /// Runs it with the tracer while `talk` writes to its standard input and reads lines of its standard output, which are not in
    /// the outcome then. `talk` gets the folder of the traces, too.
    #[must_use]
    pub fn traced_while(&self, talk: impl FnOnce(&mut ChildStdin, &mut dyn BufRead, &Path)) -> Outcome {
        let (mut command, folder) = self.prepare("traced", &self.with_tracer());
        let mut running =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut input, output) = (running.stdin.take().unwrap(), running.stdout.take().unwrap());
        talk(&mut input, &mut BufReader::new(output), &folder.join("traces"));
        drop(input);
        self.outcome(running.wait_with_output().unwrap(), &folder)
    }

    /// Runs it without any tool of the runtime and with these libraries, which find in RECORDS the name of a file in the folder
    /// of this name.
    #[must_use]
    pub fn run_preloading(&self, name: &str, libraries: &[PathBuf]) -> Outcome {
        let folder = self.folder.path().join(name);
        let _ = fs::remove_dir_all(&folder);
        let mut command = self.command_preloading(libraries, &folder);
        command.env("RECORDS", folder.join("records"));
        self.outcome(command.stdin(Stdio::null()).output().unwrap(), &folder)
    }

    fn run(&self, name: &str, tools: &[PathBuf]) -> Outcome {
        let (mut command, folder) = self.prepare(name, tools);
        self.outcome(command.stdin(Stdio::null()).output().unwrap(), &folder)
    }

    /// The command with these tools, and the folder of all its files.
    fn prepare(&self, name: &str, tools: &[PathBuf]) -> (Command, PathBuf) {
        let folder = self.folder.path().join(name);
        let _ = fs::remove_dir_all(&folder);
        let is_traced = tools.contains(&self.tracer);
        let mut preloaded = Vec::new();
        if self.is_preloaded && is_traced {
            preloaded.extend_from_slice(&self.judges);
            preloaded.push(self.tracer.clone());
        }
        if is_traced {
            preloaded.extend_from_slice(&self.companions);
        }
        preloaded.extend_from_slice(&self.preloads);
        let mut command = self.command_preloading(&preloaded, &folder);
        if !tools.is_empty() {
            let tools: Vec<&str> = tools.iter().map(|tool| tool.to_str().unwrap()).collect();
            command.env("HSA_TOOLS_LIB", tools.join(" "));
        }
        (command, folder)
    }

    fn outcome(&self, output: Output, folder: &Path) -> Outcome {
        Outcome::new(output, folder, &self.folder, self.is_hip)
    }
}

/// A script that starts what a command starts, without a limit to its time.
fn starter_of(command: &Command, folder: &Path) -> PathBuf {
    let words: Vec<String> = command.get_args().skip(2).map(|word| format!("'{}'", word.display())).collect();
    let script = folder.join("starter");
    fs::write(&script, format!("#!/bin/sh\nexec {} \"$@\"\n", words.join(" "))).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    script
}
