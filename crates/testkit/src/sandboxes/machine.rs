//! The computer in a fake sandbox.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{
    action::{Action, Point, ScreenSize},
    blob::BlobFormat,
    browser::{Browse, PointedElement},
    computer::ComputerKind,
    edit::EditCommand,
    sandbox::{
        Act, Acted, ClipboardRead, ClipboardSet, ComputerError, ElementFound, FilePut, FindElement,
        FindField, Frame, ListTerminals, Progress, PutFile, ReadClipboard, RunnerReply,
        RunnerRequest, SandboxSpec, SecretTyped, SecretsCovered, TerminalFound, TerminalList,
        TypeSecret,
    },
    secret::Secret,
    shell::{ShellEnding, ShellOutput, ShellRequest},
    vault::{FieldPlace, Origin},
};
use futures::{StreamExt, channel::mpsc};
use tokio::{sync::watch, time::Instant};

use super::{
    Files,
    browser::{self, FakeBrowser},
    editor::{self, Edits},
    files,
    player::FakePages,
    requests::{RequestEntry, RequestResult},
    screen,
    shell::{FakeCommand, FakeShell, HOME},
    terminals::FakeTerminals,
};

/// The maximum number of pieces of output that wait to be passed on.
const PROGRESS_LENGTH: usize = 16;
/// The only frame of the only page.
const FRAME: &str = "frame-1";

