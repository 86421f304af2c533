import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useEffect } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import * as api from "../../api/attachments";
import { AttachmentChips } from "./AttachmentChips";
import { type Attachments, useAttachments } from "./useAttachments";

let attachments: Attachments;

function Page({ sessionId }: { sessionId: string | null }) {
  const current = useAttachments(sessionId);
  useEffect(() => {
    attachments = current;
  });
  return <AttachmentChips attachments={current} />;
}

const file = (name: string, size = 3) => new File([new Uint8Array(size)], name);
const uploaded = (name: string) => ({ id: `id of ${name}`, name, media_type: "", n_bytes: 3 });

beforeEach(() => {
  vi.spyOn(api, "removeAttachment").mockResolvedValue();
  vi.spyOn(api, "uploadAttachment").mockImplementation(async (_, { name }) => uploaded(name));
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

it("uploads files one after the other as soon as they are chosen", async () => {
  render(<Page sessionId="s" />);
  await act(async () => attachments.add([file("a.txt"), file("b.txt")]));
  expect(attachments.ids).toEqual(["id of a.txt", "id of b.txt"]);
  expect(attachments.waitsFor).toBeNull();
});

it("removes an uploaded file from the server with its chip", async () => {
  render(<Page sessionId="s" />);
  await act(async () => attachments.add([file("a.txt")]));
  fireEvent.click(screen.getByRole("button", { name: "Remove a.txt" }));
  expect(api.removeAttachment).toHaveBeenCalledExactlyOnceWith("s", "id of a.txt");
  expect(screen.queryByText("a.txt")).toBeNull();
});

it("says why the message waits, and tries again", async () => {
  vi.mocked(api.uploadAttachment).mockRejectedValueOnce(new Error("The connection broke."));
  render(<Page sessionId="s" />);
  await act(async () => attachments.add([file("a.txt")]));
  expect(screen.getByRole("alert").textContent).toBe("The connection broke.");
  expect(screen.getByRole("status").textContent).toMatch(/Remove it or try again/);
  await act(async () => fireEvent.click(screen.getByRole("button", { name: "Try a.txt again" })));
  expect(attachments.waitsFor).toBeNull();
  expect(screen.queryByRole("status")).toBeNull();
});

it("says how many files were left out, and which are too large", async () => {
  render(<Page sessionId="s" />);
  const many = Array.from({ length: 22 }, (_, n) => file(`${n}.txt`));
  await act(async () => attachments.add(many));
  expect(attachments.list).toHaveLength(20);
  expect(screen.getByRole("status").textContent).toBe(
    "A message has at most 20 files. 2 were left out.",
  );
  cleanup();
  render(<Page sessionId="s" />);
  const large = file("large.bin");
  Object.defineProperty(large, "size", { value: 33 * 1024 * 1024 });
  await act(async () => attachments.add([large]));
  expect(screen.getByRole("alert").textContent).toMatch(/32 MiB at most/);
  expect(screen.queryByRole("button", { name: "Try large.bin again" })).toBeNull();
});

it("holds files until there is a session", async () => {
  render(<Page sessionId={null} />);
  await act(async () => attachments.add([file("a.txt"), file("b.txt")]));
  expect(api.uploadAttachment).not.toHaveBeenCalled();
  expect(attachments.waitsFor).toBeNull();
  let ids: string[] = [];
  await act(async () => {
    ids = await attachments.upload("new");
  });
  expect(ids).toEqual(["id of a.txt", "id of b.txt"]);
  expect(vi.mocked(api.uploadAttachment).mock.calls.map(([session]) => session)).toEqual([
    "new",
    "new",
  ]);
});

it("keeps files that were added while a message was on its way", async () => {
  render(<Page sessionId="s" />);
  await act(async () => attachments.add([file("a.txt")]));
  const { clear } = attachments;
  await act(async () => attachments.add([file("b.txt")]));
  act(() => clear());
  expect(attachments.ids).toEqual(["id of b.txt"]);
});
