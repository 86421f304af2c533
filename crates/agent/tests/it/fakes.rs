//! The ports of a turn, each doing as it is told and remembering what it was asked.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use deskhand_agent::{
    Budgets, Decisions, Desk, DeskError, PlaceError, RemoteTools, Settled, TurnLog, TurnLogError,
};
use deskhand_core::{
    action::{Action, Point, ScreenSize},
    attachment::{Attachment, AttachmentKind},
    blob::{BlobError, BlobFormat, BlobName, Blobs},
    browser::{Browse, Browsed, BrowserFinding, PointedElement},
    budget::{Account, Accounts, Bound},
    clock::Clock,
    decision::{Ask, Reply},
    event::EventBody,
    id::{DecisionId, RequestId},
    model::{
        Chunk, Model, ModelError, ModelRequest, NotShown, Original, PictureForm, Pictures, Price,
        ShownFile,
    },
    policy::{Policy, Reach},
    sandbox::{
        Act, Acted, Actor, Call, Computer, ComputerError, Edited, ElementFound, FilePut, Frame,
        LeaseHolder, LeaseOutcome, SecretTyped, SessionReply, SessionRequest,
    },
    shell::{ShellEnding, ShellOutput},
    tool_server::{RemoteAnswer, RemoteCall, ToolServerError},
    vault::FieldPlace,
};
use futures::{StreamExt, stream, stream::BoxStream};
use tokio::sync::watch;

/// One moment of a model's answer.
#[derive(Debug, Clone)]
pub(crate) enum Beat {
    Say(Chunk),
    Pause(Duration),
    Fail(ModelError),
    Hang,
}

/// Gives its answers in order, and the last one again and again.
#[derive(Debug)]
pub(crate) struct FakeModel {
    answers: Mutex<VecDeque<Vec<Beat>>>,
    pub(crate) requests: Mutex<Vec<ModelRequest>>,
    pub(crate) price: Mutex<Option<Price>>,
    /// It costs money, and nobody knows how much.
    pub(crate) has_unknown_price: Mutex<bool>,
    pub(crate) pictures: Mutex<Pictures>,
    pub(crate) form: Mutex<PictureForm>,
    /// How many native pixels one of its pictures' is wide and high.
    pub(crate) scale: Mutex<u16>,
}

impl FakeModel {
    pub(crate) fn new(answers: Vec<Vec<Beat>>) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::new(answers.into()),
            requests: Mutex::default(),
            price: Mutex::default(),
            has_unknown_price: Mutex::default(),
            pictures: Mutex::new(Pictures::Newest),
            form: Mutex::default(),
            scale: Mutex::new(1),
        })
    }
}

impl Model for FakeModel {
    fn shown(&self, screen: ScreenSize) -> ScreenSize {
        let scale = *self.scale.lock().unwrap();
        ScreenSize {
            width: screen.width / scale,
            height: screen.height / scale,
        }
    }

    fn place(&self, at: Point, _screen: ScreenSize) -> Point {
        let scale = i32::from(*self.scale.lock().unwrap());
        Point {
            x: at.x / scale,
            y: at.y / scale,
        }
    }

    fn pictures(&self) -> Pictures {
        *self.pictures.lock().unwrap()
    }

    fn picture_form(&self) -> PictureForm {
        *self.form.lock().unwrap()
    }

    fn show(&self, file: &Attachment, bytes: Bytes) -> Result<ShownFile, NotShown> {
        if file.kind() != AttachmentKind::Picture {
            return Err(NotShown::Kind);
        }
        Ok(ShownFile {
            name: file.name.clone(),
            media_type: "image/png",
            bytes,
            n_tokens: 100,
        })
    }

    fn price(&self) -> Option<Price> {
        *self.price.lock().unwrap()
    }

