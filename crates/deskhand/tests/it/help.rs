//! What `--help` says.

use crate::program::Place;

fn help(args: &[&str]) -> String {
    let ended = Place::new().run(args);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout
}

#[test]
fn the_program_explains_itself() {
    insta::assert_snapshot!(help(&["--help"]), @"
    Gives an AI agent a computer of its own, and lets you watch it work

    Usage: deskhand [OPTIONS] <COMMAND>

    Commands:
      serve      Start the server and print where to look
      run        Give the agent a task, watch it work, and print its answer
      login      Print a new link for signing in to the running server
      decisions  Print what the agents ask you
      answer     Answer what an agent asks
      models     Print the models there are, what they cost and what is missing for them
      prompt     Print what a model is told before the conversation
      user       Add, list, limit and disable users
      token      Make, list and revoke tokens for your programs
      secret     Store, list and remove what agents may type and never see
      doctor     Check this machine part by part and say how to mend what is missing
      config     Print the settings in force and where each comes from

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for everything that is kept [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]

    `deskhand serve` starts the server and prints where to look. `deskhand doctor` says what is missing on this machine.
    ");
}

#[test]
fn serve_explains_itself() {
    insta::assert_snapshot!(help(&["serve", "--help"]), @"
    Start the server and print where to look

    Usage: deskhand serve [OPTIONS]

    Options:
          --listen <ADDRESS>  Address and port to listen on [env: DESKHAND_LISTEN] [default: 127.0.0.1:7878]
          --database <URL>    Database, such as postgres://USER:PASSWORD@HOST/NAME [env: DESKHAND_DATABASE] [default: a file in the data folder]
      -h, --help              Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for everything that is kept [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]
    ");
}

#[test]
fn run_explains_itself() {
    insta::assert_snapshot!(help(&["run", "--help"]), @"
    Give the agent a task, watch it work, and print its answer

    Usage: deskhand run [OPTIONS] <TEXT>

    Arguments:
      <TEXT>  What the agent should do

    Options:
          --model <MODEL>      Model to use, such as scripted/demo; `deskhand models` lists them
          --budget-usd <USD>   US dollars it may cost before it asks for more; 0 is as much as it takes
          --budget-tokens <N>  Tokens it may use before it asks for more; 0 is as many as it takes
          --keep               Keep the session afterwards and print where to look at it
          --json               Print every event as one line of JSON instead of steps and answer
          --server <URL>       Server to talk to, with its token in DESKHAND_TOKEN [default: the one that uses the data folder] [env: DESKHAND_SERVER]
      -h, --help               Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for everything that is kept [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]

    The answer goes to standard output, the steps to standard error. Exits with 0 when the agent is done, 1 when it failed, 130 on Ctrl-C.
    ");
}

#[test]
fn login_explains_itself() {
    insta::assert_snapshot!(help(&["login", "--help"]), @"
    Print a new link for signing in to the running server

    Usage: deskhand login [OPTIONS]

    Options:
          --server <URL>  Server to talk to, with its token in DESKHAND_TOKEN [default: the one that uses the data folder] [env: DESKHAND_SERVER]
      -h, --help          Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for everything that is kept [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]
    ");
}

#[test]
fn user_explains_itself() {
    insta::assert_snapshot!(help(&["user", "--help"]), @"
    Add, list, limit and disable users

    Usage: deskhand user [OPTIONS] <COMMAND>

    Commands:
      add      Make a user and print a link that signs them in once
      list     Print everybody with their role
      disable  Sign somebody out everywhere and keep them out
      enable   Let somebody in again who was disabled
      limit    Decide how much somebody may use; what is not given is left to the settings
      link     Print a new link that signs somebody in once

    Options:
          --server <URL>  Server to talk to, with its token in DESKHAND_TOKEN [default: the one that uses the data folder] [env: DESKHAND_SERVER]
      -h, --help          Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for everything that is kept [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]
    ");
}

#[test]
fn token_explains_itself() {
    insta::assert_snapshot!(help(&["token", "new", "--help"]), @"
    Make a token and print it

    Usage: deskhand token new [OPTIONS] <NAME>

    Arguments:
      <NAME>  What it is for

    Options:
          --scope <SCOPE>  read, write (sessions too), admin (tokens and users too) or metrics (nothing else) [default: write]
          --server <URL>   Server to talk to, with its token in DESKHAND_TOKEN [default: the one that uses the data folder] [env: DESKHAND_SERVER]
          --days <N>       Days until it ends [default: never]
      -h, --help           Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for everything that is kept [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]
    ");
}

#[test]
fn secret_explains_itself() {
    insta::assert_snapshot!(help(&["secret", "set", "--help"]), @"
    Store a secret; its value is asked for, or read from standard input

    Usage: deskhand secret set [OPTIONS] --origin <ORIGIN> <NAME>

    Arguments:
      <NAME>  

    Options:
          --origin <ORIGIN>  Where it may be typed, such as https://example.com; may be given several times
          --server <URL>     Server to talk to, with its token in DESKHAND_TOKEN [default: the one that uses the data folder] [env: DESKHAND_SERVER]
      -h, --help             Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for everything that is kept [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]
    ");
}

#[test]
fn doctor_explains_itself() {
    insta::assert_snapshot!(help(&["doctor", "--help"]), @"
    Check this machine part by part and say how to mend what is missing

    Usage: deskhand doctor [OPTIONS]

    Options:
          --json  Print JSON
      -h, --help  Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for everything that is kept [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]
    ");
}

#[test]
fn the_version_is_told() {
    assert_eq!(
        help(&["--version"]),
        format!("deskhand {}\n", env!("CARGO_PKG_VERSION"))
    );
}
