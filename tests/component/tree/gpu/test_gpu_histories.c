/* SPDX-License-Identifier: MIT */
/* Random histories of a tree that uses GPUs: members come, go and lose their leaders, open and
 * close clients of drivers, and files are refused. Time that was used is never counted twice, and
 * memory is never more than there is. The number of a history that fails replays it. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gpu_fixture.h"

#define ROOT 100
#define MEMBERS 6
#define FDS 3 /* of each member, from 5 on */
#define STEPS 14
#define HISTORIES 120

enum life { ABSENT, ALIVE, LEADERLESS, ZOMBIE };

struct client {
	bool is_open;
	int id;
	uint64_t gfx_ns, vram_kib;
};

static struct {
	enum life life[MEMBERS]; /* the first is the root */
	struct client client[MEMBERS][FDS];
	int last_id;
	uint64_t used_ns; /* by all clients that ever were */
	uint64_t random;
} model;

static int history;

/* Numbers with a period of 2^64: Marsaglia's xorshift. */
static unsigned draw(unsigned below)
{
	model.random ^= model.random << 13;
	model.random ^= model.random >> 7;
	model.random ^= model.random << 17;
	return (unsigned)(model.random >> 33) % below;
}

static void begin(int number)
{
	memset(&model, 0, sizeof(model));
	model.random = 0x9e3779b97f4a7c15u * (uint64_t)(number + 1);
	history = number;
}

static void write_root(void)
{
	char children[64] = "";

	for (int i = 1; i < MEMBERS; i++) {
		size_t len = strlen(children);

		if (model.life[i] != ABSENT)
			snprintf(children + len, sizeof(children) - len, "%d ", ROOT + i);
	}
	write_process(ROOT, 1, children);
}

/* An exit closes all. What a process without a leader has open is seen by its thread. */
static void close_all(int i)
{
	for (int fd = 0; fd < FDS; fd++) {
		if (model.client[i][fd].is_open && model.life[i] == ALIVE)
			close_fd(ROOT + i, 5 + fd);
		model.client[i][fd].is_open = false;
	}
}

static void change_life(int i)
{
	char path[40];

	if (model.life[i] == ABSENT) {
		write_process(ROOT + i, ROOT, "");
		snprintf(path, sizeof(path), "proc/%d/fdinfo", ROOT + i);
		fixture_mkdir(&fix.root, path);
		model.life[i] = ALIVE;
	} else if (model.life[i] == ALIVE && draw(3) > 0) {
		close_all(i);
		if (draw(2)) {
			write_zombie(ROOT + i, ROOT);
			model.life[i] = ZOMBIE;
		} else {
			write_without_leader(ROOT + i, ROOT, 1000 + i);
			model.life[i] = LEADERLESS;
		}
	} else {
		close_all(i);
		fake_process_remove(&fix.root, ROOT + i);
		model.life[i] = ABSENT;
	}
	write_root();
}

static void write_client(int i, int fd)
{
	const struct client *client = &model.client[i][fd];

	open_amdgpu(ROOT + i, 5 + fd, client->id, client->gfx_ns, client->vram_kib);
}

static void change_client(int i, int fd)
{
	struct client *client = &model.client[i][fd];
	uint64_t more_ns = draw(1000);

	if (model.life[i] != ALIVE)
		return;
	if (client->is_open && draw(3) == 0) {
		close_fd(ROOT + i, 5 + fd);
		client->is_open = false;
		return;
	}
	if (!client->is_open)
		*client = (struct client){ .is_open = true, .id = ++model.last_id };
	client->gfx_ns += more_ns;
	client->vram_kib = draw(64);
	model.used_ns += more_ns;
	write_client(i, fd);
}

/* Descriptors of other devices have numbers of their own. */
static void open_other(int i)
{
	static const char *const targets[] = { "/dev/nvidia0", "/dev/kfd", "/dev/dxg", "/dev/null",
		                               "/dev/dri/card0" };

	if (model.life[i] == ALIVE)
		open_fd(ROOT + i, 20 + (int)draw(2), targets[draw(5)],
		        draw(2) ? "drm-driver:\tnvidia-drm\n" : NULL);
}

static void empty(const char *path)
{
	fixture_mkdir(&fix.root, path);
	fixture_remove(&fix.root, path);
	fixture_mkdir(&fix.root, path);
}

