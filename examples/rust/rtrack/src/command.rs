// SPDX-License-Identifier: MIT
//! Commands: programs that are started and followed to their end.

use crate::records::known;
use crate::tracker::{sample, Options};
use crate::{check, sys, Metrics};
use std::ffi::{CString, OsStr};
use std::io;
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt;
use std::ptr::{self, NonNull};
use std::time::Duration;

/// A program that was started, and all it starts. Dropping it leaves the program running.
#[derive(Debug)]
pub struct Command(NonNull<sys::rt_command>);

// SAFETY: the library keeps nothing of a command in the thread that started it.
unsafe impl Send for Command {}

/// What a program that ended has used.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outcome(sys::rt_outcome);

impl Outcome {
    /// All fields, with their bits in `valid` and `partial`.
    pub fn raw(&self) -> &sys::rt_outcome {
        &self.0
    }

    /// Exit code, unless a signal ended it.
    pub fn code(&self) -> Option<i32> {
        (self.0.signal == 0).then_some(self.0.exit_code)
    }

    /// Signal that ended it.
    pub fn signal(&self) -> Option<i32> {
        (self.0.signal != 0).then_some(self.0.signal)
    }

    /// From start to end.
    pub fn wall(&self) -> Duration {
        Duration::from_nanos(self.0.wall_ns)
    }

    /// CPU time of the tree, user and kernel.
    pub fn cpu(&self) -> Option<(Duration, Duration)> {
        let time = (Duration::from_nanos(self.0.cpu_user_ns), Duration::from_nanos(self.0.cpu_system_ns));
        known(self.0.valid, sys::RT_HAS_CPU, time)
    }

    /// How many processes lived, where all of them were counted.
    pub fn processes(&self) -> Option<u64> {
        known(self.0.valid, sys::RT_HAS_PROCESSES, self.0.processes)
    }

    /// Whether nothing that the tree used can be missing from [`Outcome::cpu`]; if not, the `RT_REASON_` bits.
    pub fn completeness(&self) -> Result<(), u32> {
        match self.0.complete {
            1 => Ok(()),
            _ => Err(self.0.reasons),
        }
    }
}

impl Command {
    /// Start a program with the caller's environment and directory.
    pub fn start<S: AsRef<OsStr>>(argv: &[S], options: &Options) -> io::Result<Command> {
        let words = argv.iter().map(|word| CString::new(word.as_ref().as_bytes())).collect::<Result<Vec<_>, _>>()?;
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
            // SAFETY: words, pointers and options live through the call.
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

    /// Measure the program's tree once.
    pub fn sample(&mut self) -> io::Result<Metrics> {
        // SAFETY: the tracker lives as long as the command, which is ours alone.
        unsafe { sample(sys::rt_command_tracker(self.0.as_ptr())) }
    }

    /// Send a signal to the program. `ESRCH` when it has ended.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::rt_command_signal(self.0.as_ptr(), number) })
    }

    /// End the program and all that it has started, also those whom it left running.
    pub fn kill(&mut self) -> io::Result<()> {
        // SAFETY: the handle is live, and ours alone.
        check(unsafe { sys::rt_command_kill(self.0.as_ptr()) })
    }

    /// Wait for the program, for ever without a time. `ETIMEDOUT` when it runs still.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<Outcome> {
        let nanoseconds = timeout.map_or(-1, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
        let mut out = Outcome::default();
        // SAFETY: the outcome lives through the call and is passed with its own size.
        check(unsafe { sys::rt_command_wait(self.0.as_ptr(), nanoseconds, &mut out.0, size_of::<sys::rt_outcome>()) })?;
        Ok(out)
    }

    /// Every process that lived, by start, once [`Command::wait`] has told what was used. `EOPNOTSUPP` when
    /// [`Options::list_processes`] was not asked for.
    pub fn processes(&self) -> io::Result<Vec<sys::rt_command_process>> {
        let size = size_of::<sys::rt_command_process>();
        let mut count = 0;
        // SAFETY: no array for no rows; then one with room for as many as are said. The list does not change any more.
        check(unsafe { sys::rt_command_processes(self.0.as_ptr(), ptr::null_mut(), size, &mut count) })?;
        let mut rows = vec![sys::rt_command_process::default(); count];
        check(unsafe { sys::rt_command_processes(self.0.as_ptr(), rows.as_mut_ptr(), size, &mut count) })?;
        Ok(rows)
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        // SAFETY: made by the library, freed once.
        unsafe { sys::rt_command_free(self.0.as_ptr()) }
    }
}
