//! JUnit XML as CI systems read it: one test case for each gate.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::report::Report;
use crate::gates::{Allowed, Outcome, signed};

pub(super) fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let count = |outcome| report.gates.iter().filter(|gate| gate.outcome == outcome).count();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<testsuite name="rtl-diff" tests="{}" failures="{}" errors="{}" skipped="{}">"#,
        report.gates.len(),
        count(Outcome::Fail),
        count(Outcome::NotMeasured),
        count(Outcome::Inconclusive),
    )?;
    for gate in report.gates {
        let mut details = String::new();
        for row in &gate.rows {
            let change = signed(row.ratio.map_or(0.0, |ratio| ratio - 1.0), false);
            let _ = writeln!(details, "{} {}: {change}", row.change.label(), row.label());
        }
        for Allowed { row, reason } in &gate.allowed {
            let _ = writeln!(details, "allowed {}: {reason}", row.label());
        }
        let (name, message, details) =
            (escaped(&report.title(gate.rule)), escaped(&gate.message), escaped(&details));
        write!(out, r#"  <testcase classname="rtl-diff" name="{name}">"#)?;
        let mut element = |tag: &str| write!(out, r#"<{tag} message="{message}">{details}</{tag}>"#);
        match gate.outcome {
            Outcome::Pass => write!(out, "<system-out>{message}\n{details}</system-out>"),
            Outcome::Fail => element("failure"),
            Outcome::NotMeasured => element("error"),
            Outcome::Inconclusive => element("skipped"),
        }?;
        writeln!(out, "</testcase>")?;
    }
    writeln!(out, "</testsuite>")
}

/// Control characters become visible ones, because XML 1.0 cannot represent most of them.
fn escaped(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| cli::escape_control(line).into_owned()).collect();
    let end = if text.ends_with('\n') { "\n" } else { "" };
    let text = lines.join("\n") + end;
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_cannot_close_an_element() {
        assert_eq!(escaped("void f<\"a\" & 1>()"), "void f&lt;&quot;a&quot; &amp; 1&gt;()");
        assert!(!escaped("a\u{1}b").contains('\u{1}'));
    }
}
