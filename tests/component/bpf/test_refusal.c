/* SPDX-License-Identifier: MIT */
/* Why no BPF program can be loaded, by the rights of the caller. What the system says is the
 * test's. */
#include "bpf/refusal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "os/capability.h"
#include "os/kernel_abi.h"
#include "os/word_file.h"
#include "suite.h"
#include "trace/bpf_error.h"

#define BPF 1u
#define PERFMON 2u
#define ADMIN 4u

static unsigned rights;

/* The linker calls these instead of the functions in their names. */
bool __wrap_rti_has_capability(unsigned capability);
void __wrap_rti_read_word(enum rti_base base, const char *path, char *out, size_t size);

bool __wrap_rti_has_capability(unsigned capability)
{
	return (capability == RTI_CAP_BPF && rights & BPF) ||
	       (capability == RTI_CAP_PERFMON && rights & PERFMON) ||
	       (capability == RTI_CAP_SYS_ADMIN && rights & ADMIN);
}

void __wrap_rti_read_word(enum rti_base base, const char *path, char *out, size_t size)
{
	(void)base;
	ck_assert_str_eq(path, "kernel/security/lockdown");
	snprintf(out, size, "none");
}

/* CAP_SYS_ADMIN has both of the others. */
static const struct {
	unsigned rights;
	bool lacks_one;
	const char *part;
} callers[] = {
	{ 0, true, "BPF programs need CAP_BPF and CAP_PERFMON, which" },
	{ BPF, true, "BPF programs need CAP_PERFMON, which" },
	{ PERFMON, true, "BPF programs need CAP_BPF, which" },
	{ BPF | PERFMON, false, "may not use them here" },
	{ ADMIN, false, "may not use them here" },
	{ ADMIN | BPF, false, "may not use them here" },
};

START_TEST(refused_caller_lacks_a_capability_that_admin_has_or_may_not_use_it)
{
	char message[512];
	struct rti_text text = rti_text(message, sizeof(message));

	rights = callers[_i].rights;
	rti_bpf_refusal_add(&text, -EPERM, "5.17");
	ck_assert_msg(strstr(message, callers[_i].part), "%s", message);
	ck_assert(rti_bpf_lacks_capability() == callers[_i].lacks_one);
}
END_TEST

/* ptrace helps those without rights, and only from the start of a program on. */
START_TEST(ptrace_is_named_to_a_caller_without_rights_that_could_start_a_command)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	char reason[512] = "";
	struct rti_trace_request request = { .pid = 4711,
		                             .reason = reason,
		                             .reason_size = sizeof(reason) };

	rights = callers[_i].rights;
	rti_bpf_describe(&request, -EPERM);
	ck_assert(!strstr(reason, "by ptrace") == !callers[_i].lacks_one);
	request.command = &command;
	rti_bpf_describe(&request, -EPERM);
	ck_assert_ptr_null(strstr(reason, "by ptrace"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("refusal");
	TCase *tests = suite_case(suite, "callers");

	tcase_add_loop_test(tests,
	                    refused_caller_lacks_a_capability_that_admin_has_or_may_not_use_it, 0,
	                    sizeof(callers) / sizeof(callers[0]));
	tcase_add_loop_test(tests,
	                    ptrace_is_named_to_a_caller_without_rights_that_could_start_a_command,
	                    0, sizeof(callers) / sizeof(callers[0]));
	return suite_run(suite);
}
