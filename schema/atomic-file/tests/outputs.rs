//! Outputs appear whole or not at all, and nothing else is harmed.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use atomic_file::{AtomicDir, AtomicFile, Destination, Error, IfExists, NamedDir, Options, PrivateDir};
use platform::folder::PrivateFolder;
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::process::{Pid, Signal, kill_process};

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

const REPLACE: Options<'static> = Options { if_exists: IfExists::Replace, inputs: &[] };
const FAIL: Options<'static> = Options { if_exists: IfExists::Fail, inputs: &[] };

fn write(path: &Path, options: &Options<'_>, content: &str) -> std::result::Result<(), Error> {
    AtomicFile::write(path, options, |writer| writer.write_all(content.as_bytes()))
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    let mut names: Vec<String> =
        entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn mode(path: &Path) -> Result<u32> {
    Ok(fs::metadata(path)?.mode() & 0o777)
}

#[test]
fn a_file_appears_when_it_is_complete_and_is_replaced_only_on_request() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("out.json");
    let file = AtomicFile::create(&path, &FAIL)?;
    file.writer()?.write_all(b"half")?;
    assert!(!path.exists());
    drop(file);
    assert!(names(folder.path())?.is_empty(), "an abandoned file leaves nothing");
    write(&path, &FAIL, "first")?;
    assert!(matches!(write(&path, &FAIL, "second"), Err(Error::Exists { .. })));
    write(&path, &REPLACE, "third")?;
    assert_eq!(fs::read_to_string(&path)?, "third");
    assert_eq!(names(folder.path())?, ["out.json"]);
    Ok(())
}

#[test]
fn a_name_that_is_taken_meanwhile_is_not_overwritten() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("out.json");
    let file = AtomicFile::create(&path, &FAIL)?;
    fs::write(&path, "other")?;
    assert!(matches!(file.commit(), Err(Error::Exists { .. })));
    assert_eq!(fs::read_to_string(&path)?, "other");
    Ok(())
}

#[test]
fn an_input_is_never_overwritten_under_any_of_its_names() -> Result {
    let folder = tempfile::tempdir()?;
    let [input, hard, soft] = ["in.db", "hard.db", "soft.db"].map(|name| folder.path().join(name));
    fs::write(&input, "trace")?;
    fs::hard_link(&input, &hard)?;
    symlink("in.db", &soft)?;
    let options = Options { if_exists: IfExists::Replace, inputs: &[&input] };
    for output in [&input, &hard, &soft] {
        assert!(
            matches!(write(output, &options, "lost"), Err(Error::IsInput { .. })),
            "{}",
            output.display()
        );
    }
    assert_eq!(fs::read_to_string(&input)?, "trace");
    Ok(())
}

#[test]
fn a_link_stays_and_the_file_behind_it_is_replaced() -> Result {
    let folder = tempfile::tempdir()?;
    let [data, link, chain, dangling] =
        ["data/out.json", "link.json", "chain.json", "dangling.json"].map(|name| folder.path().join(name));
    fs::create_dir(folder.path().join("data"))?;
    fs::write(&data, "old")?;
    symlink("data/out.json", &link)?;
    symlink(&link, &chain)?;
    symlink("data/new.json", &dangling)?;
    write(&chain, &REPLACE, "new")?;
    write(&dangling, &REPLACE, "made")?;
    assert_eq!(fs::read_to_string(&data)?, "new");
    assert_eq!(fs::read_to_string(folder.path().join("data/new.json"))?, "made");
    assert!([link, chain, dangling].iter().all(|link| link.is_symlink()));
    Ok(())
}

