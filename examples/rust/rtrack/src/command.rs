// SPDX-License-Identifier: MIT
//! Commands: programs that are started and followed until they end.

use crate::tracker::{sample, Options};
use crate::{check, sys, Figure, Metrics};
use std::ffi::{CString, OsStr};
use std::io;
use std::mem::{size_of, size_of_val};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::RawFd;
use std::ptr::{self, NonNull};
use std::time::Duration;

/// A started program and its descendants. The program continues to run when this is dropped.
#[derive(Debug)]
pub struct Command(NonNull<sys::rt_command>);

// SAFETY: the library keeps no thread-local state of a command, and any thread may make its calls at
// any time, except for the one that frees it.
unsafe impl Send for Command {}
unsafe impl Sync for Command {}

/// What a program and its descendants used, after it has ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outcome(sys::rt_outcome);

impl Outcome {
    /// All fields, with the bits of the figures in `valid`, `partial` and `estimated`.
    pub fn raw(&self) -> &sys::rt_outcome {
        &self.0
    }

    /// Exit code, or `None` if a signal killed the program.
    pub fn code(&self) -> Option<i32> {
        (self.0.signal == 0).then_some(self.0.exit_code)
    }

    /// Signal that killed the program.
    pub fn signal(&self) -> Option<i32> {
        (self.0.signal != 0).then_some(self.0.signal)
    }

    /// Time from start to end.
    pub fn wall(&self) -> Duration {
        Duration::from_nanos(self.0.wall_ns)
    }

    /// CPU time of the tree in user and kernel mode.
    pub fn cpu(&self) -> Figure<(Duration, Duration)> {
        let time =
            (Duration::from_nanos(self.0.cpu_user_ns), Duration::from_nanos(self.0.cpu_system_ns));
        Figure::of(&self.0, sys::RT_HAS_CPU, time)
    }

    /// Number of processes.
    pub fn processes(&self) -> Figure<u64> {
        Figure::of(&self.0, sys::RT_HAS_PROCESSES, self.0.processes)
    }

    /// `Ok` if [`Outcome::cpu`] is complete. Otherwise the `RT_REASON_` bits say what may be
    /// missing.
    pub fn completeness(&self) -> Result<(), u32> {
        match self.0.complete {
            1 => Ok(()),
            _ => Err(self.0.reasons),
        }
    }
}

