/* SPDX-License-Identifier: MIT */
/* What tests may change about the ZFS collector. */
#ifndef RTI_SYS_ZFS_H
#define RTI_SYS_ZFS_H

#include <stdint.h>

struct rti_zfs_setup {
	const char *const *programs; /* paths to try in turn, ended by NULL */
	uint64_t timeout_ns;         /* after which the program is killed */
};

/* Between open() and the first collect(). setup must live as long as the state. */
void rti_sys_zfs_set_up(void *state, const struct rti_zfs_setup *setup);

#endif
