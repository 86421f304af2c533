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
      serve      Start the server and print a link to it
      run        Give the agent a task, watch it work, and print its answer
      attach     Open a terminal of a session's desktop in this terminal
      mcp        Offer agents to another program as MCP tools, over standard input and output
      jamie      Run the Discord bot, which streams web pages to voice channels, apart from the server
      login      Print a new link for signing in to the running server
      decisions  List the questions that agents ask you
      answer     Answer a question of an agent
      cp         Copy files and folders to and from the desktop of a session
      eval       Measure models on a suite of tasks, side by side
      models     List the models, their prices and what is missing to use them
      prompt     Print the instructions that a model gets before the conversation
      user       Add, list, limit and disable users
      token      Create, list and revoke tokens for your programs
      secret     Store, list and remove secrets, which agents use and never see
      audit      List who changed accounts, rights, tokens, secrets and limits
      network    List the hosts that programs in a session contacted or tried to, or change its network
      doctor     Check this machine and print how to fix what is missing
      config     Print the current settings and the source of each

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for all stored data [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]

    `deskhand serve` starts the server and prints a link to it. `deskhand doctor` checks what is missing on this machine.
    ");
}

#[test]
fn serve_explains_itself() {
    insta::assert_snapshot!(help(&["serve", "--help"]), @"
    Start the server and print a link to it

    Usage: deskhand serve [OPTIONS]

    Options:
          --listen <ADDRESS>  Address and port to listen on [env: DESKHAND_LISTEN] [default: 127.0.0.1:7878]
          --database <URL>    Database, such as postgres://USER:PASSWORD@HOST/NAME [env: DESKHAND_DATABASE] [default: a file in the data folder]
      -h, --help              Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for all stored data [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]
    ");
}

#[test]
fn run_explains_itself() {
    insta::assert_snapshot!(help(&["run", "--help"]), @"
    Give the agent a task, watch it work, and print its answer

    Usage: deskhand run [OPTIONS] <TEXT>

    Arguments:
      <TEXT>  Task for the agent

    Options:
          --model <MODEL>       Model to use, such as scripted/demo; `deskhand models` lists them
          --effort <EFFORT>     Effort that the model puts into thinking: low, medium or high
          --computer <KIND>     Kind of computer: desktop, or browser for one without a screen, which is lighter [default: desktop]
          --budget-usd <USD>    US dollars it may cost before the agent asks for more; 0 means no limit
          --budget-tokens <N>   Tokens it may use before the agent asks for more; 0 means no limit
          --yes-to-budgets <N>  Say yes by itself, up to N times, when the agent asks to go on beyond a budget, its steps or its time, or in circles
          --network <NETWORK>   Hosts that programs may contact: open, closed, or allow=HOST,HOST such as allow=pypi.org,*.example.com:443
          --attach <FILE>       File to attach to the task; can be repeated
          --mcp <NAME=SERVER>   MCP server whose tools the agent may use: NAME=URL or NAME=COMMAND, can be repeated
          --keep                Keep the session afterwards and print its address
          --json                Print every event as one line of JSON instead of steps and answer
          --server <URL>        Server to talk to, with its token in DESKHAND_TOKEN [default: the one that uses the data folder] [env: DESKHAND_SERVER]
      -h, --help                Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for all stored data [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]

    The answer goes to standard output, the steps to standard error. Exits with 0 when the agent is done, 1 when it failed, 130 on Ctrl-C.
    ");
}

#[test]
fn attach_explains_itself() {
    insta::assert_snapshot!(help(&["attach", "--help"]), @"
    Open a terminal of a session's desktop in this terminal

    Usage: deskhand attach [OPTIONS] <SESSION>

    Arguments:
      <SESSION>  Id of the session, from its address

    Options:
          --terminal <N>  Number of the terminal; 0 is the agent's shell, which can only be watched
          --new           Open a new terminal
          --read-only     Watch without typing
          --server <URL>  Server to talk to, with its token in DESKHAND_TOKEN [default: the one that uses the data folder] [env: DESKHAND_SERVER]
      -h, --help          Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for all stored data [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]

    Press Ctrl-] to detach and leave the terminal running. Without options, attaches to the newest running terminal, or opens one. Exits with the exit code of the terminal's shell when that ends.
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
          --data-dir <DIR>  Folder for all stored data [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]
    ");
}

#[test]
fn user_explains_itself() {
    insta::assert_snapshot!(help(&["user", "--help"]), @"
    Add, list, limit and disable users

    Usage: deskhand user [OPTIONS] <COMMAND>

    Commands:
      add      Create a user and print a link that signs them in once
      list     List all users with their roles
      disable  Sign a user out everywhere and keep them out
      enable   Let a disabled user sign in again
      limit    Set the limits of a user; the settings decide those that are not given
      link     Print a new link that signs a user in once

    Options:
          --server <URL>  Server to talk to, with its token in DESKHAND_TOKEN [default: the one that uses the data folder] [env: DESKHAND_SERVER]
      -h, --help          Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for all stored data [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]
    ");
}

#[test]
fn token_explains_itself() {
    insta::assert_snapshot!(help(&["token", "new", "--help"]), @"
    Create a token and print it

    Usage: deskhand token new [OPTIONS] <NAME>

    Arguments:
      <NAME>  Purpose of the token

    Options:
          --scope <SCOPE>  read, write (also use sessions), admin (also manage tokens and users) or metrics (only metrics) [default: write]
          --server <URL>   Server to talk to, with its token in DESKHAND_TOKEN [default: the one that uses the data folder] [env: DESKHAND_SERVER]
          --days <N>       Days until it expires [default: never]
      -h, --help           Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for all stored data [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]
    ");
}

#[test]
fn secret_explains_itself() {
    insta::assert_snapshot!(help(&["secret", "set", "--help"]), @"
    Store a secret; asks for its value, or reads it from standard input

    Usage: deskhand secret set [OPTIONS] --origin <ORIGIN> <NAME>

    Arguments:
      <NAME>  Name of the secret

    Options:
          --origin <ORIGIN>  Site where it may be used, such as https://example.com; can be repeated
          --server <URL>     Server to talk to, with its token in DESKHAND_TOKEN [default: the one that uses the data folder] [env: DESKHAND_SERVER]
          --header <HEADER>  For HTTP APIs: request header that may contain it, such as authorization; can be repeated
          --env <VARIABLE>   For HTTP APIs: environment variable in which programs find a stand-in, such as GITHUB_TOKEN
      -h, --help             Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for all stored data [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]
    ");
}

#[test]
fn doctor_explains_itself() {
    insta::assert_snapshot!(help(&["doctor", "--help"]), @"
    Check this machine and print how to fix what is missing

    Usage: deskhand doctor [OPTIONS]

    Options:
          --json  Print JSON
      -h, --help  Print help

    Settings:
          --config <FILE>   Settings file in TOML; `deskhand config` shows all settings [env: DESKHAND_CONFIG]
          --data-dir <DIR>  Folder for all stored data [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]
    ");
}

#[test]
fn the_version_is_told() {
    assert_eq!(
        help(&["--version"]),
        format!("deskhand {}\n", env!("CARGO_PKG_VERSION"))
    );
}
