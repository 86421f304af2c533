//! Settings, from the defaults to the flags.

use crate::program::Place;

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "the whole list of settings is the point"
)]
fn without_configuration_the_defaults_are_in_force() {
    let place = Place::new();
    let ended = place.run(&["config"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    insta::assert_snapshot!(place.neutral(&ended.stdout), @r#"
    listen = "127.0.0.1:7878"                        # default
    data_dir = "HOME/.local/share/deskhand" # default
    database = ""                                    # default
    public_url = ""                                  # default
    allowed_hosts = ""                               # default
    allow_plain_http = false                         # default

    [connections]
    total = 2000                                     # default
    per_address = 200                                # default
    sockets_per_user = 100                           # default

    [log]
    level = "info"                                   # default
    format = "text"                                  # default

    [screen]
    width = 1024                                     # default
    height = 768                                     # default

    [viewport]
    width = 1280                                     # default
    height = 800                                     # default

    [settle]
    quiet_ms = 60                                    # default
    max_ms = 2000                                    # default

    [sandbox]
    provider = "local"                               # default
    bubblewrap = "bwrap"                             # default
    start_timeout_ms = 20000                         # default
    memory_mib = 4096                                # default
    cpus = 2.0                                       # default
    processes = 1024                                 # default
    file_size_mib = 4096                             # default
    disk_mib = 10240                                 # default
    disk_files = 500000                              # default
    disk_quota = "auto"                              # default
    reserve_mib = 1024                               # default
    require_limits = "auto"                          # default
    shell_output_kib = 20                            # default
    browser_scripts = "refuse"                       # default

    [turn]
    max_steps = 50                                   # default
    max_minutes = 30                                 # default
    max_answer_seconds = 600                         # default
    kept_images = 3                                  # default
    pruned_images = 10                               # default
    queue_length = 20                                # default

    [prompt]
    file = ""                                        # default

    [limits]
    awake_sessions = 5                               # default
    sessions_per_day = 50                            # default
    idle_seconds = 900                               # default
    life_seconds = 86400                             # default

    [retention]
    ended_days = 0                                   # default

    [budget]
    session_usd = 5.0                                # default
    session_tokens = 0                               # default
    day_usd = 50.0                                   # default
    day_tokens = 0                                   # default

    [rate]
    requests_per_second = 500                        # default
    sign_ins_per_minute = 60                         # default
    wrong_tokens_per_minute = 300                    # default

    [gateway]
    enabled = true                                   # default

    [network]
    default = "open"                                 # default
    ceiling = "open"                                 # default
    allow = ""                                       # default
    while_idle = false                               # default
    connections = 512                                # default
    session_mib = 0                                  # default
    connect_seconds = 20                             # default
    ask_seconds = 120                                # default
    proxy = ""                                       # default

    [apps]
    domain = ""                                      # default
    code_server = "/opt/deskhand-code"               # default

    [mcp]
    tools = "agent"                                  # default

    [jamie]
    token = ""                                       # default
    controller = false                               # default
    public_url = ""                                  # default
    owner = ""                                       # default
    streams = 1                                      # default
    model = ""                                       # default
    budget_usd = 2.0                                 # default
    max_steps = 50                                   # default
    block = ""                                       # default
    start_seconds = 120                              # default
    max_hours = 6                                    # default
    webhook_key = ""                                 # default
    private_webhooks = false                         # default
    activity = false                                 # default
    client_id = ""                                   # default
    client_secret = ""                               # default
    api_url = "https://discord.com"                  # default
    gateway_url = "wss://gateway.discord.gg"         # default
    last_mile = "watch"                              # default

    [jamie.share]
    although_discord_forbids_it = false              # default
    email_secret = ""                                # default
    password_secret = ""                             # default
    client_url = "https://discord.com"               # default

    [secrets]
    key_file = "HOME/.local/share/deskhand/secrets.key" # default

    [models]
    scenarios_dir = "HOME/.local/share/deskhand/scenarios" # default
    default = ""                                     # default
    fallback = ""                                    # default
    effort = ""                                      # default

    [models.anthropic]
    api_key = ""                                     # default
    base_url = ""                                    # default

    [models.openai]
    api_key = ""                                     # default
    base_url = ""                                    # default
    browser_tool = "vendor"                          # default

    [models.gemini]
    api_key = ""                                     # default
    base_url = ""                                    # default

    [models.openrouter]
    api_key = ""                                     # default
    base_url = ""                                    # default
    browser_tool = "vendor"                          # default
    coordinates = "by_name"                          # default
    context_tokens = 0                               # default

    [models.ollama]
    api_key = ""                                     # default
    base_url = ""                                    # default
    browser_tool = "vendor"                          # default
    coordinates = "by_name"                          # default
    context_tokens = 0                               # default

    [models.vllm]
    api_key = ""                                     # default
    base_url = ""                                    # default
    browser_tool = "vendor"                          # default
    coordinates = "by_name"                          # default
    context_tokens = 0                               # default

    [models.litellm]
    api_key = ""                                     # default
    base_url = ""                                    # default
    browser_tool = "vendor"                          # default
    coordinates = "by_name"                          # default
    context_tokens = 0                               # default

    [models.bedrock]
    region = ""                                      # default
    base_url = ""                                    # default

    [models.vertex]
    project = ""                                     # default
    region = ""                                      # default
    service_account = ""                             # default
    base_url = ""                                    # default
    "#);
    assert!(
        !place.data_dir().exists(),
        "looking at settings makes nothing"
    );
}

#[test]
fn flags_win_over_the_environment_and_the_environment_over_the_file() {
    let place = Place::new()
        .with("DESKHAND_DATA_DIR", "/from/environment")
        .with("DESKHAND_SCREEN_HEIGHT", "900");
    let file = place.write(
        "desk.toml",
        "data_dir = '/from/file'\n[screen]\nwidth = 1280\nheight = 1024\n[sandbox]\ncpus = 4\n",
    );
    let ended = place.run(&["config", "--config", &file, "--data-dir", "/from/flag"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let shown = place.neutral(&ended.stdout);
    let changed: Vec<&str> = shown
        .lines()
        .filter(|line| !line.ends_with("# default"))
        .collect();
    insta::assert_snapshot!(changed.join("\n"), @r#"
    data_dir = "/from/flag"                          # --data-dir

    [connections]

    [log]

    [screen]
    width = 1280                                     # HOME/desk.toml
    height = 900                                     # DESKHAND_SCREEN_HEIGHT

    [viewport]

    [settle]

    [sandbox]
    cpus = 4.0                                       # HOME/desk.toml

    [turn]

    [prompt]

    [limits]

    [retention]

    [budget]

    [rate]

    [gateway]

    [network]

    [apps]

    [mcp]

    [jamie]

    [jamie.share]

    [secrets]

    [models]

    [models.anthropic]

    [models.openai]

    [models.gemini]

    [models.openrouter]

    [models.ollama]

    [models.vllm]

    [models.litellm]

    [models.bedrock]

    [models.vertex]
    "#);
}

#[test]
fn what_is_printed_is_a_file_that_gives_the_same() {
    let place = Place::new().with("DESKHAND_SCREEN_WIDTH", "1600");
    let printed = place.run(&["config"]).stdout;
    let file = place.write("printed.toml", &printed);
    let again = Place::new().run(&["config", "--config", &file]).stdout;
    let values = |text: &str| -> Vec<String> {
        let value = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
        text.lines().map(value).collect()
    };
    assert_eq!(values(&again), values(&printed));
}

#[test]
fn all_mistakes_are_told_together_by_key() {
    let place = Place::new().with("DESKHAND_TURN_MAX_STEPS", "many");
    let file = place.write(
        "desk.toml",
        "listen = 7878\nscren = 1\n[screen]\nwidht = 1\nheight = 1\n[log]\nlevel = 'loud=='\n",
    );
    let ended = place.run(&["serve", "--config", &file]);
    assert_eq!(ended.code, Some(2));
    insta::assert_snapshot!(place.neutral(&ended.stderr), @r#"
    deskhand: there are 6 mistakes in the settings
      listen (HOME/desk.toml): must be text in quotes, not 7878
      log.level (HOME/desk.toml): must be off, error, warn, info, debug or trace, or a filter such as info,deskhand_app=debug, not "loud=="
      screen.height (HOME/desk.toml): must be from 240 to 4320, not 1
      turn.max_steps (DESKHAND_TURN_MAX_STEPS): must be a whole number, not "many"
      scren (HOME/desk.toml): there is no such setting; `deskhand config` lists all
      screen.widht (HOME/desk.toml): there is no such setting; did you mean screen.width?
    "#);
}

#[test]
fn sharing_with_the_account_of_a_person_has_to_be_accepted_by_name() {
    let place = Place::new()
        .with("DESKHAND_JAMIE_LAST_MILE", "share")
        .with("DESKHAND_JAMIE_STREAMS", "2")
        .with("DESKHAND_JAMIE_SHARE_EMAIL_SECRET", "jamie@streams.example");
    let refused = place.run(&["config"]);
    assert_eq!(refused.code, Some(2));
    for part in [
        "jamie.last_mile",
        "which Discord forbids",
        "jamie.share.although_discord_forbids_it",
        "jamie.streams",
        "jamie.share.email_secret",
        "jamie.share.password_secret",
    ] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert!(!refused.stderr.contains("jamie@"), "{}", refused.stderr);
    let accepted = Place::new()
        .with("DESKHAND_JAMIE_LAST_MILE", "share")
        .with("DESKHAND_JAMIE_SHARE_ALTHOUGH_DISCORD_FORBIDS_IT", "true")
        .with("DESKHAND_JAMIE_SHARE_EMAIL_SECRET", "email")
        .with("DESKHAND_JAMIE_SHARE_PASSWORD_SECRET", "password");
    let ended = accepted.run(&["config"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn a_file_that_is_not_there_or_not_toml_is_named() {
    let place = Place::new();
    let missing = place.run(&["config", "--config", "nowhere.toml"]);
    assert_eq!(missing.code, Some(2));
    insta::assert_snapshot!(missing.stderr, @"deskhand: cannot read the settings file nowhere.toml: No such file or directory (os error 2)");

    let file = place.write("broken.toml", "listen = \n");
    let broken = place.run(&["config", "--config", &file]);
    assert_eq!(broken.code, Some(2));
    insta::assert_snapshot!(place.neutral(&broken.stderr), @"
    deskhand: HOME/broken.toml is not a settings file: TOML parse error at line 1, column 10
      |
    1 | listen = 
      |          ^
    string values must be quoted, expected literal string
    ");
}
