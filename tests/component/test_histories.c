/* SPDX-License-Identifier: MIT */
/* Random histories of a simulated kernel, sampled by the real tree sampler through injected file calls. Processes fork,
 * work, exit, are reaped, orphaned or auto-reaped, and pids are given away again, at any instant between two file calls of
 * one sample. The known truth bounds every sample. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "tracker.h"

#define HISTORIES_DEFAULT 1500
#define MOST 24       /* processes at a time */
#define FIRST_PID 100 /* the root; the world has few pids, so that they are given away again soon */
#define PIDS 40
#define SAMPLES 12
#define TICK_NS 10000000u
#define MOST_FDS 256
#define FD_PROC 3
#define STRANGERS_PARENT 2

struct process {
	int pid, ppid, is_zombie, ignores_sigchld, is_member;
	uint64_t starttime, own_ns, reaped_ns, faults, reaped_faults, written, own_written;
};

static struct world {
	struct process p[MOST];
	int count;
	uint64_t now;       /* gives start times */
	uint64_t cpu_ns, faults, written; /* the truth: of all that ever was in the tree */
	int may_lose;       /* SIGCHLD is ignored, and orphans are made */
	int has_lost;       /* somebody's account may have gone to nobody */
	unsigned history, seed, events_per_mille;
	struct {
		int is_open, pid;
		uint64_t starttime;
		char leaf[64];
		int is_listed;
	} fd[MOST_FDS];
} w;

static unsigned pick(unsigned below)
{
	w.seed = w.seed * 1664525u + 1013904223u;
	return (w.seed >> 9) % below;
}

static struct process *find(int pid)
{
	for (int i = 0; i < w.count; i++) {
		if (w.p[i].pid == pid)
			return &w.p[i];
	}
	return NULL;
}

static void work(struct process *p, uint64_t ns)
{
	uint64_t bytes = ns % 3 ? 0 : 512 * (1 + ns % 5);

	p->own_ns += ns;
	p->faults += 1 + ns % 4;
	p->own_written += bytes;
	p->written += bytes;
	if (!p->is_member)
		return;
	w.cpu_ns += ns;
	w.faults += 1 + ns % 4;
	w.written += bytes;
}

static void add_process(int ppid, int is_member)
{
	int pid = FIRST_PID + (int)pick(PIDS);

	if (w.count == MOST || find(pid))
		return;
	w.p[w.count] = (struct process){ .pid = pid, .ppid = ppid, .starttime = ++w.now, .is_member = is_member };
	work(&w.p[w.count++], pick(30000000));
}

static void remove_process(struct process *p)
{
	*p = w.p[--w.count];
}

/* wait_task_zombie(): the account moves before the process goes. */
static void reap(struct process *p)
{
	struct process *parent = find(p->ppid);

	if (parent) {
		parent->reaped_ns += p->own_ns + p->reaped_ns;
		parent->reaped_faults += p->faults + p->reaped_faults;
		parent->written += p->written;
	} else if (p->is_member) {
		w.has_lost = 1;
	}
	remove_process(p);
}

static void lose(struct process *p)
{
	if (p->is_member)
		w.has_lost = 1;
	remove_process(p);
}

/* Children of the dead go to init, which is not in this world: it reaps at once. */
static void leave_children(int pid)
{
	for (int i = 0; i < w.count; i++) {
		if (w.p[i].ppid != pid)
			continue;
		w.p[i].ppid = 1;
		w.has_lost |= w.p[i].is_member; /* if no sample has seen it yet */
		if (w.p[i].is_zombie) {
			lose(&w.p[i]);
			i--;
		}
	}
}

static void exit_process(struct process *p)
{
	const struct process *parent;
	int pid = p->pid;

	if (pid == FIRST_PID || p->is_zombie)
		return;
	p->is_zombie = 1;
	leave_children(pid);
	p = find(pid); /* others went, and it may have moved */
	parent = find(p->ppid);
	if (!parent || parent->ignores_sigchld)
		lose(p);
}

/* The orphans of those who exit would end up with init, which is not told apart from being lost. */
static int may_exit(const struct process *p)
{
	for (int i = 0; i < w.count; i++) {
		if (w.p[i].ppid == p->pid)
			return w.may_lose;
	}
	return w.may_lose || find(p->ppid);
}

static void happen(void)
{
	struct process *p = &w.p[pick((unsigned)w.count)];

	switch (pick(w.may_lose ? 7 : 6)) {
	case 0:
	case 1:
		if (!p->is_zombie)
			add_process(p->pid, p->is_member);
		break;
	case 2:
		if (!p->is_zombie)
			work(p, pick(25000000));
		break;
	case 3:
		if (may_exit(p))
			exit_process(p);
		break;
	case 4:
		if (p->is_zombie)
			reap(p);
		break;
	case 5:
		add_process(STRANGERS_PARENT, 0); /* a stranger takes a pid */
		break;
	default:
		p->ignores_sigchld = 1;
	}
}

