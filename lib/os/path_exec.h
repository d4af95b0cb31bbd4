/* SPDX-License-Identifier: MIT */
/* Executes a program that is searched for in PATH.
 *
 * For the programs of lib/ that become the one they start. It is no part of the library. */
#ifndef RTI_PATH_EXEC_H
#define RTI_PATH_EXEC_H

/* Search argv[0] in PATH and execute it. execvp() would run a file without an executable format in
 * a shell. posix_spawnp() would not, so this does not either. Returns a positive errno; does not
 * return on success. */
int rti_path_exec(char **argv);

#endif
