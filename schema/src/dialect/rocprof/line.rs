//! The lines of roctracer's text files. Each kind has a file of its own, but says what it is.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Line<'a> {
    /// `100:200 158:158 hipMalloc(ptr=0x7f00, size=1024) :1`
    Call { begin: i64, end: i64, pid: i64, tid: i64, call: CallText<'a> },
    /// `100:200 0:1 gemm:3:158`: of a device and its queue.
    Op { begin: i64, end: i64, device: i64, queue: i64, name: &'a str, correlation: i64, pid: i64 },
    /// `100:200 async-copy:2:33`
    Copy { begin: i64, end: i64, correlation: i64, pid: i64 },
    /// `100 158:158 1:0:"forward"`
    Range { at: i64, pid: i64, tid: i64, action: i64, id: i64, message: &'a str },
    /// `dispatch[0], gpu-id(0), ..., kernel-name("gemm"), time(1,2,3,4)`
    Dispatch { index: i64, fields: &'a str, kernel: &'a str, times: Option<[i64; 4]> },
    /// `  SQ_WAVES (1216)`, behind its dispatch.
    Counter { name: &'a str, value: f64 },
}

/// The texts behind the ids of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CallText<'a> {
    pub(super) name: &'a str,
    /// The arguments with their brackets.
    pub(super) args: &'a str,
    pub(super) kernel: Option<&'a str>,
    /// 0 is unknown.
    pub(super) correlation: i64,
    pub(super) result: i64,
}

pub(super) fn parse(line: &str) -> Option<Line<'_>> {
    if let Some(rest) = line.strip_prefix("dispatch[") {
        return dispatch(rest);
    }
    if line.starts_with(' ') {
        let (name, value) = line.trim().split_once(" (")?;
        return Some(Line::Counter { name, value: value.strip_suffix(')')?.trim().parse().ok()? });
    }
    let (times, rest) = line.split_once(' ')?;
    let Some((begin, end)) = pair(times) else {
        let (ids, rest) = rest.split_once(' ')?;
        let (pid, tid) = pair(ids)?;
        let (action, rest) = rest.split_once(':')?;
        let (id, message) = rest.split_once(':')?;
        let message = message.strip_prefix('"').unwrap_or(message);
        let message = message.strip_suffix('"').unwrap_or(message);
        let (at, action, id) = (times.parse().ok()?, action.parse().ok()?, id.parse().ok()?);
        return Some(Line::Range { at, pid, tid, action, id, message });
    };
    if let Some(ids) = rest.strip_prefix("async-copy:") {
        let (correlation, pid) = pair(ids.trim_end())?;
        return Some(Line::Copy { begin, end, correlation, pid });
    }
    let (ids, rest) = rest.split_once(' ')?;
    let (first, second) = pair(ids)?;
    let mut parts = rest.rsplitn(3, ':');
    if let (Some(pid), Some(correlation), Some(name)) = (parts.next(), parts.next(), parts.next())
        && let (Some(pid), Some(correlation)) = (whole(pid), whole(correlation))
    {
        return Some(Line::Op { begin, end, device: first, queue: second, name, correlation, pid });
    }
    Some(Line::Call { begin, end, pid: first, tid: second, call: call(rest)? })
}

fn call(text: &str) -> Option<CallText<'_>> {
    let (text, correlation) = match text.rsplit_once(" :") {
        Some((before, id)) => whole(id).map_or((text, 0), |id| (before, id)),
        None => (text, 0),
    };
    let (text, kernel) = match text.rsplit_once(" kernel=") {
        Some((before, kernel)) => (before, Some(kernel.trim_end())),
        None => (text, None),
    };
    let (name, args) = text.split_at(text.find('(')?);
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:~".contains(&byte));
    let (args, result) = match args.rsplit_once(") = ") {
        Some((inner, result)) => (&args[..=inner.len()], whole(result.trim()).unwrap_or(0)),
        None => (args.trim_end(), 0),
    };
    is_name.then_some(CallText { name, args, kernel, correlation, result })
}

fn dispatch(rest: &str) -> Option<Line<'_>> {
    let (index, rest) = rest.split_once("], ")?;
    let (fields, rest) = rest.split_once("kernel-name(\"")?;
    let (kernel, rest) = rest.rsplit_once("\")")?;
    let times = rest.strip_prefix(", time(").and_then(|times| {
        let mut times = times.trim_end().strip_suffix(')')?.split(',').map(|time| time.trim().parse().ok());
        Some([times.next()??, times.next()??, times.next()??, times.next()??])
    });
    Some(Line::Dispatch { index: index.parse().ok()?, fields, kernel, times })
}

/// The number of a field of a dispatch: 0 of `gpu-id(0), ...`.
pub(super) fn field(fields: &str, name: &str) -> Option<i64> {
    let of =
        |field: &str| field.trim().strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?.parse().ok();
    fields.split(", ").find_map(of)
}

fn pair(text: &str) -> Option<(i64, i64)> {
    let (one, other) = text.split_once(':')?;
    Some((whole(one)?, whole(other)?))
}

fn whole(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_line_is_what_it_says() {
        let Some(Line::Call { begin: 1, end: 2, pid: 3, tid: 4, call }) =
            parse("1:2 3:4 hipLaunchKernel(numBlocks={1,1,1}, stream=nil) kernel=a::b<c :1, d>(int) :5")
        else {
            panic!()
        };
        assert_eq!(
            (call.name, call.kernel, call.correlation),
            ("hipLaunchKernel", Some("a::b<c :1, d>(int)"), 5)
        );
        assert_eq!(call.args, "(numBlocks={1,1,1}, stream=nil)");
        let Some(Line::Call { call, .. }) = parse("1:2 3:4 hsa_init(<agent 0x1>, 4096) = 4096 :1") else {
            panic!()
        };
        assert_eq!((call.args, call.result, call.correlation), ("(<agent 0x1>, 4096)", 4096, 1));
        let op =
            |name| Some(Line::Op { begin: 1, end: 2, device: 0, queue: 3, name, correlation: 4, pid: 5 });
        assert_eq!(parse("1:2 0:3 at::native::add<int>(int):4:5"), op("at::native::add<int>(int)"));
        assert_eq!(
            parse("1:2 async-copy:3:4"),
            Some(Line::Copy { begin: 1, end: 2, correlation: 3, pid: 4 })
        );
        let range = Line::Range { at: 1, pid: 2, tid: 3, action: 1, id: 0, message: "a \"b\": c" };
        assert_eq!(parse("1 2:3 1:0:\"a \"b\": c\""), Some(range));
        let text = "dispatch[7], gpu-id(1), sig(0x0), kernel-name(\"f(\"a\")\"), time(1,2,3,4)";
        let Some(Line::Dispatch { index: 7, fields, kernel, times }) = parse(text) else { panic!() };
        assert_eq!((kernel, times, field(fields, "gpu-id")), ("f(\"a\")", Some([1, 2, 3, 4]), Some(1)));
        assert_eq!(parse("  SQ_WAVES (12.5)"), Some(Line::Counter { name: "SQ_WAVES", value: 12.5 }));
    }

    #[test]
    fn other_text_and_parts_of_lines_are_none() {
        let line = "1:2 3:4 hipLaunchKernel(stream=nil) kernel=gemm :5";
        for end in 0..line.len() {
            parse(&line[..end]);
        }
        for text in
            ["", " ", "hello world", "1:2", "1:2 3", "12:30 meeting: a(b)", "dispatch[", "a:b c:d e(f)"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
