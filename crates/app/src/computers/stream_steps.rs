//! The steps in a session's browser that those who run streams take by rule.
//!
//! Like uses of the player they are not logged: a page is read again and again until it shows what is waited for.

use bytes::Bytes;
use deskhand_core::{
    browser::{Browse, Browsed, BrowserVerb},
    file::{FilePath, FileRequest},
    id::{SessionId, UserId},
    right::Right,
    sandbox::{Actor, Call, ComputerExt, PutFile, TakeFile},
    vault::{FillSecret, SecretName},
};

use super::{
    Computers,
    player::{PlayerError, problem},
};

/// The place of a browser's state on its way into the sandbox and out of it, below the home folder.
const STATE_FOLDER: &str = ".deskhand";
const STATE_NAME: &str = "browser-state.json";
/// The size of the largest state that is kept.
const LARGEST_STATE_BYTES: u64 = 10 * 1024 * 1024;

impl Computers {
    /// Carries out a verb in the browser of a session.
    pub async fn browse(
        &self,
        user: UserId,
        id: SessionId,
        browse: Browse,
    ) -> Result<Browsed, PlayerError> {
        let computer = self.computer_of_stream(Right::Drive, user, id).await?;
        let call = Call::by(Actor::Person(user));
        computer.perform(call, browse).await.map_err(problem)
    }

    /// Types a secret of the session's owner, who asks for it, into the focused field.
    pub async fn type_own_secret(
        &self,
        user: UserId,
        id: SessionId,
        name: SecretName,
    ) -> Result<(), PlayerError> {
        let computer = self.computer_of_stream(Right::Owner, user, id).await?;
        let call = Call::by(Actor::Person(user));
        let typed = computer.perform(call, FillSecret { name, place: None });
        typed.await.map_err(problem)?;
        Ok(())
    }

    /// Returns the cookies and the local storage of a session's browser. Whoever has them is signed in where it is.
    pub async fn browser_state(&self, user: UserId, id: SessionId) -> Result<Bytes, PlayerError> {
        let path = state_path();
        let save = BrowserVerb::SaveState {
            path: path.as_str().to_owned(),
        };
        self.browse(user, id, Browse::new(save)).await?;
        let computer = self.computer_of_stream(Right::Owner, user, id).await?;
        let take = TakeFile {
            path,
            most_bytes: LARGEST_STATE_BYTES,
        };
        let taken = computer.perform(Call::by(Actor::Person(user)), take).await;
        self.remove_state(user, id).await?;
        Ok(taken.map_err(problem)?.bytes)
    }

    /// Gives a session's browser cookies and local storage.
    pub async fn load_browser_state(
        &self,
        user: UserId,
        id: SessionId,
        state: Bytes,
    ) -> Result<(), PlayerError> {
        let computer = self.computer_of_stream(Right::Owner, user, id).await?;
        let put = PutFile {
            folder: STATE_FOLDER.to_owned(),
            name: STATE_NAME.to_owned(),
            bytes: state,
        };
        let put = computer.perform(Call::by(Actor::Person(user)), put).await;
        let path = put.map_err(problem)?.path;
        let load = Browse::new(BrowserVerb::LoadState { path });
        let loaded = self.browse(user, id, load).await;
        self.remove_state(user, id).await?;
        loaded?;
        Ok(())
    }

    /// Leaves no copy of the state in the sandbox.
    async fn remove_state(&self, user: UserId, id: SessionId) -> Result<(), PlayerError> {
        let computer = self.computer_of_stream(Right::Owner, user, id).await?;
        let remove = FileRequest::Remove {
            path: state_path(),
            recursive: false,
            version: None,
        };
        let call = Call::by(Actor::Person(user));
        computer.perform(call, remove).await.map_err(problem)?;
        Ok(())
    }
}

fn state_path() -> FilePath {
    let path = format!("~/{STATE_FOLDER}/{STATE_NAME}").parse();
    path.unwrap_or_else(|_bad| FilePath::home())
}
