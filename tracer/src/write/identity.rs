//! Facts about the process for the file, so that tools find the files of one run.

use std::fs;

use crate::base::settings::{Metadata, Settings};
use crate::write::output::Place;

/// A launcher's variables: rank, number of ranks, rank within the host.
type Launcher = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Launchers by priority. torchrun comes before SLURM: with one torchrun per host, SLURM_PROCID is the number of the host.
const LAUNCHERS: [Launcher; 8] = [
    ("RANK", &["WORLD_SIZE"], &["LOCAL_RANK"]),
    (
        "PMIX_RANK",
        &["OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"],
        &["OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"],
    ),
    ("OMPI_COMM_WORLD_RANK", &["OMPI_COMM_WORLD_SIZE"], &["OMPI_COMM_WORLD_LOCAL_RANK"]),
    ("PMI_RANK", &["PMI_SIZE"], &["MPI_LOCALRANKID", "PMI_LOCAL_RANK"]),
    ("MV2_COMM_WORLD_RANK", &["MV2_COMM_WORLD_SIZE"], &["MV2_COMM_WORLD_LOCAL_RANK"]),
    ("SLURM_PROCID", &["SLURM_NTASKS"], &["SLURM_LOCALID"]),
    ("PALS_RANKID", &["PALS_SIZE"], &["PALS_LOCAL_RANKID"]),
    ("FLUX_TASK_RANK", &["FLUX_JOB_SIZE"], &["FLUX_TASK_LOCAL_ID"]),
];

/// Variables that identify a run to all of its processes.
const RUNS: [&str; 3] = ["RTL_RUN_ID", "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID"];

/// Variables that select the GPUs of a process and their numbers.
const VISIBLE: [&str; 4] =
    ["ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"];

/// Limit in bytes on a command line.
const LONGEST_COMMAND: usize = 16 << 10;

/// Facts from the environment, read where the library is loaded: later on another thread may be changing it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    rank: Option<u32>,
    world: Option<u32>,
    local_rank: Option<u32>,
    run: Option<String>,
    visible: Vec<(&'static str, String)>,
}

impl Identity {
    #[must_use]
    pub fn read() -> Self {
        Self::from(|name| std::env::var(name).ok())
    }

    /// Reads the facts from variables that `variable` looks up.
    pub fn from(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let number = |name: &str| set(name)?.trim().parse::<u32>().ok();
        let first = |names: &[&str]| names.iter().find_map(|name| number(name));
        let launcher = LAUNCHERS.iter().find_map(|launcher| Some((number(launcher.0)?, launcher)));
        Self {
            rank: launcher.map(|(rank, _)| rank),
            world: launcher.and_then(|(_, (_, world, _))| first(world)),
            local_rank: launcher.and_then(|(_, (_, _, local))| first(local)),
            run: RUNS.iter().find_map(|name| set(name)),
            visible: VISIBLE.iter().filter_map(|name| Some((*name, variable(name)?))).collect(),
        }
    }

    /// Values for the placeholders in the file's name.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { pid: std::process::id(), host: host(), rank: self.rank }
    }

    /// Metadata rows of the facts that are known.
    #[must_use]
    pub fn rows(&self, settings: &Settings) -> Vec<(String, String)> {
        let parent = std::os::unix::process::parent_id();
        let number = |value: Option<u32>| value.map(|value| value.to_string());
        let command = || command(&fs::read("/proc/self/cmdline").ok()?);
        let known = [
            ("schema_version", Some(concat!("rtl-", "1").to_owned())),
            ("tool", Some("rtl".to_owned())),
            ("tool_version", Some(env!("CARGO_PKG_VERSION").to_owned())),
            ("mode", Some(settings.mode.name().to_owned())),
            ("pid", Some(std::process::id().to_string())),
            ("ppid", Some(parent.to_string())),
            ("command", (settings.metadata == Metadata::All).then(command).flatten()),
            ("host", Some(host()).filter(|host| !host.is_empty())),
            ("machine_id", line("/etc/machine-id")),
            ("boot_id", line("/proc/sys/kernel/random/boot_id")),
            ("run_id", self.run.clone().or_else(|| launcher(parent))),
            ("rank", number(self.rank)),
            ("world_size", number(self.world)),
            ("local_rank", number(self.local_rank)),
            ("kernel_version", line("/proc/sys/kernel/osrelease")),
            ("driver_version", line("/sys/module/amdgpu/version")),
            ("rocr_version", rocr(&fs::read_to_string("/proc/self/maps").unwrap_or_default())),
        ];
        let known = known.into_iter().filter_map(|(tag, value)| Some((tag.to_owned(), value?)));
        let visible = self.visible.iter().map(|(name, value)| (format!("env:{name}"), value.clone()));
        known.chain(visible).collect()
    }
}

