import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { CLIENTS, type Connection, type McpClient } from "./clients";

const GUIDE = readFileSync(join(import.meta.dirname, "../../../../docs/guide/mcp.md"), "utf8");

const HTTP: Connection = { way: "http", server: "http://localhost:7878", token: null, tools: ["agent"] };
const LOCAL: Connection = { ...HTTP, way: "local" };
const REMOTE: Connection = { ...HTTP, way: "remote", token: "dh_secret" };

function client(id: string): McpClient {
  const found = CLIENTS.find((one) => one.id === id);
  if (!found) throw new Error(`no client ${id}`);
  return found;
}

/** Returns the blocks of code that the guide shows for a client. */
function shownInGuide({ name }: McpClient): unknown[] {
  const [, part = ""] = GUIDE.split(`\n**${name}**`);
  const [own = ""] = part.split(/\n\*\*|\n## /);
  const blocks = [...own.matchAll(/```(\w+)\n([\s\S]*?)```/g)];
  return blocks.flatMap(([, language, text = ""]) => {
    if (language === "json") return [JSON.parse(text)];
    return language === "sh" ? text.trim().split("\n") : [text.trim()];
  });
}

/** Reads JSON, so that its line breaks do not matter. */
function read(text: string): unknown {
  return text.startsWith("{") ? JSON.parse(text) : text;
}

describe("the guide and the page", () => {
  const named = CLIENTS.filter(({ id }) => id !== "other");
  it.each(named.map((one) => [one.name, one] as const))("show the same for %s", (_, one) => {
    expect(shownInGuide(one)).toEqual([read(one.configure(LOCAL)), read(one.configure(HTTP))]);
  });
});

describe("a configuration", () => {
  it("has the token in place of the variable", () => {
    const texts = Object.fromEntries(CLIENTS.map((one) => [one.id, one.configure({ ...HTTP, token: "dh_secret" })]));
    expect(texts["claude-code"]).toContain('--header "Authorization: Bearer dh_secret"');
    expect(texts["codex"]).toContain('http_headers = { Authorization = "Bearer dh_secret" }');
    for (const id of ["cursor", "opencode", "other"]) {
      expect(texts[id]).toContain('"Authorization": "Bearer dh_secret"');
    }
    // This file belongs to a project.
    expect(texts["vs-code"]).not.toContain("dh_secret");
    expect(texts["vs-code"]).toContain("Bearer ${input:deskhand}");
  });

  it("gives a command on another machine the address and the token", () => {
    expect(client("claude-code").configure(REMOTE)).toBe(
      "claude mcp add --transport stdio deskhand --env DESKHAND_TOKEN=dh_secret -- deskhand mcp --server http://localhost:7878",
    );
    expect(client("codex").configure(REMOTE)).toContain(
      'args = ["mcp", "--server", "http://localhost:7878"]\nenv = { DESKHAND_TOKEN = "dh_secret" }',
    );
    expect(client("codex").configure({ ...REMOTE, token: null })).toContain('env_vars = ["DESKHAND_TOKEN"]');
    expect(read(client("other").configure(REMOTE))).toEqual({
      mcpServers: {
        deskhand: {
          command: "deskhand",
          args: ["mcp", "--server", "http://localhost:7878"],
          env: { DESKHAND_TOKEN: "dh_secret" },
        },
      },
    });
    expect(read(client("opencode").configure(REMOTE))).toMatchObject({
      mcp: { deskhand: { environment: { DESKHAND_TOKEN: "dh_secret" } } },
    });
  });

  it("has no token for a command on the server's own machine", () => {
    for (const one of CLIENTS) {
      const text = one.configure({ ...REMOTE, way: "local" });
      expect(text).not.toMatch(/dh_secret|TOKEN|localhost/);
    }
  });

  it("names the tools unless they are the usual ones", () => {
    const tools = ["browser", "agent"] as const;
    expect(client("cursor").configure({ ...HTTP, tools })).toContain("/mcp?tools=agent,browser");
    expect(client("cursor").configure({ ...LOCAL, tools })).toContain('["mcp", "--tools", "agent,browser"]');
    expect(client("cursor").configure({ ...HTTP, tools: ["shell"] })).toContain("/mcp?tools=shell");
    // A shell would take the question mark for a pattern.
    expect(client("claude-code").configure({ ...HTTP, tools })).toContain(
      ' "http://localhost:7878/mcp?tools=agent,browser" ',
    );
  });
});
