//! Builds the app, and resumes what an earlier server left.

mod evals;

use std::sync::Arc;

use tokio::sync::{Notify, OnceCell};
use tokio_util::sync::CancellationToken;

use crate::{
    App, Apps, Attachments, Catalog, Computers, Control, Decisions, Evals, Files, Gateway,
    HealthChecks, InternalError, Parts, Queue, Quotas, Sessions, Sharing, Spending, Subjects,
    Terminals, Users, Vault, WatchLinks,
    apps::AppsParts,
    computers::ComputerParts,
    control::ControlParts,
    evals::ContinueEvals,
    feed::{bus::Bus, log::Log},
    jobs::{
        Job, Jobs, KeepNetwork, Keeper, RemoveLeftovers, ResealSecrets, Retention, SettleExpired,
        TellNews, WriteTokenUses,
    },
    live::{LiveParts, LiveSessions},
    network::{BlockedHosts, NetworkAccess, NetworkParts},
    people::{
        audience::Audience, limits::LimitTable, sharing::SharingParts, watch_links::WatchLinkParts,
    },
    queue::QueueParts,
    session_computer::{ComputerStarter, LimitRule},
    sessions::SessionParts,
    signals::Signals,
    tool_servers::{ToolServerAccess, ToolServerParts},
    turns::{TurnParts, Turns},
};

/// The parts that several subjects use.
#[derive(Debug)]
struct Common {
    parts: Parts,
    bus: Arc<Bus>,
    log: Log,
    signals: Signals,
    limits: LimitTable,
    catalog: Catalog,
    decisions: Decisions,
    spending: Spending,
    vault: Vault,
    blocked: BlockedHosts,
    tool_servers: ToolServerAccess,
}

impl App {
    /// Starts the app: resumes turns that an earlier server left, closes what cannot be resumed, and starts the jobs.
    pub async fn start(parts: Parts) -> Result<Self, InternalError> {
        let common = Common::new(parts);
        let computers = common.computer_starter();
        let turns = common.turns(computers.clone());
        let live = common.live(turns.clone(), computers);
        let app = Self(Arc::new(common.subjects(turns, live)));
        // This comes before turns resume, so that none waits for an expired decision.
        app.0.decisions.settle_expired().await?;
        app.0.sharing.shorten_links().await?;
        app.0.sessions.reconcile(&app.0.control).await?;
        app.0.evals.begin();
        Ok(app)
    }
}

impl Common {
    fn new(parts: Parts) -> Self {
        let (store, clock) = (parts.store.clone(), Arc::clone(&parts.clock));
        let vault = Vault::new(store.clone(), parts.key.clone(), Arc::clone(&clock));
        let bus = Arc::<Bus>::default();
        let log = Log::new(
            store.clone(),
            Arc::clone(&clock),
            Arc::clone(&bus),
            parts.tasks.clone(),
        );
        let signals = Signals::default();
        let limits = LimitTable::new(store.clone(), parts.settings.limits);
        let fallback = parts.settings.fallback_model.as_deref();
        let tool_servers = ToolServerAccess::new(ToolServerParts {
            servers: Arc::clone(&parts.tool_servers),
            entrance: parts.network.clone(),
            deployment: parts.settings.mcp_servers.clone(),
            ask_timeout: parts.settings.network.ask_timeout,
        });
        Self {
            tool_servers,
            catalog: Catalog::new(Arc::clone(&parts.models), fallback),
            decisions: Decisions::new(
                store.clone(),
                log.clone(),
                signals.clone(),
                Arc::clone(&clock),
            ),
            spending: Spending::new(store, limits.clone(), clock),
            bus,
            log,
            signals,
            limits,
            vault,
            blocked: BlockedHosts::default(),
            parts,
        }
    }

    fn computer_starter(&self) -> ComputerStarter {
        let parts = &self.parts;
        ComputerStarter {
            sandboxes: Arc::clone(&parts.sandboxes),
            vault: self.vault.clone(),
            limit_rule: LimitRule {
                require: parts.settings.require_limits,
                store: parts.store.clone(),
            },
            blocked: self.blocked.clone(),
            ceiling: parts.settings.network.bounds.ceiling,
            store: parts.store.clone(),
            certificates: Arc::clone(&parts.certificates),
            clock: Arc::clone(&parts.clock),
        }
    }