static void maybe_happen(void)
{
	while (pick(1000) < w.events_per_mille)
		happen();
}

/* The files of a process, as its kernel would write them now. */
static int write_file(const struct process *p, const char *leaf, char *out, size_t size)
{
	int len = 0;

	if (strcmp(leaf, "stat") == 0)
		return snprintf(out, size,
		                "%d (p) %c %d 1 1 0 -1 0 %" PRIu64 " %" PRIu64 " 0 0 0 0 %" PRIu64 " 0 20 0 1 0 %" PRIu64 " 0 1 0\n",
		                p->pid, p->is_zombie ? 'Z' : 'S', p->ppid, p->faults, p->reaped_faults,
		                p->reaped_ns / TICK_NS, p->starttime);
	if (strcmp(leaf, "io") == 0)
		return snprintf(out, size,
		                "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: %" PRIu64
		                "\ncancelled_write_bytes: 0\n",
		                p->written);
	if (strcmp(leaf, "status") == 0)
		return snprintf(out, size, "Tgid:\t%d\nSigIgn:\t%016x\n", p->pid, p->ignores_sigchld ? 0x10000 : 0);
	for (int i = 0; strstr(leaf, "/children") && i < w.count; i++) {
		if (w.p[i].ppid == p->pid)
			len += snprintf(out + len, size - (size_t)len, "%d ", w.p[i].pid);
	}
	return len;
}

static int sim_open(int dirfd, const char *path, int flags)
{
	struct process *p;
	char *leaf;
	int fd = FD_PROC + 1;

	(void)flags;
	if (dirfd == AT_FDCWD || dirfd < FD_PROC)
		return strcmp(path, "sys") == 0 ? -ENOENT : strcmp(path, "proc") == 0 ? FD_PROC : 2;
	maybe_happen();
	p = find((int)strtol(path, &leaf, 10));
	if (!p)
		return -ENOENT;
	while (fd < MOST_FDS && w.fd[fd].is_open)
		fd++;
	ck_assert_int_lt(fd, MOST_FDS);
	w.fd[fd].is_open = 1;
	w.fd[fd].is_listed = 0;
	w.fd[fd].pid = p->pid;
	w.fd[fd].starttime = p->starttime;
	snprintf(w.fd[fd].leaf, sizeof(w.fd[fd].leaf), "%s", leaf + 1);
	return fd;
}

/* A descriptor stays with its process, whoever has the pid now. */
static const struct process *process_of(int fd)
{
	const struct process *p = find(w.fd[fd].pid);

	return p && p->starttime == w.fd[fd].starttime ? p : NULL;
}

static ssize_t sim_pread(int fd, void *buf, size_t len, off_t offset)
{
	const struct process *p;
	char text[1024];
	int size;

	maybe_happen();
	p = process_of(fd);
	if (!p)
		return strstr(w.fd[fd].leaf, "children") ? 0 : -ESRCH;
	size = write_file(p, w.fd[fd].leaf, text, sizeof(text));
	if (offset >= size)
		return 0;
	ck_assert_uint_ge(len, (size_t)size);
	memcpy(buf, text + offset, (size_t)(size - offset));
	return size - offset;
}

static ssize_t sim_getdents(int fd, void *buf, size_t len)
{
	struct dirent64 entry = { .d_reclen = sizeof(entry) };

	ck_assert_uint_ge(len, sizeof(entry));
	if (w.fd[fd].is_listed || !process_of(fd))
		return 0;
	w.fd[fd].is_listed = 1;
	snprintf(entry.d_name, sizeof(entry.d_name), "%d", w.fd[fd].pid);
	memcpy(buf, &entry, sizeof(entry));
	return sizeof(entry);
}

static ssize_t sim_readlink(int dirfd, const char *path, char *buf, size_t len)
{
	(void)dirfd;
	(void)path;
	(void)buf;
	(void)len;
	return -ENOENT;
}

static int sim_exists(int dirfd, const char *path)
{
	(void)dirfd;
	return strcmp(path, "self") == 0 || find(atoi(path)) != NULL;
}

static int sim_space(const char *path, struct rti_space *out)
{
	(void)path;
	(void)out;
	return -ENOENT;
}

static int sim_close(int fd)
{
	if (fd > FD_PROC)
		w.fd[fd].is_open = 0;
	return 0;
}

