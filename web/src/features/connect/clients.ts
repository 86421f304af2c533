/**
 * The configurations of MCP clients. `docs/guide/mcp.md` shows the same ones, and a test compares the two.
 *
 * A configuration without a token refers to `DESKHAND_TOKEN`, in the way in which its client reads the environment.
 */

/** A client may wait up to 300 s for news of an agent. Some give up sooner by themselves. */
const LONGEST_CALL_SECONDS = 330;

/** The groups of tools that a client can be offered. The first one is offered to those that choose none. */
export const TOOL_GROUPS = [
  { id: "agent", name: "Agents", about: "Start agents, wait for them, answer their questions" },
  { id: "computer", name: "Computer", about: "Use mouse, keyboard and screen of a desktop" },
  { id: "browser", name: "Browser", about: "Open pages, read them, fill in forms" },
  { id: "shell", name: "Shell", about: "Run commands on a desktop" },
  { id: "file", name: "Files", about: "Read and write files of a desktop" },
] as const;

export type ToolGroup = (typeof TOOL_GROUPS)[number]["id"];

/**
 * The way to the server: HTTP, the command `deskhand mcp` on the machine of the server, or the command on another
 * machine, which uses HTTP itself.
 */
export type Way = "http" | "local" | "remote";

export interface Connection {
  way: Way;
  /** The address of the server, such as `https://desk.example`. */
  server: string;
  token: string | null;
  tools: readonly ToolGroup[];
}

export interface McpClient {
  id: string;
  name: string;
  /** A file, or null if `configure` returns a command for a terminal. */
  file: string | null;
  /** True if the client asks for the token, and the configuration never has it. */
  asksForToken?: true;
  /** Anything to know besides the configuration. */
  note?: (connection: Connection) => string | null;
  configure: (connection: Connection) => string;
}

export const CLIENTS: readonly [McpClient, ...McpClient[]] = [
  {
    id: "claude-code",
    name: "Claude Code",
    file: null,
    configure: (to) => {
      const token = to.token ?? "$DESKHAND_TOKEN";
      if (to.way === "http") {
        const header = `--header "Authorization: Bearer ${token}"`;
        return `claude mcp add --transport http deskhand ${shellWord(mcpUrl(to))} ${header}`;
      }
      const env = to.way === "remote" ? ` --env DESKHAND_TOKEN=${token}` : "";
      return `claude mcp add --transport stdio deskhand${env} -- ${command(to).join(" ")}`;
    },
  },
  {
    id: "codex",
    name: "Codex",
    file: "~/.codex/config.toml",
    configure: (to) => {
      const [program, ...args] = command(to);
      const http = [
        `url = "${mcpUrl(to)}"`,
        to.token === null
          ? 'bearer_token_env_var = "DESKHAND_TOKEN"'
          : `http_headers = { Authorization = "Bearer ${to.token}" }`,
      ];
      const stdio = [`command = "${program}"`, `args = ${list(args)}`];
      if (to.way === "remote") {
        stdio.push(to.token === null ? 'env_vars = ["DESKHAND_TOKEN"]' : `env = { DESKHAND_TOKEN = "${to.token}" }`);
      }
      const lines = [...(to.way === "http" ? http : stdio), `tool_timeout_sec = ${LONGEST_CALL_SECONDS}`];
      return ["[mcp_servers.deskhand]", ...lines].join("\n");
    },
  },
  {
    id: "cursor",
    name: "Cursor",
    file: "~/.cursor/mcp.json",
    configure: (to) => json({ mcpServers: { deskhand: usual(to, "${env:DESKHAND_TOKEN}") } }),
  },
  {
    id: "vs-code",
    name: "VS Code",
    file: ".vscode/mcp.json",
    asksForToken: true,
    note: ({ way }) =>
      way === "local" ? null : "VS Code asks for the token when it connects, and keeps it out of the file. Paste it there.",
    configure: (to) => {
      const input = { type: "promptString", id: "deskhand", description: "Deskhand token", password: true };
      const type = to.way === "http" ? "http" : "stdio";
      // The file is a part of the project, and others may read it.
      const server = { type, ...usual({ ...to, token: null }, "${input:deskhand}") };
      return json({ ...(to.way === "local" ? {} : { inputs: [input] }), servers: { deskhand: server } });
    },
  },
  {
    id: "opencode",
    name: "OpenCode",
    file: "opencode.json",
    configure: (to) => {
      const token = to.token ?? "{env:DESKHAND_TOKEN}";
      const http = { type: "remote", url: mcpUrl(to), headers: bearer(token) };
      const stdio = { type: "local", command: command(to) };
      const environment = to.way === "remote" ? { environment: { DESKHAND_TOKEN: token } } : {};
      const server = to.way === "http" ? http : { ...stdio, ...environment };
      return json({ mcp: { deskhand: { ...server, enabled: true, timeout: LONGEST_CALL_SECONDS * 1000 } } });
    },
  },
  {
    id: "other",
    name: "Another client",
    file: "the settings of your client",
    note: ({ way }) =>
      way === "http"
        ? "Most clients read this form. Otherwise enter the address and the header where your client asks for them."
        : "Most clients read this form. Otherwise enter the command and its arguments where your client asks for them.",
    configure: (to) => {
      const type = to.way === "http" ? { type: "http" } : {};
      return json({ mcpServers: { deskhand: { ...type, ...usual(to, "YOUR_TOKEN") } } });
    },
  },
];

/** Returns the address that a client connects to. */
export function mcpUrl({ server, tools }: Pick<Connection, "server" | "tools">): string {
  const chosen = chosenTools(tools);
  return `${server}/mcp${chosen === null ? "" : `?tools=${chosen}`}`;
}

/** Returns the command that a client starts. */
function command({ way, server, tools }: Connection): string[] {
  const chosen = chosenTools(tools);
  return [
    "deskhand",
    "mcp",
    ...(way === "remote" ? ["--server", server] : []),
    ...(chosen === null ? [] : ["--tools", chosen]),
  ];
}

/** Returns the groups in their usual order, or null if they need not be named. */
function chosenTools(tools: readonly ToolGroup[]): string | null {
  const ids = TOOL_GROUPS.map(({ id }) => id).filter((id) => tools.includes(id));
  return ids.length === 0 || ids.join() === TOOL_GROUPS[0].id ? null : ids.join(",");
}

/** Returns a server in the form that most clients share. `variable` is the client's reference to a token. */
function usual(to: Connection, variable: string) {
  const token = to.token ?? variable;
  if (to.way === "http") return { url: mcpUrl(to), headers: bearer(token) };
  const [program, ...args] = command(to);
  return { command: program, args, ...(to.way === "remote" ? { env: { DESKHAND_TOKEN: token } } : {}) };
}

function bearer(token: string) {
  return { Authorization: `Bearer ${token}` };
}

/** Quotes an address with a query, in which a shell would see a pattern. */
function shellWord(text: string): string {
  return text.includes("?") ? `"${text}"` : text;
}

function list(words: readonly string[]): string {
  return `[${words.map((word) => JSON.stringify(word)).join(", ")}]`;
}

/** Writes JSON with lists of words on one line. */
function json(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/\[\s+("[^[\]{}]*")\s+\]/g, (_, words: string) =>
    `[${words.replaceAll(/,\s+/g, ", ")}]`,
  );
}
