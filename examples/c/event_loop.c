/* SPDX-License-Identifier: MIT */
/* Runs many commands at once on one thread: epoll(7) waits for their output and for their ends. No
 * signal handler, and no thread. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2() */
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#define EVENTS 64

struct job {
	int number;
	struct rt_command *command; /* NULL once it has ended */
	int output;                 /* reading end of its pipe; -1 once it has ended */
};

/* What a descriptor in the loop is for: the output of a job, or its command. */
struct source {
	struct job *job;
	int is_output;
};

static int watch(int loop, int fd, struct source *source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = source };

	return fd < 0 ? fd : epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Start a command with its output in a pipe, and watch both. */
static int start(int loop, struct job *job, struct source sources[2], char **argv)
{
	struct rt_fd fds[] = { { STDOUT_FILENO, 0 }, { STDERR_FILENO, 0 } };
	struct rt_command_opts opts = { .size = sizeof(opts),
		                        .flags = RT_COMMAND_ONLY_FDS | RT_COMMAND_KILL_ON_FREE,
		                        .argv = (const char *const *)argv,
		                        .fds = fds,
		                        .fd_count = 2 };
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	fds[0].source = fds[1].source = ends[1];
	err = rt_command_start(&job->command, &opts);
	close(ends[1]); /* so that the output ends with the program */
	job->output = ends[0];
	sources[0] = (struct source){ job, 1 };
	sources[1] = (struct source){ job, 0 };
	if (err == 0)
		err = watch(loop, job->output, &sources[0]);
	if (err == 0)
		err = watch(loop, rt_command_fd(job->command), &sources[1]);
	return err;
}

static void read_output(struct job *job)
{
	char text[4096];
	ssize_t n = read(job->output, text, sizeof(text));

	if (n > 0) {
		printf("%d: %.*s", job->number, (int)n, text);
		return;
	}
	close(job->output); /* which takes it out of the loop, too */
	job->output = -1;
}

static void look_at_command(int loop, struct job *job)
{
	struct rt_outcome outcome;
	int err;

	err = rt_command_wait(job->command, 0, &outcome, sizeof(outcome));
	if (err == -ETIMEDOUT)
		return;
	if (!err)
		printf("%d: exit code %d, %.6f s of CPU time\n", job->number, outcome.exit_code,
		       (double)(outcome.cpu_user_ns + outcome.cpu_system_ns) / 1e9);
	epoll_ctl(loop, EPOLL_CTL_DEL, rt_command_fd(job->command), NULL);
	rt_command_free(job->command);
	job->command = NULL;
}

/* Returns how many jobs have nothing left to wait for. */
static int run_once(int loop)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(loop, events, EVENTS, -1), done = 0;

	for (int i = 0; i < n; i++) {
		struct source *source = events[i].data.ptr;

		if (source->is_output)
			read_output(source->job);
		else
			look_at_command(loop, source->job);
		done += source->job->output < 0 && !source->job->command;
	}
	return done;
}

static int run_all(struct job *jobs, struct source (*sources)[2], int count, char **argv)
{
	int loop = epoll_create1(EPOLL_CLOEXEC), err = 0;

	for (int i = 0; i < count && err == 0; i++) {
		jobs[i].number = i;
		err = start(loop, &jobs[i], sources[i], argv);
	}
	for (int done = 0; done < count && err == 0;)
		done += run_once(loop);
	for (int i = 0; i < count; i++)
		rt_command_free(jobs[i].command);
	close(loop);
	return err;
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[1]) : 0, err = -ENOMEM;
	struct job *jobs;
	struct source(*sources)[2];

	if (count < 1) {
		fprintf(stderr, "usage: %s COUNT PROGRAM [ARGUMENT...]\n", argv[0]);
		return 2;
	}
	jobs = calloc((size_t)count, sizeof(*jobs));
	sources = calloc((size_t)count, sizeof(*sources));
	if (jobs && sources)
		err = run_all(jobs, sources, count, argv + 2);
	free(jobs);
	free(sources);
	if (err < 0)
		fprintf(stderr, "%s: %s\n", argv[2], rt_strerror(err));
	return err < 0 ? 125 : 0;
}
