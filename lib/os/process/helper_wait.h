/* SPDX-License-Identifier: MIT */
/* Waits for a helper process of this library: the supervisor or the tracer.
 *
 * A helper answers at once, unless another process has stopped or frozen it. E.g.: the program that
 * it has started stops its parent. It is then continued, and given up if it stays as it is. */
#ifndef RTI_HELPER_WAIT_H
#define RTI_HELPER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "os/platform.h"

/* A wait for one helper. Filled in by the caller down to end_ns, with 0 below. */
struct rti_helper_wait {
	const struct rti_platform *platform;
	int32_t pid;
	int pidfd;       /* borrowed; -1 where there are none */
	uint64_t end_ns; /* CLOCK_MONOTONIC; UINT64_MAX: never */

	/* Written by helper_wait.c only. Times are CLOCK_MONOTONIC. */
	uint64_t next_look_ns, looked_at_ns;
	uint64_t stopped_at_ns; /* when it was first seen to be stopped; 0: it runs */
	uint64_t signal_at_ns;  /* when a signal was first seen to be pending; 0: none is */
	bool is_continued_again;
};

/* Look at a helper that may be stopped or frozen. If it is, send SIGCONT: at once, and once more
 * after again_ns. Returns 0; -EBUSY if it is so after stopped_ns; or -ECHILD if it has ended. */
int rti_helper_look(struct rti_helper_wait *wait);

/* Wait until a socket has a report of the helper, or its end, and look at the helper meanwhile. A
 * signal that is handled does not end the wait. SIGINT, SIGTERM, SIGHUP and SIGQUIT do if the
 * caller blocks them: they are pending. Returns 0, perhaps early; -EINTR; -ETIMEDOUT at end_ns; or
 * as rti_helper_look(). */
int rti_helper_await(struct rti_helper_wait *wait, int socket);

#endif
