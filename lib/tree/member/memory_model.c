/* SPDX-License-Identifier: MIT */
/* What the members of a tree hold together, from statm and stat alone. */
#include "tree/member/memory_model.h"

#include "tree/member/member_table.h"
#include "util/arith.h"

/* The kernel counts pages per CPU before it adds them up, so two reads may differ by some. */
#define ALIKE_PAGES 64u

/* A fault in a file maps the pages around it, too, 16 by default, as far as they are in memory.
 * That holds for programs and libraries. What is mapped beyond this many pages is mostly data,
 * which processes touch page by page. */
#define PAGES_PER_FILE_FAULT 16u
#define PROGRAM_PAGES 2048u

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

uint64_t rti_memory_anon_pages(const struct rti_memory_look *look)
{
	return rti_subtract_saturated(look->rss_pages, look->shared_pages);
}

bool rti_memory_looks_alike(const struct rti_memory_look *a, const struct rti_memory_look *b)
{
	return a->size_pages == b->size_pages &&
	       distance(a->rss_pages, b->rss_pages) <= ALIKE_PAGES &&
	       distance(a->shared_pages, b->shared_pages) <= ALIKE_PAGES;
}

static uint64_t file_faults(uint64_t shared_pages)
{
	uint64_t data = rti_subtract_saturated(shared_pages, PROGRAM_PAGES);

	return (shared_pages - data) / PAGES_PER_FILE_FAULT + data;
}

static struct rti_memory_count count_of(const struct rti_memory_look *look)
{
	return (struct rti_memory_count){
		.anon_pages = rti_memory_anon_pages(look),
		.shared_pages = look->shared_pages,
		.faults = look->faults,
	};
}

/* The faults between two looks that made RSS grow. */
static uint64_t growth_faults(const struct rti_memory_count *from,
                              const struct rti_memory_count *to)
{
	return rti_subtract_saturated(to->anon_pages, from->anon_pages) +
	       rti_subtract_saturated(file_faults(to->shared_pages),
	                              file_faults(from->shared_pages));
}

/* The faults between two looks that copied pages. */
static uint64_t copying_faults(const struct rti_memory_count *from,
                               const struct rti_memory_count *to)
{
	return rti_subtract_saturated(rti_subtract_saturated(to->faults, from->faults),
	                              growth_faults(from, to));
}

/* Pages in common with its parent that it still has in some form. */
static uint64_t inherited_now(const struct rti_memory_part *m)
{
	return rti_min(m->inherited, rti_memory_anon_pages(&m->look));
}

/* Returns the faults since the last count that may be copies. A look that is torn counts later. */
static uint64_t count_copies(struct rti_memory_part *m, double part)
{
	struct rti_memory_count now = count_of(&m->look);
	uint64_t copied;

	if (m->look.is_torn)
		return 0;
	copied = copying_faults(&m->counted, &now);
	m->counted = now;
	m->copies += (uint64_t)((double)copied * part);
	m->suspects += copied;
	return copied;
}

/* A fork copies the page tables of anonymous memory, so what both have is inherited. The parent may
 * have released some since. Faults count from the fork. */
static void inherit(struct rti_memory_part *m, struct rti_member *parent)
{
	const struct rti_memory_part *p = &parent->memory;
	uint64_t parent_pages = rti_max(rti_memory_anon_pages(&p->look), p->anon_before);

	m->parent = parent->pid;
	m->inherited = rti_min(rti_memory_anon_pages(&m->look), parent_pages);
	m->parent_copies = p->copies;
	m->parent_faults = p->faults_before;
	m->parent_released = p->released_before;
	m->parted = m->look.is_late || !p->has_before ? m->inherited : 0;
	m->counted = (struct rti_memory_count){ .anon_pages = m->inherited };
	count_copies(m, 1);
	parent->memory.forked++;
}

