// SPDX-License-Identifier: MIT
//! Trackers: handles that take samples.

use crate::{check, sys, Metrics, Peaks};
use std::ffi::{CString, OsStr};
use std::io;
use std::mem::size_of;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::ptr::{self, NonNull};

/// Options of a tracker. `Options::default()` has the defaults of the library.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Follow only the process, not its descendants.
    pub no_children: bool,
    /// List network file systems too.
    pub network_filesystems: bool,
    /// Directory that contains `proc` and `sys`.
    pub root: Option<PathBuf>,
    /// `RT_HAS_` bits to measure; 0 means [`Kind::default_domains`].
    pub want: u64,
    /// Most descriptors to keep open; 0 means the default.
    pub max_fds: u32,
    /// Insist on an event from the kernel for every fork and exit, if the caller is permitted to
    /// receive them, and on BPF programs that account for the tree.
    pub events: bool,
    /// Receive no such events. By default a tracker does, without BPF programs.
    pub no_events: bool,
    /// Never walk page tables: the footprint is estimated where processes share memory.
    pub no_memory_reads: bool,
    /// Read PSS in each sample, as far as the next two allow.
    pub pss_reads: bool,
    /// Largest share of one CPU for walking page tables, in thousandths; 0 means the default.
    pub pss_share: u32,
    /// Longest time that one such read may block a process, in microseconds; 0 means the default.
    pub pss_hold_us: u32,
    /// Commands: record every process, for [`crate::Command::processes`]. System: list the
    /// processes, for [`Tracker::processes`] and [`Tracker::top`].
    pub list_processes: bool,
    /// Follow all processes of the session of the process, and what they start.
    pub session: bool,
    /// With [`Options::no_children`]: the I/O of the process as the kernel counts it, with that of
    /// children that it waited for.
    pub io_with_reaped: bool,
    /// System: the fields of cgroups have the figures of the caller's own cgroup, and the tightest
    /// limits that hold for it.
    pub own_limits: bool,
}

impl Options {
    /// Call a function with the options in the form of the library.
    pub(crate) fn lend<T>(&self, call: impl FnOnce(&sys::rt_opts) -> T) -> io::Result<T> {
        self.lend_with(0, call)
    }

    /// The same with more `RT_OPT_` bits.
    fn lend_with<T>(&self, more: u32, call: impl FnOnce(&sys::rt_opts) -> T) -> io::Result<T> {
        let root = self
            .root
            .clone()
            .map(|root| CString::new(root.into_os_string().into_vec()))
            .transpose()?;
        let flags = [
            (self.no_children, sys::RT_OPT_NO_CHILDREN),
            (self.network_filesystems, sys::RT_OPT_NETWORK_FILESYSTEMS),
            (self.events, sys::RT_OPT_PROCESS_EVENTS),
            (self.no_events, sys::RT_OPT_NO_PROCESS_EVENTS),
            (self.no_memory_reads, sys::RT_OPT_NO_MEMORY_READS),
            (self.pss_reads, sys::RT_OPT_PSS_READS),
            (self.session, sys::RT_OPT_SESSION),
            (self.io_with_reaped, sys::RT_OPT_IO_WITH_REAPED),
            (self.own_limits, sys::RT_OPT_OWN_LIMITS),
        ];
        let flags =
            flags.iter().filter(|(is_set, _)| *is_set).fold(more, |all, (_, bit)| all | bit);
        Ok(call(&sys::rt_opts {
            size: size_of::<sys::rt_opts>() as u32,
            flags,
            root: root.as_ref().map_or(ptr::null(), |root| root.as_ptr()),
            want: self.want,
            max_fds: self.max_fds,
            reserved: 0,
            pss_share: self.pss_share,
            pss_hold_us: self.pss_hold_us,
            message_size: 0,
            reserved_2: 0,
            message: ptr::null_mut(),
        }))
    }
}

/// What a tracker follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Process,
    System,
    Cgroup,
}

impl Kind {
    fn raw(self) -> u32 {
        match self {
            Kind::Process => sys::RT_KIND_PID,
            Kind::System => sys::RT_KIND_SYSTEM,
            Kind::Cgroup => sys::RT_KIND_CGROUP,
        }
    }

    /// The `RT_HAS_` bits that the loaded library can measure.
    pub fn domains(self) -> u64 {
        // SAFETY: the call has no conditions.
        unsafe { sys::rt_domains(self.raw()) }
    }

    /// The `RT_HAS_` bits that [`Options::want`] 0 stands for.
    pub fn default_domains(self) -> u64 {
        // SAFETY: the call has no conditions.
        unsafe { sys::rt_default_domains(self.raw()) }
    }
}

/// Follows one process tree, a cgroup or the system. It can move to another thread, but it has one owner:
///
/// ```compile_fail
/// fn is_sync<T: Sync>() {}
/// is_sync::<rtrack::Tracker>();
/// ```
#[derive(Debug)]
pub struct Tracker(NonNull<sys::rt_tracker>);

