/* SPDX-License-Identifier: MIT */
/* A fake libnvidia-ml.so.1, and the script that it follows.
 *
 * Lines of a script:
 *	gpu BUS PERCENT USED TOTAL MILLIJOULES NAME     a device, from number 0; BUS in hexadecimal
 *	instance GPU USED TOTAL                         a MIG instance, from number 100 on
 *	process GPU LIST PID BYTES                      LIST is c, m or g; BYTES -1 is unknown
 *	sample GPU PID TIMESTAMP SM ENCODE DECODE       use of time, in percent
 *	entry BYTES                                     of an entry in the lists of version 3
 *	result CALL CODE [GPU]                          what a call returns
 *	hang CALL                                       until the line is gone; "load": when opened
 *	claim CALL COUNT                                how long a list is said to be
 *	grow CALL TIMES                                 a list is too long for its room, so often
 *	unterminated CALL 1                             a text fills its room, without an end
 *	address DOMAIN BUS DEVICE                       of a device, from number 0 */
#ifndef NVML_FIXTURE_H
#define NVML_FIXTURE_H

#include "fixture.h"

struct nvml_fixture {
	struct fixture files;
};

/* Have the fake library follow a script of this fixture. It is empty at first. */
void nvml_fixture_new(struct nvml_fixture *f);
void nvml_fixture_free(struct nvml_fixture *f);

/* Returns the path of the library that has calls up to this version, 1 to 3; 0: hardly any. */
const char *nvml_fixture_library(int version);

/* Replace the script. The library sees the old one or the new one, nothing between. */
void nvml_fixture_script(struct nvml_fixture *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns how often a call was made. */
int nvml_fixture_calls(const struct nvml_fixture *f, const char *call);

/* Returns the last argument of the last call of this name, or -1. */
long long nvml_fixture_argument(const struct nvml_fixture *f, const char *call);

/* Forget the calls so far. */
void nvml_fixture_forget(struct nvml_fixture *f);

#endif
