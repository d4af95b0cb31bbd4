/* SPDX-License-Identifier: MIT */
/* Members that open GPUs, close them, and depart, on fixtures. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "gpu_fixture.h"

#define RENDER "/dev/dri/renderD128"
#define BOTH GPU_DOMAINS
#define PAGES_OF_A_LIBRARY 10000
#define QUICK_NS (SECOND_NS / 10)

static struct rt_obstacle obstacle_of(uint64_t has)
{
	struct rt_obstacle obstacle;

	ck_assert_int_eq(rt_tracker_obstacle(fix.tracker, has, &obstacle, sizeof(obstacle)), 0);
	return obstacle;
}

START_TEST(system_without_driver_has_no_use_of_gpus)
{
	struct rt_metrics m;

	write_process(100, 1, "101 ");
	write_process(101, 100, "");
	open_amdgpu(100, 5, 7, 3000, 4); /* nothing looks at it */
	track(100, 0);
	m = take_sample();
	expect_masks(&m, BOTH, 0, 0);
	ck_assert_uint_eq(get_peak().valid, RT_HAS_GPU_MEMORY);
	ck_assert_uint_eq(m.gpu_busy_ns | m.gpu_memory_bytes | m.gpus, 0);
	list_gpus(0);
	list_users(0);
	fake_process_remove(&fix.root, 101);
	write_process(100, 1, "");
	m = take_sample();
	expect_masks(&m, BOTH, 0, 0);
}
END_TEST

START_TEST(tree_without_gpu_has_no_use)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "");
	open_fd(100, 0, "/dev/null", NULL);
	open_fd(100, 1, "socket:[33]", NULL);
	open_fd(100, 2, "/home/dev/dri/renderD128", NULL);
	open_fd(100, 3, "/dev/urandom", NULL);
	track(100, 0);
	m = take_sample();
	expect_masks(&m, BOTH, 0, 0);
	ck_assert_uint_eq(m.gpu_busy_ns | m.gpu_memory_bytes | m.gpus, 0);
}
END_TEST

START_TEST(driver_that_is_loaded_later_is_found)
{
	write_process(100, 1, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	track(100, 0);
	ck_assert_uint_eq(take_sample().gpus, 0);
	fixture_mkdir(&fix.root, "sys/class/drm/card0");
	ck_assert_uint_eq(take_sample().gpus, 1);
	ck_assert_uint_eq(take_sample().gpu_busy_ns, 3000);
}
END_TEST

/* Enough members that the turn does not come to each of them. */
static void write_crowd(void)
{
	write_process(100, 1, "101 102 103 104 105 106 107 108 109 110 ");
	for (int pid = 101; pid <= 110; pid++)
		write_process(pid, 100, "");
}

START_TEST(gpu_that_is_opened_is_noticed_when_the_member_grows)
{
	install_driver();
	write_crowd();
	track(100, 0);
	take_sample();
	take_sample();
	open_amdgpu(109, 5, 7, 3000, 4);
	grow_process(109, 100, PAGES_OF_A_LIBRARY);
	ck_assert_uint_eq(take_sample().gpus, 1);
}
END_TEST

START_TEST(gpu_that_is_opened_without_a_sign_is_noticed_in_turn)
{
	struct rt_metrics m;
	int samples = 0;

	install_driver();
	write_crowd();
	track(100, 0);
	take_sample();
	open_amdgpu(109, 5, 7, 3000, 4);
	do {
		m = take_sample();
		samples++;
	} while (m.gpus == 0 && samples < 20);
	ck_assert_int_le(samples, 11);
	ck_assert_int_gt(samples, 1);
}
END_TEST

static unsigned count_opens(void)
{
	unsigned before = faults_opens();

	take_sample_after(QUICK_NS);
	return faults_opens() - before;
}

static unsigned count_opens_of_crowd(bool is_frozen)
{
	unsigned opens;

	track(100, 0);
	if (is_frozen)
		freeze_clocks();
	for (int i = 0; i < 3; i++)
		take_sample();
	opens = count_opens();
	rt_tracker_free(fix.tracker);
	fix.tracker = NULL;
	return opens;
}

/* In each sample the descriptors of one member are listed, where their number is not known; of a
 * tree in which no member has run, none are. */
START_TEST(tree_without_gpu_costs_one_list_a_sample)
{
	bool is_frozen = _i;
	unsigned without_driver;

	write_crowd();
	without_driver = count_opens_of_crowd(is_frozen);
	install_driver();
	ck_assert_uint_eq(count_opens_of_crowd(is_frozen), without_driver + !is_frozen);
}
END_TEST

START_TEST(second_client_of_a_member_is_noticed_within_a_second)
{
	install_driver();
	write_crowd();
	open_amdgpu(109, 5, 7, 3000, 4);
	track(100, 0);
	take_sample();
	open_amdgpu(109, 6, 8, 500, 4);
	ck_assert_uint_eq(take_sample().gpu_busy_ns, 3500);
}
END_TEST

/* The number of the descriptor is another file's now, and another descriptor is the GPU's. */
START_TEST(descriptor_that_is_reused_is_listed_again)
{
	struct rt_metrics m;

	install_driver();
	write_crowd();
	open_amdgpu(109, 5, 7, 3000, 4);
	track(100, 0);
	take_sample();
	open_fd(109, 5, "/dev/null", NULL);
	open_amdgpu(109, 9, 7, 3100, 4);
	m = take_sample_after(QUICK_NS);
	expect_masks(&m, RT_HAS_GPU, RT_HAS_GPU_MEMORY, 0);
	ck_assert_uint_eq(m.gpu_busy_ns, 3100);
}
END_TEST

START_TEST(descriptor_that_moves_is_found_at_once)
{
	struct rt_metrics m;

	install_driver();
	write_crowd();
	open_amdgpu(109, 5, 7, 3000, 4);
	track(100, 0);
	take_sample();
	close_fd(109, 5);
	open_amdgpu(109, 9, 7, 3100, 4);
	m = take_sample_after(QUICK_NS);
	ck_assert_uint_eq(m.valid & RT_HAS_GPU, RT_HAS_GPU);
	ck_assert_uint_eq(m.gpu_busy_ns, 3100);
}
END_TEST

START_TEST(time_of_a_closed_client_stays_and_is_a_lower_bound)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	track(100, 0);
	take_sample();
	close_fd(100, 5);
	m = take_sample_after(QUICK_NS);
	expect_masks(&m, RT_HAS_GPU_MEMORY, RT_HAS_GPU, 0);
	ck_assert_uint_eq(m.gpu_busy_ns, 3000);
	ck_assert_uint_eq(m.gpu_memory_bytes, 0);
	ck_assert_uint_eq(m.gpus, 0);
	ck_assert_uint_eq(obstacle_of(RT_HAS_GPU).kind, RT_OBSTACLE_GONE);
	open_amdgpu(100, 6, 8, 20, 4);
	ck_assert_uint_eq(take_sample().gpu_busy_ns, 3020);
}
END_TEST

