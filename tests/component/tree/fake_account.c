/* SPDX-License-Identifier: MIT */
#include "fake_account.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bpf/account/tree_account.h"
#include "bpf/refusal.h"
#include "os/proc_connector.h"
#include "os/process/pidfd.h"
#include "suite.h"

struct fake_account fake_account;

static int open_accounts, open_connectors;

/* The linker calls these instead of the functions in their names. */
bool __wrap_rti_bpf_lacks_capability(void);
int __wrap_rti_account_open(struct rti_tree_account **out,
                            const struct rti_account_request *request);
int __wrap_rti_account_read(struct rti_tree_account *account, struct rti_account_totals *out);
int __wrap_rti_account_take(struct rti_tree_account *account,
                            const struct rti_account_taker *taker);
int __wrap_rti_account_list_running(struct rti_tree_account *account,
                                    const struct rti_account_taker *taker);
void __wrap_rti_account_count(const struct rti_tree_account *account,
                              struct rti_account_counts *out);
int __wrap_rti_account_event_fd(const struct rti_tree_account *account);
void __wrap_rti_account_close(struct rti_tree_account *account);
int __wrap_rti_events_open(unsigned also, int64_t *ahead_ns);
int __wrap_rti_events_drain(int fd, void (*each)(void *arg, const struct rti_process_event *event),
                            void *arg);
void __wrap_rti_events_close(int fd);
int __real_rti_pidfd_open(int32_t pid);
int __wrap_rti_pidfd_open(int32_t pid);
int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

/* An assertion of libcheck allocates memory, which a test may refuse. */
static void require(bool holds)
{
	if (!holds)
		abort();
}

bool __wrap_rti_bpf_lacks_capability(void)
{
	return fake_account.lacks_capability;
}

int __wrap_rti_account_open(struct rti_tree_account **out,
                            const struct rti_account_request *request)
{
	require(request->root > 0);
	fake_account.opens++;
	if (fake_account.open_error < 0)
		return fake_account.open_error;
	open_accounts++;
	*out = (struct rti_tree_account *)&fake_account;
	return 0;
}

int __wrap_rti_account_read(struct rti_tree_account *account, struct rti_account_totals *out)
{
	require(account == (const struct rti_tree_account *)&fake_account);
	fake_account.reads++;
	if (fake_account.failing_read && fake_account.reads >= fake_account.failing_read)
		return fake_account.read_error;
	*out = fake_account.totals;
	if (fake_account.torn_reads > 0) {
		fake_account.torn_reads--;
		out->is_whole = out->has_all = false;
	}
	return 0;
}

int __wrap_rti_account_take(struct rti_tree_account *account, const struct rti_account_taker *taker)
{
	require(account == (const struct rti_tree_account *)&fake_account);
	for (size_t i = 0; i < fake_account.event_count; i++)
		taker->on_event(taker->arg, &fake_account.events[i]);
	fake_account.event_count = 0;
	return fake_account.take_error;
}

int __wrap_rti_account_list_running(struct rti_tree_account *account,
                                    const struct rti_account_taker *taker)
{
	require(account == (const struct rti_tree_account *)&fake_account);
	for (size_t i = 0; i < FAKE_EVENTS_MAX && fake_account.running[i]; i++) {
		const struct rti_account_record record = { .kind = RTI_ACCOUNT_PROCESS,
			                                   .pid = fake_account.running[i] };

		taker->on_record(taker->arg, &record);
	}
	return fake_account.list_error;
}

void __wrap_rti_account_count(const struct rti_tree_account *account,
                              struct rti_account_counts *out)
{
	require(account == (const struct rti_tree_account *)&fake_account);
	*out = fake_account.counts;
}

int __wrap_rti_account_event_fd(const struct rti_tree_account *account)
{
	require(account == (const struct rti_tree_account *)&fake_account);
	return fake_account.event_fd;
}

void __wrap_rti_account_close(struct rti_tree_account *account)
{
	if (!account)
		return;
	require(account == (const struct rti_tree_account *)&fake_account);
	open_accounts--;
}

int __wrap_rti_events_open(unsigned also, int64_t *ahead_ns)
{
	int fd;

	(void)also;
	if (fake_account.subscribe_error < 0)
		return fake_account.subscribe_error;
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	require(fd >= 0);
	open_connectors++;
	if (ahead_ns)
		*ahead_ns = fake_account.ahead_ns;
	return fd;
}

int __wrap_rti_events_drain(int fd, void (*each)(void *arg, const struct rti_process_event *event),
                            void *arg)
{
	require(fd >= 0);
	for (size_t i = 0; i < fake_account.process_event_count; i++)
		each(arg, &fake_account.process_events[i]);
	fake_account.process_event_count = 0;
	return 0;
}

void __wrap_rti_events_close(int fd)
{
	open_connectors--;
	close(fd);
}

int __wrap_rti_pidfd_open(int32_t pid)
{
	if (!fake_account.pidfd_error)
		return __real_rti_pidfd_open(pid);
	errno = fake_account.pidfd_error;
	return -1;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	if (!fake_account.is_sampling)
		return __real_nanosleep(time, left);
	fake_account.naps++;
	return 0;
}

void fake_account_add_event(uint32_t kind, int32_t pid)
{
	ck_assert_uint_lt(fake_account.event_count, FAKE_EVENTS_MAX);
	fake_account.events[fake_account.event_count++] =
	    (struct rti_account_event){ .kind = kind, .pid = pid };
}

bool fake_account_is_closed(void)
{
	return open_accounts == 0 && open_connectors == 0;
}
