//! One file per format; all print the same values.

mod bencher;
mod csv;
mod github;
mod github_action_benchmark;
mod json;
mod junit;
mod markdown;
mod tables;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use cli::color::Paint;
use cli::{Failure, Layout, ResultExt};
use tempfile::NamedTempFile;

use crate::args::{self, Format};
use crate::comparison::Comparison;
use crate::gates::{Gate, Verdict};
use crate::settings::Settings;

/// How many kernels people are shown unless they say otherwise.
const ROWS: usize = 20;

/// What is to be printed.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// What was found.
    pub comparison: &'a Comparison,
    /// What must hold.
    pub gates: &'a [Gate],
    /// Whether it does.
    pub verdict: Verdict,
    /// What was asked.
    pub settings: &'a Settings,
}

/// How a format is to print.
#[derive(Debug, Clone, Copy)]
struct View {
    /// How many kernels.
    rows: usize,
    /// How tables are printed for people.
    layout: Layout,
    paint: Paint,
}

/// The files to write, created before the work starts.
#[derive(Debug)]
pub struct Exports {
    files: Vec<(Format, PathBuf, NamedTempFile)>,
}

impl Exports {
    /// Creates a temporary file beside each output.
    ///
    /// # Errors
    /// Where a file cannot be created, or an output is also an input.
    pub fn open<'a>(
        output: &args::Output,
        inputs: impl Iterator<Item = &'a PathBuf>,
    ) -> Result<Self, Failure> {
        let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
        let files =
            output.output.iter().map(|(format, path)| Ok((*format, path.clone(), beside(path, &inputs)?)));
        Ok(Self { files: files.collect::<Result<_, Failure>>()? })
    }

    /// Prints the answer and writes all files, whether its gates hold or not.
    ///
    /// # Errors
    /// Those of the writers.
    pub fn write(
        self,
        answer: &Answer<'_>,
        asked: &args::Output,
        out: &mut cli::Output,
    ) -> Result<(), Failure> {
        for (format, path, mut file) in self.files {
            let view = View {
                rows: asked.top.unwrap_or_else(|| rows(format)),
                layout: layout(format, asked.full_names, Some(cli::terminal::PIPE_WIDTH), Paint::default()),
                paint: Paint::default(),
            };
            render(format, answer, view, &mut file)?;
            keep(file, &path)?;
        }
        let paint = Paint::new(asked.console.color, out.is_terminal());
        let width = Some(cli::terminal::width());
        let format = asked.format;
        let view = View {
            rows: asked.top.unwrap_or_else(|| rows(format)),
            layout: layout(format, asked.full_names, width, paint),
            paint,
        };
        render(format, answer, view, out)
    }
}

fn rows(format: Format) -> usize {
    match format {
        Format::Text | Format::Markdown => ROWS,
        _ => usize::MAX,
    }
}

fn layout(format: Format, full_names: bool, width: Option<usize>, paint: Paint) -> Layout {
    match format {
        Format::Csv => Layout::Csv,
        Format::Markdown => Layout::Markdown,
        _ => Layout::Text { width: width.filter(|_| !full_names), paint },
    }
}

fn render(format: Format, answer: &Answer<'_>, view: View, out: &mut dyn Write) -> Result<(), Failure> {
    match format {
        Format::Text => text::render(answer, view, out),
        Format::Json => json::render(answer, view, out),
        Format::Csv => csv::render(answer, view, out),
        Format::Markdown => markdown::render(answer, view, out),
        Format::Junit => junit::render(answer, out),
        Format::Github => github::render(answer, out),
        Format::Bencher => bencher::render(answer, out),
        Format::GithubActionBenchmark => github_action_benchmark::render(answer, out),
    }?;
    Ok(())
}

/// Writes a file whole or not at all, and never over one of `inputs`.
///
/// # Errors
/// Where it cannot be written.
pub fn replace(path: &Path, content: &[u8], inputs: &[PathBuf]) -> Result<(), Failure> {
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    let mut file = beside(path, &inputs)?;
    file.write_all(content)?;
    keep(file, path)
}

fn beside(path: &Path, inputs: &[&Path]) -> Result<NamedTempFile, Failure> {
    let is = |input: &&Path| {
        path == *input
            || path.canonicalize().is_ok_and(|path| input.canonicalize().is_ok_and(|input| path == input))
    };
    if inputs.iter().any(is) {
        return Err(Failure::usage(format!("{} is an input and would be overwritten", path.display()))
            .with_hint("write to another file"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A temporary file is its owner's alone; this one becomes a file like any other.
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    tempfile::Builder::new()
        .prefix(".rtl-diff-")
        .permissions(permissions)
        .tempfile_in(folder)
        .with_context(|| format!("cannot write {}", path.display()))
        .with_hint("check that the folder exists and can be written")
}

fn keep(mut file: NamedTempFile, path: &Path) -> Result<(), Failure> {
    file.flush()?;
    file.persist(path)
        .map_err(|error| error.error)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

/// Names of the kernels for services that limit their length, never two equal ones.
fn benchmark_names(comparison: &Comparison, longest: usize) -> Vec<String> {
    let titles: Vec<String> = comparison.rows.iter().map(crate::comparison::Row::title).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    cli::shorten_distinct(&titles, longest)
}