    fn has_unknown_price(&self) -> bool {
        *self.has_unknown_price.lock().unwrap()
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Chunk, ModelError>> {
        self.requests.lock().unwrap().push(request);
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 {
            answers.pop_front().unwrap()
        } else {
            answers.front().cloned().unwrap_or_default()
        };
        stream::iter(answer)
            .filter_map(|beat| async {
                match beat {
                    Beat::Say(chunk) => Some(Ok(chunk)),
                    Beat::Fail(error) => Some(Err(error)),
                    Beat::Pause(pause) => {
                        tokio::time::sleep(pause).await;
                        None
                    }
                    Beat::Hang => std::future::pending().await,
                }
            })
            .boxed()
    }
}

/// How a sandbox takes a request.
#[derive(Debug, Clone)]
pub(crate) enum Reaction {
    /// Does it and answers as a real one would.
    Do,
    Answer(Result<SessionReply, ComputerError>),
    /// Answers after a while.
    AnswerAfter(Duration, Result<SessionReply, ComputerError>),
    /// Prints these, each after a while, and then answers.
    Print(Vec<(Duration, &'static [u8])>, ShellOutput),
    /// Goes on until it is cancelled, and then answers.
    UntilCancelled(Result<SessionReply, ComputerError>),
    /// Never answers, cancelled or not.
    Deaf,
}

/// Says how requests are taken.
struct Reacting(Box<dyn Fn(&SessionRequest) -> Reaction + Send + Sync>);

impl std::fmt::Debug for Reacting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reacting")
    }
}

#[derive(Debug)]
pub(crate) struct FakeSandbox {
    reactions: Mutex<VecDeque<Reaction>>,
    later: Reacting,
    pub(crate) requests: watch::Sender<Vec<SessionRequest>>,
    cancelled: watch::Sender<Option<RequestId>>,
    /// The element that every click and key is for.
    pub(crate) element: Mutex<Option<PointedElement>>,
}

impl FakeSandbox {
    /// Takes the first requests like this, and does all later ones.
    pub(crate) fn new(reactions: Vec<Reaction>) -> Arc<Self> {
        Arc::new(Self {
            reactions: Mutex::new(reactions.into()),
            later: Reacting(Box::new(|_| Reaction::Do)),
            requests: watch::Sender::default(),
            cancelled: watch::Sender::default(),
            element: Mutex::default(),
        })
    }
}

impl FakeSandbox {
    /// Takes every request as this says.
    pub(crate) fn reacting(
        later: impl Fn(&SessionRequest) -> Reaction + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            reactions: Mutex::default(),
            later: Reacting(Box::new(later)),
            requests: watch::Sender::default(),
            cancelled: watch::Sender::default(),
            element: Mutex::default(),
        })
    }
}

pub(crate) fn printed(output: &str, ending: ShellEnding) -> ShellOutput {
    ShellOutput {
        output: output.to_owned(),
        omitted_bytes: 0,
        file: None,
        ending,
        cwd: "/home/agent".to_owned(),
    }
}

/// Every picture is another one.
fn frame(n_requests: usize, shown: Option<ScreenSize>) -> Frame {
    Frame {
        bytes: Bytes::from(format!("picture {n_requests}")),
        format: BlobFormat::Png,
        size: shown.unwrap_or_default(),
        pointer: Point { x: 0, y: 0 },
    }
}

/// The facts about an action, as a real computer would give them.
fn acted(act: &Act, n_requests: usize) -> Acted {
    let pointer = match &act.action {
        Action::Move { at } => Some(*at),
        Action::Click { at, .. } | Action::Scroll { at, .. } => {
            Some(at.unwrap_or(Point { x: 0, y: 0 }))
        }
        Action::Drag { path, .. } => path.last().copied(),
        Action::MouseDown { .. } | Action::MouseUp { .. } | Action::CursorPosition => {
            Some(Point { x: 0, y: 0 })
        }
        Action::Screenshot
        | Action::Zoom { .. }
        | Action::Type { .. }
        | Action::Key { .. }
        | Action::HoldKey { .. }
        | Action::Wait { .. } => None,
    };
    Acted {
        dragged_from: None,
        pointer,
        frame: (act.look || act.action.is_look()).then(|| frame(n_requests, act.shown)),
    }
}

