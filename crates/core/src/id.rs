//! Ids: one newtype per kind of thing, so that using the wrong id does not compile.
//!
//! All are UUID v7, and plain UUIDs on the wire. They sort by creation time.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub uuid::Uuid);

        impl $name {
            /// Creates an id that sorts after all ids created before.
            #[expect(clippy::new_without_default, reason = "a default id would be a surprise")]
            pub fn new() -> Self {
                Self(uuid::Uuid::now_v7())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )+};
}

ids! {
    /// A conversation with an agent, with its computer and its log.
    SessionId,
    /// A message of a person or the agent in a session.
    MessageId,
    /// A file that a person sends along with a message.
    AttachmentId,
    /// The work on one prompt.
    TurnId,
    /// A user who may sign in.
    UserId,
    /// A token with which a program acts for a user.
    TokenId,
    /// A link that lets people into a session.
    ShareId,
    /// A link by which everybody can watch a session.
    WatchLinkId,
    /// A question to a person.
    DecisionId,
    /// A secret that agents may type.
    SecretId,
    /// A browser that is signed in.
    SignInId,
    /// An entry of the audit log.
    AuditId,
    /// A request to a runner. A runner carries out an id at most once.
    RequestId,
    /// A terminal in a sandbox.
    TerminalId,
    /// A suite of tasks, carried out on models.
    EvalId,
}
