// SPDX-License-Identifier: MIT
/** @file
 *  librtrack for C++11 and later. A class owns each handle, and errors are std::system_error.
 *
 *  The structs, their fields and the bits of `valid` are those of the C header. */
#ifndef RTRACK_HPP
#define RTRACK_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <rtrack/rtrack.h>

namespace rtrack
{

/** Throws std::system_error if err is negative. */
inline void check(int err, const char *what)
{
	if (err < 0)
		throw std::system_error(-err, std::generic_category(), what);
}

/** Returns default options with their size set. */
inline rt_opts options()
{
	rt_opts opts = rt_opts();

	opts.size = sizeof(opts);
	return opts;
}

/** Returns the RT_HAS_ bits that an RT_KIND_ of tracker can measure. */
inline std::uint64_t domains(std::uint32_t kind)
{
	return rt_domains(kind);
}

/** Returns the RT_HAS_ bits that a tracker measures if rt_opts.want is 0. */
inline std::uint64_t default_domains(std::uint32_t kind)
{
	return rt_default_domains(kind);
}

/** Returns the constants of the header that the library was built with. */
inline std::vector<rt_constant> constants()
{
	std::vector<rt_constant> all;
	rt_constant constant;

	while (rt_constant_get(static_cast<std::uint32_t>(all.size()), &constant,
	                       sizeof(constant)) == 0)
		all.push_back(constant);
	return all;
}

/** Returns the difference from one sample to a later one of the same tracker. */
inline rt_delta diff(const rt_metrics &from, const rt_metrics &to)
{
	rt_delta out;

	check(rt_diff(&from, &to, &out, sizeof(out)), "rt_diff");
	return out;
}

/** Returns some figures of one process, without a tracker. want has their RT_HAS_ bits; 0 is CPU
 * time, RSS, page faults and threads. */
inline rt_process pid_read(std::int32_t pid, std::uint64_t want = 0)
{
	rt_process out;

	check(rt_pid_read(pid, want, &out, sizeof(out)), "rt_pid_read");
	return out;
}

/** Returns the descendants of a process, parents before their children. */
inline std::vector<std::int32_t> pid_descendants(std::int32_t pid)
{
	std::vector<std::int32_t> pids(64);
	std::size_t count = pids.size();

	check(rt_pid_descendants(pid, pids.data(), &count), "rt_pid_descendants");
	while (count > pids.size()) {
		pids.resize(count + count / 4); // it may have grown by the next call
		count = pids.size();
		check(rt_pid_descendants(pid, pids.data(), &count), "rt_pid_descendants");
	}
	pids.resize(count);
	return pids;
}

/** Returns whether a block device is a partition of another one, by its kernel name. */
inline bool is_partition(const std::string &name)
{
	int result = rt_is_partition(name.c_str());

	check(result, "rt_is_partition");
	return result > 0;
}

/** Has the options receive a message, which a library before 0.3 would refuse. */
template <typename Opts>
void set_message(Opts &opts, std::uint32_t struct_id, char *message, std::uint32_t size)
{
	if (rt_field_struct_size(struct_id) < sizeof(opts))
		return;
	opts.message = message;
	opts.message_size = size;
}

/** Follows a process tree, a cgroup or the system. It can be moved, not copied. */
class Tracker
{
      public:
	/** The message of the exception names what failed. */
	static Tracker of_pid(std::int32_t pid, rt_opts opts = options())
	{
		char message[512] = "rt_pid_tracker_new";
		rt_tracker *t;

		set_message(opts, RT_STRUCT_OPTS, message, sizeof(message));
		check(rt_pid_tracker_new(&t, pid, &opts), message);
		return Tracker(t);
	}

	static Tracker of_system(rt_opts opts = options())
	{
		char message[512] = "rt_system_tracker_new";
		rt_tracker *t;

		set_message(opts, RT_STRUCT_OPTS, message, sizeof(message));
		check(rt_system_tracker_new(&t, &opts), message);
		return Tracker(t);
	}

	/** name: a path below the mounts, a directory of one hierarchy, or a line of
	 * /proc/PID/cgroup. */
	static Tracker of_cgroup(const std::string &name, rt_opts opts = options())
	{
		char message[512] = "rt_cgroup_tracker_new";
		rt_tracker *t;

		set_message(opts, RT_STRUCT_OPTS, message, sizeof(message));
		check(rt_cgroup_tracker_new(&t, name.c_str(), &opts), message);
		return Tracker(t);
	}

