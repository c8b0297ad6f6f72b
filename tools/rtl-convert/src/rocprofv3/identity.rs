//! The guid of a process, the suffix of its table names.

use std::hash::{Hash, Hasher};

use rtl_schema::{ProcessId, Tables};
use rtl_write::ProcessIdentity;
use rustc_hash::FxHasher;

/// The identity of a process: the guid of rocprofv3, or one of the same form from its start in milliseconds and a hash.
pub fn origin(id: ProcessId, tables: &Tables) -> ProcessIdentity {
    let process = tables.process(id);
    let number = |what: &dyn Fn(&mut FxHasher)| {
        let mut hasher = FxHasher::default();
        what(&mut hasher);
        hasher.finish()
    };
    let machine = process.machine_id.as_deref().or(process.host.as_deref());
    let node = (number(&|hasher| machine.hash(hasher)) >> 32) as i64 | 1;
    let taken =
        |guid: &str| tables.processes[..id.index()].iter().any(|other| other.guid.as_deref() == Some(guid));
    let guid = process.guid.clone().filter(|guid| is_guid(guid) && !taken(guid)).unwrap_or_else(|| {
        let start = process.start.unwrap_or(0) as u64 / 1_000_000;
        let own = number(&|hasher| (machine, process.pid, process.start, id).hash(hasher));
        format!(
            "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
            start >> 16 & 0xffff_ffff,
            start & 0xffff,
            own >> 52,
            0x8000 | own >> 38 & 0x3fff,
            (own ^ u64::from(id.0) << 20) & 0xffff_ffff_ffff
        )
    });
    ProcessIdentity { guid, node, pid: process.pid.unwrap_or(0), parent: process.ppid }
}

/// Groups of 8, 4, 4, 4 and 12 hexadecimal digits.
fn is_guid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::Process;

    use super::*;

    #[test]
    fn every_process_has_an_identity_of_its_own_and_keeps_one_that_it_has() {
        let kept = "0000ddb5-8903-7903-b269-cd8d3745bb8a".to_owned();
        let known = Process { guid: Some(kept.clone()), ..Process::default() };
        let tables = Tables {
            processes: vec![known.clone(), known, Process::default(), Process::default()],
            ..Tables::default()
        };
        let guids: Vec<String> = (0..4).map(|id| origin(ProcessId(id), &tables).guid).collect();
        assert_eq!(guids[0], kept);
        assert!(guids.iter().all(|guid| is_guid(guid)), "{guids:?}");
        let mut distinct = guids.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 4, "{guids:?}");
    }
}