#[test]
fn a_fifo_is_written_through_without_being_replaced() -> Result {
    let folder = tempfile::tempdir()?;
    let fifo = folder.path().join("out.json");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
    let link = folder.path().join("link.json");
    symlink("out.json", &link)?;
    for path in [&fifo, &link] {
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || fs::read_to_string(fifo)
        });
        write(path, &FAIL, "streamed")?;
        assert_eq!(reader.join().map_err(|_| "the reader panicked")??, "streamed");
    }
    // A writer that needs a file gets one, whose content follows at the end.
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || fs::read_to_string(fifo)
    });
    let file = AtomicFile::create(&fifo, &FAIL)?;
    fs::write(file.place(), "copied")?;
    file.commit()?;
    assert_eq!(reader.join().map_err(|_| "the reader panicked")??, "copied");
    assert!(fs::symlink_metadata(&fifo)?.file_type().is_fifo());
    Ok(())
}

#[test]
fn a_stream_gets_the_content_of_a_deferred_or_adopted_file_at_the_end() -> Result {
    let folder = tempfile::tempdir()?;
    let fifo = folder.path().join("out.db");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
    let read = || {
        let fifo = fifo.clone();
        std::thread::spawn(move || fs::read_to_string(fifo))
    };
    let destination = Destination::check(&fifo, &FAIL)?;
    assert!(destination.is_stream());
    // No reader is there yet: opening the FIFO now would block.
    let file = AtomicFile::start(destination.clone().deferred())?;
    let mut writer = file.writer()?;
    writer.write_all(b"deferred")?;
    writer.finish()?;
    let reader = read();
    file.commit()?;
    assert_eq!(reader.join().map_err(|_| "the reader panicked")??, "deferred");

    let private = PrivateDir::create_in(&std::env::temp_dir())?;
    let part = private.path().join("part");
    fs::write(&part, "adopted")?;
    let mut file = AtomicFile::start(destination)?;
    file.adopt(&part)?;
    let reader = read();
    file.commit()?;
    assert_eq!(reader.join().map_err(|_| "the reader panicked")??, "adopted");
    assert!(fs::symlink_metadata(&fifo)?.file_type().is_fifo());
    Ok(())
}

#[test]
fn a_link_in_place_of_a_temporary_is_not_followed() -> Result {
    let folder = tempfile::tempdir()?;
    let [output, victim] = ["out.db", "victim"].map(|name| folder.path().join(name));
    fs::write(&victim, "precious")?;
    let file = AtomicFile::create(&output, &FAIL)?;
    let temporary = names(folder.path())?.into_iter().find(|name| name.starts_with('.')).ok_or("no file")?;
    let temporary = folder.path().join(temporary);
    fs::remove_file(&temporary)?;
    symlink(&victim, &temporary)?;
    fs::write(file.place(), "lost")?;
    assert_eq!(fs::read_to_string(&victim)?, "precious");
    Ok(())
}

#[test]
fn a_private_folder_is_used_through_its_descriptor() -> Result {
    let folder = tempfile::tempdir()?;
    let private = PrivateDir::create_in(folder.path())?;
    assert_eq!(mode(private.name())?, 0o700);
    let (moved, victim) = (folder.path().join("moved"), folder.path().join("victim"));
    fs::create_dir(&victim)?;
    fs::rename(private.name(), &moved)?;
    symlink(&victim, private.name())?;
    fs::write(private.path().join("part"), "mine")?;
    assert_eq!(fs::read_to_string(moved.join("part"))?, "mine");
    assert!(names(&victim)?.is_empty());
    Ok(())
}

#[test]
fn a_folder_of_others_or_behind_a_link_is_not_taken_for_an_own_one() -> Result {
    let folder = tempfile::tempdir()?;
    let [own, open, link] = ["own", "open", "link"].map(|name| folder.path().join(name));
    fs::create_dir(&own)?;
    fs::set_permissions(&own, Permissions::from_mode(0o700))?;
    fs::create_dir(&open)?;
    fs::set_permissions(&open, Permissions::from_mode(0o755))?;
    symlink(&own, &link)?;
    assert!(PrivateFolder::open(&own).is_ok());
    assert!(PrivateFolder::open(&link).is_err());
    let refused = PrivateFolder::open(&open).map(drop).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
    // Only root can give a folder away.
    if std::os::unix::fs::chown(&own, Some(65_534), None).is_ok() {
        assert!(PrivateFolder::open(&own).is_err());
    }
    Ok(())
}

