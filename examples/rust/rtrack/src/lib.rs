// SPDX-License-Identifier: MIT
//! A safe interface to librtrack: what a process tree or the whole system uses.
//!
//! ```
//! let mut tracker = rtrack::Tracker::of_self()?;
//! let before = tracker.sample()?;
//! let after = tracker.sample()?;
//! let used = after.since(&before)?;
//! println!("{} cores", used.cores_used());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A [`Figure`] says how sure it is: exact, a lower bound, an estimate or unknown. What could not be
//! read is never 0. [`Metrics::raw`] and similar methods return the structs of the C library with
//! all their fields. [`rtrack_sys`] has the constants of their bits.

mod command;
mod figure;
mod recorder;
mod records;
mod trace;
mod tracker;

pub use command::{Command, Outcome};
pub use figure::{Figure, Masks};
pub use recorder::{Recorder, RecorderOptions};
pub use records::{row_diff, Delta, Metrics, Peaks, Row};
pub use rtrack_sys as sys;
pub use trace::{Trace, TraceEvent, TraceOptions};
pub use tracker::{Kind, Mark, Options, Tracker};

use std::ffi::CString;
use std::io;

/// The process or thread that [`getrusage`] measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Process,
    Children,
    Thread,
}

/// Returns the sixteen fields of getrusage(2).
pub fn getrusage(who: Who) -> io::Result<sys::rt_rusage> {
    let who = match who {
        Who::Process => sys::RT_RUSAGE_SELF,
        Who::Children => sys::RT_RUSAGE_CHILDREN,
        Who::Thread => sys::RT_RUSAGE_THREAD,
    };
    let mut out = sys::rt_rusage::default();
    // SAFETY: out outlives the call, and the size of the struct is frozen.
    check(unsafe { sys::rt_getrusage(who, &mut out) })?;
    Ok(out)
}

/// Returns the same fields of any live process. Bit i of the number is set if field i is known.
pub fn pid_getrusage(pid: i32) -> io::Result<(sys::rt_rusage, u32)> {
    let mut out = sys::rt_rusage::default();
    let mut valid = 0;
    // SAFETY: as in getrusage().
    check(unsafe { sys::rt_pid_getrusage(pid, &mut out, &mut valid) })?;
    Ok((out, valid))
}

/// Returns some figures of one process, without a tracker. `want` has their `RT_HAS_` bits; 0 is CPU
/// time, RSS, page faults and threads.
pub fn pid_read(pid: i32, want: u64) -> io::Result<sys::rt_process> {
    let mut out = sys::rt_process::default();
    // SAFETY: out outlives the call, which is given its size.
    check(unsafe { sys::rt_pid_read(pid, want, &mut out, std::mem::size_of_val(&out)) })?;
    Ok(out)
}

/// Returns a text of a process: an `RT_TEXT_` value says which. Arguments are separated by NUL.
pub fn pid_text(pid: i32, text: u32) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; 4096];
    loop {
        let mut size = buffer.len();
        // SAFETY: buffer has room for so many bytes, and both outlive the call.
        check(unsafe { sys::rt_pid_text(pid, text, buffer.as_mut_ptr().cast(), &mut size) })?;
        if size <= buffer.len() {
            buffer.truncate(size);
            return Ok(buffer);
        }
        buffer.resize(size, 0);
    }
}

/// Returns the descendants of a process, parents before their children.
pub fn pid_descendants(pid: i32) -> io::Result<Vec<i32>> {
    let mut pids = vec![0; 64];
    loop {
        let mut count = pids.len();
        // SAFETY: pids has room for so many, and both outlive the call.
        check(unsafe { sys::rt_pid_descendants(pid, pids.as_mut_ptr(), &mut count) })?;
        if count <= pids.len() {
            pids.truncate(count);
            return Ok(pids);
        }
        pids.resize(count + count / 4, 0); // it may have grown by the next call
    }
}

/// Returns whether a block device is a partition of another one, by its kernel name.
pub fn is_partition(name: &str) -> io::Result<bool> {
    let name = CString::new(name)?;
    // SAFETY: name is a C string that outlives the call.
    let result = unsafe { sys::rt_is_partition(name.as_ptr()) };
    check(result)?;
    Ok(result > 0)
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-result));
    }
    Ok(())
}
