/* Copies, fills and allocations by functions of HIP that the other programs do not call, each with a size of its own:
 *
 *   hip_memory CODE_OBJECT HOW
 *
 * HOW  peers     from GPU to GPU, with the access of peers enabled, by every function that copies so
 *      pools     memory of a stream's pool and of one of its own, freed in the stream among kernels that use it
 *      streams   copies and fills on the thread's own default stream (`_spt`)
 *
 * Into REPORT goes, per copy or fill:  asked <TAB> function <TAB> bytes <TAB> kind as HIP numbers them, 5 of a fill. Prints
 * functions that fail:  function <TAB> status; and, per way and GPU of a copy:  way <TAB> GPU <TAB> same or differs. Then
 * what hip.h says. */
#define HIP_MORE(F)                                                                  \
    F(MemcpyPeer2, (void *, int, const void *, int, size_t))
