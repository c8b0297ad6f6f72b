//! Where a thread was, in words.

use rtl_schema::Tables;

use super::activity::Activity;
use crate::idle::{Loss, Losses, PathId, Site, SpanKind};
use crate::names::span_names::span_name;

/// The place of a thread that is in nothing but a step.
pub(super) const OUTSIDE: &str = "code outside of operators";

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
    pub(super) activity: Option<Activity>,
    pub(super) loss: &'a Loss,
    /// It is before the first op, outside of the wall time of the GPU.
    pub(super) is_before: bool,
    /// The time of the loss in ns, without what other GPUs wait for.
    pub(super) ns: u64,
}

impl<'a> Places<'a> {
    /// The spans of a chain with their names, innermost first, without steps of torch.profiler.
    pub(super) fn spans(self, path: PathId) -> impl Iterator<Item = (&'a str, SpanKind)> + Clone {
        let spans = self.losses.paths.spans(path).filter(|(_, kind)| *kind != SpanKind::Step);
        spans.map(move |(name, kind)| (self.tables.strings.get(name), kind))
    }

    /// `aten::item -> cudaStreamSynchronize, from train.py(12): step`; nothing where nothing is known.
    pub(super) fn label(self, site: Site) -> Option<String> {
        let call = site.call.is_some().then(|| self.tables.strings.get(site.call));
        let innermost = self.spans(site.path).next();
        let within = innermost.map(|(name, _)| span_name(name));
        // A capture of a graph begins in its call and goes on.
        let call = call.filter(|call| within.is_none() || !begins_capture(call));
        let label = match (&within, call) {
            (Some(within), Some(call)) => format!("{within} -> {call}"),
            (Some(one), None) => one.to_string(),
            (None, Some(one)) => one.to_owned(),
            (None, None) if site.path == PathId::NONE => return None,
            (None, None) => return Some(OUTSIDE.to_owned()),
        };
        let caller = self.own_function(site.path).map(span_name);
        Some(match caller.filter(|name| within.as_ref() != Some(name)) {
            Some(caller) => format!("{label}, from {caller}"),
            None => label,
        })
    }

    /// The innermost function of the program itself.
    fn own_function(self, path: PathId) -> Option<&'a str> {
        let own = || self.spans(path).filter(|(_, kind)| *kind == SpanKind::OwnPython).map(|(name, _)| name);
        // The outermost function is the program; packages that it uses are in folders of their own.
        let folder = |name: &'a str| name.split_once('/').map(|(folder, _)| folder);
        let program = folder(own().last()?);
        own().find(|name| folder(name) == program)
    }

    /// The ranges and operators of a chain, outermost first.
    pub(super) fn outermost(self, path: PathId) -> Vec<(&'a str, SpanKind)> {
        let is_named = |kind: SpanKind| matches!(kind, SpanKind::Range | SpanKind::Operator);
        let mut spans: Vec<(&str, SpanKind)> = self.spans(path).filter(|(_, kind)| is_named(*kind)).collect();
        spans.reverse();
        spans
    }

    /// The function of the program itself, else the outermost range or operator within `shared` ranges, else where the thread is.
    pub(super) fn caller(self, site: Site, shared: usize) -> Option<String> {
        let outermost = || {
            let names = self.outermost(site.path);
            names.get(shared).or(names.last()).map(|&(name, _)| span_name(name).into_owned())
        };
        self.own_function(site.path)
            .map(|name| span_name(name).into_owned())
            .or_else(outermost)
            .or_else(|| self.label(site))
    }
}

/// Returns whether a call begins the capture of a graph, which goes on after it.
pub(super) fn begins_capture(call: &str) -> bool {
    call.contains("StreamBeginCapture")
}
