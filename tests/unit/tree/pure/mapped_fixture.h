/* SPDX-License-Identifier: MIT */
/* Programs and images of them, for the tests of what members map. */
#ifndef MAPPED_FIXTURE_H
#define MAPPED_FIXTURE_H

#include "suite.h"
#include "tree/pure/mapped.h"

/* Programs, by their keys. */
#define SHELL 11
#define COMPILER 22
#define LINKER 33

/* Ranges of files, by their keys. */
#define LIBC 100
#define DATA 200
#define BLOCK 300

extern struct rti_mapped mapped;

/* Begin and end a test. */
void mapped_set_up(void);
void mapped_tear_down(void);

/* A member runs the program. Returns the index of that. */
int enter(uint64_t key);

struct rti_mapped_look look_of(int32_t pid, uint64_t shared, uint64_t shmem);

/* Add a member without an image of its own to the sum. */
void add(int program, int32_t pid, uint64_t shared, uint64_t shmem);

/* Sum up two members of one program, and one of another, with the pids 1 to 3. */
struct rti_mapped_sum sum_up(int index, uint64_t first, uint64_t second, int other, uint64_t third);

void check_files(struct rti_mapped_sum sum, uint64_t low, uint64_t pages, uint64_t high);
void check_shmem(struct rti_mapped_sum sum, uint64_t low, uint64_t pages, uint64_t high);

struct range {
	uint64_t key;
	enum rti_mapped_kind kind;
	uint64_t pages, pss_pages;
};

/* Add a range to an image, of a file of any size. */
int add_range(struct rti_image *image, uint64_t key, enum rti_mapped_kind kind, uint64_t pages,
              uint64_t pss_pages);

/* Read an image of ranges up to one of 0 pages. look: what the files of the process show. */
void read_image(struct rti_image *image, const struct rti_mapped_look *look,
                const struct range *ranges);

/* Read the image of a program, by a process that maps so many pages of libc, and of a file that no
 * other program maps. */
void read_program(int program, int32_t pid, uint64_t libc, uint64_t data);

#endif
