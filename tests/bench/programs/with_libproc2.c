/* SPDX-License-Identifier: MIT */
/* Takes samples with libproc2, the library of ps and top.
 *
 * It has no call for trees. So first the parents of all processes are read, and then the figures of
 * the members. If most processes are members, it is cheaper to read the figures of all processes at
 * once. */
#include "driver.h"

#include <errno.h>
#include <libproc2/diskstats.h>
#include <libproc2/meminfo.h>
#include <libproc2/misc.h>
#include <libproc2/pids.h>
#include <libproc2/stat.h>

#define SELECTED_MAX 255 /* of procps_pids_select() */
#define PIDS_MAX 4194304
/* How many times as much as its parent pid all figures of a process cost. */
#define FIGURES_PER_PARENT 4

static enum pids_item figures[] = {
	PIDS_ID_PID,  PIDS_ID_PPID,       PIDS_TICS_USER,      PIDS_TICS_SYSTEM,
	PIDS_MEM_RES, PIDS_IO_READ_BYTES, PIDS_IO_WRITE_BYTES, PIDS_SMAP_PSS,
};
enum { AT_PID, AT_PPID, AT_USER, AT_SYSTEM, AT_RES, AT_READ, AT_WRITE, AT_PSS, FIGURES };

static enum stat_item cpu_items[] = {
	STAT_TIC_USER,         STAT_TIC_NICE,         STAT_TIC_SYSTEM,       STAT_TIC_IDLE,
	STAT_TIC_IOWAIT,       STAT_TIC_IRQ,          STAT_TIC_SOFTIRQ,      STAT_TIC_STOLEN,
	STAT_SYS_CTX_SWITCHES, STAT_SYS_PROC_CREATED, STAT_SYS_PROC_RUNNING, STAT_SYS_PROC_BLOCKED,
};
static enum meminfo_item memory_items[] = {
	MEMINFO_MEM_TOTAL,  MEMINFO_MEM_FREE,        MEMINFO_MEM_AVAILABLE,     MEMINFO_MEM_BUFFERS,
	MEMINFO_MEM_CACHED, MEMINFO_MEM_ACTIVE_ANON, MEMINFO_MEM_INACTIVE_ANON,
};
static enum diskstats_item disk_items[] = {
	DISKSTATS_NAME,   DISKSTATS_TYPE,          DISKSTATS_READS,   DISKSTATS_READ_SECTORS,
	DISKSTATS_WRITES, DISKSTATS_WRITE_SECTORS, DISKSTATS_IO_TIME,
};
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static struct target target;
static struct pids_info *parents, *processes;
static struct stat_info *cpu;
static struct meminfo_info *memory;
static struct diskstats_info *disks;
/* By pid: the last pass that has found the process in the tree. */
static unsigned int member_in[PIDS_MAX], pass;
static unsigned int members[PIDS_MAX];
static bool reads_all;
static unsigned long long total;

static void check_result(int err, const char *what)
{
	errno = -err;
	if (err < 0)
		fail_with_errno(what);
}

void open_target(const struct target *wanted)
{
	target = *wanted;
	if (target.kind == KIND_SYSTEM) {
		check_result(procps_stat_new(&cpu), "stat");
		check_result(procps_meminfo_new(&memory), "meminfo");
		check_result(procps_diskstats_new(&disks), "diskstats");
		return;
	}
	check_result(procps_pids_new(&parents, figures, AT_PPID + 1), "pids");
	check_result(procps_pids_new(&processes, figures, target.with_pss ? FIGURES : AT_PSS),
	             "pids");
}

static void add_up(const struct pids_stack *stack)
{
	total += PIDS_VAL(AT_USER, ull_int, stack, processes) +
	         PIDS_VAL(AT_SYSTEM, ull_int, stack, processes) +
	         PIDS_VAL(AT_RES, ul_int, stack, processes) +
	         PIDS_VAL(AT_READ, ul_int, stack, processes) +
	         PIDS_VAL(AT_WRITE, ul_int, stack, processes);
	if (target.with_pss)
		total += PIDS_VAL(AT_PSS, ul_int, stack, processes);
}

/* A child is listed after its parent, unless pids have wrapped around. So repeat until no new
 * member is found. */
static int find_members(struct pids_stack **stacks)
{
	int count = 1, before;

	member_in[target.pid] = ++pass;
	members[0] = (unsigned int)target.pid;
	do {
		before = count;
		for (struct pids_stack **s = stacks; *s; s++) {
			int pid = PIDS_VAL(AT_PID, s_int, (*s), info);

			if (member_in[pid] == pass ||
			    member_in[PIDS_VAL(AT_PPID, s_int, (*s), info)] != pass)
				continue;
			member_in[pid] = pass;
			members[count++] = (unsigned int)pid;
		}
	} while (count > before);
	return count;
}

static int sample_selected(int count)
{
	for (int i = 0; i < count; i += SELECTED_MAX) {
		int n = count - i < SELECTED_MAX ? count - i : SELECTED_MAX;
		struct pids_fetch *fetch =
		    procps_pids_select(processes, members + i, n, PIDS_SELECT_PID);

		if (!fetch)
			fail_with_errno("pids_select");
		for (struct pids_stack **s = fetch->stacks; *s; s++)
			add_up(*s);
	}
	return count;
}

static int sample_tree(void)
{
	struct pids_fetch *fetch =
	    procps_pids_reap(reads_all ? processes : parents, PIDS_FETCH_TASKS_ONLY);
	bool has_read_all = reads_all;
	int all, count;

	if (!fetch)
		fail_with_errno("pids_reap");
	all = fetch->counts->total;
	count = find_members(fetch->stacks);
	reads_all = (all - count) * (FIGURES_PER_PARENT - 1) < count;
	if (!has_read_all)
		return sample_selected(count);
	for (struct pids_stack **s = fetch->stacks; *s; s++) {
		if (member_in[PIDS_VAL(AT_PID, s_int, (*s), info)] == pass)
			add_up(*s);
	}
	return count;
}

static int sample_system(void)
{
	double one, five, fifteen;

	if (!procps_stat_select(cpu, cpu_items, COUNT(cpu_items)) ||
	    !procps_meminfo_select(memory, memory_items, COUNT(memory_items)) ||
	    !procps_diskstats_reap(disks, disk_items, COUNT(disk_items)) ||
	    procps_loadavg(&one, &five, &fifteen) < 0)
		fail_with_errno("system");
	return 0;
}

int64_t sample_target(void)
{
	members[0] = (unsigned int)target.pid;
	switch (target.kind) {
	case KIND_SYSTEM:
		return sample_system();
	case KIND_TREE:
		return sample_tree();
	default:
		return sample_selected(1);
	}
}

const char *describe_sample(void)
{
	return "-";
}
