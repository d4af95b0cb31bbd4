/* SPDX-License-Identifier: MIT */
/* The processes that used most CPU time and memory, with their command lines. */
#include "top_processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "follow/clock.h"

#define COST_FACTOR 200 /* the time between two looks is at least so many times their CPU cost */
#define COMMAND_NS 100000000 /* time between two reads of the command line of a process */
#define LONGEST_COMMAND 4096 /* bytes of it that are read */
#define LEAST_CPU_NS 500000  /* what would be shown as 0.000 s is not worth a line */
/* /proc gives the start of a process in clock ticks. */
#define SAME_START_NS 50000000

struct top_base {
	int32_t pid;
	uint64_t start_ticks, cpu_ns;
};

/* Get the members of the last sample. Returns their number. */
static size_t list_members(struct top_processes *top, const struct rt_tracker *tracker)
{
	size_t count = top->room;

	if (rt_tracker_processes(tracker, top->rows, sizeof(*top->rows), &count) < 0)
		return 0;
	if (count <= top->room)
		return count;
	free(top->rows);
	top->room = count + count / 2;
	top->rows = calloc(top->room, sizeof(*top->rows));
	if (!top->rows)
		top->room = 0;
	count = top->room;
	if (count == 0 || rt_tracker_processes(tracker, top->rows, sizeof(*top->rows), &count) < 0)
		return 0;
	return count < top->room ? count : top->room;
}

static int compare_base(const void *a, const void *b)
{
	const struct top_base *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

void top_processes_set_base(struct top_processes *top, const struct rt_tracker *tracker)
{
	size_t count = list_members(top, tracker);

	top->base = calloc(count + 1, sizeof(*top->base));
	if (!top->base)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct rt_process *row = &top->rows[i];

		top->base[i] = (struct top_base){
			.pid = row->pid,
			.start_ticks = row->start_ticks,
			.cpu_ns = row->cpu_user_ns + row->cpu_system_ns,
		};
	}
	top->base_count = count;
	qsort(top->base, count, sizeof(*top->base), compare_base);
}

/* Returns NULL if it was not there yet. */
static const struct top_base *find_base(const struct top_processes *top,
                                        const struct rt_process *row)
{
	const struct top_base key = { .pid = row->pid }, *base = NULL;

	if (top->base_count > 0)
		base = bsearch(&key, top->base, top->base_count, sizeof(key), compare_base);
	return base && base->start_ticks == row->start_ticks ? base : NULL;
}

static uint64_t cpu_since_base(const struct top_base *base, const struct rt_process *row)
{
	uint64_t cpu_ns = row->cpu_user_ns + row->cpu_system_ns;

	if (!base)
		return cpu_ns;
	return cpu_ns > base->cpu_ns ? cpu_ns - base->cpu_ns : 0;
}

static struct top_process process_of_row(const struct top_processes *top,
                                         const struct rt_process *row, const struct rt_metrics *now)
{
	const struct top_base *base = find_base(top, row);
	struct top_process p = {
		.pid = row->pid,
		.seen_at_ns = now->monotonic_ns,
		.start_realtime_ns = row->start_realtime_ns,
		.has_cpu = RT_IS_KNOWN(row, RT_HAS_CPU),
		.has_memory = RT_IS_KNOWN(row, RT_HAS_PEAK_RSS),
		.peak_rss_bytes = row->peak_rss_bytes,
	};

	p.cpu_ns = cpu_since_base(base, row);
	p.first_cpu_ns = base ? 0 : p.cpu_ns;
	p.least_cpu_ns = RT_QUALITY(row, RT_HAS_CPU) >= RT_QUALITY_LOWER_BOUND ? p.cpu_ns : 0;
	/* Peaks are read less often than RSS, which is a lower bound of them. */
	if (row->valid & RT_HAS_RSS && row->rss_bytes > p.peak_rss_bytes) {
		p.has_memory = true;
		p.peak_rss_bytes = row->rss_bytes;
	}
	memcpy(p.name, row->comm, sizeof(p.name));
	return p;
}

static bool is_one_process(const struct top_process *a, const struct top_process *b)
{
	return a->pid == b->pid && a->start_realtime_ns + SAME_START_NS > b->start_realtime_ns &&
	       b->start_realtime_ns + SAME_START_NS > a->start_realtime_ns;
}

static bool uses_more_cpu(const struct top_process *a, const struct top_process *b)
{
	return a->has_cpu && (!b->has_cpu || a->cpu_ns > b->cpu_ns);
}

static bool uses_more_memory(const struct top_process *a, const struct top_process *b)
{
	return a->has_memory && (!b->has_memory || a->peak_rss_bytes > b->peak_rss_bytes);
}

typedef bool is_above(const struct top_process *a, const struct top_process *b);

/* Put a process into a list, if it is among the first. */
static void insert(struct top_list *list, const struct top_process *p, is_above *above)
{
	size_t at = list->count;

	while (at > 0 && above(p, &list->process[at - 1]))
		at--;
	if (at == TOP_COUNT)
		return;
	if (list->count < TOP_COUNT)
		list->count++;
	for (size_t i = list->count - 1; i > at; i--)
		list->process[i] = list->process[i - 1];
	list->process[at] = *p;
}

