//! The output of a task in the terminal: steps and a spinner, plain lines, or JSON.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use console::{Style, Term};
use deskhand_core::plain::visible;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{
    feed::FeedItem,
    narrator::{Mark, Narrator, Step, TurnEnd},
};
use crate::output::{self, Painted};

/// The longest step without a terminal, in characters.
const LONGEST_PLAIN_STEP: usize = 200;

/// Shows a task. The answer goes to standard output, everything else to standard error.
#[derive(Debug)]
pub(super) struct Show {
    narrator: Narrator,
    is_json: bool,
    /// `None` if standard error is not a terminal, or the output is JSON.
    spinner: Option<ProgressBar>,
}

impl Show {
    pub(super) fn new(is_json: bool) -> Self {
        let is_live = io::stderr().is_terminal() && !is_json;
        Self {
            narrator: Narrator::default(),
            is_json,
            spinner: is_live.then(new_spinner),
        }
    }

    /// Shows an event. Returns the outcome of the turn once it has ended.
    pub(super) fn event(&mut self, item: &FeedItem) -> io::Result<Option<TurnEnd>> {
        if self.is_json {
            output::answer(&item.text)?;
        }
        let Some(event) = &item.event else {
            return Ok(None);
        };
        for step in self.narrator.tell(event) {
            self.step(&step);
        }
        let activity = self.narrator.activity.clone();
        self.activity(&activity);
        if self.narrator.end == Some(TurnEnd::Done) && !self.is_json {
            self.answer()?;
        }
        Ok(self.narrator.end)
    }

    /// Shows the current activity.
    pub(super) fn activity(&self, text: &str) {
        if let Some(spinner) = &self.spinner {
            spinner.set_message(Painted::plain(text).to_string());
        }
    }

    /// Shows a note that is not a step of the agent.
    pub(super) fn note(&self, text: &str) {
        self.line(&Painted::styled(text, &Style::new().for_stderr().dim()));
    }

    /// Shows a line of a question.
    pub(super) fn ask(&self, text: &str) {
        let mark = Painted::styled("? ", &Style::new().for_stderr().yellow());
        self.line(&Painted::joined([mark, Painted::plain(text)]));
    }

    /// Hides the spinner while the user types.
    pub(super) fn pause(&self) {
        if let Some(spinner) = &self.spinner {
            spinner.disable_steady_tick();
            spinner.set_draw_target(ProgressDrawTarget::hidden());
        }
    }

    /// Shows the spinner again.
    pub(super) fn go_on(&self) {
        if let Some(spinner) = &self.spinner {
            spinner.set_draw_target(ProgressDrawTarget::stderr());
            spinner.enable_steady_tick(TICK);
        }
    }

    /// Removes the spinner.
    pub(super) fn finish(&self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }

    fn answer(&self) -> io::Result<()> {
        let answer = self.narrator.answer.as_deref().unwrap_or_default();
        let print = || output::answer(answer.trim_end());
        match &self.spinner {
            Some(spinner) => spinner.suspend(print),
            None => print(),
        }
    }

    fn step(&self, step: &Step) {
        if !self.is_json {
            self.line(&drawn(step, self.width()));
        }
    }

    fn line(&self, line: &Painted) {
        match &self.spinner {
            Some(spinner) if !spinner.is_hidden() => spinner.println(line.to_string()),
            Some(_) | None => output::say_painted(line),
        }
    }

    fn width(&self) -> usize {
        match &self.spinner {
            Some(_) => usize::from(Term::stderr().size().1),
            None => LONGEST_PLAIN_STEP,
        }
    }
}

fn new_spinner() -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    // The template is a constant that a test parses. Without it the spinner is only plainer.
    if let Ok(look) = ProgressStyle::with_template(SPINNER) {
        spinner.set_style(look);
    }
    spinner.enable_steady_tick(TICK);
    spinner
}

const TICK: Duration = Duration::from_millis(100);
const SPINNER: &str = "{elapsed:>6} {spinner} {wide_msg}";

/// Formats a step as one line of at most `width` characters. Notes and the reason of a failed turn are not cut.
fn drawn(step: &Step, width: usize) -> Painted {
    let style = Style::new().for_stderr();
    let mark = match step.mark {
        Mark::Done => Painted::styled(" ✓ ", &style.clone().green()),
        Mark::Failed => Painted::styled(" ✗ ", &style.clone().red()),
        Mark::Said => Painted::styled(" » ", &style.clone().cyan()),
        Mark::Note => Painted::styled(" · ", &style.clone().dim()),
    };
    let time = format!("{:>6}", seconds(step.after_ms));
    let took = step.took_ms.map(|ms| format!(" ({})", seconds(ms)));
    let took = took.unwrap_or_default();
    let room = width.saturating_sub(time.len() + took.len() + 4).max(20);
    // Escapes take room, so the text is cut as it will be seen.
    let text = visible(&step.text);
    let text = match step.mark {
        Mark::Done | Mark::Failed if step.took_ms.is_some() => cut(&text, room),
        Mark::Said => cut(&text, room),
        // The reason why a turn failed may take more than one line.
        Mark::Done | Mark::Failed | Mark::Note => text.into_owned(),
    };
    let text = match step.mark {
        Mark::Failed => Painted::styled(&text, &style.clone().red()),
        Mark::Said => Painted::styled(&text, &style.clone().italic()),
        Mark::Done | Mark::Note => Painted::plain(&text),
    };
    let dim = style.dim();
    Painted::joined([
        Painted::styled(&time, &dim),
        mark,
        text,
        Painted::styled(&took, &dim),
    ])
}

fn seconds(ms: u64) -> String {
    if ms < 1_000 {
        format!("{ms}ms")
    } else {
        format!("{}.{}s", ms / 1_000, ms % 1_000 / 100)
    }
}

/// Cuts a text to at most `room` characters.
fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(room.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spinner_has_its_look() {
        ProgressStyle::with_template(SPINNER).unwrap();
    }

    #[test]
    fn a_step_fits_its_line() {
        console::set_colors_enabled_stderr(false);
        let step = Step {
            after_ms: 1_250,
            mark: Mark::Done,
            text: "Type “ünïcödé and some more of it”".to_owned(),
            took_ms: Some(35),
        };
        assert_eq!(
            drawn(&step, 40).to_string(),
            "  1.2s ✓ Type “ünïcödé and some… (35ms)"
        );
        assert_eq!(
            drawn(&step, 80).to_string(),
            "  1.2s ✓ Type “ünïcödé and some more of it” (35ms)"
        );
    }
}
