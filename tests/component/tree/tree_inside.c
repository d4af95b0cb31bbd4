/* SPDX-License-Identifier: MIT */
#include "tree_inside.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "suite.h"
#include "tree/read/image_read.h"
#include "tree/read/member_read.h"
#include "tree/read/pss_read.h"
#include "tree/scan/discovery.h"
#include "tree/scan/new_members.h"
#include "tree/state/state.h"
#include "tree/watch/watched.h"
#include "util/descendant_set.h"

#define TEST_EVENTS_MAX 4

struct rti_platform *get_platform(struct rt_tracker *tracker)
{
	return &tracker->platform;
}

void assume_nothing_unseen(struct rt_tracker *tracker)
{
	if (tracker->tree)
		tracker->tree->is_of_command = true;
}

uint64_t get_wanted(const struct rt_tracker *tracker)
{
	return tracker->want;
}

struct tree_options get_tree_options(const struct rt_tracker *tracker)
{
	const struct rti_tree *tree = tracker->tree;

	return (struct tree_options){
		.flags = tracker->ctx.flags,
		.want = tree->want,
		.follows_children = tree->discovery.is_followed,
		.files_max = tree->table.files_max,
		.pss_share = tree->pss_budget.share,
		.pss_hold_ns = tree->pss_budget.hold_ns,
	};
}

void make_supervisor(struct rt_tracker *tracker, int32_t pid, const struct rti_shared_stats *shared)
{
	tracker->tree->supervised.pid = pid;
	tracker->tree->supervised.shared = shared;
}

void apply_final_account(struct rt_tracker *tracker, const struct rt_rusage *reaped,
                         int64_t inherited_kib)
{
	rti_tree_apply_final_rusage(tracker->tree, reaped, inherited_kib);
}

void lose_supervisor(struct rt_tracker *tracker)
{
	rti_tree_drop_final_rusage(tracker->tree);
}

static void check_model_sums(struct rti_tree *tree)
{
	struct rti_memory_sums sums;

	rti_memory_sum(&tree->table, &sums);
	ck_assert_mem_eq(&sums, &tree->memory.sums, sizeof(sums));
}

/* The program of a member is forgotten once no member runs it. */
static void check_programs(const struct rti_tree *tree)
{
	const struct rti_mapped *mapped = &tree->memory.mapped;

	for (size_t i = 0; i < mapped->count; i++) {
		uint32_t members = 0;

		for (size_t k = 0; k < tree->table.count; k++) {
			const struct rti_memory_part *memory = &tree->table.members[k].memory;

			members += memory->is_present && memory->program == (int)i;
		}
		ck_assert_uint_eq(mapped->programs[i].members, members);
	}
}

/* What is kept is what summing up anew yields. */
static void check_read_sums(struct rti_tree *tree)
{
	const struct rti_memory_reads *kept = &tree->memory.reads;
	const struct rti_mapped_sum mapped = tree->memory.mapped_sum;
	struct rti_memory_reads sum;

	if (tree->memory.summed_changes != tree->memory.changes)
		return;
	rti_images_sum(tree);
	ck_assert_mem_eq(&mapped, &tree->memory.mapped_sum, sizeof(mapped));
	rti_memory_sum_reads(tree, &sum);
	ck_assert_uint_eq(sum.known, kept->known);
	ck_assert_uint_eq(sum.unknown, kept->unknown);
	ck_assert(sum.has_all == kept->has_all && sum.error == kept->error);
	ck_assert_uint_eq(sum.own_anon_bytes, kept->own_anon_bytes);
	ck_assert_uint_eq(sum.shared_anon_bytes, kept->shared_anon_bytes);
	ck_assert_uint_eq(sum.doubt_bytes, kept->doubt_bytes);
	if (sum.has_all && sum.sharer_pages > 0)
		ck_assert_uint_eq(sum.oldest_ns, kept->oldest_ns);
}

void check_memory_sums(struct rt_tracker *tracker)
{
	struct rti_tree *tree = tracker->tree;

	if (!tree->memory.is_modelled)
		return;
	check_model_sums(tree);
	check_programs(tree);
	check_read_sums(tree);
}

void account_root_exit(struct rt_tracker *tracker, int32_t pid, double user_s, double system_s)
{
	const struct rt_rusage use = { .ru_utime = user_s, .ru_stime = system_s };

	rti_tree_account_root_exit(tracker->tree, pid, &use, 0);
}

void begin_final_sample(struct rt_tracker *tracker)
{
	rti_tree_begin_final(tracker->tree);
}

void set_pss_savings(struct rt_tracker *tracker, int64_t ns)
{
	struct rti_pss_rounds *rounds = &tracker->tree->memory.rounds;

	tracker->tree->pss_budget.saved_ns = ns;
	rounds->next_try_ns = rounds->next_pss_ns = 0;
}

