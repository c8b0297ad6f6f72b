/* Stands for your own program: it uses GPUs by way of the ROCm runtime, within ranges of roctx. */
#ifndef WORK_H
#define WORK_H

#ifdef __cplusplus
extern "C" {
#endif

void work(void);

#ifdef __cplusplus
}
#endif

#endif
