/* SPDX-License-Identifier: MIT */
/* The threads that are traced: a hash table by number. */
#include "tracer/tracees.h"

#include <stdlib.h>
#include <unistd.h>

#define CHAINS 4096u

static struct rtt_tracee *chains[CHAINS];
static uint64_t count;

/* Returns where the address of a thread is, or would be. */
static struct rtt_tracee **find(int32_t tid)
{
	struct rtt_tracee **at = &chains[(uint32_t)tid % CHAINS];

	while (*at && (*at)->tid != tid)
		at = &(*at)->next;
	return at;
}

struct rtt_tracee *rtt_tracees_get(int32_t tid)
{
	struct rtt_tracee **at = find(tid);

	if (*at)
		return *at;
	*at = calloc(1, sizeof(**at));
	if (!*at)
		return NULL;
	(*at)->tid = tid;
	(*at)->stat_fd = (*at)->pidfd = -1;
	count++;
	return *at;
}

void rtt_tracees_remove(int32_t tid)
{
	struct rtt_tracee **at = find(tid), *tracee = *at;

	if (!tracee)
		return;
	*at = tracee->next;
	if (tracee->stat_fd >= 0)
		close(tracee->stat_fd);
	if (tracee->pidfd >= 0)
		close(tracee->pidfd);
	free(tracee);
	count--;
}

uint64_t rtt_tracees_count(void)
{
	return count;
}
