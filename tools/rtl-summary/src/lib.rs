//! Where did the GPU time go? The verb behind `rtl-summary`.
//!
//! It reads as the data flows: [`args`] is what was typed, [`question`] what it means, [`answer`] what one
//! trace says to it, [`document`] the versioned shape of the answer, [`render`] one file per format.
//! What it is not: it computes nothing (that is `analysis`) and knows no table of any tool (that is `schema`).

pub mod answer;
/// What was typed.
pub mod args;
pub mod document;
pub mod info;
mod naming;
pub mod question;
pub mod render;
pub mod style;

use std::path::Path;

use cli::{Exit, Failure, Output, Progress};
use rtl_analysis::combine;
use rtl_schema::{Tables, Trace};

use crate::answer::Answer;
use crate::args::Arguments;
use crate::info::Stored;
use crate::question::Question;

/// Answers for every trace that was named, then for all of them together.
///
/// # Errors
/// Where the command line makes no sense, or no trace can be read; with several traces those that can be
/// read are answered and the exit code still says [`Exit::Input`].
pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    let question = Question::of(&arguments)?;
    let sizes: Vec<u64> =
        arguments.traces.iter().map(|path| std::fs::metadata(path).map_or(0, |file| file.len())).collect();
    let progress = Progress::new("reading", sizes.iter().sum(), arguments.display.console.quiet);
    let several = arguments.traces.len() > 1;

    let mut answers = Vec::new();
    let mut together: Option<Tables> = None;
    let mut failed = false;
    for (path, size) in arguments.traces.iter().zip(sizes) {
        let answered = read(path, &question).and_then(|(mut tables, stored)| {
            let answer = Answer::of(path, &mut tables, &question)?;
            Ok((Answer { stored, ..answer }, tables))
        });
        match answered {
            Ok((answer, tables)) => {
                answers.push(answer);
                if several {
                    match &mut together {
                        Some(all) => combine::append(all, tables),
                        None => together = Some(tables),
                    }
                }
            }
            Err(failure) if several => {
                out.failure(&failure);
                failed = true;
            }
            Err(failure) => return Err(failure),
        }
        progress.advance(size);
    }
    drop(progress);

    let combined = match together {
        Some(tables) if answers.len() > 1 => Some(Answer::combined(&tables, &question)),
        _ => None,
    };
    if !answers.is_empty() {
        render::render(&arguments, &question, &answers, combined.as_ref(), out)?;
    }
    if question.strict {
        let reasons = answers.iter().flat_map(Answer::strict_failures).collect::<Vec<_>>();
        if let Some(reason) = reasons.first() {
            let more = reasons.len() - 1;
            let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
            return Err(Failure::input(anyhow::anyhow!("not sound: {reason}{more}"))
                .with_hint("the section `sanity` has the details; without --strict they are only reported"));
        }
    }
    Ok(if failed { Exit::Input } else { Exit::Success })
}

/// The rows of a trace, and what the file itself holds, where that is asked.
fn read(path: &Path, question: &Question) -> Result<(Tables, Option<Stored>), Failure> {
    let trace = Trace::open(path)?;
    let tables = trace.read(&question.select)?;
    let stored = if question.info { Some(Stored::of(&trace, &tables)?) } else { None };
    Ok((tables, stored))
}
