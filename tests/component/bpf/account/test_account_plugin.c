/* SPDX-License-Identifier: MIT */
/* The plug-in's part that accounts for a tree, on programs and maps of the test's own: what it does
 * with sums that never settle, with records that are not whole, and in a forked child. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "account.skel.h"
#include "bpf/fake_programs.h"
#include "suite.h"

#define ROWS 64u
#define RING_BYTES 4096u
#define OFFSET_NS 1000u /* what the kernel's clock is ahead of ours */
#define ROOT 4711
#define IS_BUSY (1u << 31)

enum { SET_UP = 50, ARM, SUM_UP, SEARCH, WALK, ADOPT_ALL };

extern const struct rti_account_ops rti_bpf_account;

static struct {
	long cpus;
	bool lacks_memory; /* of the programs */
	struct rti_account_bpf programs;
	struct rti_account_shared shared; /* the programs begin with it */
	struct rti_account_settings settings;
	char *ring, *rows;
	size_t written;
	int attaches, destroys;
	uint32_t walks_with_adoptions;
	uint32_t freed_per_sum;
	int error_of_prepare_exec;
	int error_of_sum; /* of the second and all later ones */
	unsigned sums;
} fake;

/* The linker calls this instead of the function in its name. */
long __real_sysconf(int name);
long __wrap_sysconf(int name);

long __wrap_sysconf(int name)
{
	return name == _SC_NPROCESSORS_CONF ? fake.cpus : __real_sysconf(name);
}

struct rti_account_bpf *rti_account_bpf__open(void)
{
	fake.programs.rodata = (void *)&fake.settings;
	return &fake.programs;
}

static char *map(struct skeleton_map *map, size_t bytes)
{
	char *at;

	map->map_fd = fake_map(bytes);
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map->map_fd, 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

/* A ring has a page for each of its two positions. */
int rti_account_bpf__load(struct rti_account_bpf *programs)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	programs->progs.set_up.prog_fd = SET_UP;
	programs->progs.arm.prog_fd = ARM;
	programs->progs.sum_up.prog_fd = SUM_UP;
	programs->progs.search.prog_fd = SEARCH;
	programs->links.walk_fd = WALK;
	programs->links.adopt_all_fd = ADOPT_ALL;
	fake.ring =
	    map(&programs->maps.ring, 2 * page + 2 * (size_t)programs->maps.ring.max_entries);
	fake.rows = map(&programs->maps.rows, ROWS * sizeof(struct rti_account_row));
	programs->bss = fake.lacks_memory ? NULL : (void *)&fake.shared;
	return 0;
}

void rti_account_bpf__destroy(struct rti_account_bpf *programs)
{
	fake.destroys += programs != NULL;
}

static int attach(const struct rti_account_bpf *programs)
{
	ck_assert_ptr_eq(programs, &fake.programs);
	return ++fake.attaches;
}

int rti_account_bpf__on_free__attach(struct rti_account_bpf *programs)
{
	return attach(programs);
}

int rti_account_bpf__on_exit__attach(struct rti_account_bpf *programs)
{
	return attach(programs);
}

int rti_account_bpf__on_prepare_exec__attach(struct rti_account_bpf *programs)
{
	ck_assert_ptr_eq(programs, &fake.programs);
	errno = fake.error_of_prepare_exec;
	return errno ? -1 : ++fake.attaches;
}

int rti_account_bpf__on_exec__attach(struct rti_account_bpf *programs)
{
	return attach(programs);
}

int rti_account_bpf__on_fork__attach(struct rti_account_bpf *programs)
{
	return attach(programs);
}

int rti_account_bpf__walk__attach(struct rti_account_bpf *programs)
{
	return attach(programs);
}

int rti_account_bpf__adopt_all__attach(struct rti_account_bpf *programs)
{
	return attach(programs);
}

static void run(int program_fd)
{
	if (program_fd != SUM_UP)
		return;
	fake.shared.freed += fake.freed_per_sum;
	if (++fake.sums > 1)
		fake_programs.run_error = fake.error_of_sum;
}

static void iterate(int link_fd)
{
	if (link_fd == ADOPT_ALL && fake.walks_with_adoptions > 0) {
		fake.walks_with_adoptions--;
		fake.shared.adopted++;
	}
}