fn done(request: &SessionRequest, n_requests: usize) -> SessionReply {
    match request {
        SessionRequest::Act(act) => SessionReply::Act(acted(act, n_requests)),
        SessionRequest::Look(look) => SessionReply::Look(frame(n_requests, look.shown)),
        SessionRequest::Shell(_) => {
            SessionReply::Shell(printed("output\n", ShellEnding::Exited { code: 0 }))
        }
        SessionRequest::PutFile(file) => SessionReply::PutFile(FilePut {
            path: format!("/home/agent/{}/{}", file.folder, file.name),
        }),
        SessionRequest::FindSecretField(_) => SessionReply::FindSecretField(FieldPlace {
            origin: "https://bank.example".to_owned(),
            title: "Log in".to_owned(),
            frame: "1".to_owned(),
        }),
        SessionRequest::FillSecret(_) => SessionReply::FillSecret(SecretTyped),
        SessionRequest::Edit(_) => SessionReply::Edit(Edited {
            text: "Edited.".to_owned(),
        }),
        SessionRequest::Browse(browse) => SessionReply::Browse(browsed(browse, n_requests)),
        SessionRequest::OpenTerminal(_)
        | SessionRequest::ListTerminals(_)
        | SessionRequest::RenameTerminal(_)
        | SessionRequest::KillTerminal(_)
        | SessionRequest::Files(_)
        | SessionRequest::TakeFile(_)
        | SessionRequest::FindElement(_)
        | SessionRequest::ReadClipboard(_)
        | SessionRequest::SetClipboard(_) => panic!("a turn does not ask for {}", request.name()),
    }
}

fn browsed(browse: &Browse, n_requests: usize) -> Browsed {
    let frame = browse.look.map(|_format| frame(n_requests, None));
    Browsed {
        page: None,
        finding: BrowserFinding::Done,
        changes: Vec::new(),
        tabs: Vec::new(),
        viewport: frame.as_ref().map(|frame| frame.size),
        frame,
    }
}

#[async_trait]
impl Computer for FakeSandbox {
    async fn carry_out(
        &self,
        call: Call,
        request: SessionRequest,
    ) -> Result<SessionReply, ComputerError> {
        assert_eq!(call.actor, Actor::Agent);
        if let SessionRequest::FindElement(_) = request {
            let element = self.element.lock().unwrap().clone();
            return Ok(SessionReply::FindElement(ElementFound { element }));
        }
        self.requests.send_modify(|all| all.push(request.clone()));
        let n_requests = self.requests.borrow().len();
        let reaction = self.reactions.lock().unwrap().pop_front();
        match reaction.unwrap_or_else(|| (self.later.0)(&request)) {
            Reaction::Do => Ok(done(&request, n_requests)),
            Reaction::Answer(answer) => answer,
            Reaction::AnswerAfter(pause, answer) => {
                tokio::time::sleep(pause).await;
                answer
            }
            Reaction::Print(pieces, output) => {
                let mut progress = call.progress.expect("a shell command is followed");
                for (pause, piece) in pieces {
                    tokio::time::sleep(pause).await;
                    progress.try_send(Bytes::from_static(piece)).unwrap();
                }
                Ok(SessionReply::Shell(output))
            }
            Reaction::UntilCancelled(answer) => {
                let mut cancelled = self.cancelled.subscribe();
                let is_this = |last: &Option<RequestId>| *last == Some(call.id);
                cancelled.wait_for(is_this).await.unwrap();
                answer
            }
            Reaction::Deaf => std::future::pending().await,
        }
    }

    async fn set_lease_holder(&self, _holder: LeaseHolder) -> LeaseOutcome {
        LeaseOutcome::Set
    }

    async fn cancel(&self, id: RequestId) {
        self.cancelled.send_replace(Some(id));
    }
}

/// Gives these computers in order, and the last one again and again. Without any, it fails.
#[derive(Debug)]
pub(crate) struct FakeDesk {
    pub(crate) computers: Mutex<VecDeque<Arc<FakeSandbox>>>,
    pub(crate) n_asked: Mutex<usize>,
    /// Whether it runs out of computers instead of giving the last one again.
    pub(crate) runs_out: bool,
    /// Whether a person has mouse and keyboard.
    pub(crate) is_taken: watch::Sender<bool>,
    /// What comes of writing the next files. After that they are written.
    pub(crate) places: Mutex<VecDeque<Result<String, PlaceError>>>,
}

#[async_trait]
impl Desk for FakeDesk {
    async fn computer(&self) -> Result<Arc<dyn Computer>, DeskError> {
        *self.n_asked.lock().unwrap() += 1;
        let mut computers = self.computers.lock().unwrap();
        let computer = if computers.len() > 1 || self.runs_out {
            computers.pop_front()
        } else {
            computers.front().cloned()
        };
        computer
            .map(|computer| computer as Arc<dyn Computer>)
            .ok_or_else(|| DeskError {
                message: "The sandbox could not be started: bubblewrap is missing.".to_owned(),
            })
    }

