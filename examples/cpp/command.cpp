// SPDX-License-Identifier: MIT
// Starts a program, waits for it in an event loop, and prints what it has used.
#include <iostream>
#include <poll.h>

#include "rtrack.hpp"

static int run(const std::vector<std::string> &argv)
{
	rtrack::Command command = rtrack::Command::start(argv);
	pollfd loop = { command.fd(), POLLIN, 0 };
	rt_outcome outcome;

	while (!command.dispatch())
		poll(&loop, 1, -1);
	command.wait(outcome);
	std::cout << "accounting " << command.info().accounting << ", exit code "
		  << outcome.exit_code << ", " << outcome.cpu_user_ns + outcome.cpu_system_ns
		  << " ns of CPU time\n";
	return outcome.exit_code;
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
