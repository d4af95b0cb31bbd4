// SPDX-License-Identifier: MIT
//! Samples and their differences. They are plain values without a handle.

use crate::{check, sys, Figure};
use std::io;
use std::mem::size_of;
use std::time::Duration;

/// One sample of a tracker.
#[derive(Debug, Clone, Copy, Default)]
#[repr(transparent)]
pub struct Metrics(pub(crate) sys::rt_metrics);

impl Metrics {
    /// All fields, with the bits of the figures in `valid`, `partial` and `estimated`.
    pub fn raw(&self) -> &sys::rt_metrics {
        &self.0
    }

    /// CPU time of the tree or the system, in user and kernel mode.
    pub fn cpu(&self) -> Figure<(Duration, Duration)> {
        let time =
            (Duration::from_nanos(self.0.cpu_user_ns), Duration::from_nanos(self.0.cpu_system_ns));
        Figure::of(&self.0, sys::RT_HAS_CPU, time)
    }

    /// Memory that the members of a tree or a cgroup map, each page once. Of an estimate,
    /// `footprint_low_bytes` and `footprint_high_bytes` of [`Metrics::raw`] are the bounds.
    pub fn footprint_bytes(&self) -> Figure<u64> {
        Figure::of(&self.0, sys::RT_HAS_FOOTPRINT, self.0.footprint_bytes)
    }

    /// The part of the footprint that the kernel cannot drop.
    pub fn needed_bytes(&self) -> Figure<u64> {
        Figure::of(&self.0, sys::RT_HAS_NEEDED, self.0.needed_bytes)
    }

    /// Swap space that the members of a tree or a cgroup use.
    pub fn swap_bytes(&self) -> Figure<u64> {
        Figure::of(&self.0, sys::RT_HAS_TREE_SWAP, self.0.swap_bytes)
    }

    /// Resident memory. Shared pages count in each process.
    pub fn rss_bytes(&self) -> Figure<u64> {
        Figure::of(&self.0, sys::RT_HAS_RSS, self.0.rss_bytes)
    }

    /// Resident memory. Shared pages are divided among the processes that map them. An
    /// estimate unless all of it was read: see [`crate::Options::pss_reads`].
    pub fn pss_bytes(&self) -> Figure<u64> {
        Figure::of(&self.0, sys::RT_HAS_PSS, self.0.pss_bytes)
    }

    /// Number of live members of the tree, or of all processes of the system.
    pub fn processes(&self) -> Figure<u64> {
        Figure::of(&self.0, sys::RT_HAS_PROCESSES, self.0.processes)
    }

    /// Number of processes of the tree so far.
    pub fn processes_seen(&self) -> Figure<u64> {
        Figure::of(&self.0, sys::RT_HAS_PROCESSES_SEEN, self.0.processes_seen)
    }

    /// Returns the difference from an earlier sample of the same tracker.
    pub fn since(&self, earlier: &Metrics) -> io::Result<Delta> {
        let mut out = sys::rt_delta::default();
        // SAFETY: the three structs outlive the call, and the last is passed with its size.
        check(unsafe { sys::rt_diff(&earlier.0, &self.0, &mut out, size_of::<sys::rt_delta>()) })?;
        Ok(Delta(out))
    }
}

/// The difference of two samples.
#[derive(Debug, Clone, Copy, Default)]
pub struct Delta(sys::rt_delta);

impl Delta {
    /// All fields, with the bits of the figures in `valid`, `partial` and `estimated`.
    pub fn raw(&self) -> &sys::rt_delta {
        &self.0
    }

    /// Time between the samples, without the time that the system was suspended.
    pub fn interval(&self) -> Duration {
        Duration::from_nanos(self.0.interval_ns)
    }

    /// CPU time per second: 1.0 is one busy core.
    pub fn cores_used(&self) -> Figure<f64> {
        Figure::of(&self.0, sys::RT_HAS_CPU | sys::RT_HAS_RATE, self.0.cores_used)
    }

    /// Bytes read from and written to storage.
    pub fn io_bytes(&self) -> Figure<(u64, u64)> {
        Figure::of(&self.0, sys::RT_HAS_IO, (self.0.read_bytes, self.0.write_bytes))
    }
}

/// A row of a list of [`crate::Tracker`].
pub trait Row: Copy + Default {
    /// Its `RT_STRUCT_` value.
    const STRUCT_ID: u32;
}

macro_rules! rows {
    ($($name:ident: $id:ident),*) => {
        $(impl Row for sys::$name {
            const STRUCT_ID: u32 = sys::$id;
        })*
    };
}

rows!(
    rt_process: RT_STRUCT_PROCESS,
    rt_cpu: RT_STRUCT_CPU,
    rt_disk: RT_STRUCT_DISK,
    rt_filesystem: RT_STRUCT_FILESYSTEM,
    rt_network: RT_STRUCT_NETWORK,
    rt_zpool: RT_STRUCT_ZPOOL,
    rt_gpu: RT_STRUCT_GPU,
    rt_gpu_process: RT_STRUCT_GPU_PROCESS
);

/// Returns what one item of a list has done between two rows: counters are subtracted, all else is
/// that of the later row. The error is `ESTALE` if they are of different items.
pub fn row_diff<R: Row>(earlier: &R, later: &R) -> io::Result<R> {
    let mut out = R::default();
    // SAFETY: the three rows are of the struct with this number, and outlive the call.
    check(unsafe {
        sys::rt_row_diff(
            R::STRUCT_ID,
            (earlier as *const R).cast(),
            (later as *const R).cast(),
            (&mut out as *mut R).cast(),
            size_of::<R>(),
        )
    })?;
    Ok(out)
}

/// The largest figures of a tree since a mark.
#[derive(Debug, Clone, Copy, Default)]
pub struct Peaks(pub(crate) sys::rt_peaks);

impl Peaks {
    /// All fields, with the bits of the figures in `valid`, `partial` and `estimated`.
    pub fn raw(&self) -> &sys::rt_peaks {
        &self.0
    }

    /// Largest footprint.
    pub fn footprint_bytes(&self) -> Figure<u64> {
        Figure::of(&self.0, sys::RT_HAS_PEAK_FOOTPRINT, self.0.peak_footprint_bytes)
    }

    /// Largest resident memory of one process.
    pub fn rss_bytes(&self) -> Figure<u64> {
        Figure::of(&self.0, sys::RT_HAS_PEAK_RSS, self.0.peak_rss_bytes)
    }

    /// Most processes at the same time.
    pub fn processes(&self) -> Figure<u64> {
        Figure::of(&self.0, sys::RT_HAS_PROCESSES_PEAK, self.0.processes_peak)
    }
}
