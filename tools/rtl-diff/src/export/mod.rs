//! Writes the report in each format that was asked for: one file per format, of one [`Report`].

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
use cli::destination::{STANDARD_OUTPUT, format_of};
use cli::{Failure, Layout};

pub use self::html::PagePart;
pub(crate) use self::html::part;
use self::report::RenderOptions;
pub(crate) use self::report::Report;
use crate::args::{self, Format};

const DEFAULT_ROWS: usize = 10;

/// The files to write, created before the traces are read; `None` is standard output.
#[derive(Debug)]
pub(crate) struct Exports(Vec<(Format, Option<AtomicFile>)>);

impl Exports {
    /// Creates the files of `-o`. Without one, standard output is the only output.
    pub(crate) fn open(output: &args::Output, inputs: &[&Path]) -> Result<Self, Failure> {
        if output.output.is_empty() {
            return Ok(Self(vec![(output.to.unwrap_or_default(), None)]));
        }
        let options = Options { if_exists: IfExists::forced(output.force), inputs };
        let is_printed = |path: &PathBuf| path.as_os_str() == STANDARD_OUTPUT;
        // `--to` is the format of the printed report if there is one, beside which files have the formats of their endings.
        let prints = output.output.iter().any(is_printed);
        let file = |path: &PathBuf| {
            let to = output.to.filter(|_| is_printed(path) || !prints);
            let format = format_of(Some(path), to, Format::Text)?;
            let file = AtomicFile::create(path, &options)?;
            Ok((format, Some(file).filter(|file| !file.destination().is_standard_output())))
        };
        Ok(Self(output.output.iter().map(file).collect::<Result<_, Failure>>()?))
    }

    /// Writes all outputs, whether the gates of the report hold or not.
    pub(crate) fn write(
        self,
        report: &Report<'_>,
        output: &args::Output,
        out: &mut cli::Output,
    ) -> Result<(), Failure> {
        for (format, file) in self.0 {
            let Some(file) = file else {
                let paint = Paint::new(output.console.color, out.is_terminal());
                render(format, report, options(format, output, cli::terminal::width(), paint), out)?;
                continue;
            };
            let mut writer = file.writer()?;
            let width = cli::terminal::PIPE_WIDTH;
            render(format, report, options(format, output, width, Paint::default()), &mut writer)?;
            writer.finish()?;
            file.commit()?;
        }
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