uint64_t rti_memory_join(struct rti_memory_part *m, const struct rti_memory_look *look,
                         struct rti_member *parent)
{
	*m = (struct rti_memory_part){
		.look = *look,
		.is_present = true,
		.is_founder = !look->is_forked,
		.program = m->program,
		.found_pages = rti_memory_anon_pages(look),
		.counted = count_of(look),
		.anon_before = rti_memory_anon_pages(look),
		.faults_before = look->faults,
	};
	if (parent)
		inherit(m, parent);
	return m->inherited;
}

uint64_t rti_memory_update(struct rti_memory_part *m, const struct rti_memory_look *look,
                           double copied)
{
	uint64_t anon = rti_memory_anon_pages(look), last = rti_memory_anon_pages(&m->look);

	m->has_before = true;
	m->before_at_ns = m->look.at_ns;
	m->anon_before = last;
	m->faults_before = m->look.faults;
	m->released_before = m->released;
	m->released += rti_subtract_saturated(last, anon);
	m->look = *look;
	if (!rti_memory_shares_anon(m)) {
		m->counted = count_of(look);
		return 0;
	}
	return count_copies(m, copied) + rti_subtract_saturated(last, anon);
}

uint64_t rti_memory_moved_pages(const struct rti_memory_part *m, const struct rti_memory_look *now)
{
	struct rti_memory_count from = count_of(&m->look), to = count_of(now);

	if (!rti_memory_shares_anon(m))
		return 0;
	return copying_faults(&from, &to) + rti_subtract_saturated(from.anon_pages, to.anon_pages);
}

static void unlink_from_parent(struct rti_member_table *table, struct rti_memory_part *m)
{
	struct rti_member *parent = m->parent ? rti_member_find(table, m->parent) : NULL;

	if (parent && parent->memory.forked > 0)
		parent->memory.forked--;
	m->parent = 0;
}

static bool is_forked_by(const struct rti_member *child, const struct rti_member *parent)
{
	return child->memory.is_present && child->memory.parent == parent->pid;
}

/* The member that inherited most of one that leaves; of several, the youngest, which is asked to
 * leave last if all do. */
static struct rti_member *find_heir(struct rti_member_table *table, const struct rti_member *m)
{
	struct rti_member *heir = NULL;

	for (size_t i = 0; i < table->count; i++) {
		struct rti_member *child = &table->members[i];

		if (is_forked_by(child, m) && !child->end.has_exited &&
		    (!heir || child->memory.inherited >= heir->memory.inherited))
			heir = child;
	}
	return heir;
}

/* The heir has with the parent of m what m had. */
static void take_place_of(struct rti_member_table *table, struct rti_member *m,
                          struct rti_member *heir)
{
	struct rti_member *grandparent =
	    m->memory.parent ? rti_member_find(table, m->memory.parent) : NULL;

	heir->memory.parent = grandparent ? grandparent->pid : 0;
	heir->memory.is_founder = m->memory.is_founder;
	heir->memory.inherited =
	    grandparent ? rti_min(heir->memory.inherited, m->memory.inherited) : 0;
	heir->memory.parent_copies = m->memory.parent_copies;
	heir->memory.parent_faults = m->memory.parent_faults;
	heir->memory.parent_released = m->memory.parent_released;
	heir->memory.parted += m->memory.parted + m->memory.look.faults + m->memory.released;
	if (grandparent)
		grandparent->memory.forked++;
}

/* What m has copied or released since the earlier of two forks. */
static uint64_t changed_between(const struct rti_memory_part *m, const struct rti_memory_part *a,
                                const struct rti_memory_part *b)
{
	uint64_t faults = rti_min(a->parent_faults, b->parent_faults),
		 released = rti_min(a->parent_released, b->parent_released);

	return rti_subtract_saturated(m->look.faults, faults) +
	       rti_subtract_saturated(m->released, released);
}

/* One of the members that it has forked takes its place: the others share with that one, which has
 * counted since its own fork. */
