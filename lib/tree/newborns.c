/* SPDX-License-Identifier: MIT */
/* The pids that the kernel has given out since an earlier scan. */
#include "tree/newborns.h"

#include "os/procfs.h"
#include "parse/parse.h"
#include "parse/scan.h"

/* More than there can be members: their table counts them in 32 bits. */
#define LISTED_EVERY_NS UINT64_C(16000000000)
_Static_assert(LISTED_EVERY_NS > UINT32_MAX, "time for one member");

uint64_t rti_pid_range_count(const struct rti_pid_range *range)
{
	if (range->to >= range->from)
		return range->to - range->from;
	return (range->last > range->from ? range->last - range->from : 0) + range->to;
}

/* Forks that failed have used up pids, too, and are not in the count. So half of the pids have to
 * be left. */
bool rti_newborns_find_range(const struct rti_newborn_mark *from, const struct rti_newborn_mark *to,
                             uint64_t pid_max, struct rti_pid_range *out)
{
	if (!from->last_pid || !to->last_pid || pid_max == 0 || to->forks < from->forks ||
	    to->forks - from->forks >= pid_max / 2)
		return false;
	*out = (struct rti_pid_range){ from->last_pid, to->last_pid, pid_max - 1 };
	return true;
}

static uint64_t read_pid_max(const struct rti_context *ctx)
{
	uint64_t pid_max = 0;
	struct rti_scan scan;

	if (rti_procfs_read(ctx->procfs, RTI_PROC, "sys/kernel/pid_max", RTI_SINGLE_RECORD,
	                    ctx->buf) < 0)
		return 0;
	scan = rti_scan(ctx->buf->data, ctx->buf->len);
	return rti_scan_u64(&scan, &pid_max) ? pid_max : 0;
}

static bool read_forks(struct rti_newborns *newborns, const struct rti_context *ctx, uint64_t *out)
{
	struct rti_stat stat;

	if (rti_procfs_read_cached(ctx->procfs, RTI_PROC, "stat", RTI_SEQ_FILE, &newborns->stat,
	                           ctx->buf) < 0 ||
	    rti_parse_stat(ctx->buf->data, ctx->buf->len, &stat, NULL, NULL) < 0 || !stat.has_procs)
		return false;
	*out = stat.forks;
	return true;
}

/* The limit may have been changed before pids began again. */
bool rti_newborns_begin(struct rti_newborns *newborns, const struct rti_context *ctx,
                        uint64_t last_pid, uint64_t now_ns, struct rti_pid_range *out)
{
	const struct rti_newborn_mark *from = &newborns->before;

	newborns->now = (struct rti_newborn_mark){ .at_ns = now_ns };
	if (!ctx->platform->is_process || !last_pid || newborns->has_hidden ||
	    !read_forks(newborns, ctx, &newborns->now.forks))
		return false;
	newborns->now.last_pid = last_pid;
	if (!newborns->pid_max || last_pid < from->last_pid)
		newborns->pid_max = read_pid_max(ctx);
	return rti_newborns_find_range(from, &newborns->now, newborns->pid_max, out);
}

int rti_newborns_look(struct rti_newborns *newborns, const struct rti_context *ctx,
                      const struct rti_pid_range *range, int (*look)(void *arg, int32_t pid),
                      void *arg)
{
	uint64_t pid = range->from;

	for (uint64_t left = rti_pid_range_count(range); left > 0; left--) {
		int result;

		pid = range->to < range->from && pid >= range->last ? 1 : pid + 1;
		if (!ctx->platform->is_process((int32_t)pid))
			continue;
		result = look(arg, (int32_t)pid);
		if (result != 0) {
			newborns->has_hidden = true;
			return result;
		}
	}
	newborns->looks++;
	return 0;
}

void rti_newborns_end(struct rti_newborns *newborns)
{
	const struct rti_newborn_mark *latest = &newborns->latest, *now = &newborns->now;

	if (latest->last_pid && now->at_ns - latest->at_ns < RTI_NEWBORN_OVERLAP_NS &&
	    newborns->before.last_pid)
		return;
	newborns->before = *latest;
	newborns->latest = *now;
}

size_t rti_newborns_take_turns(struct rti_newborns *newborns, size_t count, uint64_t now_ns)
{
	uint64_t each_ns = LISTED_EVERY_NS / (count ? count : 1), turns;

	if (!newborns->listed_at_ns || now_ns - newborns->listed_at_ns >= LISTED_EVERY_NS) {
		turns = newborns->listed_at_ns ? count : 0;
		newborns->listed_at_ns = now_ns;
		return (size_t)turns;
	}
	turns = (now_ns - newborns->listed_at_ns) / each_ns;
	newborns->listed_at_ns += turns * each_ns;
	return (size_t)(turns < count ? turns : count);
}

void rti_newborns_free(struct rti_newborns *newborns, const struct rti_context *ctx)
{
	rti_procfs_close_file(ctx->procfs, &newborns->stat);
}
