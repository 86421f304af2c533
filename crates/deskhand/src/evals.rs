//! `deskhand eval`: runs a suite of tasks on models, shows the progress, and prints the results side by side.

mod outage;
mod table;

use std::{collections::BTreeMap, io, net::SocketAddr, process::ExitCode, time::Duration};

use anyhow::Context;
use deskhand_api::evals::{EvalResultsView, StartEvalBody, TrialView};
use deskhand_core::{
    eval::{EvalState, TrialState},
    id::EvalId,
};
use deskhand_evals::{BUILT_IN, BuiltIn, Suite};
use tokio::time::{Instant, sleep};

use self::outage::Outage;
use crate::{
    cli::{EvalArgs, EvalPagesArgs},
    client::Client,
    config::{Config, Environment},
    find::find_or_start,
    interrupts::Interrupts,
    output,
    own_server::end_server,
};

/// The time between two looks at the results.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The beginning of the names of built-in suites.
const BUILT_IN_PREFIX: &str = "builtin:";

/// The suite of the command line.
#[derive(Debug)]
enum SuiteSource {
    BuiltIn(&'static BuiltIn),
    File(String),
}

impl SuiteSource {
    fn read(name: &str) -> anyhow::Result<Self> {
        let Some(name) = name.strip_prefix(BUILT_IN_PREFIX) else {
            let text = std::fs::read_to_string(name);
            let text = text.with_context(|| match BuiltIn::named(name) {
                Some(_) => {
                    format!(
                        "cannot read the suite {name} (the built-in one is {BUILT_IN_PREFIX}{name})"
                    )
                }
                None => format!(
                    "cannot read the suite {name}; name a YAML file, or a built-in suite such as \
                     {BUILT_IN_PREFIX}desktop"
                ),
            })?;
            return Ok(Self::File(text));
        };
        let suite = BuiltIn::named(name).with_context(|| {
            let names: Vec<_> = BUILT_IN.iter().map(|suite| suite.name).collect();
            let names = names.join(", ");
            format!("there is no built-in suite {name:?}; there is {names}")
        })?;
        Ok(Self::BuiltIn(suite))
    }

