/* SPDX-License-Identifier: MIT */
/* The helpers as functions of one program. */
#ifndef RTI_MAINS_H
#define RTI_MAINS_H

#include <stdbool.h>

/* Be a supervisor, a tracer or a starter, if the first argument is one of theirs, which no other
 * program has. Returns false if it is not; else *status is the exit status. */
bool rti_be_helper(int argc, char **argv, int *status);

/* main() of supervisor/main.c and of tracer/main.c. */
int rts_main(int argc, char **argv);
int rtt_main(int argc, char **argv);

#endif
