/* Programs that ask no GPU to do anything.
 *   no_work WHAT      WHAT: nothing, agents or queue */
#include "hsa.h"

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "nothing";
    if (strcmp(what, "nothing") == 0) return 0;
    begin();
    if (strcmp(what, "queue") == 0) {
        hsa_queue_t *queue = timed_queue(0);
        drain(queue);
        CHECK(hsa_queue_destroy(queue));
    }
    end();
    return 0;
}
