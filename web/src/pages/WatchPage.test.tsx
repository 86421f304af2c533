import { QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { createQueryClient } from "../api/queryClient";
import type { Watch } from "../api/types";
import { WatchPage } from "./WatchPage";

/** A WebSocket that never opens. */
class ShutSocket extends EventTarget {
  static urls: string[] = [];

  constructor(url: string) {
    super();
    ShutSocket.urls.push(url);
  }

  close() {}
}

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  ShutSocket.urls = [];
  localStorage.clear();
});

const live: Watch = { state: "live", title: "Film night", paused: false, n_watchers: 2, watchers: ["Ada", "Guest"] };

interface Scene {
  answer?: Watch;
  /** The later answers. `null` for a link that has ended. */
  later?: Watch | null;
  /** False for a browser without a decoder for H.264. */
  canPlay?: boolean;
}

function show({ answer, later, canPlay = true }: Scene) {
  let next = answer;
  vi.stubGlobal("WebSocket", ShutSocket);
  vi.stubGlobal("VideoDecoder", { isConfigSupported: () => Promise.resolve({ supported: canPlay }) });
  vi.stubGlobal("fetch", () => {
    const refused = { error: { code: "no_watch_link", message: "this watch link is not valid" } };
    const response = new Response(JSON.stringify(next ?? refused), { status: next ? 200 : 404 });
    if (later !== undefined) next = later ?? undefined;
    return Promise.resolve(response);
  });
  render(
    <QueryClientProvider client={createQueryClient()}>
      <WatchPage token="dhw_x" />
    </QueryClientProvider>,
  );
}

it.each([
  ["This link is no longer valid", {}],
  ["This has not started yet", { answer: { ...live, state: "not_started" } }],
  ["This has ended", { answer: { ...live, state: "ended" } }],
  ["A person has control", { answer: { ...live, paused: true } }],
  ["This browser cannot play the video", { answer: live, canPlay: false }],
  ["Connecting…", { answer: live }],
] satisfies [string, Scene][])("says: %s", async (title, scene) => {
  show(scene);
  await screen.findByRole("heading", { name: title });
});

it.each([
  ["This has ended", null],
  ["Reconnecting…", { ...live, state: "not_started" }],
] satisfies [string, Watch | null][])("says after it was live: %s", async (title, later) => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  show({ answer: live, later });
  await screen.findByRole("heading", { name: "Connecting…" });
  await act(() => vi.advanceTimersByTimeAsync(4_000));
  await screen.findByRole("heading", { name: title });
});

it("connects only when there is something to watch", async () => {
  show({ answer: { ...live, state: "not_started" } });
  await screen.findByRole("heading", { name: "This has not started yet" });
  expect(ShutSocket.urls).toEqual([]);
});

it("shows who watches, and takes a name", async () => {
  const user = userEvent.setup();
  show({ answer: live });
  await user.click(await screen.findByRole("button", { name: "2 people watch" }));
  expect(screen.getAllByRole("listitem").map(({ textContent }) => textContent)).toEqual(["Ada", "Guest"]);
  await user.type(screen.getByRole("textbox", { name: "Your name" }), "Grace");
  await user.click(screen.getByRole("button", { name: "Set" }));
  expect(ShutSocket.urls.at(-1)).toContain("/api/watch/dhw_x/video?name=Grace");
});
