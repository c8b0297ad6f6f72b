//! Operators, memory events and calls of torch.profiler in the formats that have them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use rtl_schema::table::AgentKind;
use rtl_schema::{AgentId, NameId, Select, Tables, Trace};
use serde_json::Value;
use support::Need;

use crate::drawing::Folder;

/// Every row of the categories of torch.profiler in words that do not depend on numbers of a file, sorted.
fn rows(tables: &Tables) -> Vec<String> {
    let text = |name: NameId| if name.is_some() { tables.strings.get(name) } else { "" };
    let gpu = |agent: AgentId| Some(tables.agent(agent)).filter(|agent| agent.kind == AgentKind::Gpu);
    let gpu = |agent: AgentId| gpu(agent).map(|agent| agent.number);
    let pid = |process| tables.process(process).pid;
    let mut rows = Vec::new();
    for process in &tables.processes {
        rows.push(format!("process {:?} {:?} {:?}", process.pid, process.rank, process.command));
    }
    for row in tables.dispatches.iter() {
        let track = tables.tracks.get(row.track);
        let shape = row.shape.map(|shape| tables.shapes.get(shape)).unwrap_or_default();
        let registers = row.symbol.and_then(|symbol| tables.symbols[symbol.index()].vgprs);
        let collective = row.collective.map(|id| {
            let stated = tables.collectives.get(id);
            let texts = [stated.operation, stated.communicator, stated.ranks, stated.data_type];
            (texts.map(text), stated.size, stated.sent, stated.received, stated.sequence)
        });
        rows.push(format!(
            "kernel {} {} {:?} {:?} {:?} {:?} {} {:?} {:?} {:?} {registers:?} {collective:?}",
            row.start,
            text(row.name),
            row.duration,
            gpu(track.agent),
            track.stream,
            pid(track.process),
            row.correlation,
            shape.groups,
            shape.workgroup,
            shape.lds,
        ));
    }
    for row in &tables.copies {
        let track = tables.tracks.get(row.track);
        let place = (gpu(track.agent), track.stream, pid(track.process));
        let copy = (row.duration, row.bytes, row.direction, row.correlation);
        rows.push(format!("copy {} {} {place:?} {copy:?}", row.start, text(row.name)));
    }
    for row in tables.api_calls.iter() {
        let texts = [row.name, row.domain, row.args].map(text);
        rows.push(format!(
            "call {} {texts:?} {:?} {:?} {:?}",
            row.start,
            row.duration,
            pid(row.process),
            row.tid
        ));
    }
    for row in tables.operators.iter() {
        let texts = [row.name, row.shapes, row.types, row.strides, row.values].map(text);
        let place = (pid(row.process), row.tid);
        let link = (row.sequence, row.forward_thread);
        rows.push(format!("operator {} {texts:?} {:?} {place:?} {link:?}", row.start, row.duration));
    }
    for row in tables.python_frames.iter() {
        let place = (pid(row.process), row.tid);
        let numbers = (row.number, row.caller, row.module);
        rows.push(format!("frame {} {} {:?} {place:?} {numbers:?}", row.start, text(row.name), row.duration));
    }
    for row in &tables.ranges {
        let texts = [row.name, row.category].map(text);
        rows.push(format!(
            "range {} {texts:?} {:?} {:?} {:?}",
            row.start,
            row.duration,
            pid(row.process),
            row.tid
        ));
    }
    for row in &tables.memory_events {
        let sizes = (row.bytes, row.allocated, row.reserved, row.address);
        rows.push(format!("memory {} {sizes:?} {:?} {:?}", row.time, row.agent.and_then(gpu), row.tid));
    }
    for row in &tables.spans {
        let place = (row.agent.and_then(gpu), row.stream, pid(row.process));
        rows.push(format!(
            "span {} {:?} {} {:?} {place:?}",
            row.start,
            row.kind,
            text(row.name),
            row.duration
        ));
    }
    rows.sort();
    rows
}

fn read(folder: &Folder, name: &str) -> Tables {
    Trace::open(folder.path(name)).unwrap().read(&Select::everything()).unwrap()
}