int64_t get_pss_savings(const struct rt_tracker *tracker)
{
	return tracker->tree->pss_budget.saved_ns;
}

int try_second_tree(struct rt_tracker *tracker, int32_t pid)
{
	const struct rti_tree_opts opts = { .pids = &pid, .pid_count = 1 };
	struct rti_tree *tree;
	int err = rti_tree_new(&tree, &tracker->ctx, &opts);

	if (err == 0)
		rti_tree_free(tree);
	return err;
}

size_t get_new_members_max(void)
{
	return RTI_NEW_MEMBERS_MAX;
}

static struct rti_member *find_member(const struct rt_tracker *tracker, int32_t pid)
{
	struct rti_member *m = rti_member_find(&tracker->tree->table, pid);

	ck_assert_msg(m != NULL, "no member has the pid %d", (int)pid);
	return m;
}

bool has_member(const struct rt_tracker *tracker, int32_t pid)
{
	return rti_member_find(&tracker->tree->table, pid) != NULL;
}

unsigned open_files_of(const struct rt_tracker *tracker, int32_t pid)
{
	const struct rti_files_part *files = &find_member(tracker, pid)->files;

	return (unsigned)(files->stat.fd >= 0) + (unsigned)(files->statm.fd >= 0) +
	       (unsigned)(files->io.fd >= 0) + (unsigned)(files->children.fd >= 0);
}

unsigned open_seldom_files_of(const struct rt_tracker *tracker, int32_t pid)
{
	const struct rti_files_part *files = &find_member(tracker, pid)->files;

	return (unsigned)(files->status.fd >= 0) + (unsigned)(files->schedstat.fd >= 0);
}

uint64_t get_member_cpu_ns(const struct rt_tracker *tracker, int32_t pid)
{
	const uint64_t *self = find_member(tracker, pid)->account.self;

	return self[RTI_CPU_USER] + self[RTI_CPU_SYSTEM];
}

uint64_t get_member_switches(const struct rt_tracker *tracker, int32_t pid)
{
	return find_member(tracker, pid)->account.self[RTI_VOLUNTARY];
}

uint64_t get_member_valid(const struct rt_tracker *tracker, int32_t pid)
{
	return find_member(tracker, pid)->values.figures.valid;
}

uint64_t get_member_rss(const struct rt_tracker *tracker, int32_t pid)
{
	return find_member(tracker, pid)->values.figures.row.rss_bytes;
}

void set_member_rss(struct rt_tracker *tracker, int32_t pid, uint64_t bytes)
{
	find_member(tracker, pid)->values.figures.row.rss_bytes = bytes;
}

uint64_t get_noted_rss(const struct rt_tracker *tracker, int32_t pid)
{
	return find_member(tracker, pid)->memory.look.rss_pages * tracker->platform.page_size;
}

void set_noted_rss(struct rt_tracker *tracker, int32_t pid, uint64_t bytes)
{
	find_member(tracker, pid)->memory.look.rss_pages = bytes / tracker->platform.page_size;
}

void forget_clocks(struct rt_tracker *tracker)
{
	for (size_t i = 0; i < tracker->tree->table.count; i++)
		tracker->tree->table.members[i].read.clock_ns = 0;
}

void set_read_clock(struct rt_tracker *tracker, int32_t pid, uint64_t clock_ns)
{
	struct rti_member *m = find_member(tracker, pid);

	m->read.clock_ns = m->values.row_status.clock_ns = clock_ns;
	for (size_t i = 0; i < RTI_PID_COLLECTORS_MAX; i++)
		m->values.read[i].clock_ns = clock_ns;
}

void use_batch_reader_now(struct rt_tracker *tracker)
{
	set_text_reads(tracker, UINT32_MAX);
}

void forbid_batch_reader(struct rt_tracker *tracker)
{
	rti_batch_reader_free(&tracker->tree->batch_reader);
	tracker->tree->batch_reader.is_unavailable = true;
}

void allow_batch_reader(struct rt_tracker *tracker)
{
	tracker->tree->batch_reader.is_unavailable = false;
}

bool has_batch_reader(const struct rt_tracker *tracker)
{
	return tracker->tree->batch_reader.batch != NULL;
}

uint64_t get_text_reads(const struct rt_tracker *tracker)
{
	return tracker->tree->batch_reader.text_reads;
}

void set_text_reads(struct rt_tracker *tracker, uint64_t count)
{
	tracker->tree->batch_reader.text_reads = count;
}

uint64_t get_clock_reads(const struct rt_tracker *tracker)
{
	return tracker->tree->batch_reader.clock_reads;
}

