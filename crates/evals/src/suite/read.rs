//! Reads a suite from YAML, and checks what its format alone does not say.

use std::collections::{BTreeMap, BTreeSet};

use deskhand_core::{
    browser::WebUrl, file::FilePath, message::LONGEST_MESSAGE_BYTES,
    session::LONGEST_INSTRUCTIONS_BYTES,
};
use serde_json::Value;
use serde_saphyr::{DefaultMessageFormatter, Location, MessageFormatter, Spanned};

use super::{
    EvalTask, LARGEST_SUITE_BYTES, ReadSuiteError, Suite, TaskLimits,
    file::{DefaultsFile, LimitsFile, SuiteFile, TaskFile},
};

/// The most tasks of a suite.
const MOST_TASKS: usize = 200;
/// The most files and the most pages of a task.
const MOST_FILES: usize = 100;
const MOST_TAGS: usize = 10;
/// The longest name of a suite, a task or a tag.
const LONGEST_NAME: usize = 60;
/// The longest script.
const LONGEST_SCRIPT_BYTES: usize = 64 * 1024;
/// The largest limits of a task.
const MOST_STEPS: u32 = 1000;
const MOST_SECONDS: u32 = 24 * 3600;
const MOST_USD: f64 = 1000.0;

type Checked<T> = Result<T, ReadSuiteError>;

/// Reads a whole suite.
pub(super) fn suite(yaml: &str) -> Checked<Suite> {
    if yaml.len() > LARGEST_SUITE_BYTES {
        let problem = format!("a suite has at most {LARGEST_SUITE_BYTES} bytes");
        return Err(ReadSuiteError::at(Location::UNKNOWN, problem));
    }
    let file: SuiteFile = serde_saphyr::from_str(yaml).map_err(|error| {
        let location = error.location().unwrap_or(Location::UNKNOWN);
        let text = DefaultMessageFormatter.format_message(error.without_snippet());
        // YAML's own messages may quote the file, and a message stays on one line.
        ReadSuiteError::at(location, text.lines().next().unwrap_or_default())
    })?;
    let (list, at) = (file.tasks.value, file.tasks.referenced);
    if list.is_empty() || list.len() > MOST_TASKS {
        let problem = format!("a suite has 1 to {MOST_TASKS} tasks, not {}", list.len());
        return Err(ReadSuiteError::at(at, problem));
    }
    let mut taken = BTreeSet::new();
    let mut tasks = Vec::with_capacity(list.len());
    for one in list {
        let task = task(one.value, one.referenced, &file.defaults, &mut taken)?;
        tasks.push(task);
    }
    Ok(Suite {
        name: name(file.name, "suite")?,
        description: file.description.trim().to_owned(),
        tasks,
    })
}

fn task(
    file: TaskFile,
    at: Location,
    defaults: &DefaultsFile,
    taken: &mut BTreeSet<String>,
) -> Checked<EvalTask> {
    let named_at = file.name.referenced;
    let name = name(file.name, "task")?;
    if !taken.insert(name.clone()) {
        let problem = format!("two tasks are called {name:?}; give one another name");
        return Err(ReadSuiteError::at(named_at, problem));
    }
    let usual = limits(TaskLimits::default(), defaults.limits.as_ref())?;
    let instructions = file.instructions;
    let instructions = instructions.unwrap_or_else(|| defaults.instructions.clone());
    if instructions.len() > LONGEST_INSTRUCTIONS_BYTES {
        let problem = format!("instructions have at most {LONGEST_INSTRUCTIONS_BYTES} bytes");
        return Err(ReadSuiteError::at(at, problem));
    }
    let computer = file.computer.unwrap_or(defaults.computer);
    Ok(EvalTask {
        name,
        tags: tags(file.tags, at)?,
        prompt: text(file.task, "task", LONGEST_MESSAGE_BYTES)?,
        instructions,
        computer,
        network: file.network.unwrap_or(defaults.network),
        files: files(file.files, at)?,
        pages: pages(file.pages, at)?,
        open: file.open.as_ref().map(url).transpose()?,
        setup: file
            .setup
            .map(|setup| text(setup, "setup", LONGEST_SCRIPT_BYTES))
            .transpose()?,
        check: text(file.check, "check", LONGEST_SCRIPT_BYTES)?,
        limits: limits(usual, file.limits.as_ref())?,
        oracle: file.oracle.map(steps).transpose()?,
        fool: file.fool.map(steps).transpose()?,
    })
}