static void pass_on(struct rti_member_table *table, struct rti_member *m)
{
	struct rti_member *heir = find_heir(table, m);
	struct rti_memory_part was;

	if (!heir)
		return;
	was = heir->memory;
	take_place_of(table, m, heir);
	for (size_t i = 0; i < table->count; i++) {
		struct rti_member *child = &table->members[i];

		if (child == heir || !is_forked_by(child, m))
			continue;
		child->memory.parted +=
		    was.parted + changed_between(&m->memory, &was, &child->memory);
		child->memory.parent = heir->pid;
		child->memory.parent_copies = child->memory.parent_faults =
		    child->memory.parent_released = 0;
		heir->memory.forked++;
	}
}

uint64_t rti_memory_leave(struct rti_member_table *table, struct rti_member *m)
{
	struct rti_memory_part *memory = &m->memory;
	uint64_t shared = inherited_now(memory) + memory->sum.given;

	if (!memory->is_present)
		return 0;
	memory->is_present = false;
	if (memory->forked > 0)
		pass_on(table, m);
	unlink_from_parent(table, memory);
	*memory = (struct rti_memory_part){
		.program = memory->program,
		.is_unknown = memory->is_unknown,
	};
	return shared;
}

/* The parent that was found last. Members with the same parent mostly stand side by side. */
struct last_parent {
	int32_t pid; /* 0: none yet */
	struct rti_memory_part *memory;
};

/* Returns NULL if the member shares with no parent, or that has no memory. */
static struct rti_memory_part *find_parent(const struct rti_member_table *table,
                                           const struct rti_memory_part *m,
                                           struct last_parent *last)
{
	struct rti_member *parent;

	if (!m->parent)
		return NULL;
	if (last->pid != m->parent) {
		parent = rti_member_find(table, m->parent);
		last->pid = m->parent;
		last->memory = parent && parent->memory.is_present ? &parent->memory : NULL;
	}
	return last->memory;
}

/* Members stand in the order in which they were forked. What their parent copied between two forks
 * those forked before still have as it was. */
static void add_to_parent(const struct rti_memory_part *m, struct rti_memory_part *p)
{
	if (p->sum.has_given)
		p->sum.left_behind +=
		    rti_min(p->sum.last_inherited,
		            rti_subtract_saturated(m->parent_copies, p->sum.last_copies));
	p->sum.has_given = true;
	p->sum.last_copies = m->parent_copies;
	p->sum.last_inherited = m->inherited;
	p->sum.given = rti_max(p->sum.given, inherited_now(m));
}

/* Pages beyond those that its parent has. A page that a member copied is one more, whether it was
 * inherited or left behind. */
static uint64_t copied_pages(const struct rti_memory_part *m)
{
	return rti_min(m->copies, inherited_now(m) + m->sum.left_behind);
}

/* Inherited pages that its parent may not have any more: one of the two has copied or released
 * them. */
static uint64_t parted_pages_max(const struct rti_memory_part *m, const struct rti_memory_part *p)
{
	if (!p)
		return inherited_now(m);
	return rti_min(inherited_now(m),
	               m->parted + m->look.faults +
	                   rti_subtract_saturated(p->look.faults, m->parent_faults) +
	                   rti_subtract_saturated(p->released, m->parent_released));
}

static void add_member(struct rti_memory_part *m, const struct rti_memory_part *parent,
                       struct rti_memory_sums *out)
{
	uint64_t anon = rti_memory_anon_pages(&m->look),
		 own = rti_subtract_saturated(anon, m->inherited);

	out->rss_pages += m->look.rss_pages;
	if (m->has_parents_space)
		return;
	if (m->sum.has_given)
		m->sum.left_behind += rti_min(
		    m->sum.last_inherited, rti_subtract_saturated(m->copies, m->sum.last_copies));
	out->copied_pages += copied_pages(m);
	out->anon_pages += own + rti_subtract_saturated(m->sum.given, anon);
	out->anon_pages_min += m->is_founder ? anon : rti_subtract_saturated(anon, m->found_pages);
	out->anon_pages_max += own + parted_pages_max(m, parent);
}

