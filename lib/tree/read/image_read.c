/* SPDX-License-Identifier: MIT */
/* What members have mapped, by smaps: which ones to read now.
 *
 * One member is read for all that run its program: the one with the least memory of those that map
 * about as much as any, since a read walks all page tables of the process. A member that maps much
 * is read for itself: that is data, or shared memory, of which each process may map another part.
 * A process above 1 GiB is not read, since that would take 20 ms: it counts by what statm says. */
#include "tree/read/image_read.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/pid_mm.h"
#include "os/procfs.h"
#include "tree/read/member_read.h"
#include "tree/read/pss_read.h"
#include "tree/state/read_policy.h"
#include "util/visit.h"

/* A member with more of files and shared memory than this, or more of shared memory alone, has an
 * image of its own: 32 MiB and 1 MiB. */
#define OWN_SHARED_BYTES (UINT64_C(32) << 20)
#define OWN_SHMEM_BYTES (UINT64_C(1) << 20)
#define RESIDENT_MAX_BYTES (UINT64_C(1) << 30)

static struct rti_mapped_look look_of(const struct rti_member *m)
{
	const struct rti_memory_look *look = &m->memory.look;

	return (struct rti_mapped_look){
		.pid = m->pid,
		.shared_pages = look->shared_pages,
		.shmem_pages = look->shmem_pages,
		.hugetlb_pages = look->hugetlb_pages,
		.rss_pages = look->rss_pages,
	};
}

static bool needs_own_image(const struct rti_tree *tree, const struct rti_member *m)
{
	const struct rti_memory_look *look = &m->memory.look;
	uint64_t page_size = tree->ctx->platform->page_size;

	return look->hugetlb_pages > 0 || look->shared_pages >= OWN_SHARED_BYTES / page_size ||
	       look->shmem_pages >= (tree->memory.is_forced ? 1 : OWN_SHMEM_BYTES / page_size);
}

void rti_images_sum(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;
	struct rti_mapped *mapped = &state->mapped;
	uint64_t shmem_pages = 0, unread_shmem = state->mapped_sum.unread_shmem;

	rti_mapped_open(mapped);
	for (size_t i = 0; i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];
		struct rti_mapped_look look = look_of(m);

		if (!rti_memory_counts(&m->memory))
			continue;
		shmem_pages = rti_max(shmem_pages, look.shmem_pages);
		if (m->pss.image && m->pss.image->is_read)
			rti_mapped_add_image(mapped, m->memory.program, m->pss.image, &look);
		else
			rti_mapped_add(mapped, m->memory.program, &look, needs_own_image(tree, m));
	}
	state->mapped_sum = rti_mapped_close(mapped);
	state->has_unmapped |= state->mapped_sum.unread_shmem < unread_shmem;
	state->shmem_max_bytes =
	    rti_max(state->shmem_max_bytes, rti_pages_to_bytes(tree->ctx, shmem_pages));
}

struct image_read {
	struct rti_mapped *mapped;
	struct rti_image *image;
	uint64_t page_kib;
	uint64_t shared_pages, named_shmem_pages; /* a page counts as often as it is mapped */
	uint64_t lazy_free_kib;
	int err;
};

/* One range of a file: device, inode and offset in 64 bits. */
static uint64_t key_of(const struct rti_smaps_range *range)
{
	uint64_t key = range->inode * UINT64_C(0x9e3779b97f4a7c15);

	key = (key ^ (range->major << 32 | range->minor)) * UINT64_C(0xc2b2ae3d27d4eb4f);
	key = (key ^ key >> 29 ^ range->offset) * UINT64_C(0x165667b19e3779f9);
	return key ^ key >> 32;
}

static uint32_t to_pages(const struct image_read *r, uint64_t kib)
{
	return (uint32_t)rti_min(kib / r->page_kib, UINT32_MAX);
}

static int add_range(void *arg, const struct rti_smaps_range *range)
{
	struct image_read *r = arg;
	uint64_t of_file = rti_subtract_saturated(range->rss_kib, range->anon_kib),
		 hugetlb = rti_add_saturated(range->shared_hugetlb_kib, range->private_hugetlb_kib);
	double pss =
	    range->rss_kib ? (double)range->pss_kib * (double)of_file / (double)range->rss_kib : 0;
	struct rti_image_part part = {
		.pages = to_pages(r, hugetlb ? hugetlb : of_file),
		.pss_pages = hugetlb ? 0 : (float)(pss / (double)r->page_kib),
		.size_pages = to_pages(r, range->size_kib),
	};
	enum rti_mapped_kind kind = range->is_shmem ? RTI_MAPPED_SHMEM : RTI_MAPPED_FILE;

	r->lazy_free_kib = rti_add_saturated(r->lazy_free_kib, range->lazy_free_kib);
	if (!range->inode)
		return RTI_CONTINUE;
	if (!hugetlb) {
		r->shared_pages += part.pages;
		r->named_shmem_pages += range->is_shmem ? part.pages : 0;
	}
	r->err = rti_image_add(r->mapped, r->image, key_of(range),
	                       hugetlb ? RTI_MAPPED_HUGETLB : kind, &part);
	return r->err < 0 ? RTI_STOP : RTI_CONTINUE;
}

