/* SPDX-License-Identifier: MIT */
/* What the members of a tree map of files, of shared memory and of huge pages: each page once. */
#include "tree/pure/mapped.h"

#include <errno.h>
#include <stdlib.h>

#include "util/arith.h"
#include "util/array.h"

/* An image is read again when the process maps this part more, and this many pages; while it grows,
 * when it maps half as much more, or after a second. */
#define STALE_PART 32
#define STALE_PART_GROWING 2
#define STALE_NS 1000000000u
#define STALE_PAGES 64
/* More ranges or programs than a build or a browser has: then all images are read anew. */
#define RANGES_MAX 65536
#define PROGRAMS_MAX 512
#define SLOTS_MIN 256

void rti_image_free(struct rti_image *image)
{
	free(image->parts);
	*image = (struct rti_image){ 0 };
}

void rti_mapped_free(struct rti_mapped *mapped)
{
	for (size_t i = 0; i < mapped->count; i++)
		rti_image_free(&mapped->programs[i].image);
	free(mapped->programs);
	free(mapped->ranges);
	free(mapped->slots);
	*mapped = (struct rti_mapped){ 0 };
}

/* --- Programs. --- */

/* The entry of a key; else one that may be given to it: without members, and without an image
 * unless there are many. Else one past the last. */
static size_t find_entry(const struct rti_mapped *mapped, uint64_t key)
{
	size_t found = mapped->count, oldest = mapped->count;

	for (size_t i = 0; i < mapped->count; i++) {
		const struct rti_program *p = &mapped->programs[i];

		if (p->key == key && (p->members > 0 || p->image.is_read))
			return i;
		if (p->members == 0 && !p->image.is_read)
			found = i;
		if (p->members == 0 &&
		    (oldest == mapped->count || p->used < mapped->programs[oldest].used))
			oldest = i;
	}
	return found == mapped->count && mapped->count >= PROGRAMS_MAX ? oldest : found;
}

int rti_program_find(const struct rti_mapped *mapped, uint64_t key)
{
	size_t i = find_entry(mapped, key);

	return i < mapped->count && mapped->programs[i].key == key &&
	               mapped->programs[i].members > 0
	           ? (int)i
	           : -1;
}

int rti_program_enter(struct rti_mapped *mapped, uint64_t key)
{
	size_t i = find_entry(mapped, key);
	struct rti_program *programs;

	if (i == mapped->count) {
		programs =
		    rti_array_grow(mapped->programs, &mapped->capacity, i + 1, sizeof(*programs));
		if (!programs)
			return -ENOMEM;
		mapped->programs = programs;
		mapped->count = i + 1;
		programs[i] = (struct rti_program){ .key = key };
	}
	if (mapped->programs[i].key != key) {
		rti_image_free(&mapped->programs[i].image);
		mapped->programs[i] = (struct rti_program){ .key = key };
	}
	mapped->programs[i].members++;
	return (int)i;
}

void rti_program_enter_again(struct rti_mapped *mapped, int index)
{
	if (index >= 0)
		mapped->programs[index].members++;
}

void rti_program_leave(struct rti_mapped *mapped, int index, int32_t pid)
{
	if (index < 0)
		return;
	mapped->programs[index].members--;
	if (mapped->programs[index].image.pid == pid)
		mapped->programs[index].image.pid = 0;
}

/* --- Images. --- */

/* Returns the slot of a key, or the free one that it would get. */
static uint32_t *find_slot(const struct rti_mapped *mapped, uint64_t key)
{
	size_t mask = mapped->slot_count - 1, i = (size_t)(key ^ key >> 32) & mask;

	while (mapped->slots[i] && mapped->ranges[mapped->slots[i] - 1].key != key)
		i = (i + 1) & mask;
	return &mapped->slots[i];
}