void rti_memory_sum(struct rti_member_table *table, struct rti_memory_sums *out)
{
	struct last_parent last = { 0 };
	uint64_t largest = 0;

	*out = (struct rti_memory_sums){ 0 };
	for (size_t i = 0; i < table->count; i++)
		table->members[i].memory.sum = (struct rti_memory_sum_part){ 0 };
	for (size_t i = 0; i < table->count; i++) {
		const struct rti_memory_part *m = &table->members[i].memory;
		struct rti_memory_part *parent;

		if (!m->is_present || m->has_parents_space)
			continue;
		parent = find_parent(table, m, &last);
		if (parent)
			add_to_parent(m, parent);
	}
	for (size_t i = 0; i < table->count; i++) {
		struct rti_memory_part *m = &table->members[i].memory;

		if (!m->is_present)
			continue;
		add_member(m, find_parent(table, m, &last), out);
		largest = rti_max(largest, rti_memory_anon_pages(&m->look));
	}
	out->anon_pages += out->copied_pages;
	out->anon_pages_min = rti_max(out->anon_pages_min, largest);
	out->anon_pages = rti_max(out->anon_pages, out->anon_pages_min);
	out->anon_pages_max = rti_max(out->anon_pages_max, out->anon_pages);
}

/* Returns how many pages a forked member could still have copied. */
static uint64_t uncopied_pages(const struct rti_memory_part *m)
{
	return rti_subtract_saturated(inherited_now(m) + m->sum.left_behind, copied_pages(m));
}

/* A correction of copies: what is kept of those that were counted, and what is added of those that
 * were not. */
struct correction {
	double kept, added;
};

static struct correction find_correction(const struct rti_member_table *table,
                                         const struct rti_memory_sums *sums, uint64_t anon_pages)
{
	uint64_t own = sums->anon_pages - sums->copied_pages;
	double copied = (double)rti_subtract_saturated(anon_pages, own), uncopied = 0;
	double model = (double)sums->copied_pages;
	struct correction correction = { 1, 0 };

	for (size_t i = 0; i < table->count; i++) {
		const struct rti_memory_part *m = &table->members[i].memory;

		if (m->is_present && rti_memory_shares_anon(m))
			uncopied += (double)uncopied_pages(m);
	}
	if (copied < model)
		correction.kept = copied / model;
	else if (uncopied > 0)
		correction.added = copied - model < uncopied ? (copied - model) / uncopied : 1;
	return correction;
}

static uint64_t corrected(const struct rti_memory_part *m, const struct correction *c)
{
	return (uint64_t)((double)copied_pages(m) * c->kept + (double)uncopied_pages(m) * c->added);
}

/* Few faults say little. */
#define SUSPECTS_MIN 256

/* From now on, the copies of a member are those of the last sum, moved by the difference between
 * the model and what was read. Too many: each member's share in them shrinks alike. Too few: each
 * gets a part of the rest by what it could have copied. What its children remember of its copies
 * moves along.
 *
 * What part of the faults since the last read were copies holds until the next one. E.g.: workers
 * that map and release memory all the time have faults, and copy nothing. */
