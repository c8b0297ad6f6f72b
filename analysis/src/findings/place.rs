//! Where a thread was, in words.

use rtl_schema::Tables;

use super::activity::{self, Activity};
use crate::idle::{Loss, Losses, PathId, Site, SpanKind};

/// Folders of Python files that belong to a framework or to Python itself.
const FOREIGN: [&str; 12] = [
    "torch/",
    "torch_",
    "site-packages/",
    "dist-packages/",
    "lib/python",
    "<frozen",
    "<string>",
    "<__",
    "transformers/",
    "triton/",
    "jax/",
    "accelerate/",
];

/// Modules of Python that call the program or are called by it; torch.profiler gives their files without a folder.
const STANDARD: [&str; 22] = [
    "queue",
    "threading",
    "selectors",
    "socket",
    "subprocess",
    "contextlib",
    "functools",
    "runpy",
    "copy",
    "inspect",
    "random",
    "typing",
    "abc",
    "tempfile",
    "pickle",
    "weakref",
    "logging",
    "gc",
    "time",
    "os",
    "collections",
    "re",
];

/// The names around sites of one GPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) tables: &'a Tables,
    pub(super) losses: &'a Losses,
}

/// A loss with the GPU that had it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    /// The position of the GPU.
    pub(super) gpu: usize,
    pub(super) places: Places<'a>,
    pub(super) loss: &'a Loss,
}

impl<'a> Places<'a> {
    /// The spans of a chain with their names, innermost first, without steps of torch.profiler.
    pub(super) fn spans(self, path: PathId) -> impl Iterator<Item = (&'a str, SpanKind)> + Clone {
        let spans = self.losses.paths.spans(path).filter(|(_, kind)| *kind != SpanKind::Step);
        spans.map(move |(name, kind)| (self.tables.strings.get(name), kind))
    }

    pub(super) fn activity(self, site: Site) -> Option<Activity> {
        activity::of(self.spans(site.path))
    }

    /// `aten::item -> cudaStreamSynchronize, from train.py(12): step`; nothing where nothing is known.
    pub(super) fn label(self, site: Site) -> Option<String> {
        let call = site.call.is_some().then(|| self.tables.strings.get(site.call));
        let innermost = self.spans(site.path).next();
        let within = innermost.map(|(name, _)| name);
        let label = match (within, call) {
            (Some(within), Some(call)) => format!("{within} -> {call}"),
            (Some(one), None) | (None, Some(one)) => one.to_owned(),
            (None, None) if site.path == PathId::NONE => return None,
            (None, None) => return Some("code outside of operators".to_owned()),
        };
        Some(match self.own_function(site.path).filter(|name| Some(*name) != within) {
            Some(caller) => format!("{label}, from {caller}"),
            None => label,
        })
    }

    /// The innermost function of the program itself.
    fn own_function(self, path: PathId) -> Option<&'a str> {
        let is_own = |&(name, kind): &(&str, SpanKind)| kind == SpanKind::Python && is_own_code(name);
        let own = || self.spans(path).filter(is_own).map(|(name, _)| name);
        // The outermost function is the program; packages that it uses are in folders of their own.
        let folder = |name: &str| name.split_once('/').map(|(folder, _)| folder.to_owned());
        let program = folder(own().last()?);
        own().find(|name| folder(name) == program)
    }

    /// The function of the program itself, else where the thread is.
    pub(super) fn caller(self, site: Site) -> Option<String> {
        self.own_function(site.path).map(str::to_owned).or_else(|| self.label(site))
    }
}

/// Returns whether a Python function such as `train.py(12): step` belongs to the program.
pub(super) fn is_own_code(name: &str) -> bool {
    let Some((file, _)) = name.split_once(".py(") else { return false };
    let is_standard = !file.contains('/') && STANDARD.contains(&file);
    !is_standard
        && !FOREIGN.iter().any(|foreign| file.starts_with(foreign) || file.contains(&format!("/{foreign}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_the_program_is_told_from_that_of_frameworks() {
        for name in
            ["train.py(12): step", "/home/a/model/attention.py(7): forward", "src/loop.py(3): <module>"]
        {
            assert!(is_own_code(name), "{name}");
        }
        for name in [
            "torch/optim/optimizer.py(385): wrapper",
            "/usr/lib/python3.11/json/decoder.py(12): decode",
            "/env/lib/python3.12/site-packages/numpy/a.py(1): f",
            "queue.py(154): get",
            "<built-in method step>",
            "nn.Module: Linear_0",
            "<frozen importlib._bootstrap>(1): _call",
        ] {
            assert!(!is_own_code(name), "{name}");
        }
    }
}
