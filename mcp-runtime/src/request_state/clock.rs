//! What time it is, for states that expire.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// A wall clock that does not step back behind the time that has passed since it was made.
///
/// All servers of a fleet have to agree about when a state expires, so it is a time of the wall clock. That one may be
/// set back, which would give every state a longer life; the time since the start can't be, and tests can advance it.
/// It stands still while the machine sleeps, so neither of the two is enough: the later one counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    wall: SystemTime,
    started: Instant,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { wall: SystemTime::now(), started: Instant::now() }
    }

    pub(super) fn now(&self) -> SystemTime {
        self.later_of(SystemTime::now())
    }

    fn later_of(&self, wall: SystemTime) -> SystemTime {
        let counted = self.wall.checked_add(self.started.elapsed());
        counted.map_or(wall, |counted| wall.max(counted))
    }
}

/// Milliseconds since the Unix epoch, as a state holds them; times before it count as it.
pub(super) fn to_millis(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The time that so many milliseconds since the Unix epoch are, if the system knows such a time.
pub(super) fn from_millis(millis: u64) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[tokio::test(start_paused = true)]
    async fn a_wall_clock_that_is_set_back_is_not_followed() {
        let clock = Clock::start();
        tokio::time::advance(HOUR).await;
        assert!(clock.later_of(clock.wall - HOUR) >= clock.wall + HOUR);
        assert!(clock.now() >= clock.wall + HOUR);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wall_clock_that_goes_on_while_the_machine_sleeps_is_followed() {
        let clock = Clock::start();
        assert_eq!(clock.later_of(clock.wall + HOUR), clock.wall + HOUR);
    }

    #[test]
    fn times_are_kept_in_milliseconds() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_234_567_890_123);
        assert_eq!(to_millis(time), 1_234_567_890_123);
        assert_eq!(from_millis(to_millis(time)), Some(time));
        assert_eq!(to_millis(SystemTime::UNIX_EPOCH - HOUR), 0);
        // On whatever system, without a panic.
        let _ = from_millis(u64::MAX);
    }
}
