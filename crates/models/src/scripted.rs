//! Scripted models play a scenario written in YAML, chunk by chunk as a vendor streams.
//!
//! The conversation in the request determines the next step, so a scenario continues after a restart of the server
//! exactly as a real model would. The only other state is how often a step has failed. `docs/guide/scenarios.md`
//! describes the format.

mod call;
mod check;
mod conversation;
mod expect;
#[cfg(test)]
mod fuzz_tests;
mod given;
mod one_or_more;
mod picture;
mod play;
mod role;
mod scenario;
mod template;
mod trouble;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use deskhand_core::{
    action::{Point, ScreenSize},
    attachment::Attachment,
    model::{Chunk, Model, ModelError, ModelRequest, NotShown, Pictures, Price, ShownFile},
};
use futures::{StreamExt, stream, stream::BoxStream};

use crate::{
    chat::{self, PointUnit},
    scripted::{
        given::GivenModel,
        play::Beat,
        scenario::{ReadScenarioError, Scenario},
        trouble::Failures,
    },
    show,
};

/// The part before the slash in the names of scripted models.
pub(crate) const VENDOR: &str = "scripted";
/// The built-in scenario.
pub(crate) const DEMO: &str = "demo";

const DEMO_YAML: &str = include_str!("scripted/demo.yaml");
const EXTENSION: &str = "yaml";
/// The maximum size of a scenario file: far more than a person writes, and quick to read.
const LARGEST_FILE_BYTES: u64 = 1024 * 1024;

/// Finds scenarios by name.
///
/// Files are read on demand, so an edit takes effect with the next turn.
pub(crate) struct ScriptedModels {
    folder: Option<PathBuf>,
    pub(crate) check_call: Option<CheckCall>,
}

/// Checks the input of the tool with this name, as a session's tools read it.
pub type CheckCall = Arc<dyn Fn(&str, &serde_json::Value) -> Result<(), String> + Send + Sync>;

impl std::fmt::Debug for ScriptedModels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut models = f.debug_struct("ScriptedModels");
        models.field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl ScriptedModels {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            check_call: None,
        }
    }

    /// Returns the model that plays this scenario, or the reason why there is none.
    pub(crate) fn model(&self, scenario: &str) -> Result<Arc<dyn Model>, String> {
        if !is_name(scenario) {
            return Err(format!(
                "a scenario's name is made of a-z, 0-9, _ and -; {}",
                self.what_there_is()
            ));
        }
        let Some((source, yaml)) = self.yaml(scenario)? else {
            return Ok(Arc::new(GivenModel {
                check_call: self.check_call.clone(),
                failures: Arc::default(),
            }));
        };
        let scenario = Scenario::read(&yaml, self.check_call.as_ref())
            .map_err(|error: ReadScenarioError| format!("{source} has an error: {error}"))?;
        Ok(Arc::new(ScriptedModel {
            source,
            scenario: Arc::new(scenario),
            failures: Arc::default(),
        }))
    }

    /// Lists the scripted models and the folder for more, as the end of an error message.
    pub(crate) fn what_there_is(&self) -> String {
        let names: Vec<String> = self
            .names()
            .into_iter()
            .map(|name| format!("{VENDOR}/{name}"))
            .collect();
        let names = names.join(", ");
        match &self.folder {
            Some(folder) => format!(
                "there is {names}; more scenarios go into {} as NAME.{EXTENSION}",
                folder.display()
            ),
            None => format!(
                "there is {names}; more scenarios need a scenario folder in the configuration"
            ),
        }
    }

    /// Returns the origin of the scenario, for messages, and its text. Returns `None` if the session has it.
    ///
    /// A file takes precedence over everything built-in of the same name.
    fn yaml(&self, name: &str) -> Result<Option<(String, String)>, String> {
        if let Some(folder) = &self.folder {
            let file = format!("{name}.{EXTENSION}");
            match read_file(&folder.join(&file)) {
                Ok(Some(yaml)) => return Ok(Some((file, yaml))),
                Ok(None) => {}
                Err(problem) => return Err(format!("{file} cannot be read: {problem}")),
            }
        }
        if name == DEMO {
            let source = format!("the built-in scenario {DEMO}");
            return Ok(Some((source, DEMO_YAML.to_owned())));
        }
        if given::NAMES.contains(&name) {
            return Ok(None);
        }
        Err(format!(
            "no scenario has this name; {}",
            self.what_there_is()
        ))
    }

    pub(crate) fn names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::from([DEMO.to_owned()]);
        // A folder that is missing or unreadable offers nothing. Naming a scenario in it reports the reason.
        if let Some(Ok(entries)) = self.folder.as_ref().map(std::fs::read_dir) {
            names.extend(entries.flatten().filter_map(|entry| {
                let file = entry.file_name().into_string().ok()?;
                let name = file.strip_suffix(EXTENSION)?.strip_suffix('.')?;
                is_name(name).then(|| name.to_owned())
            }));
        }
        names
    }
}

