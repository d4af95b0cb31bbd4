/* SPDX-License-Identifier: MIT */
/* A trace by BPF programs on a plug-in of the test's own, which refuses as the test says. */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bpf/module.h"
#include "bpf/trace/trace.h"
#include "suite.h"
#include "trace/back_end.h"

static struct {
	int module_error, typed_error, raw_error, arm_error, command_error;
	unsigned typed_opens, raw_opens, closes, module_closes, starts;
	int armed; /* how often it was armed, less how often it was disarmed */
	int fd;
	uint32_t room_bytes; /* for the ring; 0: any */
} fake;

static int open_tracer(void **out, const struct rti_trace_target *target)
{
	int err = target->is_raw ? fake.raw_error : fake.typed_error;

	if (target->is_raw)
		fake.raw_opens++;
	else
		fake.typed_opens++;
	if (target->ring_bytes > fake.room_bytes && fake.room_bytes)
		err = -ENOMEM;
	if (err == 0)
		*out = &fake;
	return err;
}

static int arm(void *state, bool is_armed)
{
	(void)state;
	fake.armed += is_armed ? 1 : -1;
	return is_armed ? fake.arm_error : 0;
}

static int get_fd(const void *state)
{
	(void)state;
	return fake.fd;
}

static void close_tracer(void *state)
{
	(void)state;
	fake.closes++;
}

static void get_ring_state(const void *state, struct rti_trace_state_of_ring *out)
{
	(void)state;
	*out = (struct rti_trace_state_of_ring){ 0 };
}

static const struct rti_trace_ops ops = { .open = open_tracer,
	                                  .arm = arm,
	                                  .fd = get_fd,
	                                  .get_state = get_ring_state,
	                                  .close = close_tracer };

/* The linker calls these instead of the functions in their names. */
int __wrap_rti_module_open(struct rti_module *module, const char *entry,
                           struct rti_module_version version);
void __wrap_rti_module_close(struct rti_module *module);
int __wrap_rt_command_start(struct rt_command **out, const struct rt_command_opts *opts);

int __wrap_rti_module_open(struct rti_module *module, const char *entry,
                           struct rti_module_version version)
{
	ck_assert_str_eq(entry, RTI_TRACE_ENTRY);
	ck_assert_uint_eq(version.row_size, sizeof(struct rti_trace_record));
	module->ops = &ops;
	return fake.module_error;
}

void __wrap_rti_module_close(struct rti_module *module)
{
	ck_assert_ptr_eq(module->ops, &ops);
	fake.module_closes++;
}

int __wrap_rt_command_start(struct rt_command **out, const struct rt_command_opts *opts)
{
	(void)out;
	(void)opts;
	fake.starts++;
	return fake.command_error;
}

static char reason[512];
static const struct rti_trace_request request = { .calls = RT_TRACE_CALL_WAIT4,
	                                          .ring = { .bytes = 65536 },
	                                          .pid = 4711,
	                                          .reason = reason,
	                                          .reason_size = sizeof(reason) };

static void set_up(void)
{
	fake.fd = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_ge(fake.fd, 0);
}

static void tear_down(void)
{
	close(fake.fd);
}

static const struct {
	int typed_error, raw_error, err;
	unsigned raw_opens;
} kernels[] = {
	{ 0, 0, 0, 0 },
	{ -EPERM, 0, 0, 1 },
	{ -EOPNOTSUPP, 0, 0, 1 },
	{ -EPERM, -EOPNOTSUPP, -EPERM, 1 },
	{ -EOPNOTSUPP, -EPERM, -EOPNOTSUPP, 1 },
	{ -ENOMEM, 0, -ENOMEM, 0 },
	{ -ESRCH, 0, -ESRCH, 0 },
	{ -EMFILE, 0, -EMFILE, 0 },
};

