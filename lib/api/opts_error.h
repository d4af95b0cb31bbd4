/* SPDX-License-Identifier: MIT */
/* Says in words why a tracker could not be made. */
#ifndef RTI_OPTS_ERROR_H
#define RTI_OPTS_ERROR_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "os/procfs.h"
#include "util/text.h"

/* Add a sentence about an error of options, as rt_pid_tracker_new() would return it: -EINVAL, or
 * -E2BIG. */
void rti_opts_error_add(struct rti_text *text, const struct rt_opts *opts, uint32_t kind, int err);

/* What a tracker follows. */
struct rti_subject {
	uint32_t kind;
	int32_t pid;         /* RT_KIND_PID: the first; else 0 */
	const int32_t *pids; /* RT_KIND_PID; else NULL */
	size_t count;        /* of them */
	const char *name;    /* RT_KIND_CGROUP; else NULL */
};

/* Whether a tree is to be followed by no pid, or by a number that is none. */
bool rti_subject_has_bad_pid(const struct rti_subject *subject);

/* Write a sentence about any error of a constructor of trackers to opts->message, cut to fit.
 * Nothing if the caller wants no message. Reads files again, since the cost of a failure does not
 * matter. */
void rti_opts_error_describe(const struct rt_opts *opts, const struct rti_subject *subject, int err,
                             const struct rti_procfs_ops *ops);

#endif