#[test]
fn a_named_folder_is_found_again_and_removed_with_its_files() -> Result {
    let folder = tempfile::tempdir()?;
    let named = NamedDir::create_in(folder.path(), ".out.db.work-")?;
    fs::write(named.path().join("state"), "half")?;
    let again = NamedDir::open(named.name())?;
    assert_eq!(fs::read_to_string(again.path().join("state"))?, "half");
    again.remove();
    assert!(names(folder.path())?.is_empty());
    Ok(())
}

#[test]
fn only_a_folder_is_replaced_by_a_folder() -> Result {
    let folder = tempfile::tempdir()?;
    let fifo = folder.path().join("tables");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
    assert!(matches!(AtomicDir::create(&fifo, &REPLACE), Err(Error::Exists { .. })));
    fs::remove_file(&fifo)?;
    let directory = AtomicDir::create(&fifo, &REPLACE)?;
    fs::write(&fifo, "taken meanwhile")?;
    assert!(directory.commit().is_err());
    assert_eq!(fs::read_to_string(&fifo)?, "taken meanwhile");
    Ok(())
}

#[test]
fn a_device_is_written_through_without_being_replaced() -> Result {
    let folder = tempfile::tempdir()?;
    let device = folder.path().join("null");
    if mknodat(CWD, &device, FileType::CharacterDevice, Mode::from_raw_mode(0o666), makedev(1, 3)).is_err()
        || OpenOptions::new().write(true).open(&device).is_err()
    {
        support::skip(support::Need::Machine, "device nodes cannot be made here");
        return Ok(());
    }
    let link = folder.path().join("link");
    symlink("null", &link)?;
    for path in [&device, &link] {
        write(path, &FAIL, "gone")?;
        write(path, &REPLACE, "gone")?;
        assert!(fs::symlink_metadata(&device)?.file_type().is_char_device());
    }
    assert!(link.is_symlink());
    Ok(())
}

#[test]
fn an_open_file_under_proc_is_written_through() -> Result {
    use std::os::fd::AsRawFd;
    let mut file = tempfile::tempfile()?;
    file.write_all(b"before, ")?;
    write(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())), &FAIL, "after")?;
    let mut content = String::new();
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?.read_to_string(&mut content)?;
    assert_eq!(content, "before, after");
    Ok(())
}

#[test]
fn a_folder_is_no_file() -> Result {
    let folder = tempfile::tempdir()?;
    assert!(matches!(write(folder.path(), &REPLACE, ""), Err(Error::IsFolder { .. })));
    Ok(())
}

#[test]
fn group_and_others_read_an_output_only_if_they_read_every_input() -> Result {
    let folder = tempfile::tempdir()?;
    let [open, closed, out] = ["open.db", "closed.db", "out.db"].map(|name| folder.path().join(name));
    for (path, mode) in [(&open, 0o644), (&closed, 0o600)] {
        fs::write(path, "trace")?;
        fs::set_permissions(path, Permissions::from_mode(mode))?;
    }
    for (inputs, expected) in [(&[open.as_path()][..], mode(&open)?), (&[&open, &closed], 0o600)] {
        write(&out, &Options { if_exists: IfExists::Replace, inputs }, "copy")?;
        assert_eq!(mode(&out)? & !expected, 0, "{inputs:?}");
    }
    let inputs: &[&Path] = &[&closed];
    let made = folder.path().join("tables");
    let directory = AtomicDir::create(&made, &Options { if_exists: IfExists::Fail, inputs })?;
    fs::write(directory.place().join("a.csv"), "a")?;
    directory.commit()?;
    assert_eq!(mode(&made)?, 0o700);
    Ok(())
}

