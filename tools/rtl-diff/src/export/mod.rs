//! One file per format; all render the same report.

mod bencher;
mod digest;
mod github;
mod github_action_benchmark;
mod html;
mod json;
mod junit;
mod markdown;
mod report;
mod tables;
mod text;
mod work;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use atomic_file::{AtomicFile, IfExists, Options};
use cli::color::Paint;
use cli::{Failure, Layout};

pub use self::html::PagePart;
pub(crate) use self::html::part;
use self::report::RenderOptions;
pub(crate) use self::report::Report;
use crate::args::{self, Format};

/// The number of kernels in text and Markdown unless `--top` is set.
const DEFAULT_ROWS: usize = 10;

/// The files to write, created before the traces are read.
#[derive(Debug)]
pub(crate) struct Exports(Vec<(Format, AtomicFile)>);

impl Exports {
    /// Creates the files of `-o`.
    ///
    /// # Errors
    /// Where a file cannot be created, or an output is also an input.
    pub(crate) fn open(output: &args::Output, inputs: &[&Path]) -> Result<Self, Failure> {
        let options = Options { if_exists: IfExists::Replace, inputs };
        let file = |(format, path): &(Format, PathBuf)| Ok((*format, AtomicFile::create(path, &options)?));
        Ok(Self(output.output.iter().map(file).collect::<Result<_, Failure>>()?))
    }

    /// Writes all files, then prints the report, whether its gates hold or not. Standard output holds one document: a
    /// format that `-o` writes to it takes the place of the report.
    pub(crate) fn write(
        self,
        report: &Report<'_>,
        output: &args::Output,
        out: &mut cli::Output,
    ) -> Result<(), Failure> {
        let is_taken = self.0.iter().any(|(_, file)| file.destination().is_standard_output());
        for (format, file) in self.0 {
            let mut writer = file.writer()?;
            let width = cli::terminal::PIPE_WIDTH;
            render(format, report, options(format, output, width, Paint::default()), &mut writer)?;
            writer.finish()?;
            file.commit()?;
        }
        if is_taken {
            return Ok(());
        }
        let paint = Paint::new(output.console.color, out.is_terminal());
        let options = options(output.format, output, cli::terminal::width(), paint);
        render(output.format, report, options, out)?;
        Ok(())
    }
}

fn options(format: Format, output: &args::Output, width: usize, paint: Paint) -> RenderOptions {
    let width = Some(width).filter(|_| !output.full_names);
    let (layout, rows) = match format {
        Format::Text if output.all => (Layout::Text { width, paint }, usize::MAX),
        Format::Text => (Layout::Text { width, paint }, DEFAULT_ROWS),
        Format::Markdown => (Layout::Markdown, DEFAULT_ROWS),
        _ => (Layout::Csv, usize::MAX),
    };
    RenderOptions { rows: output.top.unwrap_or(rows), all: output.all, layout, paint }
}

fn render(
    format: Format,
    report: &Report<'_>,
    options: RenderOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::render(report, options, out),
        Format::Json => json::render(report, options.rows, out),
        Format::Csv => tables::kernels(report.first_rows(options.rows)).render(options.layout, out),
        Format::Markdown => markdown::render(report, options, out),
        Format::Html => html::render(report, out),
        Format::Junit => junit::render(report, out),
        Format::Github => github::render(report, out),
        Format::Bencher => bencher::render(report, out),
        Format::GithubActionBenchmark => github_action_benchmark::render(report, out),
    }
}
