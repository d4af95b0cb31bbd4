/* SPDX-License-Identifier: MIT */
/* What the files of a member say of its memory: which member it has its memory from, and when it
 * moves on to another address space. */
#include "tree/memory/memory_note.h"

#include <errno.h>

#include "os/procfs.h"
#include "tree/read/member_read.h"
#include "tree/state/read_policy.h"

/* A look is torn if RSS differs by more than this between its two reads of statm. */
#define TORN_PAGES 32u

static uint64_t hash_text(const char *text, size_t len)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
	return hash;
}

/* Names the program that a member runs: by its file, else by its name. */
static uint64_t program_of(const struct rti_context *ctx, const struct rti_member *m)
{
	struct rti_path exe = rti_pid_path(m->pid, "exe");
	char target[1024]; /* where a path is longer, its start is the name */
	ssize_t len = rti_procfs_readlink(ctx->procfs, RTI_PROC, exe.text, target, sizeof(target));

	return len > 0 ? hash_text(target, (size_t)len)
	               : hash_text(m->stat.comm, sizeof(m->stat.comm));
}

static void enter_program(struct rti_memory_state *memory, const struct rti_context *ctx,
                          struct rti_member *m, const struct rti_member *parent)
{
	if (parent) {
		m->memory.program = parent->memory.program;
		rti_program_enter_again(&memory->mapped, m->memory.program);
	} else {
		m->memory.program = rti_program_enter(&memory->mapped, program_of(ctx, m));
	}
}

/* A fork leaves the stack where it was, and an exec moves it. */
static bool has_stack_of(const struct rti_memory_look *look, const struct rti_member *other)
{
	return other->memory.is_present && look->stack == other->memory.look.stack;
}

static struct rti_member *find_by_stack(const struct rti_member_table *table,
                                        const struct rti_member *m,
                                        const struct rti_memory_look *look)
{
	for (size_t i = 0; i < table->count; i++) {
		struct rti_member *other = &table->members[i];

		if (other != m && has_stack_of(look, other))
			return other;
	}
	return NULL;
}

static struct rti_member *find_by_program(const struct rti_memory_state *memory,
                                          const struct rti_member_table *table,
                                          const struct rti_context *ctx, const struct rti_member *m)
{
	int program = rti_program_find(&memory->mapped, program_of(ctx, m));

	for (size_t i = 0; program >= 0 && i < table->count; i++) {
		struct rti_member *other = &table->members[i];

		if (other != m && other->memory.is_present && other->memory.program == program)
			return other;
	}
	return NULL;
}

/* The member that a forked one has its memory from: its parent. If that has ended, as that of a
 * daemon has, another one that has its memory from there, too. Where the stack is shows only to a
 * caller that may trace the process. Without that, the parent or the same program must do. */
static struct rti_member *find_parent(const struct rti_memory_state *memory,
                                      const struct rti_member_table *table,
                                      const struct rti_context *ctx, const struct rti_member *m,
                                      const struct rti_memory_look *look)
{
	struct rti_member *parent;

	if (!look->is_forked)
		return NULL;
	parent = rti_member_find(table, m->stat.ppid);
	if (parent && (parent == m || !parent->memory.is_present))
		parent = NULL;
	if (!look->stack || (parent && !parent->memory.look.stack))
		return parent ? parent : find_by_program(memory, table, ctx, m);
	return parent && has_stack_of(look, parent) ? parent : find_by_stack(table, m, look);
}

/* vfork(2) lets the child use the memory of its parent, so all that it maps is its parent's. */
static bool shares_space(const struct rti_context *ctx, const struct rti_member *m,
                         const struct rti_member *parent, const struct rti_memory_look *look)
{
	const struct rti_platform *platform = ctx->platform;

	return rti_memory_looks_alike(look, &parent->memory.look) && platform->have_same_memory &&
	       platform->have_same_memory(m->pid, parent->pid);
}

/* A start time in clock ticks is at most a tick before the exact one. */
static bool was_forked_before(const struct rti_context *ctx, const struct rti_member *m,
                              uint64_t monotonic_ns)
{
	const struct rti_platform *platform = ctx->platform;
	uint64_t start_ns = m->starttime * platform->tick_ns;
	struct rti_now now;

	platform->now(&now);
	return m->has_starttime && start_ns < monotonic_ns + now.boottime_ns - now.monotonic_ns;
}

