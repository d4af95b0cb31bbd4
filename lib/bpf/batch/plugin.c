/* SPDX-License-Identifier: MIT */
/* The plug-in: loads the BPF program into the kernel and runs it.
 *
 * It links only libc, like the library: the code that bpftool generates makes its system calls
 * itself. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/batch/batch.h"
#include "bpf/program.h"
#include "batch.skel.h"

extern const struct rti_batch_ops rti_bpf_batch __attribute__((visibility("default")));

/* Invariant: only the process owner may run the program: see rti_batch_ops.read. */
struct reader {
	struct rti_bpf *program;
	pid_t owner;
};

/* Returns true if CPUs 0 to count - 1 are possible and no others. For an impossible CPU, the offset
 * that the program found would lead anywhere. */
static bool has_all_cpus(uint32_t count)
{
	FILE *file = fopen("/sys/devices/system/cpu/possible", "re");
	unsigned first = 1, last = 0;
	int numbers;

	if (!file)
		return false;
	numbers = fscanf(file, "%u-%u", &first, &last);
	if (numbers == 1)
		last = first;
	if (fgetc(file) != '\n')
		numbers = 0;
	fclose(file);
	return numbers >= 1 && first == 0 && last + 1 == count;
}

static void close_reader(void *state)
{
	struct reader *reader = state;

	rti_bpf__destroy(reader->program);
	free(reader);
}

static int begin(void *state, const void *unused)
{
	struct reader *reader = state;
	struct rti_bpf__bss *shared;
	int loads = 0, err;

	(void)unused;
	reader->owner = getpid();
	do {
		rti_bpf__destroy(reader->program);
		reader->program = rti_bpf__open();
		err = reader->program ? rti_bpf__load(reader->program) : -ENOMEM;
	} while (rti_program_is_interrupted(err, ++loads));
	if (err < 0)
		return err;
	shared = reader->program->bss;
	err = shared ? rti_program_run(reader->program->progs.set_up.prog_fd) : -ENOMEM;
	if (err == 0 && (shared->cpus > RTI_BATCH_CPUS || !has_all_cpus(shared->cpus)))
		shared->cpus = 0;
	return err;
}

static int open_reader(void **out)
{
	return rti_program_open(out, sizeof(struct reader), begin, NULL, close_reader);
}

/* Of a row with an error or RTI_BATCH_IDLE, copy the start only. Most are, if few processes ran. */
static void copy_rows(struct rti_batch_row *to, const struct rti_batch_row *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (from[i].error || from[i].has & RTI_BATCH_IDLE)
			memcpy(&to[i], &from[i], offsetof(struct rti_batch_row, user_part_ns));
		else
			to[i] = from[i];
	}
}

static int read_rows(void *state, const struct rti_batch_request *requests, size_t count,
                     struct rti_batch_row *rows)
{
	const struct reader *reader = state;
	struct rti_bpf__bss *shared = reader->program->bss;
	int err = getpid() == reader->owner ? 0 : -ESTALE;

	while (err == 0 && count > 0) {
		size_t batch = count < RTI_BATCH_PIDS ? count : RTI_BATCH_PIDS;

		memcpy(shared->requests, requests, batch * sizeof(*requests));
		shared->count = (uint32_t)batch;
		err = rti_program_run(reader->program->progs.read_batch.prog_fd);
		if (err == 0)
			copy_rows(rows, shared->rows, batch);
		requests += batch;
		rows += batch;
		count -= batch;
	}
	return err;
}

const struct rti_batch_ops rti_bpf_batch = {
	.version = RTI_BATCH_PLUGIN,
	.row_size = sizeof(struct rti_batch_row),
	.open = open_reader,
	.read = read_rows,
	.close = close_reader,
};