// SAFETY: the library keeps no thread-local state of a tracker.
unsafe impl Send for Tracker {}

type List<Row> = unsafe extern "C" fn(*const sys::rt_tracker, *mut Row, usize, *mut usize) -> i32;

impl Tracker {
    /// Follow a process and, without [`Options::no_children`], its descendants.
    pub fn of_pid(pid: i32, options: &Options) -> io::Result<Tracker> {
        let mut handle = ptr::null_mut();
        // SAFETY: the options outlive the call.
        check(options.lend(|opts| unsafe { sys::rt_pid_tracker_new(&mut handle, pid, opts) })?)?;
        Ok(Tracker(NonNull::new(handle).expect("a tracker was made")))
    }

    /// Follow several processes and their descendants as one tree.
    pub fn of_pids(pids: &[i32], options: &Options) -> io::Result<Tracker> {
        let mut handle = ptr::null_mut();
        // SAFETY: the pids and the options outlive the call.
        check(options.lend(|opts| unsafe {
            sys::rt_pids_tracker_new(&mut handle, pids.as_ptr(), pids.len(), opts)
        })?)?;
        Ok(Tracker(NonNull::new(handle).expect("a tracker was made")))
    }

    /// Follow the calling process and its descendants.
    pub fn of_self() -> io::Result<Tracker> {
        Tracker::of_pid(std::process::id() as i32, &Options::default())
    }

    /// Follow the whole system.
    pub fn of_system(options: &Options) -> io::Result<Tracker> {
        let mut handle = ptr::null_mut();
        // SAFETY: as in of_pid().
        let more = if options.list_processes { sys::RT_OPT_LIST_PROCESSES } else { 0 };
        check(
            options
                .lend_with(more, |opts| unsafe { sys::rt_system_tracker_new(&mut handle, opts) })?,
        )?;
        Ok(Tracker(NonNull::new(handle).expect("a tracker was made")))
    }

    /// Follow a cgroup: a path below the mounts, e.g. "/system.slice/cron.service", its directory
    /// in one hierarchy, or a line of `/proc/PID/cgroup`.
    pub fn of_cgroup(name: impl AsRef<OsStr>, options: &Options) -> io::Result<Tracker> {
        let name = CString::new(name.as_ref().as_bytes())?;
        let mut handle = ptr::null_mut();
        // SAFETY: the name and the options outlive the call.
        check(options.lend(|opts| unsafe {
            sys::rt_cgroup_tracker_new(&mut handle, name.as_ptr(), opts)
        })?)?;
        Ok(Tracker(NonNull::new(handle).expect("a tracker was made")))
    }

    /// Take a sample. The error is `ESRCH` if all followed processes have ended.
    pub fn sample(&mut self) -> io::Result<Metrics> {
        // SAFETY: the handle is live, and borrowed mutably.
        unsafe { sample(self.0.as_ptr()) }
    }

    /// Peak poll: update memory peaks and process events between two samples, at a lower cost than
    /// a sample.
    pub fn glance(&mut self) -> io::Result<()> {
        // SAFETY: the handle is live, and borrowed mutably.
        check(unsafe { sys::rt_tracker_glance(self.0.as_ptr()) })
    }

    /// Have the next sample read all that `footprint_bytes` and `needed_bytes` rest on.
    pub fn read_memory(&mut self) -> io::Result<()> {
        // SAFETY: the handle is live, and borrowed mutably.
        check(unsafe { sys::rt_tracker_read_memory(self.0.as_ptr()) })
    }

    /// Set a mark, from which the peaks of the tree are kept: 64 at a time.
    pub fn mark(&mut self, label: &str) -> io::Result<Mark> {
        // SAFETY: the handle is live, and borrowed mutably.
        unsafe { mark(self.0.as_ptr(), label) }
    }

    /// The peaks since a mark, up to now.
    pub fn since(&mut self, at: &Mark) -> io::Result<Peaks> {
        // SAFETY: likewise.
        unsafe { since(self.0.as_ptr(), at) }
    }

    /// Remove a mark.
    pub fn unmark(&mut self, at: Mark) -> io::Result<()> {
        // SAFETY: likewise.
        unsafe { unmark(self.0.as_ptr(), at) }
    }

    pub(crate) fn handle(&self) -> *mut sys::rt_tracker {
        self.0.as_ptr()
    }

