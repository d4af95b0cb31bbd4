/* SPDX-License-Identifier: MIT */
/* A tree of real processes that the kernel seems to watch. The watch is the test's own: it fails,
 * finds what it has missed, and names what the test says. No sample is wrong by that. */
#include "tree/batch_tree_fixture.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpf/watch/tree_watch.h"
#include "children.h"
#include "tree/pure/index_set.h"
#include "tree/tree_inside.h"

#define SETTLING 8     /* samples until the watch is relied on */
#define LONG_ENOUGH 40 /* samples until it has been given up, even twice */
#define CHANGES_MAX 300
#define NO_PROCESS 4000000 /* no process has this pid, nor one above */

/* Opened with `open_error`, and so on. A call of take() has a number, from 1 on. */
static struct {
	int open_error, search_result;
	bool has_unmarked;
	int32_t unmarked_pid; /* 0: none but for those */
	unsigned opens, closes, takes, reserves;
	unsigned failing_take, failing_reserve; /* these fail; 0: none */
	int change_count;
	struct {
		unsigned take; /* which gives it */
		struct rti_watch_change change;
	} changes[CHANGES_MAX];
	struct rti_watch_counts counts;
} watch;

/* The linker calls these instead of the functions in their names. */
int __wrap_rti_watch_open(struct rti_tree_watch **out);
void __wrap_rti_watch_want(struct rti_tree_watch *w, int32_t pid);
int __wrap_rti_watch_search(struct rti_tree_watch *w, uint64_t before_ns);
bool __wrap_rti_watch_is_marked(const struct rti_tree_watch *w, int32_t pid);
int __wrap_rti_watch_take(struct rti_tree_watch *w, struct rti_watch_change *changes, size_t room,
                          bool *has_more);
void __wrap_rti_watch_count(const struct rti_tree_watch *w, struct rti_watch_counts *out);
void __wrap_rti_watch_close(struct rti_tree_watch *w);
int __real_rti_index_set_reserve(struct rti_index_set *set, size_t size);
int __wrap_rti_index_set_reserve(struct rti_index_set *set, size_t size);

int __wrap_rti_watch_open(struct rti_tree_watch **out)
{
	watch.opens++;
	*out = watch.open_error ? NULL : (struct rti_tree_watch *)&watch;
	return watch.open_error;
}

void __wrap_rti_watch_want(struct rti_tree_watch *w, int32_t pid)
{
	(void)w;
	(void)pid;
}

int __wrap_rti_watch_search(struct rti_tree_watch *w, uint64_t before_ns)
{
	(void)w;
	(void)before_ns;
	return watch.search_result;
}

bool __wrap_rti_watch_is_marked(const struct rti_tree_watch *w, int32_t pid)
{
	(void)w;
	return !watch.has_unmarked && pid != watch.unmarked_pid;
}

int __wrap_rti_watch_take(struct rti_tree_watch *w, struct rti_watch_change *changes, size_t room,
                          bool *has_more)
{
	int count = 0;

	(void)w;
	ck_assert_uint_ge(room, CHANGES_MAX);
	*has_more = false;
	watch.takes++;
	if (watch.takes == watch.failing_take)
		return -EIO;
	for (int i = 0; i < watch.change_count; i++)
		if (watch.changes[i].take == watch.takes)
			changes[count++] = watch.changes[i].change;
	return count;
}

void __wrap_rti_watch_count(const struct rti_tree_watch *w, struct rti_watch_counts *out)
{
	(void)w;
	*out = watch.counts;
}

void __wrap_rti_watch_close(struct rti_tree_watch *w)
{
	watch.closes += w != NULL;
}

int __wrap_rti_index_set_reserve(struct rti_index_set *set, size_t size)
{
	return ++watch.reserves == watch.failing_reserve ? -ENOMEM
	                                                 : __real_rti_index_set_reserve(set, size);
}

static void begin_watch(void)
{
	take_sample();
	forbid_batch_reader(fix.tracker);
	use_watch_now(fix.tracker);
}

