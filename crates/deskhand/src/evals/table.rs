//! The results of a run as a table: one column for each model, then the trials that did not pass.

use console::Style;
use deskhand_api::evals::{EvalResultsView, EvalTaskView, ModelFiguresView, TrialView};
use deskhand_core::{eval::TrialState, id::SessionId};

use crate::output::Painted;

/// The placeholder for a missing figure.
const NONE: &str = "–";

/// A line of the table before it is aligned.
struct TableRow {
    head: String,
    cells: Vec<Cell>,
}

/// A cell with its colour.
struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            style: Style::new(),
        }
    }
}

/// Returns the table, and a link to the session of each trial that did not pass.
pub(super) fn lines(results: &EvalResultsView, address: &str) -> Vec<Painted> {
    let models = &results.eval.models;
    let mut rows = vec![TableRow {
        head: "TASK".to_owned(),
        cells: models.iter().map(|model| Cell::plain(&**model)).collect(),
    }];
    rows.extend(results.tasks.iter().map(|task| task_row(task, models)));
    rows.push(TableRow {
        head: String::new(),
        cells: Vec::new(),
    });
    rows.extend(figure_rows(&results.figures));
    let mut lines = aligned(&rows);
    let failures = failures(results, address);
    if !failures.is_empty() {
        lines.push(Painted::plain(""));
        lines.extend(failures);
    }
    lines
}

fn task_row(task: &EvalTaskView, models: &[String]) -> TableRow {
    let cells = models.iter().map(|model| {
        let own = task.trials.iter().filter(|trial| trial.model == *model);
        cell(&own.collect::<Vec<_>>())
    });
    TableRow {
        head: task.name.clone(),
        cells: cells.collect(),
    }
}

/// Returns the cell of a model's trials of one task.
fn cell(trials: &[&TrialView]) -> Cell {
    if let [trial] = trials {
        let style = match trial.state {
            TrialState::Passed => Style::new().green(),
            TrialState::Failed => Style::new().red(),
            TrialState::Error => Style::new().yellow(),
            TrialState::Skipped | TrialState::Waiting | TrialState::Running => Style::new().dim(),
        };
        return Cell {
            text: trial.state.name().to_owned(),
            style,
        };
    }
    let n_passed = trials
        .iter()
        .filter(|trial| trial.state == TrialState::Passed);
    let n_counted = trials.iter().filter(|trial| trial.state.counts()).count();
    let n_passed = n_passed.count();
    if n_counted == 0 {
        return Cell {
            text: NONE.to_owned(),
            style: Style::new().dim(),
        };
    }
    let style = match n_passed {
        0 => Style::new().red(),
        passed if passed == n_counted => Style::new().green(),
        _ => Style::new().yellow(),
    };
    Cell {
        text: format!("{n_passed}/{n_counted}"),
        style,
    }
}

fn figure_rows(figures: &[ModelFiguresView]) -> Vec<TableRow> {
    let row = |head: &str, value: &dyn Fn(&ModelFiguresView) -> String| TableRow {
        head: head.to_owned(),
        cells: figures.iter().map(|one| Cell::plain(value(one))).collect(),
    };
    let number = |value: Option<f64>, digits: usize| {
        value.map_or(NONE.to_owned(), |value| format!("{value:.digits$}"))
    };
    let mut rows = vec![
        row("success", &success),
        row("95 % interval", &interval),
        row("median steps", &|one| number(one.median_steps, 1)),
        row("median seconds", &|one| number(one.median_seconds, 1)),
        row("median dollars", &|one| number(one.median_usd, 4)),
        row("total dollars", &|one| format!("{:.4}", one.total_usd)),
    ];
    let has = |count: &dyn Fn(&ModelFiguresView) -> u64| figures.iter().any(|one| count(one) > 0);
    if has(&|one| one.n_errors) {
        rows.push(row("errors", &|one| one.n_errors.to_string()));
    }
    if has(&|one| one.n_skipped) {
        rows.push(row("skipped", &|one| one.n_skipped.to_string()));
    }
    if has(&|one| one.n_open) {
        rows.push(row("open", &|one| one.n_open.to_string()));
    }
    rows
}

fn success(figures: &ModelFiguresView) -> String {
    let n = figures.n_passed + figures.n_failed;
    match figures.success {
        Some(success) => {
            let percent = success.rate * 100.0;
            format!("{}/{n} ({percent:.0} %)", figures.n_passed)
        }
        None => NONE.to_owned(),
    }
}

fn interval(figures: &ModelFiguresView) -> String {
    figures.success.map_or(NONE.to_owned(), |success| {
        let (low, high) = (success.low * 100.0, success.high * 100.0);
        format!("{low:.0}–{high:.0} %")
    })
}

fn aligned(rows: &[TableRow]) -> Vec<Painted> {
    let width = |text: &str| text.chars().count();
    let head = rows.iter().map(|row| width(&row.head)).max().unwrap_or(0);
    let n_columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..n_columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.cells.get(column));
            cells.map(|cell| width(&cell.text)).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &TableRow| {
        let mut parts = vec![Painted::plain(&format!("{:<head$}", row.head))];
        for (cell, most) in row.cells.iter().zip(&widths) {
            let gap = " ".repeat(2 + most - width(&cell.text));
            parts.push(Painted::plain(&gap));
            parts.push(Painted::styled(&cell.text, &cell.style));
        }
        match row.cells.is_empty() {
            true => Painted::plain(""),
            false => Painted::joined(parts),
        }
    };
    rows.iter().map(line).collect()
}

/// Returns a line for each trial that failed or says nothing, with the address of its session.
fn failures(results: &EvalResultsView, address: &str) -> Vec<Painted> {
    let mut lines = Vec::new();
    for task in &results.tasks {
        let is_bad =
            |trial: &&TrialView| matches!(trial.state, TrialState::Failed | TrialState::Error);
        for trial in task.trials.iter().filter(is_bad) {
            let reason = trial.reason.as_deref().unwrap_or("no reason was given");
            let text = format!(
                "{} {} by {}, round {}: {reason}",
                trial.state.name(),
                task.name,
                trial.model,
                trial.round
            );
            lines.push(Painted::plain(&text));
            lines.extend(trial.session.map(|session| link(address, session)));
        }
    }
    lines
}

fn link(address: &str, session: SessionId) -> Painted {
    let text = format!("  {address}/sessions/{session}");
    Painted::styled(&text, &Style::new().dim())
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