static const struct rti_source_ops sim = {
	.open = sim_open,
	.pread = sim_pread,
	.getdents = sim_getdents,
	.readlink = sim_readlink,
	.exists = sim_exists,
	.space = sim_space,
	.close = sim_close,
};

static int sim_clock(int32_t pid, struct rti_cpu_clock *out)
{
	const struct process *p;

	maybe_happen();
	p = find(pid);
	*out = (struct rti_cpu_clock){ .total_ns = p ? p->own_ns : 0, .user_part_ns = 1, .both_parts_ns = 1 };
	return p ? 0 : -ESRCH;
}

static struct rt_tracker *begin(unsigned seed, int may_lose)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_IO | RT_HAS_PROCESSES };
	struct rt_tracker *tracker;

	memset(&w, 0, sizeof(w));
	w.history = seed;
	w.seed = seed * 2654435761u;
	w.may_lose = may_lose;
	w.p[0] = (struct process){ .pid = FIRST_PID, .ppid = 1, .starttime = ++w.now, .is_member = 1 };
	w.count = 1;
	work(&w.p[0], 5000000);
	ck_assert_int_eq(rti_tracker_new(&tracker, FIRST_PID, &opts, &sim), 0);
	tracker->env.cpu_clock = sim_clock;
	w.events_per_mille = 60 + pick(250);
	return tracker;
}

static void check_bounds(const struct rt_metrics *m, const struct rt_metrics *last)
{
	uint64_t cpu_ns = m->cpu_user_ns + m->cpu_system_ns;

	ck_assert_msg(cpu_ns <= w.cpu_ns && m->minor_faults <= w.faults && m->write_bytes <= w.written,
	              "history %u: %" PRIu64 " of %" PRIu64 " ns, %" PRIu64 " of %" PRIu64 " faults, %" PRIu64 " of %" PRIu64
	              " bytes",
	              w.history, cpu_ns, w.cpu_ns, m->minor_faults, w.faults, m->write_bytes, w.written);
	ck_assert_uint_ge(cpu_ns, last->cpu_user_ns + last->cpu_system_ns);
	ck_assert_uint_ge(m->minor_faults, last->minor_faults);
	ck_assert_uint_ge(m->write_bytes, last->write_bytes);
}

static struct rt_metrics run_history(struct rt_tracker *tracker)
{
	struct rt_metrics m, last = { 0 };

	for (int i = 0; i < SAMPLES; i++) {
		for (unsigned quiet = pick(10); quiet > 0; quiet--)
			maybe_happen();
		ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
		check_bounds(&m, &last);
		last = m;
	}
	/* While nothing happens any more. Twice, since a member whose pid a former one had shows only when that one is gone. */
	w.events_per_mille = 0;
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
		check_bounds(&m, &last);
	}
	return m;
}

static unsigned histories(void)
{
	const char *wanted = getenv("RTRACK_HISTORIES");

	return wanted ? (unsigned)atoi(wanted) : HISTORIES_DEFAULT;
}

START_TEST(where_all_are_waited_for_nothing_is_missing)
{
	for (unsigned seed = 1; seed <= histories(); seed++) {
		struct rt_tracker *tracker = begin(seed, 0);
		struct rt_metrics m = run_history(tracker);

		ck_assert_int_eq(w.has_lost, 0);
		ck_assert_msg(m.minor_faults == w.faults, "history %u: %" PRIu64 " of %" PRIu64 " faults", seed, m.minor_faults,
		              w.faults);
		ck_assert_msg(m.write_bytes == w.written, "history %u: %" PRIu64 " of %" PRIu64 " bytes", seed, m.write_bytes,
		              w.written);
		ck_assert_msg(m.reasons == 0, "history %u: reasons %x", seed, m.reasons);
		/* Every account of reaped children hides less than a tick. */
		ck_assert_uint_ge(m.cpu_user_ns + m.cpu_system_ns + (uint64_t)w.count * TICK_NS, w.cpu_ns);
		rt_tracker_free(tracker);
	}
}
END_TEST

START_TEST(where_accounts_are_lost_the_total_is_a_lower_bound_and_says_so)
{
	for (unsigned seed = 1; seed <= histories(); seed++) {
		struct rt_tracker *tracker = begin(seed, 1);
		struct rt_metrics m = run_history(tracker);

		if (m.reasons == 0 && !w.has_lost)
			ck_assert_uint_eq(m.minor_faults, w.faults);
		rt_tracker_free(tracker);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("histories");
	TCase *tcase = suite_case(suite, "histories");

	tcase_set_timeout(tcase, 1000);
	tcase_add_test(tcase, where_all_are_waited_for_nothing_is_missing);
	tcase_add_test(tcase, where_accounts_are_lost_the_total_is_a_lower_bound_and_says_so);
	return suite_run(suite);
}