static void leave(struct rti_memory_state *memory, struct rti_member_table *table,
                  struct rti_member *m)
{
	bool had_space = !m->memory.has_parents_space, has_forked = m->memory.forked > 0;
	bool has_shared = rti_memory_shares_anon(&m->memory);
	uint64_t shared = rti_memory_leave(table, m);

	memory->changes++;
	memory->has_left |= has_shared && had_space;
	memory->drift = rti_add_saturated(memory->drift, had_space ? shared : 0);
	/* What its children have from it they may still share with the process that forked it. */
	if (m->pid == memory->root_pid && !has_forked)
		memory->has_outside_sharer = false;
	memory->rounds.next_try_ns = 0; /* what is left may cost less */
	rti_program_leave(&memory->mapped, m->memory.program, m->pid);
	m->memory.program = -1;
	rti_member_free_image(m);
	m->pss = (struct rti_pss_part){ 0 };
}

static bool has_executed(const struct rti_memory_look *last, const struct rti_memory_look *now)
{
	return (last->is_forked && !now->is_forked) ||
	       (last->stack && now->stack && last->stack != now->stack);
}

/* Whether it has moved on from the address space that it had at its last look. */
static bool has_other_space(const struct rti_member_table *table, const struct rti_context *ctx,
                            const struct rti_member *m, const struct rti_memory_look *look)
{
	const struct rti_member *parent = rti_member_find(table, m->memory.parent);

	if (has_executed(&m->memory.look, look))
		return true;
	return m->memory.has_parents_space && !(parent && shares_space(ctx, m, parent, look));
}

int rti_memory_look_again(struct rti_tree *tree, struct rti_member *m, struct rti_memory_look *look)
{
	struct rti_pid_statm statm;
	int err = rti_read_statm(tree, m, &statm);

	if (err < 0)
		return err == -ENOENT ? -ESRCH : err;
	look->is_torn = statm.resident_pages > look->rss_pages + TORN_PAGES ||
	                look->rss_pages > statm.resident_pages + TORN_PAGES;
	look->rss_pages = statm.resident_pages;
	look->shared_pages = statm.shared_pages;
	look->size_pages = statm.size_pages;
	return 0;
}

/* stat of a member without relatives is read seldom in polls. So it may have executed a program
 * since, and its faults may be older than its pages. */
static void look_at_parent(struct rti_tree *tree, struct rti_member *parent)
{
	struct rti_memory_look now;

	if (!parent || !parent->memory.is_present || parent->clock.row ||
	    rti_memory_needs_stat(&tree->memory, parent) || rti_read_member_stat(tree, parent) < 0)
		return;
	now = parent->memory.look;
	now.faults = parent->stat.minflt;
	now.stack = parent->stat.stack;
	now.is_forked = parent->stat.flags & RTI_PF_FORKNOEXEC;
	if (has_executed(&parent->memory.look, &now))
		rti_memory_note(tree, parent, &now);
	else
		parent->memory.look.faults = parent->memory.counted.faults = now.faults;
	tree->memory.changes++;
}

/* Of a tree, only the root was forked by another process. Of a list, or below several roots, any
 * member may have been. */
static bool has_parent_outside(const struct rti_tree *tree, const struct rti_member *m,
                               const struct rti_member *parent)
{
	return tree->list || tree->discovery.has_many_roots ? !parent
	                                                    : m->pid == tree->memory.root_pid;
}

static void join(struct rti_tree *tree, struct rti_member *m, const struct rti_memory_look *look)
{
	struct rti_memory_look first = *look;
	struct rti_member *parent;
	uint64_t shared;

	if (look->is_forked)
		look_at_parent(tree, rti_member_find(&tree->table, m->stat.ppid));
	parent = find_parent(&tree->memory, &tree->table, tree->ctx, m, look);
	if (parent) {
		first.is_late =
		    parent->pid != m->stat.ppid ||
		    was_forked_before(tree->ctx, m,
		                      parent->memory.before_at_ns + tree->memory.longest_ns);
	}
	shared = rti_memory_join(&m->memory, &first, parent);
	tree->memory.changes++;
	enter_program(&tree->memory, tree->ctx, m, parent);
	if (parent && shares_space(tree->ctx, m, parent, look))
		m->memory.has_parents_space = true;
	else
		tree->memory.drift = rti_add_saturated(tree->memory.drift, shared);
	if (look->is_forked && has_parent_outside(tree, m, parent) && !tree->supervised.pid)
		tree->memory.has_outside_sharer = true;
}

/* Whether a look leaves the sums as they are: it shows what the last one has shown, and both show
 * it in full. The first after a read of PSS moves that on by what has changed while it was read. */
