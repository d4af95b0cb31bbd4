/* SPDX-License-Identifier: MIT */
/* An account of a tree as the test fills it in, instead of that of the kernel. A test that is
 * linked with this file wraps the functions that it takes the place of: see meson.build. */
#ifndef FAKE_ACCOUNT_H
#define FAKE_ACCOUNT_H

#include <stddef.h>

#include "bpf/account/account.h"
#include "parse/process_event.h"

#define FAKE_EVENTS_MAX 4

struct fake_account {
	bool lacks_capability;
	int open_error;        /* of the account */
	int subscribe_error;   /* of the proc connector; 0: it can be had */
	int64_t ahead_ns;      /* our clock, of that of the kernel */
	unsigned opens, reads; /* so far */
	bool is_sampling;      /* naps are counted instead of taken */
	unsigned naps;
	unsigned torn_reads;   /* so many of the next reads have a thread twice, or not at all */
	unsigned failing_read; /* from this one on they fail; 0: none does */
	int read_error;        /* -errno of those */
	struct rti_account_totals totals; /* of the other reads */
	struct rti_account_counts counts;
	struct rti_account_event events[FAKE_EVENTS_MAX]; /* that wait */
	size_t event_count;
	int take_error, list_error;
	int32_t running[FAKE_EVENTS_MAX]; /* processes that run; 0: no more */
	int event_fd;
	struct rti_process_event process_events[FAKE_EVENTS_MAX]; /* of the proc connector */
	size_t process_event_count;
	int pidfd_error; /* of the next pidfd: errno; 0: it can be had */
};

extern struct fake_account fake_account;

/* The account has one of these of a process. */
void fake_account_add_event(uint32_t kind, int32_t pid);

/* Whether the tracker has closed all that it has opened. */
bool fake_account_is_closed(void);

#endif
