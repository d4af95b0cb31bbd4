/* SPDX-License-Identifier: MIT */
/* The plug-in's part that accounts for a process tree: loads the programs, and reads their totals
 * and records. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/account/account.h"
#include "bpf/program.h"
#include "bpf/ring.h"

#include "account.skel.h"

/* Processes with threads that the kernel has not freed. With more of them, some have no row. */
#define ROWS 8192u
#define RING_BYTES 4194304u
#define RING_BYTES_EVENTS 65536u /* two for each of 2000 processes between two looks */
#define RING_BYTES_UNUSED 4096u
#define SLOTS_MAX 256u

/* Sums until no thread is freed while they are made. */
#define SUMS_MAX 100

/* Walks over all threads until none was adopted during two in a row. */
#define ADOPTIONS_MAX 100

extern const struct rti_account_ops rti_bpf_account __attribute__((visibility("default")));

/* Invariant: only the process owner may run the programs: it shares their memory with no other. */
struct account {
	struct rti_account_bpf *programs;
	struct rti_ring ring;
	pid_t owner;
	int64_t boottime_offset_ns; /* what the caller's clock is ahead of the kernel's */
};

static uint32_t or_else(uint32_t value, uint32_t usual)
{
	return value ? value : usual;
}

static int load_once(struct account *a, const struct rti_account_request *request)
{
	uint32_t usual_bytes = request->wants_records ? RING_BYTES
	                       : request->root        ? RING_BYTES_EVENTS
	                                              : RING_BYTES_UNUSED;
	uint32_t ring_bytes = or_else(request->ring_bytes, usual_bytes), slots = 1;
	struct rti_account_bpf *programs = rti_account_bpf__open();
	int err;

	if (!programs)
		return -ENOMEM;
	/* One for each CPU. */
	while (request->wants_records && slots < SLOTS_MAX &&
	       (long)slots < sysconf(_SC_NPROCESSORS_CONF))
		slots *= 2;
	a->programs = programs;
	programs->rodata->settings = (struct rti_account_settings){
		.rows = or_else(request->rows, ROWS),
		.wants_records = request->wants_records,
		.lacks_storage = request->lacks_storage,
		.misses_frees = request->misses_frees,
		.text_slots = slots,
		.text_bytes = ring_bytes / 2,
		.root = request->root,
	};
	programs->maps.rows.max_entries = programs->rodata->settings.rows;
	programs->maps.limbos.max_entries = programs->rodata->settings.rows;
	programs->maps.text_slots.max_entries = slots;
	programs->maps.ring.max_entries = ring_bytes;
	err = rti_account_bpf__load(programs);
	if (err == 0 && !programs->bss)
		err = -ENOMEM;
	if (err == 0)
		err = rti_ring_open(&a->ring, programs->maps.ring.map_fd, ring_bytes);
	return err;
}

static int set_up(struct account *a)
{
	uint64_t before_ns = rti_program_clock_ns(CLOCK_BOOTTIME);
	int err = rti_program_run(a->programs->progs.set_up.prog_fd);

	a->boottime_offset_ns = rti_program_clock_offset_ns(
	    before_ns, a->programs->bss->shared.began_ns, rti_program_clock_ns(CLOCK_BOOTTIME));
	return err;
}

/* The fork hook comes last: a thread that is counted in must be counted out. Before Linux 6.10,
 * there is no on_prepare_exec, and some peaks are not known. */
static int attach(struct rti_account_bpf *programs, bool lacks_prepare_exec)
{
	bool is_attached =
	    rti_account_bpf__on_free__attach(programs) >= 0 &&
	    (lacks_prepare_exec || rti_account_bpf__on_prepare_exec__attach(programs) >= 0 ||
	     errno == ENOENT) &&
	    rti_account_bpf__on_exit__attach(programs) >= 0 &&
	    rti_account_bpf__on_exec__attach(programs) >= 0 &&
	    rti_account_bpf__on_fork__attach(programs) >= 0 &&
	    rti_account_bpf__walk__attach(programs) >= 0 &&
	    rti_account_bpf__adopt_all__attach(programs) >= 0;

	return is_attached ? 0 : -errno;
}

/* What a thread forks after it was adopted is marked at the fork. What it has forked before, the
 * next walk finds. Returns 0; -ESRCH if there is no such root; -EBUSY if each walk finds more; or
 * another -errno. */
