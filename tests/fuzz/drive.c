/* SPDX-License-Identifier: MIT */
/* Runs a structured fuzz target without libFuzzer: drive CORPUS RUNS [SEED [FIRST]].
 *
 * First come the stored inputs, then RUNS inputs that are made of them: cut, joined, with changed
 * bytes, or all of chance. Each depends on the seed and its own number alone, so that a run shows
 * what the last one has shown, and `drive CORPUS 1 SEED NUMBER` repeats one input. The environment
 * variable RTRACK_INPUTS_PERCENT asks for a share of RUNS. All inputs are heap blocks of exactly
 * their size, so that a sanitizer or valgrind detects a read past the end. */
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUTS_MAX 64
#define LARGEST_INPUT 4096
#define LARGEST_CHANCE 512 /* of an input that is all of chance */
#define CHANGES_MAX 8

static struct {
	uint8_t bytes[LARGEST_INPUT];
	size_t len;
} inputs[INPUTS_MAX];
static size_t input_count;

static uint64_t seed = 1, number; /* of the current input */

/* SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators". */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t limit)
{
	return (size_t)(next(state) % limit);
}

/* Say which input it was, and die of the signal. */
static void report_signal(int signal_number)
{
	char text[96];
	int len =
	    snprintf(text, sizeof(text), "# signal %d at input %" PRIu64 " of seed %" PRIu64 "\n",
	             signal_number, number, seed);

	(void)!write(STDERR_FILENO, text, (size_t)len);
	raise(signal_number);
}

static void report_faults(void)
{
	static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM };
	struct sigaction action = { .sa_handler = report_signal,
		                    .sa_flags = (int)SA_RESETHAND | SA_NODEFER };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

static int keep_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	ssize_t len;
	int fd;

	(void)ftw;
	if (type != FTW_F)
		return 0;
	require(st->st_size <= LARGEST_INPUT && input_count < INPUTS_MAX);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	require(fd >= 0);
	len = read(fd, inputs[input_count].bytes, LARGEST_INPUT);
	close(fd);
	require(len == st->st_size);
	inputs[input_count++].len = (size_t)len;
	return 0;
}

static void run(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	require(copy != NULL);
	memcpy(copy, bytes, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

/* Fill with chance. */
static size_t make_any(uint64_t *state, uint8_t *out)
{
	size_t len = below(state, LARGEST_CHANCE);

	for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
		uint64_t word = next(state);

		memcpy(out + i, &word, sizeof(word));
	}
	return len;
}

/* The beginning of one stored input and the end of another. */
static size_t join_two(uint64_t *state, uint8_t *out)
{
	size_t a = below(state, input_count), b = below(state, input_count);
	size_t len = below(state, inputs[a].len + 1), from = below(state, inputs[b].len + 1);
	size_t rest = inputs[b].len - from;

	memcpy(out, inputs[a].bytes, len);
	rest = rest < LARGEST_INPUT - len ? rest : LARGEST_INPUT - len;
	memcpy(out + len, inputs[b].bytes + from, rest);
	return len + rest;
}

static size_t make_input(uint64_t *state, uint8_t *out)
{
	static const uint8_t edges[] = { 0, 1, 0x7f, 0x80, 0xff, 96, 102, 103 };
	size_t len = below(state, 4) ? join_two(state, out) : make_any(state, out);
	size_t changes = len ? below(state, CHANGES_MAX) : 0;

	for (size_t i = 0; i < changes; i++)
		out[below(state, len)] =
		    below(state, 2) ? (uint8_t)next(state) : edges[below(state, sizeof(edges))];
	return len;
}

static void run_made_inputs(uint64_t first, uint64_t runs)
{
	static uint8_t bytes[LARGEST_INPUT + sizeof(uint64_t)];

	for (number = first; number < first + runs; number++) {
		uint64_t state = seed * UINT64_C(0xD1342543DE82EF95) + number;
		size_t len = make_input(&state, bytes);

		run(bytes, len);
	}
}

int main(int argc, char **argv)
{
	const char *percent = getenv("RTRACK_INPUTS_PERCENT");
	uint64_t runs, first = 0;

	if (argc < 3 || argc > 5) {
		fprintf(stderr, "usage: %s CORPUS RUNS [SEED [FIRST]]\n", argv[0]);
		return EXIT_FAILURE;
	}
	runs = strtoull(argv[2], NULL, 10);
	if (percent)
		runs = runs * strtoull(percent, NULL, 10) / 100;
	if (argc > 3)
		seed = strtoull(argv[3], NULL, 10);
	if (argc > 4)
		first = strtoull(argv[4], NULL, 10);
	report_faults();
	if (nftw(argv[1], keep_file, 16, FTW_PHYS) != 0 || input_count == 0) {
		printf("Bail out! no input in %s\n", argv[1]);
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < input_count; i++)
		run(inputs[i].bytes, inputs[i].len);
	run_made_inputs(first, runs);
	printf("ok 1 - %zu stored inputs and %" PRIu64 " of seed %" PRIu64 "\n1..1\n", input_count,
	       runs, seed);
	return EXIT_SUCCESS;
}
