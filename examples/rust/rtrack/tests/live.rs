// SPDX-License-Identifier: MIT
//! Tests of the safe crate on live processes.

use rtrack::{
    getrusage, is_partition, pid_descendants, pid_getrusage, pid_read, row_diff, sys, Command,
    Figure, Kind, Options, RecorderOptions, Trace, TraceOptions, Tracker, Who,
};
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

const SIGKILL: i32 = 9;
const ESRCH: i32 = 3;
const EBUSY: i32 = 16;
const EINVAL: i32 = 22;
const EPERM: i32 = 1;
const ENOPKG: i32 = 65;
const ESTALE: i32 = 116;
const ENOENT: i32 = 2;
const ENODATA: i32 = 61;
const EDQUOT: i32 = 122;
const ENODEV: i32 = 19;
const EOPNOTSUPP: i32 = 95;
const ETIMEDOUT: i32 = 110;

fn burn(time: Duration) {
    let start = getrusage(Who::Thread).unwrap().ru_utime;
    while getrusage(Who::Thread).unwrap().ru_utime - start < time.as_secs_f64() {
        std::hint::spin_loop();
    }
}

fn errno<T: std::fmt::Debug>(result: std::io::Result<T>) -> Option<i32> {
    result.unwrap_err().raw_os_error()
}

#[test]
fn tracker_measures_burnt_cpu_time() {
    let mut tracker = Tracker::of_self().unwrap();
    let before = tracker.sample().unwrap();
    let start = Instant::now();
    burn(Duration::from_millis(200));
    let after = tracker.sample().unwrap();
    let used = after.since(&before).unwrap();
    let (user, system) = (used.raw().cpu_user_ns, used.raw().cpu_system_ns);
    assert!(user + system >= 190_000_000, "{user} + {system}");
    assert!(
        used.interval() >= Duration::from_millis(200) && used.interval() <= start.elapsed() * 2
    );
    let cores = (user + system) as f64 / used.interval().as_nanos() as f64;
    // Other tests start programs meanwhile. What these have reaped is known in ticks.
    let is_exact = used.raw().valid & sys::RT_HAS_CPU != 0;
    assert!((used.raw().cores_used - cores).abs() < 0.001);
    assert_eq!(used.cores_used().exact(), is_exact.then_some(used.raw().cores_used));
    assert!(after.rss_bytes().exact().unwrap() > 1 << 20);
    assert!(after.raw().cpu_user_ns >= before.raw().cpu_user_ns);
    let members = tracker.processes().unwrap();
    assert_eq!(members[0].pid as u32, std::process::id());
}

#[test]
fn tracker_can_move_to_another_thread() {
    let mut tracker = Tracker::of_self().unwrap();
    let before = tracker.sample().unwrap();
    let after = std::thread::spawn(move || tracker.sample().unwrap()).join().unwrap();
    assert!(after.since(&before).is_ok());
}

const PEAK: usize = 100 << 20;

fn touch(bytes: usize) {
    let memory = vec![1u8; bytes];
    // SAFETY: the last of its bytes is there.
    assert_eq!(unsafe { std::ptr::read_volatile(&memory[bytes - 1]) }, 1);
}

#[test]
fn recorder_samples_at_a_fixed_rate_and_marks_tell_peaks() {
    let options = RecorderOptions {
        interval: Duration::from_millis(1),
        keep_newest: true,
        rows: 4,
        ..RecorderOptions::default()
    };
    let recorder = Tracker::of_self().unwrap().record(&options).unwrap();
    let mark = recorder.mark("block").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| touch(PEAK));
    });
    let peaks = recorder.since(&mark).unwrap();
    assert!(matches!(peaks.rss_bytes(), Figure::AtLeast(bytes) if bytes >= PEAK as u64 / 10 * 9));
    assert!(peaks.processes().value().unwrap() >= 1);
    recorder.unmark(mark).unwrap();
    while recorder.totals().unwrap().taken < 20 {
        std::thread::yield_now();
    }
    recorder.stop().unwrap();
    let latest = recorder.latest().unwrap();
    let members = recorder.processes(&latest).unwrap();
    assert!(members.iter().any(|row| row.pid as u32 == std::process::id()));
    let samples = recorder.read().unwrap();
    let times: Vec<u64> = samples.iter().map(|sample| sample.raw().monotonic_ns).collect();
    assert!(times.len() >= 20 && times.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(times.last(), Some(&latest.raw().monotonic_ns));
    assert_eq!(errno(recorder.read()), Some(ESRCH));
    assert!(recorder.fd().is_ok());
}

