/* SPDX-License-Identifier: MIT */
/* The processes of a tree or a cgroup as rows of a series: each one beside its row before. */
#include "members.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/units.h"

#define COMMAND_NS NS_PER_S /* shortest time between two reads of a command line */
#define LONGEST_COMMAND 4096

static void forget(struct member_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->notes[i].command);
	list->count = 0;
}

/* Make room for so many rows and some more. The list is empty. Returns false without memory. */
static bool make_room(struct member_list *list, size_t count)
{
	if (count <= list->room)
		return true;
	free(list->rows);
	free(list->notes);
	list->room = count + count / 2;
	list->rows = calloc(list->room, sizeof(*list->rows));
	list->notes = calloc(list->room, sizeof(*list->notes));
	if (list->rows && list->notes)
		return true;
	free(list->rows);
	free(list->notes);
	*list = (struct member_list){ 0 };
	return false;
}

/* Returns the number of processes that there are, which may be more than were listed. */
static size_t fill(struct member_list *list, const struct rt_tracker *tracker)
{
	size_t count = list->room;

	if (rt_tracker_processes(tracker, list->rows, sizeof(*list->rows), &count) < 0)
		return 0;
	if (count > list->room && make_room(list, count)) {
		count = list->room;
		if (rt_tracker_processes(tracker, list->rows, sizeof(*list->rows), &count) < 0)
			return 0;
	}
	list->count = count < list->room ? count : list->room;
	for (size_t i = 0; i < list->count; i++)
		list->notes[i] = (struct member_notes){ 0 };
	return count;
}

/* The same for all trees, and for as long as rtrack runs: otherwise the start of a process would
 * change when the clock is set. */
static uint64_t boot_realtime_ns, tick_ns;

static void set_clocks(const struct rt_metrics *now)
{
	if (tick_ns > 0)
		return;
	tick_ns = (uint64_t)NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	boot_realtime_ns = now->realtime_ns - now->boottime_ns;
}

void members_take(struct members *m, const struct rt_tracker *tracker, const struct rt_metrics *now)
{
	struct member_list last = m->before;
	size_t count;

	forget(&last);
	m->before = m->now;
	m->now = last;
	count = fill(&m->now, tracker);
	if (count - m->now.count > m->not_listed)
		m->not_listed = count - m->now.count;
	m->is_ordered = false;
	m->next = 0;
	m->sampled_at_ns = now->monotonic_ns;
	set_clocks(now);
}

static bool is_one_process(const struct rt_process *a, const struct rt_process *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks;
}

static int compare_pids(const void *a, const void *b)
{
	const struct member_place *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Order the rows before by pid. Returns false without memory. */
static bool put_in_order(struct members *m)
{
	if (m->is_ordered)
		return true;
	if (m->order_room < m->before.room) {
		free(m->order);
		m->order = calloc(m->before.room, sizeof(*m->order));
		m->order_room = m->order ? m->before.room : 0;
	}
	if (!m->order)
		return false;
	for (size_t i = 0; i < m->before.count; i++)
		m->order[i] = (struct member_place){ m->before.rows[i].pid, i };
	qsort(m->order, m->before.count, sizeof(*m->order), compare_pids);
	m->is_ordered = true;
	return true;
}

/* Find the row before of this process by its pid. Returns its index, or the number of rows. */
static size_t search(struct members *m, const struct rt_process *row)
{
	size_t low = 0, high = m->before.count;

	if (!put_in_order(m))
		return m->before.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct member_place *place = &m->order[middle];

		if (is_one_process(&m->before.rows[place->index], row))
			return place->index;
		if (place->pid < row->pid)
			low = middle + 1;
		else
			high = middle;
	}
	return m->before.count;
}

/* The library keeps the order of the processes, so most are where they are expected. */
static size_t find_before(struct members *m, const struct rt_process *row)
{
	size_t at = m->next;

	if (at >= m->before.count || !is_one_process(&m->before.rows[at], row))
		at = search(m, row);
	if (at < m->before.count)
		m->next = at + 1;
	return at;
}

