/* SPDX-License-Identifier: MIT */
/* Finds out which accounting methods work here, and what the others lack. */
#include "accounting_methods.h"

#include <errno.h>

int accounting_method_try(uint32_t accounting, struct rt_outcome *outcome)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .accounting = accounting };
	struct rt_command *command;
	int err = rt_command_start(&command, &opts);

	if (err < 0)
		return err;
	do {
		err = rt_command_wait(command, -1, outcome, sizeof(*outcome));
	} while (err == -EINTR);
	rt_command_free(command);
	return err;
}

const char *accounting_method_missing(uint32_t accounting)
{
	struct rt_outcome outcome;

	if (accounting == RT_ACCOUNTING_BPF)
		return "this release has no BPF accounting";
	if (accounting == RT_ACCOUNTING_WAIT ||
	    accounting_method_try(RT_ACCOUNTING_WAIT, &outcome) == -EOPNOTSUPP)
		return "rtrack-supervisor is not installed";
	if (accounting == RT_ACCOUNTING_WAIT_PERF)
		return "the kernel refuses perf_event_open(): "
		       "/proc/sys/kernel/perf_event_paranoid may be above 2";
	return "no cgroup (v2) can be created here";
}
