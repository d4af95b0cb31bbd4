/* SPDX-License-Identifier: MIT */
/* Executes a program that is searched for in PATH.
 *
 * For a process that becomes the program. */
#ifndef RTI_PATH_EXEC_H
#define RTI_PATH_EXEC_H

#include <stdint.h>

/* Search argv[0] in the PATH of this process and execute it, with the environment envp or, if that
 * is NULL, with its own. execvp() would run a file without an executable format in a shell.
 * posix_spawnp() would not, so this does not either. Returns a positive errno; does not return on
 * success. If maxrss_kib is not NULL, it receives ru_maxrss of the process right before the exec,
 * which hands it on to the program. */
int rti_path_exec(char **argv, char **envp, int64_t *maxrss_kib);

#endif
