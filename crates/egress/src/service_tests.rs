use std::{collections::VecDeque, sync::Mutex};

use async_trait::async_trait;
use deskhand_core::network::{
    NetworkEntrance,
    guard::NetworkMeter,
    policy::{NetworkBounds, NetworkMode, NetworkPolicy, NetworkRules},
};
use futures::channel::mpsc as messages;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::*;
use crate::resolve::NameResolver;

/// Admits everything that the open network has, and remembers what it was told.
#[derive(Debug, Default)]
struct Open {
    facts: Arc<Mutex<Facts>>,
    allow: Vec<&'static str>,
}

#[derive(Debug, Default)]
struct Facts {
    n_connected: usize,
    blocked: Vec<BlockReason>,
    n_sent: u64,
    n_received: u64,
}

#[derive(Debug)]
struct Told(Arc<Mutex<Facts>>);

impl NetworkMeter for Told {
    fn connected(&self) {
        self.0.lock().unwrap().n_connected += 1;
    }

    fn failed(&self) {}

    fn blocked(&self, reason: BlockReason) {
        self.0.lock().unwrap().blocked.push(reason);
    }

    fn count(&self, n_sent: u64, n_received: u64) -> bool {
        let mut facts = self.0.lock().unwrap();
        facts.n_sent += n_sent;
        facts.n_received += n_received;
        true
    }
}

#[async_trait]
impl NetworkGuard for Open {
    async fn admit_lookup(&self, _: SessionId, _: &str) -> Result<LookupMode, BlockReason> {
        Ok(LookupMode::Resolve)
    }

    async fn admit(
        &self,
        _: SessionId,
        _: ConnectionMaker,
        _: &NetworkHost,
        _: u16,
    ) -> Result<Passage, BlockReason> {
        let bounds = NetworkBounds {
            ceiling: NetworkMode::Open,
            allow: self
                .allow
                .iter()
                .map(|rule| rule.parse().unwrap())
                .collect(),
            ..NetworkBounds::default()
        };
        let policy = NetworkPolicy::from(NetworkMode::Open);
        Ok(Passage {
            rules: Arc::new(NetworkRules::new(Arc::new(bounds), policy, Vec::new())),
            ended: CancellationToken::new(),
            meter: Arc::new(Told(Arc::clone(&self.facts))),
            stand_ins: None,
        })
    }
}

/// Gives another answer each time, the last one for ever.
#[derive(Debug)]
struct Changing(Mutex<VecDeque<Vec<&'static str>>>);

#[async_trait]
impl NameResolver for Changing {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        let mut answers = self.0.lock().unwrap();
        let answer = answers.pop_front().unwrap_or_default();
        if answers.is_empty() {
            answers.push_back(answer.clone());
        }
        Ok(answer
            .iter()
            .map(|address| address.parse().unwrap())
            .collect())
    }
}

/// Leads every address to one listener, and remembers the addresses.
#[derive(Debug)]
struct Everywhere {
    listener: SocketAddr,
    dialled: Arc<Mutex<Vec<SocketAddr>>>,
}

#[async_trait]
impl Dialler for Everywhere {
    async fn dial(&self, address: SocketAddr) -> io::Result<Outgoing> {
        self.dialled.lock().unwrap().push(address);
        Ok(Box::new(TcpStream::connect(self.listener).await?))
    }

    async fn is_own(&self, address: SocketAddr) -> bool {
        address.ip() == IpAddr::from([9, 9, 9, 1])
    }
}

struct Scene {
    entrance: NetworkEntrance,
    listener: TcpListener,
    facts: Arc<Mutex<Facts>>,
    dialled: Arc<Mutex<Vec<SocketAddr>>>,
    _end: tokio_util::sync::DropGuard,
}

