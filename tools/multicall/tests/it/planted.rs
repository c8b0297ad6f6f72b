//! Files that somebody has planted, names that control a terminal, and limits that are reached: no tool hangs, fills the memory or
//! is silent, and none gives away what was private.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use support::Options;

/// Runs `rtl` in a folder with 4 GiB of addresses, for at most a minute, after these words of a shell.
fn rtl_after(folder: &Path, before: &str, line: &[&str]) -> Output {
    let script = format!("ulimit -v 4194304; {before} exec timeout 60 \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_rtl")]).args(line).current_dir(folder);
    command.env("TMPDIR", folder).output().unwrap()
}

fn rtl(folder: &Path, line: &[&str]) -> Output {
    rtl_after(folder, "", line)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Holds that a run ends with one of these codes, one line of an error, which has these words, and a hint.
fn assert_refused(run: &Output, codes: &[i32], words: &str) {
    let messages = text(&run.stderr);
    let code = run.status.code();
    assert!(code.is_some_and(|code| codes.contains(&code)), "{:?}: {messages}", run.status);
    let lines: Vec<&str> = messages.lines().collect();
    let [error, hint] = lines[..] else { panic!("{messages}") };
    assert!(error.starts_with("rtl: error: ") && error.contains(words), "{messages}");
    assert!(hint.starts_with("hint: "), "{messages}");
}

fn trace(folder: &Path, name: &str) {
    let options = Options { ops: 2_000, api: true, ranges: true, ..Options::default() };
    support::generate(&options, &folder.join(name)).unwrap();
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Plants files at a path that are none to read whole.
fn plants() -> [fn(&Path); 3] {
    [
        fifo,
        |path| symlink("/dev/zero", path).unwrap(),
        |path| {
            fs::File::create(path).unwrap().set_len(1 << 40).unwrap();
        },
    ]
}

#[test]
fn files_beside_a_trace_are_read_only_where_they_are_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    trace(path, "a.db");
    for plant in plants() {
        plant(&path.join("planted"));
        for line in [
            ["summary", "a.db", "--categories", "planted"].as_slice(),
            &["report", "a.db", "--categories", "planted", "-o", "-"],
            &["diff", "a.db", "a.db", "--config", "planted"],
            &["diff", "a.db", "a.db", "--noise", "planted"],
        ] {
            assert_refused(&rtl(path, line), &[2, 3], "planted");
        }
        fs::remove_file(path.join("planted")).unwrap();
    }
}

#[test]
fn files_of_a_data_set_are_read_only_where_they_are_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    trace(path, "a.db");
    let added = rtl(path, &["convert", "a.db", "--to", "dataset", "-o", "set", "--run", "r"]);
    assert!(added.status.success(), "{}", text(&added.stderr));
    let run = path.join("set/job=default/run=r");
    for name in ["_manifest.json", "_trace.json"] {
        let content = fs::read(run.join(name)).unwrap();
        for plant in plants() {
            fs::remove_file(run.join(name)).unwrap();
            plant(&run.join(name));
            for line in
                [["summary", "set"].as_slice(), &["convert", "set/job=default/run=r", "-o", "out.json"]]
            {
                // A run whose manifest is no file is not there.
                assert_refused(&rtl(path, line), &[3], "set");
            }
            fs::remove_file(run.join(name)).unwrap();
            fs::write(run.join(name), &content).unwrap();
        }
    }
    assert!(rtl(path, &["summary", "set"]).status.success(), "the run is whole again");
}

#[test]
fn a_manifest_without_a_table_that_is_there_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    trace(path, "a.db");
    let added = rtl(path, &["convert", "a.db", "--to", "dataset", "-o", "set", "--run", "r"]);
    assert!(added.status.success(), "{}", text(&added.stderr));
    let run = path.join("set/job=default/run=r");
    let manifest = run.join("_manifest.json");
    let mut content: serde_json::Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    content["tables"].as_object_mut().unwrap().remove("dispatches").unwrap();
    fs::write(&manifest, content.to_string()).unwrap();
    let words = "damaged run of a data set (it lacks the table dispatches)";
    assert_refused(&rtl(path, &["summary", "set"]), &[3], words);
    fs::remove_dir_all(run.join("kind=dispatches")).unwrap();
    assert_refused(&rtl(path, &["summary", "set"]), &[3], words);
    if let Some(shared) = support::shared() {
        let planted = shared.join("hostile/manifest-without-dispatches");
        assert_refused(&rtl(path, &["summary", planted.to_str().unwrap()]), &[3], words);
    }
}

#[test]
fn recordings_are_looked_for_among_files_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let left = path.join(".job.db.rtl-trace-abc");
    fs::create_dir(&left).unwrap();
    trace(&left, "host_1.db");
    fifo(&left.join("host_2.db"));
    symlink("/dev/zero", left.join("host_3.db")).unwrap();
    fifo(&left.join("4.refused"));
    fifo(&path.join(".other.db.rtl-trace-abc"));
    for target in [left.join("host_2.db"), left.join("host_3.db")] {
        let run = rtl(path, &["top", "--once", target.to_str().unwrap()]);
        assert_refused(&run, &[3], "no recording of librtl.so");
    }
    let recovered = rtl(path, &["recover", "."]);
    assert!(recovered.status.success(), "{}", text(&recovered.stderr));
    assert!(path.join("job.db").is_file() && !left.exists());
}

