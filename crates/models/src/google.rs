//! Access tokens of Google service accounts.

use std::{fs, path::Path, sync::Arc};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use deskhand_core::{clock::Clock, model::ModelError, secret::Secret};
use jiff::{SignedDuration, Timestamp};
use reqwest::header;
use ring::{
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::http::{self, NoAnswer, Problem};

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// The lifetime to request for a token, in seconds. Google grants at most this.
const TOKEN_LIFETIME_S: i64 = 3600;
/// A token is not used this shortly before it expires.
const EXPIRY_MARGIN: SignedDuration = SignedDuration::from_secs(60);

/// Credentials for Google.
#[derive(Debug)]
pub(crate) enum Credentials {
    /// A token that is not renewed.
    Token(Secret),
    Account(Box<ServiceAccount>),
}

/// A service account with its current token.
#[derive(Debug)]
pub(crate) struct ServiceAccount {
    email: String,
    key_id: String,
    token_uri: String,
    /// The private key, whose debug output does not reveal it.
    key: RsaKeyPair,
    clock: Arc<dyn Clock>,
    token: Mutex<Option<(Secret, Timestamp)>>,
}

/// The key file in Google's format.
#[derive(Deserialize)]
struct KeyFile {
    client_email: String,
    private_key_id: String,
    private_key: String,
    token_uri: String,
}

/// The reason why a file is not a service account's key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadKeyFile {
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("it is not the key of a service account")]
    NoAccount,
    #[error("its private key is not valid")]
    NoKey,
}

impl ServiceAccount {
    pub(crate) fn read(path: &Path, clock: Arc<dyn Clock>) -> Result<Self, BadKeyFile> {
        let text = fs::read_to_string(path)?;
        // The errors here and below could quote the key, so they are hidden.
        let file = serde_json::from_str(&text).map_err(|_hidden| BadKeyFile::NoAccount);
        let file: KeyFile = file?;
        let key = PrivatePkcs8KeyDer::from_pem_slice(file.private_key.as_bytes());
        let key = key.map_err(|_hidden| BadKeyFile::NoKey)?;
        let key = RsaKeyPair::from_pkcs8(key.secret_pkcs8_der());
        Ok(Self {
            email: file.client_email,
            key_id: file.private_key_id,
            token_uri: file.token_uri,
            key: key.map_err(|_hidden| BadKeyFile::NoKey)?,
            clock,
            token: Mutex::default(),
        })
    }

    /// Returns a valid token. Concurrent callers wait for the same one.
    async fn token(&self, client: &reqwest::Client) -> Result<Secret, ModelError> {
        let mut kept = self.token.lock().await;
        let now = self.clock.now();
        if let Some((token, until)) = &*kept
            && now + EXPIRY_MARGIN < *until
        {
            return Ok(token.clone());
        }
        let (token, good_for) = self.ask(client, now).await?;
        *kept = Some((token.clone(), now + good_for));
        Ok(token)
    }

    async fn ask(
        &self,
        client: &reqwest::Client,
        now: Timestamp,
    ) -> Result<(Secret, SignedDuration), ModelError> {
        let body = format!(
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion={}",
            self.assertion(now)?
        );
        let request = client
            .post(&self.token_uri)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body);
        let response = match http::send(request).await {
            Ok(response) => response,
            Err(NoAnswer::Failed(error)) => return Err(error),
            Err(NoAnswer::Refused(response)) => {
                let problem = Problem {
                    status: Some(response.status),
                    message: response.body["error_description"]
                        .as_str()
                        .or(response.body["error"].as_str()),
                    is_transient: None,
                    retry_after: response.retry_after,
                };
                return Err(problem.error());
            }
        };
        let told: Value = response.json().await.unwrap_or_default();
        let token = told["access_token"].as_str().ok_or_else(|| {
            ModelError::unavailable("Google gave the service account no access token")
        })?;
        let seconds = told["expires_in"].as_i64().unwrap_or(TOKEN_LIFETIME_S);
        let seconds = seconds.clamp(0, TOKEN_LIFETIME_S);
        Ok((Secret::new(token), SignedDuration::from_secs(seconds)))
    }

    /// Creates the signed assertion that identifies the account.
    fn assertion(&self, now: Timestamp) -> Result<String, ModelError> {
        let part = |value: Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let header = part(json!({"alg": "RS256", "typ": "JWT", "kid": self.key_id}));
        let claims = part(json!({
            "iss": self.email,
            "scope": SCOPE,
            "aud": self.token_uri,
            "iat": now.as_second(),
            "exp": now.as_second() + TOKEN_LIFETIME_S,
        }));
        let told = format!("{header}.{claims}");
        let mut signature = vec![0; self.key.public().modulus_len()];
        let random = SystemRandom::new();
        self.key
            .sign(&RSA_PKCS1_SHA256, &random, told.as_bytes(), &mut signature)
            // The error gives no reason.
            .map_err(|_unspecified| {
                ModelError::Rejected("the service account's key cannot sign".to_owned())
            })?;
        let signature = BASE64_URL_SAFE_NO_PAD.encode(signature);
        Ok(format!("{told}.{signature}"))
    }
}

impl Credentials {
    pub(crate) async fn token(&self, client: &reqwest::Client) -> Result<Secret, ModelError> {
        match self {
            Self::Token(token) => Ok(token.clone()),
            Self::Account(account) => account.token(client).await,
        }
    }

    /// Returns the secrets that must not appear in any message, as far as they are known before the next request.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        match self {
            Self::Token(token) => vec![token.clone()],
            Self::Account(account) => {
                let kept = account.token.try_lock().ok();
                let token = kept.and_then(|kept| kept.as_ref().map(|(token, _)| token.clone()));
                token.into_iter().collect()
            }
        }
    }
}
