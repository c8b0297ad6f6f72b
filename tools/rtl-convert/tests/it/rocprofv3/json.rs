use std::collections::BTreeMap;

use proptest::prelude::*;
use rtl_write::NativeWriter;
use serde_json::{Value, json};

use crate::rocprofv3::lines::held;
use crate::rocprofv3::{Folder, HAZARDS, arbitrary, hostile_names, read, story_of_names};

fn document(folder: &Folder, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.path(name)).unwrap()).unwrap()
}

/// Where values lie and of which type they are.
fn shape(value: &Value, path: &str, found: &mut BTreeMap<String, &'static str>) {
    let kind = match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| shape(value, &format!("{path}.{key}"), found));
            "object"
        }
        Value::Array(items) => {
            // Records of one list are all alike.
            items.iter().take(100).for_each(|item| shape(item, &format!("{path}[]"), found));
            "list"
        }
        Value::String(_) => "text",
        Value::Number(_) => "number",
        Value::Bool(_) => "boolean",
        Value::Null => "null",
    };
    found.insert(path.to_owned(), kind);
}

#[test]
fn hazards_come_back_as_they_were() {
    for (what, story) in HAZARDS {
        let folder = Folder::story(story);
        folder.answer("in.db -o out_results.json");
        let (before, after) = (read(&folder.path("in.db")), read(&folder.path("out_results.json")));
        assert_eq!(held(&after), held(&before), "{what}");
        assert!(after.problems.iter().next().is_none(), "{what}: {:?}", after.problems);
    }
}

#[test]
fn hostile_names_come_back_as_they_were() {
    let folder = Folder::story(&story_of_names(&hostile_names()));
    folder.answer("in.db -o out_results.json");
    assert_eq!(held(&read(&folder.path("out_results.json"))), held(&read(&folder.path("in.db"))));
}

#[test]
fn rows_left_out_are_told_with_the_reason() {
    let folder = Folder::story(HAZARDS[5].1);
    assert_eq!(
        folder.answer("in.db -o out_results.json"),
        "Written out_results.json: 4 rows in, 1 out; left out 1 without an end; left out 1 that end before they start; \
         left out 1 that the format has no place for\n"
    );
}

#[test]
fn an_empty_trace_has_every_list_and_no_record() {
    let folder = Folder::story("");
    folder.answer("in.db -o out.json --to rocprofv3");
    let document = document(&folder, "out.json");
    let process = &document["rocprofiler-sdk-tool"][0];
    let lists = process["buffer_records"].as_object().unwrap();
    assert_eq!(lists.len(), 12);
    assert!(lists.values().all(|list| list.as_array().unwrap().is_empty()));
    assert_eq!(process["kernel_symbols"].as_array().unwrap().len(), 1);
}

#[test]
fn every_kind_and_operation_has_a_name() {
    let folder = Folder::new();
    let options = support::Options { ops: 2_000, api: true, ranges: true, ..support::Options::default() };
    support::generate(&options, &folder.path("in.db")).unwrap();
    folder.answer("in.db -o out_results.json");
    let document = document(&folder, "out_results.json");
    let process = &document["rocprofiler-sdk-tool"][0];
    let mut seen = 0;
    for record in process["buffer_records"].as_object().unwrap().values().flat_map(|l| l.as_array().unwrap())
    {
        let number = |key: &str| record[key].as_u64().unwrap() as usize;
        let kind = &process["strings"]["buffer_records"][number("kind")];
        assert!(kind["operations"][number("operation")].is_string(), "{record}");
        seen += 1;
    }
    assert!(seen > 4_000, "{seen}");
}

