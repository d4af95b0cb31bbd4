/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

pid_t fork_recorded(struct record *record)
{
	pid_t pid = fork();

	if (pid < 0)
		_exit(96);
	if (pid > 0)
		atomic_fetch_add(&record->forks, 1);
	return pid;
}

struct recorded_process *record_self(struct record *record, int32_t ppid)
{
	unsigned index = atomic_fetch_add(&record->process_count, 1);
	struct recorded_process *process = &record->process[index];

	*process = (struct recorded_process){ .ppid = ppid, .exit_code = -1 };
	prctl(PR_GET_NAME, process->comm);
	atomic_store(&process->pid, getpid());
	return process;
}

void exit_recorded(struct recorded_process *process, int code)
{
	process->exit_code = code;
	process->cpu_ns = read_self_cpu_ns();
	_exit(code);
}

uint64_t read_self_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t read_proc_value(const char *path, const char *key)
{
	char text[4096], *at;
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file)
		fclose(file);
	text[n] = '\0';
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}
