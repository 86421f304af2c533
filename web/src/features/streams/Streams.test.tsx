import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { createQueryClient } from "../../api/queryClient";
import type { Stream, StreamFigures, StreamSetup } from "../../api/types";
import { Streams } from "./Streams";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const live: Stream = {
  id: "s1",
  state: "streaming",
  url: "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
  guild_id: "123456789012345678",
  guild_name: "Friends",
  channel_id: "987654321098765432",
  channel_name: "Movie Night",
  requester_id: "234567890123456789",
  session: "0199",
  watch_url: "https://desk.example/watch/dhw_x",
  error_code: null,
  error_message: null,
  created_at: "2026-01-01T00:00:00Z",
  started_at: "2026-01-01T00:00:04Z",
  ended_at: null,
  n_steps: 0,
  cost_usd: 0,
  n_watchers: 3,
};

const failed: Stream = {
  ...live,
  id: "s2",
  state: "failed",
  url: "https://videos.example/gone",
  session: null,
  watch_url: null,
  error_code: "ERR_URL_UNREACHABLE",
  error_message: "the page answered with 404",
  started_at: null,
  ended_at: "2026-01-01T00:00:09Z",
  cost_usd: 0.25,
};

const figures: StreamFigures = {
  total_sessions: 12,
  successful_sessions: 9,
  failed_sessions: 2,
  total_streaming_seconds: 7500,
  total_cost_usd: 1.5,
  avg_start_time_seconds: 3.4,
};

const setup: StreamSetup = {
  is_on: true,
  checks: [
    { name: "bot", state: "ok", message: "connected to Discord, in one server", remedy: null },
    { name: "public_url", state: "warning", message: "links begin with http://localhost", remedy: "set public_url" },
    { name: "novelty", state: "failed", message: "it is off", remedy: "turn it on" },
  ],
};

interface Scene {
  active?: Stream[];
  history?: Stream[];
  setup?: StreamSetup;
  /** The operation that the server refuses, and its answer. */
  refuse?: [path: string, status: number, code: string, message: string];
}

/** Shows the streams of a server, and returns the requests that change something. */
function show(scene: Scene = {}) {
  const sent: string[] = [];
  const answers: Record<string, unknown> = {
    "/api/streams/active": { streams: scene.active ?? [] },
    "/api/streams/figures": figures,
    "/api/streams/setup": scene.setup ?? setup,
    "/api/streams": { streams: scene.history ?? [], next: null },
  };
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    const path = url.split("?")[0] ?? url;
    if (init.method === "POST") sent.push(url);
    if (scene.refuse?.[0] === path) {
      const [, status, code, message] = scene.refuse;
      return Promise.resolve(new Response(JSON.stringify({ error: { code, message } }), { status }));
    }
    const answer = answers[path];
    return Promise.resolve(new Response(answer ? JSON.stringify(answer) : null, { status: answer ? 200 : 204 }));
  });
  const router = createRouter({
    routeTree: createRootRoute({ component: Streams }),
    history: createMemoryHistory(),
  });
  render(
    <QueryClientProvider client={createQueryClient()}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return sent;
}

it("shows an active stream with the ways to it, and stops it after a question", async () => {
  const sent = show({ active: [live] });
  const list = await screen.findByRole("list", { name: "Active streams" });
  within(list).getByText("Live");
  within(list).getByText(/^Movie Night in Friends/);
  within(list).getByText(/· 3 people watch$/);
  expect(within(list).getByRole("link", { name: "Watch" }).getAttribute("href")).toBe(live.watch_url);
  expect(within(list).getByRole("link", { name: "Open the session" }).getAttribute("href")).toBe("/sessions/0199");
  await userEvent.click(within(list).getByRole("button", { name: "Stop the stream in Movie Night" }));
  const dialog = screen.getByRole("alertdialog", { name: "Stop this stream?" });
  expect(sent).toEqual([]);
  await userEvent.click(within(dialog).getByRole("button", { name: "Stop the stream" }));
  await waitFor(() => expect(sent).toEqual(["/api/streams/s1/stop"]));
});

it("leaves out what is not there yet", async () => {
  show({ active: [{ ...live, state: "starting", started_at: null, session: null, watch_url: null }] });
  const list = await screen.findByRole("list", { name: "Active streams" });
  within(list).getByText("Starting");
  expect(within(list).queryAllByRole("link", { name: /Watch|Open/ })).toEqual([]);
});

it("lists earlier streams with their errors", async () => {
  show({ history: [live, failed] });
  const table = await screen.findByRole("table", { name: "History" });
  const [, , row] = within(table).getAllByRole("row");
  if (!row) throw new Error("there is no second stream");
  expect(row.textContent).toContain("videos.example/gone");
  expect(row.textContent).toContain("The page answered with 404. ERR_URL_UNREACHABLE");
  expect(row.textContent).toContain("234567890123456789");
  expect(row.textContent).toContain("$0.25");
  expect(row.textContent).toContain("–");
});

it("says when there is nothing", async () => {
  show();
  await screen.findByText(/Nothing is streaming/);
  await screen.findByText("Nothing has been streamed yet.");
});

it("shows the figures", async () => {
  show();
  const list = await screen.findByLabelText("Figures of all streams");
  expect(list.textContent).toBe(
    "Streams12Ended well9Failed2Streamed2 h 5 minUntil live, on average3.4 sCost of models$1.50",
  );
});

it("shows each check with its state and the way out", async () => {
  show();
  const checks = within(await screen.findByRole("list", { name: "Checks" })).getAllByRole("listitem");
  expect(checks.map(({ textContent }) => textContent)).toEqual([
    "Discord bot: Good.Connected to Discord, in one server.",
    "Address of watch links: Needs attention.Links begin with http://localhost.Set public_url.",
    "novelty: Does not work.It is off.Turn it on.",
  ]);
});

it("says how to have streams where there are none", async () => {
  show({ setup: { is_on: false, checks: [] } });
  await screen.findByRole("heading", { name: "This server runs no streams" });
  screen.getByText(/DESKHAND_JAMIE_TOKEN/);
  expect(screen.queryByRole("heading", { name: "History" })).toBeNull();
});

it("says that only administrators see streams", async () => {
  show({ refuse: ["/api/streams/setup", 403, "not_administrator", "only administrators may do this"] });
  await screen.findByRole("heading", { name: "Only administrators see the streams" });
});

it("says which part could not be loaded, and shows the rest", async () => {
  show({ active: [live], refuse: ["/api/streams/figures", 429, "too_fast", "too many requests"] });
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toBe("Too many requests.");
  await screen.findByRole("list", { name: "Active streams" });
});
