//! Collects names of GPUs, threads, devices and streams for a callback.

use std::ffi::CString;

use rustc_hash::FxHashSet;

use super::text::{length, spoken};
use crate::base::abi::{self, NameKind};
use crate::base::gpus::Gpu;
use crate::base::registry::Registry;
use crate::events::ranges::RangeEventKind;

#[derive(Default)]
pub(super) struct NameRecords {
    pub(super) records: Vec<abi::Name>,
    /// The memory that the records point to.
    texts: Vec<CString>,
    /// Threads whose names are known.
    threads: FxHashSet<u32>,
    /// The thread that was registered last.
    last: u32,
    /// Number of GPUs that are listed.
    gpus: u32,
}

impl NameRecords {
    fn add(&mut self, kind: NameKind, number: u64, text: &str) {
        let text = spoken(text);
        // The text itself does not move when the list grows.
        self.records.push(abi::Name { number, text: text.as_ptr(), text_length: length(&text), kind });
        self.texts.push(text);
    }

    /// Adds the kernel's name of a thread, unless that is done already.
    #[inline]
    pub(super) fn register(&mut self, tid: u32) {
        if tid != self.last {
            self.last = tid;
            self.register_another(tid);
        }
    }

    fn register_another(&mut self, tid: u32) {
        if self.threads.insert(tid)
            && let Ok(name) = std::fs::read_to_string(format!("/proc/self/task/{tid}/comm"))
        {
            self.add(NameKind::Thread, tid.into(), name.trim_end());
        }
    }

    /// Adds a name that the program has given by roctx.
    pub(super) fn add_given(&mut self, what: RangeEventKind, number: u64, text: &str) {
        let kind = match what {
            RangeEventKind::NameAgent => NameKind::Agent,
            RangeEventKind::NameDevice => NameKind::Device,
            RangeEventKind::NameStream => NameKind::Stream,
            _ => {
                self.threads.insert(number as u32);
                NameKind::Thread
            }
        };
        self.add(kind, number, text);
    }

    /// Adds the GPUs that are not named yet.
    pub(super) fn list(&mut self, gpus: &Registry<Gpu>) {
        for gpu in gpus.since(self.gpus) {
            let (number, details) = (gpu.number.into(), &gpu.details);
            let names = [
                (NameKind::Gpu, details.product.clone()),
                (NameKind::GpuTarget, details.target.clone()),
                (NameKind::GpuPci, details.pci()),
            ];
            for (kind, name) in names {
                if let Some(name) = name {
                    self.add(kind, number, &name);
                }
            }
            self.gpus += 1;
        }
    }

    /// Called when the records have been delivered.
    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.texts.clear();
    }
}
