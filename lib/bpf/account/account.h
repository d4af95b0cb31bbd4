/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The interface between the library, the plug-in and the BPF programs that account for a tree.
 *
 * All three are of one release. The layout is not stable and no other program may rely on it. Times
 * are ns. */
#ifndef RTI_BPF_ACCOUNT_H
#define RTI_BPF_ACCOUNT_H

#ifdef __bpf__
typedef int int32_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

#define RTI_ACCOUNT_PLUGIN 7u /* changes whenever anything here does */

/* What threads have used. */
struct rti_account_use {
	uint64_t cpu_ns;                       /* exact */
	uint64_t user_part_ns, system_part_ns; /* sampled at ticks: for the split of cpu_ns */
	uint64_t minflt, majflt;
	uint64_t voluntary_switches, involuntary_switches;
	uint64_t read_chars, write_chars, read_calls, write_calls;
	uint64_t read_bytes, write_bytes, cancelled_write_bytes;
};

/* The BPF programs add up those of CPUs, and the plug-in what is freed and what is not. */
static inline void rti_account_add_use(struct rti_account_use *sum,
                                       const struct rti_account_use *use)
{
	sum->cpu_ns += use->cpu_ns;
	sum->user_part_ns += use->user_part_ns;
	sum->system_part_ns += use->system_part_ns;
	sum->minflt += use->minflt;
	sum->majflt += use->majflt;
	sum->voluntary_switches += use->voluntary_switches;
	sum->involuntary_switches += use->involuntary_switches;
	sum->read_chars += use->read_chars;
	sum->write_chars += use->write_chars;
	sum->read_calls += use->read_calls;
	sum->write_calls += use->write_calls;
	sum->read_bytes += use->read_bytes;
	sum->write_bytes += use->write_bytes;
	sum->cancelled_write_bytes += use->cancelled_write_bytes;
}

/* Of what signal_struct sums up as threads are released and children are waited for: what a record
 * has of it. */
struct rti_account_sums {
	uint64_t user_part_ns, system_part_ns;
	uint64_t minflt, majflt;
	uint64_t voluntary_switches, involuntary_switches;
	uint64_t read_bytes, write_bytes;
};

/* What is added up by thread. */
struct rti_account_part {
	uint64_t cpu_ns, voluntary_switches, involuntary_switches;
	uint64_t read_bytes, write_bytes;
};

/* The row of one process of the tree, in an array that can be mapped. Written by the BPF programs
 * only. */
struct rti_account_row {
	uint32_t is_in_use;
	uint32_t tasks;    /* threads that the kernel has not freed */
	uint32_t flags;    /* RTI_ROW_ bits */
	int32_t pid, ppid; /* in the pid namespace of the reader; ppid: what has forked it */
	uint32_t status;   /* as from wait(2), once all threads have begun to exit */
	uint32_t execs;
	uint32_t is_sent;   /* its record is in the ring, or was lost */
	uint32_t freeing;   /* threads that are moved from `tasks` to `freed` now */
	uint32_t is_noting; /* a lock of what follows */
	/* The latest sums that were secured with a thread, by the sequence of the kernel's lock of
	 * them. sums_lack: threads that they lack. If one, it is the thread group leader. */
	uint32_t has_sums, sums_sequence, sums_lack;
	uint32_t has_leader, leader_sequence;
	uint32_t ended_early; /* threads that have ended while others ran on */
	struct rti_account_sums sums;
	struct rti_account_sums of_leader; /* what it has used itself, likewise */
	uint64_t start_ns, end_ns;         /* since boot; end_ns: of the last thread so far */
	struct rti_account_part freed;     /* of its threads */
	uint64_t peak_pages;               /* of the address spaces so far that are its own */
	/* What the kernel's own peak of the process (signal_struct.maxrss) has of an address space
	 * that it shared with its parent (vfork(2)) until it executed a program, or of all before
	 * it was adopted. */
	uint64_t foreign_pages;
	/* By the search of limbo with this number: `tasks` at its first thread of the process, the
	 * threads so far that have ended and are not freed, and what they and the freed ones have
	 * used. */
	uint64_t search;
	uint32_t search_tasks, found_tasks;
	struct rti_account_part all_found;
	int32_t tgid;     /* as the kernel has it, outside of pid namespaces */
	uint32_t text;    /* number of its text; 0: not known */
	uint64_t exec_id; /* task_struct.self_exec_id, as of then */
	char comm[16];    /* likewise */
};