	/** Takes a sample. Returns false if all followed processes have ended: out then holds the
	 * last totals. */
	bool sample(rt_metrics &out)
	{
		int err = rt_sample(handle.get(), &out, sizeof(out));

		if (err == -static_cast<int>(std::errc::no_such_process))
			return false;
		check(err, "rt_sample");
		return true;
	}

	/** Peak poll: updates memory peaks and process events between two samples, at a lower cost
	 * than a sample. */
	void glance()
	{
		check(rt_tracker_glance(handle.get()), "rt_tracker_glance");
	}

	/** Has the next sample read all that footprint_bytes and needed_bytes rest on. */
	void read_memory()
	{
		check(rt_tracker_read_memory(handle.get()), "rt_tracker_read_memory");
	}

	/** Returns why a figure of the last sample is missing or partial. The code is 0 if the
	 * figure is complete. */
	std::error_code status(std::uint64_t has) const
	{
		return std::error_code(-rt_tracker_status(handle.get(), has),
		                       std::generic_category());
	}

	/** Returns why a domain of the last sample is not complete, and what would help. */
	rt_obstacle obstacle(std::uint64_t has) const
	{
		rt_obstacle out;

		check(rt_tracker_obstacle(handle.get(), has, &out, sizeof(out)),
		      "rt_tracker_obstacle");
		return out;
	}

	std::vector<rt_process> processes() const
	{
		return list(rt_tracker_processes);
	}
	std::vector<rt_cpu> cpus() const
	{
		return list(rt_tracker_cpus);
	}
	std::vector<rt_disk> disks() const
	{
		return list(rt_tracker_disks);
	}
	std::vector<rt_filesystem> filesystems() const
	{
		return list(rt_tracker_filesystems);
	}
	std::vector<rt_network> networks() const
	{
		return list(rt_tracker_networks);
	}
	std::vector<rt_zpool> zpools() const
	{
		return list(rt_tracker_zpools);
	}
	std::vector<rt_gpu> gpus() const
	{
		return list(rt_tracker_gpus);
	}
	std::vector<rt_gpu_process> gpu_processes() const
	{
		return list(rt_tracker_gpu_processes);
	}

      private:
	struct Free {
		void operator()(rt_tracker *t) const
		{
			rt_tracker_free(t);
		}
	};

	explicit Tracker(rt_tracker *t) : handle(t)
	{
	}

	template <typename Row>
	std::vector<Row> list(int (*call)(const rt_tracker *, Row *, std::size_t,
	                                  std::size_t *)) const
	{
		std::size_t count = 0;
		std::vector<Row> rows;

		check(call(handle.get(), nullptr, sizeof(Row), &count), "list");
		rows.resize(count);
		if (count)
			check(call(handle.get(), rows.data(), sizeof(Row), &count), "list");
		return rows;
	}

	std::unique_ptr<rt_tracker, Free> handle;
};

/** A started program and its descendants. It can be moved, not copied. Other threads may call
 *  signal() and kill() while one is in wait(). The program continues to run when this is destroyed,
 *  unless RT_COMMAND_KILL_ON_FREE is set. */
class Command
{
      public:
	/** Starts argv, with the other options as they are. The message of the exception names what
	 * failed. */
	static Command start(const std::vector<std::string> &argv,
	                     rt_command_opts opts = rt_command_opts())
	{
		std::vector<const char *> words;
		char message[512] = "rt_command_start";
		rt_command *c;

		for (const std::string &word : argv)
			words.push_back(word.c_str());
		words.push_back(nullptr);
		opts.size = sizeof(opts);
		opts.argv = words.data();
		set_message(opts, RT_STRUCT_COMMAND_OPTS, message, sizeof(message));
		check(rt_command_start(&c, &opts), message);
		return Command(c);
	}

	std::int32_t pid() const
	{
		return rt_command_pid(handle.get());
	}

	/** What it runs as: its accounting method and its start. */
	rt_command_info info() const
	{
		rt_command_info out;

		check(rt_command_get_info(handle.get(), &out, sizeof(out)), "rt_command_get_info");
		return out;
	}

	/** Descriptor for an event loop: readable when dispatch() has something to do. */
	int fd() const
	{
		int fd = rt_command_fd(handle.get());

		check(fd, "rt_command_fd");
		return fd;
	}

	/** Does what is due, without waiting. Returns whether the program has ended. */
	bool dispatch()
	{
		return is_over(rt_command_wait(handle.get(), 0, nullptr, 0), "rt_command_wait");
	}

	/** Waits for a time, without limit if it is negative. Returns false if the program still
	 * runs: out is untouched then. */
	bool wait(rt_outcome &out, std::int64_t timeout_ns = -1)
	{
		return is_over(rt_command_wait(handle.get(), timeout_ns, &out, sizeof(out)),
		               "rt_command_wait");
	}