#[test]
fn each_process_has_a_file_of_its_own() {
    let folder = Folder::story(
        "INSERT INTO rocpd_metadata(tag, value) VALUES ('process', '{\"pid\":7,\"space\":0}'), ('process', '{\"pid\":8,\"space\":1}');
         INSERT INTO rocpd_string(string) VALUES ('one'), ('two');
         INSERT INTO rocpd_op(gpuId, queueId, start, end, description_id, opType_id, roctxId, pid)
            SELECT 0, 0, 10, 20, (SELECT id FROM rocpd_string WHERE string = 'one'), 2, 0, 7
            UNION ALL SELECT 0, 0, 10, 20, (SELECT id FROM rocpd_string WHERE string = 'two'), 2, 0, 8;",
    );
    let answer = folder.answer("in.db -o out_results.json");
    assert_eq!(answer, "Written out_7_results.json, out_8_results.json: 2 rows in, 2 out\n");
    for (name, kernel, pid) in [("out_7_results.json", "one", 7), ("out_8_results.json", "two", 8)] {
        let tables = read(&folder.path(name));
        assert_eq!(tables.strings.get(tables.dispatches.name[0]), kernel);
        assert_eq!((tables.dispatches.len(), tables.processes[0].pid), (1, Some(pid)));
    }
}

#[test]
fn no_file_is_replaced_unasked_and_none_appears_with_one_that_may_not() {
    let folder = Folder::story(HAZARDS[2].1);
    std::fs::write(folder.path("out_results.json"), "precious").unwrap();
    let (code, _, messages) = folder.run("in.db -o out_results.json");
    assert_eq!(
        (code, messages.as_str()),
        (2, "rtl-convert: error: out_results.json exists\nhint: --force replaces it\n")
    );
    assert_eq!(std::fs::read(folder.path("out_results.json")).unwrap(), b"precious");
    assert_eq!(folder.files(), ["in.db", "out_results.json"]);
    folder.answer("in.db -o out_results.json --force");
    assert_eq!(read(&folder.path("out_results.json")).dispatches.len(), 1);
}

#[test]
fn an_own_json_of_rocprofv3_keeps_its_records_field_by_field() {
    let Some(shared) = support::shared() else { return };
    let folder = Folder::new();
    std::fs::copy(shared.join("golden/rocprofv3/results.json"), folder.path("in.json")).unwrap();
    folder.answer("in.json -o out_results.json");
    let (before, after) = (document(&folder, "in.json"), document(&folder, "out_results.json"));
    let lists = |document: &Value| document["rocprofiler-sdk-tool"][0]["buffer_records"].clone();
    let (before, after) = (lists(&before), lists(&after));
    for (list, records) in before.as_object().unwrap() {
        let [mut expected, mut written] = [records, &after[list]].map(|records| {
            let mut records: Vec<Value> = records.as_array().unwrap().clone();
            for record in &mut records {
                let fields = record.as_object_mut().unwrap();
                // Sizes of C structures, and numbers of functions in another version.
                fields.remove("size");
                if list.ends_with("_api") && list != "marker_api" {
                    fields.remove("operation");
                }
                if let Some(info) = fields.get_mut("dispatch_info") {
                    info.as_object_mut().unwrap().remove("size");
                }
            }
            records
        });
        expected.sort_by_key(Value::to_string);
        written.sort_by_key(Value::to_string);
        assert_eq!(written, expected, "{list}");
    }
}

#[test]
fn a_launch_of_unknown_shape_has_the_sizes_that_readers_need() {
    let folder =
        Folder::story("INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, 10, 20, 'gemm');");
    folder.answer("in.db -o out_results.json");
    let process = &document(&folder, "out_results.json")["rocprofiler-sdk-tool"][0];
    let launch = &process["buffer_records"]["kernel_dispatch"][0]["dispatch_info"];
    let none = json!({ "x": 0, "y": 0, "z": 0 });
    assert_eq!((&launch["grid_size"], &launch["workgroup_size"]), (&none, &none));
    let shape = read(&folder.path("out_results.json")).shapes.rows()[0];
    assert_eq!((shape.items, shape.workgroup), (None, None));
}

