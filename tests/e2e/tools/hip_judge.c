/* Preloaded between a program that is linked with HIP and other libraries that replace functions of HIP, it counts the calls of
 * every function that this HIP has, and passes them on. At the end it writes lines to JUDGED:  name <TAB> calls.
 *
 * FUNCTIONS is a file with a line F(name, number) for each, out of HIP's own table of symbols. None is declared here: each
 * counts, and jumps to the next one of its name, so that arguments and result stay where they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define F(name, number) #name,
static const char *const names[] = {
#include FUNCTIONS
};
#undef F
enum { COUNT = sizeof names / sizeof *names };

__attribute__((visibility("hidden"))) long judge_counts[COUNT];
__attribute__((visibility("hidden"))) void *judge_next[COUNT];

/* Called the first time, to find the function behind this library. */
__attribute__((visibility("hidden"))) void *judge_find(unsigned number) {
    void *found = dlsym(RTLD_NEXT, names[number]);
    if (!found) abort();
    __atomic_store_n(&judge_next[number], found, __ATOMIC_RELEASE);
    return found;
}

/* The number of a function is in r11; all registers that may hold arguments are kept. */
__asm__(".text\n"
        "judge_pass:\n"
        "  lea judge_counts(%rip), %r10\n"
        "  lock incq (%r10,%r11,8)\n"
        "  lea judge_next(%rip), %r10\n"
        "  mov (%r10,%r11,8), %r10\n"
        "  test %r10, %r10\n"
        "  jz 1f\n"
        "  jmp *%r10\n"
        "1:\n"
        "  push %rax\n  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n"
        "  sub $128, %rsp\n"
        "  movups %xmm0, (%rsp)\n  movups %xmm1, 16(%rsp)\n  movups %xmm2, 32(%rsp)\n  movups %xmm3, 48(%rsp)\n"
        "  movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n  movups %xmm6, 96(%rsp)\n  movups %xmm7, 112(%rsp)\n"
        "  mov %r11d, %edi\n"
        "  call judge_find\n"
        "  mov %rax, %r10\n"
        "  movups (%rsp), %xmm0\n  movups 16(%rsp), %xmm1\n  movups 32(%rsp), %xmm2\n  movups 48(%rsp), %xmm3\n"
        "  movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n  movups 96(%rsp), %xmm6\n  movups 112(%rsp), %xmm7\n"
        "  add $128, %rsp\n"
        "  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n  pop %rax\n"
        "  jmp *%r10\n");

#define F(name, number)                                                       \
    __asm__(".globl " #name "\n.type " #name ", @function\n" #name ":\n"      \
            "  mov $" #number ", %r11d\n  jmp judge_pass\n");
#include FUNCTIONS
#undef F

__attribute__((destructor)) static void account(void) {
    FILE *file = getenv("JUDGED") ? fopen(getenv("JUDGED"), "w") : NULL;
    if (!file) return;
    for (int at = 0; at < COUNT; at++)
        if (judge_counts[at]) fprintf(file, "%s\t%ld\n", names[at], judge_counts[at]);
    fclose(file);
}