    fn turns(&self, computers: ComputerStarter) -> Turns {
        let parts = &self.parts;
        Turns::new(TurnParts {
            computers,
            harness: Arc::clone(&parts.harness),
            tool_servers: self.tool_servers.clone(),
            store: parts.store.clone(),
            log: self.log.clone(),
            blobs: Arc::clone(&parts.blobs),
            catalog: self.catalog.clone(),
            decisions: self.decisions.clone(),
            spending: self.spending.clone(),
            signals: self.signals.clone(),
            settings: parts.settings.clone(),
            clock: Arc::clone(&parts.clock),
            tasks: parts.tasks.clone(),
            parking: CancellationToken::new(),
        })
    }

    fn live(&self, turns: Turns, computers: ComputerStarter) -> LiveSessions {
        let parts = &self.parts;
        LiveSessions::new(LiveParts {
            turns,
            computers,
            tool_servers: self.tool_servers.clone(),
            limits: self.limits.clone(),
            log: self.log.clone(),
            bus: Arc::clone(&self.bus),
            clock: Arc::clone(&parts.clock),
            tasks: parts.tasks.clone(),
        })
    }

    fn subjects(self, turns: Turns, live: LiveSessions) -> Subjects {
        let users = Users::new(
            self.parts.store.clone(),
            Arc::clone(&self.parts.clock),
            self.signals.clone(),
        );
        let deleted = Arc::<Notify>::default();
        let network = self.network(&live);
        let sessions = self.sessions(&live, &network, &deleted);
        let computers = self.computers(&live);
        let evals = self.evals(&live, &sessions, &computers);
        let jobs = self.jobs(&live, &users, &sessions, &network, &evals, deleted);
        Subjects {
            apps: self.apps(&live),
            sessions,
            queue: self.queue(&live),
            control: self.control(&live),
            watch_links: self.watch_links(&live, &computers),
            computers,
            terminals: Terminals::new(self.parts.store.clone(), live.clone()),
            files: self.files(&live),
            attachments: self.attachments(),
            evals,
            sharing: self.sharing(&live, &network),
            limits: self.quotas(&live),
            gateway: self.gateway(&live),
            network,
            health: self.health(jobs),
            decisions: self.decisions,
            spending: self.spending,
            catalog: self.catalog,
            vault: self.vault,
            users,
            live,
            turns,
            signals: self.signals,
            clock: self.parts.clock,
            tasks: self.parts.tasks,
        }
    }

    /// Returns the list of all background jobs.
    fn jobs(
        &self,
        live: &LiveSessions,
        users: &Users,
        sessions: &Sessions,
        network: &NetworkAccess,
        evals: &Evals,
        deleted: Arc<Notify>,
    ) -> Jobs {
        let store = &self.parts.store;
        let jobs: Vec<Arc<dyn Job>> = vec![
            Arc::new(Keeper { live: live.clone() }),
            Arc::new(SettleExpired {
                decisions: self.decisions.clone(),
            }),
            Arc::new(TellNews {
                bus: Arc::clone(&self.bus),
                store: store.clone(),
            }),
            Arc::new(WriteTokenUses {
                uses: users.credential_uses().clone(),
            }),
            Arc::new(RemoveLeftovers {
                sandboxes: Arc::clone(&self.parts.sandboxes),
                store: store.clone(),
            }),
            Arc::new(Retention {
                sessions: sessions.clone(),
                store: store.clone(),
                blobs: Arc::clone(&self.parts.blobs),
                clock: Arc::clone(&self.parts.clock),
                keep_ended: self.parts.settings.keep_ended,
                nudge: deleted,
            }),
            Arc::new(KeepNetwork {
                network: network.clone(),
            }),
            Arc::new(ResealSecrets {
                vault: self.vault.clone(),
            }),
            Arc::new(ContinueEvals {
                evals: evals.clone(),
            }),
        ];
        Jobs::start(jobs, &self.parts.clock, &self.parts.tasks)
    }

    fn network(&self, live: &LiveSessions) -> NetworkAccess {
        NetworkAccess::new(NetworkParts {
            store: self.parts.store.clone(),
            log: self.log.clone(),
            live: live.clone(),
            decisions: self.decisions.clone(),
            signals: self.signals.clone(),
            vault: self.vault.clone(),
            clock: Arc::clone(&self.parts.clock),
            settings: self.parts.settings.network.clone(),
            blocked: self.blocked.clone(),
        })
    }

