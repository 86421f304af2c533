//! Which vendors are set up, and what is said about those that are not.

use std::collections::BTreeMap;

use deskhand_core::{
    action::{Point, ScreenSize},
    model::{Models, Pictures, Price, PriceSource},
    secret::Secret,
};
use deskhand_models::{AccountSettings, ConfiguredModels, ModelSettings};
use insta::assert_snapshot;

const SCREEN: ScreenSize = ScreenSize {
    width: 2560,
    height: 1600,
};

/// As with these environment variables.
fn models(variables: &[(&str, &str)]) -> ConfiguredModels {
    let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
    let settings = ModelSettings::default();
    let settings =
        settings.or_from_environment(|name| variables.get(name).map(|&value| value.to_owned()));
    ConfiguredModels::new(settings).unwrap()
}

fn refusal(models: &ConfiguredModels, name: &str) -> String {
    models.model(name).unwrap_err().to_string()
}

#[test]
fn the_default_is_the_best_of_the_first_vendor_that_is_set_up() {
    let default = |variables: &[_]| models(variables).default_model();
    assert_eq!(default(&[]), "scripted/demo");
    assert_eq!(default(&[("ANTHROPIC_API_KEY", " ")]), "scripted/demo");
    assert_eq!(
        default(&[("GEMINI_API_KEY", "k"), ("OPENAI_API_KEY", "k")]),
        "openai/gpt-6.1-terra"
    );
    assert_eq!(
        default(&[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")]),
        "anthropic/claude-opus-5-5"
    );
    assert_eq!(
        default(&[("GOOGLE_API_KEY", "k")]),
        "gemini/gemini-3.8-flash"
    );
    let settings = ModelSettings {
        default_model: Some("ollama/qwen3-vl".to_owned()),
        ..ModelSettings::default()
    };
    let models = ConfiguredModels::new(settings).unwrap();
    assert_eq!(models.default_model(), "ollama/qwen3-vl");
}

#[test]
fn what_is_missing_is_told_with_the_variable_that_is_to_be_set() {
    let models = models(&[]);
    assert_snapshot!(refusal(&models, "anthropic/claude-opus-5-5"), @r#"there is no model "anthropic/claude-opus-5-5": anthropic is not set up: set ANTHROPIC_API_KEY to use it"#);
    assert_snapshot!(refusal(&models, "openrouter/x"), @r#"there is no model "openrouter/x": openrouter is not set up: set OPENROUTER_API_KEY to use it"#);
    assert_snapshot!(refusal(&models, "vllm/x"), @r#"there is no model "vllm/x": vllm is not set up: set VLLM_BASE_URL to use it"#);
    assert_snapshot!(refusal(&models, "ollama/"), @r#"there is no model "ollama/": the name of the model is missing after ollama/"#);
    assert_snapshot!(refusal(&models, "acme/x"), @r#"there is no model "acme/x": no vendor "acme" is set up; vendors that are set up: ollama; there is scripted/demo; more scenarios need a scenario folder in the configuration"#);
}

#[test]
fn usable_models_are_listed_first_and_the_others_say_why_not() {
    let listed = models(&[("OPENAI_API_KEY", "k")]).list();
    assert_eq!(listed[0].name, "openai/gpt-6.1-terra");
    assert_eq!(listed[0].problem, None);
    assert_eq!(listed[0].price.map(|price| price.output), Some(5.0));
    let n_usable = listed
        .iter()
        .filter(|model| model.problem.is_none())
        .count();
    assert!(
        listed[..n_usable]
            .iter()
            .all(|model| model.problem.is_none())
    );
    let names: Vec<&str> = listed[..n_usable]
        .iter()
        .map(|model| model.name.as_str())
        .collect();
    assert!(names.contains(&"scripted/demo"), "{names:?}");
    let claude = listed
        .iter()
        .find(|model| model.name == "anthropic/claude-opus-5-5")
        .unwrap();
    assert_eq!(
        claude.problem.as_deref(),
        Some("set ANTHROPIC_API_KEY to use it")
    );
}

#[test]
fn names_that_nobody_knows_cost_as_much_as_their_family_or_nobody_knows() {
    let models = models(&[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")]);
    assert!(
        models
            .model("anthropic/claude-opus-5-5")
            .unwrap()
            .price()
            .is_some()
    );
    let next = models.model("anthropic/claude-next").unwrap();
    assert!(next.price().unwrap().is_guessed() && !next.has_unknown_price());
    let other = models.model("openai/gpt-7-pro").unwrap();
    assert!(other.price().is_none() && other.has_unknown_price());
    assert_eq!(models.model("ollama/a/b:c").unwrap().price(), None);
}

#[test]
fn each_model_says_what_it_is_shown_and_how_it_names_places() {
    let models = models(&[("ANTHROPIC_API_KEY", "k"), ("GEMINI_API_KEY", "k")]);
    let last = Point { x: 2559, y: 1599 };
    let sharp = models.model("anthropic/claude-opus-5-5").unwrap();
    let size = |width, height| ScreenSize { width, height };
    assert_eq!(sharp.shown(SCREEN), size(2000, 1250));
    assert_eq!(sharp.place(last, SCREEN), Point { x: 1999, y: 1249 });
    assert_eq!(sharp.pictures(), Pictures::All);
    let standard = models.model("anthropic/claude-sonnet-4-5").unwrap();
    assert_eq!(standard.shown(SCREEN), size(1389, 868));
    assert_eq!(standard.pictures(), Pictures::Newest);
    let gemini = models.model("gemini/gemini-3.8-flash").unwrap();
    assert_eq!(gemini.place(last, SCREEN), Point { x: 999, y: 999 });
}

#[test]
fn settings_that_cannot_be_meant_are_refused() {
    let told = |name: &str, base_url: Option<&str>| {
        let account = AccountSettings {
            key: Some(Secret::new("canary")),
            base_url: base_url.map(str::to_owned),
            ..AccountSettings::default()
        };
        let settings = ModelSettings {
            compatible: BTreeMap::from([(name.to_owned(), account)]),
            ..ModelSettings::default()
        };
        ConfiguredModels::new(settings).unwrap_err().to_string()
    };
    assert_snapshot!(told("Acme", Some("http://a.b")), @r#"a vendor cannot be named "Acme": use a-z, 0-9 and -, beginning with a letter, and a name that is not taken"#);
    assert_snapshot!(told("openai", Some("http://a.b")), @r#"a vendor cannot be named "openai": use a-z, 0-9 and -, beginning with a letter, and a name that is not taken"#);
    assert_snapshot!(told("scripted", Some("http://a.b")), @r#"a vendor cannot be named "scripted": use a-z, 0-9 and -, beginning with a letter, and a name that is not taken"#);
    assert_snapshot!(told("acme", None), @"the vendor acme has no address: set its base URL");
    assert_snapshot!(told("ollama", Some("127.0.0.1:11434")), @r#"ollama cannot be at "127.0.0.1:11434": write http:// or https://, a host and a path"#);
}

#[test]
fn pictures_of_anthropics_models_are_small_enough_however_many_there_are() {
    let models = models(&[("ANTHROPIC_API_KEY", "k")]);
    let listed = models.list().into_iter().map(|model| model.name);
    let names: Vec<String> = listed
        .filter(|name| name.starts_with("anthropic/"))
        .collect();
    assert!(names.len() > 5, "{names:?}");
    for (width, height) in [
        (1024, 768),
        (2560, 1600),
        (3840, 2160),
        (2160, 3840),
        (8000, 600),
    ] {
        for name in &names {
            let shown = models
                .model(name)
                .unwrap()
                .shown(ScreenSize { width, height });
            assert!(shown.width.max(shown.height) <= 2000, "{name}: {shown}");
        }
    }
}

#[test]
fn a_price_of_the_settings_counts_before_all_others_and_is_listed() {
    let price = Price {
        input: 3.0,
        cache_write: 3.0,
        cache_read: 3.0,
        output: 15.0,
        long: None,
        source: PriceSource::Set,
    };
    let names = ["openrouter/some/model", "anthropic/claude-opus-5-5"];
    let settings = ModelSettings {
        prices: names.map(|name| (name.to_owned(), price)).into(),
        ..ModelSettings::default()
    };
    let settings = settings.or_from_environment(|name| {
        ["OPENROUTER_API_KEY", "ANTHROPIC_API_KEY"]
            .contains(&name)
            .then(|| "k".to_owned())
    });
    let models = ConfiguredModels::new(settings).unwrap();
    for name in names {
        let model = models.model(name).unwrap();
        assert_eq!(model.price(), Some(price));
        assert!(!model.has_unknown_price());
        let listed = models.list();
        let found: Vec<_> = listed.iter().filter(|model| model.name == name).collect();
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(found[0].price, Some(price));
    }
    let other = models.model("openrouter/other").unwrap();
    assert!(other.has_unknown_price());
}
