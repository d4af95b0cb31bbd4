/* SPDX-License-Identifier: MIT */
#include "descriptors.h"

#include <dirent.h>
#include <stddef.h>

#include "suite.h"

int count_descriptors(void)
{
	DIR *list = opendir("/proc/self/fd");
	int count = 0;

	ck_assert_ptr_nonnull(list);
	while (readdir(list))
		count++;
	closedir(list);
	return count;
}
