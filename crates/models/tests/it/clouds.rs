//! Anthropic's models where Amazon and Google have them.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use deskhand_core::model::{Item, Models, UnknownModel};
use ring::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde_json::{Value, json};

use crate::{
    fixtures::prompt,
    server::{Reply, Server},
    wire::{KEY, Wire},
};

const TOOLSET: &str = include_str!("streams/anthropic_toolset.sse");
const PRIVATE_KEY: &str = include_str!("key_for_tests_only.pem");
const BEDROCK: &str = "bedrock/anthropic.claude-opus-5";
const VERTEX: &str = "vertex/claude-opus-5";

fn ask() -> Vec<Item> {
    vec![prompt("Order a fern.")]
}

#[tokio::test]
async fn amazon_is_asked_with_a_token() {
    let variables = [
        ("AWS_REGION", "eu-west-1"),
        ("AWS_BEARER_TOKEN_BEDROCK", KEY),
        ("ANTHROPIC_BEDROCK_BASE_URL", "HERE/anthropic"),
    ];
    let wire = Wire::with([Reply::stream(TOOLSET)], &variables).await;
    assert_eq!(wire.heard(BEDROCK, &ask()).await.calls.len(), 4);
    let asked = &wire.asked()[0];
    assert_eq!(asked.path, "/anthropic/v1/messages");
    assert_eq!(asked.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(asked.headers["anthropic-version"], "2023-06-01");
    assert_eq!(asked.body["model"], "anthropic.claude-opus-5");
    assert_eq!(asked.body["tools"][0]["type"], "computer_toolset_20260801");
}

#[tokio::test]
async fn amazon_is_asked_with_a_signature_and_keys_are_in_no_message() {
    let variables = [
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "secret-canary"),
        ("AWS_SESSION_TOKEN", "session-canary"),
        ("ANTHROPIC_BEDROCK_BASE_URL", "HERE/anthropic"),
    ];
    let told = json!({"message": "AKIDEXAMPLE, secret-canary and session-canary are no good"});
    let wire = Wire::with([Reply::refusal(403, &told)], &variables).await;
    let told = wire.error(BEDROCK, &ask()).await.to_string();
    assert_eq!(told, format!("{BEDROCK}: ***, *** and *** are no good"));
    let asked = &wire.asked()[0];
    let authorization = &asked.headers["authorization"];
    let day = &asked.headers["x-amz-date"][..8];
    let expected = format!(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/{day}/eu-west-1/bedrock-mantle/aws4_request, \
         SignedHeaders=host;x-amz-date;x-amz-security-token, Signature="
    );
    assert!(authorization.starts_with(&expected), "{authorization}");
    assert_eq!(asked.headers["x-amz-security-token"], "session-canary");
}

#[tokio::test]
async fn google_is_asked_with_a_token_that_is_asked_for_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("account.json");
    let path_text = path.to_str().unwrap().to_owned();
    let token = json!({"access_token": KEY, "expires_in": 3600, "token_type": "Bearer"});
    let replies = [Reply::refusal(200, &token), Reply::stream(TOOLSET)];
    let server = Server::start(replies).await;
    let account = json!({
        "type": "service_account",
        "client_email": "desk@example.org",
        "private_key_id": "key-1",
        "private_key": PRIVATE_KEY,
        "token_uri": format!("{}/token", server.address),
    });
    std::fs::write(&path, account.to_string()).unwrap();
    let base_url = format!("{}/v1", server.address);
    let variables = [
        ("ANTHROPIC_VERTEX_PROJECT_ID", "garden"),
        ("CLOUD_ML_REGION", "global"),
        ("GOOGLE_APPLICATION_CREDENTIALS", &*path_text),
        ("ANTHROPIC_VERTEX_BASE_URL", &*base_url),
    ];
    let wire = Wire::at(server, &variables);
    for _ in 0..2 {
        assert_eq!(wire.heard(VERTEX, &ask()).await.calls.len(), 4);
    }
    let asked = wire.asked();
    let paths: Vec<&str> = asked.iter().map(|asked| asked.path.as_str()).collect();
    let predict = "/v1/projects/garden/locations/global/publishers/anthropic/models/claude-opus-5:streamRawPredict";
    assert_eq!(paths, ["/token", predict, predict]);
    let claims = claims(&asked[0].text);
    assert_eq!(claims["iss"], "desk@example.org");
    assert_eq!(
        claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(),
        3600
    );
    assert_eq!(asked[1].headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(asked[1].body["anthropic_version"], "vertex-2023-10-16");
    assert_eq!(asked[1].body.get("model"), None);
}

/// What the account said of itself, once its signature was found to be its own.
fn claims(form: &str) -> Value {
    let (_, assertion) = form.split_once("&assertion=").unwrap();
    let (told, signature) = assertion.rsplit_once('.').unwrap();
    let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap();
    let key = PrivatePkcs8KeyDer::from_pem_slice(PRIVATE_KEY.as_bytes()).unwrap();
    let key = RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()).unwrap();
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public_key());
    public.verify(told.as_bytes(), &signature).unwrap();
    let (_, claims) = told.split_once('.').unwrap();
    let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).unwrap();
    serde_json::from_slice(&claims).unwrap()
}

#[tokio::test]
async fn what_is_missing_is_told() {
    let told = async |variables: &[(&str, &str)], model: &str| {
        let wire = Wire::with([Reply::stream("")], variables).await;
        let UnknownModel { reason, .. } = wire.models().model(model).unwrap_err();
        reason
    };
    insta::assert_snapshot!(told(&[], BEDROCK).await, @"bedrock is not set up: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, to use it");
    insta::assert_snapshot!(told(&[("AWS_BEARER_TOKEN_BEDROCK", "t")], BEDROCK).await, @"bedrock is not set up: set AWS_REGION to use it");
    insta::assert_snapshot!(told(&[], VERTEX).await, @"vertex is not set up: set ANTHROPIC_VERTEX_PROJECT_ID to use it");
    let project = ("ANTHROPIC_VERTEX_PROJECT_ID", "garden");
    let region = ("CLOUD_ML_REGION", "us");
    insta::assert_snapshot!(told(&[project, region], VERTEX).await, @"vertex is not set up: set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account's key to use it");
    let file = ("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/account.json");
    insta::assert_snapshot!(told(&[project, region, file], VERTEX).await, @"vertex is not set up: /nowhere/account.json is needed to use it, but it cannot be read: No such file or directory (os error 2)");
}
