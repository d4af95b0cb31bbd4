/* SPDX-License-Identifier: MIT */
/* rtrack system: follows the whole system. */
#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "follow/clock.h"
#include "follow/follow.h"
#include "options/commands.h"
#include "process/netns.h"
#include "process/punctual.h"
#include "process/signals.h"
#include "report/live.h"
#include "report/outputs.h"
#include "report/wanted.h"
#include "series/rows.h"
#include "series/series.h"
#include "summary/summary.h"
#include "text/message.h"

struct watch {
	struct follow system;
	struct series series;
	struct summary summary;
	struct live live;
	struct ticker ticker;
};

static void write_row(struct watch *w)
{
	if (follow_sample(&w->system) < 0)
		return;
	rows_write(&w->series, NULL, &w->system);
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

/* Take the first sample. Returns 0 or a negative errno value. */
static int start(struct watch *w, const struct options *options, struct rt_tracker **tracker)
{
	char message[256] = "";
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = RT_OPT_OWN_LIMITS,
		                      .root = options->root,
		                      .want = wanted_domains(options, &w->series, RT_KIND_SYSTEM),
		                      .message = message,
		                      .message_size = sizeof(message) };
	int64_t making_cpu_ns = clock_cpu();
	int err = rt_system_tracker_new(tracker, &opts);

	making_cpu_ns = clock_cpu() - making_cpu_ns;
	if (err == 0)
		err = follow_start(&w->system, *tracker, options->interval_ns);
	w->system.wants_gpu = options->gpu;
	w->system.making_cpu_ns = making_cpu_ns;
	words_of_sentences(message);
	if (err < 0)
		warn("cannot follow the system: %s",
		     options->root && *message ? message : error_words(err));
	return err;
}

static int watch(struct watch *w, const struct options *options, struct rt_tracker **tracker)
{
	const struct subject subject = { .is_system = true, .interval_ns = options->interval_ns };
	struct usage usage;
	int64_t start_ns;
	int err = outputs_check(options, &w->series, &w->summary, NULL);

	if (err != 0)
		return err;
	signals_catch_end();
	start_ns = clock_now();
	if (start(w, options, tracker) < 0)
		return EXIT_BEFORE_START;
	series_begin(&w->series, &subject);
	rows_write_head(&w->series, NULL, &w->system);
	ticker_init(&w->ticker, options, start_ns);
	live_init(&w->live, options, &w->series, start_ns);
	punctual_begin(options->interval_ns);
	follow_to_end(w);
	live_clear(&w->live);
	live_free(&w->live);
	usage_of_system(&usage, &w->system);
	usage.label = options->label;
	usage.samples_missed = w->ticker.missed;
	summary_write(&w->summary, &usage, 1);
	return 0;
}

int command_system(const struct options *options)
{
	struct watch w = { .series.out.fd = -1 };
	struct rt_tracker *tracker = NULL;
	int code;

	if (options->operand_count > 0)
		return unexpected_argument(options, ": rtrack system follows the whole system");
	code = series_check(options);
	if (code == 0 && options->netns)
		code = netns_enter(options->netns);
	if (code != 0)
		return code;
	code = EXIT_BEFORE_START;
	if (summary_open(&w.summary, options) == 0 && series_open(&w.series, options) == 0)
		code = watch(&w, options, &tracker);
	series_close(&w.series, &w.ticker);
	summary_close(&w.summary);
	rt_tracker_free(tracker);
	return outputs_exit_code(code, &w.series, &w.summary, NULL);
}