/* Make room for one range more: half of the slots stay free. Returns 0 or -ENOMEM. */
static int reserve_range(struct rti_mapped *mapped)
{
	struct rti_mapped_range *ranges = rti_array_grow(mapped->ranges, &mapped->range_capacity,
	                                                 mapped->range_count + 1, sizeof(*ranges));
	uint32_t *slots;

	if (!ranges)
		return -ENOMEM;
	mapped->ranges = ranges;
	if (mapped->range_count * 2 < mapped->slot_count)
		return 0;
	slots = calloc(mapped->slot_count ? mapped->slot_count * 2 : SLOTS_MIN, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(mapped->slots);
	mapped->slots = slots;
	mapped->slot_count = mapped->slot_count ? mapped->slot_count * 2 : SLOTS_MIN;
	for (size_t i = 0; i < mapped->range_count; i++)
		*find_slot(mapped, ranges[i].key) = (uint32_t)i + 1;
	return 0;
}

void rti_image_begin(struct rti_mapped *mapped, struct rti_image *image)
{
	mapped->sums++;
	image->count = 0;
	image->is_read = false;
}

int rti_image_add(struct rti_mapped *mapped, struct rti_image *image, uint64_t key,
                  enum rti_mapped_kind kind, const struct rti_image_part *part)
{
	struct rti_image_part *parts;
	struct rti_mapped_range *range;
	uint32_t *slot;

	if (part->pages == 0)
		return 0;
	if (mapped->range_count >= RANGES_MAX)
		return -ENOSPC;
	if (reserve_range(mapped) < 0)
		return -ENOMEM;
	slot = find_slot(mapped, key);
	if (!*slot) {
		*slot = (uint32_t)++mapped->range_count;
		mapped->ranges[*slot - 1] = (struct rti_mapped_range){ .key = key, .kind = kind };
	}
	range = &mapped->ranges[*slot - 1];
	if (range->sum == mapped->sums) {
		struct rti_image_part *same = &image->parts[range->part];

		same->pages = (uint32_t)rti_max(same->pages, part->pages);
		same->size_pages = (uint32_t)rti_max(same->size_pages, part->size_pages);
		same->pss_pages += part->pss_pages;
		return 0;
	}
	parts = rti_array_grow(image->parts, &image->capacity, image->count + 1, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	image->parts = parts;
	range->sum = mapped->sums;
	range->part = (uint32_t)image->count;
	parts[image->count] = *part;
	parts[image->count++].range = *slot - 1;
	return 0;
}

void rti_image_end(const struct rti_mapped *mapped, struct rti_image *image,
                   const struct rti_mapped_look *look, uint64_t named_shmem_pages, uint64_t now_ns)
{
	for (size_t i = 0; i < RTI_MAPPED_KINDS; i++)
		image->pages[i] = 0;
	for (size_t i = 0; i < image->count; i++)
		image->pages[mapped->ranges[image->parts[i].range].kind] += image->parts[i].pages;
	image->pid = look->pid;
	image->read_ns = now_ns;
	image->shared_pages = look->shared_pages;
	image->shmem_pages = look->shmem_pages;
	image->unnamed_pages = rti_subtract_saturated(look->shmem_pages, named_shmem_pages);
	image->sharers = 1;
	image->is_read = true;
}

void rti_mapped_forget(struct rti_mapped *mapped)
{
	for (size_t i = 0; i < mapped->count; i++)
		rti_image_free(&mapped->programs[i].image);
	free(mapped->ranges);
	free(mapped->slots);
	mapped->ranges = NULL;
	mapped->slots = NULL;
	mapped->range_count = mapped->range_capacity = mapped->slot_count = 0;
}

static bool has_grown(uint64_t pages, uint64_t now_pages, unsigned part)
{
	return now_pages > pages + pages / part + STALE_PAGES;
}

bool rti_image_would_do(uint64_t shared_pages, uint64_t most_pages)
{
	return !has_grown(shared_pages, most_pages, STALE_PART);
}

bool rti_image_is_stale(struct rti_image *image, uint64_t shared_pages, uint64_t now_ns,
                        bool *is_growing)
{
	bool has_moved = shared_pages > image->seen_pages && now_ns - image->read_ns < STALE_NS;

	image->seen_pages = shared_pages;
	*is_growing = false;
	if (!image->is_read || has_grown(image->shared_pages, shared_pages, STALE_PART_GROWING))
		return true;
	*is_growing = has_moved && has_grown(image->shared_pages, shared_pages, STALE_PART);
	return !has_moved && has_grown(image->shared_pages, shared_pages, STALE_PART);
}

/* --- The sum. --- */

void rti_mapped_open(struct rti_mapped *mapped)
{
	mapped->sums++;
	mapped->sum = (struct rti_mapped_sum){ 0 };
	mapped->released = mapped->unnamed_pages = 0;
	for (size_t i = 0; i < mapped->count; i++) {
		struct rti_program *p = &mapped->programs[i];

		p->largest = p->reader = p->unread = p->read = (struct rti_mapped_look){ 0 };
		p->alike = 0;
	}
}

/* image: what the process itself had mapped; NULL: it was not read. */
static void add_high(struct rti_mapped *mapped, const struct rti_image *image,
                     const struct rti_mapped_look *look)
{
	uint64_t *high = mapped->sum.high, grown, shmem = look->shmem_pages;

	if (!image) {
		high[RTI_MAPPED_SHMEM] += shmem;
		high[RTI_MAPPED_FILE] += rti_subtract_saturated(look->shared_pages, shmem);
		high[RTI_MAPPED_HUGETLB] += look->hugetlb_pages;
		return;
	}
	grown = rti_subtract_saturated(look->shared_pages, image->shared_pages);
	shmem = image->pages[RTI_MAPPED_SHMEM] + image->unnamed_pages +
	        rti_subtract_saturated(shmem, image->shmem_pages);
	high[RTI_MAPPED_SHMEM] += rti_min(shmem, look->shared_pages);
	grown += rti_subtract_saturated(image->pages[RTI_MAPPED_FILE], image->unnamed_pages);
	high[RTI_MAPPED_FILE] += rti_min(grown, look->shared_pages);
	high[RTI_MAPPED_HUGETLB] += image->pages[RTI_MAPPED_HUGETLB];
}

static void raise_to(struct rti_mapped_look *largest, const struct rti_mapped_look *look)
{
	uint64_t hugetlb_pages = rti_max(largest->hugetlb_pages, look->hugetlb_pages);

	if (largest->shared_pages <= look->shared_pages)
		*largest = *look;
	largest->hugetlb_pages = hugetlb_pages; /* they are in no RSS */
}

static void count_alike(struct rti_program *p, uint64_t shared_pages)
{
	uint64_t most = rti_max(p->largest.shared_pages, shared_pages);

	if (!rti_image_would_do(p->largest.shared_pages, most))
		p->alike = 0;
	p->alike += rti_image_would_do(shared_pages, most);
}

bool rti_program_has_multiplied(const struct rti_program *program)
{
	return program->image.is_read && program->alike >= 2 * program->image.sharers;
}

void rti_mapped_add(struct rti_mapped *mapped, int program, const struct rti_mapped_look *look,
                    bool is_large)
{
	struct rti_program *p;
	bool is_reader;

	if (program < 0)
		return;
	p = &mapped->programs[program];
	p->used = mapped->sums;
	is_reader = p->image.is_read && p->image.pid == look->pid;
	add_high(mapped, is_reader ? &p->image : NULL, look);
	if (!is_large)
		count_alike(p, look->shared_pages);
	raise_to(is_large ? &p->unread : &p->largest, look);
	if (is_reader)
		p->reader = *look;
}

/* The pages of a range that a process has for itself. In PSS, a page that all of them have counts
 * as one of so many: what is more is its own. */
static double own_pages(const struct rti_image_part *part, uint32_t sharers)
{
	double pages = (double)part->pages, pss = (double)part->pss_pages;

	return sharers > 1 && pss * sharers > pages ? (pss * sharers - pages) / (sharers - 1) : 0;
}

/* How an image is added. */
struct addition {
	const struct rti_image *image;
	double scale;                         /* to what is mapped now */
	uint32_t members;                     /* that it stands for */
	uint32_t sharers;                     /* members that may have the same */
	bool adds_pss;                        /* to that of other images */
	const struct rti_mapped_look *reader; /* the process that was read; NULL: it has ended */
};

static uint32_t round_pages(double pages)
{
	return pages < UINT32_MAX ? (uint32_t)(pages + 0.5) : UINT32_MAX;
}

static void begin_range(struct rti_mapped *mapped, struct rti_mapped_range *range,
                        const struct rti_image *image)
{
	if (range->sum != mapped->sums)
		*range = (struct rti_mapped_range){
			.key = range->key,
			.kind = range->kind,
			.sum = mapped->sums,
			.read_ns = image->read_ns,
		};
	range->is_apart |= range->read_ns != image->read_ns;
}

/* The pages that all have together: see the top of mapped.h. */
static uint32_t pages_of(const struct rti_mapped_range *range)
{
	double pss = range->pss_pages,
	       least = (double)range->largest_pages + range->own_pages - range->largest_own_pages;

	if (range->is_apart && least < pss)
		pss = (pss + least) / 2;
	return (uint32_t)rti_min(rti_max(round_pages(pss), range->largest_pages),
	                         range->size_pages);
}

/* PSS says nothing of what a process has mapped since it was read, so that is not added up.
 *
 * Programs map the same libraries, and were read at different times, which need not be in common:
 * only what images of members have by PSS adds up over programs. */
static void add_part(struct rti_mapped *mapped, const struct addition *a,
                     const struct rti_image_part *part)
{
	struct rti_mapped_range *range = &mapped->ranges[part->range];
	double scale = range->kind == RTI_MAPPED_HUGETLB ? 1 : a->scale,
	       least_scale = scale < 1 ? scale : 1,
	       own = own_pages(part, a->image->sharers) * least_scale,
	       shared =
		   ((double)part->pss_pages * least_scale - own) * a->image->sharers / a->sharers,
	       pss = (own + shared) * a->members;
	uint32_t pages = round_pages((double)part->pages * scale),
		 low_pages = a->reader ? part->pages : 0, before;

	begin_range(mapped, range, a->image);
	if (a->adds_pss) {
		range->pss_pages += pss;
		range->own_pages += own * a->members;
	} else {
		pages = (uint32_t)rti_max(pages, round_pages(pss));
	}
	range->size_pages = (uint32_t)rti_max(range->size_pages, part->size_pages);
	if (pages > range->largest_pages) {
		range->largest_pages = pages;
		range->largest_own_pages = a->adds_pss ? own : 0;
	}
	before = range->pages;
	range->pages = pages_of(range);
	mapped->sum.pages[range->kind] += range->pages - before;
	if (low_pages > range->low_pages) {
		mapped->sum.low[range->kind] += low_pages - range->low_pages;
		range->low_pages = low_pages;
	}
}

/* A process that maps more or less than its image says has as much more or less of each range. */
static void add_parts(struct rti_mapped *mapped, struct addition a,
                      const struct rti_mapped_look *now)
{
	const struct rti_image *image = a.image;

	a.scale = image->shared_pages ? (double)now->shared_pages / (double)image->shared_pages : 1;
	for (size_t i = 0; i < image->count; i++)
		add_part(mapped, &a, &image->parts[i]);
	mapped->unnamed_pages = rti_max(mapped->unnamed_pages, image->unnamed_pages);
	if (a.reader)
		mapped->released +=
		    rti_subtract_saturated(image->shared_pages, a.reader->shared_pages);
}

void rti_mapped_add_image(struct rti_mapped *mapped, int program, const struct rti_image *image,
                          const struct rti_mapped_look *look)
{
	uint32_t sharers = program >= 0 ? mapped->programs[program].members : image->sharers;

	add_high(mapped, image, look);
	add_parts(mapped,
	          (struct addition){ .image = image,
	                             .members = 1,
	                             .sharers = sharers,
	                             .adds_pss = true,
	                             .reader = look },
	          look);
	if (program >= 0)
		raise_to(&mapped->programs[program].read, look);
}

static void add_program(struct rti_mapped *mapped, const struct rti_program *p)
{
	struct addition a = {
		.image = &p->image,
		.members = p->alike,
		.sharers = p->alike,
		.adds_pss = p->read.shared_pages > 0,
		.reader = p->reader.pid ? &p->reader : NULL,
	};

	if (p->largest.shared_pages > 0 && p->image.is_read)
		add_parts(mapped, a, &p->largest);
}

/* What a member maps that needs an image of its own and has none yet: it is taken to be what others
 * of its program map, and more only as far as it is more. */
static void add_large(const struct rti_program *p, struct rti_mapped_sum *out)
{
	const struct rti_mapped_look *known =
	    p->read.shared_pages > p->largest.shared_pages ? &p->read : &p->largest;
	uint64_t more = rti_subtract_saturated(p->unread.shared_pages, known->shared_pages),
		 shmem = rti_subtract_saturated(p->unread.shmem_pages, known->shmem_pages);

	shmem = rti_min(shmem, more);
	out->pages[RTI_MAPPED_SHMEM] += shmem;
	out->pages[RTI_MAPPED_FILE] += more - shmem;
	out->pages[RTI_MAPPED_HUGETLB] +=
	    rti_subtract_saturated(p->unread.hugetlb_pages, p->read.hugetlb_pages);
	out->unread_shmem += shmem;
}

/* What programs without an image map: see the top of mapped.h. Those with one share with them what
 * all map alike, too. */
static void add_unread(const struct rti_mapped *mapped, struct rti_mapped_sum *out)
{
	uint64_t smallest = UINT64_MAX, common, unread = 0;
	bool has_read = false;

	for (size_t i = 0; i < mapped->count; i++) {
		const struct rti_program *p = &mapped->programs[i];

		if (p->largest.shared_pages == 0)
			continue;
		smallest = rti_min(smallest, p->largest.shared_pages);
		has_read |= p->image.is_read;
		unread += !p->image.is_read;
	}
	common = has_read || unread > 1 ? smallest : 0;
	for (size_t i = 0; i < mapped->count; i++) {
		const struct rti_mapped_look *m = &mapped->programs[i].largest;
		uint64_t shmem = rti_min(m->shmem_pages, m->shared_pages);

		if (m->shared_pages == 0 || mapped->programs[i].image.is_read)
			continue;
		out->pages[RTI_MAPPED_SHMEM] += shmem;
		out->unread_shmem += shmem;
		out->pages[RTI_MAPPED_FILE] +=
		    rti_subtract_saturated(m->shared_pages - shmem, common);
	}
	if (!has_read && common)
		out->pages[RTI_MAPPED_FILE] += common;
}

struct rti_mapped_sum rti_mapped_close(struct rti_mapped *mapped)
{
	struct rti_mapped_sum *sum = &mapped->sum;

	for (size_t i = 0; i < mapped->count; i++) {
		const struct rti_program *p = &mapped->programs[i];

		add_program(mapped, p);
		add_large(p, sum);
	}
	sum->low[RTI_MAPPED_FILE] =
	    rti_subtract_saturated(sum->low[RTI_MAPPED_FILE], mapped->released);
	sum->low[RTI_MAPPED_SHMEM] =
	    rti_subtract_saturated(sum->low[RTI_MAPPED_SHMEM], mapped->released);
	mapped->unnamed_pages = rti_min(mapped->unnamed_pages, sum->pages[RTI_MAPPED_FILE]);
	sum->pages[RTI_MAPPED_FILE] -= mapped->unnamed_pages;
	sum->pages[RTI_MAPPED_SHMEM] += mapped->unnamed_pages;
	add_unread(mapped, sum);
	return *sum;
}
