import { describe, expect, it } from "vitest";

import type { Session, SessionsPage } from "./types";
import { withoutSession, withSession } from "./useSessionsBus";

function session(id: string, title = ""): Session {
  return {
    id,
    owner: "o",
    right: "owner",
    title,
    effort: null,
    model: "scripted/demo",
    computer: "desktop",
    tools: ["computer", "browser"],
    instructions: "",
    cost_usd: 0,
    tokens: 0,
    state: "idle",
    sandbox: "ready",
    metadata: {},
    approvals: {},
  network: { mode: "closed" },
    lease: { holder: "nobody" },
    budget: { usd: { limit: null, used: 0 }, tokens: { limit: null, used: 0 } },
    last_seq: 1,
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
  };
}

function list(...pages: SessionsPage[]) {
  return { pages, pageParams: pages.map(() => "") };
}

function ids(of: { pages: SessionsPage[] }): string[][] {
  return of.pages.map((page) => page.sessions.map(({ id }) => id));
}

describe("the list of sessions", () => {
  const two = list(
    { sessions: [session("9"), session("7")], next: "7" },
    { sessions: [session("5"), session("3")], next: "3" },
  );

  it("takes a new session to its place", () => {
    expect(ids(withSession(two, session("a")))).toEqual([["a", "9", "7"], ["5", "3"]]);
    expect(ids(withSession(two, session("6")))).toEqual([["9", "7"], ["6", "5", "3"]]);
    expect(ids(withSession(list({ sessions: [], next: null }), session("1")))).toEqual([["1"]]);
  });

  it("leaves an old session to a page that is not loaded yet", () => {
    expect(withSession(two, session("1"))).toBe(two);
  });

  it("shows what is different", () => {
    const changed = withSession(two, session("5", "named"));
    expect(ids(changed)).toEqual(ids(two));
    expect(changed.pages[1]?.sessions[0]?.title).toBe("named");
  });

  it("forgets what cannot be seen any more", () => {
    expect(ids(withoutSession(two, "7"))).toEqual([["9"], ["5", "3"]]);
  });
});