#define RTI_ROW_SHARES_MEMORY 1u /* with its parent, since it was forked */
#define RTI_ROW_ENDED 2u         /* all of its threads have begun to exit */
#define RTI_ROW_LACKS_PEAK 4u    /* its peak is unknown: no more than foreign_pages */
#define RTI_ROW_LACKS_THREAD 8u  /* a thread of it is in the totals alone */
#define RTI_ROW_LACKS_TEXT 16u   /* there was no room for its text */
#define RTI_ROW_SAW_MEMORY 32u   /* the peak of the old address space was read as an exec began */
#define RTI_ROW_HIDES_MEMORY 64u /* the peak of an earlier one is unknown: foreign_pages at most */

#define RTI_ROW_LACKS_SUMS 128u /* not all of signal_struct: lower bounds, but for the CPU time */

/* What the ring holds, by its first 32 bits. */
#define RTI_ACCOUNT_PROCESS 1u
#define RTI_ACCOUNT_TEXT 2u
#define RTI_ACCOUNT_FORK 3u
#define RTI_ACCOUNT_EXIT 4u

/* RTI_ACCOUNT_PROCESS: a process that has ended. */
struct rti_account_record {
	uint32_t kind;
	uint32_t text; /* number of its text; 0: not known */
	int32_t pid, ppid;
	uint32_t status;
	uint32_t flags; /* RTI_ROW_ bits */
	uint64_t start_ns, end_ns;
	uint64_t cpu_ns, user_part_ns, system_part_ns;
	uint64_t minflt, majflt;
	uint64_t voluntary_switches, involuntary_switches;
	uint64_t read_bytes, write_bytes;         /* with those of children that it waited for */
	uint64_t own_read_bytes, own_write_bytes; /* of its threads alone */
	uint64_t peak_pages;
	uint32_t execs, reserved;
	char comm[16];
};

#define RTI_ACCOUNT_COMMAND_MAX 16384u
#define RTI_ACCOUNT_CWD_MAX 4096u
#define RTI_ACCOUNT_PART_MAX 264u /* a longer part ends the path: NAME_MAX is 255 */
#define RTI_ACCOUNT_TEXT_BYTES                                                                     \
	(RTI_ACCOUNT_COMMAND_MAX + RTI_ACCOUNT_CWD_MAX + RTI_ACCOUNT_PART_MAX)

/* RTI_ACCOUNT_TEXT: what a process has executed, and where. It is in the ring before the records of
 * the processes that have it. */
struct rti_account_text {
	uint32_t kind;
	uint32_t number;        /* from 1 */
	uint32_t flags;         /* RTI_TEXT_ bits */
	uint32_t command_bytes; /* arguments, with a NUL between two; 0: not known */
	uint32_t cwd_bytes;
	uint32_t reserved;
	/* The command line. After it the parts of the working directory, the last part first, each
	 * with a NUL. E.g.: "ls\0-l" "src\0home\0" */
	char bytes[RTI_ACCOUNT_TEXT_BYTES]; /* no more of it is in the ring than is used */
};

#define RTI_TEXT_CUT 1u         /* the command line is longer than RTI_ACCOUNT_COMMAND_MAX */
#define RTI_TEXT_HAS_CWD 2u     /* the working directory is known; without parts: "/" */
#define RTI_TEXT_CWD_DELETED 4u /* it has been removed */