static int adopt(struct account *a)
{
	struct rti_account_shared *shared = &a->programs->bss->shared;
	int idle_walks = 0, err = 0;

	__atomic_store_n(&shared->is_adopting, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; err == 0 && i < ADOPTIONS_MAX && idle_walks < 2; i++) {
		uint32_t adopted = shared->adopted;

		err = rti_program_iterate(a->programs->links.adopt_all_fd);
		idle_walks = shared->adopted == adopted ? idle_walks + 1 : 0;
	}
	__atomic_store_n(&shared->is_adopting, 0, __ATOMIC_SEQ_CST);
	if (err == 0 && idle_walks < 2)
		err = -EBUSY;
	return err == 0 && shared->adopted == 0 ? -ESRCH : err;
}

/* A forked child may do so, too: nothing that it shares with its parent is changed. */
static void close_account(void *state)
{
	struct account *a = state;

	rti_ring_close(&a->ring);
	if (a->programs)
		rti_account_bpf__destroy(a->programs);
	free(a);
}

static int begin(void *state, const void *request_of)
{
	const struct rti_account_request *request = request_of;
	struct account *a = state;
	int loads = 0, err;

	a->owner = getpid();
	do {
		rti_account_bpf__destroy(a->programs);
		a->programs = NULL;
		err = load_once(a, request);
	} while (rti_program_is_interrupted(err, ++loads));
	if (err == 0)
		err = set_up(a);
	if (err == 0)
		err = attach(a->programs, request->lacks_prepare_exec);
	return rti_program_error(err);
}

static int open_account(void **out, const struct rti_account_request *request)
{
	void *state;
	int err = rti_program_open(&state, sizeof(struct account), begin, request, close_account);

	if (err < 0)
		return err;
	if (request->root)
		err = adopt(state);
	if (err < 0)
		close_account(state);
	else
		*out = state;
	return rti_program_error(err);
}

static int arm(void *state, bool is_armed)
{
	struct account *a = state;

	if (getpid() != a->owner)
		return -ESTALE;
	if (is_armed)
		return rti_program_run(a->programs->progs.arm.prog_fd);
	__atomic_store_n(&a->programs->bss->shared.armed, 0, __ATOMIC_SEQ_CST);
	return 0;
}