impl Scene {
    async fn start(answers: &[&[&'static str]], change: impl FnOnce(&mut Egress)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let guard = Open::default();
        let facts = Arc::clone(&guard.facts);
        let dialled = Arc::default();
        let answers = answers.iter().map(|answer| answer.to_vec()).collect();
        let mut egress = Egress {
            guard: Arc::new(guard),
            lookups: Lookups::new(Arc::new(Changing(Mutex::new(answers))), Vec::new()),
            dialler: Arc::new(Everywhere {
                listener: listener.local_addr().unwrap(),
                dialled: Arc::clone(&dialled),
            }),
            proxy: None,
            most_connections: 4096,
            verifier: HostVerifier::trusting(rustls::RootCertStore::empty()).unwrap(),
            connect_timeout: Duration::from_secs(5),
        };
        change(&mut egress);
        let (entrance, connections) = NetworkEntrance::new();
        let end = CancellationToken::new();
        let tasks = deskhand_core::tasks::Tasks::default();
        tasks.spawn("network", serve(connections, egress, end.clone()));
        Self {
            entrance,
            listener,
            facts,
            dialled,
            _end: end.drop_guard(),
        }
    }

    /// Sends a request, and returns its answer with both directions.
    async fn ask(
        &self,
        request: &str,
    ) -> (
        NetworkAnswer,
        messages::Sender<Bytes>,
        messages::Receiver<Bytes>,
    ) {
        let (mut to_server, incoming) = messages::channel(0);
        let (outgoing, mut from_server) = messages::channel(0);
        let stream = ByteStream {
            incoming: Box::pin(incoming),
            outgoing: Box::pin(outgoing.sink_map_err(io::Error::other)),
        };
        let session = SessionId::new();
        assert!(self.entrance.bring(NetworkConnection {
            session,
            stream,
            by: ConnectionMaker::Session,
        }));
        to_server.send(request.to_owned().into()).await.unwrap();
        let answer = from_server.next().await.expect("an answer");
        (
            serde_json::from_slice(&answer).unwrap(),
            to_server,
            from_server,
        )
    }

    async fn connect(&self, host: &str) -> NetworkAnswer {
        self.ask(&connect(host)).await.0
    }
}

fn connect(host: &str) -> String {
    let host = match host.parse() {
        Ok(address) => NetworkHost::Address(address),
        Err(_) => NetworkHost::Name(host.to_owned()),
    };
    serde_json::to_string(&NetworkRequest::Connect { host, port: 80 }).unwrap()
}

#[tokio::test]
async fn the_address_that_was_judged_is_dialled_even_if_the_name_changes() {
    let answers: [&[_]; 3] = [
        &["93.184.216.34"],
        &["10.0.0.1"],
        &["10.0.0.1", "93.184.216.35"],
    ];
    let scene = Scene::start(&answers, |_| {}).await;
    assert_eq!(scene.connect("a.example").await, NetworkAnswer::Connected);
    assert_eq!(
        scene.connect("a.example").await,
        refused(BlockReason::Private)
    );
    assert_eq!(scene.connect("a.example").await, NetworkAnswer::Connected);
    assert_eq!(scene.connect("9.9.9.1").await, refused(BlockReason::Own));
    let dialled: Vec<_> = ["93.184.216.34:80", "93.184.216.35:80"]
        .map(|text| text.parse().unwrap())
        .into();
    assert_eq!(*scene.dialled.lock().unwrap(), dialled);
    let facts = scene.facts.lock().unwrap();
    assert_eq!(facts.blocked, [BlockReason::Private, BlockReason::Own]);
    assert_eq!(facts.n_connected, 2);
}

#[tokio::test]
async fn an_address_that_does_not_answer_costs_little_time() {
    /// Answers only at one address.
    #[derive(Debug)]
    struct OnlyAt(SocketAddr);

    #[async_trait]
    impl Dialler for OnlyAt {
        async fn dial(&self, address: SocketAddr) -> io::Result<Outgoing> {
            if address.ip() != IpAddr::from([93, 184, 216, 34]) {
                return std::future::pending().await;
            }
            Ok(Box::new(TcpStream::connect(self.0).await?))
        }

        async fn is_own(&self, _: SocketAddr) -> bool {
            false
        }
    }

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let scene = Scene::start(&[&["2606:4700::1", "93.184.216.34"]], |egress| {
        egress.dialler = Arc::new(OnlyAt(listener.local_addr().unwrap()));
        egress.connect_timeout = Duration::from_hours(1);
    })
    .await;
    assert_eq!(scene.connect("a.example").await, NetworkAnswer::Connected);
}

#[tokio::test]
async fn addresses_of_the_servers_names_are_refused() {
    let scene = Scene::start(&[], |egress| {
        let own = Changing(Mutex::new(VecDeque::from([vec!["93.184.216.99"]])));
        egress.lookups = Lookups::new(Arc::new(own), vec!["desk.example".to_owned()]);
    })
    .await;
    // The names are looked up beside the first connections.
    while scene.connect("93.184.216.99").await != refused(BlockReason::Own) {}
    assert_eq!(
        scene.connect("93.184.216.98").await,
        NetworkAnswer::Connected
    );
}

#[tokio::test]
async fn requests_that_cannot_be_read_are_refused() {
    let scene = Scene::start(&[&["93.184.216.34"]], |_| {}).await;
    let long = format!("{{{}}}", " ".repeat(2000));
    let others = [
        "",
        "hello",
        &long,
        r#"{"type":"connect","host":{"name":"A.example"},"port":80}"#,
        r#"{"type":"connect","host":{"name":"a.example."},"port":80}"#,
        r#"{"type":"connect","host":{"name":"10.0.0.1"},"port":80}"#,
        r#"{"type":"connect","host":{"name":"a.example"},"port":0}"#,
        r#"{"type":"resolve","name":"a b"}"#,
    ];
    for request in others {
        let (answer, ..) = scene.ask(request).await;
        assert_eq!(answer, refused(BlockReason::Failed), "{request}");
    }
    assert_eq!(*scene.dialled.lock().unwrap(), []);
}

#[tokio::test]
async fn each_direction_ends_on_its_own_and_all_bytes_are_counted() {
    let scene = Scene::start(&[&["93.184.216.34"]], |_| {}).await;
    let (answer, mut to_server, mut from_server) = scene.ask(&connect("a.example")).await;
    assert_eq!(answer, NetworkAnswer::Connected);
    let (mut host, _) = scene.listener.accept().await.unwrap();
    const MANY: usize = 1_000_000;
    let serving = async {
        // The whole question comes before the answer.
        let mut heard = Vec::new();
        host.read_to_end(&mut heard).await.unwrap();
        host.write_all(&vec![7; MANY]).await.unwrap();
        drop(host);
        heard
    };
    let program = async {
        to_server
            .send(Bytes::from_static(b"question"))
            .await
            .unwrap();
        to_server.send(Bytes::new()).await.unwrap();
        let mut n_heard = 0;
        loop {
            let piece = from_server.next().await.expect("an end");
            if piece.is_empty() {
                return n_heard;
            }
            n_heard += piece.len();
        }
    };
    let (heard, n_heard) = futures::join!(serving, program);
    assert_eq!((heard.as_slice(), n_heard), (b"question".as_slice(), MANY));
    let facts = scene.facts.lock().unwrap();
    assert_eq!((facts.n_sent, facts.n_received), (8, 1_000_000));
}

#[tokio::test]
async fn the_proxy_is_asked_for_the_address_and_never_for_internal_hosts() {
    let proxy_at = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = proxy_at.local_addr().unwrap();
    let guard = Open {
        allow: vec!["10.0.0.0/8"],
        ..Open::default()
    };
    let dialled = Arc::<Mutex<Vec<SocketAddr>>>::default();
    let scene = Scene::start(&[&["93.184.216.34"], &["10.0.0.1"]], |egress| {
        egress.guard = Arc::new(guard);
        egress.dialler = Arc::new(Everywhere {
            listener: address,
            dialled: Arc::clone(&dialled),
        });
        let proxy = format!("http://ada:canary@{address}");
        egress.proxy = Some(UpstreamProxy::parse(&proxy).unwrap());
    })
    .await;
    let serving = async {
        let (mut stream, _) = proxy_at.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream
            .write_all(b"HTTP/1.1 200 OK\r\n\r\nhello")
            .await
            .unwrap();
        String::from_utf8(head).unwrap()
    };
    let request = connect("a.example");
    let (head, (answer, _to_server, mut from_server)) =
        futures::join!(serving, scene.ask(&request));
    assert_eq!(answer, NetworkAnswer::Connected);
    assert!(
        head.starts_with("CONNECT 93.184.216.34:80 HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(head.contains("Proxy-Authorization: Basic "), "{head}");
    assert_eq!(from_server.next().await.unwrap(), "hello");

    assert_eq!(scene.connect("a.example").await, NetworkAnswer::Connected);
    let internal: SocketAddr = "10.0.0.1:80".parse().unwrap();
    assert_eq!(*dialled.lock().unwrap(), [address, internal]);
}