/* RTI_ACCOUNT_FORK: a process of the tree has forked another one. RTI_ACCOUNT_EXIT: all threads of
 * a process have begun to exit. */
struct rti_account_event {
	uint32_t kind;
	int32_t pid; /* in the pid namespace of the reader; 0: it is not in it */
};

/* What the BPF programs and the plug-in share. Written by the programs, but for `armed` and
 * `is_adopting`. */
struct rti_account_shared {
	uint64_t armed;        /* the thread that starts the supervisor; 0: none */
	uint64_t running;      /* threads that have not begun to exit */
	uint64_t begun;        /* threads so far */
	uint64_t processes;    /* so far */
	uint64_t alive;        /* processes of which a thread runs */
	uint64_t alive_peak;   /* the most at one time */
	uint64_t peak_pages;   /* the largest of the processes that have ended */
	uint64_t unmarked;     /* threads for which there was no mark: they are not accounted for */
	uint64_t spared;       /* marks that found no storage */
	uint64_t rowless;      /* processes for which there was no row: without peak and record */
	uint64_t peakless;     /* processes that have ended with RTI_ROW_LACKS_PEAK */
	uint64_t hidden_pages; /* the largest that the peak of one of them may be */
	/* Threads with last switches that are in the sums, and that wait(2) will not show: those
	 * that have ended before their process, until that has ended, too. */
	uint64_t ended_early;
	uint64_t lost;         /* records that the ring had no room for */
	uint64_t lost_events;  /* events that it had no room for */
	uint64_t began_ns;     /* when the account began, as the kernel has it: CLOCK_BOOTTIME */
	uint32_t next_row;     /* where the search for a free row begins */
	uint32_t next_limbo;   /* likewise */
	uint32_t next_secured; /* entry of limbo that is secured next */
	uint32_t texts;        /* so far */
	uint32_t is_adopting;  /* written by the plug-in: processes that run are adopted now */
	uint32_t adopted;      /* threads that were adopted so far */
	uint32_t has_io;       /* 0: the kernel does not account for the I/O of threads */
	uint32_t looks;        /* at entries of limbo that are newer than the oldest one, so far */
	struct rti_account_use past; /* of the adopted processes: see account_adopt.h */
	/* By the last run of the program sum_up: all threads that were freed, and how many. */
	struct rti_account_use dead;
	uint64_t freed;
	/* By the last search and walk: all other threads, and how many. */
	struct rti_account_use unfreed;
	uint64_t found;
	uint64_t leaving;  /* of limbo, which have not left their CPU: their use is not final */
	uint64_t missed;   /* so far: threads that were freed unseen, and not secured */
	uint64_t searches; /* so far */
	/* By all searches: threads that were freed unseen, and secured before; how many. */
	struct rti_account_use reclaimed;
	uint64_t reclaims;
};

/* Constants of the BPF programs: set before they are loaded. */
struct rti_account_settings {
	uint32_t rows;          /* a power of two */
	uint32_t wants_records; /* 0 or 1 */
	uint32_t lacks_storage; /* 1: for tests: behave as if there were none */
	uint32_t misses_frees;  /* 1: for tests: behave as if sched_process_free were not seen */
	uint32_t text_slots;    /* a power of two */
	uint32_t text_bytes;    /* no text is added to a ring with more: the rest is for records */
	int32_t root; /* the root of a tree that runs, in the reader's pid namespace; 0: none */
};

#ifndef __bpf__
#include <stdbool.h>

struct rti_account_request {
	bool wants_records;
	/* Account for a process that runs and its descendants, with all that these have used since
	 * their start and all that they have waited for, and send events. 0: for the supervisor. */
	int32_t root;
	/* For tests; 0: the usual. */
	bool lacks_storage, misses_frees, lacks_prepare_exec;
	uint32_t rows, ring_bytes;
};

