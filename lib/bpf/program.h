/* SPDX-License-Identifier: MIT */
/* What the parts of the plug-in have in common: they run programs, name errors, compare clocks. */
#ifndef RTI_BPF_PROGRAM_H
#define RTI_BPF_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Run a program of the type "syscall". Returns what it returns, or -errno. */
int rti_program_run(int program_fd);

/* Run an iterator once, over all tasks. Returns 0 or -errno. */
int rti_program_iterate(int link_fd);

/* Allocate a state of so many bytes, all 0, and load and attach its programs with begin(), which
 * returns 0 or an error that rti_program_error() has named. If that fails, close() frees the state.
 *
 * Signals are kept away from this thread meanwhile. The kernel gives up to check a program, with
 * EAGAIN, if one waits for the thread (kernel/bpf/verifier.c, do_check()). E.g.: a timer of a
 * profiler; or SIGCHLD, even if it is ignored: if a child ends while one thread forks, it is for
 * any other. Returns -EBADF if descriptor 0 is not open. */
int rti_program_open(void **out, size_t bytes, int (*begin)(void *state, const void *request),
                     const void *request, void (*close)(void *state));

/* Whether to load once more, after so many loads. Work of io_uring that waits for this thread has
 * the kernel give up as a signal would, and no mask holds it back. The thread does that work on its
 * way out of the system call that has failed, so the next load finds none. E.g.: a ring was closed.
 */
bool rti_program_is_interrupted(int err, int loads);

/* The error of a load as the library names it. What the caller can do something about keeps its
 * error. The rest means that the kernel lacks something: -EOPNOTSUPP. */
int rti_program_error(int err);

uint64_t rti_program_clock_ns(clockid_t id);

/* How much the caller's clock is ahead of the kernel's: not 0 in a time namespace. kernel_ns was
 * read between two reads of the caller's. What the reads take, and the correction of a clock
 * meanwhile, is no offset. */
int64_t rti_program_clock_offset_ns(uint64_t before_ns, uint64_t kernel_ns, uint64_t after_ns);

#endif
