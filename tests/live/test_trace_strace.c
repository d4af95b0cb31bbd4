/* SPDX-License-Identifier: MIT */
/* The events of a trace, line by line beside those of strace(1). */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "fixture.h"
#include "refusals.h"
#include "suite.h"
#include "traces.h"

#define LINES_MAX 4096
#define LINE_BYTES 64

/* One line per call: those of the first process, then those of its children, which are alike. */
struct listing {
	char lines[LINES_MAX][LINE_BYTES];
	int count;
};

/* Numbers of processes differ from run to run. */
static const char *number_text(int64_t number, char out[24])
{
	if (number > 0)
		return "PID";
	snprintf(out, 24, "%lld", (long long)number);
	return out;
}

static const char *subject_text(const struct rt_trace_event *event, char out[24])
{
	if (event->call == RT_TRACE_CALL_WAIT4)
		return number_text(event->who, out);
	switch (event->who) {
	case RUSAGE_SELF:
		return "RUSAGE_SELF";
	case RUSAGE_CHILDREN:
		return "RUSAGE_CHILDREN";
	case RUSAGE_THREAD:
		return "RUSAGE_THREAD";
	default:
		snprintf(out, 24, "0x%x", (unsigned)event->who);
		return out;
	}
}

static void add_line(struct listing *listing, const char *name, const char *subject,
                     const char *result)
{
	ck_assert_int_lt(listing->count, LINES_MAX);
	snprintf(listing->lines[listing->count++], LINE_BYTES, "%s(%s) = %s", name, subject,
	         result);
}

static void add_event(struct listing *listing, const struct rt_trace_event *event)
{
	char subject[24], result[24];

	add_line(listing, event->call == RT_TRACE_CALL_WAIT4 ? "wait4" : "getrusage",
	         subject_text(event, subject), number_text(event->result, result));
}

static void list_events(struct listing *out, const struct trace *trace, int32_t program)
{
	for (int is_child = 0; is_child < 2; is_child++)
		for (size_t i = 0; i < trace->event_count; i++)
			if ((trace->events[i].pid != program) == is_child)
				add_event(out, &trace->events[i]);
}

static int error_number(const char *name)
{
	if (strncmp(name, "EINVAL", 6) == 0)
		return EINVAL;
	return strncmp(name, "EFAULT", 6) == 0   ? EFAULT
	       : strncmp(name, "ECHILD", 6) == 0 ? ECHILD
	                                         : 0;
}

/* E.g.: "getrusage(0x4d, 0x7ffc) = -1 EINVAL (Invalid argument)". */
static void add_strace_line(struct listing *out, const char *line)
{
	char name[16], subject[32], text[24], number[24];
	const char *result = strrchr(line, '=');
	long value;

	ck_assert_int_eq(sscanf(line, "%15[a-z0-9](%31[^, ]", name, subject), 2);
	ck_assert_ptr_nonnull(result);
	value = strtol(result + 1, NULL, 10);
	if (value < 0)
		value = -error_number(strchr(result, 'E'));
	if (strcmp(name, "wait4") == 0)
		snprintf(subject, sizeof(subject), "%s", number_text(atoi(subject), number));
	add_line(out, name, subject, number_text(value, text));
}

static void add_strace_file(struct listing *out, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[1024];

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, "getrusage(", 10) == 0 || strncmp(line, "wait4(", 6) == 0)
			add_strace_line(out, line);
	fclose(file);
}

/* strace writes a file for each process: FILE.PID. */
static void list_strace(struct listing *out, const char *dir, int32_t program)
{
	DIR *files = opendir(dir);
	struct dirent *file;
	char path[512];

	ck_assert_ptr_nonnull(files);
	snprintf(path, sizeof(path), "%s/out.%d", dir, program);
	add_strace_file(out, path);
	while ((file = readdir(files))) {
		if (strncmp(file->d_name, "out.", 4) != 0 || atoi(file->d_name + 4) == program)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, file->d_name);
		add_strace_file(out, path);
	}
	closedir(files);
}

/* Returns the pid of the program, which is a child of strace, or 0 if strace does not work. */
static int32_t run_strace(const char *dir, const char *what, const char *count)
{
	char command[8192], text[32] = "";
	int log = memfd_create("log", MFD_CLOEXEC);
	FILE *output;

	ck_assert_int_eq(ftruncate(log, sizeof(struct traced_log)), 0);
	snprintf(command, sizeof(command),
	         "exec 9<>/proc/%d/fd/%d; strace -ff -qq -e trace=getrusage,wait4 -e signal=none "
	         "-o %s/out sh -c 'echo $$; exec %s/tests/live/traced-program %s %s'",
	         getpid(), log, dir, getenv("RTRACK_BUILD_ROOT"), what, count);
	output = popen(command, "r");
	ck_assert_ptr_nonnull(output);
	if (!fgets(text, sizeof(text), output))
		text[0] = '\0';
	pclose(output);
	close(log);
	return atoi(text);
}

static const struct {
	const char *what, *count;
	uint32_t back_end;
} programs[] = {
	{ "calls", "700", RT_TRACE_BACK_END_PTRACE },
	{ "short_lived", "30", RT_TRACE_BACK_END_PTRACE },
	{ "calls", "700", RT_TRACE_BACK_END_BPF },
	{ "short_lived", "30", RT_TRACE_BACK_END_BPF },
};

START_TEST(events_are_the_lines_of_strace)
{
	static struct listing ours, theirs;
	const struct rt_trace_opts opts = { .calls = RT_TRACE_CALL_GETRUSAGE | RT_TRACE_CALL_WAIT4,
		                            .back_end = programs[_i].back_end };
	struct fixture dir;
	struct trace trace;
	int32_t pid;

	if (opts.back_end == RT_TRACE_BACK_END_BPF && (!IS_BUILT || !has_bpf())) {
		suite_skip_test("calls cannot be traced by BPF here");
		return;
	}
	fixture_new(&dir);
	pid = run_strace(dir.root, programs[_i].what, programs[_i].count);
	ck_assert_int_gt(pid, 0);
	list_strace(&theirs, dir.root, pid);
	fixture_free(&dir);
	trace_program(&trace, "", programs[_i].what, programs[_i].count, opts);
	pid = rt_command_pid(rt_trace_command(trace.trace));
	read_trace(&trace);
	list_events(&ours, &trace, pid);
	free_trace(&trace);

	ck_assert_int_gt(ours.count, 50);
	ck_assert_int_eq(ours.count, theirs.count);
	for (int i = 0; i < ours.count; i++)
		ck_assert_str_eq(ours.lines[i], theirs.lines[i]);
}
END_TEST

int main(void)
{
	Suite *suite;
	TCase *tcase;

	if (system("strace -o /dev/null true >/dev/null 2>&1") != 0)
		return suite_skip("strace is not installed, or may not trace");
	if (why_no_trace())
		return suite_skip(why_no_trace());
	suite = suite_create("trace_strace");
	tcase = suite_case(suite, "strace");
	tcase_add_loop_test(tcase, events_are_the_lines_of_strace, 0,
	                    sizeof(programs) / sizeof(programs[0]));
	return suite_run(suite);
}