#[test]
fn recorder_of_a_command_ends_with_it() {
    let command = Command::start(&["sleep", "0.05"], &Options::default()).unwrap();
    let options =
        RecorderOptions { interval: Duration::from_millis(1), ..RecorderOptions::default() };
    let recorder = command.record(&options).unwrap();
    assert_eq!(errno(command.sample()), Some(EBUSY));
    assert_eq!(command.wait(None).unwrap().code(), Some(0));
    while recorder.read().is_ok() {
        std::thread::yield_now();
    }
    assert_eq!(errno(recorder.read()), Some(ESRCH));
    drop(recorder);
    assert_eq!(errno(command.sample()), Some(ESRCH));
}

#[test]
fn system_tracker_lists_cpus() {
    let mut tracker = Tracker::of_system(&Options::default()).unwrap();
    let sample = tracker.sample().unwrap();
    assert_eq!(tracker.cpus().unwrap().len() as u64, sample.raw().cpus_online);
    assert!(tracker.status(sys::RT_HAS_CPU_MODES).is_ok());
    assert_eq!(tracker.obstacle(sys::RT_HAS_CPU_MODES).unwrap().kind, 0);
    assert!(tracker.processes().is_err());
}

#[test]
fn cgroup_tracker_lists_its_processes() {
    let lines = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let line = lines.lines().last().unwrap();
    // A system may have no cgroup file system mounted.
    if let Ok(mut tracker) = Tracker::of_cgroup(line, &Options::default()) {
        tracker.sample().unwrap();
        let own = std::process::id() as i32;
        assert!(tracker.processes().unwrap().iter().any(|row| row.pid == own));
        let missing = Tracker::of_cgroup("/no/such", &Options::default());
        assert_eq!(errno(missing), Some(ENOENT));
    }
    let relative = Tracker::of_cgroup("no/path", &Options::default());
    assert_eq!(errno(relative), Some(EINVAL));
}

#[test]
fn errors_are_errno_values() {
    assert_eq!(errno(Tracker::of_pid(-1, &Options::default())), Some(EINVAL));
    assert_eq!(errno(Tracker::of_pid(i32::MAX, &Options::default())), Some(ESRCH));
    assert_eq!(errno(pid_getrusage(i32::MAX)), Some(ESRCH));
    let root = Options { root: Some("/nonexistent".into()), ..Default::default() };
    assert_eq!(errno(Tracker::of_system(&root)), Some(ENOENT));
    let a = Tracker::of_self().unwrap().sample().unwrap();
    let b = Tracker::of_self().unwrap().sample().unwrap();
    assert_eq!(errno(b.since(&a)), Some(ESTALE));
}

#[test]
fn pid_getrusage_of_self_matches_getrusage() {
    burn(Duration::from_millis(50));
    let before = getrusage(Who::Process).unwrap();
    let (other, valid) = pid_getrusage(std::process::id() as i32).unwrap();
    let after = getrusage(Who::Process).unwrap();
    assert_eq!(valid & 3, 3);
    let total = |usage: &sys::rt_rusage| usage.ru_utime + usage.ru_stime;
    assert!(total(&before) <= total(&other) + 1e-5 && total(&other) <= total(&after) + 1e-5);
}

#[test]
fn pid_read_has_what_is_asked_for() {
    let pid = std::process::id() as i32;
    let row = pid_read(pid, sys::RT_HAS_RSS).unwrap();
    assert_eq!((row.pid, row.valid), (pid, sys::RT_HAS_RSS));
    assert!(row.rss_bytes > 1 << 20);
    assert_eq!(errno(pid_read(pid, sys::RT_HAS_PROCESSES)), Some(EINVAL));
    assert_eq!(errno(pid_read(i32::MAX, 0)), Some(ESRCH));
}

#[test]
fn top_of_the_system_has_its_processes() {
    let options = Options { list_processes: true, ..Default::default() };
    let mut tracker = Tracker::of_system(&options).unwrap();
    tracker.sample().unwrap();
    burn(Duration::from_millis(50));
    tracker.sample().unwrap();
    let rows = tracker.top(sys::RT_TOP_CPU, 100_000).unwrap();
    let own = rows.iter().find(|row| row.pid == std::process::id() as i32).unwrap();
    assert!(own.cpu_user_ns + own.cpu_system_ns >= 40_000_000);
    assert_eq!(tracker.top(sys::RT_TOP_CPU, 2).unwrap().len(), 2);
    assert!(tracker.processes().unwrap().iter().any(|row| row.pid == 1));
}

