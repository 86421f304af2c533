//! The connections of one awake session to its MCP servers.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use deskhand_agent::{RemoteTools, tools::ServerTools};
use deskhand_core::{
    id::SessionId,
    sandbox::ProgramOrder,
    secret::Secret,
    tool_server::{
        HttpWay, RemoteAnswer, RemoteCall, ServerWay, ToolServer, ToolServerError,
        address::HttpAddress, secret_text::with_secrets, spec::McpTransport,
    },
};
use futures::future::join_all;
use tokio::time::timeout;

use super::{
    GivenServer, ToolServerAccess,
    connector::EgressConnector,
    program::{self, ProgramEnd},
};
use crate::{live::desk::SessionDesk, session_computer::SessionComputer};

/// The longest time that connecting to a server and listing its tools may take.
const LONGEST_START: Duration = Duration::from_secs(30);

/// The connections of one awake session.
#[derive(Debug)]
pub(crate) struct SessionServers {
    session: SessionId,
    access: ToolServerAccess,
    desk: Arc<SessionDesk>,
    open: Mutex<HashMap<String, Arc<OpenServer>>>,
}

/// A connection to a server.
#[derive(Debug)]
struct OpenServer {
    given: GivenServer,
    connection: Arc<dyn ToolServer>,
    /// The sandbox in which its program runs, or whose secrets its requests use.
    computer: Arc<SessionComputer>,
    line: ServerLine,
}

/// The parts of a connection that depend on its way.
#[derive(Debug)]
enum ServerLine {
    Program(ProgramEnd),
    Http(Arc<EgressConnector>),
}

/// A server as the first turn of a session found it.
#[derive(Debug)]
pub(crate) struct FoundServer {
    pub(crate) name: String,
    pub(crate) tools: Result<ServerTools, ToolServerError>,
}

/// The servers of one turn.
#[derive(Debug)]
pub(crate) struct TurnServers {
    pub(crate) servers: Arc<SessionServers>,
    pub(crate) given: Vec<GivenServer>,
}

impl SessionServers {
    pub(crate) fn new(
        session: SessionId,
        access: ToolServerAccess,
        desk: Arc<SessionDesk>,
    ) -> Arc<Self> {
        Arc::new(Self {
            session,
            access,
            desk,
            open: Mutex::default(),
        })
    }

    /// Connects to all servers at once, and lists their tools.
    pub(crate) async fn discover(&self, given: &[GivenServer]) -> Vec<FoundServer> {
        join_all(given.iter().map(|one| self.find(one))).await
    }

    async fn find(&self, given: &GivenServer) -> FoundServer {
        let name = given.spec.name.clone();
        let listed = async {
            let open = self.connected(given).await?;
            let at_most = self.patience(given, LONGEST_START);
            let listed = within(at_most, open.connection.tools()).await;
            listed.map_err(|error| self.failed(&open, error))
        };
        let tools = listed.await.map(|tools| ServerTools {
            server: name.clone(),
            tools,
        });
        if let Err(error) = &tools {
            tracing::info!(session.id = %self.session, server = name, %error, "an MCP server cannot be used");
        }
        FoundServer { name, tools }
    }

    async fn call(
        &self,
        given: &GivenServer,
        call: RemoteCall,
    ) -> Result<RemoteAnswer, ToolServerError> {
        let open = self.connected(given).await?;
        if let ServerLine::Http(connector) = &open.line {
            let prepared = connector.prepare().await;
            prepared.map_err(|error| self.failed(&open, error))?;
        }
        let at_most = self.patience(given, given.spec.timeout());
        let answered = within(at_most, open.connection.call(call)).await;
        let answer = answered.map_err(|error| self.failed(&open, error))?;
        Ok(RemoteAnswer {
            text: open.computer.redact_text(&answer.text),
            ..answer
        })
    }

    /// Returns a time, with that in which the owner may be asked about a secret.
    fn patience(&self, given: &GivenServer, at_most: Duration) -> Duration {
        if given.spec.has_secrets() {
            at_most + self.access.0.ask_timeout
        } else {
            at_most
        }
    }

    /// Returns the connection to a server, and connects if there is none, or if it belongs to an earlier sandbox.
    async fn connected(&self, given: &GivenServer) -> Result<Arc<OpenServer>, ToolServerError> {
        let computer = self.desk.computer().await;
        let computer = computer.map_err(|error| ToolServerError::Unreachable(error.message))?;
        let open = self.open().get(&given.spec.name).cloned();
        if let Some(open) = open
            && open.given == *given
            && !open.connection.is_closed()
            && Arc::ptr_eq(&open.computer, &computer)
        {
            return Ok(open);
        }
        let opened = self.connect(given, Arc::clone(&computer)).await;
        let opened = opened.map_err(|error| redacted(&computer, error))?;
        let opened = Arc::new(opened);
        let name = given.spec.name.clone();
        self.open().insert(name, Arc::clone(&opened));
        Ok(opened)
    }

