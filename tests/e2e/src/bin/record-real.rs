//! Records the real programs that `scripts/fetch/real-programs` has fetched, as fixtures: `tests/fixtures/real/<name>.db.gz`.
//!
//! Kernels take random times from one seed, so that the trace looks real; the names of machine and user are removed.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail};
use e2e::launched::{assert_all_recorded, traced};
use support::real::{llama_bench, tinygrad, write_model};
use support::rusqlite::Connection;

/// Times of kernels: the matrix products of a prompt take longest.
const KERNELS: &str =
    "Cijk_*=60000..90000,_ZL18flash_attn*=20000..40000,_ZL13mul_mat_vec*=12000..18000,3000..9000";

/// Metadata that identifies the machine, with the values that replace it.
const ANYWHERE: [(&str, &str); 5] = [
    ("host", "workstation"),
    ("machine_id", "00000000000000000000000000000000"),
    ("boot_id", "00000000-0000-0000-0000-000000000000"),
    ("run_id", "1-1"),
    ("kernel_version", "6.1.0"),
];

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/real");
    fs::create_dir_all(&target)?;
    let Some(model) = write_model(folder.path()) else { bail!("no Python") };
    let programs = [
        ("llama-bench", llama_bench(&model), "2", "llama-bench --n-prompt 64 --n-gen 16 --model random.gguf"),
        ("tinygrad", tinygrad(10), "1", "python3 train.py 10"),
    ];
    for (name, command, gpus, command_in_trace) in programs {
        let Some(mut command) = command else {
            bail!("{name} is missing; hint: scripts/fetch/real-programs")
        };
        command.env("RTL_MODE", "standard").env("KFD_SIM_GPUS", gpus).env("KFD_SIM_KERNEL_NS", KERNELS);
        let (_, launched, trace) = traced(command, folder.path());
        assert_all_recorded(&launched, &trace);
        forget_the_machine(&trace.path, command_in_trace)?;
        compress(&trace.path, &target.join(format!("{name}.db.gz")))?;
    }
    Ok(())
}

/// Replaces in a trace everything that identifies the machine and the user.
fn forget_the_machine(path: &Path, command: &str) -> Result<()> {
    let database = Connection::open(path)?;
    for (tag, value) in ANYWHERE.into_iter().chain([("command", command)]) {
        database.execute("UPDATE rocpd_metadata SET value = ?2 WHERE tag = ?1", (tag, value))?;
    }
    database.execute_batch("VACUUM").with_context(|| path.display().to_string())
}

fn compress(from: &Path, to: &Path) -> Result<()> {
    let status =
        Command::new("gzip").args(["--best", "--no-name", "--force"]).arg(from).status().context("gzip")?;
    if !status.success() {
        bail!("gzip failed");
    }
    let compressed = from.with_extension("db.gz");
    fs::copy(&compressed, to).with_context(|| to.display().to_string())?;
    Ok(())
}
