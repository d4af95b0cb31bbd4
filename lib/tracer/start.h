/* SPDX-License-Identifier: MIT */
/* The starter: becomes the traced program. */
#ifndef RTT_START_H
#define RTT_START_H

/* Run the starter with the arguments of main(). Returns its exit status; does not return if the
 * program is executed. */
int rtt_start(int argc, char **argv);

#endif