static void add_to_ranks(struct top_processes *top, const struct top_process *p)
{
	if (p->has_cpu && p->cpu_ns >= LEAST_CPU_NS)
		insert(&top->by_cpu, p, uses_more_cpu);
	if (p->has_memory && p->peak_rss_bytes > 0)
		insert(&top->by_memory, p, uses_more_memory);
}

static bool has_process(const struct top_list *list, const struct top_process *p)
{
	for (size_t i = 0; i < list->count; i++) {
		if (is_one_process(&list->process[i], p))
			return true;
	}
	return false;
}

/* Join the words of a command line, of which each ends with a NUL. A long one loses its middle. */
static void set_command(struct top_process *p, const char *words, size_t len)
{
	const size_t room = sizeof(p->command) - 1, head = room / 2, tail = room - head - 3;

	while (len > 0 && words[len - 1] == '\0')
		len--;
	if (len <= room) {
		memcpy(p->command, words, len);
	} else {
		memcpy(p->command, words, head);
		memcpy(p->command + head, "...", 3);
		memcpy(p->command + head + 3, words + len - tail, tail);
		len = room;
	}
	for (size_t i = 0; i < len; i++)
		p->command[i] = p->command[i] ? p->command[i] : ' ';
	p->command[len] = '\0';
}

/* A zombie and a kernel thread have no command line: then the name remains. The pid can be that of
 * another process only if the member has exited, is reaped, and all other pids were used up since
 * the sample. */
static void read_command(struct top_process *p)
{
	char words[LONGEST_COMMAND];
	size_t len = sizeof(words);

	if (rt_pid_text(p->pid, RT_TEXT_COMMAND_LINE, words, &len) == 0 && len > 0)
		set_command(p, words, len < sizeof(words) ? len : sizeof(words));
}

static struct top_process *find_seen(struct top_processes *top, const struct top_process *p)
{
	for (size_t i = 0; i < top->seen_count; i++) {
		if (is_one_process(&top->seen[i], p))
			return &top->seen[i];
	}
	return NULL;
}

/* Forget the one with the least CPU time of those that are not at the top. */
static struct top_process *make_room(struct top_processes *top)
{
	struct top_process *least = NULL;

	if (top->seen_count < TOP_REMEMBERED)
		return &top->seen[top->seen_count++];
	top_processes_rank(top);
	for (size_t i = 0; i < top->seen_count; i++) {
		struct top_process *p = &top->seen[i];

		if (!has_process(&top->by_cpu, p) && !has_process(&top->by_memory, p) &&
		    (!least || p->cpu_ns < least->cpu_ns))
			least = p;
	}
	return least;
}

/* Returns true if the command line must be read: the process is new, or may have executed another
 * program since. E.g.: it was just forked, and executes a program with the name of its parent's. */
static bool needs_command(const struct top_process *p, const struct top_process *seen)
{
	return !seen->command[0] || strcmp(p->name, seen->name) != 0 ||
	       p->seen_at_ns - seen->command_at_ns >= COMMAND_NS;
}

static void remember(struct top_processes *top, struct top_process *p)
{
	struct top_process *seen = find_seen(top, p);
	bool is_new = !seen;

	if (is_new) {
		seen = make_room(top);
	} else {
		memcpy(p->command, seen->command, sizeof(p->command));
		p->command_at_ns = seen->command_at_ns;
		p->first_cpu_ns = seen->first_cpu_ns;
		if (seen->least_cpu_ns > p->least_cpu_ns)
			p->least_cpu_ns = seen->least_cpu_ns;
		if (uses_more_memory(seen, p)) {
			p->has_memory = true;
			p->peak_rss_bytes = seen->peak_rss_bytes;
		}
	}
	if (is_new || needs_command(p, seen)) {
		read_command(p);
		p->command_at_ns = p->seen_at_ns;
	}
	*seen = *p;
}

static void look(struct top_processes *top, const struct rt_tracker *tracker,
                 const struct rt_metrics *now)
{
	size_t count = list_members(top, tracker);
	struct top_list cpu, memory;

	top->by_cpu.count = top->by_memory.count = 0;
	for (size_t i = 0; i < count; i++) {
		struct top_process p = process_of_row(top, &top->rows[i], now);

		add_to_ranks(top, &p);
	}
	cpu = top->by_cpu;
	memory = top->by_memory;
	for (size_t i = 0; i < cpu.count; i++)
		remember(top, &cpu.process[i]);
	for (size_t i = 0; i < memory.count; i++) {
		if (!has_process(&cpu, &memory.process[i]))
			remember(top, &memory.process[i]);
	}
}

/* cost_ns: CPU time that the last look took. */
static void schedule(struct top_processes *top, int64_t cost_ns)
{
	int64_t pause_ns = cost_ns * COST_FACTOR;

	top->next_look_ns = clock_now() + (pause_ns > TOP_LOOK_NS ? pause_ns : TOP_LOOK_NS);
}

