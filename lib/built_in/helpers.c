/* SPDX-License-Identifier: MIT */
/* The program that the static library contains: supervisor, tracer and starter in one. */
#include "built_in/mains.h"

#define USAGE 2

int main(int argc, char **argv)
{
	int status;

	return rti_be_helper(argc, argv, &status) ? status : USAGE;
}