#[test]
fn row_diff_subtracts_counters_alone() {
    let mut tracker = Tracker::of_self().unwrap();
    tracker.sample().unwrap();
    let before = tracker.processes().unwrap()[0];
    burn(Duration::from_millis(50));
    tracker.sample().unwrap();
    let after = tracker.processes().unwrap()[0];
    let used = row_diff(&before, &after).unwrap();
    assert_eq!(used.cpu_user_ns, after.cpu_user_ns - before.cpu_user_ns);
    assert_eq!((used.rss_bytes, used.pid), (after.rss_bytes, after.pid));
    let cpu = Figure::of(&used, sys::RT_HAS_CPU, used.cpu_user_ns + used.cpu_system_ns);
    assert!(cpu.exact() >= Some(40_000_000), "{cpu}");
    let other = pid_read(1, 0).unwrap();
    assert_eq!(errno(row_diff(&other, &after)), Some(ESTALE));
    let mut system = Tracker::of_system(&Options::default()).unwrap();
    system.sample().unwrap();
    let cpu = system.cpus().unwrap()[0];
    assert_eq!(row_diff(&cpu, &cpu).unwrap().user_ns, 0);
}

/// A flag that another kind of tracker has is refused, so each one arrives.
#[test]
fn options_are_those_of_the_library() {
    let own = std::process::id() as i32;
    let session = Options { session: true, ..Default::default() };
    let mut tracker = Tracker::of_pid(own, &session).unwrap();
    tracker.sample().unwrap();
    assert!(tracker.processes().unwrap().iter().any(|row| row.pid == own));
    assert_eq!(errno(Tracker::of_pids(&[own, own], &session)), Some(EINVAL));
    let limits = Options { own_limits: true, ..Default::default() };
    assert_eq!(errno(Tracker::of_pid(own, &limits)), Some(EINVAL));
    assert!(Tracker::of_system(&limits).unwrap().sample().is_ok());
    let both = Options { events: true, no_events: true, ..Default::default() };
    assert_eq!(errno(Tracker::of_pid(own, &both)), Some(EINVAL));
    let quiet = Options { no_events: true, ..Default::default() };
    assert!(Tracker::of_pid(own, &quiet).unwrap().sample().is_ok());
    assert_eq!(errno(Tracker::of_system(&quiet)), Some(EINVAL));
}

