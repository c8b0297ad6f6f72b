//! AQL packets, as 64 bytes that the application wrote. Any content is possible.

/// `HSA_PACKET_TYPE_KERNEL_DISPATCH`.
const KERNEL_DISPATCH: u64 = 2;

/// `HSA_PACKET_TYPE_BARRIER_AND` and `HSA_PACKET_TYPE_BARRIER_OR`.
const BARRIERS: [u64; 2] = [3, 5];

/// `HSA_PACKET_TYPE_VENDOR_SPECIFIC` in the low byte, and `HSA_AMD_PACKET_TYPE_BARRIER_VALUE` behind the header.
const BARRIER_VALUE: u64 = 2 << 16;

/// One packet (hsa.h, `hsa_kernel_dispatch_packet_t` and the others, all of the same size).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Packet(pub [u64; 8]);

const _: () = assert!(size_of::<Packet>() == 64);

impl Packet {
    /// Whether it launches a kernel: the low byte of the header says what a packet is.
    #[inline]
    #[must_use]
    pub fn is_kernel(&self) -> bool {
        self.0[0] & 0xff == KERNEL_DISPATCH
    }

    /// Whether it waits for other signals and then completes.
    #[inline]
    #[must_use]
    pub fn is_barrier(&self) -> bool {
        BARRIERS.contains(&(self.0[0] & 0xff)) || self.0[0] & 0xff_00ff == BARRIER_VALUE
    }

    /// The handle of the signal that is decremented when the packet completes; 0 for none. At the same place in
    /// packets of every type.
    #[inline]
    #[must_use]
    pub fn completion(&self) -> u64 {
        self.0[7]
    }

    /// Makes the packet decrement this signal when it completes.
    #[inline]
    pub fn set_completion(&mut self, signal: u64) {
        self.0[7] = signal;
    }

    /// The address of the kernel's descriptor.
    #[inline]
    #[must_use]
    pub fn kernel_object(&self) -> u64 {
        self.0[4]
    }

    /// What a kernel's launch looks like.
    #[inline]
    #[must_use]
    pub fn launch(&self) -> Launch {
        Launch([self.0[0], self.0[1], self.0[2], self.0[3]])
    }
}

/// The half of a kernel's packet that says in what shape it is launched, kept as it came until someone asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Launch([u64; 4]);

impl Launch {
    /// Work-items of a work-group.
    #[must_use]
    pub fn workgroup(self) -> [u16; 3] {
        [(self.0[0] >> 32) as u16, (self.0[0] >> 48) as u16, self.0[1] as u16]
    }

    /// Work-items.
    #[must_use]
    pub fn grid(self) -> [u32; 3] {
        [(self.0[1] >> 32) as u32, self.0[2] as u32, (self.0[2] >> 32) as u32]
    }

    /// Scratch memory of a work-item in bytes.
    #[must_use]
    pub fn scratch(self) -> u32 {
        self.0[3] as u32
    }

    /// LDS of a work-group in bytes.
    #[must_use]
    pub fn lds(self) -> u32 {
        (self.0[3] >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use hsa_sys::bindings::hsa_kernel_dispatch_packet_t as Fields;

    use super::*;

    /// A packet with these bytes at the place of a field.
    fn with(field: usize, bytes: &[u8]) -> Packet {
        let mut all = [0_u8; 64];
        all[field..field + bytes.len()].copy_from_slice(bytes);
        let mut words = all.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        Packet(std::array::from_fn(|_| words.next().unwrap()))
    }

    #[test]
    fn fields_are_where_the_header_of_the_runtime_has_them() {
        assert!(with(offset_of!(Fields, header), &0x1502_u16.to_le_bytes()).is_kernel());
        assert!(!with(offset_of!(Fields, header), &0x1503_u16.to_le_bytes()).is_kernel());
        for (header, is_barrier) in
            [(0x1503, true), (0x1505, true), (0x2_1500, true), (0x1_1500, false), (0x1502, false)]
        {
            assert_eq!(with(0, &u32::to_le_bytes(header)).is_barrier(), is_barrier, "{header:#x}");
        }
        assert_eq!(with(offset_of!(Fields, completion_signal), &7_u64.to_le_bytes()).completion(), 7);
        assert_eq!(with(offset_of!(Fields, kernel_object), &7_u64.to_le_bytes()).kernel_object(), 7);
        let shape: Vec<u8> = [1_u16, 2, 3].iter().flat_map(|size| size.to_le_bytes()).collect();
        assert_eq!(with(offset_of!(Fields, workgroup_size_x), &shape).launch().workgroup(), [1, 2, 3]);
        let shape: Vec<u8> = [1_u32, 2, 3].iter().flat_map(|size| size.to_le_bytes()).collect();
        assert_eq!(with(offset_of!(Fields, grid_size_x), &shape).launch().grid(), [1, 2, 3]);
        assert_eq!(
            with(offset_of!(Fields, private_segment_size), &5_u32.to_le_bytes()).launch().scratch(),
            5
        );
        assert_eq!(with(offset_of!(Fields, group_segment_size), &5_u32.to_le_bytes()).launch().lds(), 5);
    }

    #[test]
    fn another_completion_signal_changes_nothing_else() {
        let mut packet = Packet([1, 2, 3, 4, 5, 6, 7, 8]);
        packet.set_completion(9);
        assert_eq!(packet, Packet([1, 2, 3, 4, 5, 6, 7, 9]));
    }
}
