// SPDX-License-Identifier: MIT
//! Recorders: samples at a fixed rate, by a thread of the library.

use crate::tracker::{mark, since, unmark};
use crate::{check, sys, Command, Mark, Metrics, Peaks, Tracker};
use std::io;
use std::marker::PhantomData;
use std::mem::{size_of, size_of_val};
use std::os::unix::io::RawFd;
use std::ptr::{self, NonNull};
use std::time::Duration;

/// Samples a tracker at a fixed rate. Any thread may use it. It owns its tracker, or borrows that of
/// a command, which must outlive it.
#[derive(Debug)]
pub struct Recorder<'c> {
    handle: NonNull<sys::rt_recorder>,
    tracker: *mut sys::rt_tracker,
    command: PhantomData<&'c Command>,
}

// SAFETY: the library locks what its calls share, but for the one that frees it. The tracker is
// valid as long as the recorder.
unsafe impl Send for Recorder<'_> {}
unsafe impl Sync for Recorder<'_> {}

/// How to record. The default is once a second, with room for 4096 samples.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecorderOptions {
    /// Between two samples; zero means a second.
    pub interval: Duration,
    /// Between two peak polls; `None` means as often as it costs little.
    pub peak_poll: Option<Duration>,
    /// Samples that wait at most; 0 means the default.
    pub capacity: u32,
    /// Drop the oldest sample if there is no more room, not the new one.
    pub keep_newest: bool,
    /// Rows of processes that are kept of each sample.
    pub rows: u32,
    /// Samples that wait before the descriptor wakes; 0 means one.
    pub wake_after: u32,
}

impl RecorderOptions {
    fn raw(&self) -> sys::rt_recorder_opts {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let flag = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        sys::rt_recorder_opts {
            size: size_of::<sys::rt_recorder_opts>() as u32,
            flags: flag(self.keep_newest, sys::RT_RECORDER_KEEP_NEWEST)
                | flag(self.rows > 0, sys::RT_RECORDER_PROCESSES),
            interval_ns: ns(self.interval),
            peak_poll_ns: self.peak_poll.map_or(0, ns),
            capacity: self.capacity,
            rows: self.rows,
            wake_after: self.wake_after,
            reserved: 0,
        }
    }
}

/// # Safety
/// The tracker must be live for as long as the recorder, which frees one that is no command's.
unsafe fn begin<'c>(
    tracker: *mut sys::rt_tracker,
    options: &RecorderOptions,
) -> io::Result<Recorder<'c>> {
    let mut handle = ptr::null_mut();
    check(sys::rt_recorder_new(&mut handle, tracker, &options.raw()))?;
    let handle = NonNull::new(handle).expect("a recorder was made");
    Ok(Recorder { handle, tracker, command: PhantomData })
}

impl Tracker {
    /// Have the tracker sampled at a fixed rate from now on.
    pub fn record(self, options: &RecorderOptions) -> io::Result<Recorder<'static>> {
        // SAFETY: the recorder takes the tracker on success, and then it is not dropped here.
        let recorder = unsafe { begin(self.handle(), options) }?;
        std::mem::forget(self);
        Ok(recorder)
    }
}

impl Command {
    /// Have the tracker of the command sampled at a fixed rate from now on.
    pub fn record(&self, options: &RecorderOptions) -> io::Result<Recorder<'_>> {
        // SAFETY: the command owns its tracker, and outlives the recorder.
        unsafe { begin(self.tracker(), options) }
    }
}

impl Recorder<'_> {
    /// Descriptor for an event loop: readable when [`Recorder::read`] has something to return. It
    /// belongs to the recorder.
    pub fn fd(&self) -> io::Result<RawFd> {
        // SAFETY: the handle is live.
        let fd = unsafe { sys::rt_recorder_fd(self.handle.as_ptr()) };
        check(fd)?;
        Ok(fd)
    }

    /// Take the samples that wait, oldest first, possibly none. The error is `ESRCH` if none waits
    /// and there will be no more.
    pub fn read(&self) -> io::Result<Vec<Metrics>> {
        let mut samples = vec![Metrics::default(); self.totals()?.waiting.max(1) as usize];
        let mut count = samples.len();
        // SAFETY: a Metrics is an rt_metrics, and there is room for so many.
        check(unsafe {
            sys::rt_recorder_read(
                self.handle.as_ptr(),
                samples.as_mut_ptr().cast(),
                size_of::<Metrics>(),
                &mut count,
            )
        })?;
        samples.truncate(count);
        Ok(samples)
    }

    /// The newest sample, which stays in the ring.
    pub fn latest(&self) -> io::Result<Metrics> {
        let mut out = Metrics::default();
        // SAFETY: out outlives the call, which is given its size.
        check(unsafe {
            sys::rt_recorder_latest(self.handle.as_ptr(), &mut out.0, size_of::<sys::rt_metrics>())
        })?;
        Ok(out)
    }

    /// The processes with the most CPU time in a sample, with [`RecorderOptions::rows`].
    pub fn processes(&self, sample: &Metrics) -> io::Result<Vec<sys::rt_process>> {
        let (handle, at) = (self.handle.as_ptr(), sample.raw().monotonic_ns);
        let size = size_of::<sys::rt_process>();
        let mut count = 0;
        // SAFETY: first no array with room for 0 rows, then one with room for all of them.
        check(unsafe {
            sys::rt_recorder_processes(handle, at, ptr::null_mut(), size, &mut count)
        })?;
        let mut rows = vec![sys::rt_process::default(); count];
        check(unsafe {
            sys::rt_recorder_processes(handle, at, rows.as_mut_ptr(), size, &mut count)
        })?;
        Ok(rows)
    }

    /// What was recorded so far.
    pub fn totals(&self) -> io::Result<sys::rt_recorder_totals> {
        let mut out = sys::rt_recorder_totals::default();
        // SAFETY: out outlives the call, which is given its size.
        check(unsafe {
            sys::rt_recorder_get_totals(self.handle.as_ptr(), &mut out, size_of_val(&out))
        })?;
        Ok(out)
    }

    /// Take a last sample, and end the thread. What waits can still be read.
    pub fn stop(&self) -> io::Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::rt_recorder_stop(self.handle.as_ptr()) })
    }

    /// As [`Tracker::mark`].
    pub fn mark(&self, label: &str) -> io::Result<Mark> {
        // SAFETY: the tracker is live, and has a lock as long as it has a recorder.
        unsafe { mark(self.tracker, label) }
    }

    /// As [`Tracker::since`].
    pub fn since(&self, at: &Mark) -> io::Result<Peaks> {
        // SAFETY: likewise.
        unsafe { since(self.tracker, at) }
    }

    /// As [`Tracker::unmark`].
    pub fn unmark(&self, at: Mark) -> io::Result<()> {
        // SAFETY: likewise.
        unsafe { unmark(self.tracker, at) }
    }
}

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        // SAFETY: the library made the handle, and it is freed once.
        unsafe { sys::rt_recorder_free(self.handle.as_ptr()) }
    }
}