/// Checks a name. It is part of titles, of addresses and of the command line.
fn name(name: Spanned<String>, of: &str) -> Checked<String> {
    let is_fit = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    let (text, at) = (name.value, name.referenced);
    if text.is_empty() || text.len() > LONGEST_NAME || !text.bytes().all(is_fit) {
        let problem = format!(
            "the name of a {of} has 1 to {LONGEST_NAME} characters of a-z, 0-9, _ and -, so {text:?} cannot be one"
        );
        return Err(ReadSuiteError::at(at, problem));
    }
    Ok(text)
}

fn tags(tags: Vec<Spanned<String>>, at: Location) -> Checked<Vec<String>> {
    if tags.len() > MOST_TAGS {
        let problem = format!("a task has at most {MOST_TAGS} tags");
        return Err(ReadSuiteError::at(at, problem));
    }
    tags.into_iter().map(|tag| name(tag, "tag")).collect()
}

/// Checks a text that has to say something.
fn text(text: Spanned<String>, of: &str, most_bytes: usize) -> Checked<String> {
    let (text, at) = (text.value, text.referenced);
    if text.trim().is_empty() {
        return Err(ReadSuiteError::at(at, format!("`{of}` is empty")));
    }
    if text.len() > most_bytes {
        let problem = format!("`{of}` has at most {most_bytes} bytes, not {}", text.len());
        return Err(ReadSuiteError::at(at, problem));
    }
    if text.contains('\0') {
        let problem = format!("`{of}` contains a null character");
        return Err(ReadSuiteError::at(at, problem));
    }
    Ok(text)
}

fn files(
    files: BTreeMap<String, Spanned<String>>,
    at: Location,
) -> Checked<Vec<(FilePath, String)>> {
    few("files", files.len(), at)?;
    let read = files.into_iter().map(|(path, content)| {
        let path = path.parse::<FilePath>();
        let path = path.map_err(|bad| ReadSuiteError::at(content.referenced, bad.to_string()))?;
        Ok((path, content.value))
    });
    read.collect()
}

fn pages(
    pages: BTreeMap<String, Spanned<String>>,
    at: Location,
) -> Checked<BTreeMap<String, String>> {
    few("pages", pages.len(), at)?;
    let is_fit = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.');
    let read = pages.into_iter().map(|(name, page)| {
        let is_hidden = name.starts_with('.');
        if name.is_empty() || is_hidden || name.len() > LONGEST_NAME || !name.bytes().all(is_fit) {
            let problem = format!(
                "the name of a page has 1 to {LONGEST_NAME} characters of a-z, 0-9, _, - and ., such as index.html; \
                 {name:?} cannot be one"
            );
            return Err(ReadSuiteError::at(page.referenced, problem));
        }
        Ok((name, page.value))
    });
    read.collect()
}

fn few(of: &str, n: usize, at: Location) -> Checked<()> {
    if n <= MOST_FILES {
        return Ok(());
    }
    let problem = format!("a task has at most {MOST_FILES} {of}, not {n}");
    Err(ReadSuiteError::at(at, problem))
}

fn url(url: &Spanned<String>) -> Checked<WebUrl> {
    let parsed = url.value.parse::<WebUrl>();
    parsed.map_err(|bad| ReadSuiteError::at(url.referenced, bad.to_string()))
}

/// Applies limits over others.
fn limits(usual: TaskLimits, file: Option<&Spanned<LimitsFile>>) -> Checked<TaskLimits> {
    let Some(file) = file else {
        return Ok(usual);
    };
    let wanted = &file.value;
    let limits = TaskLimits {
        steps: wanted.steps.unwrap_or(usual.steps),
        seconds: wanted.seconds.unwrap_or(usual.seconds),
        usd: wanted.usd.unwrap_or(usual.usd),
    };
    let problem = if !(1..=MOST_STEPS).contains(&limits.steps) {
        format!(
            "a limit of steps is 1 to {MOST_STEPS}, not {}",
            limits.steps
        )
    } else if !(1..=MOST_SECONDS).contains(&limits.seconds) {
        format!(
            "a limit of seconds is 1 to {MOST_SECONDS}, not {}",
            limits.seconds
        )
    } else if !(limits.usd > 0.0 && limits.usd <= MOST_USD) {
        format!(
            "a limit of US dollars is more than 0 and at most {MOST_USD}, not {}",
            limits.usd
        )
    } else {
        return Ok(limits);
    };
    Err(ReadSuiteError::at(file.referenced, problem))
}

/// Checks the steps of a double. The scripted model checks each of them when it plays them.
fn steps(steps: Spanned<Value>) -> Checked<Value> {
    let is_list = steps
        .value
        .as_array()
        .is_some_and(|list| !list.is_empty() && list.iter().all(Value::is_object));
    if is_list {
        return Ok(steps.value);
    }
    let problem = "`oracle` and `fool` are lists of steps, as in a scenario";
    Err(ReadSuiteError::at(steps.referenced, problem))
}
