// SPDX-License-Identifier: MIT
//! Bindings to librtrack: the functions and structs of `<rtrack/rtrack.h>`, with the same names.
//!
//! bindgen generates `bindings.rs` from the header (`update-bindings.sh`). It gives each constant
//! the smallest type, so those of other types are written by hand below.
#![allow(non_camel_case_types)]

mod bindings;
pub use bindings::*;

// Written by tests/abi/update_fields.py.
pub const RT_HAS_CPU: u64 = 1 << 0;
pub const RT_HAS_RSS: u64 = 1 << 1;
pub const RT_HAS_PSS: u64 = 1 << 2;
pub const RT_HAS_PEAK_RSS: u64 = 1 << 3;
pub const RT_HAS_IO: u64 = 1 << 4;
pub const RT_HAS_FAULTS: u64 = 1 << 5;
pub const RT_HAS_CTXSW: u64 = 1 << 6;
pub const RT_HAS_PROCESSES: u64 = 1 << 7;
pub const RT_HAS_THREADS: u64 = 1 << 8;
pub const RT_HAS_PROCESSES_PEAK: u64 = 1 << 9;
pub const RT_HAS_CGROUP_MEMORY: u64 = 1 << 10;
pub const RT_HAS_CGROUP_IO: u64 = 1 << 11;
pub const RT_HAS_CGROUP_TASKS: u64 = 1 << 12;
pub const RT_HAS_PROCESSES_SEEN: u64 = 1 << 13;
pub const RT_HAS_CGROUP_CPU: u64 = 1 << 14;
pub const RT_HAS_CPU_MODES: u64 = 1 << 16;
pub const RT_HAS_ACTIVITY: u64 = 1 << 17;
pub const RT_HAS_MEMORY: u64 = 1 << 18;
pub const RT_HAS_MEMORY_AVAILABLE: u64 = 1 << 19;
pub const RT_HAS_SWAP: u64 = 1 << 20;
pub const RT_HAS_DISK: u64 = 1 << 21;
pub const RT_HAS_FILESYSTEM: u64 = 1 << 22;
pub const RT_HAS_NETWORK: u64 = 1 << 23;
pub const RT_HAS_LOAD: u64 = 1 << 24;
pub const RT_HAS_PRESSURE_CPU: u64 = 1 << 25;
pub const RT_HAS_PRESSURE_MEMORY: u64 = 1 << 26;
pub const RT_HAS_PRESSURE_IO: u64 = 1 << 27;
pub const RT_HAS_ZFS: u64 = 1 << 28;
pub const RT_HAS_GPU: u64 = 1 << 29;
pub const RT_HAS_GPU_MEMORY: u64 = 1 << 30;
pub const RT_HAS_GPU_ENERGY: u64 = 1 << 31;
pub const RT_HAS_PEAK_FOOTPRINT: u64 = 1 << 34;
pub const RT_HAS_IO_CALLS: u64 = 1 << 35;
pub const RT_HAS_CGROUP_CPU_TIME: u64 = 1 << 36;
pub const RT_HAS_HUGEPAGES: u64 = 1 << 37;
pub const RT_HAS_ZFS_ARC: u64 = 1 << 38;
pub const RT_HAS_CGROUP_MEMORY_SLAB: u64 = 1 << 39;
pub const RT_HAS_RATE: u64 = 1 << 40;
pub const RT_HAS_CGROUP_MEMORY_PEAK: u64 = 1 << 41;
pub const RT_HAS_CGROUP_MEMORY_KERNEL: u64 = 1 << 42;
pub const RT_HAS_CGROUP_MEMORY_EVENTS: u64 = 1 << 43;
pub const RT_HAS_CGROUP_OOM_KILLS: u64 = 1 << 44;
pub const RT_HAS_CGROUP_SWAP: u64 = 1 << 45;
pub const RT_HAS_CGROUP_TASKS_PEAK: u64 = 1 << 46;
pub const RT_HAS_VIRTUAL: u64 = 1 << 47;
pub const RT_HAS_USS: u64 = 1 << 48;
pub const RT_HAS_IDS: u64 = 1 << 49;
pub const RT_HAS_OPEN_FDS: u64 = 1 << 50;
pub const RT_HAS_FOOTPRINT: u64 = 1 << 55;
pub const RT_HAS_NEEDED: u64 = 1 << 56;
pub const RT_HAS_TREE_SWAP: u64 = 1 << 57;
pub const RT_HAS_PEAK_NEEDED: u64 = 1 << 58;
pub const RT_RUSAGE_SELF: i32 = 0;
pub const RT_RUSAGE_CHILDREN: i32 = -1;
pub const RT_RUSAGE_THREAD: i32 = 1;
// End of what is written.
