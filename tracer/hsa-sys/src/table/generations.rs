//! The layouts that were found in the history of the runtime.
//!
//! Commits are of `ROCm/ROCR-Runtime` (its history is also in `ROCm/rocm-systems`, projects/rocr-runtime),
//! file runtime/hsa-runtime/inc/hsa_api_trace.h.

use super::Generation;

pub(super) const fn generation(major: u32, minor: u32, source: &'static str) -> Generation {
    Generation { major, minor, step: None, source }
}

/// Makes a generation whose size another branch has, too, so that only the step distinguishes them.
const fn stepped(major: u32, minor: u32, step: u32, source: &'static str) -> Generation {
    Generation { major, minor, step: Some(step), source }
}

/// The known sizes of `HsaApiTable`. Pointers were only added at the end, except for one that lasted from August to November 2017
/// (a seventh field in a table of major 1) and was never in a release with queue interception.
pub const ROOT: &[Generation] = &[
    generation(1, 48, "95dc97da 2016-07-06; ROCm 1.2 to 5.7"),
    generation(2, 48, "03f2f69d 2023-08-29; ROCm 6.0"),
    generation(3, 56, "a67af380 2024-02-07, tools_; ROCm 6.1"),
    generation(3, 64, "0bc244e1 2024-04-11, pc_sampling_ext_; ROCm 6.2 and newer"),
];

/// The known sizes of `CoreApiTable`: 125 functions in the same order since January 2017.
pub const CORE: &[Generation] = &[
    generation(1, 1016, "796d31d9 2017-01-27; ROCm 1.5 to 5.7"),
    generation(2, 1016, "03f2f69d 2023-08-29; ROCm 6.0 and newer"),
];

/// The known sizes of `AmdExtTable` since it has queue interception. Where releases are named, their tags or packages were read.
pub const AMD_EXTENSION: &[Generation] = &[
    generation(1, 312, "0c7dde2d 2017-11-08; ROCm 1.7 and 1.8"),
    generation(1, 320, "e388a233 2018-06-19; ROCm 1.9.0 and 1.9.1"),
    generation(1, 328, "e0839ab2 2018-08-29; ROCm 1.9.2"),
    generation(1, 336, "757502cc 2018-10-20; ROCm 2.0 to 2.3"),
    generation(1, 344, "a535e18c 2019-03-29; ROCm 2.4 to 2.6"),
    generation(1, 360, "299874f1 2019-06-26; ROCm 2.7 to 4.1"),
    generation(1, 368, "01f42dbe 2021-02-10; ROCm 4.2"),
    generation(1, 392, "7333c77e 2021-04-02; ROCm 4.3"),
    generation(1, 400, "4455250b 2021-07-29; ROCm 4.5 to 5.4"),
    generation(1, 424, "6bfe57ae 2022-12-08, three functions inserted before queue_cu_get_mask; ROCm 5.5"),
    generation(1, 432, "8f27f495 2023-02-13, memory_copy_engine_status inserted at 144"),
    generation(1, 440, "30920fc9 2023-02-13, memory_async_copy_on_engine inserted at 144"),
    generation(1, 456, "42243c1e 2023-03-06; ROCm 5.6 and 5.7"),
    generation(1, 472, "1085311f 2023-07-21"),
    generation(1, 488, "e4a84c4a 2023-07-21"),
    generation(1, 504, "179dcf1c 2023-07-21"),
    generation(1, 520, "13fbd8a2 2023-07-21"),
    generation(1, 536, "b03c96c2 2023-07-21"),
    generation(1, 552, "687eb043 2023-07-21"),
    generation(2, 552, "03f2f69d 2023-08-29; ROCm 6.0"),
    generation(2, 560, "dca8f3a2 2023-12-04; ROCm 6.1"),
    generation(2, 568, "d6d57860 2024-04-11"),
    // Between these two commits 464 to 576 were in another order under the same version: no entry lies there.
    generation(2, 576, "08c44fbd 2024-06-25 and 64af2d71 2024-08-07; ROCm 6.2"),
    generation(2, 584, "26e105d9 2024-08-07"),
    generation(2, 592, "8a38f121 2025-01-27; Debian's 6.4.3"),
    generation(2, 600, "57c0c643 2025-04-22"),
    generation(2, 608, "3a9d14bb 2025-06-09"),
    generation(2, 624, "Debian's libhsa-runtime-dev 7.2.4"),
    // Of the next two the version file was not at hand: their major is taken to be that of 7.2.4, and should it
    // be another they are refused. Behind 672 bytes two branches went on differently: no entry lies there.
    generation(2, 672, "rocm-systems 04f30149, hsa_api_trace.cpp (size); order as at 704"),
    generation(2, 704, "rocm-systems 0b2ca8ed"),
    // Steps of the first two are inferred from that of the third. 720 bytes are a branch with another function at 704.
    stepped(2, 712, 0x10, "iree-org/hsa-runtime-headers 5caf4364 (order); hsa_amd_queue_create at 704"),
    stepped(2, 728, 0x11, "as above"),
    stepped(2, 744, 0x12, "rocm-systems 41e1945c; ROCm 10"),
];
