import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { createQueryClient } from "../api/queryClient";
import { activityPlace } from "../lib/discordFrame";
import { ActivityPage } from "./ActivityPage";

const DISCORD = "https://discord.com";
const STRANGER = "https://stranger.example";

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

interface Scene {
  /** Discord's answer to the request for a code. */
  answer?: object;
  /** The page around the Activity. */
  origin?: string;
  /** The server's refusal. */
  refuse?: [status: number, code: string, message: string];
}

/** Opens the Activity in a frame of this page, and returns the messages to it and the bodies sent to the server. */
function show({ answer = { data: { code: "c0de" } }, origin = DISCORD, refuse }: Scene = {}) {
  const told: [number, Record<string, unknown>][] = [];
  const sent: string[] = [];
  const say = (message: object) =>
    window.dispatchEvent(new MessageEvent("message", { origin, data: [1, message] }));
  vi.spyOn(window.parent, "postMessage").mockImplementation((message: unknown) => {
    const [operation, data] = message as [number, Record<string, unknown>];
    told.push([operation, data]);
    if (operation === 0) say({ cmd: "DISPATCH", evt: "READY" });
    if (data.cmd === "AUTHORIZE") say({ cmd: "AUTHORIZE", nonce: data.nonce, ...answer });
  });
  vi.stubGlobal("VideoDecoder", { isConfigSupported: () => Promise.resolve({ supported: true }) });
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    if (init.method === "POST") sent.push(String(init.body));
    const [status, body] = url.startsWith("/api/watch/")
      ? [200, { state: "ended", title: "Film night", paused: false, n_watchers: 0, watchers: [] }]
      : init.method === "GET"
        ? [200, { client_id: "42", hosts: [DISCORD] }]
        : refuse
          ? [refuse[0], { error: { code: refuse[1], message: refuse[2] } }]
          : [200, { token: "dhw_x" }];
    return Promise.resolve(new Response(JSON.stringify(body), { status: status as number }));
  });
  const place = activityPlace("?instance_id=i-1&frame_id=f-1&platform=desktop&guild_id=7&channel_id=8");
  if (!place) throw new Error("this is the address of an Activity");
  render(
    <QueryClientProvider client={createQueryClient()}>
      <ActivityPage place={place} />
    </QueryClientProvider>,
  );
  return { told, sent };
}

it("asks Discord for a code, and shows the stream that the server names for it", async () => {
  const { told, sent } = show();
  await screen.findByRole("heading", { name: "This has ended" });
  expect(told[0]).toEqual([0, { v: 1, encoding: "json", client_id: "42", frame_id: "f-1" }]);
  expect(told[1]).toMatchObject([1, { cmd: "AUTHORIZE", args: { client_id: "42", scope: ["identify"] } }]);
  expect(sent).toEqual(['{"code":"c0de","guild_id":"7"}']);
});

it("looks for another stream when one has ended", async () => {
  const { sent } = show();
  await screen.findByRole("heading", { name: "This has ended" });
  await userEvent.click(screen.getByRole("button", { name: "Look again" }));
  await screen.findByRole("heading", { name: "This has ended" });
  expect(sent.length).toBe(2);
});

it("says that nothing is streaming, and looks again", async () => {
  const { sent } = show({ refuse: [404, "no_stream", "nothing is streamed to your voice channel"] });
  await screen.findByRole("heading", { name: "Nothing is streaming here" });
  await userEvent.click(screen.getByRole("button", { name: "Look again" }));
  await screen.findByRole("heading", { name: "Nothing is streaming here" });
  expect(sent.length).toBe(2);
});

it("says why somebody is not let in", async () => {
  show({ refuse: [403, "not_let_in", "you are not in a voice channel of this server"] });
  await screen.findByRole("heading", { name: "You cannot watch yet" });
  screen.getByText("You are not in a voice channel of this server.");
});

it("says that Discord did not give a code", async () => {
  show({ answer: { evt: "ERROR", data: { message: "no" } } });
  await screen.findByText(/Discord did not say who you are/);
});

it("ignores what other pages say", async () => {
  const { told } = show({ origin: STRANGER });
  await vi.waitFor(() => expect(told.length).toBe(1));
  screen.getByRole("heading", { name: "Connecting…" });
});

it("knows an address that Discord did not open", () => {
  expect(activityPlace("?panel=files")).toBeNull();
});
