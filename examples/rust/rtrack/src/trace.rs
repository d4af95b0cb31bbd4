// SPDX-License-Identifier: MIT
//! Traces: the calls of getrusage(2) that processes make.

use crate::{check, sys};
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::RawFd;
use std::ptr::{self, NonNull};

/// Calls that [`Trace::read`] returns at most.
const ROOM: usize = 64;

/// Receives the calls of some processes. It can move to another thread, but it has one owner.
/// Processes run on when this is dropped.
#[derive(Debug)]
pub struct Trace(NonNull<sys::rt_trace>);

// SAFETY: the library keeps no thread-local state of a trace.
unsafe impl Send for Trace {}

/// How to trace. The default is calls of getrusage(2) alone, by the best back end.
#[derive(Debug, Clone, Copy, Default)]
pub struct TraceOptions {
    /// `RT_TRACE_CALL_` bits; 0 is getrusage(2).
    pub calls: u32,
    /// An `RT_TRACE_BACK_END_` value.
    pub back_end: u32,
    /// Trace the process alone, not its descendants.
    pub no_children: bool,
    /// Also read what children that were not waited for have used.
    pub live_children: bool,
    /// Memory for calls that wait to be read; 0 is 1 MiB.
    pub ring_bytes: u32,
}

/// One call that has returned.
#[derive(Debug, Clone, Copy)]
pub struct TraceEvent(sys::rt_trace_event);

impl TraceEvent {
    /// All fields, with the bits of their figures.
    pub fn raw(&self) -> &sys::rt_trace_event {
        &self.0
    }

    /// What the call returned: 0 or a pid, or the error.
    pub fn result(&self) -> io::Result<i64> {
        match self.0.result {
            error if error < 0 => Err(io::Error::from_raw_os_error(-error as i32)),
            value => Ok(value),
        }
    }

    /// The figures that the kernel returned. `None` if it returned none, or if they could not be
    /// read.
    pub fn rusage(&self) -> Option<&sys::rt_rusage> {
        (self.0.rusage_valid != 0).then_some(&self.0.rusage)
    }

    /// What the children that were not waited for have used, with
    /// [`TraceOptions::live_children`]. Some figures may be lower bounds: see
    /// `live_children_partial` of [`TraceEvent::raw`].
    pub fn live_children(&self) -> Option<&sys::rt_rusage> {
        (self.0.live_children_valid | self.0.live_children_partial != 0)
            .then_some(&self.0.live_children)
    }

    /// Name of the thread. It may contain any byte.
    pub fn comm(&self) -> &OsStr {
        // SAFETY: the library terminates the name with a NUL.
        OsStr::from_bytes(unsafe { CStr::from_ptr(self.0.comm.as_ptr()) }.to_bytes())
    }
}

impl Trace {
    /// Start a program, and trace it with its descendants.
    pub fn of_command<S: AsRef<OsStr>>(argv: &[S], options: &TraceOptions) -> io::Result<Trace> {
        let words = argv
            .iter()
            .map(|word| CString::new(word.as_ref().as_bytes()))
            .collect::<Result<Vec<_>, _>>()?;
        let mut pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).collect();
        pointers.push(ptr::null());
        let command = sys::rt_command_opts {
            size: size_of::<sys::rt_command_opts>() as u32,
            argv: pointers.as_ptr(),
            ..Default::default()
        };
        Trace::begin(options, 0, 0, &command)
    }

    /// Trace a process with its descendants.
    pub fn of_pid(pid: i32, options: &TraceOptions) -> io::Result<Trace> {
        Trace::begin(options, 0, pid, ptr::null())
    }

    /// Trace all processes of the machine.
    pub fn of_system(options: &TraceOptions) -> io::Result<Trace> {
        Trace::begin(options, sys::RT_TRACE_OPT_ALL, 0, ptr::null())
    }

    fn begin(
        options: &TraceOptions,
        flags: u32,
        pid: i32,
        command: *const sys::rt_command_opts,
    ) -> io::Result<Trace> {
        let flag = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        let opts = sys::rt_trace_opts {
            size: size_of::<sys::rt_trace_opts>() as u32,
            flags: flags
                | flag(options.no_children, sys::RT_TRACE_OPT_NO_CHILDREN)
                | flag(options.live_children, sys::RT_TRACE_OPT_LIVE_CHILDREN),
            pid,
            calls: options.calls,
            back_end: options.back_end,
            ring_bytes: options.ring_bytes,
            command,
            ..Default::default()
        };
        let mut handle = ptr::null_mut();
        // SAFETY: the caller keeps the command and its words alive during the call.
        check(unsafe { sys::rt_trace_new(&mut handle, &opts) })?;
        Ok(Trace(NonNull::new(handle).expect("a trace has begun")))
    }

    /// Descriptor for an event loop: readable when [`Trace::read`] has something to return. It
    /// belongs to the trace.
    pub fn fd(&self) -> io::Result<RawFd> {
        // SAFETY: the handle is live.
        let fd = unsafe { sys::rt_trace_fd(self.0.as_ptr()) };
        check(fd)?;
        Ok(fd)
    }

    /// Take some of the calls that wait, oldest first, possibly none. The error is `ESRCH` if all
    /// traced processes have ended and no call waits.
    pub fn read(&mut self) -> io::Result<Vec<TraceEvent>> {
        let mut rows = vec![sys::rt_trace_event::default(); ROOM];
        let mut count = rows.len();
        // SAFETY: the rows have room for so many, and are passed with the size of one.
        check(unsafe {
            sys::rt_trace_read(
                self.0.as_ptr(),
                rows.as_mut_ptr(),
                size_of::<sys::rt_trace_event>(),
                &mut count,
            )
        })?;
        rows.truncate(count);
        Ok(rows.into_iter().map(TraceEvent).collect())
    }

    /// What was traced so far: calls that were read, and calls that were lost.
    pub fn totals(&self) -> io::Result<sys::rt_trace_totals> {
        let mut out = sys::rt_trace_totals::default();
        // SAFETY: out outlives the call, which is given its size.
        check(unsafe {
            sys::rt_trace_get_totals(self.0.as_ptr(), &mut out, std::mem::size_of_val(&out))
        })?;
        Ok(out)
    }

    /// Process id of the program that was started.
    pub fn command_pid(&self) -> Option<i32> {
        // SAFETY: the handle is live, and the command is valid as long as it.
        let command = unsafe { sys::rt_trace_command(self.0.as_ptr()) };
        (!command.is_null()).then(|| unsafe { sys::rt_command_pid(command) })
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // SAFETY: the library made the handle, and it is freed once.
        unsafe { sys::rt_trace_free(self.0.as_ptr()) }
    }
}
