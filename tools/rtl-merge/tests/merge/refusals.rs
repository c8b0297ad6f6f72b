//! Refused inputs and outputs, which are not harmed.

use support::{Job, Options};

use crate::{Folder, ranks};

fn two_ranks() -> Folder {
    Folder::of(&Job { nodes: 1, ranks_per_node: 2, steps: 2, kernels: 3, ..Job::default() })
}

#[test]
fn a_corrupt_trace_fails_the_merge_and_leaves_the_old_output() {
    let folder = two_ranks();
    folder.merge("-o all.db rank0.db rank1.db");
    let before = std::fs::read(folder.path("all.db")).unwrap();
    let bytes = std::fs::read(folder.path("rank1.db")).unwrap();
    std::fs::write(folder.path("cut.db"), &bytes[..bytes.len() / 2]).unwrap();
    let files = folder.files();
    let run = folder.run("--force -o all.db rank0.db cut.db");
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.messages.contains("cut.db"), "{run:?}");
    assert!(run.messages.ends_with("hint: `--allow unreadable` merges the others\n"), "{run:?}");
    assert_eq!(std::fs::read(folder.path("all.db")).unwrap(), before);
    assert_eq!(folder.files(), files);
}

#[test]
fn keep_going_merges_the_good_ones_and_lists_the_others() {
    let folder = two_ranks();
    std::fs::write(folder.path("bad.db"), "no trace").unwrap();
    let run = folder.run("--allow unreadable --print json -o all.db rank0.db bad.db rank1.db");
    assert_eq!(run.code, 3);
    let report: serde_json::Value = serde_json::from_str(&run.answer).unwrap();
    assert_eq!(report["inputs"].as_array().unwrap().len(), 2);
    assert!(report["failures"][0].as_str().unwrap().contains("bad.db"), "{report:#}");
    assert_eq!(folder.tables("all.db").processes.len(), 2);
}

/// Damages what only the merge itself reads of a trace: the last page of the arguments of its calls.
fn damage_late(folder: &Folder, file: &str) {
    let path = folder.path(file);
    let trace = support::rusqlite::Connection::open(&path).unwrap();
    trace
        .execute_batch(
            "create table rocpd_arg (id integer primary key, api_id integer, position integer, type integer,
                 name integer, value integer);
             with recursive rows(id) as (select 1 union all select id + 1 from rows where id < 3000)
             insert into rocpd_arg select id, 1, id, 1, 1, 1 from rows;",
        )
        .unwrap();
    let size: u32 = trace.query_row("pragma page_size", [], |row| row.get(0)).unwrap();
    drop(trace);
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let last = file.metadata().unwrap().len() - u64::from(size);
    std::os::unix::fs::FileExt::write_all_at(&file, &vec![0xee; size as usize], last).unwrap();
}

#[test]
fn a_trace_that_turns_out_to_be_damaged_while_it_is_merged_is_left_out_as_well() {
    let job = Job { nodes: 2, ranks_per_node: 2, steps: 8, kernels: 3, api: true, ..Job::default() };
    let folder = Folder::of(&job);
    folder.merge("-o good.db rank0.db rank3.db");
    for file in ["rank1.db", "rank2.db"] {
        damage_late(&folder, file);
    }
    let files = folder.files();
    let run = folder.run(&format!("-o all.db {}", ranks(4)));
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.messages.contains("rank1.db"), "{run:?}");
    assert_eq!(folder.files(), files, "nothing is left behind");
    let run = folder.run(&format!("--allow unreadable --print json -o all.db {}", ranks(4)));
    assert_eq!(run.code, 3, "{run:?}");
    let report: serde_json::Value = serde_json::from_str(&run.answer).unwrap();
    assert_eq!(report["inputs"].as_array().unwrap().len(), 2);
    for (at, file) in ["rank1.db", "rank2.db"].into_iter().enumerate() {
        assert!(report["failures"][at].as_str().unwrap().contains(file), "{report:#}");
        assert!(run.messages.contains(file), "{run:?}");
    }
    let [all, good] = ["all.db", "good.db"].map(|file| std::fs::read(folder.path(file)).unwrap());
    assert!(all == good, "something of the damaged traces is there");
}

#[test]
fn ranks_that_repeat_are_refused_with_their_files() {
    let folder = two_ranks();
    let run = folder.run("-o all.db --set-rank rank0.db=1 rank0.db rank1.db");
    let expected = "rtl-merge: error: 2 traces are rank 1: rank0.db, rank1.db\n\
                    hint: --set-rank FILE=N says which rank each of them is\n";
    assert_eq!((run.code, run.messages.as_str()), (3, expected));
}