/* All images are read anew: there are more ranges than any program should have. */
static void forget_images(struct rti_tree *tree)
{
	for (size_t i = 0; i < tree->table.count; i++)
		rti_member_free_image(&tree->table.members[i]);
	rti_mapped_forget(&tree->memory.mapped);
}

static void end_image(struct rti_tree *tree, const struct rti_member *m, struct image_read *r)
{
	struct rti_mapped_look look = look_of(m);
	uint64_t repeated;

	look.shared_pages = r->shared_pages;
	rti_image_end(r->mapped, r->image, &look, r->named_shmem_pages, tree->now_ns);
	repeated = rti_subtract_saturated(r->shared_pages - r->named_shmem_pages,
	                                  r->image->pages[RTI_MAPPED_FILE]);
	if (repeated > look.rss_pages / RTI_MEMORY_DOUBT)
		tree->memory.repeated_bytes =
		    rti_max(tree->memory.repeated_bytes, rti_pages_to_bytes(tree->ctx, repeated));
}

/* sharers: see rti_image. */
static void read_image(struct rti_tree *tree, struct rti_member *m, struct rti_image *image,
                       uint32_t sharers)
{
	uint64_t started_ns = tree->ctx->platform->thread_cpu_ns();
	struct image_read r = { .mapped = &tree->memory.mapped,
		                .image = image,
		                .page_kib = tree->ctx->platform->page_size / 1024 };
	int err = rti_read_smaps(tree, m);

	if (err == 0) {
		rti_image_begin(r.mapped, image);
		err = rti_parse_smaps(tree->ctx->buf->data, tree->ctx->buf->len, add_range, &r);
		err = err < 0 ? err : r.err;
	}
	m->pss.smaps = (struct rti_page_read){
		.tried_at_ns = tree->now_ns,
		.cost_ns = tree->ctx->platform->thread_cpu_ns() - started_ns,
		.error = err,
	};
	rti_pss_spend(&tree->pss_budget, 0, m->pss.smaps.cost_ns);
	if (err < 0)
		tree->memory.images_error = err;
	if (err == 0) {
		m->pss.lazy_free_bytes = r.lazy_free_kib * 1024;
		end_image(tree, m, &r);
		image->sharers = sharers;
		tree->memory.mapped_sum.unread_shmem = 0; /* what was read was not unmapped */
	} else if (err == -ENOSPC) {
		forget_images(tree);
	}
	tree->unchanged_samples = 0;
	tree->memory.changes++;
}

static uint64_t cost_of(const struct rti_tree *tree, const struct rti_member *m)
{
	return rti_pss_cost_ns(tree, m, &m->pss.smaps, RTI_SMAPS_NS);
}

static bool is_short(const struct rti_tree *tree, const struct rti_member *m)
{
	return rti_pages_to_bytes(tree->ctx, m->memory.look.rss_pages) <= RESIDENT_MAX_BYTES &&
	       rti_pss_is_short(&tree->pss_budget, cost_of(tree, m));
}

/* It is to be read, and the budget does not allow it yet. */
static void lack_image(struct rti_tree *tree)
{
	tree->memory.lacks_images = true;
	tree->memory.images_next_ns = tree->now_ns + RTI_SELDOM_NS;
}

static bool can_read(struct rti_tree *tree, const struct rti_member *m)
{
	if (tree->memory.is_forced)
		return true;
	if (rti_page_is_unreadable(&m->pss.smaps, tree->now_ns)) {
		tree->memory.images_next_ns = rti_min(tree->memory.images_next_ns,
		                                      m->pss.smaps.tried_at_ns + RTI_PAGE_RETRY_NS);
		tree->memory.images_error = m->pss.smaps.error;
		return false;
	}
	if (is_short(tree, m) && rti_pss_can_afford(&tree->pss_budget, cost_of(tree, m)))
		return true;
	lack_image(tree);
	return false;
}

/* The member to read for a program: see the top. */
static struct rti_member *find_reader(struct rti_tree *tree, int program)
{
	uint64_t largest = tree->memory.mapped.programs[program].largest.shared_pages;
	struct rti_member *found = NULL;
	int error = tree->memory.images_error;

	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];
		const struct rti_memory_look *look = &m->memory.look;

		if (rti_memory_counts(&m->memory) && m->memory.program == program &&
		    !needs_own_image(tree, m) && rti_image_would_do(look->shared_pages, largest) &&
		    can_read(tree, m) && (!found || look->rss_pages < found->memory.look.rss_pages))
			found = m;
	}
	if (found)
		tree->memory.images_error = error; /* another will do */
	return found;
}

