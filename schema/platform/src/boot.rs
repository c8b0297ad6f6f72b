//! The boot of this machine, which only Linux identifies.

/// The id of the boot; `None` where the system has none.
pub fn id() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// The time since the boot in ns, suspensions included: the clock of recordings. `None` where nothing records.
pub fn elapsed_ns() -> Option<i64> {
    cfg_select! {
        target_os = "linux" => {
            let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
            Some(time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_clock_of_the_boot_is_that_of_the_uptime() {
        let uptime = || {
            let text = std::fs::read_to_string("/proc/uptime").unwrap();
            text.split('.').next().unwrap().parse::<i64>().unwrap()
        };
        let (before, now, after) = (uptime(), elapsed_ns().unwrap() / 1_000_000_000, uptime());
        assert!((before..=after).contains(&now), "{before} {now} {after}");
    }
}