static uint64_t read_counter(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

/* Sum up until no thread is freed meanwhile, so that the sum is right. Returns 0, -EAGAIN or
 * another -errno. */
static int sum_dead(struct account *a)
{
	const struct rti_account_shared *shared = &a->programs->bss->shared;
	int program = a->programs->progs.sum_up.prog_fd;
	uint64_t freed = UINT64_MAX;
	int err = 0;

	for (int i = 0; err == 0 && i < SUMS_MAX; i++) {
		err = rti_program_run(program);
		if (err == 0 && shared->freed == freed)
			return 0;
		freed = shared->freed;
	}
	return err < 0 ? err : -EAGAIN;
}

static void copy_counters(const struct rti_account_shared *shared, struct rti_account_totals *out)
{
	out->running = read_counter(&shared->running);
	out->begun = read_counter(&shared->begun);
	out->processes = read_counter(&shared->processes);
	out->alive_peak = read_counter(&shared->alive_peak);
	out->peak_pages = read_counter(&shared->peak_pages);
	out->unmarked = read_counter(&shared->unmarked);
	out->rowless = read_counter(&shared->rowless);
	out->ended_early = read_counter(&shared->ended_early);
	if (read_counter(&shared->hidden_pages) > out->peak_pages)
		out->peakless = read_counter(&shared->peakless);
	out->lost = read_counter(&shared->lost);
	out->spared = read_counter(&shared->spared);
	out->has_io = shared->has_io;
}

/* A thread that is freed between the sums could be in both: then `freed` has moved. One that is
 * leaving its CPU is in neither: then the numbers do not match. */
static int sum_both(struct account *a, struct rti_account_totals *out)
{
	const struct rti_account_shared *shared = &a->programs->bss->shared;
	uint64_t begun = read_counter(&shared->begun), freed;
	bool is_torn;
	int err = sum_dead(a);

	freed = shared->freed;
	if (err == 0)
		err = rti_program_run(a->programs->progs.search.prog_fd);
	if (err == 0 && read_counter(&shared->running))
		err = rti_program_iterate(a->programs->links.walk_fd);
	if (err == 0)
		err = sum_dead(a);
	if (err < 0)
		return err;
	out->use = shared->dead;
	rti_account_add_use(&out->use, &shared->unfreed);
	rti_account_add_use(&out->use, &shared->past);
	out->found = shared->found;
	out->missed = shared->missed;
	is_torn = shared->freed != freed || read_counter(&shared->begun) != begun;
	out->is_whole = !is_torn && freed + shared->found == begun;
	out->has_all = !is_torn && freed + shared->found + shared->leaving == begun;
	return 0;
}

static int read_totals(void *state, struct rti_account_totals *out)
{
	struct account *a = state;
	struct rti_account_totals totals = { 0 };
	int err = getpid() == a->owner ? sum_both(a, &totals) : -ESTALE;

	if (err < 0 && err != -EAGAIN)
		return err;
	totals.freed = a->programs->bss->shared.freed;
	copy_counters(&a->programs->bss->shared, &totals);
	*out = totals;
	return 0;
}

static void take_next(const struct account *a, const void *next,
                      const struct rti_account_taker *taker)
{
	struct rti_account_record record;

	switch (*(const uint32_t *)next) {
	case RTI_ACCOUNT_TEXT:
		taker->on_text(taker->arg, next);
		break;
	case RTI_ACCOUNT_PROCESS:
		record = *(const struct rti_account_record *)next;
		record.start_ns += (uint64_t)a->boottime_offset_ns;
		if (record.end_ns)
			record.end_ns += (uint64_t)a->boottime_offset_ns;
		taker->on_record(taker->arg, &record);
		break;
	default:
		taker->on_event(taker->arg, next);
		break;
	}
}

static int take_all(void *state, const struct rti_account_taker *taker)
{
	struct account *a = state;
	const void *next;
	uint64_t mark;

	if (getpid() != a->owner)
		return -ESTALE;
	mark = rti_ring_mark(&a->ring);
	while (!rti_ring_has_reached(&a->ring, mark) && (next = rti_ring_peek(&a->ring))) {
		take_next(a, next, taker);
		rti_ring_take(&a->ring);
	}
	return 0;
}

static void take_running(const struct account *a, const struct rti_account_row *row,
                         const struct rti_account_taker *taker)
{
	const struct rti_account_record record = {
		.kind = RTI_ACCOUNT_PROCESS,
		.text = row->text,
		.pid = row->pid,
		.ppid = row->ppid,
		.flags = row->flags,
		.start_ns = row->start_ns + (uint64_t)a->boottime_offset_ns,
		.execs = row->execs,
	};

	if (row->is_in_use && !row->is_sent && !(row->flags & RTI_ROW_ENDED))
		taker->on_record(taker->arg, &record);
}

static int list_running(void *state, const struct rti_account_taker *taker)
{
	struct account *a = state;
	const uint32_t count = a->programs->rodata->settings.rows;
	const struct rti_account_row *rows;

	if (getpid() != a->owner)
		return -ESTALE;
	rows = mmap(NULL, count * sizeof(*rows), PROT_READ, MAP_SHARED,
	            a->programs->maps.rows.map_fd, 0);
	if (rows == MAP_FAILED)
		return -errno;
	for (uint32_t i = 0; i < count; i++)
		take_running(a, &rows[i], taker);
	munmap((void *)rows, count * sizeof(*rows));
	return 0;
}

static void count_all(const void *state, struct rti_account_counts *out)
{
	const struct account *a = state;
	const struct rti_account_shared *shared = &a->programs->bss->shared;

	*out = (struct rti_account_counts){
		.moves = 2 * read_counter(&shared->begun) - read_counter(&shared->running),
		.processes = read_counter(&shared->processes),
		.unmarked = read_counter(&shared->unmarked),
		.rowless = read_counter(&shared->rowless),
		.lost_events = read_counter(&shared->lost_events),
		.has_events = !rti_ring_is_empty(&a->ring),
	};
}

static int event_fd(const void *state)
{
	return ((const struct account *)state)->programs->maps.ring.map_fd;
}

const struct rti_account_ops rti_bpf_account = {
	.version = RTI_ACCOUNT_PLUGIN,
	.record_size = sizeof(struct rti_account_record),
	.open = open_account,
	.arm = arm,
	.read = read_totals,
	.take = take_all,
	.list_running = list_running,
	.count = count_all,
	.event_fd = event_fd,
	.close = close_account,
};
