use crate::Categories;
use crate::names::categories::COLLECTIVE;

/// Words of collectives that no member leaves before all have come. A rooted reduce and a broadcast end on some members
/// earlier.
const WORDS: [&str; 12] = [
    "allreduce",
    "all_reduce",
    "allgather",
    "all_gather",
    "reducescatter",
    "reduce_scatter",
    "alltoall",
    "all_to_all",
    "cross_device_reduce",
    // RCCL's kernel for whatever was asked for: what it was shows in when its members leave.
    "generic_",
    "barrier",
    // NCCL's kernel for all-to-all, sends and receives: a pair matches where both leave together.
    "sendrecv",
];

/// Returns whether a kernel of this name is a collective that all its members leave together, as far as the name says.
#[must_use]
pub fn synchronises(name: &str) -> bool {
    if Categories::default().of(name) != COLLECTIVE {
        return false;
    }
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooted_collectives_say_nothing_of_clocks() {
        for (name, expected) in [
            ("ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", true),
            ("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", true),
            ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_SIMPLE", true),
            ("void vllm::cross_device_reduce_2stage<__half, 8>(vllm::RankData*)", true),
            ("ncclDevKernel_Broadcast_RING_LL", false),
            ("ncclDevKernel_Reduce_Sum_f32_RING_LL", false),
            ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", true),
            ("void at::native::reduce_kernel<512, 1>", false),
            ("Cijk_Alik_Bljk_GG_BiasSH", false),
        ] {
            assert_eq!(synchronises(name), expected, "{name}");
        }
    }
}
