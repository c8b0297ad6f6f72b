//! The ROCm runtimes that can be had without root, and how a program runs on one of them with simulated GPUs.
//!
//! A test that uses this names `kfd-sim` among its dev-dependencies, so that cargo builds the simulator's library
//! beside it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Need, skipped};

/// Where Debian has libraries, in the system and in an unpacked stack.
pub(crate) const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// A program is killed after this long: far more than any test takes on a busy machine, so it hangs.
const SECONDS: &str = "180";

/// Words of the command that limits the time, behind its name.
const TIME_LIMIT: usize = 2;

/// A ROCm runtime: the HSA runtime (ROCr) and the HIP runtime on top of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// The suite of Debian that it is from.
    pub name: &'static str,
    pub rocr: &'static str,
    pub hip: &'static str,
    /// The file name with which programs open HIP.
    pub hip_library: &'static str,
    /// Where `scripts/fetch/rocm-stacks` has unpacked it; `/` when it is installed.
    pub(crate) root: PathBuf,
}

/// Debian 12's own, by apt; and what `scripts/fetch/rocm-stacks` fetches.
const KNOWN: [(&str, &str, &str, &str); 4] = [
    ("bookworm", "5.2.3", "5.2.3", "libamdhip64.so.5"),
    ("trixie", "6.1.2", "5.7.1", "libamdhip64.so.5"),
    ("sid", "6.4.3", "6.4.3", "libamdhip64.so.6"),
    ("experimental", "7.2.4", "7.2.4", "libamdhip64.so.7"),
];

/// The runtimes that a test runs on, oldest first: all that this machine has, or, where `RTL_STACKS` is `one`, the newest
/// or an older one, as the name of the test picks. A runtime that is missing is said in one line.
///
/// # Panics
/// If `RTL_STACKS` is neither `one` nor `all` nor empty.
pub fn stacks() -> Vec<Stack> {
    let stacks = every_stack();
    match std::env::var("RTL_STACKS").as_deref() {
        Ok("one") => one_by_name(stacks, std::thread::current().name().unwrap_or_default()),
        Ok("all" | "") | Err(_) => stacks,
        Ok(other) => panic!("RTL_STACKS={other}: neither `one` nor `all`"),
    }
}

/// A runtime by its name, which `RTL_STACKS` does not leave out. One line says that it is missing.
pub fn stack(name: &str) -> Option<Stack> {
    every_stack().into_iter().find(|stack| stack.name == name)
}

/// The choice depends on the name alone, so a failure repeats. Half of the tests of a suite run on the newest runtime, and the others
/// share out the older ones.
fn one_by_name<T>(mut stacks: Vec<T>, test: &str) -> Vec<T> {
    let Some(newest) = stacks.pop() else { return stacks };
    let sum: usize = test.bytes().map(usize::from).sum();
    if sum.is_multiple_of(2) || stacks.is_empty() {
        return vec![newest];
    }
    vec![stacks.swap_remove(sum / 2 % stacks.len())]
}

/// The runtimes that this machine has, oldest first. One that is missing is said in one line.
pub fn every_stack() -> Vec<Stack> {
    let stacks = KNOWN.map(|(name, rocr, hip, hip_library)| {
        let installed = name == "bookworm";
        let root = if installed { "/".into() } else { cache().join(format!("stacks/{name}-{rocr}")) };
        // Another distribution's runtime has another number behind it.
        let proof = if installed { "libamdhip64.so.5.2.21153" } else { hip_library };
        let runtime = if installed { "libhsa-runtime64.so.1.5.0" } else { "libhsa-runtime64.so.1" };
        let libraries = root.join(LIBRARIES);
        if libraries.join(proof).exists() && libraries.join(runtime).exists() {
            return Some(Stack { name, rocr, hip, hip_library, root });
        }
        let how =
            if installed { "apt-get install libamdhip64-5 rocminfo" } else { "scripts/fetch/rocm-stacks" };
        skipped(Need::Stacks, format_args!("no ROCm {rocr} of Debian {name} ({how})"))
    });
    stacks.into_iter().flatten().collect()
}

/// AMD's own libroctx64.so.4, of which `scripts/fetch/rocm-stacks llama` fetches a build that any Linux loads. Where it is
/// missing, one line says so.
pub fn roctx() -> Option<PathBuf> {
    let library = cache().join("stacks/llama-6.4.3").join(LIBRARIES).join("libroctx64.so.4");
    if library.exists() {
        return Some(library);
    }
    skipped(Need::Programs, "no libroctx64.so.4 (scripts/fetch/rocm-stacks llama)")
}

/// The folder of files that are fetched or built once per machine.
pub(crate) fn cache() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("RTL_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("rtl")))
        .or_else(|| variable("HOME").map(|folder| folder.join(".cache/rtl")))
        .unwrap_or_default()
}

/// The simulator's library, which cargo puts beside the tests, and below other programs.
///
/// # Panics
/// If it is not there: the test's package does not depend on it.
pub fn simulator() -> PathBuf {
    let below = beside_the_test("deps/libkfd_sim.so");
    let library = if below.exists() { below } else { beside_the_test("libkfd_sim.so") };
    assert!(library.exists(), "cargo built no {}; hint: name kfd-sim in dev-dependencies", library.display());
    library
}

