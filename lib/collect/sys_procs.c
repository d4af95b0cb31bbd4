/* SPDX-License-Identifier: MIT */
/* The number of processes, as the kernel counts them, or from the numeric names in /proc.
 *
 * The links of /proc are ".", "..", its own directories, and the processes of all pid namespaces:
 * Linux, fs/proc/root.c, proc_root_getattr(). So its links without its own are the processes. E.g.:
 * to ask for the links takes 0.2 us, to list 1000 processes takes 200 us.
 *
 * That holds in the first pid namespace, where /proc lists all processes, unless hidepid= hides
 * some. So the first sample lists the names and compares, and one sample a minute does so again.
 * Elsewhere each sample lists the names.
 *
 * /proc gets a directory of its own if a module makes one. So those are listed once a second. They
 * stand before the processes, which are then not listed.
 *
 * Either way, processes that start or exit meanwhile may be counted or not. */
#include <errno.h>
#include <stdbool.h>

#include "collect/collector.h"
#include "collect/hidepid.h"
#include "os/procfs.h"
#include "util/arith.h"
#include "util/visit.h"

#define LIST_OWN_NS UINT64_C(1000000000)
#define COMPARE_NS UINT64_C(60000000000)
/* Between two looks at the links, a process may start and another exit. The names then differ from
 * equal looks. Where many fork, that happens every few samples. */
#define MISMATCHES_MAX 10
#define DOT_LINKS 2 /* "." and ".." */

enum method {
	BY_NAMES_AND_LINKS, /* the links are to be compared with the names */
	BY_LINKS,
	BY_NAMES /* the links are something else here */
};

/* The directories in /proc. */
struct listing {
	uint64_t processes, own; /* own: of no process */
	bool has_init;
	bool is_own_first; /* no process stands before one of its own directories */
	bool is_of_own;    /* the list ends at the first process */
};

struct state {
	enum method method;
	unsigned mismatches;
	bool may_be_hidden; /* some processes from the names */
	uint64_t own_links; /* of /proc, without its processes */
	uint64_t listed_own_at_ns, compared_at_ns;
};

static int add_name(void *arg, const char *name)
{
	struct listing *listing = arg;
	int32_t pid = rti_path_number(name);

	if (pid > 0 && listing->is_of_own)
		return RTI_STOP;
	listing->is_own_first &= pid > 0 || listing->processes == 0;
	listing->processes += pid > 0;
	listing->own += pid <= 0;
	listing->has_init |= pid == 1;
	return RTI_CONTINUE;
}

/* List /proc, or its own directories alone. Returns 0 or -errno. */
static int list_proc(const struct rti_context *ctx, bool is_of_own, struct listing *out)
{
	int err;

	*out = (struct listing){ .is_own_first = true, .is_of_own = is_of_own };
	err = rti_procfs_list_dirs(ctx->procfs, RTI_PROC, add_name, out);
	return err == RTI_STOP ? 0 : err;
}

/* Decide by which method the next samples count. before and after are the links around the
 * listing. */
static enum method choose_method(struct state *st, const struct rti_context *ctx,
                                 const struct listing *listing, uint64_t before, uint64_t after)
{
	uint64_t links = st->own_links + listing->processes;

	if (!listing->has_init || !listing->is_own_first || before == 0 || after == 0 ||
	    !rti_context_is_initial_pid_namespace(ctx->procfs))
		return BY_NAMES;
	if (links >= rti_min(before, after) && links <= rti_max(before, after))
		return BY_LINKS;
	if (before == after && ++st->mismatches >= MISMATCHES_MAX)
		return BY_NAMES;
	return BY_NAMES_AND_LINKS;
}

/* Process 1 always exists. If it is not listed, hidepid= also hides others. Where the links cannot
 * tell, hidepid= may hide some even if process 1 is listed. E.g.: process 1 of a container is of
 * the caller's user, and others are not. If some may be hidden, the count is a lower bound. */
static int count_names(struct state *st, const struct rti_context *ctx, struct rt_metrics *out)
{
	bool compares = st->method == BY_NAMES_AND_LINKS;
	uint64_t before = compares ? rti_procfs_count_links(ctx->procfs, RTI_PROC) : 0, after;
	struct listing listing;
	int err = list_proc(ctx, false, &listing);

	if (err < 0)
		return err;
	if (compares) {
		after = rti_procfs_count_links(ctx->procfs, RTI_PROC);
		st->own_links = DOT_LINKS + listing.own;
		st->compared_at_ns = st->listed_own_at_ns = ctx->platform->monotonic_ns();
		st->method = choose_method(st, ctx, &listing, before, after);
		st->may_be_hidden =
		    !listing.has_init || (st->method != BY_LINKS && rti_proc_hides_processes(ctx));
		if (st->method != BY_NAMES_AND_LINKS)
			st->mismatches = 0;
	}
	out->processes = listing.processes;
	if (!listing.has_init || st->may_be_hidden) {
		out->partial |= RT_HAS_PROCESSES;
		return -EACCES;
	}
	out->valid |= RT_HAS_PROCESSES;
	return 0;
}

/* Returns false if the names are to be counted instead. */
static bool count_links(struct state *st, const struct rti_context *ctx, uint64_t now_ns,
                        struct rt_metrics *out)
{
	struct listing listing;
	uint64_t links;

	if (now_ns - st->listed_own_at_ns >= LIST_OWN_NS) {
		if (list_proc(ctx, true, &listing) < 0)
			return false;
		st->own_links = DOT_LINKS + listing.own;
		st->listed_own_at_ns = now_ns;
	}
	links = rti_procfs_count_links(ctx->procfs, RTI_PROC);
	if (links <= st->own_links)
		return false;
	out->processes = links - st->own_links;
	out->valid |= RT_HAS_PROCESSES;
	return true;
}

static int procs_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	uint64_t now_ns = ctx->platform->monotonic_ns();

	if (now_ns - st->compared_at_ns >= COMPARE_NS)
		st->method = BY_NAMES_AND_LINKS;
	if (st->method == BY_LINKS) {
		if (count_links(st, ctx, now_ns, out))
			return 0;
		st->method = BY_NAMES_AND_LINKS;
	}
	return count_names(st, ctx, out);
}

const struct rti_sys_collector rti_sys_procs = {
	.provides = RT_HAS_PROCESSES,
	.files = { "" },
	.state_size = sizeof(struct state),
	.collect = procs_collect,
};
