//! The program's allocations. Their content lies in the device's file or in the program's own memory; the GPU sees it at the
//! address that the program chose.

use std::collections::{BTreeMap, HashMap};

use crate::device::{ALLOCATIONS, Device};

/// Allocation flags: memory of a GPU, memory that the program already has, and pages of doorbells.
const ON_GPU: u32 = 1;
pub(crate) const USER_POINTER: u32 = 1 << 2;
pub(crate) const DOORBELL: u32 = 1 << 3;

/// Every allocation begins at a multiple of this in the device's file.
const ALIGNMENT: u64 = 2 << 20;

#[derive(Debug)]
struct Allocation {
    /// `None` where the device's file holds nothing for it.
    offset: Option<u64>,
    /// Address in the GPU's address space.
    address: u64,
    size: u64,
    /// The GPU that it was allocated for, and whether it lies in that GPU's memory.
    node: u32,
    on_gpu: bool,
    /// The GPU's address, where it is an alias.
    alias: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Memory {
    by_handle: HashMap<u64, Allocation>,
    last_handle: u64,
    next_offset: u64,
    /// Memory of the program that the GPU sees at another address: by the GPU's address, with the length.
    aliases: BTreeMap<u64, (u64, u64)>,
    /// Handles by the GPU's address.
    by_address: BTreeMap<u64, u64>,
}

/// An allocation in the GPU's address space, and the place of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredAllocation {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) content: Content,
}

/// The place of the bytes of an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// In the device's file, from this offset on.
    File(u64),
    /// At this address of the program's own memory.
    Program(u64),
}