/* Join the words, each of which ends with a NUL. */
static char *join(char *words, size_t len)
{
	char *copy;

	while (len > 0 && words[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++)
		words[i] = words[i] ? words[i] : ' ';
	copy = len > 0 ? malloc(len + 1) : NULL;
	if (!copy)
		return NULL;
	memcpy(copy, words, len);
	copy[len] = '\0';
	return copy;
}

/* Returns NULL for a zombie and a kernel thread, which have none. The pid can be that of another
 * process only if the member has exited, is reaped, and all other pids were used up since the
 * sample. */
static char *read_command(int32_t pid)
{
	char path[40], words[LONGEST_COMMAND];
	ssize_t len = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, words, sizeof(words));
		close(fd);
	}
	return len > 0 ? join(words, (size_t)len) : NULL;
}

/* Read the command line of a new process, of one with another name, and once a second of one that
 * has run: it may have executed another program of the same name. A zombie keeps what it had. */
static void note_command(struct members *m, const struct rt_process *row,
                         const struct rt_process *before, struct member_notes *notes)
{
	uint64_t cpu_ns = row->cpu_user_ns + row->cpu_system_ns;
	bool has_run = cpu_ns != notes->command_cpu_ns;
	bool is_due = !before || !notes->command_at_ns || strcmp(before->comm, row->comm) != 0 ||
	              (has_run && m->sampled_at_ns - notes->command_at_ns >= (uint64_t)COMMAND_NS);
	char *command;

	if (!is_due)
		return;
	command = read_command(row->pid);
	if (command || row->state != 'Z') {
		free(notes->command);
		notes->command = command;
	}
	notes->command_at_ns = m->sampled_at_ns;
	notes->command_cpu_ns = cpu_ns;
}

/* The kernel estimates how CPU time divides into user and system time, so either may fall while
 * their sum grows. Here neither does, as in the kernel's own cputime_adjust(). */
static void keep_cpu_times_monotonic(struct rt_process *row, const struct rt_process *before)
{
	uint64_t sum_ns = row->cpu_user_ns + row->cpu_system_ns;

	if (sum_ns < before->cpu_user_ns + before->cpu_system_ns)
		return;
	if (row->cpu_user_ns < before->cpu_user_ns)
		row->cpu_user_ns = before->cpu_user_ns;
	else if (row->cpu_system_ns < before->cpu_system_ns)
		row->cpu_user_ns = sum_ns - before->cpu_system_ns;
	row->cpu_system_ns = sum_ns - row->cpu_user_ns;
}

struct member members_at(struct members *m, size_t index, uint64_t since_boottime_ns)
{
	static const struct rt_process zeros = { .valid = UINT64_MAX };
	struct rt_process *row = &m->now.rows[index];
	struct member_notes *notes = &m->now.notes[index];
	size_t at = find_before(m, row);
	struct member member = {
		.now = row,
		.start_realtime_ns = boot_realtime_ns + row->start_ticks * tick_ns,
	};

	if (at < m->before.count) {
		member.base = &m->before.rows[at];
		keep_cpu_times_monotonic(row, member.base);
		*notes = m->before.notes[at];
		m->before.notes[at].command = NULL;
	} else if ((row->start_ticks + 1) * tick_ns >= since_boottime_ns) {
		member.base = &zeros;
	}
	if (!notes->has_row)
		m->written++;
	notes->has_row = true;
	if (m->wants_commands)
		note_command(m, row, at < m->before.count ? member.base : NULL, notes);
	member.command = notes->command;
	return member;
}

void members_free(struct members *m)
{
	for (struct member_list *list = &m->now;; list = &m->before) {
		forget(list);
		free(list->rows);
		free(list->notes);
		if (list == &m->before)
			break;
	}
	free(m->order);
	*m = (struct members){ 0 };
}