    fn sessions(
        &self,
        live: &LiveSessions,
        network: &NetworkAccess,
        deleted: &Arc<Notify>,
    ) -> Sessions {
        Sessions::new(SessionParts {
            store: self.parts.store.clone(),
            log: self.log.clone(),
            bus: Arc::clone(&self.bus),
            live: live.clone(),
            catalog: self.catalog.clone(),
            limits: self.limits.clone(),
            network: network.clone(),
            tool_servers: self.tool_servers.clone(),
            signals: self.signals.clone(),
            clock: Arc::clone(&self.parts.clock),
            budget: self.parts.settings.session_budget,
            deleted: Arc::clone(deleted),
        })
    }

    fn queue(&self, live: &LiveSessions) -> Queue {
        Queue::new(QueueParts {
            store: self.parts.store.clone(),
            log: self.log.clone(),
            bus: Arc::clone(&self.bus),
            live: live.clone(),
            catalog: self.catalog.clone(),
            length: self.parts.settings.queue_length,
        })
    }

    fn control(&self, live: &LiveSessions) -> Control {
        Control::new(ControlParts {
            store: self.parts.store.clone(),
            log: self.log.clone(),
            live: live.clone(),
            signals: self.signals.clone(),
            clock: Arc::clone(&self.parts.clock),
            tasks: self.parts.tasks.clone(),
        })
    }

    fn computers(&self, live: &LiveSessions) -> Computers {
        Computers::new(ComputerParts {
            store: self.parts.store.clone(),
            log: self.log.clone(),
            blobs: Arc::clone(&self.parts.blobs),
            live: live.clone(),
            clock: Arc::clone(&self.parts.clock),
            screen: self.parts.settings.screen,
            browser_scripts: self.parts.settings.browser_scripts,
            tasks: self.parts.tasks.clone(),
        })
    }

    fn files(&self, live: &LiveSessions) -> Files {
        let limits = self.parts.settings.files;
        let blobs = Arc::clone(&self.parts.blobs);
        Files::new(self.parts.store.clone(), blobs, live.clone(), limits)
    }

    fn attachments(&self) -> Attachments {
        let blobs = Arc::clone(&self.parts.blobs);
        Attachments::new(self.parts.store.clone(), self.log.clone(), blobs)
    }

    fn apps(&self, live: &LiveSessions) -> Apps {
        Apps::new(AppsParts {
            store: self.parts.store.clone(),
            live: live.clone(),
            vault: self.vault.clone(),
            signals: self.signals.clone(),
            clock: Arc::clone(&self.parts.clock),
            has_code: self.parts.settings.has_code,
            key: OnceCell::new(),
        })
    }

    fn sharing(&self, live: &LiveSessions, network: &NetworkAccess) -> Sharing {
        Sharing::new(SharingParts {
            store: self.parts.store.clone(),
            log: self.log.clone(),
            bus: Arc::clone(&self.bus),
            live: live.clone(),
            network: network.clone(),
            budget: self.parts.settings.session_budget,
            signals: self.signals.clone(),
            clock: Arc::clone(&self.parts.clock),
            tasks: self.parts.tasks.clone(),
        })
    }

    fn watch_links(&self, live: &LiveSessions, computers: &Computers) -> WatchLinks {
        WatchLinks::new(WatchLinkParts {
            store: self.parts.store.clone(),
            live: live.clone(),
            computers: computers.clone(),
            signals: self.signals.clone(),
            clock: Arc::clone(&self.parts.clock),
            audience: Audience::default(),
        })
    }

    fn quotas(&self, live: &LiveSessions) -> Quotas {
        Quotas::new(
            self.parts.store.clone(),
            self.limits.clone(),
            live.clone(),
            self.signals.clone(),
            Arc::clone(&self.parts.clock),
        )
    }

    fn gateway(&self, live: &LiveSessions) -> Option<Gateway> {
        let vendors = self.parts.gateway.clone()?;
        Some(Gateway::new(
            live.clone(),
            self.spending.clone(),
            self.log.clone(),
            self.parts.tasks.clone(),
            vendors,
        ))
    }

    fn health(&self, jobs: Jobs) -> HealthChecks {
        HealthChecks::new(
            self.parts.store.clone(),
            Arc::clone(&self.parts.blobs),
            Arc::clone(&self.parts.sandboxes),
            jobs,
        )
    }
}
