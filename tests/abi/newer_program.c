/* SPDX-License-Identifier: MIT */
/* A program of release 0.2 or later: it calls a function that release 0.1 lacks. With -DBY_NAME it
 * looks the function up instead, and prints whether the library has it. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include <rtrack/rtrack.h>

#ifdef BY_NAME
#define kill_command(c) 0
#else
#define kill_command(c) rt_command_kill(c)
#endif

int main(void)
{
	if (kill_command(NULL) != 0 && kill_command(NULL) != -EFAULT)
		return 1;
	printf("%s\n", dlsym(RTLD_DEFAULT, "rt_command_kill") ? "present" : "absent");
	return rt_version() >= RT_VERSION_ENCODE(0, 1, 0) ? 0 : 1;
}