    /// `Ok` if a figure of the last sample is complete. Otherwise the error says why not.
    pub fn status(&self, has: u64) -> io::Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::rt_tracker_status(self.0.as_ptr(), has) })
    }

    /// Why a domain of the last sample is not complete, and what would help. The texts in it are
    /// terminated by NUL.
    pub fn obstacle(&self, has: u64) -> io::Result<sys::rt_obstacle> {
        let mut out = std::mem::MaybeUninit::<sys::rt_obstacle>::uninit();
        let size = std::mem::size_of::<sys::rt_obstacle>();
        // SAFETY: the handle is live, and the library fills the whole struct on success.
        unsafe {
            check(sys::rt_tracker_obstacle(self.0.as_ptr(), has, out.as_mut_ptr(), size))?;
            Ok(out.assume_init())
        }
    }

    /// The processes that used most between the last two samples, the largest first: as
    /// differences. `order` is an `RT_TOP_` value.
    pub fn top(&self, order: u32, count: usize) -> io::Result<Vec<sys::rt_process>> {
        let mut rows = vec![sys::rt_process::default(); count];
        let mut written = count;
        // SAFETY: the array has room for so many rows.
        check(unsafe {
            sys::rt_tracker_top(
                self.0.as_ptr(),
                order,
                rows.as_mut_ptr(),
                size_of::<sys::rt_process>(),
                &mut written,
            )
        })?;
        rows.truncate(written);
        Ok(rows)
    }

    /// Members of the tree in the last sample; of a system, its processes, if they are listed.
    pub fn processes(&self) -> io::Result<Vec<sys::rt_process>> {
        self.list(sys::rt_tracker_processes)
    }

    /// Online CPUs.
    pub fn cpus(&self) -> io::Result<Vec<sys::rt_cpu>> {
        self.list(sys::rt_tracker_cpus)
    }

    /// Block devices.
    pub fn disks(&self) -> io::Result<Vec<sys::rt_disk>> {
        self.list(sys::rt_tracker_disks)
    }

    /// File systems that have blocks.
    pub fn filesystems(&self) -> io::Result<Vec<sys::rt_filesystem>> {
        self.list(sys::rt_tracker_filesystems)
    }

    /// Network interfaces.
    pub fn networks(&self) -> io::Result<Vec<sys::rt_network>> {
        self.list(sys::rt_tracker_networks)
    }

    /// ZFS pools.
    pub fn zpools(&self) -> io::Result<Vec<sys::rt_zpool>> {
        self.list(sys::rt_tracker_zpools)
    }

    /// GPUs. Partitions come after their device. Needs `RT_HAS_GPU` among the wanted domains.
    pub fn gpus(&self) -> io::Result<Vec<sys::rt_gpu>> {
        self.list(sys::rt_tracker_gpus)
    }

    /// Processes that use GPUs: of a system those of NVIDIA, of a tree all. Needs `RT_HAS_GPU`
    /// among the wanted domains.
    pub fn gpu_processes(&self) -> io::Result<Vec<sys::rt_gpu_process>> {
        self.list(sys::rt_tracker_gpu_processes)
    }

    fn list<Row: Clone + Default>(&self, call: List<Row>) -> io::Result<Vec<Row>> {
        let mut count = 0;
        // SAFETY: first no array with room for 0 rows, then an array with room for all rows. Only a
        // sample changes the list, and it needs to borrow the tracker mutably.
        check(unsafe { call(self.0.as_ptr(), ptr::null_mut(), size_of::<Row>(), &mut count) })?;
        let mut rows = vec![Row::default(); count];
        check(unsafe { call(self.0.as_ptr(), rows.as_mut_ptr(), size_of::<Row>(), &mut count) })?;
        Ok(rows)
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        // SAFETY: the library made the handle, and it is freed once.
        unsafe { sys::rt_tracker_free(self.0.as_ptr()) }
    }
}

/// # Safety
/// The handle must be live and not in use by other code.
pub(crate) unsafe fn sample(handle: *mut sys::rt_tracker) -> io::Result<Metrics> {
    let mut out = Metrics::default();
    check(sys::rt_sample(handle, &mut out.0, size_of::<sys::rt_metrics>()))?;
    Ok(out)
}

/// A moment of a tree, from which its peaks are kept.
#[derive(Debug)]
pub struct Mark(u64);

/// # Safety
/// The handle must be live and, without a recorder, not in use by other code. So for the next two.
pub(crate) unsafe fn mark(handle: *mut sys::rt_tracker, label: &str) -> io::Result<Mark> {
    let label = CString::new(label)?;
    let mut id = 0;
    check(sys::rt_tracker_mark(handle, label.as_ptr(), &mut id))?;
    Ok(Mark(id))
}

pub(crate) unsafe fn since(handle: *mut sys::rt_tracker, at: &Mark) -> io::Result<Peaks> {
    let mut out = Peaks::default();
    check(sys::rt_tracker_since(handle, at.0, &mut out.0, size_of::<sys::rt_peaks>()))?;
    Ok(out)
}

pub(crate) unsafe fn unmark(handle: *mut sys::rt_tracker, at: Mark) -> io::Result<()> {
    check(sys::rt_tracker_unmark(handle, at.0))
}
