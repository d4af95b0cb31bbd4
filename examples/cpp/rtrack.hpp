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
#include <type_traits>
#include <utility>
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

/** Returns the fields of a struct (RT_STRUCT_), with their units and what they mean. */
inline std::vector<rt_field> fields(std::uint32_t struct_id)
{
	std::vector<rt_field> all(rt_field_count(struct_id));

	for (std::uint32_t i = 0; i < all.size(); i++)
		check(rt_field_get(struct_id, i, &all[i], sizeof(all[i])), "rt_field_get");
	return all;
}

/** Returns the difference from one sample to a later one of the same tracker. */
inline rt_delta diff(const rt_metrics &from, const rt_metrics &to)
{
	rt_delta out;

	check(rt_diff(&from, &to, &out, sizeof(out)), "rt_diff");
	return out;
}

/** The RT_STRUCT_ value of a row of a list. */
template <typename Row> struct RowId;
template <> struct RowId<rt_process> : std::integral_constant<std::uint32_t, RT_STRUCT_PROCESS> {
};
template <> struct RowId<rt_cpu> : std::integral_constant<std::uint32_t, RT_STRUCT_CPU> {
};
template <> struct RowId<rt_disk> : std::integral_constant<std::uint32_t, RT_STRUCT_DISK> {
};
template <>
struct RowId<rt_filesystem> : std::integral_constant<std::uint32_t, RT_STRUCT_FILESYSTEM> {
};
template <> struct RowId<rt_network> : std::integral_constant<std::uint32_t, RT_STRUCT_NETWORK> {
};
template <> struct RowId<rt_zpool> : std::integral_constant<std::uint32_t, RT_STRUCT_ZPOOL> {
};
template <> struct RowId<rt_gpu> : std::integral_constant<std::uint32_t, RT_STRUCT_GPU> {
};
template <>
struct RowId<rt_gpu_process> : std::integral_constant<std::uint32_t, RT_STRUCT_GPU_PROCESS> {
};

/** Returns what one item of a list has done between two rows: counters are subtracted, all else is
 * that of the later row. */