#[test]
fn no_name_of_a_file_controls_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let named = |name: &str| format!("{name}\u{1b}[31m\r\u{202e}.db");
    let (one, two) = (named("a"), named("b"));
    trace(path, &one);
    trace(path, &two);
    for name in ["x", "y"] {
        fs::create_dir(path.join(format!(".{}.rtl-trace-abc", named(name)))).unwrap();
        trace(&path.join(format!(".{}.rtl-trace-abc", named(name))), "host_1.db");
    }
    let (database, output, folder) = (named("m"), named("o"), named("f"));
    let (missing, kernel) = (named("missing"), format!("--kernel={}", named("k")));
    for line in [
        ["summary", &one].as_slice(),
        &["summary", &one, &two, "--all"],
        &["summary", &one, &one, "--to", "markdown"],
        &["summary", &missing],
        &["summary", &one, &kernel],
        &["diff", &one, &two],
        &["diff", &one, &missing],
        &["convert", &one, "-o", &output],
        &["convert", &one, "--to", "csv", "-o", &folder],
        &["convert", &one, "--split", "gpu"],
        &["convert", &one, "--to", "dataset", "-o", "set"],
        &["merge", &one, &two, "-o", &database],
        &["merge", &one, &two, "-o", &database],
        &["merge", &one, &two, "--to", "summary", "--format", "json"],
        &["report", &one, &missing],
        &["report", &one, "-o", &one],
        &["top", "--once", &one],
        &["sql", &one, ".traces"],
        &["recover"],
        &["trace", "--recover", &missing],
    ] {
        let run = rtl(path, line);
        let printed = text(&run.stdout) + &text(&run.stderr);
        assert!(!printed.is_empty() || run.status.success(), "{line:?}");
        let raw = printed.chars().find(|&character| ['\u{1b}', '\r', '\u{202e}'].contains(&character));
        assert_eq!(raw, None, "{line:?}: {printed:?}");
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_of_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    trace(path, "a.db");
    let [before, _] = [(); 2].map(|()| fs::read_dir(path).unwrap().count());
    for line in [
        ["convert", "a.db", "--to", "pftrace", "-o", "out.pftrace"].as_slice(),
        &["convert", "a.db", "--to", "perfetto-json", "-o", "out.json"],
        &["convert", "a.db", "--to", "rpd", "-o", "out.rpd"],
        &["convert", "a.db", "--to", "native", "-o", "out.db"],
        &["convert", "a.db", "--to", "csv", "-o", "out"],
        &["convert", "a.db", "--to", "parquet", "-o", "out"],
        &["merge", "a.db", "-o", "out.db"],
        &["report", "a.db", "-o", "out.html"],
        &["summary", "a.db", "--all", "--to", "json", "-o", "out.json"],
    ] {
        let run = rtl_after(path, "ulimit -f 8;", line);
        assert_refused(&run, &[3], "");
        assert!(text(&run.stderr).contains("ulimit -f"), "{line:?}: {}", text(&run.stderr));
        assert_eq!(fs::read_dir(path).unwrap().count(), before, "{line:?} leaves something");
    }
}

/// The permissions of all that is in a folder, and of the folder.
fn modes(path: &Path, modes: &mut Vec<(bool, u32)>) {
    let found = path.symlink_metadata().unwrap();
    modes.push((found.is_dir(), found.permissions().mode() & 0o777));
    for entry in fs::read_dir(path).into_iter().flatten() {
        self::modes(&entry.unwrap().path(), modes);
    }
}

#[test]
fn a_folder_of_outputs_is_as_private_as_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    trace(path, "a.db");
    for (of_input, of_folder, of_file) in
        [(0o600, 0o700, 0o600), (0o640, 0o750, 0o640), (0o644, 0o755, 0o644)]
    {
        fs::set_permissions(path.join("a.db"), fs::Permissions::from_mode(of_input)).unwrap();
        for (name, line) in [
            (
                "set/job=default/run=r",
                ["convert", "a.db", "--to", "dataset", "-o", "set", "--run", "r"].as_slice(),
            ),
            ("set/job=default/run=m", &["merge", "a.db", "--to", "dataset", "-o", "set", "--run", "m"]),
            ("csv", &["convert", "a.db", "--to", "csv", "--split", "gpu", "-o", "csv"]),
            ("parquet", &["convert", "a.db", "--to", "parquet", "-o", "parquet"]),
            ("v3/", &["convert", "a.db", "--to", "rocprofv3-csv", "-o", "v3/"]),
        ] {
            let run = rtl_after(path, "umask 022;", &[line, &["--force"]].concat());
            assert!(run.status.success(), "{line:?}: {}", text(&run.stderr));
            let mut found = Vec::new();
            modes(&path.join(name), &mut found);
            assert!(found.len() > 2, "{name}");
            for (is_folder, mode) in found {
                let expected = if is_folder { of_folder } else { of_file };
                assert_eq!(format!("{mode:o}"), format!("{expected:o}"), "{name} of {of_input:o}");
            }
            fs::remove_dir_all(path.join(name)).unwrap();
        }
    }
}