    async fn connect(
        &self,
        given: &GivenServer,
        computer: Arc<SessionComputer>,
    ) -> Result<OpenServer, ToolServerError> {
        let fields = filled(given, &computer)?;
        let (way, line) = match &given.spec.transport {
            McpTransport::Stdio { command, args, .. } => {
                let order = ProgramOrder {
                    command: command.clone(),
                    args: args.clone(),
                    env: fields,
                };
                let (stream, end) = program::start(&computer, &order).await?;
                (ServerWay::Program(stream), ServerLine::Program(end))
            }
            McpTransport::Http { url, .. } => {
                let way = self.http_way(given, url, fields, &computer)?;
                way.1.prepare().await?;
                (ServerWay::Http(way.0), ServerLine::Http(way.1))
            }
        };
        let at_most = self.patience(given, LONGEST_START);
        let connected = within(at_most, self.access.0.servers.connect(way)).await;
        let connection = connected.map_err(|error| line.explain(error))?;
        Ok(OpenServer {
            given: given.clone(),
            connection,
            computer,
            line,
        })
    }

    fn http_way(
        &self,
        given: &GivenServer,
        url: &str,
        headers: BTreeMap<String, Secret>,
        computer: &SessionComputer,
    ) -> Result<(HttpWay, Arc<EgressConnector>), ToolServerError> {
        let address: Result<HttpAddress, _> = url.parse();
        let address = address.map_err(|error| ToolServerError::Unreachable(error.to_string()))?;
        let entrance = self.access.0.entrance.clone();
        let connector = EgressConnector::new(entrance, self.session, given.maker(), &address);
        let connector = Arc::new(connector);
        // The server itself plays the hosts of secrets, see `egress::exchange`.
        let secrets = computer.http_secrets();
        let authority = secrets.and_then(|secrets| {
            let certificates = secrets.stand_ins.certificates.as_ref()?;
            Some(certificates.authority.clone())
        });
        let way = HttpWay {
            address,
            headers: headers.into_iter().collect(),
            connector: Arc::clone(&connector) as _,
            authority,
        };
        Ok((way, connector))
    }

    /// Returns the reason of a failure. A connection that may be broken is not used again.
    fn failed(&self, open: &Arc<OpenServer>, error: ToolServerError) -> ToolServerError {
        if !matches!(error, ToolServerError::Refused(_)) {
            let mut all = self.open();
            let name = &open.given.spec.name;
            if all.get(name).is_some_and(|kept| Arc::ptr_eq(kept, open)) {
                all.remove(name);
            }
        }
        redacted(&open.computer, open.line.explain(error))
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Arc<OpenServer>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerLine {
    /// Adds the reason why the server's program ended.
    fn explain(&self, error: ToolServerError) -> ToolServerError {
        let reason = match self {
            Self::Program(end) => end.reason(),
            Self::Http(_) => None,
        };
        match reason {
            Some(reason) => ToolServerError::Unreachable(reason),
            None => error,
        }
    }
}

#[async_trait]
impl RemoteTools for TurnServers {
    async fn call(&self, server: &str, call: RemoteCall) -> Result<RemoteAnswer, ToolServerError> {
        let mut given = self.given.iter();
        let given = given.find(|given| given.spec.name == server);
        let given = given.ok_or(ToolServerError::Removed)?;
        self.servers.call(given, call).await
    }
}

/// Returns the headers or variables of a server, with the stand-ins of this sandbox in place of secrets.
fn filled(
    given: &GivenServer,
    computer: &SessionComputer,
) -> Result<BTreeMap<String, Secret>, ToolServerError> {
    let secrets = computer.http_secrets();
    let stand_in = |name: &str| {
        let all = secrets.as_ref()?.stand_ins.all();
        let found = all.iter().find(|one| one.name.to_string() == name)?;
        Some(found.text.clone())
    };
    let fields = given.spec.fields().iter();
    let filled = fields.map(|(name, value)| {
        let value = with_secrets(value, stand_in).map_err(ToolServerError::NoSecret)?;
        Ok((name.clone(), Secret::new(value)))
    });
    filled.collect()
}

async fn within<T>(
    at_most: Duration,
    work: impl Future<Output = Result<T, ToolServerError>>,
) -> Result<T, ToolServerError> {
    let done = timeout(at_most, work).await;
    done.unwrap_or(Err(ToolServerError::Late(at_most.as_secs())))
}

/// Removes secrets from an error, which may quote the server.
fn redacted(computer: &SessionComputer, error: ToolServerError) -> ToolServerError {
    let clean = |text: String| computer.redact_text(&text);
    match error {
        ToolServerError::Unreachable(text) => ToolServerError::Unreachable(clean(text)),
        ToolServerError::Refused(text) => ToolServerError::Refused(clean(text)),
        ToolServerError::Protocol(text) => ToolServerError::Protocol(clean(text)),
        other @ (ToolServerError::Late(_)
        | ToolServerError::Gone
        | ToolServerError::Large(_)
        | ToolServerError::NoSecret(_)
        | ToolServerError::Removed) => other,
    }
}
