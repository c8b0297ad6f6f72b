//! The JSON document against its published description.

use support::Job;
use support::json_schema::JsonSchema;

use crate::{Folder, ranks};

#[test]
fn every_kind_of_report_is_as_described() {
    let schema = JsonSchema::read(include_str!("../../../../docs/reference/rtl-merge.schema.json"));
    let folder = Folder::of(&Job { ranks_per_node: 2, steps: 30, kernels: 4, ..Job::default() });
    for line in ["--check", "-o all.db", "--align never -o all.db", "--offset 1=5 -o all.db"] {
        schema.describes(&folder.merge(&format!("{line} {}", ranks(4))));
    }
    std::fs::write(folder.path("bad.db"), "no trace").unwrap();
    let run = folder.run("--force --allow unreadable --print json -o all.db rank0.db bad.db");
    schema.describes(&serde_json::from_str(&run.answer).unwrap());
}