#[test]
fn settings_and_symbols_of_rocprofv3_go_from_json_to_json() {
    let symbol = json!({
        "size": 88, "kernel_id": 5, "code_object_id": 1, "kernel_name": "copy.kd", "kernel_object": 140_341_013_919_360_u64,
        "kernarg_segment_size": 384, "kernarg_segment_alignment": 16, "group_segment_size": 0, "private_segment_size": 0,
        "sgpr_count": 32, "arch_vgpr_count": 8, "accum_vgpr_count": 0, "kernel_code_entry_byte_offset": -8064,
        "kernel_address": {"handle": 140_341_013_927_424_u64}, "formatted_kernel_name": "copy",
        "demangled_kernel_name": "copy", "truncated_kernel_name": "copy"
    });
    let config = json!({ "output_path": "/runs/7", "perfetto_buffer_size": 1_048_576, "json_output": true, "summary_groups": [] });
    let launch = json!({
        "kind": 11, "operation": 2, "correlation_id": {"internal": 1, "external": 0}, "start_timestamp": 10, "end_timestamp": 20,
        "dispatch_info": {"agent_id": {"handle": 7}, "queue_id": {"handle": 1}, "kernel_id": 5, "dispatch_id": 1}
    });
    let process = json!({
        "metadata": {"pid": 7, "config": config}, "agents": [{"id": {"handle": 7}, "type": 2}],
        "kernel_symbols": [symbol], "buffer_records": {"kernel_dispatch": [launch]}
    });
    let folder = Folder::new();
    std::fs::write(folder.path("in.json"), json!({ "rocprofiler-sdk-tool": [process] }).to_string()).unwrap();
    folder.answer("in.json -o one_results.json");
    folder.answer("in.json -o through.db");
    folder.answer("through.db -o two_results.json");
    for name in ["one_results.json", "two_results.json"] {
        let process = &document(&folder, name)["rocprofiler-sdk-tool"][0];
        assert_eq!(process["kernel_symbols"][1], symbol, "{name}");
        assert_eq!(process["metadata"]["config"], config, "{name}");
    }
}

#[test]
fn fields_have_the_types_of_a_real_file() {
    let Some(shared) = support::shared() else { return };
    let folder = Folder::new();
    folder.answer(&format!(
        "{} -o out_results.json",
        shared.join("traces/real/rocprofv3-gfx950.json.gz").display()
    ));
    let packed = std::fs::File::open(shared.join("traces/real/rocprofv3-gfx950.json.gz")).unwrap();
    let real: Value =
        serde_json::from_reader(std::io::BufReader::new(flate2::read::GzDecoder::new(packed))).unwrap();
    let written = document(&folder, "out_results.json");
    let [mut expected, mut found] = [BTreeMap::new(), BTreeMap::new()];
    shape(&real, "", &mut expected);
    shape(&written, "", &mut found);
    for (path, kind) in &found {
        // The environment is our own addition.
        assert!(expected.get(path).is_none_or(|real| real == kind), "{path} is {kind}");
    }
    let missing: Vec<&String> = expected
        .keys()
        .filter(|path| path.contains("buffer_records") && !found.contains_key(*path))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    let dispatches = &written["rocprofiler-sdk-tool"][0]["buffer_records"]["kernel_dispatch"];
    assert_eq!(dispatches.as_array().unwrap().len(), 43_915);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: support::cases(8), ..ProptestConfig::default() })]
    #[test]
    fn what_json_can_hold_comes_back(tables in arbitrary::trace()) {
        let folder = Folder::new();
        let mut writer = NativeWriter::create(folder.path("in.db")).unwrap();
        writer.push_tables(&tables).unwrap();
        writer.finish().unwrap();
        folder.answer("in.db -o out_results.json");
        let (before, after) = (read(&folder.path("in.db")), read(&folder.path("out_results.json")));
        prop_assert_eq!(held(&after), held(&before));
    }
}
