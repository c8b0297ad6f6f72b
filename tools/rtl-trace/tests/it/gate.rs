//! The kit for CI jobs (`ci/gpu-time`) on two builds of a program whose kernels take different times.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use e2e::library;
use support::{Need, skipped, until_whole};

use crate::running::{Traced, text};

/// A job in a folder of its own.
struct Job {
    traced: Traced,
    programs: PathBuf,
}

impl Job {
    fn new() -> Option<Self> {
        let programs = Path::new(env!("CARGO_BIN_EXE_rtl-trace")).parent().unwrap().to_owned();
        if !programs.join("rtl").exists() {
            return skipped(Need::Build, "rtl is not built (cargo build --workspace)");
        }
        let job = Self { traced: Traced::on_a_gpu()?, programs };
        // A build is the time that its kernels take.
        let quoted = |word: &OsStr| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"));
        let program: Vec<String> = job.traced.program.iter().map(|word| quoted(word)).collect();
        let library = library::tracer();
        job.script(
            "record",
            &format!(
                "export KFD_SIM_KERNEL_NS=$1\nexec rtl trace --quiet --no-perfetto --lib {} -o \"$2\" {} 200",
                quoted(library.as_os_str()),
                program.join(" ")
            ),
        );
        Some(job)
    }

    fn script(&self, name: &str, lines: &str) {
        let path = self.traced.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn kit(&self, line: &str, settings: &[(&str, &str)]) -> Output {
        let kit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci/gpu-time");
        let line: Vec<&OsStr> = line.split(' ').map(OsStr::new).collect();
        let words = [kit.as_os_str()].into_iter().chain(line);
        // The environment of the simulator, but not rtl-trace around it.
        let around = self.traced.command(&[], words.clone());
        let mut command = Command::new(&kit);
        command.args(words.skip(1)).current_dir(self.traced.path());
        for (name, value) in around.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let path = [self.traced.path(), &self.programs].map(|folder| folder.display().to_string()).join(":");
        command.env("PATH", format!("{path}:{}", std::env::var("PATH").unwrap()));
        for variable in ["GITHUB_ACTIONS", "GITHUB_REPOSITORY", "CI_API_V4_URL", "COLUMNS"] {
            command.env_remove(variable);
        }
        command.envs(settings.iter().copied());
        // Runs with losses are no runs of equal work.
        let is_whole = |output: &Output| !text(&output.stderr).contains("not written in time");
        until_whole("the trace was not written in time", || command.output().unwrap(), is_whole)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.traced.path().join(name)).unwrap()
    }
}

#[test]
fn a_gate_passes_on_builds_that_are_equal_and_fails_on_a_slower_one() {
    let Some(job) = Job::new() else { return };
    let same = job.kit("gate --runs 2 --out same record 20000 20000", &[]);
    assert_eq!(same.status.code(), Some(0), "{same:?}");
    let slower = job.kit("gate --runs 2 record 20000 30000", &[]);
    assert_eq!(slower.status.code(), Some(1), "{slower:?}");
    assert!(text(&slower.stdout).starts_with("fail: alpha +50.00%"), "{slower:?}");
    assert!(job.read("gpu-time/comment.md").starts_with("<!-- rtl-diff -->"));
    assert!(job.read("gpu-time/diff.html").starts_with("<!DOCTYPE html>"));
    assert!(job.read("gpu-time/gate.xml").contains("<failure"));
    assert!(job.read("gpu-time/diff.json").contains("\"verdict\": \"fail\""));
}

#[test]
fn reports_that_were_kept_are_a_baseline() {
    let Some(job) = Job::new() else { return };
    let kept = job.kit("keep --runs 2 record 20000 baseline", &[]);
    assert_eq!((kept.status.code(), text(&kept.stdout)), (Some(0), "kept 2 runs in baseline\n"), "{kept:?}");
    let again = job.kit("keep --runs 1 record 20000 baseline", &[]);
    assert!(again.status.success(), "{again:?}");
    let reports = fs::read_dir(job.traced.path().join("baseline")).unwrap();
    assert_eq!(reports.count(), 1, "the earlier baseline is replaced");
    assert!(job.kit("keep --runs 2 record 20000 baseline", &[]).status.success());
    for (build, code) in [("20000", 0), ("30000", 1)] {
        let gate = job.kit(&format!("gate --runs 2 record baseline {build}"), &[]);
        assert_eq!(gate.status.code(), Some(code), "{gate:?}");
    }
}

#[test]
fn files_that_the_kit_has_not_written_stay() {
    let Some(job) = Job::new() else { return };
    let folder = job.traced.path().join("mine");
    fs::create_dir(&folder).unwrap();
    let files = ["before.db", "a.db", "notes.json"].map(|name| folder.join(name));
    files.iter().for_each(|file| fs::write(file, "mine").unwrap());
    let kept = job.kit("keep --runs 1 record 20000 mine", &[]);
    assert_eq!(kept.status.code(), Some(2));
    assert!(
        text(&kept.stderr).contains("error: mine holds a.db, which is no kept report\nhint: "),
        "{kept:?}"
    );
    let gate = job.kit("gate --runs 2 --out mine record 20000 20000", &[]);
    assert_eq!(gate.status.code(), Some(0), "{gate:?}");
    assert!(files.iter().all(|file| fs::read(file).is_ok_and(|content| content == b"mine")));
}

