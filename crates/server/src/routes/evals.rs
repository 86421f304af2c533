//! Evals: starting, watching, stopping and deleting them.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::evals::{
    BuiltInSuiteView, BuiltInSuitesView, EvalResultsView, EvalTaskView, EvalView, EvalsView,
    ModelFiguresView, StartEvalBody, SuccessView, TrialView,
};
use deskhand_app::{EvalResults, EvalRun, Evals, ModelFigures, StartEval, TaskResults};
use deskhand_core::id::EvalId;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    extract::{Body, Id, Query, page_size},
    paths::EvalPath,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list_evals, start_eval))
        .routes(routes!(show_eval, delete_eval))
        .routes(routes!(stop_eval))
        .routes(routes!(list_eval_suites))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct EvalsQuery {
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    #[param(value_type = Option<Uuid>)]
    before: Option<EvalId>,
}

/// Starts an eval. Its trials begin in the background, each in a session of yours.
#[utoipa::path(
    post,
    path = "/evals",
    tag = "evals",
    request_body = StartEvalBody,
    responses(
        (status = 201, description = "the eval", body = EvalResultsView),
        (status = 400, description = "`no_suite`, `bad_suite`, `bad_eval`, `bad_budget`, `unknown_model`"),
        (status = 429, description = "`too_many_evals`"),
    ),
)]
pub(crate) async fn start_eval(
    State(evals): State<Evals>,
    Caller(user): Caller,
    Body(body): Body<StartEvalBody>,
) -> Result<(StatusCode, Json<EvalResultsView>), Problem> {
    let wanted = StartEval {
        suite: body.suite,
        built_in: body.built_in,
        models: body.models,
        tasks: body.tasks,
        rounds: body.runs,
        parallel: body.parallel,
        budget_usd: body.budget_usd,
    };
    let started = evals.start(user, wanted).await?;
    Ok((StatusCode::CREATED, Json(results_view(started))))
}

/// Lists your evals, newest first.
#[utoipa::path(
    get,
    path = "/evals",
    tag = "evals",
    params(EvalsQuery),
    responses((status = 200, description = "a page of evals", body = EvalsView)),
)]
pub(crate) async fn list_evals(
    State(evals): State<Evals>,
    Caller(user): Caller,
    Query(query): Query<EvalsQuery>,
) -> Result<Json<EvalsView>, Problem> {
    let limit = page_size(query.limit, 50, 200)?;
    let page = evals.list(user, query.before, limit).await?;
    Ok(Json(EvalsView {
        evals: page.runs.into_iter().map(eval_view).collect(),
        next: page.next,
    }))
}

/// Shows an eval of yours with its results so far.
#[utoipa::path(
    get,
    path = "/evals/{id}",
    tag = "evals",
    params(EvalPath),
    responses(
        (status = 200, description = "the eval", body = EvalResultsView),
        (status = 404, description = "`no_eval`"),
    ),
)]
pub(crate) async fn show_eval(
    State(evals): State<Evals>,
    Caller(user): Caller,
    Id(id): Id<EvalId>,
) -> Result<Json<EvalResultsView>, Problem> {
    Ok(Json(results_view(evals.find(user, id).await?)))
}

/// Stops an eval: its trials end, and none begins any more. Nothing happens if it has ended.
#[utoipa::path(
    post,
    path = "/evals/{id}/stop",
    tag = "evals",
    params(EvalPath),
    responses(
        (status = 200, description = "the eval", body = EvalResultsView),
        (status = 404, description = "`no_eval`"),
    ),
)]
pub(crate) async fn stop_eval(
    State(evals): State<Evals>,
    Caller(user): Caller,
    Id(id): Id<EvalId>,
) -> Result<Json<EvalResultsView>, Problem> {
    Ok(Json(results_view(evals.stop(user, id).await?)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteEvalQuery {
    /// With `true`, the sessions of its trials are deleted, too. This cannot be undone.
    #[serde(default)]
    #[param(default = false)]
    sessions: bool,
}

/// Deletes an eval of yours that has ended, with its results. The sessions of its trials stay, unless `sessions=true`
/// deletes them.
#[utoipa::path(
    delete,
    path = "/evals/{id}",
    tag = "evals",
    params(EvalPath, DeleteEvalQuery),
    responses(
        (status = 204, description = "it is deleted"),
        (status = 404, description = "`no_eval`"),
        (status = 409, description = "`eval_running`"),
    ),
)]
pub(crate) async fn delete_eval(
    State(evals): State<Evals>,
    Caller(user): Caller,
    Id(id): Id<EvalId>,
    Query(wanted): Query<DeleteEvalQuery>,
) -> Result<StatusCode, Problem> {
    evals.delete(user, id, wanted.sessions).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the suites that come with the program.
#[utoipa::path(
    get,
    path = "/eval-suites",
    tag = "evals",
    responses((status = 200, description = "the suites", body = BuiltInSuitesView)),
)]
pub(crate) async fn list_eval_suites(
    State(evals): State<Evals>,
    _: Caller,
) -> Json<BuiltInSuitesView> {
    let suites = evals.built_in().into_iter().map(|suite| BuiltInSuiteView {
        n_tasks: u64::try_from(suite.tasks.len()).unwrap_or(u64::MAX),
        name: suite.name,
        description: suite.description,
    });
    Json(BuiltInSuitesView {
        suites: suites.collect(),
    })
}

fn eval_view(run: EvalRun) -> EvalView {
    let EvalRun { row, waits_for } = run;
    EvalView {
        id: row.id,
        suite: row.name,
        models: row.models,
        runs: row.n_rounds,
        parallel: row.n_parallel,
        budget_usd: row.budget_usd,
        state: row.state,
        waits_for,
        n_trials: row.progress.n_trials,
        n_ended: row.progress.n_ended,
        n_passed: row.progress.n_passed,
        n_failed: row.progress.n_failed,
        cost_usd: row.progress.usd,
        created_at: row.created_at,
        ended_at: row.ended_at,
    }
}

fn results_view(results: EvalResults) -> EvalResultsView {
    EvalResultsView {
        eval: eval_view(results.run),
        description: results.description,
        figures: results.figures.into_iter().map(figures_view).collect(),
        tasks: results.tasks.into_iter().map(task_view).collect(),
    }
}

fn figures_view(figures: ModelFigures) -> ModelFiguresView {
    ModelFiguresView {
        model: figures.model,
        n_passed: figures.n_passed,
        n_failed: figures.n_failed,
        n_errors: figures.n_errors,
        n_skipped: figures.n_skipped,
        n_open: figures.n_open,
        success: figures.success.map(|success| SuccessView {
            rate: success.rate,
            low: success.low,
            high: success.high,
        }),
        median_steps: figures.median_steps,
        median_seconds: figures.median_seconds,
        median_usd: figures.median_usd,
        total_usd: figures.total_usd,
    }
}

fn task_view(task: TaskResults) -> EvalTaskView {
    let trials = task.trials.into_iter().map(|trial| TrialView {
        number: trial.number,
        model: trial.model,
        round: trial.round,
        state: trial.state,
        reason: trial.reason,
        session: trial.session,
        n_steps: trial.n_steps,
        cost_usd: trial.cost_usd,
        seconds: trial.duration_ms.map(seconds),
        n_restarts: trial.n_restarts,
        started_at: trial.started_at,
        ended_at: trial.ended_at,
    });
    EvalTaskView {
        name: task.name,
        tags: task.tags,
        task: task.prompt,
        trials: trials.collect(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact for thousands of years")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1e3
}
