//! Parses one line of RTG's text, independently of other lines.

use crate::table::{Shape, axes};

#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// HCC_PROFILE: an op timed by the device.
    Profile(Profile<'a>),
    /// A packet as the device executed it.
    Device { from: Thread, packet: Packet<'a>, start: i64, end: i64 },
    /// A packet as the host wrote it into a queue.
    Host { from: Thread, packet: Packet<'a>, tick: i64, shape: Option<Shape> },
    /// A call of HIP or HSA.
    Call(Call<'a>),
    /// A roctx range, or a marker where there is no duration.
    Range { from: Thread, message: &'a str, start: i64, duration: Option<i64> },
    /// A line that starts as a record of this kind, but is malformed.
    Malformed(&'static str),
    /// Output of the application.
    Other,
}

/// The kind of a packet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Kernel,
    Barrier,
    Copy,
}

/// An op of HCC_PROFILE.
#[derive(Debug, PartialEq)]
pub(super) struct Profile<'a> {
    pub(super) kind: Kind,
    pub(super) name: &'a str,
    pub(super) start: i64,
    pub(super) end: i64,
    /// Device and queue of the `#device.queue.sequence` tag.
    pub(super) place: Option<(i64, i64)>,
    pub(super) bytes: Option<u64>,
}

/// The writer of a `HIP:`, `HSA:` or `RTX:` line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Thread {
    pub(super) pid: i64,
    pub(super) tid: i64,
}

/// A packet of an HSA queue, or a copy.
#[derive(Debug, PartialEq)]
pub(super) struct Packet<'a> {
    pub(super) kind: Kind,
    /// The kernel's name; the word of the line for other packets.
    pub(super) name: &'a str,
    /// Copies have none.
    pub(super) queue: Option<i64>,
    pub(super) agent: i64,
    /// Equal on the host's and the device's line; copies have none.
    pub(super) id: Option<i64>,
}

/// A call of HIP or HSA.
#[derive(Debug, PartialEq)]
pub(super) struct Call<'a> {
    pub(super) from: Thread,
    pub(super) library: &'static str,
    pub(super) name: &'a str,
    pub(super) args: Option<&'a str>,
    /// The kernel that a launch names.
    pub(super) kernel: Option<&'a str>,
    pub(super) start: i64,
    pub(super) duration: i64,
    /// The status that a HIP call returned; 0 for calls of HSA, of which some return values that are none.
    pub(super) result: i64,
}

/// Reads one line, without its line end.
pub(super) fn parse(line: &str) -> Line<'_> {
    for (prefix, library, place) in
        [("HIP: pid:", "HIP", "HIP line"), ("HSA: pid:", "HSA", "HSA line"), ("RTX: pid:", "RTX", "RTX line")]
    {
        if let Some(rest) = line.strip_prefix(prefix) {
            return text(library, rest).unwrap_or(Line::Malformed(place));
        }
    }
    match line.strip_prefix("profile:") {
        Some(rest) if rest.contains(';') => {
            profile(rest).map_or(Line::Malformed("profile line"), Line::Profile)
        }
        _ => Line::Other,
    }
}

fn profile(rest: &str) -> Option<Profile<'_>> {
    let fields: Vec<&str> = rest.split(';').map(str::trim).collect();
    let kind = match *fields.first()? {
        "kernel" => Kind::Kernel,
        "barrier" => Kind::Barrier,
        "copy" | "copyslo" => Kind::Copy,
        _ => return None,
    };
    let number = |at: usize| fields.get(at)?.parse::<i64>().ok();
    // HCC wrote the time of enqueueing before start and stop; RTG does not.
    let (start, end, tag) = match (number(3)?, number(4)?, number(5)) {
        (enqueued, start, Some(end)) if enqueued <= start => (start, end, 6),
        (start, end, _) => (start, end, 5),
    };
    let place = fields.get(tag).and_then(|tag| {
        let mut parts = tag.strip_prefix('#')?.split('.').map(str::parse::<i64>);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    });
    let bytes = fields.get(tag + 1).and_then(|field| field.strip_suffix("bytes")?.trim().parse().ok());
    Some(Profile { kind, name: fields[1], start, end, place, bytes })
}

fn text<'a>(library: &'static str, rest: &'a str) -> Option<Line<'a>> {
    let (pid, rest) = rest.split_once(" tid:")?;
    let (tid, rest) = rest.split_once(' ')?;
    let from = Thread { pid: pid.parse().ok()?, tid: tid.parse().ok()? };
    if library == "RTX" {
        let (message, start, duration) = timed(rest)?;
        return Some(Line::Range { from, message, start, duration });
    }
    let word = rest.split(' ').next()?;
    let kind = match word {
        "dispatch" => Some(Kind::Kernel),
        "barrier" | "vendor" => Some(Kind::Barrier),
        "copy" => Some(Kind::Copy),
        _ => None,
    };
    match kind {
        Some(kind) if library == "HSA" => packet(from, kind, word, &rest[word.len()..]),
        _ => call(from, library, rest).map(Line::Call),
    }
}

/// Splits `... @START` or `... @START +DURATION`.
fn timed(rest: &str) -> Option<(&str, i64, Option<i64>)> {
    let (body, time) = rest.trim_end().rsplit_once(" @")?;
    Some(match time.split_once(" +") {
        Some((start, duration)) => (body, start.parse().ok()?, Some(duration.parse().ok()?)),
        None => (body, time.parse().ok()?, None),
    })
}

