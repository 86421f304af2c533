import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, expect, it, vi } from "vitest";

import { Composer } from "./Composer";

afterEach(cleanup);

function Page(props: { onSend: (text: string) => void; error?: string; blockedBecause?: string }) {
  const [draft, setDraft] = useState("");
  return (
    <Composer {...props} draft={draft} onDraft={setDraft} isSending={false} placeholder="Write" />
  );
}

it("sends with Enter and begins a new line with Shift and Enter", async () => {
  const onSend = vi.fn();
  render(<Page onSend={onSend} />);
  const field = screen.getByRole("textbox", { name: "Message" });
  await userEvent.type(field, "one{Shift>}{Enter}{/Shift}two");
  expect(onSend).not.toHaveBeenCalled();
  await userEvent.type(field, "{Enter}");
  expect(onSend).toHaveBeenCalledExactlyOnceWith("one\ntwo");
});

it("does not send what is empty", async () => {
  const onSend = vi.fn();
  render(<Page onSend={onSend} />);
  await userEvent.type(screen.getByRole("textbox", { name: "Message" }), "   {Enter}");
  expect(screen.getByRole("button", { name: "Send" })).toHaveProperty("disabled", true);
  expect(onSend).not.toHaveBeenCalled();
});

it("keeps the draft and says why when sending failed", async () => {
  const { rerender } = render(<Page onSend={() => {}} />);
  const field = screen.getByRole("textbox", { name: "Message" });
  await userEvent.type(field, "hello{Enter}");
  rerender(<Page onSend={() => {}} error="The queue is full." />);
  expect(screen.getByRole("alert").textContent).toBe("The queue is full.");
  expect(field).toHaveProperty("value", "hello");
});

it("says why nothing can be sent", () => {
  render(<Page onSend={() => {}} blockedBecause="This session has ended." />);
  const field = screen.getByRole("textbox", { name: "Message" });
  expect(field).toHaveProperty("disabled", true);
  expect(field).toHaveProperty("placeholder", "This session has ended.");
});

it("begins a new line with Enter where keys are on the screen", async () => {
  vi.spyOn(window, "matchMedia").mockReturnValue({
    matches: true,
    addEventListener: () => {},
    removeEventListener: () => {},
  } as unknown as MediaQueryList);
  const onSend = vi.fn();
  render(<Page onSend={onSend} />);
  await userEvent.type(screen.getByRole("textbox", { name: "Message" }), "one{Enter}two");
  expect(onSend).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole("button", { name: "Send" }));
  expect(onSend).toHaveBeenCalledExactlyOnceWith("one\ntwo");
});
