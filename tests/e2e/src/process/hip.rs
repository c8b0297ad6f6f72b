//! Programs of HIP, whose calls can be recorded and judged.

use std::fs;
use std::path::PathBuf;

use support::Stack;

use super::Process;
use crate::library;

impl Process {
    /// A HIP program of `tests/programs` on a certain runtime, with the kernels of `kernels.cl`. `None` after one printed line,
    /// where a compiler is missing.
    #[must_use]
    pub fn for_hip(stack: &Stack, name: &str, arguments: &[&str]) -> Option<Self> {
        let kernels = support::code_object("kernels", "gfx90a")?;
        let arguments: Vec<&str> = kernels.to_str().into_iter().chain(arguments.iter().copied()).collect();
        Some(Self { is_hip: true, ..Self::on(stack, name)?.arguments(&arguments) })
    }

    /// A Python program of `tests/programs` on a certain runtime, which finds the kernels of `kernels.cl` by `KERNELS` and others
    /// like itself by `PYTHON`. `None` after one printed line, where Python or a compiler is missing.
    #[must_use]
    pub fn for_python(stack: &Stack, name: &str, arguments: &[&str]) -> Option<Self> {
        let kernels = support::code_object("kernels", "gfx90a")?;
        let python = support::real::python()?;
        let script = support::real::source(&format!("{name}.py"));
        let process = Self { is_hip: true, is_python: true, ..Self::starting(stack, python) };
        let arguments: Vec<&str> = script.to_str().into_iter().chain(arguments.iter().copied()).collect();
        Some(process.arguments(&arguments).setting("KERNELS", kernels))
    }

    /// Records the calls of HIP.
    #[must_use]
    pub fn calls(mut self) -> Self {
        self.companions.push(library::companion());
        self.preloaded().mode("hip")
    }

    /// Records the calls of HIP where only the library that intercepts them is preloaded, and the runtime loads the tracer.
    #[must_use]
    pub fn calls_without_the_tracer(mut self) -> Self {
        self.companions.push(library::companion());
        self.mode("hip")
    }

    /// Links the program, one of HIP, with HIP instead of opening it.
    #[must_use]
    pub fn linked_to_hip(mut self, name: &str) -> Self {
        let version = format!("-DHIP_LINKED={}", self.stack.hip.split('.').next().unwrap());
        let libraries = self.hip_libraries();
        let mut arguments = vec![version.as_str(), "-Wl,--as-needed"];
        arguments.extend(libraries.iter().map(|library| library.to_str().unwrap()));
        // The C library of another stack is newer than the linker's.
        arguments.push("-Wl,--allow-shlib-undefined");
        self.program = support::program_with(name, &arguments).unwrap();
        self
    }

    /// Links the program, one of HIP, so that HIP finds itself by the name that has no version, which Debian has in the packages
    /// for development only: hipGetProcAddress needs that.
    #[must_use]
    pub fn with_hip_to_be_found(mut self, name: &str) -> Self {
        let name_of_folder = self.stack.name;
        // RUNPATH would apply to the program's own libraries only.
        let rpath = format!("-Wl,--disable-new-dtags,-rpath,$ORIGIN/{name_of_folder}");
        self.program = support::program_with(name, &[&rpath]).unwrap();
        let folder = self.program.with_file_name(name_of_folder);
        fs::create_dir_all(&folder).unwrap();
        let link = folder.join("libamdhip64.so");
        // The link stays for the next time, unless the runtime has moved since.
        if fs::read_link(&link).is_ok_and(|before| before != self.stack.hip_path()) {
            fs::remove_file(&link).unwrap();
        }
        let made = std::os::unix::fs::symlink(self.stack.hip_path(), &link);
        assert!(made.is_ok() || link.exists(), "{made:?}");
        self
    }

    fn hip_libraries(&self) -> Vec<PathBuf> {
        std::iter::once(self.stack.hip_path()).chain(self.stack.hip_compiler()).collect()
    }

    /// Preloads a judge before the tracer, in traced runs only: it counts every call of HIP that a linked program makes.
    #[must_use]
    pub fn judged(mut self) -> Self {
        self.judges.push(library::hip_judge(&self.hip_libraries()));
        self
    }
}