fn host() -> String {
    line("/proc/sys/kernel/hostname").unwrap_or_default()
}

/// The text of a file of one line.
fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Identifies a run without a name by the process that launched it.
fn launcher(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(format!("{pid}-{}", started(&stat)?))
}

/// Start of a process in ticks since boot: field 22 of `stat`. The second field, its name, may hold any characters.
fn started(stat: &str) -> Option<&str> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)
}

/// A command line as text, with quotes around words that have spaces.
fn command(words: &[u8]) -> Option<String> {
    let words = words.strip_suffix(b"\0").unwrap_or(words);
    let words = words.split(|&byte| byte == 0).map(String::from_utf8_lossy).map(|word| {
        let is_plain = |c: char| c.is_alphanumeric() || "_-./=:,+@%^".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    let mut command = words.collect::<Vec<_>>().join(" ");
    if command.len() > LONGEST_COMMAND {
        command.truncate(command.floor_char_boundary(LONGEST_COMMAND));
        command.push_str(" ...");
    }
    Some(command).filter(|command| command != "''")
}

/// The runtime's version in the name of its file: `1.14.60402` of libhsa-runtime64.so.1.14.60402.
fn rocr(maps: &str) -> Option<String> {
    let version = maps.lines().find_map(|line| line.split_once("/libhsa-runtime64.so."))?.1;
    version.split_ascii_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(environment: &[(&str, &str)]) -> Identity {
        Identity::from(|name| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn torchrun_under_slurm_counts_as_torchrun() {
        let environment = [
            ("SLURM_PROCID", "1"),
            ("SLURM_NTASKS", "4"),
            ("RANK", "13"),
            ("WORLD_SIZE", "32"),
            ("LOCAL_RANK", "5"),
            ("SLURM_JOB_ID", "991"),
            ("TORCHELASTIC_RUN_ID", "none"),
            ("ROCR_VISIBLE_DEVICES", "5"),
            ("HIP_VISIBLE_DEVICES", ""),
        ];
        let found = identity(&environment);
        let expected = Identity {
            rank: Some(13),
            world: Some(32),
            local_rank: Some(5),
            run: Some("991".to_owned()),
            visible: vec![("ROCR_VISIBLE_DEVICES", "5".to_owned()), ("HIP_VISIBLE_DEVICES", String::new())],
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_rank_that_is_no_number_is_none_and_the_next_launcher_counts() {
        let found = identity(&[("RANK", "gold"), ("PMI_RANK", "3"), ("PMI_SIZE", "4")]);
        assert_eq!((found.rank, found.world, found.local_rank), (Some(3), Some(4), None));
        assert_eq!(identity(&[]), Identity::default());
    }

    #[test]
    fn a_minimal_file_has_no_command() {
        let tags = |metadata| {
            let rows = Identity::default().rows(&Settings { metadata, ..Settings::default() });
            rows.into_iter().map(|(tag, _)| tag).collect::<Vec<_>>()
        };
        assert!(tags(Metadata::All).contains(&"command".to_owned()));
        assert!(!tags(Metadata::Minimal).contains(&"command".to_owned()));
        for tag in ["schema_version", "tool", "mode", "pid", "ppid", "host", "boot_id", "run_id"] {
            assert!(tags(Metadata::Minimal).contains(&tag.to_owned()), "{tag}");
        }
    }

    #[test]
    fn a_command_can_be_pasted() {
        assert_eq!(command(b"python3\0-c\0print('a b')\0\0").unwrap(), r"python3 -c 'print('\''a b'\'')' ''");
        assert_eq!(command(b""), None);
        assert!(command(&[b'x'; 20_000]).unwrap().ends_with("x ..."));
    }

    #[test]
    fn a_process_may_have_any_name() {
        let stat = "12 (a) b) S 1 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 2";
        assert_eq!(started(stat), Some("98765"));
        assert!(launcher(std::process::id()).unwrap().starts_with(&std::process::id().to_string()));
    }

    #[test]
    fn the_runtime_says_its_version_by_its_file() {
        let maps = "7f00-7f01 r--p 0 fe:00 12   /opt/rocm/lib/libhsa-runtime64.so.1.14.60402\n";
        assert_eq!(rocr(maps).as_deref(), Some("1.14.60402"));
        assert_eq!(rocr("7f00-7f01 r--p 0 fe:00 12 /lib/libc.so.6\n"), None);
    }
}
