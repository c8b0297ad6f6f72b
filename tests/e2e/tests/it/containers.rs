//! Tests of processes with the same number, as the first ones of two containers have, and one folder.

use std::process::Command;

use e2e::Process;
use e2e::family::{assert_each_recorded, counts};
use support::{Need, skip};

/// The command that starts a program as the first process of a container. `None` after one printed line, where that is not
/// permitted.
fn container() -> Option<&'static str> {
    let containers = ["unshare --pid --fork", "unshare --map-root-user --pid --fork"];
    let is_permitted = |container: &&str| {
        let mut words = container.split(' ').chain(["true"]);
        Command::new(words.next().unwrap()).args(words).output().is_ok_and(|output| output.status.success())
    };
    let permitted = containers.into_iter().find(is_permitted);
    if permitted.is_none() {
        skip(Need::Machine, "no process may be the first one of a container (unshare --pid)");
    }
    permitted
}

#[test]
fn two_processes_of_one_number_have_two_files() {
    let (Some(container), Some(process)) = (container(), Process::new("forks")) else { return };
    let both = format!("{container} \"$@\" & {container} \"$@\" & wait");
    let process = process.arguments(&["begin", "range", "work", "end"]);
    let outcome = process.started_by(&["sh", "-c", &both, "sh"]).preloaded().well();
    let traces = assert_each_recorded(&outcome);
    assert_eq!(counts(&traces), [(20, 2), (20, 2)]);
    assert_eq!(traces.into_keys().collect::<Vec<_>>(), ["1"], "they cannot be told apart by it");
}