START_TEST(kernel_that_refuses_typed_tracepoints_is_asked_for_raw_ones)
{
	void *trace = NULL;

	fake.typed_error = kernels[_i].typed_error;
	fake.raw_error = kernels[_i].raw_error;
	ck_assert_int_eq(rti_trace_bpf.open(&trace, &request), kernels[_i].err);
	ck_assert_uint_eq(fake.typed_opens, 1);
	ck_assert_uint_eq(fake.raw_opens, kernels[_i].raw_opens);
	ck_assert(!trace == (kernels[_i].err < 0));
	if (trace)
		rti_trace_bpf.close(trace);
	ck_assert_uint_eq(fake.closes, kernels[_i].err == 0);
	ck_assert_uint_eq(fake.module_closes, 1);
}
END_TEST

/* E.g.: there are few addresses left, on 32 bits. */
START_TEST(ring_without_room_is_halved_down_to_the_least_that_will_do)
{
	static const struct {
		uint32_t min_bytes, room_bytes, opens;
		int err;
	} rings[] = {
		{ 65536, 1u << 20, 1, 0 },   { 65536, 256u << 10, 3, 0 }, { 65536, 65536, 5, 0 },
		{ 65536, 4096, 5, -ENOMEM }, { 0, 65536, 1, -ENOMEM }, /* it was asked for */
	};
	struct rti_trace_request sized = request;
	struct rti_trace_state state;
	void *trace;

	for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
		fake.typed_opens = 0;
		fake.room_bytes = rings[i].room_bytes;
		sized.ring = (struct rti_ring_size){ 1u << 20, rings[i].min_bytes };
		ck_assert_int_eq(rti_trace_bpf.open(&trace, &sized), rings[i].err);
		ck_assert_uint_eq(fake.typed_opens, rings[i].opens);
		if (rings[i].err < 0)
			continue;
		rti_trace_bpf.get_state(trace, &state);
		ck_assert_uint_eq(state.ring_bytes, rings[i].room_bytes);
		rti_trace_bpf.close(trace);
	}
}
END_TEST

/* That there is no plug-in is a matter of installation. All else may pass. */
START_TEST(plug_in_that_cannot_be_opened_has_its_error)
{
	static const int errors[][2] = { { -ENOENT, -ENOPKG },
		                         { -ENOMEM, -ENOMEM },
		                         { -EMFILE, -EMFILE } };
	void *trace = NULL;

	fake.module_error = errors[_i][0];
	*reason = '\0';
	ck_assert_int_eq(rti_trace_bpf.open(&trace, &request), errors[_i][1]);
	ck_assert_ptr_null(trace);
	ck_assert(!strstr(reason, "is not installed") == (errors[_i][1] != -ENOPKG));
	ck_assert_uint_eq(fake.typed_opens + fake.module_closes, 0);
}
END_TEST

/* A program that ran without a trace would have run for nothing. */
START_TEST(command_is_started_while_the_thread_is_armed_or_not_at_all)
{
	static const struct {
		int arm_error, command_error, err;
		unsigned starts;
	} cases[] = { { 0, 0, 0, 1 }, { 0, -ENOENT, -ENOENT, 1 }, { -EPERM, 0, -EPERM, 0 } };
	struct rt_command *command = NULL;
	void *trace;

	fake.arm_error = cases[_i].arm_error;
	fake.command_error = cases[_i].command_error;
	ck_assert_int_eq(rti_trace_bpf.open(&trace, &request), 0);
	ck_assert_int_eq(rti_trace_bpf.start(trace, &request, &command), cases[_i].err);
	ck_assert_uint_eq(fake.starts, cases[_i].starts);
	ck_assert_int_eq(fake.armed, 0);
	rti_trace_bpf.close(trace);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bpf");
	TCase *tests = suite_case(suite, "plug-in");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, kernel_that_refuses_typed_tracepoints_is_asked_for_raw_ones, 0,
	                    sizeof(kernels) / sizeof(kernels[0]));
	tcase_add_test(tests, ring_without_room_is_halved_down_to_the_least_that_will_do);
	tcase_add_loop_test(tests, plug_in_that_cannot_be_opened_has_its_error, 0, 3);
	tcase_add_loop_test(tests, command_is_started_while_the_thread_is_armed_or_not_at_all, 0,
	                    3);
	return suite_run(suite);
}
