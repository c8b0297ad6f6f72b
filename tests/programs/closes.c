/* Closes whatever is open, as daemons do, and goes on with a file of its own:
 *   closes FILE
 * There are ranges of roctx before and after. Prints the number of the file's descriptor and what is in the file. */
#define _GNU_SOURCE
#include "roctx.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RANGES = 2000, MOST = 1024 };

static void use_ranges(void) {
    for (int at = 0; at < RANGES && roctx.RangePushA; at++) {
        roctx.RangePushA("range");
        roctx.RangePop();
        usleep(100);
    }
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    roctx_find("global");
    use_ranges();
    for (int at = 3; at < MOST; at++) close(at);
    int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (write(file, "its own text\n", 13) != 13) return 1;
    use_ranges();
    char text[64];
    ssize_t length = pread(file, text, sizeof text, 0);
    printf("%d\t%zd\t%.13s", file, length, text);
    return 0;
}