pub(crate) fn beside_the_test(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    test.parent().unwrap_or(Path::new("")).join(name)
}

impl Stack {
    /// The command that runs a program on this runtime and simulated GPUs; the caller adds arguments and settings.
    ///
    /// It is killed with exit code 124 when it hangs, and [set up](Self::set_up).
    ///
    /// # Panics
    /// As [`simulator`].
    pub fn command(&self, program: &Path) -> Command {
        self.command_preloading(&[], None, program)
    }

    /// As [`command`](Self::command), with libraries that are preloaded before the simulator and one behind it, whose
    /// functions of the runtime the simulator calls.
    ///
    /// # Panics
    /// As [`simulator`].
    pub fn command_preloading(
        &self,
        libraries: &[PathBuf],
        behind: Option<&Path>,
        program: &Path,
    ) -> Command {
        let simulator = simulator();
        let preloaded = libraries.iter().map(PathBuf::as_path).chain([simulator.as_path()]).chain(behind);
        let preloaded = preloaded.map(|library| library.display().to_string());
        let preloaded = preloaded.collect::<Vec<_>>().join(":");
        let mut command = Command::new("timeout");
        let limit: [&str; TIME_LIMIT] = ["--kill-after=1", SECONDS];
        command.args(limit);
        if self.root == Path::new("/") {
            // Only the program is to have it, not timeout.
            command.arg("env").arg(format!("LD_PRELOAD={preloaded}"));
        } else {
            let libraries = self.root.join(LIBRARIES);
            command.arg(libraries.join("ld-linux-x86-64.so.2"));
            // llama.cpp has a folder of its own.
            let path = format!("{0}:{0}/llama", libraries.display());
            command.arg("--preload").arg(preloaded).arg("--library-path").arg(path);
        }
        command.arg(program);
        self.set_up(&mut command);
        command
    }

    /// The words that start a program on this runtime, which is not the system's, with libraries that are preloaded before the
    /// simulator.
    ///
    /// # Panics
    /// As [`simulator`].
    pub fn loading(&self, libraries: &[PathBuf], program: &Path) -> Vec<OsString> {
        let command = self.command_preloading(libraries, None, program);
        command.get_args().skip(TIME_LIMIT).map(OsStr::to_owned).collect()
    }

    /// Gives a command what the programs that it starts need: what the environment says to ROCm, the simulator, the tracer
    /// or the loader is not passed on, and `HIP_LIBRARY` is what [programs](crate::program()) of HIP open.
    pub fn set_up(&self, command: &mut Command) {
        let ours = |name: &str| {
            ["HSA_", "HIP_", "AMD_", "ROCR_", "KFD_SIM_", "RTL_", "LD_"]
                .iter()
                .any(|start| name.starts_with(start))
        };
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(ours)) {
            command.env_remove(name);
        }
        command.env("HIP_LIBRARY", self.hip_library);
        // HIP compiles kernels at its start. Before ROCm 7 it keeps them only when asked, and in the home folder.
        command.env("AMD_COMGR_CACHE", "1").env("AMD_COMGR_CACHE_DIR", cache().join("comgr"));
    }

    /// Makes `path` a command that is `program` on this runtime and simulated GPUs. It has the name by which it is called,
    /// as a link has, so that what the program starts by its own name runs there, too.
    ///
    /// # Panics
    /// As [`simulator`], or if it cannot be written.
    pub fn write_starter(&self, path: &Path, program: &Path) {
        let libraries = self.root.join(LIBRARIES);
        let line = format!(
            "#!/bin/sh\nexec '{0}/ld-linux-x86-64.so.2' --argv0 \"$0\" --preload '{1}' --library-path '{0}' '{2}' \"$@\"\n",
            libraries.display(),
            simulator().display(),
            program.display(),
        );
        let _ = std::fs::remove_file(path);
        std::fs::write(path, line).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, everybody)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Where its HIP is.
    pub fn hip_path(&self) -> PathBuf {
        self.root.join(LIBRARIES).join(self.hip_library)
    }

    /// HIP's runtime compiler where it is a library of its own, which is from HIP 7 on.
    pub fn hip_compiler(&self) -> Option<PathBuf> {
        let name = self.hip_library.replace("libamdhip64", "libhiprtc");
        Some(self.root.join(LIBRARIES).join(name)).filter(|library| library.exists())
    }

    /// AMD's program that lists what the runtime sees.
    pub fn rocminfo(&self) -> PathBuf {
        self.root.join("usr/bin/rocminfo")
    }
}

#[cfg(test)]
mod tests {
    use super::one_by_name;

    #[test]
    fn the_newest_runtime_is_picked_by_half_of_the_names_and_each_older_one_by_some() {
        let picked: Vec<i32> =
            ["a", "b", "c", "d", "a"].iter().flat_map(|test| one_by_name(vec![5, 6, 7], test)).collect();
        assert_eq!(picked, [5, 7, 6, 7, 5]);
        assert_eq!((one_by_name(vec![7], "a"), one_by_name::<i32>(vec![], "a")), (vec![7], vec![]));
    }
}
