import { EditorView } from "@codemirror/view";
import { QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { createQueryClient } from "../../api/queryClient";
import type { File as FileEntry, Session } from "../../api/types";
import type { PanelProps } from "../workplace/panel";
import { FilesPanel } from "./FilesPanel";

const HOME = "/home/agent";

/** The files of the desktop, and the bodies of all writes. */
let files: Record<string, string>;
let written: string[];

function entry(path: string): FileEntry {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const text = files[path] ?? "";
  const version = `v${text}`;
  const modified_at = "2026-01-01T00:00:00Z";
  return { path, name, kind: "file", size: text.length, modified_at, version, target: null };
}

function pathOf(url: string): string {
  return decodeURIComponent(url.replace(/^.*\/files/, "").replace(/\?.*/, "")).replace("/~", HOME);
}

/** Writes files as the server does, if they are in the expected version. */
class FakeUpload extends EventTarget {
  upload = new EventTarget();
  status = 0;
  responseText = "";
  #path = "";
  #expected: string | null = null;

  open(_method: string, url: string) {
    this.#path = pathOf(url);
  }

  setRequestHeader(name: string, value: string) {
    if (name === "if-match") this.#expected = value.replaceAll('"', "");
  }

  getResponseHeader() {
    return null;
  }

  async send(body: Blob) {
    const text = await body.text();
    const isExpected = this.#expected === null || this.#expected === entry(this.#path).version;
    this.status = isExpected ? 200 : 412;
    if (isExpected) {
      files[this.#path] = text;
      written.push(text);
    }
    const problem = { error: { code: "file_changed", message: "changed" } };
    this.responseText = JSON.stringify(isExpected ? entry(this.#path) : problem);
    this.dispatchEvent(new Event("load"));
  }
}

beforeEach(() => {
  files = { [`${HOME}/a.txt`]: "one\r\n", [`${HOME}/b.txt`]: "other\n" };
  written = [];
  vi.stubGlobal("XMLHttpRequest", FakeUpload);
  vi.stubGlobal("fetch", (url: string) => {
    if (url === "/api/me") return Promise.resolve(Response.json({ id: "me", name: "Me" }));
    const path = pathOf(url);
    if (path === HOME) {
      const entries = Object.keys(files).map(entry);
      return Promise.resolve(Response.json({ path, entries, next: null, n_unnamed: 0 }));
    }
    const headers = { etag: `"${entry(path).version}"` };
    return Promise.resolve(new Response(files[path], { headers }));
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function panel(id: string, lease: PanelProps["lease"] = null) {
  const session = { id, right: "owner", state: "idle" } as Session;
  return <FilesPanel session={session} sandbox="ready" lease={lease} />;
}

/** Shows the panel, and opens a text of the desktop. */
async function openText(id: string) {
  const client = createQueryClient();
  const shown = render(panel(id), {
    wrapper: ({ children }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>,
  });
  await userEvent.click(await screen.findByRole("button", { name: /^a\.txt/ }));
  return shown;
}

async function editor(): Promise<EditorView> {
  const content = await screen.findByRole("textbox", { name: "Text of a.txt" });
  const view = EditorView.findFromDOM(content);
  if (view === null) throw new Error("there is no editor");
  return view;
}

function type(view: EditorView, text: string) {
  act(() => view.dispatch({ changes: { from: view.state.doc.length, insert: text } }));
}

it("keeps the editor and its text after a save and an upload", async () => {
  await openText("s1");
  const view = await editor();
  type(view, "two");
  await userEvent.click(await screen.findByRole("button", { name: "Save" }));
  await waitFor(() => expect(written).toEqual(["one\r\ntwo"]));
  await waitFor(() => expect(screen.queryByText("Not saved yet")).toBeNull());
  type(view, " three");
  // Somebody else changes the file, and the folder is listed again after an upload.
  files[`${HOME}/a.txt`] = "theirs";
  await userEvent.upload(screen.getByLabelText("Files to upload"), new File(["x"], "c.txt"));
  await screen.findByText("Uploaded");
  await screen.findByRole("button", { name: /^c\.txt/ });
  expect(await editor()).toBe(view);
  expect(view.state.sliceDoc()).toBe("one\r\ntwo three");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByText("This file was changed by somebody else since you opened it.");
  await userEvent.click(screen.getByRole("button", { name: "Load theirs" }));
  await waitFor(async () => expect((await editor()).state.sliceDoc()).toBe("theirs"));
});

it("keeps unsaved text while somebody else has control, and when the panel is closed", async () => {
  const { rerender, unmount } = await openText("s2");
  type(await editor(), "mine");
  rerender(panel("s2", { user: "bob", name: "Bob", until: "2026-01-01T00:00:00Z" }));
  await screen.findByText(/Your changes to a\.txt are not saved yet/);
  const leaving = new Event("beforeunload", { cancelable: true });
  expect(window.dispatchEvent(leaving)).toBe(false);
  rerender(panel("s2"));
  expect((await editor()).state.sliceDoc()).toBe("one\r\nmine");
  unmount();
  await openText("s2");
  expect((await editor()).state.sliceDoc()).toBe("one\r\nmine");
  await userEvent.click(screen.getByRole("button", { name: "Close the file" }));
  await userEvent.click(await screen.findByRole("button", { name: "Discard" }));
  await screen.findByText("No file is open");
  expect(window.dispatchEvent(new Event("beforeunload", { cancelable: true }))).toBe(true);
});

it("asks before text is discarded", async () => {
  await openText("s3");
  type(await editor(), "mine");
  await userEvent.click(screen.getByRole("button", { name: /^b\.txt/ }));
  await screen.findByText("Discard your changes to a.txt?");
  await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect((await editor()).state.sliceDoc()).toBe("one\r\nmine");
  await userEvent.click(screen.getByRole("button", { name: "Close the file" }));
  await userEvent.click(await screen.findByRole("button", { name: "Discard" }));
  await screen.findByText("No file is open");
});
