/* SPDX-License-Identifier: MIT */
/* What is to be read of a member in a sample, and why: first the facts, of what is wanted, missing
 * and due; then the plan. No I/O. */
#ifndef RTI_READ_POLICY_H
#define RTI_READ_POLICY_H

#include "tree/state/state.h"

/* A file that costs many times what the others do is read this often at most: status, and the
 * files of all threads. */
#define RTI_SELDOM_NS 100000000u
/* What may change while a process does not run is read this often even then. */
#define RTI_WHILE_IDLE_NS 1000000000u

/* The CPU clock of a member, compared with where it stood when its account was read last. */
enum rti_clock_state {
	RTI_CLOCK_UNKNOWN, /* its pid is not one of ours, or its clock could not be read */
	RTI_CLOCK_UNCHANGED,
	RTI_CLOCK_MOVED
};

/* All that the plan depends on. Masks are of RT_HAS_ bits, and subsets of wanted. */
struct rti_read_facts {
	enum rti_clock_state clock;
	bool is_final;    /* there is no later sample */
	bool was_read;    /* its account was read before */
	bool needs_stat;  /* a wanted figure is in stat alone */
	bool is_stat_due; /* stat was not read for RTI_SELDOM_NS */
	uint64_t wanted;
	uint64_t missing;    /* no complete figure is known, and the next read may find one */
	uint64_t seldom;     /* read every RTI_SELDOM_NS at most */
	uint64_t seldom_due; /* of seldom: not read for that long */
	uint64_t put_off;    /* of seldom: not read since the CPU clock moved last */
	uint64_t idle_due;   /* changes while idle, and was not read for RTI_WHILE_IDLE_NS */
	uint64_t with_rss;   /* a peak of RSS */
};

struct rti_read_plan {
	bool is_unchanged;    /* the process has not run: its account stays as it is */
	bool stat_may_wait;   /* unless statm shows that the process has exited */
	uint64_t domains;     /* to read */
	uint64_t if_rss_rose; /* to read too if RSS turns out larger than any peak seen */
};

/* Plan the reads of a member. Pure: needs no more than the facts.
 *
 *   CPU clock  known before              each-sample  seldom          while idle   stat
 *   ---------  ------------------------  -----------  --------------  -----------  ----------
 *   unchanged  all                       no           no              each second  no
 *   unchanged  a put-off figure is due   yes          every 100 ms    yes          if due
 *   unchanged  a figure is missing       yes          every 100 ms    yes          if due
 *   moved      -                         yes          every 100 ms    yes          if due
 *   unknown    -                         yes          every 100 ms    yes          yes
 *   any        nothing: never read       yes          yes             yes          yes
 *   any        -, final sample           yes          yes             yes          yes
 *
 *   "stat if due": if a wanted figure is in stat alone, else every 100 ms.
 *
 * E.g.: a process that has slept for 0.3 s has nothing read. If its status was put off while it
 * ran, because that was read 20 ms before, it is read in full once more as soon as 100 ms are
 * over. */
struct rti_read_plan rti_plan_read(const struct rti_read_facts *facts);

/* The domains that a member is read for. */
uint64_t rti_wanted_of(const struct rti_tree *tree, const struct rti_member *m);

/* The CPU clock of a member now, against where it stood when its account was read. */
enum rti_clock_state rti_clock_state(const struct rti_member *m);

/* What the plan of a member depends on. */
struct rti_read_facts rti_gather_read_facts(const struct rti_tree *tree,
                                            const struct rti_member *m);

/* Whether the faults of a member are needed each time that it has run: it shares anonymous
 * pages, or may have inherited some. */
bool rti_memory_needs_stat(const struct rti_memory_state *state, const struct rti_member *m);

/* Whether nothing is due of a member if its CPU clock stands still. Looks at its hot part alone. */
bool rti_is_idle(const struct rti_tree *tree, const struct rti_member *m);

/* When something is due next of a member if its CPU clock stands still; 0: in the next sample,
 * since something is missing. */
uint64_t rti_idle_until_ns(const struct rti_pid_domains *domains, const struct rti_watched *w,
                           const struct rti_member *m, uint64_t wanted);

/* Whether stat of a member could not be read when that was tried last. E.g.: there were no
 * descriptors left. So it may have another parent since, or be a zombie, and its account may hold
 * any member that has exited since. */
bool rti_has_stale_stat(const struct rti_member *m);

#endif
