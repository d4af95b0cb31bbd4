/* SPDX-License-Identifier: MIT */
/* Why figures are missing: the first obstacle of each domain in the last sample. */
#ifndef RTI_STATUS_H
#define RTI_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* Invariant: an entry means something only if the bit of its domain is set in met. */
struct rti_status {
	uint64_t met; /* RT_HAS_ bits of the domains with an obstacle in this sample */
	struct {
		int error;        /* -errno of the first one */
		int32_t pid;      /* process that it was met at; 0: no single one */
		uint64_t members; /* that it was met at in this sample */
	} of[64];                 /* by bit number of RT_HAS_ */
};

/* What stands behind an error, which decides on the sentence about it. */
enum rti_cause {
	RTI_CAUSE_NONE,
	RTI_CAUSE_READ,            /* a file could not be read */
	RTI_CAUSE_NO_FIGURE,       /* the kernel has no such file, or no such line in it */
	RTI_CAUSE_KERNEL_THREAD,   /* it has no memory of its own */
	RTI_CAUSE_OTHER_ROOT,      /* it shows this system alone */
	RTI_CAUSE_HIDDEN,          /* by hidepid */
	RTI_CAUSE_ENDED,           /* a process had ended before the file could be read */
	RTI_CAUSE_UNWAITED,        /* what a process used after its last read is unknown */
	RTI_CAUSE_SIGCHLD,         /* a process ignores it, so its children leave no trace */
	RTI_CAUSE_UNREPORTED,      /* the kernel reports it to the process that waits, alone */
	RTI_CAUSE_TICKS,           /* the kernel shows whole clock ticks */
	RTI_CAUSE_THREAD_ENDED,    /* it took its figures along */
	RTI_CAUSE_SKIPPED,         /* processes could not be added to the tree */
	RTI_CAUSE_NO_PSS_READS,    /* by RT_OPT_NO_PSS_READS */
	RTI_CAUSE_PSS_UNWANTED,    /* rt_opts.want has the peak without PSS */
	RTI_CAUSE_PSS_SHARE,       /* the budget does not cover the read */
	RTI_CAUSE_PSS_HOLD,        /* one read would take too long */
	RTI_CAUSE_PSS_CHANGED,     /* while it was read */
	RTI_CAUSE_EVENTS_OFF,      /* process events were not asked for */
	RTI_CAUSE_EVENTS_UNHEARD,  /* they cannot be received */
	RTI_CAUSE_EVENTS_LOST,     /* more than the socket holds */
	RTI_CAUSE_EVENTS_LATE,     /* the supervisor has not counted to the end yet */
	RTI_CAUSE_ACCOUNT_BEHIND,  /* threads began or ended while the kernel's account was read */
	RTI_CAUSE_ACCOUNT_LOST,    /* that account lacks threads */
	RTI_CAUSE_ACCOUNT_UNREAD,  /* it could not be read */
	RTI_CAUSE_STALLED,         /* a file system or a program has not answered */
	RTI_CAUSE_NO_FILE_SYSTEM,  /* one could not be asked */
	RTI_CAUSE_GPU,             /* what the drivers of GPUs have answered */
	RTI_CAUSE_GPU_CLOSED,      /* a process or a client has gone after the last look at it */
	RTI_CAUSE_GPU_SHARED,      /* memory of GPUs is counted for each client that shares it */
	RTI_CAUSE_BETWEEN_SAMPLES, /* nothing can show it */

	/* Of a cgroup. */
	RTI_CAUSE_CGROUP_CONTROLLER, /* it is not enabled for the cgroup */
	RTI_CAUSE_CGROUP_DIRECTORY,  /* it has none in the hierarchy of the controller */
	RTI_CAUSE_CGROUP_UNMOUNTED,  /* no hierarchy with the controller is mounted */
	RTI_CAUSE_CGROUP_ROOT,       /* the root has no such account */
	RTI_CAUSE_CGROUP_VERSION,    /* v1 has no such account, or not all of it */
	RTI_CAUSE_CGROUP_DEVICE,     /* one is gone, with its count */
	RTI_CAUSE_CGROUP_REMOVED,    /* while it was tracked */
	RTI_CAUSE_CGROUP_MEMBERS,    /* a sum over members, with a past of their own */
	RTI_CAUSE_CGROUP_HIDDEN,     /* members are, or may be, outside of the pid namespace */
};

/* All that is known of why one domain of the last sample is not complete. */
struct rti_explanation {
	enum rti_cause cause;
	int error;        /* -errno; 0: the domain is complete */
	int32_t pid;      /* process that it was met at; 0: no single one */
	const char *file; /* below /proc, or below /proc/PID if pid is set; "": none */
	uint64_t members, members_ever;
	uint32_t pss_share, pss_hold_us; /* of the options, with their defaults filled in */
	bool has_account;                /* BPF programs account for the tree */
	/* Why they do not: -errno, or 0 if that was not asked for. */
	int account_error;
	const char *controller; /* that has file, which is then one of a cgroup; or NULL */
};

/* Note an obstacle for every domain in has that has none yet. */
void rti_status_note_at(struct rti_status *status, uint64_t has, int err, int32_t pid);

/* The same, for an obstacle that no single process is behind. */
static inline void rti_status_note(struct rti_status *status, uint64_t has, int err)
{
	rti_status_note_at(status, has, err, 0);
}

/* Count a member that the obstacle of a domain, which must be noted, was met at. */
void rti_status_count(struct rti_status *status, uint64_t has);

/* Returns the error of one domain: 0 or -errno. */
int rti_status_get(const struct rti_status *status, uint64_t has);

/* Note the obstacles of another status, without its counts. */
void rti_status_add(struct rti_status *status, const struct rti_status *more);

/* Returns the bit number of a domain. */
int rti_status_bit(uint64_t has);

/* Fill in the error and where it was met. */
void rti_status_explain(const struct rti_status *status, uint64_t has, struct rti_explanation *out);

#endif
