/* SPDX-License-Identifier: MIT */
/* Finds processes of the tree that have left the cgroup (v2) that the program was started in.
 *
 * What the library is to know is also written to the shared memory, and never read from there:
 * another process of the same user may write to it. See supervisor/record_list.c. */
#include "supervisor/cgroup_watch.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/platform.h"
#include "os/process/pidfd.h"
#include "supervisor/proc_file.h"
#include "util/cgroup_path.h"

#define SAMPLES_PER_S 400 /* of some 10 us each */
#define NS_PER_S 1000000000u
#define HELD_MAX 256 /* descriptors; a process may have 1024 */
#define ROOT_ID 1    /* of the cgroup at the root of the hierarchy */
#define PATH_BYTES sizeof(((struct rti_shared_stats *)0)->cgroup_of_program)

/* Invariant: written by the functions of this file only. */
static struct {
	struct rti_shared_stats *shared;
	struct rti_platform platform;
	uint64_t samples_left, refilled_ns;
	const char *directory;          /* of the program's cgroup; "": the supervisor's */
	uint64_t own_id, id_of_program; /* of cgroups; 0: unknown */
	bool has_paths;
	char path[PATH_BYTES], path_of_program[PATH_BYTES]; /* as in the shared memory */
	uint32_t left;                                      /* RTI_LEFT_ value */
	/* Processes that are held by pidfd, in any order. */
	struct held {
		pid_t pid;
		int fd;
	} held[HELD_MAX];
	size_t held_count;
} watch;

/* Find the path in the v2 line of a cgroup file, and end it. Returns NULL if there is none. */
static char *find_path(char *text)
{
	char *at = strncmp(text, "0::/", 4) == 0 ? text : strstr(text, "\n0::/");
	size_t len;

	if (!at)
		return NULL;
	at = strchr(at, '/');
	len = strcspn(at, "\n");
	at[len > 1 ? len : 0] = '\0';
	return at;
}

static void find_ids(const char *directory)
{
	int self = rti_pidfd_open(getpid());
	struct stat st;

	watch.directory = directory;
	if (rti_pidfd_cgroup_id(self, &watch.own_id) == 0)
		watch.id_of_program = watch.own_id;
	rti_pidfd_close(self);
	if (watch.own_id && *directory)
		watch.id_of_program = stat(directory, &st) == 0 ? st.st_ino : 0;
}

void rts_cgroup_watch_begin(struct rti_shared_stats *shared, const char *directory)
{
	const char *name = strrchr(directory, '/'), *path;
	char text[4096];
	size_t len;

	rts_cgroup_watch_end();
	watch.shared = shared;
	rti_platform_init(&watch.platform, false);
	find_ids(directory);
	if (rts_read_file(shared, "/proc/self/cgroup", text, sizeof(text)) <= 0)
		return;
	path = find_path(text);
	len = path ? strlen(path) : 0;
	if (!path || len + (name ? strlen(name) : 0) >= PATH_BYTES)
		return;
	memcpy(watch.path, path, len + 1);
	memcpy(watch.path_of_program, path, len + 1);
	if (name)
		memcpy(watch.path_of_program + len, name, strlen(name) + 1);
	watch.has_paths = true;
	memcpy(shared->cgroup_of_supervisor, watch.path, PATH_BYTES);
	memcpy(shared->cgroup_of_program, watch.path_of_program, PATH_BYTES);
	shared->has_cgroup_paths = 1;
}

void rts_cgroup_watch_end(void)
{
	while (watch.held_count > 0)
		rti_pidfd_close(watch.held[--watch.held_count].fd);
	watch.own_id = watch.id_of_program = 0;
	watch.has_paths = false;
	watch.left = RTI_LEFT_NONE;
	watch.samples_left = watch.refilled_ns = 0;
}

static void set_left(uint32_t left)
{
	watch.left = left;
	watch.shared->left_cgroup = left;
}

/* A process that is being forked shows up in the root of the hierarchy (kernel/fork.c,
 * copy_process(): cgroup_post_fork() comes after the fork event). One that has run is where it
 * belongs. */
void rts_cgroup_watch_check(pid_t pid)
{
	struct rti_cpu_clock clock = { 0 };
	const char *path;
	char text[4096];

	if (!watch.has_paths || watch.left == RTI_LEFT_OURS ||
	    watch.platform.cpu_clock(pid, &clock) < 0 || clock.total_ns == 0 ||
	    rts_read_pid_file(watch.shared, pid, "cgroup", text, sizeof(text)) <= 0)
		return;
	path = find_path(text);
	if (!path || rti_cgroup_is_within(path, watch.path_of_program))
		return;
	set_left(rti_cgroup_is_within(path, watch.path) ? RTI_LEFT_FOR_OURS : RTI_LEFT_OURS);
}

static struct held *find_held(pid_t pid)
{
	for (size_t i = 0; i < watch.held_count; i++) {
		if (watch.held[i].pid == pid)
			return &watch.held[i];
	}
	return NULL;
}

static void let_go(struct held *held)
{
	rti_pidfd_close(held->fd);
	*held = watch.held[--watch.held_count];
}

void rts_cgroup_watch_fork(pid_t pid)
{
	struct held *before = find_held(pid);
	int fd;

	if (before)
		let_go(before);
	if (!watch.id_of_program || watch.held_count >= HELD_MAX)
		return;
	fd = rti_pidfd_open(pid);
	if (fd >= 0)
		watch.held[watch.held_count++] = (struct held){ pid, fd };
}

/* The number does not show which cgroup it belongs to. So unless the supervisor is in the root of
 * the hierarchy, the process may have left the supervisor's cgroup, too. The program may have made
 * cgroups below its own: then nothing is known. */
void rts_cgroup_watch_exit(pid_t pid, bool is_waited_for)
{
	struct held *held = find_held(pid);
	struct stat st;
	uint64_t id;

	if (!held)
		return;
	if (!is_waited_for && rti_pidfd_cgroup_id(held->fd, &id) == 0 &&
	    id != watch.id_of_program && watch.left != RTI_LEFT_OURS &&
	    !(*watch.directory && stat(watch.directory, &st) == 0 && st.st_nlink > 2))
		set_left(watch.own_id == ROOT_ID ? RTI_LEFT_FOR_OURS : RTI_LEFT_OURS);
	let_go(held);
}

void rts_cgroup_watch_sample(pid_t pid, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - watch.refilled_ns;

	if (passed_ns > NS_PER_S / SAMPLES_PER_S) {
		watch.samples_left +=
		    passed_ns < NS_PER_S ? passed_ns * SAMPLES_PER_S / NS_PER_S : SAMPLES_PER_S;
		if (watch.samples_left > SAMPLES_PER_S)
			watch.samples_left = SAMPLES_PER_S;
		watch.refilled_ns = now_ns;
	}
	if (watch.samples_left == 0)
		return;
	watch.samples_left--;
	rts_cgroup_watch_check(pid);
}