/* What is still growing is looked at again in the next sample. */
static bool is_stale(struct rti_tree *tree, struct rti_image *image, uint64_t shared_pages)
{
	bool is_growing,
	    is_stale = rti_image_is_stale(image, shared_pages, tree->now_ns, &is_growing);

	if (is_growing)
		tree->memory.images_next_ns = tree->now_ns;
	return is_stale;
}

/* What they have of other parts of a range matters if all together map much. */
static bool has_multiplied(const struct rti_tree *tree, const struct rti_program *program)
{
	return rti_program_has_multiplied(program) &&
	       program->alike * program->largest.shared_pages >=
	           OWN_SHARED_BYTES / tree->ctx->platform->page_size;
}

static bool is_own_due(struct rti_tree *tree, struct rti_member *m)
{
	const struct rti_image *image = m->pss.image;

	return tree->memory.is_forced || !image ||
	       is_stale(tree, m->pss.image, m->memory.look.shared_pages) ||
	       m->memory.look.hugetlb_pages != image->pages[RTI_MAPPED_HUGETLB];
}

static bool read_own(struct rti_tree *tree, struct rti_member *m)
{
	if (!can_read(tree, m))
		return false;
	if (!m->pss.image)
		m->pss.image = calloc(1, sizeof(*m->pss.image));
	if (!m->pss.image)
		return false;
	read_image(tree, m, m->pss.image,
	           m->memory.program < 0 ? 1
	                                 : tree->memory.mapped.programs[m->memory.program].members);
	return true;
}

/* Members that have images of their own. */
struct own_images {
	uint64_t cost_ns; /* of reading all */
	uint64_t read_ns; /* of one of them */
	bool is_any_due;
	bool are_due; /* all together: one that can be read is, or they were read apart */
};

static struct own_images find_own_due(struct rti_tree *tree)
{
	struct own_images all = { 0 };

	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];

		if (!rti_memory_counts(&m->memory) || !needs_own_image(tree, m)) {
			rti_member_free_image(m);
			continue;
		}
		m->pss.is_image_due = is_own_due(tree, m) && can_read(tree, m);
		all.is_any_due |= m->pss.is_image_due;
		if (!is_short(tree, m) || m->pss.smaps.error < 0)
			continue;
		all.cost_ns += cost_of(tree, m);
		all.are_due |= m->pss.is_image_due;
		if (!m->pss.image || !m->pss.image->is_read)
			continue;
		all.are_due |= all.read_ns && all.read_ns != m->pss.image->read_ns;
		all.read_ns = m->pss.image->read_ns;
	}
	return all;
}

/* If one is due, all are read together: see mapped.h. For that, an image waits until the budget
 * allows it, unless it never will. What could not be read is tried again alone. */
static bool read_all_own(struct rti_tree *tree)
{
	struct own_images all = find_own_due(tree);
	bool can_have_all =
		 tree->memory.is_forced || rti_pss_can_afford(&tree->pss_budget, all.cost_ns),
	     reads_all = all.are_due && can_have_all, has_read = false,
	     waits = !can_have_all && all.cost_ns <= rti_pss_saved_max_ns(&tree->pss_budget);

	if (all.are_due && waits)
		lack_image(tree);
	for (size_t i = 0; (all.is_any_due || reads_all) && i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];
		bool is_alone = !m->pss.image || m->pss.smaps.error < 0;

		if (rti_memory_counts(&m->memory) && needs_own_image(tree, m) &&
		    (reads_all || (m->pss.is_image_due && (is_alone || !waits))))
			has_read |= read_own(tree, m);
	}
	return has_read;
}

bool rti_images_read_due(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;
	struct rti_mapped *mapped = &state->mapped;
	bool has_read = false;

	/* Nothing has changed, and what could not be read is tried again later. */
	if (!state->may_read || (!state->is_forced && state->images_changes == state->changes &&
	                         tree->now_ns < state->images_next_ns))
		return false;
	state->lacks_images = false;
	state->images_error = 0;
	state->images_changes = state->changes;
	state->images_next_ns = tree->now_ns + RTI_WHILE_IDLE_NS;
	for (size_t i = 0; i < mapped->count; i++) {
		struct rti_program *program = &mapped->programs[i];
		struct rti_member *m;

		if (program->members == 0 || program->largest.shared_pages == 0 ||
		    !(state->is_forced ||
		      is_stale(tree, &program->image, program->largest.shared_pages) ||
		      has_multiplied(tree, program)))
			continue;
		m = find_reader(tree, (int)i);
		if (!m)
			continue;
		read_image(tree, m, &program->image, program->alike);
		has_read = true;
	}
	has_read |= read_all_own(tree);
	return has_read;
}