template <typename Row> Row row_diff(const Row &from, const Row &to)
{
	const std::uint32_t id = RowId<Row>::value;
	Row out;

	check(rt_row_diff(id, &from, &to, &out, sizeof(out)), "rt_row_diff");
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

/** Returns a text of a process: RT_TEXT_COMMAND_LINE, with a NUL between arguments, or RT_TEXT_CWD.
 * Empty for a zombie. */
inline std::string pid_text(std::int32_t pid, std::uint32_t text)
{
	std::string out(4096, '\0');
	std::size_t size = out.size();

	check(rt_pid_text(pid, text, &out[0], &size), "rt_pid_text");
	while (size > out.size()) { // it may have grown by the next call
		out.resize(size);
		check(rt_pid_text(pid, text, &out[0], &size), "rt_pid_text");
	}
	out.resize(size);
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

	/** Follows several processes as one tree. */
	static Tracker of_pids(const std::vector<std::int32_t> &pids, rt_opts opts = options())
	{
		char message[512] = "rt_pids_tracker_new";
		rt_tracker *t;

		set_message(opts, RT_STRUCT_OPTS, message, sizeof(message));
		check(rt_pids_tracker_new(&t, pids.data(), pids.size(), &opts), message);
		return Tracker(t);
	}

	/** With RT_OPT_LIST_PROCESSES in opts.flags, processes() and top() have those of the
	 * system. */
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

	/** Descriptor for an event loop: readable when the root has ended, or events wait. */
	int fd() const
	{
		int fd = rt_tracker_fd(handle.get());

		check(fd, "rt_tracker_fd");
		return fd;
	}

	/** Sets a mark, from which the peaks of the tree are kept. Returns its number. */
	std::uint64_t mark(const std::string &label = std::string())
	{
		std::uint64_t id;

		check(rt_tracker_mark(handle.get(), label.c_str(), &id), "rt_tracker_mark");
		return id;
	}

	/** Returns the peaks since a mark, up to now. */
	rt_peaks since(std::uint64_t mark)
	{
		rt_peaks out;

		check(rt_tracker_since(handle.get(), mark, &out, sizeof(out)), "rt_tracker_since");
		return out;
	}

	void unmark(std::uint64_t mark)
	{
		check(rt_tracker_unmark(handle.get(), mark), "rt_tracker_unmark");
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
	/** Returns the processes that used most between the last two samples, the largest first, as
	 * row_diff() has them. order: an RT_TOP_ value. */
	std::vector<rt_process> top(std::uint32_t order, std::size_t count) const
	{
		std::vector<rt_process> rows(count);

		check(rt_tracker_top(handle.get(), order, rows.data(), sizeof(rt_process), &count),
		      "rt_tracker_top");
		rows.resize(count);
		return rows;
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
	friend class Command;
	friend class Recorder;

	struct Free {
		bool is_borrowed;

		void operator()(rt_tracker *t) const
		{
			if (!is_borrowed)
				rt_tracker_free(t);
		}
	};

	explicit Tracker(rt_tracker *t, bool is_borrowed = false) : handle(t, Free{ is_borrowed })
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

	/** The tracker of its tree. It must not outlive the command. */
	Tracker tracker() const
	{
		return Tracker(rt_command_tracker(handle.get()), true);
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

/** Samples a tracker at a fixed rate, by a thread of the library. It can be moved, not copied. */
class Recorder
{
      public:
	/** Takes the tracker. That of a command stays the command's, which must outlive this. */
	explicit Recorder(Tracker tracker, rt_recorder_opts opts = rt_recorder_opts())
	    : followed(std::move(tracker))
	{
		rt_recorder *r;

		opts.size = sizeof(opts);
		check(rt_recorder_new(&r, followed.handle.get(), &opts), "rt_recorder_new");
		handle.reset(r);
		followed.handle.get_deleter().is_borrowed = true;
	}

	/** The tracker, for its lists and marks, on any thread. sample() throws EBUSY. */
	Tracker &tracker()
	{
		return followed;
	}

	/** Descriptor for an event loop: readable when read() has something to return. */
	int fd() const
	{
		int fd = rt_recorder_fd(handle.get());

		check(fd, "rt_recorder_fd");
		return fd;
	}

	/** Takes the samples that wait, oldest first, possibly none. Returns false if none waits
	 * and there will be no more. */
	bool read(std::vector<rt_metrics> &out)
	{
		std::size_t count = totals().waiting;
		int err;

		out.resize(count ? count : 1);
		count = out.size();
		err = rt_recorder_read(handle.get(), out.data(), sizeof(rt_metrics), &count);
		out.resize(err < 0 ? 0 : count);
		if (err == -static_cast<int>(std::errc::no_such_process))
			return false;
		check(err, "rt_recorder_read");
		return true;
	}

	/** Returns the newest sample, which stays where it is. */
	rt_metrics latest() const
	{
		rt_metrics out;

		check(rt_recorder_latest(handle.get(), &out, sizeof(out)), "rt_recorder_latest");
		return out;
	}

	/** Returns the processes of a sample that had most CPU time, with RT_RECORDER_PROCESSES. */
	std::vector<rt_process> processes(const rt_metrics &sample) const
	{
		std::size_t count = 0;
		std::vector<rt_process> rows;

		check(rt_recorder_processes(handle.get(), sample.monotonic_ns, nullptr,
		                            sizeof(rt_process), &count),
		      "rt_recorder_processes");
		rows.resize(count);
		if (count)
			check(rt_recorder_processes(handle.get(), sample.monotonic_ns, rows.data(),
			                            sizeof(rt_process), &count),
			      "rt_recorder_processes");
		return rows;
	}

	rt_recorder_totals totals() const
	{
		rt_recorder_totals out;

		check(rt_recorder_get_totals(handle.get(), &out, sizeof(out)),
		      "rt_recorder_get_totals");
		return out;
	}

	/** Takes a last sample, and ends the thread. What waits can still be read. */
	void stop()
	{
		check(rt_recorder_stop(handle.get()), "rt_recorder_stop");
	}

      private:
	struct Free {
		void operator()(rt_recorder *r) const
		{
			rt_recorder_free(r);
		}
	};

	Tracker followed;
	std::unique_ptr<rt_recorder, Free> handle;
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
