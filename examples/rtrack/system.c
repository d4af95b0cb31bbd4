/* SPDX-License-Identifier: MIT */
/* rtrack system: follows the whole system. */
#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "clock.h"
#include "commands.h"
#include "follow.h"
#include "gpu.h"
#include "live.h"
#include "message.h"
#include "series.h"
#include "signals.h"
#include "summary.h"

struct watch {
	struct follow system;
	struct series series;
	struct summary summary;
	struct live live;
	struct ticker ticker;
};

static void write_row(struct watch *w)
{
	struct row row;

	if (follow_sample(&w->system) < 0)
		return;
	row = follow_row(NULL, &w->system);
	series_write(&w->series, &row);
	live_draw(&w->live, &w->system, 1);
}

static void follow_to_end(struct watch *w)
{
	bool is_running = true;

	while (is_running && !w->series.out.failed) {
		int64_t now;

		signals_sleep(w->ticker.next, NULL, 0);
		now = clock_now();
		if (now < w->ticker.next && !signals_end_requested())
			continue;
		write_row(w);
		is_running = ticker_advance(&w->ticker, now) && !signals_end_requested();
	}
}

static int watch(const struct options *options, struct rt_tracker *tracker)
{
	const struct subject subject = { .is_system = true, .interval_ns = options->interval_ns };
	struct watch w;
	int64_t start;
	int err;

	if (summary_open(&w.summary, options) < 0 || series_open(&w.series, options, &subject) < 0)
		return EXIT_BEFORE_START;
	signals_catch_end();
	start = clock_now();
	err = follow_start(&w.system, tracker, options->interval_ns);
	if (err < 0) {
		warn("cannot follow the system: %s", rt_strerror(err));
		series_close(&w.series);
		return EXIT_BEFORE_START;
	}
	w.system.wants_gpu = options->gpu;
	ticker_init(&w.ticker, options, start);
	live_init(&w.live, options, &w.series, start);
	follow_to_end(&w);
	live_clear(&w.live);
	live_free(&w.live);
	summary_of_system(&w.summary, &w.system);
	series_close(&w.series);
	return w.series.out.failed ? EXIT_TROUBLE : 0;
}

int command_system(const struct options *options)
{
	struct rt_tracker *tracker;
	int code, err;

	if (options->operand_count > 0)
		return usage_error(options,
		                   "unexpected argument: rtrack system follows the whole system");
	err = gpu_system_tracker_new(&tracker, options->gpu);
	if (err < 0) {
		warn("cannot follow the system: %s", rt_strerror(err));
		return EXIT_BEFORE_START;
	}
	code = watch(options, tracker);
	rt_tracker_free(tracker);
	return code;
}
