/* SPDX-License-Identifier: MIT */
/* A tracker of a process tree with GPUs, below a fixture root: processes are written by the test,
 * and so are their descriptors. Time passes as the test says. */
#ifndef GPU_FIXTURE_H
#define GPU_FIXTURE_H

#include "api/tracker.h"
#include "collect/nvml_thread.h"
#include "tree/gpu/gpu_peak.h"
#include "fake_process.h"
#include "faults.h"
#include "suite.h"

#define SECOND_NS UINT64_C(1000000000)
#define MIB 1048576u
#define GPU_DOMAINS (RT_HAS_GPU | RT_HAS_GPU_MEMORY)

struct gpu_fixture {
	struct fixture root;
	struct rt_tracker *tracker;
};

extern struct gpu_fixture fix;

/* Add a test case, the tests of which have the fixture. */
TCase *add_gpu_case(Suite *suite, const char *name);

/* The system has a driver of a GPU. */
void install_driver(void);

/* Write a process with this parent, or one that shows as a zombie. Its address space has this many
 * pages more than it would have otherwise. */
void write_process(int pid, int ppid, const char *children);
void grow_process(int pid, int ppid, uint64_t more_pages);
void write_zombie(int pid, int ppid);

/* Let the leader of a process exit, while this thread lives on. */
void write_without_leader(int pid, int ppid, int tid);

/* Give a process a descriptor. text: of its fdinfo; NULL: it is of no DRM device. */
void open_fd(int pid, int fd, const char *target, const char *text);
void close_fd(int pid, int fd);

/* Make or rewrite a descriptor of an amdgpu client with this use. */
void open_amdgpu(int pid, int fd, int client, uint64_t gfx_ns, uint64_t vram_kib);

/* Follow a process, with CPU time, RSS and GPUs. The second one returns 0 or -errno. */
void track(int pid, uint32_t flags);
int try_to_track(int pid, uint32_t flags);

/* The same, as if the fixture was the system itself, with this library of NVIDIA's driver. setup
 * must live as long as the tracker. */
void track_with_nvml(int pid, const struct rti_nvml_setup *setup);
void use_nvml(const struct rti_nvml_setup *setup);

/* From now on no process runs: their CPU clocks stand still. */
void freeze_clocks(void);

/* Let a second pass, or this long, and take a sample that has to succeed. */
struct rt_metrics take_sample(void);
struct rt_metrics take_sample_after(uint64_t ns);

/* Expect a mask to hold these of the bits of GPUs, and no others. */
void expect_masks(const struct rt_metrics *m, uint64_t valid, uint64_t partial, uint64_t estimated);

/* Returns the most memory of all samples. */
struct rti_gpu_peak get_peak(void);

/* Returns the rows of the last sample, of which there must be so many. */
const struct rt_gpu *list_gpus(size_t expected);
const struct rt_gpu_process *list_users(size_t expected);

#endif
