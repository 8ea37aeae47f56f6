//! Limits on the memory of sessions, and reuse of memory that the process has freed.

use std::hint::black_box;

#[cfg(target_os = "linux")]
use std::{fs, path::Path};

/// The most for which glibc raises its thresholds, a little less for what it adds.
const LARGEST: usize = (32 << 20) - (64 << 10);

/// Bytes that are taken to be left where the system does not tell.
const UNKNOWN: u64 = 2 << 30;

/// Lets batches after the first find their buffers in the process instead of asking the kernel for
/// pages again: a page fault costs more than what is computed on a page.
///
/// glibc gives blocks of 128 KiB back at once and the end of its heap soon after, unless a larger
/// block was freed before; so one is freed here, of which no page was ever touched. Elsewhere this
/// does nothing.
pub fn keep_what_is_freed() {
    drop(black_box(Vec::<u8>::with_capacity(LARGEST)));
}

/// Bytes that this process may still take before the system refuses more, or ends it: the least of what is free, of
/// what its control group allows, and of what is left of its address space.
pub(crate) fn left() -> u64 {
    #[cfg(target_os = "linux")]
    {
        let all = [available(), of_control_group(), of_address_space()];
        all.into_iter().flatten().min().unwrap_or(UNKNOWN)
    }
    #[cfg(not(target_os = "linux"))]
    UNKNOWN
}

/// Runs the program anew with one heap for all threads, if its address space is limited and it has not been done.
/// glibc would give each thread a heap that begins with 64 MiB of it. The process stays the same, and nothing has been
/// read yet.
pub(crate) fn share_one_heap() {
    #[cfg(target_os = "linux")]
    {
        use std::{env, os::unix::process::CommandExt, process::Command};

        const HEAPS: &str = "MALLOC_ARENA_MAX";
        if env::var_os(HEAPS).is_some() || address_space().is_none() {
            return;
        }
        let (Ok(program), mut arguments) = (env::current_exe(), env::args_os()) else { return };
        let name = arguments.next().unwrap_or_else(|| program.clone().into());
        // It returns only if it fails; then the process goes on as it is.
        let _ = Command::new(program).arg0(name).args(arguments).env(HEAPS, "1").exec();
    }
}

#[cfg(target_os = "linux")]
fn address_space() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

#[cfg(target_os = "linux")]
fn of_address_space() -> Option<u64> {
    let taken = kibibytes(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(address_space()?.saturating_sub(taken))
}

#[cfg(target_os = "linux")]
fn available() -> Option<u64> {
    kibibytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// Returns the least memory that is left in the process's control group and in the groups above it.
#[cfg(target_os = "linux")]
fn of_control_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let number = |file: &Path| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let left = |group: &Path| {
        let group = Path::new("/sys/fs/cgroup").join(group);
        // Without a limit the file says `max`.
        let most = number(&group.join("memory.max"))?;
        let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        Some(most.saturating_sub(pinned(number(&group.join("memory.current"))?, &stat)))
    };
    Path::new(path).ancestors().filter_map(left).min()
}

/// Bytes of a control group's memory that the system cannot take back: all but the page cache, by `memory.stat`.
#[cfg(target_os = "linux")]
fn pinned(current: u64, stat: &str) -> u64 {
    let of = |name| {
        let values = stat.lines().filter_map(|line| line.split_once(' '));
        values.filter(|(key, _)| *key == name).find_map(|(_, value)| value.trim().parse().ok())
    };
    ["inactive_file", "active_file"].into_iter().filter_map(of).fold(current, u64::saturating_sub)
}

#[cfg(target_os = "linux")]
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1 << 10)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn page_cache_of_a_control_group_counts_as_free() {
        let stat = "anon 100\nfile 70\ninactive_anon 1000\ninactive_file 40\nactive_file 20\nworkingset_refault_file 9\n";
        assert_eq!(pinned(200, stat), 140);
        assert_eq!(pinned(50, stat), 0, "the two files are read one after the other");
        assert_eq!((pinned(200, ""), pinned(200, "inactive_file x\n")), (200, 200));
    }

    #[test]
    fn the_system_tells_how_much_is_left() {
        assert_eq!(kibibytes("A: 1 kB\nVmSize:\t  12 kB\n", "VmSize:"), Some(12 << 10));
        assert_eq!(kibibytes("VmSize:\tx kB\n", "VmSize:"), None);
        let available = available().unwrap();
        assert!(left() > 0 && left() <= available.max(left()), "{available}");
        assert!(available > 1 << 20);
    }
}