/// A new allocation: its handle, and the offset in the device's file that the program maps.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NewAllocation {
    pub(crate) handle: u64,
    pub(crate) offset: Option<u64>,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self {
            by_handle: HashMap::new(),
            last_handle: 0,
            next_offset: ALLOCATIONS,
            aliases: BTreeMap::new(),
            by_address: BTreeMap::new(),
        }
    }

    pub(crate) fn allocate(&mut self, node: u32, address: u64, size: u64, flags: u32) -> NewAllocation {
        let offset = (flags & (USER_POINTER | DOORBELL) == 0).then(|| {
            let offset = self.next_offset;
            self.next_offset += size.next_multiple_of(ALIGNMENT);
            offset
        });
        self.last_handle += 1;
        let handle = self.last_handle;
        let on_gpu = flags & ON_GPU != 0;
        self.by_handle.insert(handle, Allocation { offset, address, size, node, on_gpu, alias: None });
        self.by_address.insert(address, handle);
        NewAllocation { handle, offset }
    }

    /// Notes that the GPU sees the program's memory at `host` of this allocation at another address.
    pub(crate) fn alias(&mut self, handle: u64, gpu: u64, host: u64) {
        let Some(allocation) = self.by_handle.get_mut(&handle) else { return };
        if gpu != host {
            allocation.alias = Some(gpu);
            self.aliases.insert(gpu, (host, allocation.size));
        }
    }

    /// The program's address of the memory that the GPU sees at this one.
    pub(crate) fn host_address(&self, gpu: u64) -> u64 {
        match self.aliases.range(..=gpu).next_back() {
            Some((first, (host, size))) if gpu - first < *size => host + (gpu - first),
            _ => gpu,
        }
    }

    fn containing(&self, gpu: u64) -> Option<&Allocation> {
        let (first, handle) = self.by_address.range(..=gpu).next_back()?;
        self.by_handle.get(handle).filter(|allocation| gpu - first < allocation.size)
    }

    /// The allocation around this address of the GPU.
    pub(crate) fn stored(&self, gpu: u64) -> Option<StoredAllocation> {
        let Allocation { address, size, offset, .. } = *self.containing(gpu)?;
        let content = offset.map_or_else(|| Content::Program(self.host_address(address)), Content::File);
        Some(StoredAllocation { address, size, content })
    }

    /// True if the whole range is within one allocation.
    pub(crate) fn has(&self, gpu: u64, bytes: u64) -> bool {
        self.containing(gpu).is_some_and(|one| bytes <= one.size - (gpu - one.address))
    }

    /// The node whose memory this address of the GPU is; the host's is 0.
    pub(crate) fn node(&self, gpu: u64) -> u32 {
        self.containing(gpu).filter(|allocation| allocation.on_gpu).map_or(0, |allocation| allocation.node)
    }

    /// False if there was no such allocation.
    pub(crate) fn free(&mut self, handle: u64, device: &Device) -> bool {
        let Some(allocation) = self.by_handle.remove(&handle) else { return false };
        if let Some(alias) = allocation.alias {
            self.aliases.remove(&alias);
        }
        if self.by_address.get(&allocation.address) == Some(&handle) {
            self.by_address.remove(&allocation.address);
        }
        if let Some(offset) = allocation.offset {
            device.discard(offset, allocation.size);
        }
        true
    }

    pub(crate) fn knows(&self, handle: u64) -> bool {
        self.by_handle.contains_key(&handle)
    }

    /// Bytes allocated for this GPU.
    pub(crate) fn used(&self, node: u32) -> u64 {
        let here = |allocation: &&Allocation| allocation.node == node && allocation.offset.is_some();
        self.by_handle.values().filter(here).map(|allocation| allocation.size).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_do_not_overlap_in_the_file() {
        let mut memory = Memory::new();
        let first = memory.allocate(1, 0, 4096, 1).offset.unwrap();
        let second = memory.allocate(1, 0, 3 << 20, 1).offset.unwrap();
        let third = memory.allocate(2, 0, 1, 1).offset.unwrap();
        assert_eq!([first, second, third].map(|offset| (offset - ALLOCATIONS) >> 20), [0, 2, 6]);
        assert_eq!((memory.used(1), memory.used(2)), ((3 << 20) + 4096, 1));
    }

    #[test]
    fn memory_of_the_program_takes_no_place_in_the_file() {
        let mut memory = Memory::new();
        assert_eq!(memory.allocate(1, 0, 4096, USER_POINTER).offset, None);
        assert_eq!(memory.used(1), 0);
    }

    #[test]
    fn the_program_finds_its_own_memory_behind_the_gpus_address() {
        let mut memory = Memory::new();
        let handle = memory.allocate(1, 0, 0x1000, USER_POINTER).handle;
        memory.alias(handle, 0x7000_0000, 0x10_0010);
        assert_eq!(memory.host_address(0x7000_0020), 0x10_0030);
        assert_eq!(memory.host_address(0x7000_1000), 0x7000_1000);
        assert!(memory.free(handle, &Device::new().unwrap()));
        assert_eq!(memory.host_address(0x7000_0020), 0x7000_0020);
    }

    #[test]
    fn an_address_belongs_to_the_allocation_around_it() {
        let mut memory = Memory::new();
        let on_gpu = memory.allocate(2, 0x10_0000, 0x2000, ON_GPU);
        memory.allocate(2, 0x20_0000, 0x2000, 2);
        let content = Content::File(on_gpu.offset.unwrap());
        let stored = StoredAllocation { address: 0x10_0000, size: 0x2000, content };
        assert_eq!(memory.stored(0x10_1fff), Some(stored));
        assert_eq!(memory.stored(0x10_2000), None);
        assert_eq!([0x10_0000, 0x10_2000, 0x20_0000].map(|at| memory.node(at)), [2, 0, 0]);
        memory.free(on_gpu.handle, &Device::new().unwrap());
        assert_eq!(memory.stored(0x10_1fff), None);
    }

    #[test]
    fn a_handle_is_freed_once() {
        let device = Device::new().unwrap();
        let mut memory = Memory::new();
        let handle = memory.allocate(1, 0, 4096, 1).handle;
        assert!(memory.free(handle, &device));
        assert!(!memory.free(handle, &device));
    }
}