static bool is_same(const struct rti_member *m, const struct rti_memory_look *now)
{
	const struct rti_memory_look *last = &m->memory.look;

	return last->rss_pages == now->rss_pages && last->shared_pages == now->shared_pages &&
	       last->shmem_pages == now->shmem_pages && last->swap_pages == now->swap_pages &&
	       last->hugetlb_pages == now->hugetlb_pages &&
	       (last->faults == now->faults || !rti_memory_shares_anon(&m->memory)) &&
	       !last->is_torn && !now->is_torn && last->at_ns > m->pss.at_ns;
}

static void update(struct rti_memory_state *memory, struct rti_member *m,
                   const struct rti_memory_look *now)
{
	if (!is_same(m, now))
		memory->changes++;
	memory->drift = rti_add_saturated(memory->drift,
	                                  rti_memory_update(&m->memory, now, memory->copied_part));
}

void rti_memory_note(struct rti_tree *tree, struct rti_member *m,
                     const struct rti_memory_look *look)
{
	struct rti_memory_part *memory = &m->memory;
	struct rti_memory_look now = *look;

	now.at_ns = tree->now_ns;
	if (!tree->memory.is_modelled) {
		memory->look = *look;
		memory->is_present = look->rss_pages > 0;
		return;
	}
	if (has_executed(&memory->look, look)) {
		now.shmem_pages = now.swap_pages = now.hugetlb_pages = 0; /* of before */
		/* stat, which shows the exec, was read after statm, which may be of before. */
		if (!m->clock.row)
			rti_memory_look_again(tree, m, &now);
	}
	/* status is read seldom. */
	if (now.shmem_pages > now.shared_pages)
		now.shmem_pages = now.shared_pages;
	if (memory->is_present &&
	    (now.rss_pages == 0 || has_other_space(&tree->table, tree->ctx, m, &now)))
		leave(&tree->memory, &tree->table, m);
	if (now.rss_pages == 0)
		return;
	if (memory->is_present)
		update(&tree->memory, m, &now);
	else
		join(tree, m, &now);
}

void rti_memory_forget(struct rti_memory_state *memory, struct rti_member_table *table,
                       struct rti_member *m)
{
	if (m->memory.is_present && memory->is_modelled)
		leave(memory, table, m);
	memory->changes++;
	m->memory.is_present = m->memory.is_unknown = false;
	m->memory.look = (struct rti_memory_look){ 0 };
}

static bool is_far(uint64_t a, uint64_t b)
{
	return a > b + TORN_PAGES || b > a + TORN_PAGES;
}

/* Whether the process may have run between the reads of statm and stat. */
static bool may_be_torn(const struct rti_memory_look *last, const struct rti_memory_look *now)
{
	return is_far(last->rss_pages, now->rss_pages) || is_far(last->faults, now->faults);
}

void rti_memory_note_figures(struct rti_tree *tree, struct rti_member *m)
{
	const struct rti_figures *f = &m->values.figures;
	uint64_t page_size = tree->ctx->platform->page_size;
	struct rti_memory_look look = {
		.rss_pages = f->row.rss_bytes / page_size,
		.shared_pages = f->shared_bytes / page_size,
		.size_pages = f->size_bytes / page_size,
		.shmem_pages = f->shmem_bytes / page_size,
		.swap_pages = f->swap_bytes / page_size,
		.hugetlb_pages = f->hugetlb_bytes / page_size,
		.faults = m->stat.minflt,
		.stack = m->stat.stack,
		.is_forked = m->stat.flags & RTI_PF_FORKNOEXEC,
	};

	if (m->end.has_exited) {
		rti_memory_forget(&tree->memory, &tree->table, m);
		return;
	}
	if (m->pid == tree->supervised.pid)
		return;
	/* What could not be read is not 0: it stays as it was. */
	if (m->memory.is_unknown != !(f->valid & RT_HAS_RSS))
		tree->memory.changes++;
	m->memory.is_unknown = !(f->valid & RT_HAS_RSS);
	if (m->memory.is_unknown)
		return;
	if (rti_memory_needs_stat(&tree->memory, m) && !m->clock.row &&
	    may_be_torn(&m->memory.look, &look))
		rti_memory_look_again(tree, m, &look);
	rti_memory_note(tree, m, &look);
	if (m->memory.lacks_status != !(f->valid & RT_HAS_PEAK_RSS))
		tree->memory.changes++;
	m->memory.lacks_status = !(f->valid & RT_HAS_PEAK_RSS);
}