static void change_drivers(void)
{
	static const char *const signs[] = { "dev/dri", "sys/class/drm/card0",
		                             "sys/class/drm/version", "sys/class/drm/renderD128" };

	fixture_mkdir(&fix.root, signs[draw(4)]);
	if (draw(8) == 0) {
		empty("dev");
		empty("sys/class");
	}
}

static void refuse_files(void)
{
	static const char *const suffixes[] = { "fdinfo/5", "fd", "fdinfo/6", "/stat" };
	static const int errors[] = { 0, 0, -EACCES, -ENOENT, -ESRCH, -EMFILE };

	faults_on_open(suffixes[draw(3)], errors[draw(6)]);
}

static void make_a_change(void)
{
	int i = (int)draw(MEMBERS);

	switch (draw(8)) {
	case 0:
	case 1:
		change_life(i ? i : 1);
		break;
	case 2:
	case 3:
	case 4:
		change_client(i, (int)draw(FDS));
		break;
	case 5:
		open_other(i);
		break;
	case 6:
		change_drivers();
		break;
	default:
		refuse_files();
		break;
	}
}

static uint64_t held_bytes(void)
{
	uint64_t kib = 0;

	for (int i = 0; i < MEMBERS; i++)
		for (int fd = 0; fd < FDS; fd++)
			if (model.client[i][fd].is_open)
				kib += model.client[i][fd].vram_kib;
	return kib * 1024;
}

static void check_sample(const struct rt_metrics *m, uint64_t *busy_ns, int step)
{
	const uint64_t known = m->valid | m->partial;

	ck_assert_msg(!(m->valid & m->partial) && !(m->valid & m->estimated) &&
	                  !(m->partial & m->estimated),
	              "history %d, step %d: a figure is in two masks", history, step);
	if (known & RT_HAS_GPU) {
		ck_assert_msg(m->gpu_busy_ns >= *busy_ns && m->gpu_busy_ns <= model.used_ns,
		              "history %d, step %d: %" PRIu64 " ns after %" PRIu64 " of %" PRIu64,
		              history, step, m->gpu_busy_ns, *busy_ns, model.used_ns);
		*busy_ns = m->gpu_busy_ns;
	}
	if (known & RT_HAS_GPU_MEMORY)
		ck_assert_msg(m->gpu_memory_bytes <= held_bytes(),
		              "history %d, step %d: %" PRIu64 " bytes of %" PRIu64, history, step,
		              m->gpu_memory_bytes, held_bytes());
}

static void ask_for_the_rest(void)
{
	struct rt_gpu gpus[8];
	struct rt_gpu_process users[8];
	struct rt_obstacle obstacle;
	size_t count = 8;
	int err = rt_tracker_gpus(fix.tracker, gpus, sizeof(gpus[0]), &count);

	ck_assert(err == 0 || err == -ENODATA);
	count = 8;
	err = rt_tracker_gpu_processes(fix.tracker, users, sizeof(users[0]), &count);
	ck_assert(err == 0 || err == -ENODATA);
	rt_tracker_obstacle(fix.tracker, RT_HAS_GPU, &obstacle, sizeof(obstacle));
	rt_tracker_obstacle(fix.tracker, RT_HAS_GPU_MEMORY, &obstacle, sizeof(obstacle));
	get_peak();
}

static void play(int number)
{
	uint64_t busy_ns = 0;

	begin(number);
	if (draw(8))
		install_driver();
	model.life[0] = ALIVE;
	write_root();
	track(ROOT, draw(4) ? 0 : RT_OPT_NO_CHILDREN);
	if (draw(3) == 0)
		freeze_clocks();
	for (int step = 0; step < STEPS; step++) {
		struct rt_metrics m;

		for (unsigned changes = 1 + draw(4); changes > 0; changes--)
			make_a_change();
		m = take_sample_after(draw(2) ? SECOND_NS : SECOND_NS / 10);
		check_sample(&m, &busy_ns, step);
		ask_for_the_rest();
	}
	faults_on_open("fdinfo/5", 0);
	faults_on_open("fdinfo/6", 0);
	faults_on_open("fd", 0);
}

START_TEST(use_of_gpus_is_never_above_the_truth)
{
	for (int i = 0; i < (int)suite_share(HISTORIES) / 4; i++) {
		play(4 * i + _i);
		rt_tracker_free(fix.tracker);
		fix.tracker = NULL;
		empty("proc");
		empty("sys");
		empty("dev");
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gpu_histories");

	tcase_add_loop_test(add_gpu_case(suite, "histories"), use_of_gpus_is_never_above_the_truth,
	                    0, 4);
	return suite_run(suite);
}
