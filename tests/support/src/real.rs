//! Real programs on real runtimes and simulated GPUs: what `scripts/fetch/real-programs` has fetched. Each is a command that
//! the caller adds settings to. `None`, and one line that says so, where it was not fetched.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::stack::{LIBRARIES, Stack, cache, stack};
use crate::{Need, skipped};

/// The version that `scripts/fetch/real-programs` pins.
const TINYGRAD: &str = "programs/tinygrad-0.14.0";

/// A small network that tinygrad trains for so many steps on ROCm 7.2: the kernels are compiled as it goes.
///
/// # Panics
/// As [`crate::simulator`].
pub fn tinygrad(steps: u32) -> Option<Command> {
    let python = python()?;
    let stack = stack("experimental")?;
    let mut command = stack.command(&python);
    command.arg(source("train.py")).arg(steps.to_string());
    with_tinygrad(&mut command, &stack)?;
    Some(command)
}

/// Gives a command what tinygrad needs to train on the GPUs of this runtime, ROCm 7.2.
pub fn with_tinygrad(command: &mut Command, stack: &Stack) -> Option<()> {
    let package = fetched(cache().join(TINYGRAD))?;
    let library = |name: &str| stack.root.join(LIBRARIES).join(name);
    command.env("DEV", "HIP").env("HIP_PATH", library(stack.hip_library));
    command.env("COMGR_PATH", library("libamd_comgr.so.3")).env("COMGR_3_PATH", library("libamd_comgr.so.3"));
    // Its helpers would be started by the system's loader, which does not have these libraries.
    command.env("PARALLEL", "0").env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("PYTHONPATH", package).env("CACHEDB", cache().join("programs/tinygrad.db"));
    command.env("KFD_SIM_TARGET", "gfx942");
    Some(())
}

/// llama.cpp's benchmark of the model in a file that [`write_model`] made, on ROCm 6.4.
///
/// # Panics
/// As [`crate::simulator`].
pub fn llama_bench(model: &Path) -> Option<Command> {
    let root = fetched(cache().join("stacks/llama-6.4.3"))?;
    let libraries = root.join(LIBRARIES);
    let stack = Stack { name: "llama", rocr: "6.4.3", hip: "6.4.3", hip_library: "libamdhip64.so.6", root };
    let mut command = stack.command(&stack.root.join("usr/bin/llama-bench"));
    command.args([
        "--n-gpu-layers",
        "99",
        "--n-prompt",
        "64",
        "--n-gen",
        "16",
        "--repetitions",
        "1",
        "--model",
    ]);
    command.arg(model);
    // Where it looks for its back ends, besides the system's folders.
    command.current_dir(libraries.join("ggml/backends0"));
    command.env("ROCBLAS_TENSILE_LIBPATH", libraries.join("rocblas/4.4.1/library"));
    Some(command)
}

/// Writes a language model with random weights, of 3 MB, to a file of this folder. `None` without Python.
///
/// # Panics
/// If the model's program fails.
pub fn write_model(folder: &Path) -> Option<PathBuf> {
    let python = python()?;
    let model = folder.join("random.gguf");
    let status = Command::new(python).arg(source("model.py")).arg(&model).status();
    assert!(status.is_ok_and(|status| status.success()), "model.py failed");
    Some(model)
}

/// A program of `tests/programs` in its own language.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs").join(name)
}

/// The system's Python. `None`, and one line that says so, where there is none.
pub fn python() -> Option<PathBuf> {
    there("/usr/bin/python3".into(), "apt-get install python3")
}

fn fetched(path: PathBuf) -> Option<PathBuf> {
    there(path, "scripts/fetch/real-programs")
}

fn there(path: PathBuf, how: &str) -> Option<PathBuf> {
    if path.exists() {
        return Some(path);
    }
    skipped(Need::Programs, format_args!("no {} ({how})", path.display()))
}
