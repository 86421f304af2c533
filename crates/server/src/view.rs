//! Views of `app`'s results. `deskhand_api` makes the views of pure `core` types.

use deskhand_api::{
    budgets::{LimitsInUseView, UsageView, UsedView},
    bus::{BusMessage, BusSession, NoticeData, SessionData, SnapshotData},
    decisions::{DecisionView, DecisionsView},
    events::{Collaborator, PresenceMessage},
    sharing::{PersonView, ShareView},
    users::SignInView,
};
use deskhand_app::{LimitsInUse, News, Notice, PresenceChange, Sharing, SignedInBrowser, UserUse};
use deskhand_core::id::SessionId;
use deskhand_core::{
    inbox::{DecisionPage, NamedDecision},
    right::{Person, Share},
};

pub(crate) fn decision(named: NamedDecision) -> DecisionView {
    let decision = named.decision;
    let ask = decision.ask;
    DecisionView {
        id: decision.id,
        session_id: decision.session,
        session_title: named.session_title,
        turn: decision.turn,
        call: ask.call,
        kind: ask.kind,
        prompt: ask.prompt,
        form: ask.form,
        subject: ask.subject,
        over: ask.over,
        rule: ask.rule,
        default: ask.default,
        expires_at: ask.expires_at,
        created_at: decision.created_at,
        state: decision.state,
        answer: decision.answer,
        answered_by: decision.answered_by,
        answered_by_name: named.answered_by_name,
        settled_at: decision.settled_at,
    }
}

pub(crate) fn decisions(page: DecisionPage) -> DecisionsView {
    DecisionsView {
        decisions: page.decisions.into_iter().map(decision).collect(),
        next: page.next,
    }
}

pub(crate) fn limits_in_use(in_use: &LimitsInUse) -> LimitsInUseView {
    let limits = &in_use.limits;
    LimitsInUseView {
        awake_sessions: UsedView {
            used: in_use.n_awake,
            limit: limits.awake_sessions,
        },
        sessions_per_day: UsedView {
            used: in_use.n_today,
            limit: limits.sessions_per_day,
        },
        frees_at: in_use.frees_at,
        idle_seconds: limits.idle.as_secs(),
        life_seconds: limits.life.as_secs(),
    }
}

pub(crate) fn usage(used: &UserUse) -> UsageView {
    UsageView {
        today: used.today.into(),
        month: used.month.into(),
        next_day_at: used.next_day_at,
    }
}

pub(crate) fn person(sharing: &Sharing, session: SessionId, person: Person) -> PersonView {
    PersonView {
        here: sharing.is_here(session, person.user),
        id: person.user,
        name: person.name,
        right: person.right,
    }
}

pub(crate) fn share(share: &Share) -> ShareView {
    ShareView {
        id: share.id,
        right: share.right,
        created_at: share.created_at,
        expires_at: share.expires_at,
        single_use: share.is_single_use,
    }
}

pub(crate) fn sign_in(seen: SignedInBrowser) -> SignInView {
    let browser = seen.browser;
    SignInView {
        id: browser.id,
        created_at: browser.created_at,
        last_used_at: browser.last_used_at,
        expires_at: browser.expires_at,
        address: browser.address,
        browser: browser.name,
        current: seen.is_current,
    }
}

pub(crate) fn presence(change: PresenceChange) -> PresenceMessage {
    let who = Collaborator {
        id: change.user,
        name: change.name,
    };
    if change.is_here {
        PresenceMessage::CollaboratorJoin(who)
    } else {
        PresenceMessage::CollaboratorLeave(who)
    }
}

pub(crate) fn bus_message(news: News) -> BusMessage {
    match news {
        News::Snapshot(sessions) => BusMessage::Snapshot(SnapshotData {
            sessions: sessions.into_iter().map(bus_session).collect(),
        }),
        News::Session(session) => BusMessage::Session(Box::new(bus_session(*session))),
        News::Gone(session) => BusMessage::SessionGone(SessionData { session }),
        News::Notice(Notice { code, message }) => BusMessage::Notice(NoticeData {
            code: code.to_owned(),
            message,
        }),
    }
}

fn bus_session(seen: deskhand_app::BusSession) -> BusSession {
    BusSession {
        needs_me: !seen.decisions.is_empty(),
        session: seen.session.into(),
        decisions: seen.decisions,
    }
}
