//! Workflow commands of GitHub Actions: annotations of the step that prints them.
//!
//! GitHub shows ten errors and ten warnings of a step and drops the rest without a word, so what does not fit is told in
//! the last one. A command is one line; `%`, carriage return and line feed are written as `%25`, `%0D` and `%0A`, in
//! properties also `:` and `,` as `%3A` and `%2C`.

use std::io::{self, Write};

use super::Answer;
use crate::gates::{Outcome, signed};

/// How many annotations of a kind GitHub shows of one step.
const LIMIT: usize = 10;

pub(super) fn render(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    for gate in answer.gates {
        let title = format!("rtl-diff: {} {}", gate.rule.title(), gate.outcome.label());
        match gate.outcome {
            Outcome::Pass => {}
            Outcome::Inconclusive => warnings.push((title, gate.message.clone())),
            Outcome::NotMeasured => errors.push((title, gate.message.clone())),
            Outcome::Fail if gate.rows.is_empty() => errors.push((title, gate.message.clone())),
            Outcome::Fail => errors.extend(gate.rows.iter().map(|&at| {
                let row = &answer.comparison.rows[at];
                let [before, after] = row.sides();
                let time = |mean: f64| cli::units::duration(mean.round() as i64);
                let message = if before.calls > 0 && after.calls > 0 {
                    let change = signed(row.judgement.ratio - 1.0, false);
                    let [before, after] = [before, after].map(|side| time(side.trimmed_mean_ns));
                    format!("{}: {} ({change}, {before} to {after} a call)", row.change.label(), row.title())
                } else {
                    format!(
                        "{}: {} ({} of GPU time)",
                        row.change.label(),
                        row.title(),
                        cli::units::percent(row.share)
                    )
                };
                (title.clone(), message)
            })),
        }
    }
    if let Some(why) = answer.comparison.incomparable.as_ref().filter(|_| answer.gates.is_empty()) {
        errors.push(("rtl-diff: not comparable".to_owned(), why.clone()));
    }
    for difference in &answer.comparison.differences {
        let message = format!("{}: {} and {}", difference.what, difference.baseline, difference.candidate);
        warnings.push(("rtl-diff: recorded differently".to_owned(), message));
    }
    write(out, "error", errors)?;
    write(out, "warning", warnings)?;
    writeln!(
        out,
        "::notice title=rtl-diff::{}",
        data(&format!("{}: {}", answer.verdict.label(), super::tables::census(&answer.comparison.rows)))
    )
}

fn write(out: &mut dyn Write, kind: &str, mut annotations: Vec<(String, String)>) -> io::Result<()> {
    if annotations.len() > LIMIT {
        let more = annotations.len() - (LIMIT - 1);
        annotations.truncate(LIMIT - 1);
        annotations.push(("rtl-diff".to_owned(), format!("and {more} more, which GitHub would not show")));
    }
    for (title, message) in annotations {
        writeln!(out, "::{kind} title={}::{}", property(&title), data(&message))?;
    }
    Ok(())
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_whatever_the_kernel_is_called() {
        assert_eq!(data("50% of a\nb::c"), "50%25 of a%0Ab::c");
        assert_eq!(property("a: b, c"), "a%3A b%2C c");
    }

    #[test]
    fn the_tenth_annotation_says_how_many_are_not_shown() {
        let mut out = Vec::new();
        let twelve = (0..12).map(|at| ("t".to_owned(), at.to_string())).collect();
        write(&mut out, "error", twelve).expect("a vector takes everything");
        let text = String::from_utf8_lossy(&out).into_owned();
        assert_eq!(text.lines().count(), 10);
        assert!(
            text.ends_with("::error title=rtl-diff::and 3 more, which GitHub would not show\n"),
            "{text}"
        );
    }
}
