//! Judges from one look at a player to the next whether the stream is alive.

use std::time::Duration;

use deskhand_app::PlayerSight;
use deskhand_core::browser::PlayerState;

/// The time for which neither player nor screen may move.
const LONGEST_FREEZE: Duration = Duration::from_secs(10);
/// The time for which a player may be paused, although it was told to play at every look.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// The time after which a page that once had a player counts as left.
const LONGEST_ABSENCE: Duration = Duration::from_secs(10);

/// The judgement about one look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finding {
    Alive,
    /// It should play again.
    Paused,
    Ended,
    /// Nothing has moved for too long.
    Dropped(&'static str),
}

/// The memory of the looks so far. Times are counted from any beginning.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    last: Option<Seen>,
    moved_at: Duration,
    played_at: Duration,
    /// The time of the last look at which there was a player.
    had_player_at: Option<Duration>,
}

/// The parts of a sight that move while something plays.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    position: Option<(u64, u64)>,
    screen: [u8; 32],
}

impl Pulse {
    /// Returns the memory of somebody who begins to look at this time.
    pub(crate) fn beginning(now: Duration) -> Self {
        Self {
            moved_at: now,
            played_at: now,
            ..Self::default()
        }
    }

    /// Judges a look. `now` grows from look to look.
    pub(crate) fn judge(&mut self, sight: &PlayerSight, now: Duration) -> Finding {
        let player = sight.media.player.as_ref();
        let seen = Seen {
            position: player.map(|player| (player.position_ms, player.n_frames)),
            screen: sight.screen,
        };
        if self.last.as_ref() != Some(&seen) {
            self.moved_at = now;
        }
        self.last = Some(seen);
        match player {
            Some(player) => self.judge_player(player, now),
            None => self.judge_page(now),
        }
    }

    fn judge_player(&mut self, player: &PlayerState, now: Duration) -> Finding {
        self.had_player_at = Some(now);
        if player.is_ended {
            return Finding::Ended;
        }
        if player.is_broken {
            return Finding::Dropped("the player reports an error");
        }
        if !player.is_paused {
            self.played_at = now;
            return match now.saturating_sub(self.moved_at) > LONGEST_FREEZE {
                true => Finding::Dropped("the picture stands still"),
                false => Finding::Alive,
            };
        }
        match now.saturating_sub(self.played_at) > LONGEST_PAUSE {
            true => Finding::Dropped("the player stays paused"),
            false => Finding::Paused,
        }
    }

    /// Judges a page without a player. One that never had any may stand still for ever.
    fn judge_page(&self, now: Duration) -> Finding {
        match self.had_player_at {
            Some(at) if now.saturating_sub(at) > LONGEST_ABSENCE => {
                Finding::Dropped("the player is no longer on the page")
            }
            Some(_) | None => Finding::Alive,
        }
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::browser::PageMedia;

    use super::*;

    fn playing(position_ms: u64) -> PlayerState {
        PlayerState {
            has_picture: true,
            is_paused: false,
            is_ended: false,
            is_muted: false,
            fills_screen: true,
            is_waiting: false,
            is_broken: false,
            position_ms,
            duration_ms: None,
            n_frames: position_ms / 40,
        }
    }

    /// Looks every two seconds at these players and screens, and returns the judgements.
    fn judge(looks: impl IntoIterator<Item = (Option<PlayerState>, u8)>) -> Vec<Finding> {
        let mut pulse = Pulse::default();
        let looks = looks.into_iter().enumerate();
        looks
            .map(|(at, (player, screen))| {
                let sight = PlayerSight {
                    media: PageMedia {
                        status: Some(200),
                        player,
                    },
                    screen: [screen; 32],
                    n_picture_bytes: 1,
                };
                pulse.judge(&sight, Duration::from_secs(2 * at as u64))
            })
            .collect()
    }

    #[test]
    fn a_player_that_moves_is_alive_even_if_the_screen_does_not() {
        let looks = (0..20).map(|at| (Some(playing(at * 2000)), 0));
        assert!(judge(looks).iter().all(|one| *one == Finding::Alive));
    }

    #[test]
    fn a_screen_that_moves_is_alive_even_if_the_player_does_not() {
        let looks = (0..20).map(|at| (Some(playing(0)), at));
        assert!(judge(looks).iter().all(|one| *one == Finding::Alive));
    }

    #[test]
    fn a_picture_that_stands_still_is_dropped_after_ten_seconds() {
        let found = judge((0..7).map(|_| (Some(playing(500)), 0)));
        assert_eq!(found[..6], [Finding::Alive; 6]);
        assert!(matches!(found[6], Finding::Dropped(_)));
    }

    #[test]
    fn a_paused_player_is_told_to_play_and_dropped_if_it_never_does() {
        let paused = PlayerState {
            is_paused: true,
            ..playing(500)
        };
        let looks = std::iter::once((Some(playing(0)), 0))
            .chain((0..6).map(|at| (Some(paused.clone()), at)));
        let found = judge(looks);
        assert_eq!(found[1..6], [Finding::Paused; 5]);
        assert!(matches!(found[6], Finding::Dropped(_)));
    }

    #[test]
    fn the_end_of_the_media_is_the_end() {
        let ended = PlayerState {
            is_ended: true,
            is_paused: true,
            ..playing(500)
        };
        assert_eq!(judge([(Some(ended), 0)]), [Finding::Ended]);
    }

    #[test]
    fn a_page_without_a_player_may_stand_still_but_a_lost_player_is_a_drop() {
        let page = judge((0..30).map(|_| (None, 0)));
        assert!(page.iter().all(|one| *one == Finding::Alive));
        let left = judge(std::iter::once((Some(playing(0)), 0)).chain((0..6).map(|at| (None, at))));
        assert!(matches!(left[6], Finding::Dropped(_)), "{left:?}");
    }
}
