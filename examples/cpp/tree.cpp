// SPDX-License-Identifier: MIT
// Lists the processes of a tree with CPU time and memory. The default root is this process.
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <unistd.h>

#include "rtrack.hpp"

// An unknown figure is shown as a question mark, never as 0.
template <typename Figure> static void print_known(bool is_known, int width, Figure figure)
{
	std::cout << std::setw(width);
	if (is_known)
		std::cout << figure;
	else
		std::cout << '?';
}

static void print(const rt_process &process)
{
	std::cout << std::setw(8) << process.pid << std::setw(8) << process.ppid << std::fixed
		  << std::setprecision(3);
	print_known(RT_IS_KNOWN(&process, RT_HAS_CPU), 12,
	            static_cast<double>(process.cpu_user_ns + process.cpu_system_ns) / 1e9);
	print_known(RT_IS_KNOWN(&process, RT_HAS_RSS), 12, process.rss_bytes / 1024);
	std::cout << "  " << process.comm << '\n';
}

int main(int argc, char **argv)
try {
	rtrack::Tracker tracker = rtrack::Tracker::of_pid(argc > 1 ? std::atoi(argv[1]) : getpid());
	rt_metrics now;

	tracker.sample(now);
	std::cout << "     pid    ppid     cpu (s)   rss (KiB)  name\n";
	for (const rt_process &process : tracker.processes())
		print(process);
	return 0;
} catch (const std::exception &error) {
	std::cerr << argv[0] << ": " << error.what() << '\n';
	return 1;
}