static unsigned count_alive(void)
{
	unsigned alive = 0;

	for (size_t i = 0; i < fix.family.count; i++)
		alive += fix.family.member[i].pid != 0;
	return alive;
}

/* Take this many samples, or until one is partial. Returns whether one is. */
static bool is_partial_within(int samples)
{
	for (int i = 0; i < samples; i++) {
		ck_assert_uint_eq(take_sample().processes, count_alive());
		if (was_partial_sample(fix.tracker))
			return true;
	}
	return false;
}

static void settle_watch(void)
{
	begin_watch();
	ck_assert(is_partial_within(SETTLING));
	watch.takes = watch.reserves = 0;
}

static void name(unsigned take, int32_t pid, bool is_forked)
{
	watch.changes[watch.change_count].take = take;
	watch.changes[watch.change_count++].change = (struct rti_watch_change){ pid, is_forked };
}

/* One that cannot be had is not asked for again. One that does not settle is begun anew. */
START_TEST(watch_that_does_not_settle_is_given_up)
{
	static const struct {
		int open_error, search_result;
		unsigned failing_take;
		bool has_unmarked, begins_anew;
	} cases[] = {
		{ .open_error = -EPERM },
		{ .search_result = -EIO },
		{ .failing_take = 1 },
		{ .search_result = 1, .begins_anew = true },
		{ .has_unmarked = true, .begins_anew = true },
	};

	watch.open_error = cases[_i].open_error;
	watch.search_result = cases[_i].search_result;
	watch.failing_take = cases[_i].failing_take;
	watch.has_unmarked = cases[_i].has_unmarked;
	begin_watch();

	ck_assert(!is_partial_within(LONG_ENOUGH));

	ck_assert_uint_eq(watch.opens > 1, cases[_i].begins_anew);
	ck_assert_uint_ge(watch.closes + 1, watch.opens);
	watch.search_result = watch.has_unmarked = 0;
	ck_assert_uint_eq(is_partial_within(LONG_ENOUGH), cases[_i].begins_anew);
}
END_TEST

/* The programs in the kernel say so, or a search, which is made every 16 s. */
START_TEST(thread_that_the_watch_has_missed_has_all_looked_at)
{
	settle_watch();
	watch.counts.unmarked += _i == 0;
	watch.search_result = _i == 1;

	take_sample_after(16 * SECOND);

	ck_assert(!was_partial_sample(fix.tracker));
	watch.search_result = 0;
	ck_assert(is_partial_within(SETTLING));
}
END_TEST

START_TEST(watch_that_fails_is_given_up_and_new_members_are_found)
{
	settle_watch();
	family_grow(&fix.family);
	watch.failing_take = 1;

	ck_assert(!is_partial_within(LONG_ENOUGH));

	ck_assert_uint_eq(watch.closes, 1);
	ck_assert_uint_eq(watch.opens, 1);
}
END_TEST

/* Then the sample looks again at what has changed since it began. */
static void reap(size_t victim)
{
	pid_t pid = get_pid(victim);

	family_tell(&fix.family, victim, FAMILY_RUN, 20);
	family_shrink(&fix.family, victim);
	name(1, pid, false);
	name(1, get_pid(0), false);
}

START_TEST(watch_that_fails_during_a_sample_has_all_looked_at)
{
	size_t victim = family_grow(&fix.family);

	settle_watch();
	reap(victim);
	watch.failing_take = 2;

	take_sample_after(SECOND / 1000);

	ck_assert_uint_ge(watch.takes, 2);
	ck_assert_uint_eq(count_looks(fix.tracker), TREE + 1); /* and the victim */
	ck_assert(is_partial_within(SETTLING));
	ck_assert_uint_eq(watch.opens, 1);
}
END_TEST

/* A tree may fork so many while a sample is taken. They become members in the next one, or had
 * ended by then. */