#[test]
fn io_with_reaped_has_that_of_a_child_that_was_waited_for() {
    let copy = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=10000", "status=none"];
    let script = format!("{}; read line", copy.join(" "));
    let mut child = std::process::Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let calls = |with_reaped| {
        let options =
            Options { no_children: true, io_with_reaped: with_reaped, ..Default::default() };
        let mut tracker = Tracker::of_pid(child.id() as i32, &options).unwrap();
        let sample = tracker.sample().unwrap();
        Figure::of(sample.raw(), sys::RT_HAS_IO_CALLS, sample.raw().write_calls).value()
    };
    let end = Instant::now() + Duration::from_secs(100);
    while calls(true).map_or(false, |count| count < 10_000) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    if let (Some(with), Some(without)) = (calls(true), calls(false)) {
        assert!(with >= without + 10_000, "{with} {without}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn several_pids_are_one_tree() {
    let (mut first, mut second) = (start_idle(), start_idle());
    let pids = [first.id() as i32, second.id() as i32];
    let mut tracker = Tracker::of_pids(&pids, &Options::default()).unwrap();
    assert_eq!(tracker.sample().unwrap().raw().processes, 2);
    assert_eq!(rtrack::pid_text(pids[0], sys::RT_TEXT_CWD).unwrap().first(), Some(&b'/'));
    for child in [&mut first, &mut second] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn pid_descendants_lists_grandchildren() {
    let options = Options::default();
    let command = Command::start(&["sh", "-c", "sleep 100; :"], &options).unwrap();
    let end = Instant::now() + Duration::from_secs(100);
    let mut found = Vec::new();
    while found.is_empty() && Instant::now() < end {
        found = pid_descendants(command.pid()).unwrap();
    }
    assert_eq!(found.len(), 1);
    assert!(pid_descendants(std::process::id() as i32).unwrap().contains(&found[0]));
    command.kill().unwrap();
    command.wait(None).ok();
    assert_eq!(errno(pid_descendants(i32::MAX)), Some(ESRCH));
}

#[test]
fn is_partition_needs_a_device() {
    assert_eq!(errno(is_partition("no-such-device")), Some(ENODEV));
    assert_eq!(errno(is_partition("/dev/sda1")), Some(EINVAL));
    for device in std::fs::read_dir("/sys/block").unwrap() {
        assert!(!is_partition(device.unwrap().file_name().to_str().unwrap()).unwrap());
    }
}

#[test]
fn command_wait_returns_the_outcome() {
    let command = Command::start(&["sh", "-c", "exit 3"], &Options::default()).unwrap();
    let outcome = command.wait(None).unwrap();
    assert_eq!((outcome.code(), outcome.signal()), (Some(3), None));
    assert!(outcome.cpu().value().is_some());
    assert_eq!(command.accounting(), outcome.raw().accounting);
    assert_eq!(errno(command.signal(SIGKILL)), Some(ESRCH));
}

#[test]
fn command_lists_its_processes() {
    let options = Options { list_processes: true, ..Default::default() };
    let command =
        Command::start(&["sh", "-c", "(exit 5); sh -c 'kill -9 $$'; sleep 0.2; exit 3"], &options)
            .unwrap();
    assert_eq!(errno(command.processes()), Some(ENODATA));
    assert_eq!(errno(command.process_text(0, sys::RT_TEXT_CWD)), Some(ENODATA));
    let outcome = command.wait(None).unwrap();
    let rows = command.processes().unwrap();
    assert_eq!((rows[0].pid, rows[0].exit_code), (command.pid(), 3));
    if let Figure::Exact(count) = outcome.processes() {
        assert_eq!((rows.len() as u64, count), (4, 4));
        assert_eq!(command.process_text(3, sys::RT_TEXT_COMMAND_LINE).unwrap(), b"sleep\x000.2");
        assert_eq!(command.process_text(3, sys::RT_TEXT_CWD).unwrap().first(), Some(&b'/'));
        assert!(rows.iter().any(|row| row.signal == SIGKILL && row.exit_code == -1));
    }
    let other = Command::start(&["true"], &Options::default()).unwrap();
    other.wait(None).unwrap();
    assert_eq!(errno(other.processes()), Some(EOPNOTSUPP));
}

/// A program that has read and written a line, and waits for the next one. Its memory holds still,
/// unlike that of this process, in which other tests run.
fn start_idle() -> std::process::Child {
    let mut child = std::process::Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    child
}

#[test]
fn next_sample_reads_memory_that_its_budget_forbids() {
    let mut child = start_idle();
    let options = Options { pss_hold_us: 1, ..Default::default() };
    let mut tracker = Tracker::of_pid(child.id() as i32, &options).unwrap();
    assert!(matches!(tracker.sample().unwrap().footprint_bytes(), Figure::About(_)));
    assert_eq!(errno(tracker.status(sys::RT_HAS_FOOTPRINT)), Some(EDQUOT));
    tracker.read_memory().unwrap();
    let read = tracker.sample().unwrap();
    let (footprint, needed) = (read.footprint_bytes().exact(), read.needed_bytes().exact());
    assert!(needed > Some(0) && footprint > needed);
    assert!(footprint.unwrap() <= read.raw().peak_footprint_bytes);
    assert_eq!(read.swap_bytes(), Figure::Exact(0));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn pss_is_read_if_that_is_asked_for() {
    let mut child = start_idle();
    for reads in [false, true] {
        let options = Options { pss_reads: reads, pss_share: 1000, ..Default::default() };
        let mut tracker = Tracker::of_pid(child.id() as i32, &options).unwrap();
        assert_eq!(tracker.sample().unwrap().pss_bytes().exact().is_some(), reads);
    }
    let options = Options { no_memory_reads: true, pss_share: 1000, ..Default::default() };
    let mut tracker = Tracker::of_pid(child.id() as i32, &options).unwrap();
    assert_eq!(tracker.sample().unwrap().footprint_bytes().exact(), None);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn default_domains_are_among_the_domains() {
    for kind in [Kind::Process, Kind::System] {
        assert_ne!(kind.default_domains() & sys::RT_HAS_CPU, 0);
        assert_eq!(kind.default_domains() & !kind.domains(), 0);
    }
    assert_eq!(Kind::Process.domains() & sys::RT_HAS_DISK, 0);
}

#[test]
fn peak_poll_before_the_first_sample_fails() {
    let mut tracker =
        Tracker::of_pid(std::process::id() as i32, &Options { events: true, ..Default::default() })
            .unwrap();
    assert_eq!(errno(tracker.glance()), Some(ENODATA));
    tracker.sample().unwrap();
    tracker.glance().unwrap();
}

#[test]
fn command_can_be_killed() {
    let command = Command::start(&["sleep", "60"], &Options::default()).unwrap();
    assert_eq!(errno(command.wait(Some(Duration::from_millis(10)))), Some(ETIMEDOUT));
    assert!(command.sample().unwrap().processes().value() >= Some(1));
    command.signal(SIGKILL).unwrap();
    let outcome = command.wait(None).unwrap();
    assert_eq!((outcome.code(), outcome.signal()), (None, Some(SIGKILL)));
    assert!(outcome.wall() >= Duration::from_millis(10));
}

#[test]
fn command_kill_ends_descendants_too() {
    let command =
        Command::start(&["sh", "-c", "sleep 60 & sleep 60"], &Options::default()).unwrap();
    command.kill().unwrap();
    let outcome = command.wait(Some(Duration::from_secs(30))).unwrap();
    assert_eq!(outcome.signal(), Some(SIGKILL));
}

#[test]
fn missing_command_fails_to_start() {
    assert_eq!(errno(Command::start(&["/nonexistent"], &Options::default())), Some(ENOENT));
    assert_eq!(errno(Command::start::<&str>(&[], &Options::default())), Some(EINVAL));
}

#[test]
fn command_can_be_killed_while_another_thread_waits() {
    let command = Command::start(&["sleep", "1000"], &Options::default()).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| command.wait(None).unwrap());
        while command.sample().unwrap().processes().value() < Some(1) {}
        command.kill().unwrap();
        assert_eq!(waiter.join().unwrap().signal(), Some(SIGKILL));
    });
}

#[test]
fn command_in_a_loop_is_dispatched_until_it_has_ended() {
    let command = Command::start(&["sh", "-c", "sleep 0.1; exit 4"], &Options::default()).unwrap();
    assert!(command.fd().unwrap() >= 0);
    while !command.dispatch().unwrap() {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(command.wait(Some(Duration::ZERO)).unwrap().code(), Some(4));
}

/// The calls of bash's `times`, one for itself and one for its children. Nothing is shown where no
/// back end works.
#[test]
fn trace_of_command_has_its_calls() {
    let argv = ["bash", "-c", "times >/dev/null"];
    let mut trace = match Trace::of_command(&argv, &TraceOptions::default()) {
        Ok(trace) => trace,
        Err(error) => {
            let refusals = [Some(EPERM), Some(EOPNOTSUPP), Some(ENOPKG)];
            assert!(refusals.contains(&error.raw_os_error()), "{error}");
            return;
        }
    };
    let pid = trace.command_pid().unwrap();
    let mut events = Vec::new();
    let ending = loop {
        match trace.read() {
            Ok(found) => events.extend(found),
            Err(error) => break error.raw_os_error(),
        }
        assert!(trace.fd().unwrap() >= 0);
        std::thread::sleep(Duration::from_millis(1));
    };
    assert_eq!(ending, Some(ESRCH));
    let scopes: Vec<i32> = events.iter().map(|event| event.raw().who).collect();
    assert!(scopes.ends_with(&[sys::RT_RUSAGE_SELF, sys::RT_RUSAGE_CHILDREN]), "{scopes:?}");
    let last = events.last().unwrap();
    assert_eq!((last.raw().pid, last.result().unwrap()), (pid, 0));
    assert!(last.rusage().is_some() && last.live_children().is_none());
    assert_eq!(last.comm(), "bash");
    assert_eq!(trace.totals().unwrap().read, events.len() as u64);
}

#[test]
fn trace_with_bad_options_is_refused() {
    let options = TraceOptions { calls: 8, ..Default::default() };
    assert_eq!(errno(Trace::of_system(&options)), Some(EINVAL));
    assert_eq!(errno(Trace::of_pid(-1, &TraceOptions::default())), Some(EINVAL));
}
