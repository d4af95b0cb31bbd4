/* SPDX-License-Identifier: MIT */
/* Uses all that the library opens at run time: a supervisor, the BPF plug-in and a tracer. What
 * fails is left out. The library is that of the path in argv[1], or with IN_PROGRAM part of this
 * program. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#include <rtrack/rtrack.h>

#ifdef IN_PROGRAM
#define FIND(name) name
#else
static void *library;
#define FIND(name) ((__typeof__(&(name)))(uintptr_t)dlsym(library, #name))
#endif

static const char *const argv_true[] = { "true", NULL };

static void run(uint32_t accounting)
{
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .accounting = accounting,
		                              .argv = argv_true };
	struct rt_command *command;
	int err = FIND(rt_command_start)(&command, &opts);

	if (err == 0) {
		FIND(rt_command_wait)(command, -1, NULL, 0);
		FIND(rt_command_free)(command);
	}
	printf("%d ", err);
}

static void trace(void)
{
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv_true };
	const struct rt_trace_opts opts = { .size = sizeof(opts),
		                            .back_end = RT_TRACE_BACK_END_PTRACE,
		                            .command = &command };
	struct rt_trace *trace;
	int err = FIND(rt_trace_new)(&trace, &opts);

	if (err == 0) {
		FIND(rt_command_wait)(FIND(rt_trace_command)(trace), -1, NULL, 0);
		FIND(rt_trace_free)(trace);
	}
	printf("%d\n", err);
}

/* Prints the results: 0 or -errno of a command with RT_ACCOUNTING_WAIT, of one with
 * RT_ACCOUNTING_BPF, and of a trace by ptrace. */
int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "";

#ifdef IN_PROGRAM
	(void)path;
#else
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
#endif
	run(RT_ACCOUNTING_WAIT);
	run(RT_ACCOUNTING_BPF);
	trace();
	return 0;
}