static void set_up(void)
{
	fake.cpus = 4;
	fake.shared.began_ns = OFFSET_NS;
	fake_programs.on_run = run;
	fake_programs.on_iterate = iterate;
}

static void *open_account(void)
{
	const struct rti_account_request request = { .rows = ROWS, .ring_bytes = RING_BYTES };
	void *account;

	ck_assert_int_eq(rti_bpf_account.open(&account, &request), 0);
	return account;
}

static const struct {
	long cpus;
	bool wants_records;
	uint32_t slots;
} slots[] = { { 4, false, 1 },    { 1, true, 1 },  { 5, true, 8 },
	      { 256, true, 256 }, { -1, true, 1 }, { 4000, true, 256 } };

START_TEST(texts_have_a_slot_for_each_cpu_up_to_a_limit)
{
	const struct rti_account_request request = { .wants_records = slots[_i].wants_records,
		                                     .rows = ROWS,
		                                     .ring_bytes = RING_BYTES };
	void *account;

	fake.cpus = slots[_i].cpus;
	ck_assert_int_eq(rti_bpf_account.open(&account, &request), 0);
	ck_assert_uint_eq(fake.settings.text_slots, slots[_i].slots);
	ck_assert_uint_eq(fake.programs.maps.text_slots.max_entries, slots[_i].slots);
	rti_bpf_account.close(account);
}
END_TEST

START_TEST(account_without_memory_to_share_leaves_nothing)
{
	const struct rti_account_request request = { .rows = ROWS, .ring_bytes = RING_BYTES };
	void *account = NULL;

	fake.lacks_memory = true;
	ck_assert_int_eq(rti_bpf_account.open(&account, &request), -ENOMEM);
	ck_assert_ptr_null(account);
	ck_assert_int_eq(fake.destroys, 1);
	ck_assert_int_eq(fake.attaches, 0);
}
END_TEST

static const struct {
	int error, err;
} prepare_execs[] = { { ENOENT, 0 }, { EMFILE, -EMFILE } };

START_TEST(kernel_without_the_tracepoint_before_an_exec_is_no_error)
{
	const struct rti_account_request request = { .rows = ROWS, .ring_bytes = RING_BYTES };
	void *account = NULL;

	fake.error_of_prepare_exec = prepare_execs[_i].error;
	ck_assert_int_eq(rti_bpf_account.open(&account, &request), prepare_execs[_i].err);
	ck_assert(!account == (prepare_execs[_i].err < 0));
	if (account)
		rti_bpf_account.close(account);
	ck_assert_int_eq(fake.destroys, 1);
}
END_TEST

static const struct {
	uint32_t walks_with_adoptions;
	int iterate_error, err;
	unsigned walks_max;
} adoptions[] = {
	{ 1, 0, 0, 3 },
	{ 97, 0, 0, 99 },
	{ 0, 0, -ESRCH, 2 },            /* there is no such root */
	{ UINT32_MAX, 0, -EBUSY, 100 }, /* it forks for ever */
	{ 1, -EMFILE, -EMFILE, 1 },
};

START_TEST(tree_is_adopted_until_two_walks_find_no_more_of_it)
{
	const struct rti_account_request request = { .rows = ROWS,
		                                     .ring_bytes = RING_BYTES,
		                                     .root = ROOT };
	void *account = NULL;

	fake.walks_with_adoptions = adoptions[_i].walks_with_adoptions;
	fake_programs.iterate_error = adoptions[_i].iterate_error;
	ck_assert_int_eq(rti_bpf_account.open(&account, &request), adoptions[_i].err);
	ck_assert_uint_le(fake_programs.iterations, adoptions[_i].walks_max);
	ck_assert_uint_eq(fake.shared.is_adopting, 0);
	ck_assert_int_eq(fake.settings.root, ROOT);
	ck_assert(!account == (adoptions[_i].err < 0));
	if (account)
		rti_bpf_account.close(account);
	ck_assert_int_eq(fake.destroys, 1);
}
END_TEST

