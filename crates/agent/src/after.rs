//! The pauses and pictures between the actions of a batch.

use deskhand_core::action::Action;

/// The step that follows an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// The next action, at once.
    Nothing,
    /// The next action, once the screen has settled. A program may take a while to move the focus after a click or a
    /// chord, and text that is typed before that goes to the wrong place.
    Settle,
    /// A picture for the model.
    Picture,
}

/// Returns the step after each call of a batch. Calls that are no actions have `None`.
///
/// The last action is followed by a picture. An action that may move the focus or open something settles before
/// another action. So does typing before the mouse is used, since a program may handle keys later than clicks.
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
