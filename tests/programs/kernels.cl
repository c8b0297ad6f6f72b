/* Kernels of the HIP programs: a plain name, and two instances of one template by their C++ names, which read
 * `void test::axpy<float>(float*, float const*, int)` and the same of double. */

/* Which element a work-item has, without the device library: groups have 64. */
static int element(void) {
    return (int)(__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x());
}

kernel void scale(global float *to, global const float *from, int count) {
    int at = element();
    if (at < count) to[at] = 2.0f * from[at];
}

kernel void _ZN4test4axpyIfEEvPT_PKS1_i(global float *to, global const float *from, int count) {
    int at = element();
    if (at < count) to[at] += 3.0f * from[at];
}

kernel void _ZN4test4axpyIdEEvPT_PKS1_i(global double *to, global const double *from, int count) {
    int at = element();
    if (at < count) to[at] += 3.0 * from[at];
}
