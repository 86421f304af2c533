use super::*;

fn environment(variables: &[(&str, &str)]) -> Environment {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Environment(variables.iter().map(own).collect())
}

fn mistakes(flags: &Flags, environment: &Environment) -> String {
    load(flags, environment).unwrap_err().to_string()
}

#[test]
fn without_any_configuration_the_defaults_hold() {
    let loaded = load(&Flags::default(), &environment(&[("HOME", "/home/ada")])).unwrap();
    let config = loaded.config;
    assert_eq!(config.listen.to_string(), "127.0.0.1:7878");
    assert_eq!(
        config.data_dir,
        Path::new("/home/ada/.local/share/deskhand")
    );
    assert_eq!(
        config.models.scenario_dir,
        Some(config.data_dir.join("scenarios"))
    );
    assert_eq!(config.screen, ScreenSize::default());
    assert_eq!(config.viewport, deskhand_core::computer::USUAL_VIEWPORT);
    assert_eq!(config.sandbox.limits.memory_bytes, 4 << 30);
    assert!(!config.log.level_is_chosen);
}

#[test]
fn the_data_folder_follows_the_desktops_conventions() {
    let environment = environment(&[("HOME", "/home/ada"), ("XDG_DATA_HOME", "/data")]);
    let config = load(&Flags::default(), &environment).unwrap().config;
    assert_eq!(config.data_dir, Path::new("/data/deskhand"));
}

#[test]
fn flags_win_over_the_environment() {
    let flags = Flags {
        listen: Some("localhost:1".to_owned()),
        ..Flags::default()
    };
    let environment = environment(&[
        ("HOME", "/home/ada"),
        ("DESKHAND_LISTEN", "127.0.0.1:2"),
        ("DESKHAND_DATA_DIR", "~/desk"),
        ("DESKHAND_SCREEN_WIDTH", ""),
    ]);
    let config = load(&flags, &environment).unwrap().config;
    assert_eq!(config.listen.to_string(), "127.0.0.1:1");
    assert_eq!(config.data_dir, Path::new("/home/ada/desk"));
    assert_eq!(
        config.screen.width, 1024,
        "an empty variable counts as not set"
    );
}

