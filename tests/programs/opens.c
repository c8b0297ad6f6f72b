/* Opens each library that is named, and says whether it was there and which of them are the same.
 *   opens NAME... */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *first = NULL;
    for (int at = 1; at < argc; at++) {
        void *library = dlopen(argv[at], RTLD_LAZY);
        if (!first) first = library;
        printf("%s: %s%s\n", argv[at], library ? "yes" : "no", library && library == first ? ", the first" : "");
        if (library) dlclose(library);
    }
    void *program = dlopen(NULL, RTLD_LAZY);
    printf("the program: %s\n", program ? "yes" : "no");
    return 0;
}