void top_processes_look(struct top_processes *top, const struct rt_tracker *tracker,
                        const struct rt_metrics *now)
{
	int64_t before_ns = clock_cpu();

	if (clock_now() < top->next_look_ns)
		return;
	look(top, tracker, now);
	schedule(top, clock_cpu() - before_ns);
}

int top_processes_sample(struct top_processes *top, struct rt_tracker *tracker)
{
	int64_t before_ns = clock_cpu();
	struct rt_metrics now;
	int err;

	if (clock_now() < top->next_look_ns)
		return 0;
	err = rt_sample(tracker, &now, sizeof(now));
	if (err == 0)
		look(top, tracker, &now);
	schedule(top, clock_cpu() - before_ns);
	return err;
}

uint64_t top_processes_seen_cpu(const struct top_processes *top)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < top->seen_count; i++) {
		const struct top_process *p = &top->seen[i];

		if (p->least_cpu_ns > p->first_cpu_ns)
			sum_ns += p->least_cpu_ns - p->first_cpu_ns;
	}
	return sum_ns;
}

void top_processes_rank(struct top_processes *top)
{
	top->by_cpu.count = top->by_memory.count = 0;
	for (size_t i = 0; i < top->seen_count; i++)
		add_to_ranks(top, &top->seen[i]);
}

/* A process that ended at once has no command line. */
static void copy_command(struct rt_command *command, size_t row, struct top_process *p)
{
	char words[LONGEST_COMMAND];
	size_t len = sizeof(words);

	if (rt_command_process_text(command, row, RT_TEXT_COMMAND_LINE, words, &len) == 0 && len)
		set_command(p, words, len < sizeof(words) ? len : sizeof(words));
}

static struct top_process process_of_list(struct top_processes *top,
                                          const struct rt_command_process *row)
{
	struct top_process p = {
		.pid = row->pid,
		.start_realtime_ns = row->start_realtime_ns,
		.has_cpu = RT_IS_KNOWN(row, RT_HAS_CPU),
		.has_memory = RT_IS_KNOWN(row, RT_HAS_PEAK_RSS),
		.is_cpu_final = RT_QUALITY(row, RT_HAS_CPU) == RT_QUALITY_EXACT,
		.is_memory_final = RT_QUALITY(row, RT_HAS_PEAK_RSS) == RT_QUALITY_EXACT,
		.is_cpu_estimated = (row->estimated & RT_HAS_CPU) != 0,
		.cpu_ns = row->cpu_user_ns + row->cpu_system_ns,
		.peak_rss_bytes = row->peak_rss_bytes,
	};
	const struct top_process *seen = find_seen(top, &p);

	memcpy(p.name, row->comm, sizeof(p.name));
	if (!seen)
		return p;
	memcpy(p.command, seen->command, sizeof(p.command));
	/* The list may lack what a sample saw. */
	if (!p.is_cpu_final && uses_more_cpu(seen, &p)) {
		p.has_cpu = true;
		p.cpu_ns = seen->cpu_ns;
	}
	if (!p.is_memory_final && uses_more_memory(seen, &p)) {
		p.has_memory = true;
		p.peak_rss_bytes = seen->peak_rss_bytes;
	}
	return p;
}

/* A list without some that the kernel did not record has what samples saw of them. One that memory
 * was lacking for may not. */
static bool has_all_that_is_known(int err)
{
	return err == 0 || err == -ENOBUFS;
}

int top_processes_rank_list(struct top_processes *top, struct rt_command *command)
{
	struct rt_command_process *rows;
	size_t count = 0;
	int err = rt_command_processes(command, NULL, sizeof(*rows), &count);

	if (!has_all_that_is_known(err))
		return err;
	rows = calloc(count + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	err = rt_command_processes(command, rows, sizeof(*rows), &count);
	top->by_cpu.count = top->by_memory.count = 0;
	for (size_t i = 0; has_all_that_is_known(err) && i < count; i++) {
		struct top_process p = process_of_list(top, &rows[i]);

		if (!p.command[0])
			copy_command(command, i, &p);
		add_to_ranks(top, &p);
	}
	free(rows);
	return has_all_that_is_known(err) ? 0 : err;
}

void top_processes_set_single(struct top_processes *top, const struct top_process *process)
{
	top->by_cpu.count = top->by_memory.count = 0;
	add_to_ranks(top, process);
}

void top_process_set_command(struct top_process *process, const char *const *argv)
{
	size_t len = 0;

	for (; *argv && len + 1 < sizeof(process->command); argv++)
		len += (size_t)snprintf(process->command + len, sizeof(process->command) - len,
		                        "%s%s", len ? " " : "", *argv);
}

void top_processes_free(struct top_processes *top)
{
	free(top->rows);
	free(top->base);
	top->rows = NULL;
	top->base = NULL;
	top->room = top->base_count = 0;
}
