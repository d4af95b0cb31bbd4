/* SPDX-License-Identifier: MIT */
/* Whether the kernel refuses what a trace needs. It is asked without the library: a test that
 * skips because the library says so would hide that the library is wrong. */
#ifndef REFUSALS_H
#define REFUSALS_H

#include <stdbool.h>

/* Whether this process may load a BPF program that reads the kernel's memory, into a kernel that
 * has all that is needed (Linux 5.17 and BTF). */
bool has_bpf(void);

/* The same for programs that account for a command (Linux 6.2). */
bool has_bpf_accounting(void);

/* Whether this process may trace a child, and give it a seccomp filter (Linux 5.3). */
bool has_ptrace(void);

#endif
