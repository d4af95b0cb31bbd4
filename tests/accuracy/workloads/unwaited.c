/* SPDX-License-Identifier: MIT */
/* unwaited COUNT MIB MS WRITTEN_MIB HOW: children, one after another, of which no account is kept.
 * Each writes to a file and reads it, past the page cache, and holds memory for a while. HOW no
 * process waits for it:
 *   ignored     its parent ignores SIGCHLD
 *   namespace   it is killed with its pid namespace, of which the first process exits */
#include "direct_io.h"
#include "memory.h"
#include "work.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel may have dropped pages of programs and libraries that were not used lately. To read
 * them again counts, too. It is less than what one child reads. */
#define PROGRAMS_BYTES (4 * MIB)

static int fd, hold_ms, written_mib;
static uint64_t size;
static int done[2];

/* The largest child, as its own page tables have it. In memory that all processes share. */
static uint64_t *largest;

static void use_and_hold(int ms)
{
	uint64_t resident;

	write_directly(fd, written_mib);
	read_directly(fd, written_mib);
	fill_memory(size);
	resident = read_resident_bytes();
	if (resident > *largest)
		*largest = resident;
	sleep_ms(ms);
	if (write(done[1], "", 1) != 1)
		_exit(1);
}

static void use_and_hang(int ms)
{
	use_and_hold(ms);
	pause();
}

static void await_done(void)
{
	char byte;

	if (read(done[0], &byte, 1) != 1)
		skip_with_errno("read");
}

static void run_namespace(void)
{
	pid_t first = start_namespace();

	if (first == 0) {
		start_child(use_and_hang, hold_ms);
		await_done();
		_exit(0);
	}
	wait_for(first);
}

static void run_ignored(void)
{
	start_child(use_and_hold, hold_ms);
	await_done();
	while (wait(NULL) >= 0) /* returns when the kernel has reaped it */
		;
}

int main(int argc, char **argv)
{
	int count = get_number(argc, argv, 1, 4);
	bool is_namespace = argc > 5 && strcmp(argv[5], "namespace") == 0;
	uint64_t base = read_resident_bytes(), written;

	size = (uint64_t)get_number(argc, argv, 2, 60) * MIB;
	hold_ms = get_number(argc, argv, 3, 150);
	written_mib = get_number(argc, argv, 4, 8);
	largest =
	    mmap(NULL, sizeof(*largest), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fd = open_direct_file();
	if (largest == MAP_FAILED || pipe(done) < 0)
		skip_with_errno("pipe");
	if (!is_namespace)
		signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < count; i++)
		is_namespace ? run_namespace() : run_ignored();
	close_direct_file(fd, count * written_mib);
	written = (uint64_t)count * (uint64_t)written_mib * MIB;
	report_value("write_bytes", written);
	report_range("read_bytes", written, written + PROGRAMS_BYTES);
	report_own_peak(size, *largest);
	report_range("peak_footprint_bytes", size, *largest + base + 3 * PROCESS_SLACK_BYTES);
	return 0;
}