/* E.g.: on its way from one process to another, through a socket. */
START_TEST(client_that_comes_back_counts_no_time_twice)
{
	install_driver();
	write_process(100, 1, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	track(100, 0);
	take_sample();
	close_fd(100, 5);
	take_sample();
	open_amdgpu(100, 8, 7, 3500, 4);
	ck_assert_uint_eq(take_sample().gpu_busy_ns, 3500);
}
END_TEST

START_TEST(time_of_an_exited_member_stays_and_is_a_lower_bound)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "101 ");
	write_process(101, 100, "");
	open_amdgpu(101, 5, 7, 3000, 4);
	track(100, 0);
	m = take_sample();
	expect_masks(&m, RT_HAS_GPU, RT_HAS_GPU_MEMORY, 0);
	fake_process_remove(&fix.root, 101);
	write_process(100, 1, "");
	m = take_sample();
	expect_masks(&m, RT_HAS_GPU_MEMORY, RT_HAS_GPU, 0);
	ck_assert_uint_eq(m.gpu_busy_ns, 3000);
	ck_assert_uint_eq(m.gpus, 0);
	list_users(0);
}
END_TEST

START_TEST(largest_memory_of_all_samples_is_a_lower_bound)
{
	struct rti_gpu_peak peak;

	install_driver();
	write_process(100, 1, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	track(100, 0);
	take_sample();
	open_amdgpu(100, 5, 7, 3000, 9);
	take_sample();
	open_amdgpu(100, 5, 7, 3000, 2);
	take_sample();
	peak = get_peak();
	ck_assert_uint_eq(peak.bytes, 9216);
	ck_assert_uint_eq(peak.partial, RT_HAS_GPU_MEMORY);
	ck_assert_uint_eq(peak.valid | peak.estimated, 0);
}
END_TEST

/* Its files are gone then, and those of its threads are not. */
START_TEST(gpu_of_a_process_without_its_leader_counts)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	track(100, 0);
	take_sample();
	write_without_leader(100, 1, 177);
	fixture_link(&fix.root, "proc/100/task/177/fd/5", RENDER);
	fixture_write(&fix.root, "proc/100/task/177/fdinfo/5",
	              "drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\n"
	              "drm-engine-gfx:\t4000 ns\ndrm-memory-gtt:\t1 KiB\n");
	m = take_sample_after(QUICK_NS);
	ck_assert_uint_eq(m.gpu_busy_ns, 4000);
	ck_assert_uint_eq(m.valid & RT_HAS_GPU, RT_HAS_GPU);
}
END_TEST

