//! `--max-memory`: a verb that needs more ends with an error and a hint, and leaves nothing behind.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Kernels of as many names, each of which takes memory: about 100 MB in all.
const KERNELS: usize = 400_000;

fn large(path: &Path) {
    let mut text =
        r#"{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"AMD"}],"traceEvents":["#.to_owned();
    for number in 0..KERNELS {
        let before = if number > 0 { "," } else { "" };
        write!(
            text,
            r#"{before}{{"ph":"X","cat":"kernel","name":"void a_kernel_with_a_name_of_its_own_{number}(float*)","pid":0,"tid":7,"ts":{},"dur":0.5,"args":{{"device":0,"stream":7}}}}"#,
            number + 1
        )
        .unwrap();
    }
    fs::write(path, text + "]}").unwrap();
}

fn run(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtl"));
    command.args(line.split(' ')).current_dir(folder).output().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn what_needs_more_memory_ends_with_a_hint_and_without_an_output() {
    let folder = tempfile::tempdir().unwrap();
    large(&folder.path().join("a.json"));
    fs::copy(folder.path().join("a.json"), folder.path().join("b.json")).unwrap();
    for line in [
        "summary a.json",
        "summary --to json -o out.json a.json b.json",
        "report -o out.html a.json",
        "diff -o out.json a.json b.json",
        "merge -o out.db a.json b.json",
        "convert -o out.pftrace a.json",
        "convert --time 10%..20% -o out.rpd a.json",
    ] {
        let ran = run(folder.path(), &format!("{line} --max-memory 40M"));
        let messages = String::from_utf8(ran.stderr).unwrap();
        assert_eq!((ran.status.code(), ran.stdout.as_slice()), (Some(3), &[][..]), "{line}: {messages}");
        let expected = ["a.json", "b.json"].map(|file| {
            format!(
                "rtl: error: {file}: more than 40.00 MiB of memory are needed\nhint: --max-memory 80M allows more\n"
            )
        });
        assert!(expected.contains(&messages), "{line}: {messages}");
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["a.json", "b.json"], "{line}");
    }
    let ran = run(folder.path(), "summary -q --max-memory 2G a.json");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