void rti_memory_calibrate(struct rti_member_table *table, const struct rti_memory_sums *sums,
                          uint64_t anon_pages, double *copied)
{
	struct correction correction = find_correction(table, sums, anon_pages);
	uint64_t suspects = 0, before = 0, after = 0;

	for (size_t i = 0; i < table->count; i++) {
		struct rti_memory_part *m = &table->members[i].memory;
		const struct rti_member *parent =
		    m->is_present && m->parent ? rti_member_find(table, m->parent) : NULL;
		const struct rti_memory_part *p = parent ? &parent->memory : NULL;

		if (p && p->copies > 0)
			m->parent_copies =
			    (uint64_t)((double)m->parent_copies *
			               (double)corrected(p, &correction) / (double)p->copies);
	}
	for (size_t i = 0; i < table->count; i++) {
		struct rti_memory_part *m = &table->members[i].memory;

		if (!m->is_present || !rti_memory_shares_anon(m))
			continue;
		m->copies = corrected(m, &correction);
		suspects += m->suspects;
		before += m->copies_read;
		after += m->copies;
		m->copies_read = m->copies;
		m->suspects = 0;
	}
	if (suspects >= SUSPECTS_MIN)
		*copied = (double)rti_min(rti_subtract_saturated(after, before), suspects) /
		          (double)suspects;
}

/* --- If the budget does not allow to read all. --- */

/* The copies since the last read are worth a look from this part of the anonymous pages on. */
#define SUSPECTED_PART 16

struct rti_member *rti_memory_find_suspect(const struct rti_member_table *table,
                                           const struct rti_memory_sums *sums)
{
	struct rti_member *found = NULL;
	uint64_t suspected = 0;

	for (size_t i = 0; i < table->count; i++) {
		struct rti_member *m = &table->members[i];

		if (!rti_memory_counts(&m->memory) || !rti_memory_shares_anon(&m->memory))
			continue;
		suspected += m->memory.copies - m->memory.copies_read;
		if (m->memory.parent && m->memory.suspects >= SUSPECTS_MIN &&
		    (!found || m->memory.suspects > found->memory.suspects))
			found = m;
	}
	return suspected > sums->anon_pages / SUSPECTED_PART ? found : NULL;
}

static uint64_t count_sharers(const struct rti_member_table *table)
{
	uint64_t count = 0;

	for (size_t i = 0; i < table->count; i++)
		count += rti_memory_counts(&table->members[i].memory) &&
		         rti_memory_shares_anon(&table->members[i].memory);
	return count;
}

/* Of its pages, so many it has for itself at most: the others count a part each by PSS, which is
 * the smaller the more members share them. */
static uint64_t pages_alone(uint64_t pages, uint64_t pss_pages, uint64_t sharers)
{
	double shared = (double)pages / (double)sharers;

	if (sharers < 2 || (double)pss_pages <= shared)
		return sharers < 2 ? pages : 0;
	return rti_min(
	    (uint64_t)(((double)pss_pages - shared) * (double)sharers / (double)(sharers - 1)),
	    pages);
}

static uint64_t corrected_since(const struct rti_memory_part *m, double part)
{
	return rti_min(m->copies_read + (uint64_t)((double)m->suspects * part), m->copies);
}

void rti_memory_calibrate_by(struct rti_member_table *table, const struct rti_memory_part *m,
                             uint64_t pages, uint64_t pss_pages, double *copied)
{
	uint64_t own = rti_subtract_saturated(pages, inherited_now(m)),
		 alone = pages_alone(pages, pss_pages, count_sharers(table)),
		 copies = rti_subtract_saturated(alone, own + m->copies_read);
	double part = (double)rti_min(copies, m->suspects) / (double)m->suspects;

	part = part < *copied ? part : *copied;
	for (size_t i = 0; i < table->count; i++) {
		struct rti_memory_part *child = &table->members[i].memory;
		const struct rti_member *parent = child->is_present && child->parent
		                                      ? rti_member_find(table, child->parent)
		                                      : NULL;

		if (parent && parent->memory.copies > 0)
			child->parent_copies =
			    (uint64_t)((double)child->parent_copies *
			               (double)corrected_since(&parent->memory, part) /
			               (double)parent->memory.copies);
	}
	for (size_t i = 0; i < table->count; i++) {
		struct rti_memory_part *one = &table->members[i].memory;

		if (!one->is_present || !rti_memory_shares_anon(one))
			continue;
		one->copies = one->copies_read = corrected_since(one, part);
		one->suspects = 0;
	}
	*copied = part;
}