void set_clock_reads(struct rt_tracker *tracker, uint64_t count)
{
	tracker->tree->batch_reader.clock_reads = count;
}

const struct rti_batch_row *get_batch_row(const struct rt_tracker *tracker, size_t index)
{
	return &tracker->tree->batch_reader.rows[index];
}

size_t count_idle_rows(const struct rt_tracker *tracker)
{
	size_t count = 0;

	for (size_t i = 0; i < tracker->tree->table.count; i++) {
		const struct rti_batch_row *row = get_batch_row(tracker, i);

		count += row->error == 0 && row->has == RTI_BATCH_IDLE;
	}
	return count;
}

void discover_members(struct rt_tracker *tracker)
{
	rti_discover_members(tracker->tree, rti_ask_for_sample);
}

bool is_clock_known(const struct rt_tracker *tracker, int32_t pid)
{
	return find_member(tracker, pid)->clock.is_known;
}

bool has_member_row(const struct rt_tracker *tracker, int32_t pid)
{
	return find_member(tracker, pid)->clock.row != NULL;
}

void use_watch_now(struct rt_tracker *tracker)
{
	static const struct rti_strategy always = { .members_min = 1, .worth = 1 };

	tracker->tree->watched.is_unavailable = false;
	tracker->tree->watched.choice =
	    (struct rti_watch_choice){ .open = &always, .keep = &always };
}

void make_watch_costly(struct rt_tracker *tracker)
{
	static const struct rti_strategy never = { .members_min = SIZE_MAX, .worth = 1 };

	tracker->tree->watched.choice.open = &never;
	tracker->tree->watched.choice.keep = &never;
}

void forbid_watch(struct rt_tracker *tracker)
{
	rti_watched_free(&tracker->tree->watched, tracker->tree->ctx);
	tracker->tree->watched = (struct rti_watched)RTI_WATCHED_INIT;
	tracker->tree->watched.is_unavailable = true;
}

bool was_partial_sample(const struct rt_tracker *tracker)
{
	return tracker->tree->watched.is_partial;
}

size_t count_looks(const struct rt_tracker *tracker)
{
	return tracker->tree->watched.looks;
}

uint64_t count_looks_to_save(const struct rt_tracker *tracker)
{
	return tracker->tree->watched.choice.looks;
}

void sum_all_members(struct rt_tracker *tracker)
{
	tracker->tree->sums.have_shares = false;
	tracker->tree->unchanged_samples = 0;
}

int subscribe_to_test_events(struct rt_tracker *tracker, int32_t root_pid)
{
	struct rti_fork_tracker *fork_tracker = &tracker->tree->discovery.fork_tracker;
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends), 0);
	*fork_tracker = (struct rti_fork_tracker){ .fd = ends[0], .owner = getpid() };
	fork_tracker->descendants = calloc(1, sizeof(*fork_tracker->descendants));
	ck_assert_ptr_nonnull(fork_tracker->descendants);
	fork_tracker->new_pids = calloc(TEST_EVENTS_MAX, sizeof(*fork_tracker->new_pids));
	ck_assert_ptr_nonnull(fork_tracker->new_pids);
	fork_tracker->capacity = TEST_EVENTS_MAX;
	rti_fork_tracker_set_root(fork_tracker, root_pid);
	return ends[1];
}

void add_fork_event(struct rt_tracker *tracker, int32_t root_pid, int32_t pid, bool has_exited)
{
	struct rti_fork_tracker *fork_tracker = &tracker->tree->discovery.fork_tracker;

	ck_assert(rti_descendant_set_fork(fork_tracker->descendants, root_pid, pid));
	if (has_exited)
		rti_descendant_set_exit(fork_tracker->descendants, pid);
	ck_assert_uint_lt(fork_tracker->count, fork_tracker->capacity);
	fork_tracker->new_pids[fork_tracker->count++] = pid;
}

void note_unwaited_exit(struct rt_tracker *tracker)
{
	tracker->tree->discovery.fork_tracker.has_unwaited_exit = true;
}

uint64_t count_alive_by_events(const struct rt_tracker *tracker)
{
	return tracker->tree->discovery.fork_tracker.descendants->alive;
}

size_t count_scanned_others(const struct rt_tracker *tracker)
{
	return tracker->tree->discovery.candidate_count;
}

uint64_t get_reaped_cpu_ns(const struct rt_tracker *tracker)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < tracker->tree->table.count; i++) {
		const uint64_t *children = tracker->tree->table.members[i].account.children;

		sum_ns += children[RTI_CPU_USER] + children[RTI_CPU_SYSTEM];
	}
	return sum_ns;
}
