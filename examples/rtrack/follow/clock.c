/* SPDX-License-Identifier: MIT */
/* Monotonic time, and deadlines that do not drift. */
#include "clock.h"

#include <stdbool.h>
#include <time.h>

#include "options/options.h"
#include "text/units.h"

static int64_t read_clock(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_cpu(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void ticker_init(struct ticker *t, const struct options *options, int64_t start)
{
	*t = (struct ticker){ .start = start,
		              .interval = options->interval_ns,
		              .end = NEVER,
		              .rows_left = UINT64_MAX };
	if (options->duration_ns > 0 && options->duration_ns < NEVER - start)
		t->end = start + options->duration_ns;
	if (options->count > 0)
		t->rows_left = options->count;
	t->next = t->interval < NEVER - start ? start + t->interval : NEVER;
	if (t->next > t->end)
		t->next = t->end;
}

/* Count the deadlines after the one that was due, up to this time. */
static void count_missed(struct ticker *t, int64_t until)
{
	int64_t passed = (until - t->start) / t->interval;
	int64_t due = (t->next - t->start) / t->interval;

	if (passed > due)
		t->missed += (uint64_t)(passed - due);
}

bool ticker_advance(struct ticker *t, int64_t now)
{
	int64_t passed = (now - t->start) / t->interval;

	count_missed(t, now < t->end ? now : t->end);
	t->met++;
	if (t->rows_left != UINT64_MAX)
		t->rows_left--;
	if (now >= t->end || t->rows_left == 0) {
		t->next = NEVER;
		return false;
	}
	t->next = t->interval < NEVER - now ? t->start + (passed + 1) * t->interval : NEVER;
	if (t->next > t->end)
		t->next = t->end;
	return true;
}
