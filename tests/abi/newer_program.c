/* SPDX-License-Identifier: MIT */
/* A program that calls the function NEWER, which older releases lack. With -DBY_NAME it looks the
 * function up instead. It prints whether the library has it. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include <rtrack/rtrack.h>

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

#ifdef BY_NAME
#define call_newer(c) 0
#else
#define call_newer(c) NEWER(c)
#endif

int main(void)
{
	if (call_newer(NULL) != 0 && call_newer(NULL) != -EFAULT)
		return 1;
	printf("%s\n", dlsym(RTLD_DEFAULT, TEXT(NEWER)) ? "present" : "absent");
	return rt_version() >= RT_VERSION_ENCODE(0, 1, 0) ? 0 : 1;
}
