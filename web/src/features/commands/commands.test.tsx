import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Bell } from "lucide-react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { type Command, openDialog, useCommands } from "./command";
import { CommandPalette } from "./CommandPalette";
import { findCommands, score } from "./search";
import { keyNames, matches, mayUse, setSingleKeys } from "./shortcut";

afterEach(() => {
  cleanup();
  openDialog.set(null);
  setSingleKeys(true);
  localStorage.clear();
  document.body.innerHTML = "";
});

const command = (title: string, more: Partial<Command> = {}): Command => ({
  id: title,
  title,
  group: "Panels",
  icon: Bell,
  run: () => {},
  ...more,
});

const ordered = (query: string, ...titles: string[]) =>
  titles.toSorted((a, b) => score(b, query) - score(a, query));

const press = (key: string, more: Partial<KeyboardEvent> = {}) => ({
  key,
  code: "",
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
});

describe("the search", () => {
  it("wants all letters in their order", () => {
    expect(score("Show Terminal", "trml")).toBeGreaterThan(0);
    expect(score("Show Terminal", "lmrt")).toBe(0);
    expect(score("Show Terminal", "")).toBeGreaterThan(0);
  });

  it("prefers beginnings of words to letters in between", () => {
    expect(ordered("st", "Reset layout", "Show Terminal", "Stop")).toEqual(["Stop", "Show Terminal", "Reset layout"]);
    expect(ordered("term", "Enter a remark", "Show Terminal")[0]).toBe("Show Terminal");
  });

  it("groups what it finds, with the best group first", () => {
    const all = [
      command("Show Screen"),
      command("End session…", { group: "This session", rank: 1 }),
      command("Share…", { group: "This session" }),
      command("Secret", { isOnlyShortcut: true }),
      command("Waiting for you", { group: "Go to", keywords: "inbox" }),
    ];
    const names = (query: string) =>
      findCommands(all, query).map(({ group, commands }) => `${group}: ${commands.map(({ title }) => title).join(", ")}`);
    expect(names("")).toEqual(["This session: Share…, End session…", "Panels: Show Screen", "Go to: Waiting for you"]);
    expect(names("scr")).toEqual(["Panels: Show Screen"]);
    expect(names("inbox")).toEqual(["Go to: Waiting for you"]);
    expect(names("zzz")).toEqual([]);
  });
});

describe("a shortcut", () => {
  it("is recognised with exactly its modifiers", () => {
    expect(matches(press("k", { ctrlKey: true }), "Mod+K")).toBe(true);
    expect(matches(press("k", { ctrlKey: true, shiftKey: true }), "Mod+K")).toBe(false);
    expect(matches(press("k"), "Mod+K")).toBe(false);
    expect(matches(press("n"), "N")).toBe(true);
    expect(matches(press("N", { shiftKey: true }), "N")).toBe(false);
    expect(matches(press("n", { altKey: true }), "N")).toBe(false);
  });

  it("is recognised on other keyboards", () => {
    expect(matches(press("л", { ctrlKey: true, code: "KeyK" }), "Mod+K")).toBe(true);
    expect(matches(press("j", { ctrlKey: true, code: "KeyK" }), "Mod+K")).toBe(false);
    expect(matches(press("1", { shiftKey: true }), "1")).toBe(true);
    expect(matches(press("?", { shiftKey: true }), "?")).toBe(true);
  });

  it("is shown with the keys of this computer", () => {
    expect(keyNames("Mod+K")).toEqual(["Ctrl", "K"]);
    vi.spyOn(navigator, "userAgent", "get").mockReturnValue("Macintosh");
    expect(keyNames("Mod+K")).toEqual(["⌘", "K"]);
    expect(matches(press("k", { metaKey: true }), "Mod+K")).toBe(true);
    expect(matches(press("k", { ctrlKey: true }), "Mod+K")).toBe(false);
  });

  it.each([
    ["the page", "<p id=at></p>", true, true],
    ["a field", "<textarea id=at></textarea>", false, true],
    ["a slider", "<input id=at type=range>", false, true],
    ["a terminal", '<div class="xterm"><textarea id=at></textarea></div>', false, false],
    ["an editor", '<div class="cm-editor"><div id=at contenteditable="true"></div></div>', false, false],
    ["the screen under control", "<div data-owns-keys><canvas id=at></canvas></div>", false, false],
    ["the page behind a dialog", "<p id=at></p><div role=dialog></div>", false, false],
    ["the page behind a menu", "<p id=at></p><div role=menu></div>", false, false],
  ])("leaves keys to %s as it should", (_, html, single, mod) => {
    document.body.innerHTML = html;
    const at = document.getElementById("at");
    expect([mayUse("1", at), mayUse("Mod+K", at)]).toEqual([single, mod]);
  });

  it("of a single key can be switched off", () => {
    setSingleKeys(false);
    expect([mayUse("1", document.body), mayUse("Mod+K", document.body)]).toEqual([false, true]);
  });
});

function Offers({ commands }: { commands: readonly Command[] }) {
  useCommands(commands);
  return (
    <>
      <button type="button" onClick={() => openDialog.set("palette")}>
        Open
      </button>
      <CommandPalette />
    </>
  );
}

describe("the palette", () => {
  it("runs the command that is chosen with the keyboard", async () => {
    const user = userEvent.setup();
    const run = vi.fn(() => document.activeElement?.textContent);
    render(
      <Offers commands={[command("Show Screen"), command("Show Files", { run, shortcut: "2" }), command("Stop")]} />,
    );
    await user.click(screen.getByRole("button", { name: "Open" }));
    const field = screen.getByRole("combobox", { name: "Command or session" });
    expect(document.activeElement).toBe(field);
    await user.type(field, "show");
    const options = within(screen.getByRole("group", { name: "Panels" })).getAllByRole("option");
    expect(options.map(({ textContent }) => textContent)).toEqual(["Show Files2", "Show Screen"]);
    await user.keyboard("{ArrowDown}{ArrowDown}{ArrowUp}{ArrowUp}");
    expect(field.getAttribute("aria-activedescendant")).toBe(options[0]?.id);
    expect(options[0]?.getAttribute("aria-selected")).toBe("true");
    await user.keyboard("{Enter}");
    await waitFor(() => expect(run).toHaveBeenCalledTimes(1));
    expect(run).toHaveReturnedWith("Open");
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("says when nothing matches, and Enter then does nothing", async () => {
    const user = userEvent.setup();
    const run = vi.fn();
    render(<Offers commands={[command("Stop", { run })]} />);
    await user.click(screen.getByRole("button", { name: "Open" }));
    await user.keyboard("xyz{ArrowDown}{Enter}");
    expect(screen.getByText("Nothing matches “xyz”.")).toBeTruthy();
    expect(run).not.toHaveBeenCalled();
  });

  it("offers nothing of what has left the page", () => {
    const { rerender } = render(<Offers commands={[command("Stop")]} />);
    rerender(<Offers commands={[]} />);
    openDialog.set("palette");
    expect(screen.queryByRole("option")).toBeNull();
  });
});
