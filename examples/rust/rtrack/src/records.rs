// SPDX-License-Identifier: MIT
//! Samples and their differences: values without a handle.

use crate::{check, sys};
use std::io;
use std::mem::size_of;
use std::time::Duration;

pub(crate) fn known<T>(valid: u64, has: u64, value: T) -> Option<T> {
    (valid & has == has).then_some(value)
}

/// One sample of a tracker.
#[derive(Debug, Clone, Copy, Default)]
pub struct Metrics(pub(crate) sys::rt_metrics);

impl Metrics {
    /// All fields, with their bits in `valid` and `partial`.
    pub fn raw(&self) -> &sys::rt_metrics {
        &self.0
    }

    /// CPU time of the tree, or of the machine, in user and kernel mode.
    pub fn cpu(&self) -> Option<(Duration, Duration)> {
        let time = (Duration::from_nanos(self.0.cpu_user_ns), Duration::from_nanos(self.0.cpu_system_ns));
        known(self.0.valid, sys::RT_HAS_CPU, time)
    }

    /// Resident memory, shared pages counted in each process.
    pub fn rss_bytes(&self) -> Option<u64> {
        known(self.0.valid, sys::RT_HAS_RSS, self.0.rss_bytes)
    }

    /// Resident memory, shared pages divided among their users.
    pub fn pss_bytes(&self) -> Option<u64> {
        known(self.0.valid, sys::RT_HAS_PSS, self.0.pss_bytes)
    }

    /// Live members of the tree, or all processes of the machine.
    pub fn processes(&self) -> Option<u64> {
        known(self.0.valid, sys::RT_HAS_PROCESSES, self.0.processes)
    }

    /// What happened since an earlier sample of the same tracker.
    pub fn since(&self, earlier: &Metrics) -> io::Result<Delta> {
        let mut out = sys::rt_delta::default();
        // SAFETY: three structs that live through the call, the last with its own size.
        check(unsafe { sys::rt_diff(&earlier.0, &self.0, &mut out, size_of::<sys::rt_delta>()) })?;
        Ok(Delta(out))
    }
}

/// What happened between two samples.
#[derive(Debug, Clone, Copy, Default)]
pub struct Delta(sys::rt_delta);

impl Delta {
    /// All fields, with their bits in `valid` and `partial`.
    pub fn raw(&self) -> &sys::rt_delta {
        &self.0
    }

    /// Time between the samples, without time asleep.
    pub fn interval(&self) -> Duration {
        Duration::from_nanos(self.0.interval_ns)
    }

    /// CPU time per time: 1.0 is one core kept busy.
    pub fn cores_used(&self) -> Option<f64> {
        known(self.0.valid, sys::RT_HAS_CPU | sys::RT_HAS_RATE, self.0.cores_used)
    }

    /// Bytes fetched from and sent to storage.
    pub fn io_bytes(&self) -> Option<(u64, u64)> {
        known(self.0.valid, sys::RT_HAS_IO, (self.0.read_bytes, self.0.write_bytes))
    }
}