START_TEST(zombie_has_closed_its_gpus)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "101 ");
	write_process(101, 100, "");
	open_amdgpu(101, 5, 7, 3000, 4);
	track(100, 0);
	take_sample();
	write_zombie(101, 100);
	m = take_sample_after(QUICK_NS);
	expect_masks(&m, RT_HAS_GPU_MEMORY, RT_HAS_GPU, 0);
	ck_assert_uint_eq(m.gpu_busy_ns, 3000);
	ck_assert_uint_eq(m.gpu_memory_bytes, 0);
}
END_TEST

START_TEST(client_that_outlives_its_first_member_goes_on)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "101 ");
	write_process(101, 100, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	open_amdgpu(101, 5, 7, 3000, 4);
	track(100, 0);
	take_sample();
	fake_process_remove(&fix.root, 101);
	write_process(100, 1, "");
	open_amdgpu(100, 5, 7, 3300, 4);
	m = take_sample();
	ck_assert_uint_eq(m.gpu_busy_ns, 3300);
	ck_assert_uint_eq(m.gpu_memory_bytes, 4096);
	ck_assert_int_eq(list_users(1)->pid, 100);
}
END_TEST

/* It may have used one after the last look. */
START_TEST(tree_that_has_lost_a_member_without_gpu_is_a_lower_bound)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "101 ");
	write_process(101, 100, "");
	track(100, 0);
	m = take_sample();
	expect_masks(&m, BOTH, 0, 0);
	fake_process_remove(&fix.root, 101);
	write_process(100, 1, "");
	m = take_sample();
	expect_masks(&m, RT_HAS_GPU_MEMORY, RT_HAS_GPU, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU), -ENODATA);
}
END_TEST

/* It may have used a GPU between two samples. */
START_TEST(tree_that_has_reaped_a_child_is_a_lower_bound)
{
	struct fake_process p = { .pid = 100,
		                  .ppid = 1,
		                  .starttime = 1100,
		                  .minflt = 10,
		                  .cminflt = 4,
		                  .cutime = 1,
		                  .rss_pages = 10,
		                  .children = "" };
	struct rt_metrics m;

	install_driver();
	fake_process_write(&fix.root, &p);
	fixture_mkdir(&fix.root, "proc/100/fd");
	track(100, 0);
	m = take_sample();
	expect_masks(&m, RT_HAS_GPU_MEMORY, RT_HAS_GPU, 0);
}
END_TEST

static void reuse_pid(void *arg)
{
	(void)arg;
	fake_process_write(
	    &fix.root,
	    &(struct fake_process){
		.pid = 101, .ppid = 1, .starttime = 9000, .rss_pages = 10, .children = "" });
	open_amdgpu(101, 5, 99, 777000, 4000);
}

/* The process with the new number is no member, and neither is its use. */
START_TEST(gpu_of_a_reused_pid_does_not_count)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "101 ");
	write_process(101, 100, "");
	open_amdgpu(101, 5, 7, 3000, 4);
	track(100, 0);
	take_sample();
	faults_before_open("101/fdinfo/5", reuse_pid, NULL);
	m = take_sample();
	ck_assert_uint_eq(m.gpu_busy_ns, 3000);
	ck_assert_uint_eq(m.gpu_memory_bytes, 0);
	list_users(0);
}
END_TEST

START_TEST(member_that_ends_while_it_is_read_is_no_error)
{
	install_driver();
	write_process(100, 1, "101 ");
	write_process(101, 100, "");
	open_amdgpu(101, 5, 7, 3000, 4);
	track(100, 0);
	take_sample();
	faults_on_open("101/fdinfo/5", -ESRCH);
	ck_assert_uint_eq(take_sample().gpu_busy_ns, 3000);
	ck_assert_int_eq(obstacle_of(RT_HAS_GPU).pid, 0);
}
END_TEST

START_TEST(descriptors_that_may_not_be_listed_are_an_obstacle)
{
	struct rt_obstacle obstacle;
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "101 ");
	write_process(101, 100, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	faults_on_open("101/fd", -EACCES);
	track(100, 0);
	m = take_sample();
	expect_masks(&m, 0, BOTH, 0);
	ck_assert_uint_eq(m.gpu_busy_ns, 3000);
	obstacle = obstacle_of(RT_HAS_GPU);
	ck_assert_uint_eq(obstacle.kind, RT_OBSTACLE_RIGHTS);
	ck_assert_int_eq(obstacle.error, -EACCES);
	ck_assert_int_eq(obstacle.pid, 101);
	ck_assert_uint_eq(obstacle.members, 1);
	ck_assert_uint_eq(obstacle.members_ever, 1);
	ck_assert_str_eq(obstacle.file, "fd");
	faults_on_open("101/fd", 0);
	m = take_sample();
	ck_assert_uint_eq(m.valid & RT_HAS_GPU, RT_HAS_GPU);
}
END_TEST

