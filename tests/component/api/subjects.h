/* SPDX-License-Identifier: MIT */
/* Trackers of a tree, of a system, of a cgroup, of one of v1 and of a tree with GPUs, all below one
 * root that never changes. So any two runs give the same figures, unless a call has failed. */
#ifndef SUBJECTS_H
#define SUBJECTS_H

#include "api/tracker.h"

#define SUBJECTS 6
#define SUBJECT_SAMPLES 2

/* What one run has given. */
struct subject_run {
	int open_error; /* 0 or -errno; the rest is 0 if it is not 0 */
	int errors[SUBJECT_SAMPLES];
	struct rt_metrics samples[SUBJECT_SAMPLES];
};

/* Write the files, for all tests of this process. */
void subjects_set_up(void);
void subjects_tear_down(void);

const char *subject_name(int subject);

/* To be called before the runs of a subject: write the mounts that it has. */
void subject_mount(int subject);

/* Make a tracker, take the samples, ask for all else that it can say, and free it. */
void subject_run(int subject, const struct rti_procfs_ops *ops, struct subject_run *out);

/* Fail the test unless each figure that differs from the true run is marked: in no mask, or
 * estimated, or a lower bound. what: says which call has failed. */
void subject_check(const struct subject_run *truth, const struct subject_run *run,
                   const char *what);

/* Fail the test if a figure is in two masks, or if a counter that both samples have falls. */
void subject_check_sanity(const struct subject_run *run, const char *what);

#endif