struct rti_account_totals {
	struct rti_account_use use; /* of the tree so far */
	bool is_whole;              /* each thread is in it, once, and what has ended is final */
	/* Each thread is in it, once. Some that have begun to exit may use a little more. */
	bool has_all;
	uint64_t running; /* threads */
	uint64_t begun, freed, found;
	uint64_t missed; /* threads that are in no account for ever */
	uint64_t processes, alive_peak, peak_pages;
	uint64_t unmarked, rowless, lost, spared;
	/* Not 0: the switches of `use` have some that wait(2) will not show. */
	uint64_t ended_early;
	uint64_t peakless; /* processes of which one may have a higher peak than peak_pages */
	bool has_io;       /* false: the I/O of `use` is not known */
};

/* Whether totals have each thread once. As long as threads run, a later read has what those use
 * that have begun to exit. */
static inline bool rti_account_has_each(const struct rti_account_totals *totals)
{
	return totals->is_whole || (totals->running && totals->has_all);
}

/* Whether totals lack only threads that were missed: no later read has them. */
static inline bool rti_account_lacks_missed(const struct rti_account_totals *totals)
{
	return totals->missed && totals->freed + totals->found + totals->missed == totals->begun;
}

struct rti_account_counts {
	uint64_t moves;       /* moves whenever a thread of the tree begins or begins to exit */
	uint64_t processes;   /* that got a mark, so far */
	uint64_t unmarked;    /* threads so far that got none: memory was short */
	uint64_t rowless;     /* processes that list_running() cannot list, so far */
	uint64_t lost_events; /* so far */
	bool has_events;      /* the ring holds some: none that comes now makes it readable again */
};

/* Takes what the ring holds, in its order. A text is valid until the function returns. */
struct rti_account_taker {
	void *arg;
	void (*on_record)(void *arg, const struct rti_account_record *record);
	void (*on_text)(void *arg, const struct rti_account_text *text);
	void (*on_event)(void *arg, const struct rti_account_event *event);
};

/* What the plug-in exports as RTI_ACCOUNT_ENTRY. */
struct rti_account_ops {
	uint32_t version; /* RTI_ACCOUNT_PLUGIN */
	uint32_t record_size;
	/* Load the programs and begin. *out is then to be passed to the other functions. Returns 0;
	 * -EPERM; -EOPNOTSUPP if the kernel lacks something; -EBADF if descriptor 0 is not open;
	 * -ESRCH if there is no such root; -EBUSY if its tree grows faster than it can be taken
	 * in; or another -errno. */
	int (*open)(void **out, const struct rti_account_request *request);
	/* From now on what the calling thread forks is the supervisor, or no longer. The supervisor
	 * is not accounted for, and all that it forks is. */
	int (*arm)(void *state, bool is_armed);
	/* Read the totals. If threads run, that takes a walk over all tasks of the system. If they
	 * are not whole, a thread is about to leave its CPU: read them again a moment later.
	 * Returns 0, -ESTALE in a process that was forked since open(), or another -errno. */
	int (*read)(void *state, struct rti_account_totals *out);
	/* Take the records of processes that have ended, with the caller's CLOCK_BOOTTIME, and
	 * texts: all that were written before the call. Returns 0 or -ESTALE. */
	int (*take)(void *state, const struct rti_account_taker *taker);
	/* Pass the processes that run to taker->on_record, with pids, start, text and execs alone.
	 * One that ends meanwhile may be missing. Returns 0, -ESTALE or another -errno. */
	int (*list_running)(void *state, const struct rti_account_taker *taker);
	/* Costs no system call. */
	void (*count)(const void *state, struct rti_account_counts *out);
	/* A descriptor that is readable while the ring holds an event. It stays the account's. */
	int (*event_fd)(const void *state);
	void (*close)(void *state);
};

#define RTI_ACCOUNT_ENTRY "rti_bpf_account" /* the name of a const struct rti_account_ops */
#endif

#endif