/* The next read may find it in peace. */
START_TEST(sum_during_which_threads_are_freed_is_not_whole)
{
	struct rti_account_totals totals;
	void *account = open_account();

	fake.shared.begun = 1000;
	fake.freed_per_sum = 1;
	ck_assert_int_eq(rti_bpf_account.read(account, &totals), 0);
	ck_assert(!totals.is_whole && !totals.has_all);
	ck_assert_uint_eq(totals.begun, 1000);
	ck_assert_uint_eq(totals.freed, fake.shared.freed);
	fake.freed_per_sum = 0;
	fake.shared.begun = fake.shared.freed;
	ck_assert_int_eq(rti_bpf_account.read(account, &totals), 0);
	ck_assert(totals.is_whole && totals.has_all);
	rti_bpf_account.close(account);
}
END_TEST

START_TEST(sum_that_the_kernel_refuses_leaves_the_totals_alone)
{
	struct rti_account_totals totals = { .begun = 77 };
	void *account = open_account();

	fake.error_of_sum = -EPERM;
	ck_assert_int_eq(rti_bpf_account.read(account, &totals), -EPERM);
	ck_assert_uint_eq(totals.begun, 77);
	rti_bpf_account.close(account);
}
END_TEST

/* Write a record as the kernel does. */
static void put(const void *record, uint32_t bytes, uint32_t flags)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = fake.ring + 2 * page + fake.written;
	uint32_t header[2] = { bytes | flags };

	memcpy(at, header, sizeof(header));
	memcpy(at + sizeof(header), record, bytes);
	fake.written += sizeof(header) + (bytes + 7) / 8 * 8;
	*(uint64_t *)(void *)(fake.ring + page) = fake.written;
}

struct taken {
	struct rti_account_record records[4];
	size_t count, events;
};

static void take_record(void *arg, const struct rti_account_record *record)
{
	struct taken *taken = arg;

	ck_assert_uint_lt(taken->count, 4);
	taken->records[taken->count++] = *record;
}

static void take_event(void *arg, const struct rti_account_event *event)
{
	ck_assert_uint_eq(event->kind, RTI_ACCOUNT_FORK);
	((struct taken *)arg)->events++;
}

/* The end of a process is not known if its last thread was freed unseen. */
START_TEST(record_has_the_clock_of_the_caller_and_no_end_that_is_not_known)
{
	const struct rti_account_record ended = {
		.kind = RTI_ACCOUNT_PROCESS, .pid = 1, .start_ns = 5000, .end_ns = 7000
	};
	const struct rti_account_record unknown = { .kind = RTI_ACCOUNT_PROCESS,
		                                    .pid = 2,
		                                    .start_ns = 6000 };
	struct taken taken = { .count = 0 };
	const struct rti_account_taker taker = { .arg = &taken, .on_record = take_record };
	void *account = open_account();

	put(&ended, sizeof(ended), 0);
	put(&unknown, sizeof(unknown), 0);
	ck_assert_int_eq(rti_bpf_account.take(account, &taker), 0);
	ck_assert_uint_eq(taken.count, 2);
	ck_assert_uint_eq(taken.records[0].start_ns, 5000 - OFFSET_NS);
	ck_assert_uint_eq(taken.records[0].end_ns, 7000 - OFFSET_NS);
	ck_assert_uint_eq(taken.records[1].start_ns, 6000 - OFFSET_NS);
	ck_assert_uint_eq(taken.records[1].end_ns, 0);
	rti_bpf_account.close(account);
}
END_TEST

/* A CPU that is stopped in the middle of a record, e.g. of a virtual machine, holds nothing up. */
START_TEST(record_that_is_being_written_is_left_for_later)
{
	const struct rti_account_event event = { .kind = RTI_ACCOUNT_FORK, .pid = 1 };
	struct taken taken = { .count = 0 };
	const struct rti_account_taker taker = { .arg = &taken, .on_event = take_event };
	void *account = open_account();
	uint32_t *second;

	put(&event, sizeof(event), 0);
	second = (void *)(fake.ring + 2 * sysconf(_SC_PAGESIZE) + fake.written);
	put(&event, sizeof(event), IS_BUSY);
	put(&event, sizeof(event), 0);
	ck_assert_int_eq(rti_bpf_account.take(account, &taker), 0);
	ck_assert_uint_eq(taken.events, 1);
	*second &= ~IS_BUSY;
	ck_assert_int_eq(rti_bpf_account.take(account, &taker), 0);
	ck_assert_uint_eq(taken.events, 3);
	rti_bpf_account.close(account);
}
END_TEST