/// Returns the file's text, or `None` if there is no such file.
fn read_file(path: &Path) -> Result<Option<String>, String> {
    let found = match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(|error| error.to_string())?,
    };
    if !found.is_file() {
        return Err("it is not a file".to_owned());
    }
    if found.len() > LARGEST_FILE_BYTES {
        return Err(format!("it has more than {LARGEST_FILE_BYTES} bytes"));
    }
    std::fs::read_to_string(path)
        .map(Some)
        .map_err(|error| error.to_string())
}

/// Returns true if this is a valid name. Names have no dots or slashes, so they cannot lead out of the folder.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 100
        && text
            .bytes()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

/// Plays one scenario.
#[derive(Debug)]
struct ScriptedModel {
    /// The origin of the scenario, for messages.
    source: String,
    scenario: Arc<Scenario>,
    failures: Arc<Failures>,
}

impl Model for ScriptedModel {
    fn shown(&self, screen: ScreenSize) -> ScreenSize {
        let role = self.scenario.role;
        role.map_or(screen, |role| (role.view.shown)(screen))
    }

    fn place(&self, at: Point, screen: ScreenSize) -> Point {
        let role = self.scenario.role;
        role.map_or(at, |role| role.view.space(screen).shown(at))
    }

    fn pictures(&self) -> Pictures {
        let role = self.scenario.role;
        role.map_or(Pictures::Newest, |role| role.view.pictures)
    }

    fn show(&self, file: &Attachment, bytes: Bytes) -> Result<ShownFile, NotShown> {
        let role = self.scenario.role;
        let view = role.map_or_else(|| chat::view(PointUnit::Pixels), |role| role.view);
        show::show(view, file, bytes)
    }

    fn price(&self) -> Option<Price> {
        self.scenario.price
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let scenario = Arc::clone(&self.scenario);
        let failures = Arc::clone(&self.failures);
        playing(
            move |_| Ok(scenario),
            self.source.clone(),
            failures,
            request,
        )
    }
}

/// Streams the answer to a request. `read` returns the scenario to play, or the reason why there is none.
fn playing(
    read: impl FnOnce(&ModelRequest) -> Result<Arc<Scenario>, String> + Send + 'static,
    source: String,
    failures: Arc<Failures>,
    request: ModelRequest,
) -> BoxStream<'static, Result<Chunk, ModelError>> {
    // Decoding and searching a picture takes long enough to block other tasks.
    let beats = async move {
        tokio::task::spawn_blocking(move || match read(&request) {
            Ok(scenario) => play::beats(&scenario, &source, &failures, &request),
            Err(problem) => vec![Beat::failure(ModelError::Rejected(problem))],
        })
        .await
        .unwrap_or_else(|error| {
            vec![Beat::failure(ModelError::unavailable(format!(
                "could not play the scenario: {error}"
            )))]
        })
    };
    stream::once(beats)
        .flat_map(stream::iter)
        .then(|beat| async move {
            if !beat.delay.is_zero() {
                tokio::time::sleep(beat.delay).await;
            }
            beat.chunk
        })
        .boxed()
}