    async fn free(&self) {
        let mut is_taken = self.is_taken.subscribe();
        is_taken.wait_for(|is_taken| !is_taken).await.unwrap();
    }

    async fn place(&self, file: &Attachment) -> Result<String, PlaceError> {
        let mut places = self.places.lock().unwrap();
        let result = places.pop_front();
        result.unwrap_or_else(|| Ok(format!("/home/agent/uploads/{}", file.name)))
    }
}

/// What was appended, transaction by transaction.
#[derive(Debug, Default)]
pub(crate) struct FakeLog {
    pub(crate) appended: watch::Sender<Vec<Vec<EventBody>>>,
    /// How many transactions fit.
    pub(crate) room: Option<usize>,
    /// What is given each time the turn asks whether somebody steers it.
    pub(crate) steering: Mutex<VecDeque<Vec<EventBody>>>,
    /// What became of leases and was not given yet.
    pub(crate) leases: Mutex<Vec<EventBody>>,
}

impl FakeLog {
    pub(crate) fn bodies(&self) -> Vec<EventBody> {
        self.appended.borrow().iter().flatten().cloned().collect()
    }

    /// Waits until an event of this kind was appended.
    pub(crate) async fn until(&self, kind: &str) {
        let mut appended = self.appended.subscribe();
        let there =
            |all: &Vec<Vec<EventBody>>| all.iter().flatten().any(|body| body.kind() == kind);
        appended.wait_for(there).await.unwrap();
    }
}

#[async_trait]
impl TurnLog for FakeLog {
    async fn append(&self, bodies: Vec<EventBody>) -> Result<(), TurnLogError> {
        if self
            .room
            .is_some_and(|room| self.appended.borrow().len() >= room)
        {
            return Err(TurnLogError("the database is gone".into()));
        }
        self.appended.send_modify(|all| all.push(bodies));
        Ok(())
    }

    async fn append_answer(
        &self,
        bodies: Vec<EventBody>,
        _original: Option<Original>,
    ) -> Result<(), TurnLogError> {
        self.append(bodies).await
    }

    async fn take_steering(&self) -> Result<Vec<EventBody>, TurnLogError> {
        let said = self.steering.lock().unwrap().pop_front();
        Ok(said.into_iter().flatten().collect())
    }

    async fn take_leases(&self) -> Result<Vec<EventBody>, TurnLogError> {
        Ok(std::mem::take(&mut *self.leases.lock().unwrap()))
    }
}

#[derive(Debug, Default)]
pub(crate) struct FakeBlobs {
    pub(crate) kept: Mutex<HashMap<BlobName, Bytes>>,
    /// What a `put` fails with.
    pub(crate) trouble: Option<std::io::ErrorKind>,
}

/// Enough of a digest to tell a test's pictures apart.
pub(crate) fn name_of(bytes: &[u8], format: BlobFormat) -> BlobName {
    let mut digest = [0; 32];
    for (index, byte) in bytes.iter().enumerate() {
        digest[index % 32] ^= byte.rotate_left(u32::try_from(index / 32).unwrap());
    }
    BlobName::of(digest, format)
}

#[async_trait]
impl Blobs for FakeBlobs {
    async fn put(&self, bytes: Bytes, format: BlobFormat) -> Result<BlobName, BlobError> {
        match self.trouble {
            Some(std::io::ErrorKind::StorageFull) => {
                Err(BlobError::Full(std::io::ErrorKind::StorageFull.into()))
            }
            Some(kind) => Err(BlobError::Io(kind.into())),
            None => {
                let name = name_of(&bytes, format);
                self.kept.lock().unwrap().insert(name.clone(), bytes);
                Ok(name)
            }
        }
    }

    async fn put_file(&self, bytes: Bytes) -> Result<BlobName, BlobError> {
        let name = BlobName::of_file([7; 32]);
        self.kept.lock().unwrap().insert(name.clone(), bytes);
        Ok(name)
    }

    async fn get(&self, name: &BlobName) -> Result<Bytes, BlobError> {
        let kept = self.kept.lock().unwrap();
        kept.get(name)
            .cloned()
            .ok_or_else(|| BlobError::Missing(name.clone()))
    }

    async fn remove(&self, name: &BlobName, _grace: Duration) -> Result<bool, BlobError> {
        self.kept.lock().unwrap().remove(name);
        Ok(true)
    }