impl Command {
    /// Start a program with the environment and directory of the caller.
    pub fn start<S: AsRef<OsStr>>(argv: &[S], options: &Options) -> io::Result<Command> {
        let words = argv
            .iter()
            .map(|word| CString::new(word.as_ref().as_bytes()))
            .collect::<Result<Vec<_>, _>>()?;
        let mut pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).collect();
        pointers.push(ptr::null());
        let mut handle = ptr::null_mut();
        let result = options.lend(|tracker| {
            let opts = sys::rt_command_opts {
                size: size_of::<sys::rt_command_opts>() as u32,
                flags: if options.list_processes { sys::RT_COMMAND_LIST_PROCESSES } else { 0 },
                argv: pointers.as_ptr(),
                tracker,
                ..Default::default()
            };
            // SAFETY: words, pointers and options outlive the call.
            unsafe { sys::rt_command_start(&mut handle, &opts) }
        })?;
        check(result)?;
        Ok(Command(NonNull::new(handle).expect("a command was started")))
    }

    /// Process id of the program.
    pub fn pid(&self) -> i32 {
        // SAFETY: the handle is live.
        unsafe { sys::rt_command_pid(self.0.as_ptr()) }
    }

    /// The accounting method that the command runs at: an `RT_ACCOUNTING_` value.
    pub fn accounting(&self) -> u32 {
        self.info().accounting
    }

    /// When the program was started: ns of `CLOCK_MONOTONIC`.
    pub fn start_ns(&self) -> u64 {
        self.info().start_ns
    }

    fn info(&self) -> sys::rt_command_info {
        let mut out = sys::rt_command_info::default();
        // SAFETY: the handle is live, and the struct is passed with its size.
        unsafe { sys::rt_command_get_info(self.0.as_ptr(), &mut out, size_of_val(&out)) };
        out
    }

    /// Take a sample of the process tree of the program.
    pub fn sample(&self) -> io::Result<Metrics> {
        // SAFETY: the tracker is valid as long as the command, and has its lock.
        unsafe { sample(self.tracker()) }
    }

    pub(crate) fn tracker(&self) -> *mut sys::rt_tracker {
        // SAFETY: the handle is live.
        unsafe { sys::rt_command_tracker(self.0.as_ptr()) }
    }

    /// Send a signal to the program. The error is `ESRCH` if it has ended.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::rt_command_signal(self.0.as_ptr(), number) })
    }

    /// End a wait of another thread, or else the next one, by `ErrorKind::Interrupted`. The program
    /// runs on.
    pub fn interrupt(&self) -> io::Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::rt_command_interrupt(self.0.as_ptr()) })
    }

    /// Kill the program and its descendants, also those that it left running. Another thread may be
    /// in [`Command::wait`], which then returns.
    pub fn kill(&self) -> io::Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::rt_command_kill(self.0.as_ptr()) })
    }

    /// Descriptor for an event loop: readable when [`Command::dispatch`] has something to do. It
    /// belongs to the command. The error is `EOPNOTSUPP` before Linux 5.3.
    pub fn fd(&self) -> io::Result<RawFd> {
        // SAFETY: the handle is live.
        let fd = unsafe { sys::rt_command_fd(self.0.as_ptr()) };
        check(fd)?;
        Ok(fd)
    }

    /// Do what is due, without waiting. Returns whether the program has ended: then
    /// [`Command::wait`] returns at once.
    pub fn dispatch(&self) -> io::Result<bool> {
        // SAFETY: the handle is live, and no outcome is asked for.
        match check(unsafe { sys::rt_command_wait(self.0.as_ptr(), 0, std::ptr::null_mut(), 0) }) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(false),
            other => other.map(|_| true),
        }
    }

    /// Wait for the program, with `None` for as long as it runs. The error is `ETIMEDOUT` if it is
    /// still running after the timeout.
    pub fn wait(&self, timeout: Option<Duration>) -> io::Result<Outcome> {
        let nanoseconds =
            timeout.map_or(-1, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
        let mut out = Outcome::default();
        // SAFETY: the outcome outlives the call and is passed with its size.
        check(unsafe {
            sys::rt_command_wait(
                self.0.as_ptr(),
                nanoseconds,
                &mut out.0,
                size_of::<sys::rt_outcome>(),
            )
        })?;
        Ok(out)
    }

    /// All processes of the command, by start time. Call [`Command::wait`] first. The error is
    /// `EOPNOTSUPP` if [`Options::list_processes`] was not set.
    pub fn processes(&self) -> io::Result<Vec<sys::rt_command_process>> {
        let size = size_of::<sys::rt_command_process>();
        let mut count = 0;
        // SAFETY: first no array with room for 0 rows, then an array with room for all rows. The
        // list does not change after the command has ended.
        check(unsafe {
            sys::rt_command_processes(self.0.as_ptr(), ptr::null_mut(), size, &mut count)
        })?;
        let mut rows = vec![sys::rt_command_process::default(); count];
        check(unsafe {
            sys::rt_command_processes(self.0.as_ptr(), rows.as_mut_ptr(), size, &mut count)
        })?;
        Ok(rows)
    }

    /// A text of the process at this place of [`Command::processes`]: `RT_TEXT_COMMAND_LINE`, with
    /// a NUL between arguments, or `RT_TEXT_CWD`. Empty if it is not known.
    pub fn process_text(&self, row: usize, text: u32) -> io::Result<Vec<u8>> {
        let mut length = 0;
        // SAFETY: first no buffer with room for nothing, then a buffer with room for all. The texts
        // do not change after the command has ended.
        check(unsafe {
            sys::rt_command_process_text(self.0.as_ptr(), row, text, ptr::null_mut(), &mut length)
        })?;
        let mut buffer = vec![0u8; length];
        check(unsafe {
            let to = buffer.as_mut_ptr().cast();
            sys::rt_command_process_text(self.0.as_ptr(), row, text, to, &mut length)
        })?;
        Ok(buffer)
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        // SAFETY: the library made the handle, and it is freed once.
        unsafe { sys::rt_command_free(self.0.as_ptr()) }
    }
}
