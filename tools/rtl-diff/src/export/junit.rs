//! JUnit XML as CI systems read it: one test case for each gate.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::Answer;
use crate::gates::Outcome;

pub(super) fn render(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let count = |outcome| answer.gates.iter().filter(|gate| gate.outcome == outcome).count();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<testsuite name="rtl-diff" tests="{}" failures="{}" errors="{}" skipped="{}">"#,
        answer.gates.len(),
        count(Outcome::Fail),
        count(Outcome::NotMeasured),
        count(Outcome::Inconclusive),
    )?;
    for gate in answer.gates {
        let mut details = String::new();
        for &at in &gate.rows {
            let row = &answer.comparison.rows[at];
            let change = crate::gates::signed(row.judgement.ratio - 1.0, false);
            let _ = writeln!(details, "{} {}: {change}", row.change.label(), row.title());
        }
        for (at, reason) in &gate.allowed {
            let _ = writeln!(details, "allowed {}: {reason}", answer.comparison.rows[*at].title());
        }
        let (name, message) = (escaped(gate.rule.title()), escaped(&gate.message));
        write!(out, r#"  <testcase classname="rtl-diff" name="{name}">"#)?;
        let element = match gate.outcome {
            Outcome::Pass => None,
            Outcome::Fail => Some("failure"),
            Outcome::NotMeasured => Some("error"),
            Outcome::Inconclusive => Some("skipped"),
        };
        match element {
            Some(element) => {
                write!(out, r#"<{element} message="{message}">{}</{element}>"#, escaped(&details))?;
            }
            None => write!(out, "<system-out>{message}\n{}</system-out>", escaped(&details))?,
        }
        writeln!(out, "</testcase>")?;
    }
    writeln!(out, "</testsuite>")
}

/// XML 1.0 has no way to say most control characters, so they become visible ones.
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