    async fn check(&self) -> Result<(), BlobError> {
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> jiff::Timestamp {
        "2026-07-03T12:00:00Z".parse().unwrap()
    }
}

/// People who answer from a list, in order, and then not at all.
#[derive(Debug, Default)]
pub(crate) struct FakePeople {
    pub(crate) policy: Mutex<Policy>,
    pub(crate) replies: Mutex<VecDeque<Reply>>,
    pub(crate) asked: Mutex<Vec<(DecisionId, Ask)>>,
    /// How long they think.
    pub(crate) pause: Mutex<Duration>,
    pub(crate) withdrawn: Mutex<Vec<DecisionId>>,
    /// What a yes adds to.
    pub(crate) accounts: watch::Sender<Accounts>,
}

/// Money and tokens as the test says, and what the log says was used.
#[derive(Debug, Default)]
pub(crate) struct FakeBudgets {
    pub(crate) accounts: watch::Sender<Accounts>,
    pub(crate) log: Arc<FakeLog>,
}

#[async_trait]
impl Budgets for FakeBudgets {
    async fn accounts(&self) -> Result<Accounts, TurnLogError> {
        let mut accounts = *self.accounts.borrow();
        for body in self.log.bodies() {
            if let EventBody::Cost(cost) = body {
                let add = |account: &mut Account| {
                    account.used.usd += cost.usd;
                    account.used.tokens += cost.usage.tokens();
                };
                add(&mut accounts.session);
                add(&mut accounts.day);
            }
        }
        Ok(accounts)
    }

    async fn changed(&self) {
        self.accounts.subscribe().changed().await.unwrap();
    }
}

impl FakePeople {
    /// Does what the app does with a yes.
    fn grant(&self, id: DecisionId) {
        let asked = self.asked.lock().unwrap();
        let over = asked
            .iter()
            .find_map(|(asked, ask)| ask.over.filter(|_| *asked == id));
        if let Some(over) = over.filter(|over| over.bound == Bound::SessionUsd) {
            self.accounts
                .send_modify(|accounts| accounts.session.granted.usd += over.more);
        }
    }
}

#[async_trait]
impl Decisions for FakePeople {
    async fn policy(&self) -> Result<Policy, TurnLogError> {
        Ok(self.policy.lock().unwrap().clone())
    }

    async fn reach(&self) -> Result<Reach, TurnLogError> {
        Ok(Reach::Connected)
    }

    async fn is_for_owner(&self) -> Result<bool, TurnLogError> {
        Ok(true)
    }

    async fn raise(&self, id: DecisionId, ask: Ask) -> Result<(), TurnLogError> {
        self.asked.lock().unwrap().push((id, ask));
        Ok(())
    }

    async fn withdraw(&self, id: DecisionId) -> Result<(), TurnLogError> {
        self.withdrawn.lock().unwrap().push(id);
        Ok(())
    }

    async fn settled(&self, id: DecisionId) -> Settled {
        if self.withdrawn.lock().unwrap().contains(&id) {
            return Settled {
                decision: id,
                is_answered: false,
                reply: None,
                file: None,
            };
        }
        let pause = *self.pause.lock().unwrap();
        tokio::time::sleep(pause).await;
        let reply = self.replies.lock().unwrap().pop_front();
        if reply == Some(Reply::Yes(true)) {
            self.grant(id);
        }
        match reply {
            Some(reply) => Settled {
                decision: id,
                is_answered: true,
                reply: Some(reply),
                file: None,
            },
            None => std::future::pending().await,
        }
    }
}

/// Gives its answers in order, and none after the last one.
#[derive(Debug, Default)]
pub(crate) struct FakeRemote {
    pub(crate) answers: Mutex<VecDeque<Result<RemoteAnswer, ToolServerError>>>,
    /// Each call as its server, its tool and its input.
    pub(crate) calls: Mutex<Vec<String>>,
}

#[async_trait]
impl RemoteTools for FakeRemote {
    async fn call(&self, server: &str, call: RemoteCall) -> Result<RemoteAnswer, ToolServerError> {
        let input = serde_json::Value::Object(call.input);
        let called = format!("{server} {} {input}", call.tool);
        self.calls.lock().unwrap().push(called);
        if let Some(mut progress) = call.progress {
            progress.try_send(Bytes::from_static(b"half\n")).unwrap();
        }
        let answer = self.answers.lock().unwrap().pop_front();
        match answer {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }
}