#[test]
fn a_folder_appears_whole_and_replaces_another_one() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("tables");
    for (options, content) in [(FAIL, "old"), (REPLACE, "new")] {
        let directory = AtomicDir::create(&path, &options)?;
        fs::write(directory.place().join(format!("{content}.csv")), content)?;
        directory.commit()?;
        assert_eq!(names(&path)?, [format!("{content}.csv")]);
        assert_eq!(names(folder.path())?, ["tables"]);
    }
    assert!(matches!(AtomicDir::create(&path, &FAIL), Err(Error::Exists { .. })));
    let input = path.join("new.csv");
    let options = Options { if_exists: IfExists::Replace, inputs: &[&input] };
    assert!(matches!(AtomicDir::create(&path, &options), Err(Error::HoldsInput { .. })));
    Ok(())
}

#[test]
fn of_several_files_all_appear_or_none() -> Result {
    let folder = tempfile::tempdir()?;
    let paths = ["a.csv", "b.csv"].map(|name| folder.path().join(name));
    let create = |path: &PathBuf| AtomicFile::create(path, &FAIL);
    let files = paths.iter().map(create).collect::<std::result::Result<Vec<_>, _>>()?;
    fs::write(&paths[1], "other")?;
    assert!(AtomicFile::commit_all(files).is_err());
    assert_eq!(names(folder.path())?, ["b.csv"]);
    Ok(())
}

/// The variable that makes a test the writer which is killed, with the path of its output.
const OUTPUT: &str = "ATOMIC_FILE_TEST_OUTPUT";

/// Starts this test as another process that writes half a file and a folder and waits.
fn writer(test: &str, output: &Path) -> Result<Child> {
    let mut child = Command::new(std::env::current_exe()?)
        .args([test, "--exact", "--nocapture"])
        .env(OUTPUT, output)
        .stdout(Stdio::piped())
        .spawn()?;
    let lines = child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines);
    lines
        .map_while(std::result::Result::ok)
        .find(|line| line.ends_with("half"))
        .ok_or("nothing was written")?;
    Ok(child)
}

#[expect(clippy::print_stdout, reason = "the test waits for it")]
fn write_half_and_wait() -> Result {
    let Some(output) = std::env::var_os(OUTPUT) else { return Ok(()) };
    atomic_file::remove_on_signals();
    let file = AtomicFile::create(Path::new(&output), &FAIL)?;
    let directory = AtomicDir::create(&Path::new(&output).with_extension("folder"), &FAIL)?;
    fs::write(directory.place().join("table.csv"), "half")?;
    file.writer()?.write_all(b"half")?;
    println!("\nhalf");
    std::thread::sleep(std::time::Duration::from_secs(60));
    Err("nobody ended this process".into())
}

fn killed(test: &str, signal: Signal) -> Result {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("out.json");
    let mut child = writer(test, &output)?;
    assert_eq!(names(folder.path())?.len(), 2, "a temporary file and a temporary folder");
    write(&folder.path().join("other.json"), &FAIL, "")?;
    assert_eq!(names(folder.path())?.len(), 3, "those of a living process stay");
    kill_process(Pid::from_child(&child), signal)?;
    assert_eq!(child.wait()?.signal(), Some(signal.as_raw()));
    if signal == Signal::KILL {
        assert_eq!(names(folder.path())?.len(), 3);
        // The next run is another process: this one has looked into the folder before.
        let mut next = writer(test, &output)?;
        assert_eq!(names(folder.path())?.len(), 3, "its own temporaries instead of the orphans");
        kill_process(Pid::from_child(&next), Signal::TERM)?;
        next.wait()?;
    }
    assert_eq!(names(folder.path())?, ["other.json"]);
    Ok(())
}

#[test]
fn an_interrupted_program_leaves_nothing() -> Result {
    if std::env::var_os(OUTPUT).is_some() {
        return write_half_and_wait();
    }
    [Signal::INT, Signal::TERM, Signal::HUP]
        .into_iter()
        .try_for_each(|signal| killed("an_interrupted_program_leaves_nothing", signal))
}

#[test]
fn what_a_killed_program_leaves_is_removed_by_the_next_run() -> Result {
    if std::env::var_os(OUTPUT).is_some() {
        return write_half_and_wait();
    }
    killed("what_a_killed_program_leaves_is_removed_by_the_next_run", Signal::KILL)
}
