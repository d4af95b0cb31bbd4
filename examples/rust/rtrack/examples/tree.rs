// SPDX-License-Identifier: MIT
//! Lists the processes of a tree with CPU time and memory. The default root is this process.

use rtrack::{sys, Figure, Options, Tracker};
use std::ffi::CStr;
use std::io;

/// An unknown figure is shown as a question mark, never as 0.
fn known(figure: Figure<String>) -> String {
    figure.value().unwrap_or_else(|| "?".to_string())
}

fn print(process: &sys::rt_process) {
    // SAFETY: the library terminates the name with a NUL.
    let name = unsafe { CStr::from_ptr(process.comm.as_ptr()) }.to_string_lossy();
    let seconds = (process.cpu_user_ns + process.cpu_system_ns) as f64 / 1e9;
    let cpu = known(Figure::of(process, sys::RT_HAS_CPU, format!("{seconds:.3}")));
    let kib = (process.rss_bytes / 1024).to_string();
    let rss = known(Figure::of(process, sys::RT_HAS_RSS, kib));
    println!("{:8}{:8}{cpu:>12}{rss:>12}  {name}", process.pid, process.ppid);
}

fn main() -> io::Result<()> {
    let mut tracker = match std::env::args().nth(1) {
        Some(pid) => Tracker::of_pid(
            pid.parse().map_err(|_| io::ErrorKind::InvalidInput)?,
            &Options::default(),
        )?,
        None => Tracker::of_self()?,
    };
    tracker.sample()?;
    println!("     pid    ppid     cpu (s)   rss (KiB)  name");
    tracker.processes()?.iter().for_each(print);
    Ok(())
}
