// SPDX-License-Identifier: MIT
//! Compares the bindings with the linked library: sizes of structs, and offsets of fields by name.

use rtrack_sys::*;
use std::ffi::CStr;
use std::mem::{size_of, size_of_val, MaybeUninit};

fn field(struct_id: u32, name: &str) -> rt_field {
    let mut field = rt_field::default();
    for index in 0..unsafe { rt_field_count(struct_id) } {
        assert_eq!(unsafe { rt_field_get(struct_id, index, &mut field, size_of::<rt_field>()) }, 0);
        if unsafe { CStr::from_ptr(field.name.as_ptr()) }.to_str() == Ok(name) {
            return field;
        }
    }
    panic!("struct {struct_id} has no field {name}");
}

fn assert_offset<S, F>(struct_id: u32, name: &str, whole: &S, part: &F) {
    let offset = part as *const F as usize - whole as *const S as usize;
    let field = field(struct_id, name);
    assert_eq!(
        (field.offset as usize, field.length as usize),
        (offset, size_of_val(part)),
        "{name}"
    );
}

fn zeroed<S>() -> S {
    // SAFETY: the structs contain only numbers and arrays of numbers.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// A later release has the same fields at the same offsets, and may have more at the end.
#[test]
fn struct_sizes_match_the_library() {
    let sizes = [
        (RT_STRUCT_RUSAGE, size_of::<rt_rusage>()),
        (RT_STRUCT_METRICS, size_of::<rt_metrics>()),
        (RT_STRUCT_DELTA, size_of::<rt_delta>()),
        (RT_STRUCT_OUTCOME, size_of::<rt_outcome>()),
        (RT_STRUCT_PROCESS, size_of::<rt_process>()),
        (RT_STRUCT_CPU, size_of::<rt_cpu>()),
        (RT_STRUCT_DISK, size_of::<rt_disk>()),
        (RT_STRUCT_FILESYSTEM, size_of::<rt_filesystem>()),
        (RT_STRUCT_NETWORK, size_of::<rt_network>()),
        (RT_STRUCT_ZPOOL, size_of::<rt_zpool>()),
        (RT_STRUCT_GPU, size_of::<rt_gpu>()),
        (RT_STRUCT_GPU_PROCESS, size_of::<rt_gpu_process>()),
        (RT_STRUCT_COMMAND_PROCESS, size_of::<rt_command_process>()),
        (RT_STRUCT_OPTS, size_of::<rt_opts>()),
        (RT_STRUCT_COMMAND_OPTS, size_of::<rt_command_opts>()),
        (RT_STRUCT_CONSTANT, size_of::<rt_constant>()),
        (RT_STRUCT_OBSTACLE, size_of::<rt_obstacle>()),
        (RT_STRUCT_RECORDER_OPTS, size_of::<rt_recorder_opts>()),
        (RT_STRUCT_RECORDER_TOTALS, size_of::<rt_recorder_totals>()),
        (RT_STRUCT_PEAKS, size_of::<rt_peaks>()),
    ];
    for (id, size) in sizes {
        assert_eq!(unsafe { rt_field_struct_size(id) } as usize, size, "struct {id}");
    }
    assert_eq!(size_of::<rt_rusage>(), 128);
}

#[test]
fn field_offsets_match_the_library() {
    let m: rt_metrics = zeroed();
    assert_offset(RT_STRUCT_METRICS, "valid", &m, &m.valid);
    assert_offset(RT_STRUCT_METRICS, "rusage", &m, &m.rusage);
    assert_offset(RT_STRUCT_METRICS, "pss_bytes", &m, &m.pss_bytes);
    assert_offset(RT_STRUCT_METRICS, "members_unreadable", &m, &m.members_unreadable);
    assert_offset(RT_STRUCT_METRICS, "load_15m", &m, &m.load_15m);
    assert_offset(RT_STRUCT_METRICS, "zfs_pools", &m, &m.zfs_pools);
    assert_offset(RT_STRUCT_METRICS, "source", &m, &m.source);
    let d: rt_delta = zeroed();
    assert_offset(RT_STRUCT_DELTA, "cores_used", &d, &d.cores_used);
    assert_offset(RT_STRUCT_DELTA, "pressure_io_full_ns", &d, &d.pressure_io_full_ns);
    let o: rt_outcome = zeroed();
    assert_offset(RT_STRUCT_OUTCOME, "exit_code", &o, &o.exit_code);
    assert_offset(RT_STRUCT_OUTCOME, "overhead_cpu_ns", &o, &o.overhead_cpu_ns);
    assert_offset(RT_STRUCT_OUTCOME, "cgroup_tasks_peak", &o, &o.cgroup_tasks_peak);
    let p: rt_process = zeroed();
    assert_offset(RT_STRUCT_PROCESS, "comm", &p, &p.comm);
    assert_offset(RT_STRUCT_PROCESS, "threads", &p, &p.threads);
    assert_offset(RT_STRUCT_PROCESS, "pss_source", &p, &p.pss_source);
    let l: rt_command_process = zeroed();
    assert_offset(RT_STRUCT_COMMAND_PROCESS, "start_realtime_ns", &l, &l.start_realtime_ns);
    assert_offset(RT_STRUCT_COMMAND_PROCESS, "comm", &l, &l.comm);
    let f: rt_filesystem = zeroed();
    assert_offset(RT_STRUCT_FILESYSTEM, "mount_point", &f, &f.mount_point);
    assert_offset(RT_STRUCT_FILESYSTEM, "available_bytes", &f, &f.available_bytes);
}