#[test]
fn a_trace_without_rank_among_others_with_one_is_refused_or_allowed() {
    let folder = two_ranks();
    support::generate(&Options { ops: 10, ..Options::default() }, &folder.path("x.db")).unwrap();
    let run = folder.run("-o all.db rank0.db x.db");
    assert_eq!(run.code, 3);
    assert!(run.messages.starts_with("rtl-merge: error: 1 of 2 traces have no rank: x.db\n"), "{run:?}");
    folder.merge("-o all.db --allow missing-ranks rank0.db x.db");
}

#[test]
fn traces_of_two_runs_are_refused_without_force() {
    let folder = two_ranks();
    let other = support::rusqlite::Connection::open(folder.path("rank1.db")).unwrap();
    other.execute("update rocpd_metadata set value = 'job-18' where tag = 'run_id'", []).unwrap();
    drop(other);
    let run = folder.run("-o all.db rank0.db rank1.db");
    let expected = "rtl-merge: error: rank0.db and rank1.db are of different runs: run job-17, run job-18\n\
                    hint: `--allow different-runs` merges them all the same\n";
    assert_eq!((run.code, run.messages.as_str()), (3, expected));
    folder.merge("--allow different-runs -o all.db rank0.db rank1.db");
}

#[test]
fn no_row_is_merged_twice() {
    let folder = two_ranks();
    assert_eq!(folder.run("-o all.db rank0.db rank0.db").code, 2);
    std::fs::copy(folder.path("rank0.db"), folder.path("copy.db")).unwrap();
    let run = folder.run("-o all.db rank0.db copy.db");
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.messages.contains("error: copy.db and rank0.db have the same rows\n"), "{run:?}");
    folder.merge(&format!("-o all.db {}", ranks(2)));
    let run = folder.run("-o more.db all.db rank1.db");
    assert!(run.messages.contains("all.db and rank1.db have the same rows\n"), "{run:?}");
}

#[test]
fn an_input_is_never_the_output_and_a_foreign_file_is_not_replaced() {
    let folder = two_ranks();
    let run = folder.run("-o rank0.db rank0.db rank1.db");
    assert_eq!(run.code, 2, "{run:?}");
    let before = std::fs::read(folder.path("rank1.db")).unwrap();
    let run = folder.run("-o rank1.db rank0.db");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.messages.contains("rank1.db exists"), "{run:?}");
    assert_eq!(std::fs::read(folder.path("rank1.db")).unwrap(), before);
}

#[test]
fn only_a_native_trace_of_the_default_name_is_replaced_without_force() {
    let folder = two_ranks();
    for line in ["rank0.db", "rank0.db rank1.db"] {
        assert_eq!(folder.run(line).code, 0, "{line}");
    }
    let merged = std::fs::read(folder.path("merged.db")).unwrap();
    let run = folder.run("-o merged.db rank0.db");
    assert!(run.code == 2 && run.messages.contains("merged.db exists"), "{run:?}");
    assert_eq!(std::fs::read(folder.path("merged.db")).unwrap(), merged);
    std::fs::write(folder.path("merged.db"), "notes").unwrap();
    let run = folder.run("rank0.db rank1.db");
    assert!(run.code == 2 && run.messages.contains("merged.db exists"), "{run:?}");
}

#[test]
fn check_reports_and_writes_nothing() {
    let folder = two_ranks();
    let files = folder.files();
    let run = folder.run(&format!("--check {}", ranks(2)));
    assert_eq!((run.code, run.messages.as_str()), (0, ""));
    assert!(run.answer.contains("node0/gpu1 (rank 1)"), "{}", run.answer);
    assert!(run.answer.contains("\nWork of "), "{}", run.answer);
    assert!(run.answer.ends_with("nothing was written: kernels 16; ranges 4\n"), "{}", run.answer);
    assert_eq!(folder.files(), files);
}

#[test]
fn the_closing_line_tells_rows_in_and_out_of_every_table() {
    let folder = two_ranks();
    let run = folder.run(&format!("-o all.db {}", ranks(2)));
    assert!(run.answer.ends_with("all.db: kernels 16 in, 16 out; ranges 4 in, 4 out\n"), "{}", run.answer);
}

#[test]
fn what_was_merged_can_be_rpd() {
    let folder = two_ranks();
    folder.merge(&format!("-o all.rpd {}", ranks(2)));
    let tables = folder.tables("all.rpd");
    assert_eq!(tables.info.dialect, rtl_schema::Dialect::Rpd3);
    assert_eq!(tables.dispatches.len(), 16);
}