START_TEST(tree_of_which_nothing_may_be_listed_has_no_figure)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "");
	faults_on_open("100/fd", -EACCES);
	track(100, 0);
	m = take_sample();
	expect_masks(&m, 0, 0, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU), -EACCES);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU_MEMORY), -EACCES);
}
END_TEST

/* What ROCm computes is in no client, and of WSL nothing is known at all. */
static const char *const unreported[] = { "/dev/kfd", "/dev/dxg" };

START_TEST(device_that_reports_nothing_makes_a_lower_bound)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "101 ");
	write_process(101, 100, "");
	open_amdgpu(101, 5, 7, 3000, 4);
	open_fd(101, 6, unreported[_i], NULL);
	track(100, 0);
	m = take_sample();
	expect_masks(&m, 0, BOTH, 0);
	ck_assert_uint_eq(m.gpu_busy_ns, 3000);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU), -EOPNOTSUPP);
}
END_TEST

/* There, and in another pid namespace, the library of NVIDIA's driver knows other processes. */
START_TEST(device_of_nvidia_is_not_asked_below_another_root)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "");
	open_fd(100, 6, "/dev/nvidia0", NULL);
	track(100, 0);
	m = take_sample();
	expect_masks(&m, 0, 0, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU), -ENOENT);
}
END_TEST

START_TEST(energy_of_a_tree_cannot_be_had)
{
	write_process(100, 1, "");
	track(100, 0);
	take_sample();
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU_ENERGY), -EOPNOTSUPP);
	ck_assert_uint_eq(rt_domains(RT_KIND_PID) & RT_HAS_GPU_ENERGY, 0);
}
END_TEST

START_TEST(process_alone_is_not_followed_by_its_children)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "101 ");
	write_process(101, 100, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	open_amdgpu(101, 5, 8, 600, 4);
	track(100, RT_OPT_NO_CHILDREN);
	m = take_sample();
	ck_assert_uint_eq(m.gpu_busy_ns, 3000);
	ck_assert_uint_eq(m.valid & RT_HAS_GPU, RT_HAS_GPU);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gpu_members");
	TCase *opens = add_gpu_case(suite, "opens"), *ends = add_gpu_case(suite, "ends");
	TCase *obstacles = add_gpu_case(suite, "obstacles");

	tcase_add_test(opens, system_without_driver_has_no_use_of_gpus);
	tcase_add_test(opens, tree_without_gpu_has_no_use);
	tcase_add_test(opens, driver_that_is_loaded_later_is_found);
	tcase_add_test(opens, gpu_that_is_opened_is_noticed_when_the_member_grows);
	tcase_add_test(opens, gpu_that_is_opened_without_a_sign_is_noticed_in_turn);
	tcase_add_loop_test(opens, tree_without_gpu_costs_one_list_a_sample, 0, 2);
	tcase_add_test(opens, second_client_of_a_member_is_noticed_within_a_second);
	tcase_add_test(opens, descriptor_that_is_reused_is_listed_again);
	tcase_add_test(opens, descriptor_that_moves_is_found_at_once);
	tcase_add_test(opens, process_alone_is_not_followed_by_its_children);
	tcase_add_test(ends, time_of_a_closed_client_stays_and_is_a_lower_bound);
	tcase_add_test(ends, client_that_comes_back_counts_no_time_twice);
	tcase_add_test(ends, time_of_an_exited_member_stays_and_is_a_lower_bound);
	tcase_add_test(ends, largest_memory_of_all_samples_is_a_lower_bound);
	tcase_add_test(ends, gpu_of_a_process_without_its_leader_counts);
	tcase_add_test(ends, zombie_has_closed_its_gpus);
	tcase_add_test(ends, client_that_outlives_its_first_member_goes_on);
	tcase_add_test(ends, tree_that_has_lost_a_member_without_gpu_is_a_lower_bound);
	tcase_add_test(ends, tree_that_has_reaped_a_child_is_a_lower_bound);
	tcase_add_test(ends, gpu_of_a_reused_pid_does_not_count);
	tcase_add_test(ends, member_that_ends_while_it_is_read_is_no_error);
	tcase_add_test(obstacles, descriptors_that_may_not_be_listed_are_an_obstacle);
	tcase_add_test(obstacles, tree_of_which_nothing_may_be_listed_has_no_figure);
	tcase_add_loop_test(obstacles, device_that_reports_nothing_makes_a_lower_bound, 0, 2);
	tcase_add_test(obstacles, device_of_nvidia_is_not_asked_below_another_root);
	tcase_add_test(obstacles, energy_of_a_tree_cannot_be_had);
	return suite_run(suite);
}
