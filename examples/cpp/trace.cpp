// SPDX-License-Identifier: MIT
// Runs a program, and prints each call of getrusage(2) that it and its descendants make.
#include <iostream>
#include <poll.h>

#include "rtrack.hpp"

static void print(const rt_trace_event &event)
{
	std::cout << event.pid << ": getrusage(" << event.who << ") = " << event.result;
	if (event.rusage_valid & 1) // a call that failed has no figures
		std::cout << ", " << event.rusage.ru_utime << " s of user time";
	std::cout << '\n';
}

static int run(const std::vector<std::string> &argv)
{
	rtrack::Trace trace = rtrack::Trace::of_command(argv);
	pollfd loop = { trace.fd(), POLLIN, 0 };
	std::vector<rt_trace_event> events;

	while (trace.read(events)) {
		for (const rt_trace_event &event : events)
			print(event);
		if (events.empty())
			poll(&loop, 1, -1);
	}
	std::cout << trace.totals().read << " calls, " << trace.totals().lost << " lost\n";
	return trace.wait().exit_code;
}

int main(int argc, char **argv)
{
	try {
		return run(std::vector<std::string>(argv + 1, argv + argc));
	} catch (const std::exception &error) {
		std::cerr << error.what() << '\n';
		return 125;
	}
}
