//! Inputs and outputs that are no regular files.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::process::Command;

use support::{Layout, Options, generate};

use crate::rocprofv3::Folder;

fn folder() -> Folder {
    let folder = Folder::new();
    let options = Options { layout: Layout::Native, ops: 5_000, ..Options::default() };
    generate(&options, &folder.path("in.db")).unwrap();
    folder
}

/// Exit code and messages of a script that calls the program as `$RTL`.
fn shell(folder: &Folder, script: &str) -> (i32, String) {
    let mut shell = Command::new("bash");
    shell.args(["-c", script]).current_dir(folder.path("")).env("RTL", env!("CARGO_BIN_EXE_rtl-convert"));
    let output = shell.output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_pipe_is_converted_as_its_content_is() {
    let folder = folder();
    folder.answer("--quiet in.db -o expected.json");
    let expected = fs::read(folder.path("expected.json")).unwrap();
    for input in ["cat in.db | $RTL --quiet - -o out.json", "$RTL --quiet <(cat in.db) -o out.json"] {
        assert_eq!(shell(&folder, input), (0, String::new()));
        assert!(fs::read(folder.path("out.json")).unwrap() == expected, "{input}");
        fs::remove_file(folder.path("out.json")).unwrap();
    }
    let (code, messages) = shell(&folder, "cat in.db | $RTL -");
    assert_eq!(code, 2);
    assert!(messages.contains("- has no name for the output\nhint: -o FILE names the output"), "{messages}");
}

#[test]
fn every_format_of_one_file_is_written_through_a_fifo() {
    let folder = folder();
    for (format, name) in [
        ("perfetto-json", "a.json"),
        ("pftrace", "a.pftrace"),
        ("native", "a_native.db"),
        ("rpd", "a.rpd"),
        ("rocprofv3-json", "a_results.json"),
        ("rocpd", "a_results.db"),
    ] {
        folder.answer(&format!("--quiet in.db --to {format} -o {name}"));
        for force in ["", "--force"] {
            let script = format!(
                "mkfifo fifo; cat fifo > got & $RTL --quiet in.db --to {format} {force} -o fifo; wait"
            );
            assert_eq!(shell(&folder, &script), (0, String::new()), "{format}");
            let same = fs::read(folder.path("got")).unwrap() == fs::read(folder.path(name)).unwrap();
            // The identity of a rocpd database is random.
            assert!(same || format == "rocpd", "{format}");
            assert!(fs::symlink_metadata(folder.path("fifo")).unwrap().file_type().is_fifo());
            fs::remove_file(folder.path("fifo")).unwrap();
        }
    }
}

#[test]
fn folders_of_tables_do_not_replace_a_fifo() {
    let folder = folder();
    for format in ["csv", "parquet"] {
        for force in ["", "--force"] {
            let (code, messages) =
                shell(&folder, &format!("mkfifo fifo 2>&-; $RTL in.db --to {format} {force} -o fifo"));
            assert_eq!(code, 2, "{messages}");
            assert!(fs::symlink_metadata(folder.path("fifo")).unwrap().file_type().is_fifo());
        }
    }
    assert_eq!(folder.files(), ["fifo", "in.db"]);
}

#[test]
fn standard_output_holds_the_output_and_nothing_else() {
    let folder = folder();
    folder.answer("--quiet in.db -o expected.json");
    let expected = fs::read(folder.path("expected.json")).unwrap();
    for script in [
        "$RTL in.db -o /dev/stdout --to perfetto-json > got",
        "$RTL in.db -o /dev/stdout --to perfetto-json | cat > got",
    ] {
        assert_eq!(shell(&folder, script), (0, String::new()));
        assert!(fs::read(folder.path("got")).unwrap() == expected, "{script}");
    }
}
