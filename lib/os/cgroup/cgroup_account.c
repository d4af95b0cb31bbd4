/* SPDX-License-Identifier: MIT */
/* The kernel's account of everything in a cgroup. */
#include <errno.h>

#include "os/cgroup/cgroup.h"
#include "os/cpu_time.h"
#include "parse/parse.h"

/* Read the file of the directory that has an account into the scratch buffer. name has the file of
 * v2, then of v1. Reads through file unless that is NULL. Returns 0 or -errno. */
static int read_account(const struct rti_cgroup *group, const struct rti_context *ctx,
                        uint32_t account, const char *const name[2], struct rti_file *file)
{
	const struct rti_cgroup_dir *dir = rti_cgroup_dir_of(group, account);
	char path[1024];
	int err =
	    file ? rti_procfs_read_if_open(ctx->procfs, RTI_SINGLE_RECORD, file, ctx->buf) : -EBADF;

	if (err != -EBADF) /* an open file needs no path */
		return err;
	if (!dir)
		return -ENOENT;
	err = rti_cgroup_file_path(dir, name[dir->hierarchy != 0], path);
	if (err < 0)
		return err;
	if (file)
		return rti_procfs_read_cached(ctx->procfs, RTI_ROOT, path, RTI_SINGLE_RECORD, file,
		                              ctx->buf);
	return rti_procfs_read(ctx->procfs, RTI_ROOT, path, RTI_SINGLE_RECORD, ctx->buf);
}

static bool is_v1(const struct rti_cgroup *group, uint32_t account)
{
	const struct rti_cgroup_dir *dir = rti_cgroup_dir_of(group, account);

	return dir && dir->hierarchy != 0;
}

/* Take the one number that a file consists of. */
static int parse_number(const struct rti_context *ctx, uint64_t *number)
{
	struct rti_scan scan = rti_scan(ctx->buf->data, ctx->buf->len);

	return rti_scan_u64(&scan, number) ? 0 : -EBADMSG;
}

static int read_number(const struct rti_cgroup *group, const struct rti_context *ctx,
                       uint32_t account, const char *const name[2], uint64_t *number)
{
	int err = read_account(group, ctx, account, name, NULL);

	return err < 0 ? err : parse_number(ctx, number);
}

static const char *const cpu_files[] = { "/cpu.stat", "/cpuacct.usage" };
static const char *const cpu_split_files[] = { "/cpu.stat", "/cpuacct.stat" };

/* cpuacct.usage is exact, in ns. cpuacct.stat has the split, in ticks. */
static int read_cpuacct(struct rti_cgroup *group, const struct rti_context *ctx, uint64_t *user_ns,
                        uint64_t *system_ns)
{
	struct rti_cgroup_cpuacct cpu = { 0 };
	uint64_t usage_ns = 0;
	int err = read_account(group, ctx, RTI_CGROUP_CPU, cpu_files, &group->cpu);

	if (err == 0)
		err = parse_number(ctx, &usage_ns);
	if (err == 0)
		err = read_account(group, ctx, RTI_CGROUP_CPU, cpu_split_files, &group->cpu_split);
	if (err == 0)
		err = rti_parse_cgroup_cpuacct(ctx->buf->data, ctx->buf->len, &cpu);
	if (err < 0)
		return err;
	rti_split_cpu(usage_ns, cpu.user_ticks, cpu.user_ticks + cpu.system_ticks, user_ns,
	              system_ns);
	return 0;
}

int rti_cgroup_read_cpu(struct rti_cgroup *group, const struct rti_context *ctx, uint64_t *user_ns,
                        uint64_t *system_ns)
{
	struct rti_cgroup_cpu cpu = { 0 };
	int err;

	if (is_v1(group, RTI_CGROUP_CPU))
		return read_cpuacct(group, ctx, user_ns, system_ns);
	err = read_account(group, ctx, RTI_CGROUP_CPU, cpu_files, &group->cpu);
	if (err == 0)
		err = rti_parse_cgroup_cpu(ctx->buf->data, ctx->buf->len, &cpu);
	if (err < 0)
		return err;
	/* usage_usec is exact and its split is sampled, so keep the sum. */
	rti_split_cpu(cpu.usage_us * 1000, cpu.user_us, cpu.user_us + cpu.system_us, user_ns,
	              system_ns);
	return 0;
}