	/** A text of a process of the list: empty if it is not known. text: an RT_TEXT_ value. The
	 * arguments are separated by NUL. */
	std::string process_text(std::size_t row, std::uint32_t text) const
	{
		std::size_t length = 0;
		std::string out;

		check(rt_command_process_text(handle.get(), row, text, nullptr, &length),
		      "rt_command_process_text");
		out.resize(length);
		check(rt_command_process_text(handle.get(), row, text, &out[0], &length),
		      "rt_command_process_text");
		return out;
	}

	void signal(int number)
	{
		check(rt_command_signal(handle.get(), number), "rt_command_signal");
	}

	/* End a wait of another thread, or else the next one: it throws EINTR. */
	void interrupt()
	{
		check(rt_command_interrupt(handle.get()), "rt_command_interrupt");
	}

	void kill()
	{
		check(rt_command_kill(handle.get()), "rt_command_kill");
	}

      private:
	struct Free {
		void operator()(rt_command *c) const
		{
			rt_command_free(c);
		}
	};

	explicit Command(rt_command *c) : handle(c)
	{
	}

	static bool is_over(int err, const char *what)
	{
		if (err == -static_cast<int>(std::errc::timed_out))
			return false;
		check(err, what);
		return true;
	}

	std::unique_ptr<rt_command, Free> handle;
};

/** Traces calls of getrusage(2). It can be moved, not copied. Processes run on when this is
 *  destroyed. */
class Trace
{
      public:
	/** Starts argv and traces it with its descendants. The other options are as they are; the
	 * message of an exception says what would help. */
	static Trace of_command(const std::vector<std::string> &argv,
	                        rt_trace_opts opts = rt_trace_opts(),
	                        rt_command_opts command = rt_command_opts())
	{
		std::vector<const char *> words;

		for (const std::string &word : argv)
			words.push_back(word.c_str());
		words.push_back(nullptr);
		command.size = sizeof(command);
		command.argv = words.data();
		opts.command = &command;
		return begin(opts);
	}

	/** Traces a process and its descendants. */
	static Trace of_pid(std::int32_t pid, rt_trace_opts opts = rt_trace_opts())
	{
		opts.pid = pid;
		return begin(opts);
	}

	/** Traces all processes of the machine. */
	static Trace of_system(rt_trace_opts opts = rt_trace_opts())
	{
		opts.flags |= RT_TRACE_OPT_ALL;
		return begin(opts);
	}

	/** Descriptor for an event loop: readable when read() has something to return. */
	int fd() const
	{
		int fd = rt_trace_fd(handle.get());

		check(fd, "rt_trace_fd");
		return fd;
	}

	/** Takes calls that wait, at most room of them. Returns false if all traced processes have
	 * ended and no call waits. */
	bool read(std::vector<rt_trace_event> &out, std::size_t room = 64)
	{
		std::size_t count = room;
		int err;

		out.resize(room);
		err = rt_trace_read(handle.get(), out.data(), sizeof(rt_trace_event), &count);
		out.resize(err < 0 ? 0 : count);
		if (err == -static_cast<int>(std::errc::no_such_process))
			return false;
		check(err, "rt_trace_read");
		return true;
	}

	rt_trace_totals totals() const
	{
		rt_trace_totals out;

		check(rt_trace_get_totals(handle.get(), &out, sizeof(out)), "rt_trace_get_totals");
		return out;
	}

	/** The command that was started, or NULL. It belongs to the trace. */
	rt_command *command() const
	{
		return rt_trace_command(handle.get());
	}

	/** Waits for the command that was started. */
	rt_outcome wait()
	{
		rt_outcome out;
		int err;

		do {
			err = rt_command_wait(command(), -1, &out, sizeof(out));
		} while (err == -static_cast<int>(std::errc::interrupted));
		check(err, "rt_command_wait");
		return out;
	}

      private:
	struct Free {
		void operator()(rt_trace *t) const
		{
			rt_trace_free(t);
		}
	};

	explicit Trace(rt_trace *t) : handle(t)
	{
	}

	static Trace begin(rt_trace_opts &opts)
	{
		char message[512] = "rt_trace_new";
		rt_trace *t;

		opts.size = sizeof(opts);
		opts.message = message;
		opts.message_size = sizeof(message);
		check(rt_trace_new(&t, &opts), message);
		return Trace(t);
	}

	std::unique_ptr<rt_trace, Free> handle;
};

} // namespace rtrack

#endif
