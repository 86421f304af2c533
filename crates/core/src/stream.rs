//! The states of a stream, and the moves between them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The state of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamState {
    /// Asked for, and not yet started.
    Pending,
    /// The computer starts and opens the link.
    Starting,
    Streaming,
    /// Somebody has asked for the end.
    Stopping,
    Ended,
    /// Ended by an error. Status updates call it `error`.
    #[serde(alias = "error")]
    Failed,
}

impl StreamState {
    pub const ALL: [Self; 6] = [
        Self::Pending,
        Self::Starting,
        Self::Streaming,
        Self::Stopping,
        Self::Ended,
        Self::Failed,
    ];

    /// Returns the word on the wire and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Starting => "starting",
            Self::Streaming => "streaming",
            Self::Stopping => "stopping",
            Self::Ended => "ended",
            Self::Failed => "failed",
        }
    }

    /// Returns true if a stream goes from this state to the next in one move.
    ///
    /// A stream is asked for, starts, streams, stops and has ended. It can be stopped and can fail at every point before
    /// that, and it ends by itself when there is nothing more to show.
    pub fn may_become(self, next: Self) -> bool {
        use StreamState::{Ended, Failed, Pending, Starting, Stopping, Streaming};
        matches!(
            (self, next),
            (Pending, Starting | Stopping | Failed)
                | (Starting, Streaming | Stopping | Failed)
                | (Streaming, Stopping | Ended | Failed)
                | (Stopping, Ended | Failed)
        )
    }

    /// Returns true if a stream in this state can later be in the other one. Used by receivers of updates, some of which
    /// may be lost.
    pub fn may_reach(self, later: Self) -> bool {
        self.may_become(later)
            || Self::ALL
                .iter()
                .any(|next| self.may_become(*next) && next.may_reach(later))
    }

    /// Returns true if nothing follows this state.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Ended | Self::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::StreamState::{self, Ended, Failed, Pending, Starting, Stopping, Streaming};

    #[test]
    fn a_stream_goes_through_all_states_in_order() {
        for (state, next) in [
            (Pending, Starting),
            (Starting, Streaming),
            (Streaming, Stopping),
            (Stopping, Ended),
            (Starting, Failed),
            (Streaming, Failed),
        ] {
            assert!(state.may_become(next), "{state:?} to {next:?}");
        }
    }

    #[test]
    fn there_is_no_way_back_and_none_out_of_an_end() {
        for state in StreamState::ALL {
            assert!(!state.may_reach(state), "{state:?} to itself");
            for other in StreamState::ALL {
                assert!(
                    !(state.may_reach(other) && other.may_reach(state)),
                    "{state:?} and {other:?}"
                );
                assert!(!(state.is_final() && state.may_reach(other)));
            }
            assert_eq!(state.is_final(), !state.may_reach(Failed));
        }
        assert!(Pending.may_reach(Streaming));
        assert!(!Stopping.may_reach(Streaming));
    }

    #[test]
    fn names_are_those_of_the_wire() {
        for state in StreamState::ALL {
            let json = serde_json::to_value(state).unwrap();
            assert_eq!(json, state.name());
        }
        let failed: StreamState = serde_json::from_str("\"error\"").unwrap();
        assert_eq!(failed, Failed);
    }
}