uint64_t rti_cgroup_read_usage(struct rti_cgroup *group, const struct rti_context *ctx)
{
	uint64_t user_ns, system_ns;
	int err = rti_cgroup_read_cpu(group, ctx, &user_ns, &system_ns);

	rti_procfs_close_file(ctx->procfs, &group->cpu);
	rti_procfs_close_file(ctx->procfs, &group->cpu_split);
	return err == 0 ? user_ns + system_ns : UINT64_MAX;
}

int rti_cgroup_read_memory_peak(const struct rti_cgroup *group, const struct rti_context *ctx,
                                uint64_t *bytes)
{
	static const char *const files[] = { "/memory.peak", "/memory.max_usage_in_bytes" };

	return read_number(group, ctx, RTI_CGROUP_MEMORY, files, bytes);
}

int rti_cgroup_read_memory(const struct rti_cgroup *group, const struct rti_context *ctx,
                           struct rti_cgroup_memory *out)
{
	static const char *const usage[] = { "/memory.current", "/memory.usage_in_bytes" };
	static const char *const parts[] = { "/memory.stat", "/memory.stat" };
	struct rti_cgroup_memory_stat stat;
	uint64_t usage_bytes;
	int err = read_number(group, ctx, RTI_CGROUP_MEMORY, usage, &usage_bytes);

	if (err == 0)
		err = read_account(group, ctx, RTI_CGROUP_MEMORY, parts, NULL);
	if (err == 0)
		err = is_v1(group, RTI_CGROUP_MEMORY)
		          ? rti_parse_cgroup_memory_v1(ctx->buf->data, ctx->buf->len, &stat)
		          : rti_parse_cgroup_memory(ctx->buf->data, ctx->buf->len, &stat);
	if (err < 0)
		return err;
	*out = (struct rti_cgroup_memory){ usage_bytes, stat.anon_bytes, stat.file_bytes,
		                           stat.file_mapped_bytes, stat.shmem_bytes };
	return 0;
}

/* The file that includes the cgroups below is the younger one. */
static int read_blkio(const struct rti_cgroup *group, const struct rti_context *ctx,
                      struct rti_cgroup_io *io)
{
	static const char *const recursive[] = { NULL,
		                                 "/blkio.throttle.io_service_bytes_recursive" };
	static const char *const own[] = { NULL, "/blkio.throttle.io_service_bytes" };
	int err = read_account(group, ctx, RTI_CGROUP_IO, recursive, NULL);

	if (err == -ENOENT)
		err = read_account(group, ctx, RTI_CGROUP_IO, own, NULL);
	if (err == 0)
		err = rti_parse_cgroup_blkio(ctx->buf->data, ctx->buf->len, io);
	return err == 0 && io->devices == 0 ? -ENODATA : err;
}

int rti_cgroup_read_io(const struct rti_cgroup *group, const struct rti_context *ctx,
                       uint64_t *read_bytes, uint64_t *write_bytes, bool *is_whole)
{
	static const char *const files[] = { "/io.stat", NULL };
	bool v1 = is_v1(group, RTI_CGROUP_IO);
	struct rti_cgroup_io io = { 0 };
	int err =
	    v1 ? read_blkio(group, ctx, &io) : read_account(group, ctx, RTI_CGROUP_IO, files, NULL);

	if (err == 0 && !v1)
		err = rti_parse_cgroup_io(ctx->buf->data, ctx->buf->len, &io);
	if (err < 0)
		return err;
	*read_bytes = io.read_bytes;
	*write_bytes = io.write_bytes;
	*is_whole = !v1;
	return 0;
}

int rti_cgroup_read_tasks_peak(const struct rti_cgroup *group, const struct rti_context *ctx,
                               uint64_t *tasks)
{
	static const char *const files[] = { "/pids.peak", "/pids.peak" };

	return read_number(group, ctx, RTI_CGROUP_TASKS, files, tasks);
}
