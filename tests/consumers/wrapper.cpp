// SPDX-License-Identifier: MIT
// Calls what the other examples in C++ do not: lists, rows, marks, recorders. test_cpp.py runs it.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

#include "rtrack.hpp"

#define CHECK(is_true)                                                                             \
	do {                                                                                       \
		if (!(is_true)) {                                                                  \
			std::cerr << "line " << __LINE__ << ": " #is_true "\n";                    \
			std::exit(1);                                                              \
		}                                                                                  \
	} while (0)

static const std::size_t BLOCK = 64 << 20;

static std::uint64_t cpu_ns(const rt_process &row)
{
	return row.cpu_user_ns + row.cpu_system_ns;
}

static void burn(double seconds)
{
	rt_rusage now;

	do
		rtrack::check(rt_getrusage(RT_RUSAGE_SELF, &now), "rt_getrusage");
	while (now.ru_utime + now.ru_stime < seconds);
}

/* A child that only waits. It leads a session of its own. */
static pid_t fork_idle()
{
	int ready[2];
	char byte;
	pid_t pid;

	CHECK(pipe(ready) == 0);
	pid = fork();
	if (pid == 0) {
		setsid();
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	CHECK(pid > 0 && read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, nullptr, 0);
}

template <typename Call> static int error_of(Call call)
{
	try {
		call();
	} catch (const std::system_error &error) {
		return error.code().value();
	}
	return 0;
}

static void check_pids(const std::vector<pid_t> &pids)
{
	rtrack::Tracker tracker = rtrack::Tracker::of_pids({ pids[0], pids[1], pids[0] });
	rt_metrics now;

	CHECK(tracker.sample(now) && now.processes == 2);
	CHECK(tracker.processes().size() == 2);
	CHECK(error_of([] { rtrack::Tracker::of_pids({}); }) == EINVAL);
}

static void check_session(pid_t pid)
{
	rt_opts opts = rtrack::options();
	rt_metrics now;

	opts.flags = RT_OPT_SESSION;
	rtrack::Tracker tracker = rtrack::Tracker::of_pid(pid, opts);
	CHECK(tracker.sample(now) && now.processes == 1);
	CHECK(tracker.processes()[0].pid == pid);
}

static void check_texts()
{
	std::vector<char> here(4096);

	CHECK(getcwd(here.data(), here.size()));
	CHECK(rtrack::pid_text(getpid(), RT_TEXT_CWD) == here.data());
	CHECK(rtrack::pid_text(getpid(), RT_TEXT_COMMAND_LINE).size() > 0);
	CHECK(error_of([] { rtrack::pid_text(getpid(), 77); }) == EINVAL);
}

static const rt_process &find(const std::vector<rt_process> &rows, pid_t pid)
{
	for (const rt_process &row : rows)
		if (row.pid == pid)
			return row;
	CHECK(!"a row of the process");
	std::abort();
}

static void check_rows(pid_t other)
{
	rt_opts opts = rtrack::options();
	rt_metrics now;

	opts.flags = RT_OPT_LIST_PROCESSES;
	rtrack::Tracker tracker = rtrack::Tracker::of_system(opts);
	CHECK(tracker.sample(now));
	std::vector<rt_process> first = tracker.processes();
	rt_process before = find(first, getpid());
	burn(static_cast<double>(cpu_ns(before)) / 1e9 + 0.1);
	CHECK(tracker.sample(now));
	rt_process after = find(tracker.processes(), getpid());
	rt_process used = rtrack::row_diff(before, after);
	CHECK(cpu_ns(used) == cpu_ns(after) - cpu_ns(before) && cpu_ns(used) >= 90000000);
	std::vector<rt_process> top = tracker.top(RT_TOP_CPU, 100000);
	CHECK(cpu_ns(find(top, getpid())) == cpu_ns(used) && top.size() < 100000);
	CHECK(tracker.top(RT_TOP_MEMORY, 1).size() == 1);
	CHECK(error_of([&] { rtrack::row_diff(find(first, other), after); }) == ESTALE);
	std::vector<rt_cpu> cpus = tracker.cpus();
	CHECK(rtrack::row_diff(cpus[0], cpus[0]).user_ns == 0);
}

static void touch_block()
{
	volatile char *block = static_cast<volatile char *>(std::malloc(BLOCK));

	CHECK(block);
	for (std::size_t i = 0; i < BLOCK; i += 512)
		block[i] = 1;
	std::free(const_cast<char *>(block));
}

static void check_mark()
{
	rtrack::Tracker tracker = rtrack::Tracker::of_pid(getpid());
	std::uint64_t mark = tracker.mark("block");

	CHECK(tracker.fd() >= 0);
	touch_block();
	rt_peaks peaks = tracker.since(mark);
	CHECK(RT_IS_KNOWN(&peaks, RT_HAS_PEAK_RSS) && peaks.peak_rss_bytes >= BLOCK);
	CHECK(std::string(peaks.label) == "block");
	tracker.unmark(mark);
	CHECK(error_of([&] { tracker.since(mark); }) == ENOENT);
}

static void check_recorder()
{
	rt_recorder_opts opts = rt_recorder_opts();
	std::vector<rt_metrics> samples;
	rt_metrics now;

	opts.flags = RT_RECORDER_PROCESSES;
	opts.interval_ns = 1000000;
	rtrack::Recorder first(rtrack::Tracker::of_pid(getpid()), opts);
	rtrack::Recorder recorder = std::move(first);
	std::uint64_t mark = recorder.tracker().mark();
	while (recorder.totals().taken < 20)
		usleep(1000);
	CHECK(recorder.tracker().since(mark).processes_peak >= 1);
	CHECK(error_of([&] { recorder.tracker().sample(now); }) == EBUSY);
	CHECK(recorder.fd() >= 0);
	recorder.stop();
	rt_metrics latest = recorder.latest();
	CHECK(find(recorder.processes(latest), getpid()).pid == getpid());
	CHECK(recorder.read(samples) && samples.size() >= 20);
	CHECK(samples.back().monotonic_ns == latest.monotonic_ns);
	CHECK(!recorder.read(samples) && samples.empty());
}

static void check_recorder_of_command()
{
	rtrack::Command command = rtrack::Command::start({ "sleep", "0.05" });
	std::vector<rt_metrics> samples;
	rt_outcome outcome;
	rt_metrics now;

	{
		rtrack::Recorder recorder(command.tracker());
		CHECK(command.wait(outcome) && outcome.exit_code == 0);
		while (recorder.read(samples))
			usleep(1000);
	}
	CHECK(!command.tracker().sample(now)); // it was only borrowed
	CHECK(now.tracker_id != 0);
}

/* Names and units of what a trace has, which a program need not repeat. */
static void check_fields()
{
	std::vector<rt_field> fields = rtrack::fields(RT_STRUCT_TRACE_EVENT);

	CHECK(fields.size() == rt_field_count(RT_STRUCT_TRACE_EVENT));
	for (const rt_field &field : fields)
		if (std::strcmp(field.name, "duration_ns") == 0) {
			CHECK(field.offset == offsetof(rt_trace_event, duration_ns));
			CHECK(std::strcmp(field.unit, "ns") == 0);
			return;
		}
	CHECK(!"the field of the duration");
}

int main()
try {
	const std::vector<pid_t> pids = { fork_idle(), fork_idle() };

	check_pids(pids);
	check_session(pids[0]);
	check_rows(pids[1]);
	end(pids[0]);
	end(pids[1]);
	check_texts();
	check_fields();
	check_mark();
	check_recorder();
	check_recorder_of_command();
	return 0;
} catch (const std::exception &error) {
	std::cerr << error.what() << '\n';
	return 1;
}