#[test]
fn a_databases_password_is_never_shown() {
    let environment = environment(&[
        ("HOME", "/home/ada"),
        ("DESKHAND_DATABASE", "postgres://ada:hunter2@db/desk"),
    ]);
    let loaded = load(&Flags::default(), &environment).unwrap();
    let address = loaded.config.database.unwrap();
    assert_eq!(address.expose(), "postgres://ada:hunter2@db/desk");
    let shown = loaded.layers.to_string();
    assert!(shown.contains("postgres://ada@db/desk"), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn all_mistakes_are_told_together_and_by_key() {
    let flags = Flags {
        listen: Some("7878".to_owned()),
        ..Flags::default()
    };
    let environment = environment(&[
        ("DESKHAND_SCREEN_WIDTH", "10"),
        ("DESKHAND_SCREEN_HEIGHT", "tall"),
        ("DESKHAND_LOG_FORMAT", "xml"),
        ("DESKHAND_SETTLE_QUIET_MS", "5000"),
        ("DESKHAND_SANDBOX_CPUS", "0"),
        ("DESKHAND_PUBLIC_URL", "example.org"),
    ]);
    insta::assert_snapshot!(mistakes(&flags, &environment), @r#"
    there are 8 mistakes in the settings
      listen (--listen): must be an address and a port such as 127.0.0.1:7878, not "7878"
      data_dir (default): set a folder, since HOME is not set
      public_url (DESKHAND_PUBLIC_URL): must begin with http:// or https://, not "example.org"
      log.format (DESKHAND_LOG_FORMAT): must be "text" or "json", not "xml"
      screen.width (DESKHAND_SCREEN_WIDTH): must be from 320 to 7680, not 10
      screen.height (DESKHAND_SCREEN_HEIGHT): must be a whole number, not "tall"
      settle.quiet_ms (DESKHAND_SETTLE_QUIET_MS): must be at most settle.max_ms
      sandbox.cpus (DESKHAND_SANDBOX_CPUS): must be from 0.1 to 1024, not 0
    "#);
}

#[test]
fn only_a_variable_that_is_nearly_a_setting_is_refused() {
    let near = environment(&[("HOME", "/"), ("DESKHAND_SCREEN_WITDH", "800")]);
    insta::assert_snapshot!(mistakes(&Flags::default(), &near), @"
    there is a mistake in the settings
      DESKHAND_SCREEN_WITDH (environment): there is no such setting; did you mean DESKHAND_SCREEN_WIDTH?
    ");

    let far = environment(&[
        ("HOME", "/"),
        ("DESKHAND_PORT", "tcp://10.0.0.1:7878"),
        ("DESKHAND_SERVICE_HOST", "10.0.0.1"),
        ("DESKHAND_TOKEN", "dh_x"),
    ]);
    load(&Flags::default(), &far).unwrap();
}

#[test]
fn every_default_is_explained() {
    let text = include_str!("../config.default.toml");
    let mut before = "";
    for line in text.lines() {
        if line.contains(" = ") && !line.starts_with('#') {
            assert!(before.starts_with('#'), "nothing is said about {line}");
        }
        before = line;
    }
}

#[test]
fn every_setting_is_in_the_documentation() {
    let page = include_str!("../../../docs/operate/configuration.md");
    for key in Layers::defaults().unwrap().keys() {
        let row = format!("| `{key}` | `{}` |", layers::variable(key));
        assert!(
            page.contains(&row),
            "docs/operate/configuration.md has no row {row}"
        );
    }
}

#[test]
fn prices_are_read_by_the_name_of_a_model_and_mistakes_in_them_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    let flags = Flags {
        config: Some(path.clone()),
        ..Flags::default()
    };
    let home = environment(&[("HOME", "/")]);
    std::fs::write(
        &path,
        "[models.prices]\n\"openai/gpt-6.9-x\" = { input = 1, output = 4.5, cache_read = 0.1 }\n",
    )
    .unwrap();
    let Loaded { config, layers } = load(&flags, &home).unwrap();
    let price = config.models.prices["openai/gpt-6.9-x"];
    assert_eq!((price.input, price.output), (1.0, 4.5));
    assert_eq!((price.cache_write, price.cache_read), (1.0, 0.1));
    let shown = layers.to_string();
    assert!(
        shown.contains("\n[models.prices.\"openai/gpt-6.9-x\"]\n"),
        "{shown}"
    );
    toml::from_str::<toml::Table>(&shown).unwrap();

    std::fs::write(
        &path,
        "[models.prices]\n\"a/b\" = { input = -1, output = 1 }\n\"a/c\" = { input = 1, outptu = 1 }\n\
         \"d\" = { input = 1, output = 1 }\n\"a/e\" = 3\n\"a/f\" = { input = \"1\" }\n",
    )
    .unwrap();
    let told = mistakes(&flags, &home).replace(&path.display().to_string(), "FILE");
    insta::assert_snapshot!(told, @r#"
    there are 6 mistakes in the settings
      models.prices.a/b.input (FILE): must be from 0 to 10000, not -1
      models.prices.a/c.input (FILE): a price needs input and output, in US dollars for a million tokens
      models.prices.a/c.outptu (FILE): a price has input, output, cache_write and cache_read
      models.prices.d.input (FILE): must be below the name of a model, as vendor/name in quotes
      models.prices.a/e (FILE): must be a table with input and output
      models.prices.a/f.input (FILE): must be a number, not "1"
    "#);
}

#[test]
fn fuzz_settings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.toml");
    let flags = Flags {
        config: Some(path.clone()),
        ..Flags::default()
    };
    let environment = environment(&[("HOME", "/home/ada")]);
    let defaults = include_bytes!("../config.default.toml");
    let short = b"listen = '127.0.0.1:1'\n[screen]\nwidth = 800\n[log]\nlevel = 'info,x=debug'\n";
    deskhand_testkit::fuzz("settings", &[defaults, short], |input| {
        std::fs::write(&path, input).unwrap();
        if let Err(error) = load(&flags, &environment) {
            assert!(!error.to_string().is_empty());
        }
    });
}
