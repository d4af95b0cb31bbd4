/* SPDX-License-Identifier: MIT */
/* In the place of lib/bpf/program.c: programs run as the test says, and no kernel is asked. */
#ifndef FAKE_PROGRAMS_H
#define FAKE_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

struct fake_programs {
	int run_error, iterate_error;
	unsigned runs, iterations;
	/* Called by each run and each iteration; may be NULL. */
	void (*on_run)(int program_fd);
	void (*on_iterate)(int link_fd);
};

extern struct fake_programs fake_programs;

/* Make a file of zeros, as the memory of a map. */
int fake_map(size_t bytes);

/* Fork a child that calls use(state). Returns its exit status, which is what use() returns. */
int fake_programs_use_in_child(int (*use)(void *state), void *state);

#endif
