//! Facts about each dispatched kernel, found once in the memory that its object lies in.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use crate::behaviour::{Behaviour, Span, Timestamps};
use crate::blit::Blit;
use crate::code;
use crate::memory::Content;
use crate::simulator::Simulator;
use crate::word::Bytes;

/// A kernel, or all unknown ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Mangled name.
    pub(crate) name: Option<String>,
    /// `None` unless it is one of a runtime's own kernels for copies and fills.
    pub(crate) blit: Option<Blit>,
    pub(crate) time: Span,
    pub(crate) delay: Span,
    pub(crate) timestamps: Timestamps,
}

/// Position in the list of all kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KernelId(usize);

/// Size of the cache of recent kernel objects, each at the place that its address gives.
const RECENT: usize = 1024;

#[derive(Debug)]
pub(crate) struct Kernels {
    /// The first entry stands for all unknown kernels. The list grows with the names, not with reloads.
    list: Vec<Kernel>,
    by_name: HashMap<String, KernelId>,
    recent: Vec<(u64, KernelId)>,
    /// Number of frees when the recent ones were looked up: the memory at an address stays the same as long as nothing is freed.
    freed: u64,
}

impl Kernels {
    /// Also stands for everything that is no kernel: barriers, and packets of vendors.
    pub(crate) const UNKNOWN: KernelId = KernelId(0);

    pub(crate) fn new(behaviour: &Behaviour) -> Self {
        let unknown = Kernel {
            name: None,
            blit: None,
            time: behaviour.kernel.others,
            delay: behaviour.delay.others,
            timestamps: behaviour.timestamps.others,
        };
        Self {
            list: vec![unknown],
            by_name: HashMap::new(),
            recent: vec![(0, Self::UNKNOWN); RECENT],
            freed: 0,
        }
    }

    pub(crate) fn get(&self, id: KernelId) -> &Kernel {
        &self.list[id.0]
    }

    /// The kernel that this object describes.
    pub(crate) fn find(&mut self, object: u64, simulator: &Simulator) -> KernelId {
        let freed = simulator.freed.load(Ordering::Acquire);
        if self.freed != freed {
            self.freed = freed;
            self.recent.fill((0, Self::UNKNOWN));
        }
        let slot = (object >> 6) as usize % RECENT;
        if self.recent[slot].0 != object {
            self.recent[slot] = (object, self.look_up(object, simulator));
        }
        self.recent[slot].1
    }

    fn look_up(&mut self, object: u64, simulator: &Simulator) -> KernelId {
        let (name, blit) = identify(object, simulator);
        let behaviour = &simulator.settings.behaviour;
        let has_rules = !behaviour.kernel.is_uniform()
            || !behaviour.delay.is_uniform()
            || !behaviour.timestamps.is_uniform();
        if name.is_none() && blit.is_none() && !has_rules {
            return Self::UNKNOWN;
        }
        let kernel = Kernel {
            time: behaviour.kernel.for_kernel(name.as_deref(), object),
            delay: behaviour.delay.for_kernel(name.as_deref(), object),
            timestamps: behaviour.timestamps.for_kernel(name.as_deref(), object),
            name,
            blit,
        };
        let key = kernel.name.clone().unwrap_or_else(|| format!("{object:#x} {blit:?}"));
        if let Some(id) = self.by_name.get(&key).filter(|id| self.list[id.0] == kernel) {
            return *id;
        }
        let id = KernelId(self.list.len());
        self.list.push(kernel);
        self.by_name.insert(key, id);
        id
    }
}

/// The kernel's name, and its kind if it moves bytes. Both are `None` for objects outside the program's allocations.
fn identify(object: u64, simulator: &Simulator) -> (Option<String>, Option<Blit>) {
    let Some(stored) = simulator.memory().stored(object) else { return (None, None) };
    let read = |at: u64, count: usize| {
        let from = at.checked_sub(stored.address)?;
        if from.checked_add(count as u64)? > stored.size {
            return None;
        }
        match stored.content {
            Content::File(first) => simulator.device.read(first + from, count),
            // SAFETY: the program has given this memory to the GPU and not taken it back.
            Content::Program(first) => Some(unsafe { Bytes::at(first + from, count) }.to_vec()),
        }
    };
    if let Some(name) = code::name(object, stored.address, &read) {
        let blit = Blit::from_name(&name);
        return (Some(name), blit);
    }
    const PAGE: u64 = 4096;
    let page = object.is_multiple_of(PAGE).then(|| read(object, PAGE as usize)).flatten();
    (None, page.and_then(|page| Blit::from_page(&page)))
}
