/* Loaded before the tracer, it makes the runtime's extension table look like one of a release that is yet to come. */
#include "tool.h"

bool OnLoad(void *tables, uint64_t version, uint64_t failed, const char *const *names) {
    (void)version, (void)failed, (void)names;
    ((table_version *)table_at(tables, AMD))->minor = 12345;
    return true;
}

void OnUnload(void) {}
