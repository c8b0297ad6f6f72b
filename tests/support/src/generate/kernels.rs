use super::random::Random;

/// A kernel of the synthetic program.
#[derive(Debug, Clone)]
pub(super) struct Kernel {
    pub(super) name: String,
    /// Median duration in ns.
    pub(super) median: f64,
    pub(super) workgroup: [u32; 3],
    /// The launch sizes it alternates between, in work-items.
    pub(super) items: [[u64; 3]; 2],
    pub(super) lds: u32,
    pub(super) scratch: u32,
}

/// How finely the weights of kernels are resolved.
const SLOTS: usize = 1 << 16;

/// All kernels, and how often each is launched: the k-th most frequent about 1/k as often as the first.
#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) all: Vec<Kernel>,
    slots: Vec<u16>,
}

impl Kernels {
    pub(super) fn new(count: u16, random: &mut Random) -> Self {
        let count = count.max(1);
        let all: Vec<Kernel> = (0..count).map(|rank| kernel(rank, random)).collect();
        let weights: Vec<f64> = (0..count).map(|rank| (f64::from(rank) + 1.0).powf(-0.9)).collect();
        let sum: f64 = weights.iter().sum();
        let mut slots = Vec::with_capacity(SLOTS);
        for (rank, weight) in weights.iter().enumerate() {
            let share = (weight / sum * SLOTS as f64).round().max(1.0) as usize;
            slots.resize(slots.len() + share, rank as u16);
        }
        Self { all, slots }
    }

    /// Makes every call of one kernel longer by `factor`; a kernel that does not exist stays as it is.
    pub(super) fn slow(&mut self, kernel: u16, factor: f64) {
        if let Some(kernel) = self.all.get_mut(usize::from(kernel)) {
            kernel.median *= factor;
        }
    }

    #[inline]
    pub(super) fn pick(&self, random: &mut Random) -> u16 {
        self.slots[random.below(self.slots.len() as u64) as usize]
    }
}

/// The names have the length and the parts of those in PyTorch traces: about 230 bytes, most of them equal
/// to those of a neighbour up to a number in the middle.
fn kernel(rank: u16, random: &mut Random) -> Kernel {
    let variant = u64::from(rank / 10);
    let tile = [32, 64, 128, 256][random.below(4) as usize];
    let functor = ["AddFunctor", "MulFunctor", "SiluFunctor", "CopyFunctor"][random.below(4) as usize];
    let dtype = ["float", "c10::Half", "c10::BFloat16"][random.below(3) as usize];
    let (name, median, lds) = match rank % 10 {
        0 | 4 => (
            format!(
                "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT{tile}x{}x64_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_\
                 ASEM1_CLR1_CADS0_DTLA0_DTLB0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8_GSUAMB_GLS0_ISA942_IU1_K1_\
                 LBSPPA{}_LBSPPB512_LPA16_LPB16_LRVW8_MIAV1_MIWT4_{}_WG64_4_1_WGMn8.kd",
                256 / (1 + variant % 3),
                256 * (1 + variant % 4),
                1 + variant,
            ),
            180_000.0,
            32_768 + 4_096 * (variant as u32 % 8),
        ),
        1 | 6 => (
            format!(
                "void at::native::vectorized_elementwise_kernel<{}, at::native::CUDAFunctor_{functor}<{dtype}>, \
                 std::array<char*, {}ul> >(int, at::native::CUDAFunctor_{functor}<{dtype}>, std::array<char*, {}ul>) \
                 [instance {variant}]",
                4 << (variant % 3),
                2 + variant % 3,
                2 + variant % 3,
            ),
            9_000.0,
            0,
        ),
        2 => (
            format!(
                "void at::native::reduce_kernel<512, {}, at::native::ReduceOp<{dtype}, at::native::func_wrapper_t<\
                 {dtype}, at::native::sum_functor<{dtype}, float, {dtype}>::operator()(at::TensorIterator&)::\
                 {{lambda(float, float)#{}}}>, unsigned int, {dtype}, 4> >(at::native::ReduceOp<{dtype}>)",
                1 + variant % 4,
                1 + variant,
            ),
            14_000.0,
            2_048,
        ),
        3 => (
            format!(
                "void (anonymous namespace)::cuApplyLayerNorm<{dtype}, float, {dtype}>({dtype}*, float*, float*, \
                 {dtype} const*, int, int, float, {dtype} const*, {dtype} const*) [clone variant.{variant}]"
            ),
            22_000.0,
            1_024,
        ),
        5 => {
            let primitive =
                ["AllReduce_Sum_bf16_RING_LL", "AllGather_RING_SIMPLE", "ReduceScatter_Sum_bf16_RING"]
                    [variant as usize % 3];
            (
                format!(
                    "ncclDevKernel_{primitive}_{variant}(ncclDevComm*, unsigned long, ncclWork*) [clone .kd]"
                ),
                260_000.0,
                26_112,
            )
        }
        7 => (
            format!(
                "void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVSAsync<\
                 ck_tile::BlockFmhaPipelineProblem<{dtype}, float, ck_tile::TileFmhaShape<ck_tile::sequence<{tile}, \
                 128, 32, 128, 32, 128>, {variant}> > > > >(ck_tile::FmhaFwdKernelKargs)"
            ),
            310_000.0,
            17_408,
        ),
        8 => (
            format!(
                "triton_red_fused__to_copy_add_mean_mul_native_layer_norm_pow_rsqrt_silu_view_{variant}_\
                 0d1d2d3d4d5de6de_{tile}"
            ),
            31_000.0,
            256,
        ),
        _ => (
            format!(
                "void at::native::(anonymous namespace)::cunn_SoftMaxForward<{}, {dtype}, float, {dtype}, at::native::\
                 (anonymous namespace)::SoftMaxForwardEpilogue>({dtype}*, {dtype} const*, int) [instance {variant}]",
                4 << (variant % 3),
            ),
            40_000.0,
            4_096,
        ),
    };
    let flat = lds < 4_096;
    let workgroup = if flat { [256, 1, 1] } else { [64, 4, 1] };
    let width = 64 * (64 + random.below(8_192));
    let height = if flat { 1 } else { 4 * (1 + random.below(64)) };
    Kernel {
        name,
        median: median * (0.4 + 1.6 * random.unit()),
        workgroup,
        items: [[width.next_multiple_of(256), height, 1], [(2 * width).next_multiple_of(256), height, 1]],
        lds,
        scratch: if random.once_in(20) { 64 } else { 0 },
    }
}
