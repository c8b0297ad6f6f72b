//! A merge that is killed harms nothing, and another one goes on where it was. `RTL_KILLS=50` kills as often.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::os::unix::fs::DirBuilderExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use support::Job;

use crate::{Folder, ranks};

const RANKS: u32 = 12;

fn folder(steps: u32) -> Folder {
    Folder::of(&Job { nodes: 3, ranks_per_node: 4, steps, kernels: 30, api: true, ..Job::default() })
}

fn start(folder: &Folder, more: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-merge"));
    let line = format!("--quiet -o all.db {more} {}", ranks(RANKS));
    command.args(line.split_whitespace()).current_dir(folder.0.path());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn inputs(folder: &Folder) -> Vec<Vec<u8>> {
    (0..RANKS).map(|rank| std::fs::read(folder.path(&format!("rank{rank}.db"))).unwrap()).collect()
}

/// The checkpoint of the merge that is going on, once it has one.
fn checkpoint(folder: &Folder) -> Option<usize> {
    let files = folder.files();
    let checkpoint = files.iter().find(|file| file.starts_with(".all.db.rtl-merge-"))?;
    let state = std::fs::read(folder.path(checkpoint).join("state")).ok()?;
    Some(u64::from_le_bytes(*state[16..].first_chunk::<8>()?) as usize)
}

/// Kills the merge when `now` says so, or lets it end if that never happens; then goes on and compares.
fn interrupted(folder: &Folder, expected: &[u8], mut now: impl FnMut() -> bool) {
    let before = inputs(folder);
    let mut child = start(folder, "");
    while child.try_wait().unwrap().is_none() {
        if now() {
            child.kill().unwrap();
            break;
        }
    }
    child.wait().unwrap();
    assert!(inputs(folder) == before, "an input was changed");
    let output = folder.path("all.db");
    assert!(!output.exists() || std::fs::read(&output).unwrap() == expected, "half an output");
    let run = folder.run(&format!("--resume --force -o all.db {}", ranks(RANKS)));
    assert_eq!((run.code, run.messages.as_str()), (0, ""));
    assert!(std::fs::read(&output).unwrap() == expected, "another content");
    assert!(!folder.files().iter().any(|file| file.starts_with('.')), "{:?}", folder.files());
    std::fs::remove_file(&output).unwrap();
}

fn uninterrupted(folder: &Folder) -> Vec<u8> {
    folder.merge(&format!("-o all.db {}", ranks(RANKS)));
    let expected = std::fs::read(folder.path("all.db")).unwrap();
    std::fs::remove_file(folder.path("all.db")).unwrap();
    expected
}

#[test]
fn a_killed_merge_is_resumed_to_the_same_bytes() {
    let folder = folder(20);
    let expected = uninterrupted(&folder);
    for done in [1, 6, 11] {
        interrupted(&folder, &expected, || checkpoint(&folder).is_some_and(|at| at >= done));
    }
}

#[test]
fn what_another_merge_has_left_is_not_gone_on_with() {
    let folder = folder(2);
    let expected = uninterrupted(&folder);
    let left = folder.path(".all.db.rtl-merge-left");
    std::fs::DirBuilder::new().mode(0o700).create(&left).unwrap();
    for (file, bytes) in [("state", vec![7; 100]), ("part", vec![1; 9_000]), ("texts", Vec::new())] {
        std::fs::write(left.join(file), bytes).unwrap();
    }
    folder.merge(&format!("--resume -o all.db {}", ranks(RANKS)));
    assert!(std::fs::read(folder.path("all.db")).unwrap() == expected);
}

#[test]
fn whenever_it_is_killed_nothing_is_harmed() {
    let kills: u32 = std::env::var("RTL_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(3);
    let folder = folder(40);
    let expected = uninterrupted(&folder);
    let begun = std::time::Instant::now();
    uninterrupted(&folder);
    let whole = begun.elapsed();
    for _ in 0..kills {
        // Any moment of the time that it takes; which ones does not matter to what must hold.
        let share = RandomState::new().hash_one(0) % 1_000;
        let until = std::time::Instant::now() + whole.mul_f64(share as f64 / 1_000.0);
        interrupted(&folder, &expected, || {
            std::thread::sleep(Duration::from_micros(200));
            std::time::Instant::now() >= until
        });
    }
}
