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
#include "outputs.h"
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
		live_check(&w->live);
		now = clock_now();
		if (now < w->ticker.next && !signals_end_requested())
			continue;
		write_row(w);
		is_running = ticker_advance(&w->ticker, now) && !signals_end_requested();
	}
}

static int watch(struct watch *w, const struct options *options, struct rt_tracker *tracker)
{
	const struct subject subject = { .is_system = true, .interval_ns = options->interval_ns };
	struct usage usage;
	struct row row;
	int64_t start;
	int err = outputs_check(options, &w->series, &w->summary, NULL);

	if (err != 0)
		return err;
	signals_catch_end();
	start = clock_now();
	err = follow_start(&w->system, tracker, options->interval_ns);
	if (err < 0) {
		warn("cannot follow the system: %s", error_words(err));
		return EXIT_BEFORE_START;
	}
	w->system.wants_gpu = options->gpu;
	series_begin(&w->series, &subject);
	row = follow_row(NULL, &w->system);
	series_write_head(&w->series, &row);
	ticker_init(&w->ticker, options, start);
	live_init(&w->live, options, &w->series, start);
	follow_to_end(w);
	live_clear(&w->live);
	live_free(&w->live);
	usage_of_system(&usage, &w->system);
	usage.label = options->label;
	summary_write(&w->summary, &usage, 1);
	return 0;
}

/* Returns the exit code. */
static int open_and_watch(const struct options *options, struct rt_tracker *tracker)
{
	struct watch w = { .series.out.fd = -1 };
	int code = EXIT_BEFORE_START;

	if (summary_open(&w.summary, options) == 0 && series_open(&w.series, options) == 0)
		code = watch(&w, options, tracker);
	series_close(&w.series, &w.ticker);
	summary_close(&w.summary);
	return outputs_exit_code(code, &w.series, &w.summary, NULL);
}

int command_system(const struct options *options)
{
	struct rt_tracker *tracker;
	int code, err;

	if (options->operand_count > 0)
		return usage_error(options,
		                   "unexpected argument: rtrack system follows the whole system");
	code = series_check(options);
	if (code != 0)
		return code;
	err = gpu_system_tracker_new(&tracker, options->gpu);
	if (err < 0) {
		warn("cannot follow the system: %s", error_words(err));
		return EXIT_BEFORE_START;
	}
	code = open_and_watch(options, tracker);
	rt_tracker_free(tracker);
	return code;
}
