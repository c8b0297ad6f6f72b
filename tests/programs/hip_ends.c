/* A HIP program that ends with kernels done and kernels under way.
 *   hip_ends CODE_OBJECT LAUNCHES HOW      HOW: one of ways.h
 * It ends when its standard input does. */
#include "hip.h"
#include "ways.h"

enum { ELEMENTS = 4096 };

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    int launches = atoi(argv[2]);
    const char *how = argv[3];
    hip_begin(argv[1]);
    prepare_to_end(how);
    void *to, *from;
    HIP(Malloc, &to, ELEMENTS * sizeof(double));
    HIP(Malloc, &from, ELEMENTS * sizeof(double));
    for (int half = 0; half < 2; half++) {
        for (int launch = 0; launch < launches; launch++) hip_launch(0, launch, NULL, to, from, ELEMENTS);
        if (half == 0) HIP(DeviceSynchronize);
    }
    puts("this line is printed");
    while (getchar() != EOF) {}
    return leave(how);
}
