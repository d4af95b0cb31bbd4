/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target on stored inputs, without libFuzzer: replay OWN_CORPUS ALL_CORPORA.
 *
 * Each file of the corpus of the target is also tried cut after every byte, and with every byte
 * turned to NUL. All inputs are heap blocks of exactly their size, so that a sanitizer or valgrind
 * detects a read past the end. */
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST_INPUT 65536

static unsigned file_count;
static bool is_own; /* nftw() has no argument for its callback */

static void run_copy(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	require(copy != NULL);
	memcpy(copy, bytes, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

static void run_variants(uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		uint8_t saved = bytes[i];

		run_copy(bytes, i);
		bytes[i] = '\0';
		run_copy(bytes, len);
		bytes[i] = saved;
	}
}

static int replay_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	static uint8_t bytes[LARGEST_INPUT];
	ssize_t len;
	int fd;

	(void)ftw;
	if (type != FTW_F)
		return 0;
	require(st->st_size <= LARGEST_INPUT);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	require(fd >= 0);
	len = read(fd, bytes, sizeof(bytes));
	close(fd);
	require(len == st->st_size);
	printf("# %s\n", path); /* the last one is where it crashed */
	fflush(stdout);
	run_copy(bytes, (size_t)len);
	if (is_own)
		run_variants(bytes, (size_t)len);
	file_count++;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s OWN_CORPUS ALL_CORPORA\n", argv[0]);
		return EXIT_FAILURE;
	}
	is_own = true;
	if (nftw(argv[1], replay_file, 16, FTW_PHYS) != 0 || file_count == 0) {
		printf("Bail out! no input in %s\n", argv[1]);
		return EXIT_FAILURE;
	}
	is_own = false;
	if (nftw(argv[2], replay_file, 16, FTW_PHYS) != 0)
		return EXIT_FAILURE;
	printf("ok 1 - %u stored inputs\n1..1\n", file_count);
	return EXIT_SUCCESS;
}
