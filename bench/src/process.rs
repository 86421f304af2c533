//! The resources that a process uses.

/// Returns the processor time that a process has used, in hundredths of a second.
pub(crate) fn cpu_ticks(pid: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name, in brackets, may contain anything. After it come the state and ten more fields.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let times = rest.split_whitespace().skip(11).take(2);
    times.filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// Returns the megabytes that a process has for itself, without the pages of its program file.
///
/// The kernel shares those with other processes of the program, drops them when it needs memory, and maps more of them
/// than are used.
pub(crate) fn own_mb(pid: i32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    kilobytes.map_or(f64::NAN, |kilobytes: f64| kilobytes * 1_024.0 / 1e6)
}
