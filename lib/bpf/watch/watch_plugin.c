/* SPDX-License-Identifier: MIT */
/* The plug-in's part that watches a tree: loads the programs, and takes what they have noted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/program.h"
#include "bpf/watch/watch.h"

#include "watch.skel.h"

#define PIDS_MAX 4194304u /* PID_MAX_LIMIT of include/linux/threads.h */

extern const struct rti_watch_ops rti_bpf_watch __attribute__((visibility("default")));

struct mapped {
	void *at; /* NULL: it is not */
	size_t bytes;
};

/* Invariant: only the process owner may use what is mapped: it shares it with the programs. */
struct watch {
	struct rti_watch_bpf *programs;
	struct mapped groups, summary;
	uint32_t group_count, summary_count, cpu_count;
	uint32_t next_word; /* of the summary, where the next call goes on */
	pid_t owner;
	int64_t boottime_offset_ns; /* what the caller's clock is ahead of the kernel's */
};

/* Returns the last number in a file, e.g. 15 of "0-15"; `or_else` if there is none. */
static uint32_t read_last_number(const char *path, uint32_t or_else)
{
	FILE *file = fopen(path, "re");
	unsigned number, last = 0;
	int numbers = 0;

	if (!file)
		return or_else;
	while (fscanf(file, "%u", &number) == 1) {
		last = number;
		numbers++;
		(void)fgetc(file); /* '-' or ',' */
	}
	fclose(file);
	return numbers ? last : or_else;
}

static int map_array(struct mapped *out, int fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at;

	bytes = (bytes + page - 1) / page * page;
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	*out = (struct mapped){ at, bytes };
	return 0;
}

static void unmap(struct mapped *mapped)
{
	if (mapped->at)
		munmap(mapped->at, mapped->bytes);
	mapped->at = NULL;
}

static void count_rows(struct watch *w)
{
	uint32_t pids = read_last_number("/proc/sys/kernel/pid_max", PIDS_MAX);
	uint32_t last_cpu =
	    read_last_number("/sys/devices/system/cpu/possible", RTI_WATCH_CPUS_MAX - 1);

	/* The limit may be raised later: pids above it have no bit and no mark. */
	if (pids == 0 || pids > PIDS_MAX)
		pids = PIDS_MAX;
	w->group_count = (pids + RTI_WATCH_GROUP - 1) / RTI_WATCH_GROUP;
	w->summary_count = (w->group_count + RTI_WATCH_GROUP - 1) / RTI_WATCH_GROUP;
	w->cpu_count = last_cpu < RTI_WATCH_CPUS_MAX ? last_cpu + 1 : RTI_WATCH_CPUS_MAX;
}

static int load_once(struct watch *w)
{
	struct rti_watch_bpf *programs = rti_watch_bpf__open();
	int err;

	if (!programs)
		return -ENOMEM;
	w->programs = programs;
	programs->rodata->settings = (struct rti_watch_settings){ .cpus = w->cpu_count };
	programs->maps.groups.max_entries = w->group_count;
	programs->maps.summary.max_entries = w->summary_count;
	programs->maps.cpus.max_entries = w->cpu_count;
	err = rti_watch_bpf__load(programs);
	return err == 0 && !programs->bss ? -ENOMEM : err;
}

static int load(struct watch *w)
{
	int loads = 0, err;

	count_rows(w);
	do {
		rti_watch_bpf__destroy(w->programs);
		w->programs = NULL;
		err = load_once(w);
	} while (rti_program_is_interrupted(err, ++loads));
	if (err == 0)
		err = map_array(&w->groups, w->programs->maps.groups.map_fd,
		                w->group_count * sizeof(struct rti_watch_group));
	if (err == 0)
		err = map_array(&w->summary, w->programs->maps.summary.map_fd,
		                w->summary_count * sizeof(uint64_t));
	return err;
}

static int set_up(struct watch *w)
{
	uint64_t before_ns = rti_program_clock_ns(CLOCK_BOOTTIME);
	int err = rti_program_run(w->programs->progs.set_up.prog_fd);

	w->boottime_offset_ns = rti_program_clock_offset_ns(
	    before_ns, w->programs->bss->shared.began_ns, rti_program_clock_ns(CLOCK_BOOTTIME));
	return err;
}

/* The fork hook comes last: what it marks must be seen to end. */
static int attach(struct rti_watch_bpf *programs)
{
	bool is_attached = rti_watch_bpf__on_switch__attach(programs) >= 0 &&
	                   rti_watch_bpf__on_reclaim__attach(programs) >= 0 &&
	                   rti_watch_bpf__on_exit__attach(programs) >= 0 &&
	                   rti_watch_bpf__on_new_thread__attach(programs) >= 0 &&
	                   rti_watch_bpf__on_fork__attach(programs) >= 0 &&
	                   rti_watch_bpf__search__attach(programs) >= 0;

	return is_attached ? 0 : -errno;
}

/* A forked child may do so, too: nothing that it shares with its parent is changed. */
static void close_watch(void *state)
{
	struct watch *w = state;

	unmap(&w->groups);
	unmap(&w->summary);
	if (w->programs)
		rti_watch_bpf__destroy(w->programs);
	free(w);
}

static int begin(void *state, const void *unused)
{
	struct watch *w = state;
	int err;

	(void)unused;
	w->owner = getpid();
	err = load(w);
	if (err == 0)
		err = set_up(w);
	if (err == 0)
		err = attach(w->programs);
	return rti_program_error(err);
}

static int open_watch(void **out)
{
	return rti_program_open(out, sizeof(struct watch), begin, NULL, close_watch);
}

