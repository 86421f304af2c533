//! The pauses and pictures between the actions of a batch.

use deskhand_core::action::Action;

/// The step after an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// The next action follows at once.
    Nothing,
    /// The next action follows once the screen has settled. A program may need a while to move the focus after a
    /// click or a chord, and text typed before that goes to the wrong place.
    Settle,
    /// The model gets a picture.
    Picture,
}

/// Returns the step after each call of a batch. A call that is not an action is `None` in `actions`.
///
/// A picture follows the last action. An action that may move the focus or open something settles before another
/// action. So does typing before a use of the mouse, since a program may handle keys later than clicks.
pub(crate) fn afters(actions: &[Option<&Action>]) -> Vec<After> {
    let after = |(index, action): (usize, &Option<&Action>)| {
        let Some(action) = action else {
            return After::Nothing;
        };
        let next = actions[index + 1..].iter().find_map(|next| *next);
        match (action, next) {
            (_, None) => After::Picture,
            (action, _) if action.is_look() => After::Picture,
            (action, _) if may_move_focus(action) => After::Settle,
            (Action::Type { .. }, Some(next)) if uses_mouse(next) => After::Settle,
            (_, Some(_)) => After::Nothing,
        }
    };
    actions.iter().enumerate().map(after).collect()
}

/// Takes the pictures that calls of the browser ask for: only the last of them is followed by one. `browses` says which
/// calls are of the browser.
pub(crate) fn look_after_last(browses: &[bool], afters: &mut [After]) {
    let last = browses.iter().rposition(|is_browse| *is_browse);
    if let Some(after) = last.and_then(|last| afters.get_mut(last)) {
        *after = After::Picture;
    }
}

fn may_move_focus(action: &Action) -> bool {
    matches!(
        action,
        Action::Click { .. }
            | Action::Drag { .. }
            | Action::MouseUp { .. }
            | Action::Scroll { .. }
            | Action::Key { .. }
            | Action::HoldKey { .. }
    )
}

fn uses_mouse(action: &Action) -> bool {
    matches!(
        action,
        Action::Click { .. } | Action::Drag { .. } | Action::MouseDown { .. }
    )
}
