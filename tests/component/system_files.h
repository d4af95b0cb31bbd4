/* SPDX-License-Identifier: MIT */
/* Files of a whole system below a fixture root. */
#ifndef SYSTEM_FILES_H
#define SYSTEM_FILES_H

#include "fixture.h"

/* Two CPUs, two disks, three network interfaces, two file systems. */
void system_files_write(struct fixture *f);

#endif
