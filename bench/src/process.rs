//! The resources that a process uses.

/// Returns the processor time that a process has used, in hundredths of a second.
pub(crate) fn cpu_ticks(pid: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name, in brackets, may contain anything. After it come the state and ten more fields.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let times = rest.split_whitespace().skip(11).take(2);
    times.filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}
