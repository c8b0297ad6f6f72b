//! Workflow commands of GitHub Actions: annotations of the step that prints them.
//!
//! GitHub shows ten errors and ten warnings of a step and drops the rest silently, so the last one states how many are
//! left. A command is one line; `%`, carriage return and line feed are written as `%25`, `%0D` and `%0A`, in
//! properties also `:` and `,` as `%3A` and `%2C`.

use std::io::{self, Write};

use rtl_analysis::DisplayNames;

use super::digest::Digest;
use super::report::Report;
use crate::comparison::Row;
use crate::gates::{Outcome, signed};

const LIMIT: usize = 10;

pub(super) fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    let names = DisplayNames::of(report.comparison.rows.iter().map(|row| row.name.as_str()));
    for gate in report.gates {
        let title = format!("rtl-diff: {} {}", report.title(gate.rule), gate.outcome.label());
        match gate.outcome {
            Outcome::Pass => {}
            Outcome::Inconclusive => warnings.push((title, gate.message.clone())),
            Outcome::Fail if !gate.rows.is_empty() => {
                errors.extend(gate.rows.iter().map(|row| (title.clone(), message(row, &names))));
            }
            Outcome::Fail | Outcome::NotMeasured => errors.push((title, gate.message.clone())),
        }
    }
    if let Some(reason) = report.comparison.incomparable.as_ref().filter(|_| report.gates.is_empty()) {
        errors.push(("rtl-diff: not comparable".to_owned(), reason.clone()));
    }
    for difference in &report.comparison.differences {
        let message = format!("{}: {} and {}", difference.what, difference.baseline, difference.candidate);
        warnings.push(("rtl-diff: recorded differently".to_owned(), message));
    }
    write(out, "error", errors)?;
    write(out, "warning", warnings)?;
    writeln!(out, "::notice title=rtl-diff::{}", data(&Digest::new(report).headline()))
}

fn message(row: &Row, names: &DisplayNames) -> String {
    let name = crate::input::label(names.get(&row.name), row.launch.as_deref());
    let details = if let Some(ratio) = row.ratio {
        let change = signed(ratio - 1.0, false);
        let time = |mean: f64| cli::units::duration(mean.round() as i64);
        let [before, after] = row.sides().map(|side| time(side.trimmed_mean_ns));
        format!("{change}, {before} to {after} a call")
    } else {
        format!("{} of GPU time", cli::units::percent(row.share))
    };
    format!("{}: {name} ({details})", row.change.label())
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
    fn the_tenth_annotation_states_how_many_are_not_shown() {
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
