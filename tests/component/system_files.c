/* SPDX-License-Identifier: MIT */
#include "system_files.h"

void system_files_write(struct fixture *f)
{
	fixture_mkdir(f, "proc/1");
	fixture_write(f, "proc/stat",
	              "cpu  10 20 30 40 5 6 7 8 9 1\ncpu0 5 10 15 20 2 3 3 4 4 1\n"
	              "cpu1 5 10 15 20 3 3 4 4 5 0\nintr 900 1 2 3\nctxt 800\nbtime 7\n"
	              "processes 600\nprocs_running 2\nprocs_blocked 1\nsoftirq 5 4 3\n");
	fixture_write(f, "proc/meminfo",
	              "MemTotal: 1000 kB\nMemFree: 500 kB\nMemAvailable: 700 kB\nBuffers: 10 kB\n"
	              "Cached: 100 kB\nSwapCached: 1 kB\nActive: 80 kB\nInactive: 70 kB\n"
	              "Active(anon): 50 kB\nInactive(anon): 40 kB\nActive(file): 30 kB\n"
	              "Inactive(file): 20 kB\nSwapTotal: 90 kB\nSwapFree: 80 kB\n"
	              "AnonPages: 60 kB\nMapped: 15 kB\nShmem: 12 kB\nSlab: 44 kB\n"
	              "SReclaimable: 25 kB\nSUnreclaim: 19 kB\nKernelStack: 3 kB\n");
	fixture_write(f, "proc/diskstats",
	              "   8       0 sda 100 1 200 3 400 5 600 7 0 9 10\n"
	              "   8       1 sda1 50 1 100 3 200 5 300 7 0 4 5\n"
	              "   8      16 sdb 11 1 22 3 44 5 66 7 2 8 9\n");
	fixture_write(f, "proc/net/dev",
	              "Inter-|   Receive                            |  Transmit\n"
	              " face |bytes packets errs drop fifo frame compressed multicast|bytes\n"
	              "    lo: 500 5 0 0 0 0 0 0 500 5 0 0 0 0 0 0\n"
	              "  eth0: 7000 70 1 2 0 0 0 0 8000 80 3 4 0 0 0 0\n"
	              "  eth1: 900 9 0 0 0 0 0 0 1000 10 0 0 0 0 0 0\n");
	fixture_write(f, "proc/1/net/dev",
	              "Inter-|   Receive                            |  Transmit\n"
	              " face |bytes packets errs drop fifo frame compressed multicast|bytes\n"
	              "  eth0: 7000 70 1 2 0 0 0 0 8000 80 3 4 0 0 0 0\n"
	              "  eth1: 900 9 0 0 0 0 0 0 1000 10 0 0 0 0 0 0\n");
	fixture_write(f, "proc/loadavg", "0.50 1.25 2.75 3/456 7890\n");
	for (int i = 0; i < 3; i++) {
		static const char *const files[] = { "proc/pressure/cpu", "proc/pressure/memory",
			                             "proc/pressure/io" };

		fixture_write(f, files[i],
		              "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\n"
		              "full avg10=0.00 avg60=0.00 avg300=0.00 total=567\n");
	}
	fixture_write(f, "proc/1/mountinfo",
	              "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	              "21 20 8:16 / /srv rw,relatime - ext4 /dev/sdb rw,errors=continue\n");
}