START_TEST(running_processes_are_those_in_use_that_have_not_ended)
{
	static const struct rti_account_row rows[] = {
		{ .is_in_use = 1, .pid = 10, .ppid = 1, .start_ns = 5000, .execs = 2 },
		{ .is_in_use = 0, .pid = 11 },
		{ .is_in_use = 1, .is_sent = 1, .pid = 12 },
		{ .is_in_use = 1, .flags = RTI_ROW_ENDED, .pid = 13 },
	};
	struct taken taken = { .count = 0 };
	const struct rti_account_taker taker = { .arg = &taken, .on_record = take_record };
	void *account = open_account();

	memcpy(fake.rows, rows, sizeof(rows));
	ck_assert_int_eq(rti_bpf_account.list_running(account, &taker), 0);
	ck_assert_uint_eq(taken.count, 1);
	ck_assert_int_eq(taken.records[0].pid, 10);
	ck_assert_uint_eq(taken.records[0].start_ns, 5000 - OFFSET_NS);
	ck_assert_uint_eq(taken.records[0].execs, 2);
	/* E.g.: the limit of mappings is reached (vm.max_map_count). */
	close(fake.programs.maps.rows.map_fd);
	ck_assert_int_eq(rti_bpf_account.list_running(account, &taker), -EBADF);
	ck_assert_uint_eq(taken.count, 1);
	rti_bpf_account.close(account);
}
END_TEST

/* Returns the number of the first expectation that does not hold, or 0. */
static int use_copy(void *account)
{
	struct taken taken = { .count = 0 };
	const struct rti_account_taker taker = { .arg = &taken, .on_record = take_record };
	struct rti_account_totals totals;

	if (rti_bpf_account.read(account, &totals) != -ESTALE)
		return 1;
	if (rti_bpf_account.take(account, &taker) != -ESTALE)
		return 2;
	if (rti_bpf_account.list_running(account, &taker) != -ESTALE)
		return 3;
	if (rti_bpf_account.arm(account, true) != -ESTALE)
		return 4;
	return taken.count ? 5 : 0;
}

START_TEST(forked_child_takes_no_record_away)
{
	const struct rti_account_record record = { .kind = RTI_ACCOUNT_PROCESS, .pid = 1 };
	const struct rti_account_row row = { .is_in_use = 1, .pid = 2 };
	struct taken taken = { .count = 0 };
	const struct rti_account_taker taker = { .arg = &taken, .on_record = take_record };
	void *account = open_account();

	put(&record, sizeof(record), 0);
	memcpy(fake.rows, &row, sizeof(row));
	ck_assert_int_eq(fake_programs_use_in_child(use_copy, account), 0);
	ck_assert_int_eq(rti_bpf_account.take(account, &taker), 0);
	ck_assert_uint_eq(taken.count, 1);
	rti_bpf_account.close(account);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

int main(void)
{
	Suite *suite = suite_create("account_plugin");
	TCase *tests = suite_case(suite, "account");

	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_loop_test(tests, texts_have_a_slot_for_each_cpu_up_to_a_limit, 0, COUNT(slots));
	tcase_add_test(tests, account_without_memory_to_share_leaves_nothing);
	tcase_add_loop_test(tests, kernel_without_the_tracepoint_before_an_exec_is_no_error, 0,
	                    COUNT(prepare_execs));
	tcase_add_loop_test(tests, tree_is_adopted_until_two_walks_find_no_more_of_it, 0,
	                    COUNT(adoptions));
	tcase_add_test(tests, sum_during_which_threads_are_freed_is_not_whole);
	tcase_add_test(tests, sum_that_the_kernel_refuses_leaves_the_totals_alone);
	tcase_add_test(tests, record_has_the_clock_of_the_caller_and_no_end_that_is_not_known);
	tcase_add_test(tests, record_that_is_being_written_is_left_for_later);
	tcase_add_test(tests, running_processes_are_those_in_use_that_have_not_ended);
	tcase_add_test(tests, forked_child_takes_no_record_away);
	return suite_run(suite);
}