static struct rti_watch_group *find_group(const struct watch *w, int32_t pid)
{
	struct rti_watch_group *groups = w->groups.at;
	uint32_t number = (uint32_t)pid / RTI_WATCH_GROUP;

	return number < w->group_count ? &groups[number] : NULL;
}

static uint64_t bit_of(int32_t pid)
{
	return UINT64_C(1) << ((uint32_t)pid % RTI_WATCH_GROUP);
}

static void want(void *state, int32_t pid)
{
	const struct watch *w = state;
	struct rti_watch_group *group = getpid() == w->owner ? find_group(w, pid) : NULL;

	if (group)
		group->wanted |= bit_of(pid);
}

static int search(void *state, uint64_t before_ns)
{
	struct watch *w = state;
	struct rti_watch_shared *shared = &w->programs->bss->shared;
	struct rti_watch_group *groups = w->groups.at;
	int err;

	if (getpid() != w->owner)
		return -ESTALE;
	for (uint32_t i = 0; i < w->group_count; i++)
		if (groups[i].marked)
			__atomic_store_n(&groups[i].marked, 0, __ATOMIC_SEQ_CST);
	shared->found = 0;
	shared->before_ns = before_ns - (uint64_t)w->boottime_offset_ns;
	err = rti_program_iterate(w->programs->links.search_fd);
	for (uint32_t i = 0; i < w->group_count; i++)
		if (groups[i].wanted)
			groups[i].wanted = 0;
	return err < 0 ? err : (int)(shared->found < INT32_MAX ? shared->found : INT32_MAX);
}

static bool is_marked(const void *state, int32_t pid)
{
	const struct watch *w = state;
	const struct rti_watch_group *group = find_group(w, pid);

	return group && __atomic_load_n(&group->marked, __ATOMIC_SEQ_CST) & bit_of(pid);
}

/* A fork is noted before the change. */
static int take_group(struct watch *w, uint32_t number, struct rti_watch_change *changes)
{
	struct rti_watch_group *group = (struct rti_watch_group *)w->groups.at + number;
	uint64_t changed = __atomic_exchange_n(&group->changed, 0, __ATOMIC_SEQ_CST);
	uint64_t forked = __atomic_fetch_and(&group->forked, ~changed, __ATOMIC_SEQ_CST) & changed;
	int count = 0;

	for (; changed; changed &= changed - 1) {
		uint64_t bit = changed & -changed;

		changes[count++] = (struct rti_watch_change){
			.pid = (int32_t)(number * RTI_WATCH_GROUP) + __builtin_ctzll(changed),
			.is_forked = (forked & bit) != 0,
		};
	}
	return count;
}

/* Returns whether there was room for all. What does not fit gets its bit in the summary back. */
static bool take_word(struct watch *w, uint32_t word, struct rti_watch_change *changes, size_t room,
                      int *count)
{
	uint64_t *summary = (uint64_t *)w->summary.at + word;
	uint64_t bits = __atomic_load_n(summary, __ATOMIC_RELAXED);

	if (!bits)
		return true;
	bits = __atomic_exchange_n(summary, 0, __ATOMIC_SEQ_CST);
	for (; bits; bits &= bits - 1) {
		if (room - (size_t)*count < RTI_WATCH_GROUP) {
			__atomic_fetch_or(summary, bits, __ATOMIC_SEQ_CST);
			return false;
		}
		*count += take_group(w, word * RTI_WATCH_GROUP + (uint32_t)__builtin_ctzll(bits),
		                     changes + *count);
	}
	return true;
}

/* Processes that run now have not been noted yet. Returns how many, or -errno. */
static int take_running(const struct watch *w, struct rti_watch_change *changes, size_t room)
{
	const struct rti_watch_shared *shared = &w->programs->bss->shared;
	int err = rti_program_run(w->programs->progs.list_on_cpu.prog_fd), count = 0;

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < shared->running_count && (size_t)count < room; i++)
		changes[count++] = (struct rti_watch_change){
			.pid = (int32_t)shared->running[i],
			.is_running = true,
		};
	return count;
}

/* Those that run come first: one that leaves its CPU meanwhile is noted as changed. */
static int take(void *state, struct rti_watch_change *changes, size_t room, bool *has_more)
{
	struct watch *w = state;
	int count = 0;

	*has_more = false;
	if (getpid() != w->owner)
		return -ESTALE;
	if (w->next_word == 0)
		count = take_running(w, changes, room - RTI_WATCH_GROUP);
	if (count < 0)
		return count;
	for (; w->next_word < w->summary_count; w->next_word++) {
		if (!take_word(w, w->next_word, changes, room, &count)) {
			*has_more = true;
			return count;
		}
	}
	w->next_word = 0;
	return count;
}

static void count_all(const void *state, struct rti_watch_counts *out)
{
	const struct watch *w = state;
	const struct rti_watch_shared *shared = &w->programs->bss->shared;

	*out = (struct rti_watch_counts){
		.switches = shared->switches,
		.reclaims = __atomic_load_n(&shared->reclaims, __ATOMIC_RELAXED),
		.unmarked = __atomic_load_n(&shared->unmarked, __ATOMIC_RELAXED),
	};
}

const struct rti_watch_ops rti_bpf_watch = {
	.version = RTI_WATCH_PLUGIN,
	.change_size = sizeof(struct rti_watch_change),
	.open = open_watch,
	.want = want,
	.search = search,
	.is_marked = is_marked,
	.take = take,
	.count = count_all,
	.close = close_watch,
};