#[test]
fn a_comment_is_written_once_and_renewed_afterwards() {
    let Some(job) = Job::new() else { return };
    fs::write(job.traced.path().join("comment.md"), "<!-- rtl-diff -->\nslower\n").unwrap();
    job.script("gh", "echo \"$@\" >>calls\n[ \"$3\" != --paginate ] || [ ! -e old ] || echo 17");
    let github = [("GITHUB_REPOSITORY", "a/b"), ("PULL", "4")];
    for line in ["comments -F body=@comment.md", "-X PATCH repos/a/b/issues/comments/17 -F body=@comment.md"]
    {
        let output = job.kit("comment comment.md", &github);
        assert!(output.status.success(), "{output:?}");
        assert!(job.read("calls").trim_end().ends_with(line), "{}", job.read("calls"));
        fs::write(job.traced.path().join("old"), "").unwrap();
    }
    job.script("curl", "echo \"$@\" >>posts\necho '[]'");
    let gitlab = [
        ("CI_API_V4_URL", "https://gitlab.example/api/v4"),
        ("CI_PROJECT_ID", "1"),
        ("CI_MERGE_REQUEST_IID", "2"),
        ("GITLAB_TOKEN", "t"),
    ];
    let output = job.kit("comment comment.md", &gitlab);
    assert!(output.status.success(), "{output:?}");
    assert!(
        job.read("posts").contains("-X POST https://gitlab.example/api/v4/projects/1/merge_requests/2/notes")
    );
}

#[test]
fn a_recorder_that_fails_ends_the_job_with_an_error() {
    let Some(job) = Job::new() else { return };
    job.script("broken", "exit 1");
    let output = job.kit("gate --runs 1 broken a b", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("gpu-time: error: broken a gpu-time/a1.db failed\nhint: "),
        "{output:?}"
    );
}

/// The commands of a list of a YAML file, without their quotes.
fn commands(text: &str, key: &str) -> Vec<String> {
    let mut lines = text.lines().skip_while(|line| line.trim() != format!("{key}:")).skip(1);
    let items = lines.by_ref().take_while(|line| line.starts_with("    "));
    let commands = items.filter_map(|line| line.trim().strip_prefix("- "));
    commands.map(|command| command.trim_matches('\'').to_owned()).collect()
}

#[test]
fn inputs_of_the_component_are_texts_and_no_commands() {
    let kit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci");
    let component = fs::read_to_string(kit.join("gitlab/gate.yml")).unwrap();
    let action = fs::read_to_string(kit.join("github/action.yml")).unwrap();
    let (_, action) = action.split_once("\nruns:\n").unwrap();
    // An input is the value of a variable, and nowhere within a command.
    for line in
        action.lines().chain(component.lines()).filter(|line| line.contains("[[ ") || line.contains("${{"))
    {
        let key = line.trim().split_once(": ").map_or("", |(key, _)| key);
        let is_variable =
            !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        assert!(is_variable || ["job", "tags"].contains(&key), "{line}");
    }
    let folder = tempfile::tempdir().unwrap();
    let (program, calls) = (folder.path().join("a kit/gpu-time"), folder.path().join("calls"));
    fs::create_dir_all(folder.path().join("a kit")).unwrap();
    fs::write(&program, "#!/bin/sh\nprintf '<%s>' \"$@\" >>calls\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(folder.path().join("gpu-time")).unwrap();
    fs::write(folder.path().join("gpu-time/comment.md"), "slower").unwrap();
    let hostile = "x; touch planted $(touch planted) *";
    for (shell, key) in [("sh", "script"), ("bash", "script"), ("sh", "after_script")] {
        let commands = commands(&component, key);
        assert!(
            !commands.is_empty() && commands.iter().all(|command| !command.contains("[[ ")),
            "{commands:?}"
        );
        let mut job = Command::new(shell);
        job.args(["-e", "-c", &commands.join("\n")]).current_dir(folder.path());
        job.env("GPU_TIME_KIT", "a kit").env("GPU_TIME_FLAGS", "--kernel 5% *").env("GITLAB_TOKEN", "t");
        for name in ["RECORD", "BASELINE", "CANDIDATE", "RUNS"] {
            job.env(format!("GPU_TIME_{name}"), hostile);
        }
        let ran = job.output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        let expected = match key {
            "script" => format!("<gate><--runs>{}<--kernel><5%><*>", format!("<{hostile}>").repeat(4)),
            _ => "<comment><gpu-time/comment.md>".to_owned(),
        };
        assert_eq!(fs::read_to_string(&calls).unwrap(), expected, "{shell}");
        fs::remove_file(&calls).unwrap();
        assert!(!folder.path().join("planted").exists(), "an input was executed");
    }
}