    fn yaml(&self) -> &str {
        match self {
            Self::BuiltIn(suite) => suite.yaml,
            Self::File(text) => text,
        }
    }
}

/// Runs `deskhand eval`.
pub(crate) async fn eval(
    args: &EvalArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<ExitCode> {
    let source = SuiteSource::read(&args.suite)?;
    let suite = Suite::read(source.yaml()).with_context(|| format!("mistake in {}", args.suite))?;
    if args.check {
        list(&suite)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut interrupts = Interrupts::listen()?;
    let (client, own_server) =
        find_or_start(args.server.server.as_deref(), config, environment).await?;
    let mut own = None;
    let done = carry_out(args, &source, &client, &mut interrupts, &mut own).await;
    if let Some(server) = own_server {
        tokio::select! {
            () = end_server(server, &client, own, output::say) => {}
            _ = interrupts.next() => {}
        }
    }
    done
}

/// Lists the tasks of a suite.
fn list(suite: &Suite) -> io::Result<()> {
    for task in &suite.tasks {
        let tags = task.tags.join(", ");
        output::answer(&format!("{}\t{tags}", task.name))?;
    }
    output::say(&format!(
        "{} has {} tasks and no mistake.",
        suite.name,
        suite.tasks.len()
    ));
    Ok(())
}

/// Starts the eval, notes it in `own`, and follows it to its end. Ctrl-C stops it.
async fn carry_out(
    args: &EvalArgs,
    source: &SuiteSource,
    client: &Client,
    interrupts: &mut Interrupts,
    own: &mut Option<EvalId>,
) -> anyhow::Result<ExitCode> {
    let started = client.start_eval(&body(args, source)).await?;
    let id = started.eval.id;
    *own = Some(id);
    output::say(&format!(
        "{} trials of {} begin. See them at {}/evals/{id}",
        started.eval.n_trials,
        started.eval.suite,
        client.page_address()
    ));
    let mut progress = Progress::default();
    let (results, exit) = tokio::select! {
        results = follow(client, id, &mut progress) => (results?, ExitCode::SUCCESS),
        interrupt = interrupts.next() => {
            output::say("Stopping.");
            (client.stop_eval(id).await?, ExitCode::from(interrupt.exit_code()))
        }
    };
    if args.json {
        output::answer(&serde_json::to_string_pretty(&results)?)?;
    } else {
        for line in table::lines(&results, &client.page_address()) {
            output::answer_painted(&line)?;
        }
    }
    Ok(match results.eval.state {
        EvalState::Done | EvalState::Running => exit,
        EvalState::Stopped if exit == ExitCode::SUCCESS => ExitCode::FAILURE,
        EvalState::Stopped => exit,
    })
}

fn body(args: &EvalArgs, source: &SuiteSource) -> StartEvalBody {
    let mut models = args.models.clone();
    let doubles = [
        (args.oracle, deskhand_evals::Double::Oracle),
        (args.fool, deskhand_evals::Double::Fool),
    ];
    let doubles = doubles.into_iter().filter(|(is_wanted, _)| *is_wanted);
    models.extend(doubles.map(|(_, double)| double.model().to_owned()));
    let (suite, built_in) = match source {
        SuiteSource::BuiltIn(suite) => (None, Some(suite.name.to_owned())),
        SuiteSource::File(text) => (Some(text.clone()), None),
    };
    StartEvalBody {
        suite,
        built_in,
        models,
        tasks: args.tasks.clone(),
        runs: Some(args.runs),
        parallel: args.parallel,
        budget_usd: args.budget,
    }
}

/// Shows each result as it comes. Returns all of them at the end.
async fn follow(
    client: &Client,
    id: EvalId,
    progress: &mut Progress,
) -> anyhow::Result<EvalResultsView> {
    let mut outage = Outage::default();
    loop {
        let results = match client.show_eval(id).await {
            Ok(results) => results,
            Err(error) => {
                // The eval goes on without this command.
                if let Some(line) = outage.bear(error, Instant::now())? {
                    output::say(&line);
                }
                sleep(LOOK_EVERY).await;
                continue;
            }
        };
        outage = Outage::default();
        for line in progress.news(&results) {
            output::say(&line);
        }
        if results.eval.state != EvalState::Running {
            return Ok(results);
        }
        sleep(LOOK_EVERY).await;
    }
}

/// What was shown of a run so far.
#[derive(Debug, Default)]
struct Progress {
    states: BTreeMap<u64, TrialState>,
    waits_for: Option<String>,
}

impl Progress {
    /// Returns a line for each trial that has a result since the last look, and one for a limit that holds the run up.
    fn news(&mut self, results: &EvalResultsView) -> Vec<String> {
        let mut lines = Vec::new();
        let eval = &results.eval;
        for task in &results.tasks {
            for trial in &task.trials {
                let earlier = self.states.insert(trial.number, trial.state);
                if trial.state.is_final() && earlier != Some(trial.state) {
                    lines.push(ended(&task.name, trial));
                }
            }
        }
        if let Some(last) = lines.last_mut() {
            last.push_str(&format!("  [{}/{}]", eval.n_ended, eval.n_trials));
        }
        if eval.waits_for != self.waits_for {
            self.waits_for.clone_from(&eval.waits_for);
            lines.extend(
                eval.waits_for
                    .iter()
                    .map(|reason| format!("Waiting: {reason}")),
            );
        }
        lines
    }
}

fn ended(task: &str, trial: &TrialView) -> String {
    let seconds = trial.seconds.map(|seconds| format!(" in {seconds:.1} s"));
    let reason = trial.reason.as_ref().map(|reason| format!(": {reason}"));
    format!(
        "{:<7} {task} by {}{}{}",
        trial.state.name(),
        trial.model,
        seconds.unwrap_or_default(),
        reason.unwrap_or_default()
    )
}

/// Runs `deskhand eval-pages`, the server of pages inside a sandbox.
pub(crate) async fn serve_pages(args: EvalPagesArgs) -> anyhow::Result<()> {
    let address = SocketAddr::from(([127, 0, 0, 1], args.port));
    deskhand_evals::serve_pages(address, args.folder, args.submissions).await?;
    Ok(())
}
