import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { createQueryClient } from "../../api/queryClient";
import type { File as FileEntry, Session } from "../../api/types";
import type { PanelProps } from "../workplace/panel";
import { FilesPanel } from "./FilesPanel";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function entry(path: string, kind: FileEntry["kind"], size = 0): FileEntry {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const modified_at = "2026-01-01T00:00:00Z";
  return { path, name, kind, size, modified_at, version: "v", target: null };
}

const FOLDERS: Record<string, FileEntry[]> = {
  "/api/sessions/s1/files/~": [
    entry("/home/agent/table.csv", "file", 9),
    entry("/home/agent/a b", "folder"),
  ],
  "/api/sessions/s1/files/home/agent/a%20b": [],
};

function show(props: Partial<PanelProps> & { right?: Session["right"] }) {
  const sent: string[] = [];
  vi.stubGlobal("fetch", (url: string, init: RequestInit = {}) => {
    sent.push(`${init.method ?? "GET"} ${url}`);
    const [path = ""] = url.split("?");
    if (url.endsWith("?info=true")) return Promise.resolve(Response.json(entry("/tmp", "folder")));
    if (path === "/api/me") return Promise.resolve(Response.json({ id: "me", name: "Me" }));
    if (path.endsWith("/table.csv")) return Promise.resolve(new Response("x,y\n1,2\n"));
    const entries = FOLDERS[path] ?? [];
    return Promise.resolve(Response.json({ path, entries, next: null, n_unnamed: 0 }));
  });
  const session = { id: "s1", right: props.right ?? "owner", state: "idle" } as Session;
  render(
    <QueryClientProvider client={createQueryClient()}>
      <FilesPanel
        session={session}
        sandbox={props.sandbox ?? "ready"}
        lease={props.lease ?? null}
      />
    </QueryClientProvider>,
  );
  return sent;
}

it("opens folders and files", async () => {
  show({});
  await userEvent.click(await screen.findByRole("button", { name: "a b" }));
  await screen.findByText("Nothing in here yet");
  await userEvent.click(screen.getByRole("button", { name: /^table\.csv/ }));
  await screen.findByRole("columnheader", { name: "x" });
  screen.getByRole("cell", { name: "2" });
});

it("moves among files and opens folders with the arrow keys", async () => {
  show({});
  const folder = await screen.findByRole("button", { name: "a b" });
  folder.focus();
  await userEvent.keyboard("{ArrowRight}");
  await screen.findByText("Nothing in here yet");
  await userEvent.keyboard("{ArrowDown}");
  expect(document.activeElement).toBe(screen.getByRole("button", { name: /^table\.csv/ }));
  await userEvent.keyboard("{Home}{ArrowLeft}");
  expect(document.activeElement).toBe(folder);
  expect(screen.queryByText("Nothing in here yet")).toBeNull();
});

it("opens a path that is typed, and leaves the keyboard in the field", async () => {
  show({});
  const path = await screen.findByRole("textbox", { name: "Path" });
  await userEvent.clear(path);
  await userEvent.type(path, "/tmp{Enter}");
  await screen.findByText("Nothing in here yet");
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Path" }));
});

it("starts a desktop only when it is asked to", async () => {
  const sent = show({ sandbox: "stopped" });
  const start = screen.getByRole("button", { name: "Start it" });
  expect(sent.filter((line) => line.includes("/files"))).toEqual([]);
  await userEvent.click(start);
  await screen.findByRole("button", { name: /^table\.csv/ });
});

it("shows nothing while somebody else has control", async () => {
  const lease = { user: "bob", name: "Bob", until: "2026-01-01T00:00:00Z" };
  const sent = show({ lease });
  await screen.findByText("Bob has control");
  expect(sent.filter((line) => line.includes("/files"))).toEqual([]);
});

it("lets those who may only view change nothing", async () => {
  show({ right: "view" });
  await screen.findByRole("button", { name: /^table\.csv/ });
  expect(screen.queryByRole("button", { name: "Upload files" })).toBeNull();
  expect(screen.queryByRole("button", { name: "New folder" })).toBeNull();
});