START_TEST(processes_forked_during_a_sample_are_looked_for_in_the_next)
{
	static const int others[] = { 0, CHANGES_MAX - 3 };
	size_t victim = family_grow(&fix.family), child;

	settle_watch();
	reap(victim);
	child = family_grow(&fix.family);
	for (int i = 0; i < others[_i]; i++)
		name(2, NO_PROCESS + i, true);
	name(2, get_pid(child), true);
	take_sample_after(SECOND / 1000);
	ck_assert(was_partial_sample(fix.tracker));
	ck_assert_uint_ge(watch.takes, 2);

	take_sample_after(SECOND / 1000);

	ck_assert(has_member(fix.tracker, get_pid(child)));
	ck_assert(is_partial_within(SETTLING));
}
END_TEST

/* Ends one of the victims, and forks a process with its pid. Returns that. */
static pid_t replace_one_of(const size_t *victims, size_t count)
{
	pid_t pid = -EEXIST;

	for (size_t i = 0; i < count && pid == -EEXIST; i++) {
		pid_t old = get_pid(victims[i]);

		family_shrink(&fix.family, victims[i]);
		pid = family_fork_as(old); /* another process may have got it */
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

/* The kernel has given the pid of a member away by the time that a sample takes the changes once
 * more. It looks at the member in the next sample, which lacks the other process, and says so. */
START_TEST(process_with_the_pid_of_a_member_is_added_once_that_has_gone)
{
	size_t parent = family_grow(&fix.family), child = family_fork_from(&fix.family, parent);
	size_t victims[] = { family_grow(&fix.family), family_grow(&fix.family),
		             family_grow(&fix.family) };
	pid_t other = get_pid(child), pid;
	struct rt_metrics before, m;
	struct timespec uptime;

	clock_gettime(CLOCK_BOOTTIME, &uptime);
	fix.now_ns += (uint64_t)uptime.tv_sec * SECOND; /* no process starts later */
	settle_watch();
	pid = replace_one_of(victims, sizeof(victims) / sizeof(victims[0]));
	family_tell(&fix.family, child, FAMILY_RUN, 20);
	family_tell(&fix.family, child, FAMILY_EXIT, 0);
	family_tell(&fix.family, parent, FAMILY_WAIT, 0);
	fix.family.member[child].pid = 0;
	name(1, other, false);
	name(1, get_pid(parent), false);
	name(2, pid, true);
	before = take_sample_after(SECOND / 1000);
	ck_assert_uint_ge(watch.takes, 2);
	ck_assert(has_member(fix.tracker, pid));

	m = take_sample_after(SECOND / 1000);
	ck_assert(was_partial_sample(fix.tracker));
	ck_assert_uint_eq(m.processes, before.processes - 1);
	ck_assert(m.partial & RT_HAS_PROCESSES);

	m = take_sample_after(SECOND / 1000);
	ck_assert_uint_eq(m.processes, before.processes);
	ck_assert(m.valid & RT_HAS_PROCESSES);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(memory_that_the_kernel_reclaims_has_all_looked_at_each_second)
{
	settle_watch();
	watch.counts.reclaims++;
	take_sample_after(SECOND / 1000);
	ck_assert_uint_lt(count_looks(fix.tracker), TREE);

	take_sample();

	ck_assert(was_partial_sample(fix.tracker));
	ck_assert_uint_eq(count_looks(fix.tracker), TREE);
}
END_TEST

/* They have not run, so the kernel does not name them. But they have another parent. */
START_TEST(children_of_a_zombie_are_looked_at)
{
	size_t parent = family_grow(&fix.family), child = family_fork_from(&fix.family, parent);
	pid_t pid = get_pid(parent);

	settle_watch();
	take_sample_after(SECOND / 1000);
	family_tell(&fix.family, parent, FAMILY_EXIT, 0);
	while (thread_state(pid, pid) != 'Z')
		usleep(1000);
	watch.takes = 0;
	name(1, pid, false);

	take_sample_after(SECOND / 1000);

	ck_assert(was_partial_sample(fix.tracker));
	ck_assert(has_member(fix.tracker, get_pid(child)));
	ck_assert_uint_eq(count_looks(fix.tracker), 2);
}
END_TEST

static uint64_t sample_cpu_ns(void)
{
	struct rt_metrics m = take_sample_after(SECOND / 1000);

	ck_assert_uint_eq(m.processes, TREE);
	return m.cpu_user_ns + m.cpu_system_ns;
}

START_TEST(watch_without_memory_leaves_out_no_member)
{
	unsigned at = 1;
	uint64_t before_ns;

	do {
		memset(&watch, 0, sizeof(watch));
		track_family(1024, RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PROCESSES);
		watch.failing_reserve = at++;
		begin_watch();
		is_partial_within(SETTLING);
		before_ns = sample_cpu_ns();
		family_tell(&fix.family, TREE - 1, FAMILY_RUN, 5);
		name(watch.takes + 1, get_pid(TREE - 1), false);
		ck_assert_uint_ge(sample_cpu_ns(), before_ns + 5 * SECOND / 1000);
	} while (watch.reserves >= watch.failing_reserve);
	ck_assert_uint_gt(at, SETTLING);
}
END_TEST

/* It has no thread that could have a mark, and is looked at in each sample. */
START_TEST(tree_with_a_zombie_is_watched)
{
	size_t victim = family_grow(&fix.family);
	pid_t pid = get_pid(victim);

	family_tell(&fix.family, victim, FAMILY_EXIT, 0);
	while (thread_state(pid, pid) != 'Z')
		usleep(1000);
	watch.unmarked_pid = pid;

	settle_watch();
	ck_assert(was_partial_sample(fix.tracker));
}
END_TEST

START_TEST(last_sample_looks_at_all)
{
	settle_watch();
	begin_final_sample(fix.tracker);

	ck_assert_uint_eq(take_sample_after(SECOND / 1000).processes, TREE);

	ck_assert(!was_partial_sample(fix.tracker));
	ck_assert_uint_eq(count_looks(fix.tracker), TREE);
	ck_assert_uint_eq(watch.closes, 0);
}
END_TEST

START_TEST(watch_that_does_not_pay_any_more_is_closed)
{
	settle_watch();
	make_watch_costly(fix.tracker);

	ck_assert(!is_partial_within(SETTLING));

	ck_assert_uint_eq(watch.closes, 1);
	ck_assert_uint_eq(watch.opens, 1);
}
END_TEST

/* What is looked at is listed only for a watch. */
START_TEST(tree_that_is_not_watched_lists_no_members)
{
	take_sample();
	take_sample();
	ck_assert_uint_eq(watch.reserves, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("watch_faults");
	TCase *faults = add_batch_case(suite, "faults"), *looks = add_batch_case(suite, "looks");

	tcase_add_loop_test(faults, watch_that_does_not_settle_is_given_up, 0, 5);
	tcase_add_loop_test(faults, thread_that_the_watch_has_missed_has_all_looked_at, 0, 2);
	tcase_add_test(faults, watch_that_fails_is_given_up_and_new_members_are_found);
	tcase_add_test(faults, watch_that_fails_during_a_sample_has_all_looked_at);
	tcase_add_test(faults, watch_without_memory_leaves_out_no_member);
	tcase_add_loop_test(looks, processes_forked_during_a_sample_are_looked_for_in_the_next, 0,
	                    2);
	tcase_add_test(looks, process_with_the_pid_of_a_member_is_added_once_that_has_gone);
	tcase_add_test(looks, memory_that_the_kernel_reclaims_has_all_looked_at_each_second);
	tcase_add_test(looks, children_of_a_zombie_are_looked_at);
	tcase_add_test(looks, tree_with_a_zombie_is_watched);
	tcase_add_test(looks, last_sample_looks_at_all);
	tcase_add_test(looks, watch_that_does_not_pay_any_more_is_closed);
	tcase_add_test(looks, tree_that_is_not_watched_lists_no_members);
	return suite_run(suite);
}
