// SPDX-License-Identifier: MIT
/** @file
 *  librtrack for C++11 and later: owners that free what they hold, and errors as std::system_error.
 *
 *  The structs are those of the C header, with its field names and its bits of `valid`. */
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

/** Throws when a call of the C library has failed. */
inline void check(int err, const char *what)
{
	if (err < 0)
		throw std::system_error(-err, std::generic_category(), what);
}

/** Options with their size filled in. */
inline rt_opts options()
{
	rt_opts opts = rt_opts();

	opts.size = sizeof(opts);
	return opts;
}

/** What happened from one sample to a later one of the same tracker. */
inline rt_delta diff(const rt_metrics &from, const rt_metrics &to)
{
	rt_delta out;

	check(rt_diff(&from, &to, &out, sizeof(out)), "rt_diff");
	return out;
}

/** A process tree or the machine. Moves, does not copy; one owner. */
class Tracker
{
      public:
	static Tracker of_pid(std::int32_t pid, const rt_opts &opts = options())
	{
		rt_tracker *t;

		check(rt_pid_tracker_new(&t, pid, &opts), "rt_pid_tracker_new");
		return Tracker(t);
	}

	static Tracker of_system(const rt_opts &opts = options())
	{
		rt_tracker *t;

		check(rt_system_tracker_new(&t, &opts), "rt_system_tracker_new");
		return Tracker(t);
	}

	/** Measures once. False when all that it followed has ended; out then holds the last
	 * totals. */
	bool sample(rt_metrics &out)
	{
		int err = rt_sample(handle.get(), &out, sizeof(out));

		if (err == -static_cast<int>(std::errc::no_such_process))
			return false;
		check(err, "rt_sample");
		return true;
	}

	/** Looks for peaks of memory, and for processes that come and go, between two samples. */
	void glance()
	{
		check(rt_tracker_glance(handle.get()), "rt_tracker_glance");
	}

	/** Whether a figure of the last sample is complete, and if not, why. */
	std::error_code status(std::uint64_t has) const
	{
		return std::error_code(-rt_tracker_status(handle.get(), has),
		                       std::generic_category());
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

} // namespace rtrack

#endif
