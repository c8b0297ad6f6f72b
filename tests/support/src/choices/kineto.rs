//! Documents of Kineto.

use std::fmt::Write;

use super::Choices;

/// Phases of events with a category that each may have.
const EVENTS: [(&str, &str); 12] = [
    ("X", "kernel"),
    ("X", "Kernel"),
    ("X", "gpu_memcpy"),
    ("X", "gpu_memset"),
    ("X", "cuda_runtime"),
    ("X", "hip_driver"),
    ("X", "cpu_op"),
    ("X", "user_annotation"),
    ("X", "Trace"),
    ("s", "ac2g"),
    ("f", "ac2g"),
    ("i", "cpu_instant_event"),
];

const NAMES: [&str; 10] = [
    "k",
    "hipLaunchKernel",
    "hipMemcpyWithStream",
    "Memcpy HtoD (Pageable -> Device)",
    "Memset (Device)",
    "ProfilerStep#3",
    "aten::mm",
    "[memory]",
    "a\\u0000\\ud83d\\\"",
    "",
];

const ARGUMENTS: [&str; 22] = [
    "device",
    "stream",
    "correlation",
    "External id",
    "external id",
    "registers per thread",
    "shared memory",
    "graph id",
    "graph node id",
    "bytes",
    "Bytes",
    "Sequence number",
    "Fwd thread id",
    "Addr",
    "Device Id",
    "Device Type",
    "Total Allocated",
    "Total Reserved",
    "rank",
    "size",
    "id",
    "other",
];

const SHAPES: [&str; 6] = ["[1,2,3]", "[]", "[4294967296,0,-1]", "[[8, 1024], [], \"}\"]", "\"1,2\"", "[1,2"];

impl Choices<'_> {
    /// A number as Kineto writes it, or something else.
    fn raw(&mut self) -> String {
        match self.below(16) {
            0 => i64::MAX.to_string(),
            1 => i64::MIN.to_string(),
            2 => "1e400".to_owned(),
            3 => "-1".to_owned(),
            4 => format!("\"{}\"", self.byte()),
            5 => "null".to_owned(),
            6 => format!("{}.{:03}", self.byte(), self.byte()),
            7 => "NaN".to_owned(),
            8 => "\"text\"".to_owned(),
            9 => format!("17000000000000{:02}.{}", self.below(100), self.byte()),
            10 => "9223372036854775.8079999".to_owned(),
            11 => String::new(),
            _ => self.below(8).to_string(),
        }
    }

    fn event(&mut self, to: &mut String) {
        let (phase, category) = EVENTS[usize::from(self.below(EVENTS.len() as u8))];
        let name = self.of(&NAMES);
        let _ = write!(to, r#"{{"ph":"{phase}","cat":"{category}","name":"{name}""#);
        for key in ["pid", "tid", "ts", "dur", "id"] {
            if self.below(8) > 0 {
                let _ = write!(to, r#","{key}":{}"#, self.raw());
            }
        }
        let arguments = self.below(6);
        if arguments > 0 {
            to.push_str(r#","args":{"correlation":"#);
            to.push_str(&self.below(4).to_string());
            for _ in 1..arguments {
                let key = self.of(&ARGUMENTS);
                let _ = write!(to, r#","{key}":{}"#, self.raw());
            }
            for key in ["grid", "block", "Input Dims", "Input type"] {
                if self.below(4) == 0 {
                    let _ = write!(to, r#","{key}":{}"#, self.of(&SHAPES));
                }
            }
            to.push('}');
        }
        to.push('}');
    }
}

/// The document of Kineto that the bytes choose: one or several, or cut off.
pub fn kineto(bytes: &[u8]) -> String {
    let mut choices = Choices(bytes);
    let mut text = String::new();
    for _ in 0..=choices.below(2) {
        text.push_str(r#"{"schemaVersion":1,"#);
        let is_late = choices.below(2) == 0;
        let base = format!(r#""baseTimeNanoseconds":{},"#, choices.raw());
        if !is_late {
            text.push_str(&base);
        }
        if choices.below(4) == 0 {
            let _ = write!(text, r#""distributedInfo":{{"rank":{},"world_size":2}},"#, choices.raw());
        }
        text.push_str(r#""traceEvents":["#);
        for number in 0..choices.below(12) {
            if number > 0 {
                text.push(',');
            }
            choices.event(&mut text);
        }
        text.push_str("],");
        if is_late {
            text.push_str(&base);
        }
        text.push_str(r#""traceName":"t"}"#);
    }
    if choices.below(8) == 0 {
        let end = usize::from(choices.byte()) * text.len() / 256;
        text.truncate((0..=end).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0));
    }
    text
}
