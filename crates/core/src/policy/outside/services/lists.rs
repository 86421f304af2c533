//! Programs whose subcommands act outside of the sandbox.

/// Programs with the subcommands that act outside.
pub(super) const ACTS: [(&str, &[&str]); 28] = [
    (
        "npm",
        &[
            "publish",
            "unpublish",
            "deprecate",
            "dist-tag",
            "owner",
            "access",
            "login",
            "star",
        ],
    ),
    ("pnpm", &["publish", "unpublish", "deprecate", "login"]),
    ("yarn", &["publish", "npm publish", "npm tag", "login"]),
    ("bun", &["publish"]),
    ("deno", &["publish", "deploy"]),
    ("cargo", &["publish", "yank", "owner", "login"]),
    ("twine", &["upload", "register"]),
    ("poetry", &["publish"]),
    ("uv", &["publish"]),
    ("flit", &["publish"]),
    ("hatch", &["publish"]),
    ("gem", &["push", "yank", "owner"]),
    ("mvn", &["deploy", "deploy:deploy", "release:perform"]),
    ("mvnw", &["deploy", "deploy:deploy", "release:perform"]),
    ("gradle", &["publish"]),
    ("gradlew", &["publish"]),
    ("docker-compose", &["push"]),
    ("dotnet", &["nuget push", "nuget delete"]),
    (
        "docker",
        &[
            "push",
            "login",
            "image push",
            "compose push",
            "manifest push",
        ],
    ),
    ("podman", &["push", "login", "image push", "manifest push"]),
    ("buildah", &["push", "login"]),
    ("skopeo", &["copy", "sync", "delete", "login"]),
    ("crane", &["push", "copy", "delete", "tag"]),
    (
        "helm",
        &[
            "install",
            "upgrade",
            "uninstall",
            "rollback",
            "push",
            "delete",
        ],
    ),
    (
        "terraform",
        &["apply", "destroy", "import", "taint", "untaint", "state"],
    ),
    (
        "tofu",
        &["apply", "destroy", "import", "taint", "untaint", "state"],
    ),
    (
        "pulumi",
        &["up", "update", "destroy", "import", "cancel", "refresh"],
    ),
    ("hg", &["push"]),
];

/// Programs whose operands are all goals: `mvn clean deploy`, `gradle :lib:publish`.
pub(super) const OF_GOALS: [&str; 4] = ["mvn", "mvnw", "gradle", "gradlew"];

/// Programs that act outside, unless the first word of their operands that says something only looks.
pub(super) const CLIENTS: [&str; 21] = [
    "gh",
    "glab",
    "hub",
    "gcloud",
    "az",
    "doctl",
    "oci",
    "ibmcloud",
    "hcloud",
    "linode-cli",
    "vercel",
    "netlify",
    "fly",
    "flyctl",
    "heroku",
    "firebase",
    "wrangler",
    "railway",
    "cdk",
    "serverless",
    "stripe",
];
/// Words of clients that change something.
pub(super) const ACT_WORDS: [&str; 31] = [
    "add", "apply", "cancel", "copy", "cp", "create", "delete", "deploy", "destroy", "disable",
    "edit", "enable", "exec", "import", "merge", "move", "mv", "put", "remove", "rerun", "restart",
    "rm", "rsync", "run", "scale", "send", "set", "start", "stop", "update", "upload",
];
/// Words of clients that only look.
pub(super) const LOOK_WORDS: [&str; 23] = [
    "list", "ls", "view", "show", "status", "describe", "get", "diff", "checks", "checkout",
    "clone", "download", "watch", "search", "browse", "help", "info", "logs", "log", "whoami",
    "synth", "init", "ps",
];
/// Words of clients that only look unless another word changes something: most are names as well.
pub(super) const WEAK_LOOK_WORDS: [&str; 6] = [
    "dev",
    "build",
    "serve",
    "token",
    "version",
    "emulators:start",
];
/// First words of clients for their own settings on this computer.
pub(super) const OWN_WORDS: [&str; 4] = ["config", "alias", "account", "completion"];

/// The words of `kubectl` and `oc` that only look.
pub(super) const KUBE_WORDS: [&str; 20] = [
    "get",
    "describe",
    "logs",
    "explain",
    "version",
    "config",
    "api-resources",
    "api-versions",
    "cluster-info",
    "top",
    "diff",
    "auth",
    "wait",
    "completion",
    "options",
    "help",
    "kustomize",
    "port-forward",
    "rollout status",
    "rollout history",
];

/// Programs of other shapes, with the words that only look: options wherever they are, or the first operand.
pub(super) const LOOKS: [(&str, &[&str]); 4] = [
    ("ansible", &["--check", "--list-hosts"]),
    (
        "ansible-playbook",
        &["--check", "--syntax-check", "--list-tasks", "--list-hosts"],
    ),
    ("s3cmd", &["ls", "info", "du", "get"]),
    ("surge", &["list", "whoami", "login", "token"]),
];
