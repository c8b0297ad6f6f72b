/* Loaded after the tracer, it writes the places of the tables that point into the tracer to the file REPLACED. Between tabs:
 *   version  MAJOR  SIZE         of the extension table
 *   TABLE    OFFSET              for each place, in the table core or extension */
#define _GNU_SOURCE
#include "tool.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_replaced(FILE *file, const char *name, const char *table) {
    uint32_t size = ((const table_version *)table)->minor;
    for (uint32_t offset = sizeof(table_version); offset + sizeof(void *) <= size; offset += sizeof(void *)) {
        Dl_info owner;
        if (dladdr(ENTRY(void *, table, offset), &owner) && strstr(owner.dli_fname, "librtl.so"))
            fprintf(file, "%s\t%u\n", name, offset);
    }
}

bool OnLoad(void *tables, uint64_t version, uint64_t failed, const char *const *names) {
    (void)version, (void)failed, (void)names;
    FILE *file = fopen(getenv("REPLACED"), "w");
    if (!file) abort();
    const table_version *amd = (const table_version *)table_at(tables, AMD);
    fprintf(file, "version\t%u\t%u\n", amd->major, amd->minor);
    write_replaced(file, "core", table_at(tables, CORE));
    write_replaced(file, "extension", table_at(tables, AMD));
    fclose(file);
    return true;
}

void OnUnload(void) {}
