//! The track of causes of idle time.

use std::io::Read;

use serde_json::Value;
use support::Layout;

use crate::drawing::Folder;

/// A thread waits for the GPU within a range, goes on, and launches late; GPU 1 is not tied to any call.
const STORY: &str = "
INSERT INTO rocpd_string(id, string) VALUES (20, 'hip'), (21, 'hipLaunchKernel'), (22, 'hipStreamSynchronize');
INSERT INTO rocpd_api(tid, start, duration, apiName_id, domain_id, correlationId) VALUES
    (7, 0, 10000, 21, 20, 1), (7, 20000, 40000, 22, 20, 2), (7, 90000, 10000, 21, 20, 3);
INSERT INTO kernels(gpu, queue, start, end, name, correlation) VALUES
    (0, 0, 30000, 50000, 'gemm', 1), (0, 0, 105000, 120000, 'gemm', 3),
    (1, 0, 30000, 50000, 'other', NULL), (1, 0, 60000, 70000, 'other', NULL);
";

/// The events of the category, as cause, start, length, call and whether readers take it for an op.
fn idle(line: &str) -> Vec<(String, f64, f64, Value, bool)> {
    let folder = Folder::new();
    std::fs::copy(support::database(STORY, Layout::Native).unwrap(), folder.path("in.db")).unwrap();
    let (code, _, messages) = folder.run(&format!("in.db -o out.json {line}"));
    assert_eq!((code, messages.as_str()), (0, ""));
    let mut text = String::new();
    std::fs::File::open(folder.path("out.json")).unwrap().read_to_string(&mut text).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let events = document["traceEvents"].as_array().unwrap().iter();
    let event = |event: &Value| {
        let number = |field: &str| event[field].as_f64().unwrap();
        let is_op = event["args"].get("stream").is_some() || event["args"].get("device").is_some();
        let name = event["name"].as_str().unwrap().to_owned();
        (name, number("ts"), number("dur"), event["args"]["call"].clone(), is_op)
    };
    events.filter(|event| event["cat"] == "idle").map(event).collect()
}

#[test]
fn every_piece_of_a_gap_is_a_slice_with_its_call() {
    let row = |cause: &str, start, length, call: Option<&str>| {
        (cause.to_owned(), start, length, call.map_or(Value::Null, Value::from), false)
    };
    let expected = [
        row("synchronise", 50.0, 10.0, Some("hipStreamSynchronize")),
        row("host", 60.0, 30.0, None),
        row("launch", 90.0, 10.0, Some("hipLaunchKernel")),
        row("queued", 100.0, 5.0, None),
    ];
    assert_eq!(idle(""), expected);
    assert_eq!(idle("--no-args").len(), 4);
}
