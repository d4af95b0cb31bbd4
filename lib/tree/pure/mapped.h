/* SPDX-License-Identifier: MIT */
/* What the members of a tree map of files, of shared memory and of huge pages: each page once. Pure
 * arithmetic.
 *
 * Processes of one program map mostly the same pages: its code and its libraries. So one of them is
 * read for all: its image says how much it has of each range of a file. A process that maps much,
 * which is mostly data, gets an image of its own. As a program maps more than its image says, the
 * image grows with it, until it is read again.
 *
 * A range that several processes have counts by the one that has most of it, or by the sum of PSS
 * if that is larger: each may have touched another part. PSS divides a page by all that map it, so
 * a sum of it over processes that were read at one time has no page twice. If
 * they were not, others may have touched since what one had for itself: the truth lies between the
 * sum and what each had for itself, beside all of the one that has most.
 * E.g.: eight processes each read another 8 MiB of a file: 64 MiB. All read the same: 8 MiB.
 *
 * A program that was not read counts by the member that maps most, less what all programs map
 * alike, such as libc: the one that maps least stands for that.
 * E.g.: two shells that map 3 MiB and a compiler of 9 MiB, none of them read: 3 + 9 - 3 MiB. */
#ifndef RTI_MAPPED_H
#define RTI_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rti_mapped_kind { RTI_MAPPED_FILE, RTI_MAPPED_SHMEM, RTI_MAPPED_HUGETLB, RTI_MAPPED_KINDS };

/* What one process had mapped when it was read. Written by mapped.c only, but for alike. */
struct rti_image {
	struct rti_image_part {
		uint32_t range;             /* index in rti_mapped.ranges */
		uint32_t pages, size_pages; /* size: of the range */
		float pss_pages;
	} * parts;
	size_t count, capacity;
	/* Members of the program that may have had the same ranges then: rti_program.alike, or
	 * members of one member's own image. */
	uint32_t sharers;
	/* RSS of files and shared memory then, and the part of it that is no file. */
	uint64_t shared_pages, shmem_pages;
	uint64_t unnamed_pages;           /* of shmem_pages: in ranges that count as files */
	uint64_t pages[RTI_MAPPED_KINDS]; /* each page once */
	uint64_t read_ns;                 /* CLOCK_MONOTONIC */
	uint64_t seen_pages;              /* shared_pages when it was last asked if it is stale */
	int32_t pid;                      /* of that process while it is a member; else 0 */
	bool is_read;
};

/* What a member has mapped now. */
struct rti_mapped_look {
	int32_t pid;
	uint64_t shared_pages, shmem_pages; /* as in the image */
	uint64_t hugetlb_pages;
	uint64_t rss_pages;
};

struct rti_program {
	uint64_t key;     /* names its file */
	uint32_t members; /* that run it; an entry without any may be given to another program */
	uint64_t used;    /* the sum that it was last in */
	struct rti_image image;
	/* Of the current sum, over members without an image of their own: the one that maps most,
	 * and the one that was read. */
	struct rti_mapped_look largest, reader;
	uint32_t alike; /* of those, how many map about as much as the largest */
	/* Of those that need an image of their own: the most that one without any maps, and the
	 * same of those that have one. */
	struct rti_mapped_look unread, read;
};

/* Written by mapped.c only. */
struct rti_mapped {
	struct rti_program *programs;
	size_t count, capacity;
	/* The ranges that some image has, and a hash table of their indexes plus 1. */
	struct rti_mapped_range {
		uint64_t key;
		uint64_t sum; /* the sum that the next ones belong to */
		uint32_t pages, largest_pages, low_pages, size_pages;
		/* Of the members that images stand for: PSS, and the part of it that is each one's
		 * own; the same of the one that has most. */
		double pss_pages, own_pages, largest_own_pages;
		uint64_t read_ns; /* of one of the images */
		bool is_apart;    /* they were read at different times */
		uint32_t part;    /* of the image that is being read */
		enum rti_mapped_kind kind;
	} * ranges;
	size_t range_count, range_capacity;
	uint32_t *slots;
	size_t slot_count; /* a power of two */
	uint64_t sums;     /* number of the current sum, or of the image that is being read */
	struct rti_mapped_sum {
		uint64_t pages[RTI_MAPPED_KINDS], low[RTI_MAPPED_KINDS], high[RTI_MAPPED_KINDS];
		uint64_t unread_shmem; /* of pages: no read has shown that it is mapped once */
	} sum;
	uint64_t released;      /* by processes since they were read */
	uint64_t unnamed_pages; /* most of one process */
};

void rti_mapped_free(struct rti_mapped *mapped);
void rti_image_free(struct rti_image *image);

/* A member runs the program with this key. Returns the index of its entry, or -ENOMEM. */
int rti_program_enter(struct rti_mapped *mapped, uint64_t key);
/* Returns the index of the entry of a program that some member runs, or -1. */
int rti_program_find(const struct rti_mapped *mapped, uint64_t key);
/* The same as enter for a forked member. */
void rti_program_enter_again(struct rti_mapped *mapped, int index);
/* A member has ended, or runs another program. */
void rti_program_leave(struct rti_mapped *mapped, int index, int32_t pid);

/* Read an image anew: begin, add each range, of which part has the pages, end. Of what several
 * ranges of a process map of one file at one offset, the largest counts. Returns 0, -ENOMEM, or
 * -ENOSPC: there are too many ranges, so that all images have to be forgotten. */
void rti_image_begin(struct rti_mapped *mapped, struct rti_image *image);
int rti_image_add(struct rti_mapped *mapped, struct rti_image *image, uint64_t key,
                  enum rti_mapped_kind kind, const struct rti_image_part *part);
void rti_image_end(const struct rti_mapped *mapped, struct rti_image *image,
                   const struct rti_mapped_look *look, uint64_t named_shmem_pages, uint64_t now_ns);
/* Forget what was read of all programs. Images of members must be freed before. */
void rti_mapped_forget(struct rti_mapped *mapped);

/* Whether a process maps so much more than the image says that it is to be read again. While it
 * grows, that takes more: *is_growing says that it may be so once it stops. */
bool rti_image_is_stale(struct rti_image *image, uint64_t shared_pages, uint64_t now_ns,
                        bool *is_growing);

/* Whether an image of a process that maps so many pages would do for the one that maps most. */
bool rti_image_would_do(uint64_t shared_pages, uint64_t most_pages);

/* Whether twice as many members map as much as the one that was read than did then: what it shares
 * with them is to be read anew. */
bool rti_program_has_multiplied(const struct rti_program *program);

/* Sum up: open, add each member to its program or with an image of its own, close. is_large: a
 * member needs an image of its own, and has none yet. */
void rti_mapped_open(struct rti_mapped *mapped);
void rti_mapped_add(struct rti_mapped *mapped, int program, const struct rti_mapped_look *look,
                    bool is_large);
void rti_mapped_add_image(struct rti_mapped *mapped, int program, const struct rti_image *image,
                          const struct rti_mapped_look *look);
/* Returns the pages that all members map together. low: what members have that were read, less what
 * they have released since. high: as if no two of them mapped the same. Both hold. */
struct rti_mapped_sum rti_mapped_close(struct rti_mapped *mapped);

#endif
