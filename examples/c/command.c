/* SPDX-License-Identifier: MIT */
/* Starts a program, waits for it, and prints what it and its descendants used. */
#include <stdio.h>

#include <rtrack/rtrack.h>

static void print_outcome(const struct rt_outcome *out)
{
	if (out->signal)
		fprintf(stderr, "ended by signal %d", out->signal);
	else
		fprintf(stderr, "exit code %d", out->exit_code);
	fprintf(stderr, " after %.3f s\n", (double)out->wall_ns / 1e9);
	if (RT_IS_KNOWN(out, RT_HAS_CPU))
		fprintf(stderr, "cpu      %.6f s user, %.6f s system%s\n",
		        (double)out->cpu_user_ns / 1e9, (double)out->cpu_system_ns / 1e9,
		        out->complete ? "" : " (or more)");
	if (RT_IS_KNOWN(out, RT_HAS_PEAK_RSS))
		fprintf(stderr, "peak     %.1f MiB in the largest process\n",
		        (double)out->peak_rss_bytes / (1 << 20));
	if (RT_IS_KNOWN(out, RT_HAS_IO))
		fprintf(stderr, "storage  %llu bytes read, %llu written\n",
		        (unsigned long long)out->read_bytes, (unsigned long long)out->write_bytes);
	if (out->left_running)
		fprintf(stderr, "%u processes left running\n", out->left_running);
}

int main(int argc, char **argv)
{
	struct rt_command_opts opts = { .size = sizeof(opts),
		                        .argv = (const char *const *)argv + 1 };
	struct rt_command *command;
	struct rt_outcome outcome;
	int err;

	if (argc < 2) {
		fprintf(stderr, "usage: %s PROGRAM [ARGUMENT...]\n", argv[0]);
		return 2;
	}
	err = rt_command_start(&command, &opts);
	if (!err)
		err = rt_command_wait(command, -1, &outcome, sizeof(outcome));
	rt_command_free(command);
	if (err) {
		fprintf(stderr, "%s: %s\n", argv[1], rt_strerror(err));
		return 125;
	}
	print_outcome(&outcome);
	return outcome.signal ? 128 + outcome.signal : outcome.exit_code;
}
