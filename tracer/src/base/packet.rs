//! AQL packets: 64 bytes that the application wrote, with any content.

/// `HSA_PACKET_TYPE_KERNEL_DISPATCH`.
const KERNEL_DISPATCH: u64 = 2;

/// `HSA_PACKET_TYPE_BARRIER_AND` and `HSA_PACKET_TYPE_BARRIER_OR`.
const BARRIERS: [u64; 2] = [3, 5];

/// Low byte and format of a packet of `HSA_PACKET_TYPE_VENDOR_SPECIFIC`, whose format is in the third byte.
const VENDOR: u64 = 0xff_00ff;

/// `HSA_AMD_PACKET_TYPE_BARRIER_VALUE`.
const BARRIER_VALUE: u64 = 2 << 16;

/// `HSA_AMD_PACKET_TYPE_EXT_KERNEL_DISPATCH`, a launch in clusters of work-groups. All fields but the grid are where an ordinary
/// launch has them.
const EXT_KERNEL_DISPATCH: u64 = 3 << 16;

/// A packet of any type (hsa.h, `hsa_kernel_dispatch_packet_t` and the others, all of the same size).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Packet(pub [u64; 8]);

const _: () = assert!(size_of::<Packet>() == 64);

impl Packet {
    /// The low byte of the header is the type of the packet.
    #[inline]
    #[must_use]
    pub fn is_kernel(&self) -> bool {
        self.0[0] & 0xff == KERNEL_DISPATCH || self.0[0] & VENDOR == EXT_KERNEL_DISPATCH
    }

    /// True for the packet that launches nearly all kernels: an ordinary one without a completion signal.
    #[inline(always)]
    #[must_use]
    pub fn is_usual(&self) -> bool {
        self.0[0] & 0xff == KERNEL_DISPATCH && self.completion() == 0
    }

    /// True for a packet that waits for other signals and then completes.
    #[inline]
    #[must_use]
    pub fn is_barrier(&self) -> bool {
        BARRIERS.contains(&(self.0[0] & 0xff)) || self.0[0] & VENDOR == BARRIER_VALUE
    }

    /// Handle of the signal that is decremented when the packet completes; 0 for none. Packets of all types have it at the same
    /// place.
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

    /// Address of the kernel's descriptor.
    #[inline]
    #[must_use]
    pub fn kernel_object(&self) -> u64 {
        self.0[4]
    }

    #[inline]
    #[must_use]
    pub fn launch(&self) -> Launch {
        Launch([self.0[0], self.0[1], self.0[2], self.0[3]])
    }
}

/// The half of a kernel's packet with the shape of the launch, which is decoded only when it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Launch([u64; 4]);

impl Launch {
    /// Work-items of a work-group.
    #[must_use]
    pub fn workgroup(self) -> [u16; 3] {
        [(self.0[0] >> 32) as u16, (self.0[0] >> 48) as u16, self.0[1] as u16]
    }

    /// Work-items; `u32::MAX` where a launch in clusters has more.
    #[must_use]
    pub fn grid(self) -> [u32; 3] {
        let [header, words @ ..] = self.0;
        if header & VENDOR != EXT_KERNEL_DISPATCH {
            return [(words[0] >> 32) as u32, words[1] as u32, (words[1] >> 32) as u32];
        }
        let clusters = [words[0] >> 32, words[1] & 0xffff, words[1] >> 16 & 0xffff];
        let groups = [words[1] >> 32 & 0xff, words[1] >> 40 & 0xff, words[1] >> 48 & 0xff];
        let workgroup = self.workgroup().map(u64::from);
        let items = |at: usize| clusters[at].saturating_mul(groups[at]).saturating_mul(workgroup[at]);
        std::array::from_fn(|at| u32::try_from(items(at)).unwrap_or(u32::MAX))
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
    fn a_launch_in_clusters_is_a_kernel_whose_grid_is_in_work_items() {
        // The layout is that of hsa_amd_ext_kernel_dispatch_packet_t in iree-org/hsa-runtime-headers 5caf4364.
        let mut bytes = [0_u8; 64];
        bytes[2] = 3;
        for (place, value) in [(4, 64_u16), (6, 2), (8, 1), (16, 3), (18, 1)] {
            bytes[place..place + 2].copy_from_slice(&value.to_le_bytes());
        }
        bytes[12..16].copy_from_slice(&1000_u32.to_le_bytes());
        bytes[20..23].copy_from_slice(&[8, 2, 1]);
        bytes[24..28].copy_from_slice(&5_u32.to_le_bytes());
        bytes[28..32].copy_from_slice(&6_u32.to_le_bytes());
        bytes[32..40].copy_from_slice(&7_u64.to_le_bytes());
        let packet = with(0, &bytes);
        assert!(packet.is_kernel() && !packet.is_barrier());
        let launch = packet.launch();
        assert_eq!((packet.kernel_object(), launch.scratch(), launch.lds()), (7, 5, 6));
        assert_eq!(launch.workgroup(), [64, 2, 1]);
        assert_eq!(launch.grid(), [1000 * 8 * 64, 3 * 2 * 2, 1]);
        bytes[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(with(0, &bytes).launch().grid()[0], u32::MAX);
    }

    #[test]
    fn vendor_packets_of_other_formats_are_no_kernels() {
        for format in (0..=255_u8).filter(|format| *format != 3) {
            assert!(!with(2, &[format]).is_kernel(), "{format}");
        }
    }

    #[test]
    fn another_completion_signal_changes_nothing_else() {
        let mut packet = Packet([1, 2, 3, 4, 5, 6, 7, 8]);
        packet.set_completion(9);
        assert_eq!(packet, Packet([1, 2, 3, 4, 5, 6, 7, 9]));
    }
}