/// A computer in memory.
#[derive(Debug)]
pub(super) struct FakeMachine {
    pub(super) computer: ComputerKind,
    /// The size of the screen, or of a page where there is none.
    pub(super) screen: ScreenSize,
    pub(super) terminals: FakeTerminals,
    commands: HashMap<String, FakeCommand>,
    pages: FakePages,
    state: Mutex<MachineState>,
    /// Locked while an action runs: actions run in order of arrival.
    actions: tokio::sync::Mutex<()>,
    /// Locked while a shell command runs.
    shell: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
pub(super) struct MachineState {
    pub(super) files: Files,
    edits: Edits,
    pointer: Point,
    pub(super) colour: watch::Sender<[u8; 3]>,
    /// The origin of the page whose field has the focus.
    pub(super) focus: Option<Origin>,
    /// The element that every click and key is for.
    pub(super) element: Option<PointedElement>,
    browser: FakeBrowser,
    /// True once a verb was carried out. Without a screen, nothing can be seen before.
    is_browsing: bool,
    clipboard: Option<String>,
    pub(super) typed: Vec<Secret>,
    pub(super) covered: Vec<Secret>,
    pub(super) carried_out: Vec<RunnerRequest>,
}

impl FakeMachine {
    pub(super) fn new(
        spec: &SandboxSpec,
        files: Files,
        commands: HashMap<String, FakeCommand>,
        pages: FakePages,
    ) -> Self {
        let screen = spec.screen;
        let pointer = Point {
            x: i32::from(screen.width / 2),
            y: i32::from(screen.height / 2),
        };
        let state = MachineState {
            files,
            edits: Edits::default(),
            pointer,
            colour: watch::Sender::new([0xf7, 0xf4, 0xee]),
            focus: None,
            element: None,
            browser: FakeBrowser::default(),
            is_browsing: false,
            clipboard: None,
            typed: Vec::new(),
            covered: Vec::new(),
            carried_out: Vec::new(),
        };
        Self {
            computer: spec.computer,
            screen,
            terminals: FakeTerminals::default(),
            commands,
            pages,
            state: Mutex::new(state),
            actions: tokio::sync::Mutex::default(),
            shell: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, MachineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out a request in its turn, unless it is cancelled before that.
    pub(super) async fn carry_out(
        &self,
        request: RunnerRequest,
        entry: &RequestEntry,
        progress: Option<Progress>,
    ) -> RequestResult {
        let turn = async {
            match &request {
                RunnerRequest::Act(_)
                | RunnerRequest::SetClipboard(_)
                | RunnerRequest::Browse(_)
                | RunnerRequest::FindElement(_)
                | RunnerRequest::FindField(_)
                | RunnerRequest::TypeSecret(_) => Some(self.actions.lock().await),
                RunnerRequest::Shell(_) => Some(self.shell.lock().await),
                RunnerRequest::Look(_)
                | RunnerRequest::Edit(_)
                | RunnerRequest::PutFile(_)
                | RunnerRequest::OpenTerminal(_)
                | RunnerRequest::ListTerminals(_)
                | RunnerRequest::RenameTerminal(_)
                | RunnerRequest::KillTerminal(_)
                | RunnerRequest::Files(_)
                | RunnerRequest::TakeFile(_)
                | RunnerRequest::ReadClipboard(_)
                | RunnerRequest::CoverSecrets(_) => None,
            }
        };
        let _turn = tokio::select! {
            biased;
            () = entry.cancel.cancelled() => return Err(ComputerError::Cancelled),
            turn = turn => turn,
        };
        self.begin(&request)?;
        match request {
            RunnerRequest::Act(act) => self.act(act, entry).await.map(RunnerReply::Act),
            RunnerRequest::Look(look) => Ok(RunnerReply::Look(self.frame(look.shown))),
            RunnerRequest::Shell(shell) => {
                let output = self.run(shell, entry, progress).await;
                Ok(RunnerReply::Shell(output))
            }
            RunnerRequest::Edit(command) => self.edit(&command),
            RunnerRequest::PutFile(file) => self.put_file(file),
            RunnerRequest::OpenTerminal(open) => {
                Ok(RunnerReply::OpenTerminal(self.terminals.open(&open)))
            }
            RunnerRequest::ListTerminals(ListTerminals) => {
                let terminals = self.terminals.list();
                Ok(RunnerReply::ListTerminals(TerminalList { terminals }))
            }
            RunnerRequest::RenameTerminal(rename) => {
                let terminal = self.terminals.rename(rename.number, &rename.name);
                Ok(RunnerReply::RenameTerminal(TerminalFound { terminal }))
            }
            RunnerRequest::KillTerminal(kill) => {
                let terminal = self.terminals.kill(kill.number);
                Ok(RunnerReply::KillTerminal(TerminalFound { terminal }))
            }
            RunnerRequest::Files(request) => {
                let files = self.state().files.clone();
                let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(RunnerReply::Files(files::perform(&mut files, &request)))
            }
            RunnerRequest::TakeFile(file) => {
                let files = self.state().files.clone();
                let taken = files::take(&files, &file).map(RunnerReply::TakeFile);
                taken.map_err(|problem| ComputerError::Failed(problem.to_string()))
            }
            RunnerRequest::ReadClipboard(ReadClipboard) => Ok(self.read_clipboard()),
            RunnerRequest::SetClipboard(set) => {
                self.state().clipboard = Some(set.text.expose().to_owned());
                Ok(RunnerReply::SetClipboard(ClipboardSet))
            }
            RunnerRequest::Browse(browse) => self.browse(&browse),
            RunnerRequest::FindElement(FindElement { .. }) => Ok(self.find_element()),
            RunnerRequest::FindField(FindField) => self.find_field(),
            RunnerRequest::TypeSecret(secret) => self.type_secret(secret),
            RunnerRequest::CoverSecrets(cover) => {
                self.state().covered.extend(cover.values);
                Ok(RunnerReply::CoverSecrets(SecretsCovered))
            }
        }
    }

    /// Notes a request, if the computer has what it needs.
    fn begin(&self, request: &RunnerRequest) -> Result<(), ComputerError> {
        if !self.computer.has_screen() {
            let is_browsing = self.state().is_browsing;
            browser::check_without_screen(request, is_browsing)?;
        }
        // A look at an element changes nothing, and nobody sees it.
        if !matches!(request, RunnerRequest::FindElement(_)) {
            self.state().carried_out.push(request.clone());
        }
        Ok(())
    }

    async fn act(&self, act: Act, entry: &RequestEntry) -> Result<Acted, ComputerError> {
        let Act {
            action,
            look,
            shown,
        } = act;
        let checked = action.check(self.screen);
        checked.map_err(|bad| ComputerError::Failed(bad.to_string()))?;
        let began = self.state().pointer;
        let mut acted = Acted::default();
        match &action {
            Action::Screenshot | Action::Zoom { .. } | Action::Type { .. } | Action::Key { .. } => {
            }
            Action::Move { at } => acted.pointer = Some(*at),
            Action::Click { at, .. } | Action::Scroll { at, .. } => {
                acted.pointer = Some(at.unwrap_or(began));
            }
            Action::MouseDown { .. } | Action::MouseUp { .. } | Action::CursorPosition => {
                acted.pointer = Some(began);
            }
            Action::Drag { path, .. } => {
                let first = path.first().filter(|_| path.len() > 1);
                acted.dragged_from = Some(first.copied().unwrap_or(began));
                acted.pointer = path.last().copied();
            }
            Action::HoldKey { ms, .. } | Action::Wait { ms } => tokio::select! {
                biased;
                () = entry.cancel.cancelled() => return Err(ComputerError::Cancelled),
                () = tokio::time::sleep(Duration::from_millis(*ms)) => {}
            },
        }
        if let Some(pointer) = acted.pointer {
            self.state().pointer = pointer;
        }
        if look || action.is_look() {
            acted.frame = Some(self.frame(shown));
        }
        Ok(acted)
    }

    fn browse(&self, browse: &Browse) -> RequestResult {
        let frame = self.frame(None);
        self.state().is_browsing = true;
        let done = browser::perform(&mut self.state().browser, browse, frame, &self.pages);
        let url = self.state().browser.url();
        if let Some(focus) = self.pages.with_client(&url, |client| client.focus()) {
            self.state().focus = focus;
        }
        done
    }

    fn frame(&self, shown: Option<ScreenSize>) -> Frame {
        let size = shown.unwrap_or(self.screen);
        let state = self.state();
        Frame {
            bytes: screen::picture(size, *state.colour.borrow()),
            format: BlobFormat::Png,
            size,
            pointer: state.pointer,
        }
    }

    async fn run(
        &self,
        request: ShellRequest,
        entry: &RequestEntry,
        progress: Option<Progress>,
    ) -> ShellOutput {
        let ShellRequest::Run {
            command,
            timeout_ms,
        } = request
        else {
            return ShellOutput {
                output: String::new(),
                omitted_bytes: 0,
                file: None,
                ending: ShellEnding::Restarted,
                cwd: HOME.to_owned(),
            };
        };
        let files = self.state().files.clone();
        let (sender, mut pieces) = mpsc::channel(PROGRESS_LENGTH);
        let shell = FakeShell {
            files: &files,
            cancel: &entry.cancel,
            progress: progress.is_some().then_some(sender),
            deadline: Instant::now() + Duration::from_millis(timeout_ms),
            timeout_ms,
            output: String::new(),
        };
        let run = async {
            match self.commands.get(&command) {
                Some(scripted) => shell.play(scripted).await,
                None => shell.run(&command).await,
            }
        };
        let pass_on = async {
            let mut progress = progress;
            while let Some(piece) = pieces.next().await {
                // Once the request is answered with a refusal, no more of its output is passed on.
                if let Some(progress) = progress.as_mut().filter(|_| !entry.is_answered()) {
                    // The reply has everything, so a piece that does not fit may be dropped.
                    let _ = progress.try_send(piece);
                }
            }
        };
        tokio::join!(run, pass_on).0
    }

    fn edit(&self, command: &EditCommand) -> RequestResult {
        let (EditCommand::View { path, .. }
        | EditCommand::Create { path, .. }
        | EditCommand::StrReplace { path, .. }
        | EditCommand::Insert { path, .. }
        | EditCommand::UndoEdit { path }) = command;
        let mut state = self.state();
        let files = state.files.clone();
        let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = files.remove(path);
        let edited = editor::edit(&mut file, &mut state.edits, command);
        if let Some(content) = file {
            files.insert(path.clone(), content);
        }
        edited.map(RunnerReply::Edit).map_err(ComputerError::Failed)
    }

    fn put_file(&self, file: PutFile) -> RequestResult {
        if file.name.contains('/') || matches!(&*file.name, "" | "." | "..") {
            let problem = format!("{:?} is not a file's name", file.name);
            return Err(ComputerError::Failed(problem));
        }
        let path = format!("{HOME}/{}/{}", file.folder, file.name);
        let files = self.state().files.clone();
        let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(path.clone(), file.bytes);
        Ok(RunnerReply::PutFile(FilePut { path }))
    }

    fn read_clipboard(&self) -> RunnerReply {
        let text = self.state().clipboard.clone();
        let read = text.map_or(ClipboardRead::Empty, ClipboardRead::Text);
        RunnerReply::ReadClipboard(read)
    }

    fn find_element(&self) -> RunnerReply {
        let element = self.state().element.clone();
        RunnerReply::FindElement(ElementFound { element })
    }

    fn find_field(&self) -> RequestResult {
        match &self.state().focus {
            Some(origin) => Ok(RunnerReply::FindField(FieldPlace {
                origin: origin.to_string(),
                title: "A page".to_owned(),
                frame: FRAME.to_owned(),
            })),
            None => Err(ComputerError::Failed(
                "Nothing was typed: no field has the focus.".to_owned(),
            )),
        }
    }

    fn type_secret(&self, secret: TypeSecret) -> RequestResult {
        let mut state = self.state();
        let filling = secret.filling;
        match &state.focus {
            Some(origin) if filling.origin == *origin && filling.frame == FRAME => {
                state.typed.push(filling.value.clone());
                state.covered.push(filling.value);
                Ok(RunnerReply::TypeSecret(SecretTyped))
            }
            Some(_) => Err(ComputerError::Failed(
                "Nothing was typed: the focus moved in the meantime.".to_owned(),
            )),
            None => Err(ComputerError::Failed(
                "Nothing was typed: no field has the focus.".to_owned(),
            )),
        }
    }
}