fn call<'a>(from: Thread, library: &'static str, rest: &'a str) -> Option<Call<'a>> {
    let (body, start, duration) = timed(rest)?;
    let (body, returned) = body.rsplit_once(" ret=")?;
    let result = if library == "HIP" { returned.trim().parse().unwrap_or(0) } else { 0 };
    let name_end = body.find([' ', '(']).unwrap_or(body.len());
    let (name, rest) = body.split_at(name_end);
    if name.is_empty() {
        return None;
    }
    let rest = rest.trim_start();
    let args_end = if rest.starts_with('(') { closing(rest)? } else { 0 };
    let args = (args_end > 0).then(|| &rest[1..args_end - 1]);
    let kernel = rest[args_end..].trim().strip_prefix('[').and_then(|kernel| kernel.strip_suffix(']'));
    Some(Call { from, library, name, args, kernel, start, duration: duration?, result })
}

/// The position behind the parenthesis that closes the first one; strings among the arguments may hold
/// unbalanced ones, then it is the last of the line.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at + 1),
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.rfind(')').map(|at| at + 1)
}

fn packet<'a>(from: Thread, kind: Kind, word: &'a str, rest: &'a str) -> Option<Line<'a>> {
    let (before, name, after) = match rest.split_once(" name:'") {
        Some((before, quoted)) => {
            let end = quoted.rfind("' tick:").or_else(|| quoted.rfind("' start:"))?;
            (before, &quoted[..end], &quoted[end + 1..])
        }
        None if kind == Kind::Kernel => return None,
        None => (rest, word, ""),
    };
    let field = |key: &str| {
        before
            .split_whitespace()
            .chain(after.split_whitespace())
            .find_map(|field| field.strip_prefix(key)?.strip_prefix(':'))
    };
    let number = |key: &str| field(key)?.parse::<i64>().ok();
    let packet = Packet { kind, name, queue: number("queue"), agent: number("agent")?, id: number("id") };
    if packet.queue.is_none() && kind != Kind::Copy {
        return None;
    }
    if let Some(tick) = number("tick") {
        let sizes = |key: &str| field(key)?.strip_prefix('{')?.strip_suffix('}');
        let shape = sizes("workgroup").and_then(axes).zip(sizes("grid").and_then(axes));
        let shape = shape.map(|(workgroup, items)| Shape::from_items(workgroup, items));
        return Some(Line::Host { from, packet, tick, shape });
    }
    Some(Line::Device { from, packet, start: number("start")?, end: number("stop")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_enqueueing_before_start_and_stop_is_skipped() {
        let line = "profile: kernel;\t k;\t 1.0 us;\t90;\t100;\t1100;\t#2.3.4;";
        let Line::Profile(op) = parse(line) else { panic!("{line}") };
        assert_eq!((op.start, op.end, op.place), (100, 1100, Some((2, 3))));
    }

    #[test]
    fn arguments_with_parentheses_and_a_kernel_with_brackets_are_told_apart() {
        let line = "HIP: pid:1 tid:2 hipLaunchKernel(f(1), 2) [void g<int[4]>(int)] ret=0 @10 +5";
        let Line::Call(call) = parse(line) else { panic!("{line}") };
        assert_eq!(call.name, "hipLaunchKernel");
        assert_eq!(call.args, Some("f(1), 2"));
        assert_eq!(call.kernel, Some("void g<int[4]>(int)"));
        assert_eq!((call.start, call.duration), (10, 5));
    }

    #[test]
    fn only_calls_of_hip_return_a_status() {
        let result = |library: &str| match parse(&format!("{library}: pid:1 tid:2 f (1) ret=719 @10 +5")) {
            Line::Call(call) => call.result,
            other => panic!("{other:?}"),
        };
        assert_eq!([result("HIP"), result("HSA")], [719, 0]);
    }

    #[test]
    fn a_kernel_name_may_hold_what_fields_hold() {
        let line =
            "HSA: pid:1 tid:2 dispatch queue:7 agent:9 signal:1 name:'f('x' id:3)' start:10 stop:15 id:4";
        let Line::Device { packet, start, end, .. } = parse(line) else { panic!("{line}") };
        assert_eq!((packet.name, packet.id, start, end), ("f('x' id:3)", Some(4), 10, 15));
    }

    #[test]
    fn a_range_has_a_duration_and_a_marker_none() {
        let from = Thread { pid: 1, tid: 2 };
        assert_eq!(
            parse("RTX: pid:1 tid:2 step @ 5 @100 +20"),
            Line::Range { from, message: "step @ 5", start: 100, duration: Some(20) }
        );
        assert_eq!(
            parse("RTX: pid:1 tid:2 here @100"),
            Line::Range { from, message: "here", start: 100, duration: None }
        );
    }

    #[test]
    fn what_only_looks_like_a_record_is_malformed_or_the_applications() {
        assert_eq!(
            parse("profile: kernel;\t k;\t 1.0 us;\tsoon;\tlater;\t#0.0.0;"),
            Line::Malformed("profile line")
        );
        assert_eq!(parse("profile: warp;\t k;\t 1.0 us;\t1;\t2;\t#0.0.0;"), Line::Malformed("profile line"));
        assert_eq!(parse("HSA: pid:1 tid:2 dispatch queue:0"), Line::Malformed("HSA line"));
        assert_eq!(parse("HIP: pid:1"), Line::Malformed("HIP line"));
        assert_eq!(parse("profile: loading"), Line::Other);
        assert_eq!(parse(""), Line::Other);
    }
}