/// The ends of all arrows from operators to backward operators: threads and times in ns, by Python's decimal numbers.
fn autograd_arrows(path: &Path) -> Option<String> {
    let program = "
import decimal, gzip, json, sys
opened = gzip.open(sys.argv[1]) if sys.argv[1].endswith('.gz') else open(sys.argv[1])
document = json.load(opened, parse_float=decimal.Decimal)
base, ends = document.get('baseTimeNanoseconds', 0), {}
for event in document['traceEvents']:
    if event.get('cat') == 'fwdbwd':
        end = (event['tid'], int(base + decimal.Decimal(event['ts']) * 1000))
        ends.setdefault(event['id'], {})[event['ph']] = end
print('\\n'.join(sorted(str((end['s'], end['f'])) for end in ends.values())))
";
    let output = match Command::new("python3").args(["-c", program]).arg(path).output() {
        Ok(output) => output,
        Err(error) => return support::skipped(Need::Machine, format_args!("no python3 ({error})")),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn operators_point_at_their_backward_operators_as_in_the_original() {
    let Some(shared) = support::shared() else { return };
    for name in
        ["mi250-minitoy.json.gz", "mi300-resnet.json.gz", "h200/averages.json.gz", "h200/stack.json.gz"]
    {
        let path = shared.join("kineto").join(name);
        if !path.exists() {
            return support::skip(Need::Shared, "no traces of torch.profiler beside the checkout");
        }
        let folder = Folder::new();
        std::fs::copy(&path, folder.path("in.json.gz")).unwrap();
        for line in ["in.json.gz -o native.db", "native.db -o out.json"] {
            assert_eq!(folder.run(line).0, 0, "{name}: {line}");
        }
        let Some(before) = autograd_arrows(&path) else { return };
        let after = autograd_arrows(&folder.path("out.json")).unwrap();
        assert!(before.lines().count() >= 4, "{name}");
        assert_eq!(before, after, "{name}");
    }
}

/// The names and labels of processes of the host, by process id.
fn named_processes(path: &Path) -> Vec<(u64, String, String)> {
    let text = schema_text(path);
    let document: Value = serde_json::from_str(&text).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    let stated = |name: &str, key: &str| {
        let of = events.iter().filter(|event| event["ph"] == "M" && event["name"] == name);
        let stated = of.filter_map(|event| Some((event["pid"].as_u64()?, event["args"][key].as_str()?)));
        stated.collect::<BTreeMap<u64, &str>>()
    };
    let (names, labels) = (stated("process_name", "name"), stated("process_labels", "labels"));
    let of_host = labels.iter().filter(|(_, label)| **label == "CPU");
    of_host.map(|(pid, label)| (*pid, names[pid].to_owned(), (*label).to_owned())).collect()
}

/// The text of a file, unpacked.
fn schema_text(path: &Path) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    if path.extension().is_some_and(|ending| ending == "gz") {
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    } else {
        { file }.read_to_string(&mut text).unwrap();
    }
    text
}

#[test]
fn processes_keep_their_names_and_labels() {
    let Some(shared) = support::shared() else { return };
    for name in
        ["mi300-resnet.json.gz", "h200/gpt-memory-rank0.json.gz", "h200/gpt-dist_overlap-rank1.json.gz"]
    {
        let path = shared.join("kineto").join(name);
        if !path.exists() {
            return support::skip(Need::Shared, "no traces of torch.profiler beside the checkout");
        }
        let folder = Folder::new();
        std::fs::copy(&path, folder.path("in.json.gz")).unwrap();
        for line in ["in.json.gz -o native.db", "native.db -o out.json"] {
            assert_eq!(folder.run(line).0, 0, "{name}: {line}");
        }
        let before = named_processes(&path);
        assert_eq!(before.len(), 1, "{name}");
        assert_eq!(before, named_processes(&folder.path("out.json")), "{name}");
    }
}

#[test]
fn what_torch_profiler_has_recorded_comes_back_in_its_own_shape() {
    let Some(shared) = support::shared() else { return };
    for name in [
        "mi250-minitoy.json.gz",
        "mi300-resnet.json.gz",
        "torch-compile-triton.json.gz",
        "h200/averages.json.gz",
        "h200/stack.json.gz",
        "h200/gpt-memory-rank0.json.gz",
        "h200/gpt-graph.json.gz",
        "h200/gpt-dist_overlap-rank1.json.gz",
    ] {
        let path = shared.join("kineto").join(name);
        if !path.exists() {
            return support::skip(Need::Shared, "no traces of torch.profiler beside the checkout");
        }
        let folder = Folder::new();
        std::fs::copy(path, folder.path("in.json.gz")).unwrap();
        for line in [
            "in.json.gz -o native.db",
            "native.db --names mangled -o out.json",
            "in.json.gz --names mangled -o direct.json",
        ] {
            let (code, _, messages) = folder.run(line);
            assert_eq!((code, messages.as_str()), (0, ""), "{name}: {line}");
        }
        let before = rows(&read(&folder, "in.json.gz"));
        for output in ["native.db", "out.json", "direct.json"] {
            let after = rows(&read(&folder, output));
            for (before, after) in before.iter().zip(&after) {
                assert_eq!(before, after, "{name}: {output}");
            }
            assert_eq!(before.len(), after.len(), "{name}: {output}");
        }
    }
}
