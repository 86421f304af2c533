import { act, cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Monitor } from "lucide-react";
import { useEffect } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { allCommands } from "../commands/command";
import type { PanelProps } from "./panel";
import type { Panel } from "./panels";
import type { SavedArrangement } from "./savedLayout";
import type { RemoteLayout } from "./useArrangement";
import type { PanelNews } from "./useMarks";
import { Workplace } from "./Workplace";

const mounted = vi.fn();
let isPhone = false;

beforeEach(() => {
  vi.spyOn(window, "matchMedia").mockImplementation(
    () =>
      ({ matches: isPhone, addEventListener: () => {}, removeEventListener: () => {} }) as unknown as MediaQueryList,
  );
});

afterEach(() => {
  cleanup();
  mounted.mockReset();
  localStorage.clear();
  isPhone = false;
});

function panel(id: string): Panel {
  function Content() {
    useEffect(() => {
      mounted(`${id} begins`);
      return () => mounted(`${id} ends`);
    }, []);
    return <input aria-label={`Field of ${id}`} />;
  }
  return { id, title: id, icon: Monitor, load: async () => Content };
}

const PANELS = [panel("Screen"), panel("Files"), panel("Network")];

interface Shown {
  user?: string;
  news?: PanelNews;
  wanted?: string;
  remote?: RemoteLayout;
}

const NO_REMOTE: RemoteLayout = { saved: undefined, save: () => {} };

function workplace(panels: readonly Panel[], { user = "ada", news = {}, wanted, remote = NO_REMOTE }: Shown) {
  return (
    <Workplace
      user={user}
      remote={remote}
      panels={panels}
      panelProps={{} as PanelProps}
      header={<header>Top</header>}
      news={news}
      wanted={wanted}
      conversation={<textarea id="field" aria-label="Message" />}
      messageField="field"
      needsAnswer
    />
  );
}

function show(panels: readonly Panel[] = PANELS, shown: Shown = {}) {
  return render(workplace(panels, shown));
}

function run(id: string): void {
  const command = allCommands().find((one) => one.id === id);
  if (!command) throw new Error(`there is no command ${id}`);
  act(() => command.run());
}

/** Returns the tabs of each group. The visible ones have a star. */
function groups(): string[] {
  return screen.getAllByRole("tablist", { name: "Panels" }).map((list) =>
    within(list)
      .getAllByRole("tab")
      .map((tab) => `${tab.textContent.trim()}${tab.getAttribute("aria-selected") === "true" ? "*" : ""}`)
      .join(" "),
  );
}

/** Returns the tabs with a dot. */
function marks(): string[] {
  return screen.queryAllByRole("tab", { name: /something new/ }).map(({ id }) => id);
}

it("loads a panel when it is first shown", async () => {
  const user = userEvent.setup();
  show();
  expect(await screen.findByLabelText("Field of Screen")).toBeTruthy();
  expect(screen.queryByLabelText("Field of Files")).toBeNull();
  await user.click(screen.getByRole("tab", { name: "Files" }));
  expect(await screen.findByLabelText("Field of Files")).toBeTruthy();
  expect(mounted.mock.calls.flat()).toEqual(["Screen begins", "Files begins"]);
});

it("never starts a panel again when it is moved, covered, maximised or resized", async () => {
  const user = userEvent.setup();
  show();
  await user.type(await screen.findByLabelText("Field of Screen"), "kept");
  const field = screen.getByLabelText("Field of Screen");
  await user.click(screen.getByRole("tab", { name: "Files" }));
  await screen.findByLabelText("Field of Files");
  run("split-right");
  expect(groups()).toEqual(["Screen* Network", "Files*"]);
  run("move-bottom");
  expect(groups()).toEqual(["Screen* Network", "Files*"]);
  run("maximise");
  expect(groups()).toEqual(["Files*"]);
  run("maximise");
  run("hide-conversation");
  run("show-conversation");
  const border = screen.getByRole("separator", { name: "Border between Screen and Files" });
  border.focus();
  await user.keyboard("{ArrowUp}{ArrowUp}");
  expect(border.getAttribute("aria-valuenow")).toBe("46");
  run("move-top");
  expect(groups()).toEqual(["Screen Network Files*"]);
  run("reset-layout");
  expect(groups()).toEqual(["Screen* Files Network"]);
  expect(screen.getByLabelText("Field of Screen")).toBe(field);
  expect(field).toHaveProperty("value", "kept");
  expect(mounted.mock.calls.flat()).toEqual(["Screen begins", "Files begins"]);
});

it("takes the layout along to another browser, and keeps the newer one", async () => {
  const save = vi.fn();
  show(PANELS, { remote: { saved: undefined, save } });
  await screen.findByLabelText("Field of Screen");
  run("split-bottom");
  cleanup();
  expect(save).toHaveBeenCalledTimes(1);
  const saved = save.mock.calls[0]?.[0] as SavedArrangement;

  // Another browser knows nothing, and gets it from the server.
  localStorage.clear();
  show(PANELS, { remote: { saved, save } });
  expect(groups()).toEqual(["Files* Network", "Screen*"]);
  cleanup();
  expect(save).toHaveBeenCalledTimes(1);

  // This browser's is newer than the server's, which did not get it.
  show(PANELS, { remote: { saved: { ...saved, at: 1, conversation: 20 }, save } });
  expect(groups()).toEqual(["Files* Network", "Screen*"]);
  cleanup();
  expect(save).toHaveBeenLastCalledWith(saved);
});

it("ends a panel that is closed, and keeps one that is covered", async () => {
  const user = userEvent.setup();
  show();
  await user.click(screen.getByRole("tab", { name: "Network" }));
  await screen.findByLabelText("Field of Network");
  await user.click(screen.getByRole("tab", { name: "Files" }));
  await screen.findByLabelText("Field of Files");
  screen.getByRole("tab", { name: "Files" }).focus();
  await user.keyboard("{Delete}");
  expect(groups()).toEqual(["Screen* Network"]);
  expect(mounted.mock.calls.flat()).not.toContain("Network ends");
  expect(mounted.mock.calls.flat()).toContain("Files ends");
});

it("shows the panel that the address asks for, once", async () => {
  const user = userEvent.setup();
  const { rerender } = show(PANELS, { wanted: "Files" });
  expect(await screen.findByLabelText("Field of Files")).toBeTruthy();
  await user.click(screen.getByRole("tab", { name: "Network" }));
  rerender(workplace(PANELS, { wanted: "Files" }));
  expect(groups()).toEqual(["Screen Files Network*"]);
  rerender(workplace(PANELS, { wanted: "nothing" }));
  expect(groups()).toEqual(["Screen Files Network*"]);
});

it("marks a panel with news until it is visible", async () => {
  const user = userEvent.setup();
  const { rerender } = show(PANELS, { news: { Files: [] } });
  expect(marks()).toEqual([]);
  rerender(workplace(PANELS, { news: { Files: ["3000"] } }));
  expect(marks()).toEqual(["tab-Files"]);
  await user.click(screen.getByRole("tab", { name: /Files/ }));
  expect(marks()).toEqual([]);
  await user.click(screen.getByRole("tab", { name: "Screen" }));
  expect(marks()).toEqual([]);
  // One that has ended is new when it begins again.
  rerender(workplace(PANELS, { news: { Files: [] } }));
  rerender(workplace(PANELS, { news: { Files: ["3000"] } }));
  expect(marks()).toEqual(["tab-Files"]);
});

it("keeps the keyboard among the panels when one is closed", async () => {
  const user = userEvent.setup();
  show();
  await user.click(screen.getByRole("tab", { name: "Files" }));
  run("split-right");
  screen.getByRole("tab", { name: "Files" }).focus();
  await user.keyboard("{Delete}");
  await waitFor(() => expect(document.activeElement?.id).toBe("tab-Screen"));
  await user.keyboard("{Delete}");
  await waitFor(() => expect(document.activeElement?.id).toBe("tab-Network"));
  await user.keyboard("{Delete}");
  const remaining = await screen.findByRole("button", { name: "Screen" });
  await waitFor(() => expect(document.activeElement).toBe(remaining));
});

it("maximises nothing if there is one group only", async () => {
  const user = userEvent.setup();
  show();
  await user.dblClick(screen.getByRole("tab", { name: "Files" }));
  expect(screen.queryByRole("button", { name: /^Restore/ })).toBeNull();
  run("split-right");
  await user.dblClick(screen.getByRole("tab", { name: "Files" }));
  expect(screen.getByRole("button", { name: "Restore Files" })).toBeTruthy();
});

it("remembers the layout of each user", async () => {
  show();
  await screen.findByLabelText("Field of Screen");
  run("split-bottom");
  expect(groups()).toEqual(["Files* Network", "Screen*"]);
  cleanup();
  show();
  expect(groups()).toEqual(["Files* Network", "Screen*"]);
  cleanup();
  show(PANELS, { user: "bob" });
  expect(groups()).toEqual(["Screen* Files Network"]);
});

it("keeps the keyboard at a panel that is moved with the menu", async () => {
  const user = userEvent.setup();
  show();
  screen.getByRole("button", { name: "Panel menu of Screen" }).focus();
  await user.keyboard("{Enter}");
  await user.click(screen.getByRole("menuitem", { name: "Split to the right" }));
  expect(groups()).toEqual(["Files* Network", "Screen*"]);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("tab", { name: "Screen" })));
  await user.click(screen.getByRole("button", { name: "Panel menu of Screen" }));
  await user.click(screen.getByRole("menuitem", { name: "Move left" }));
  expect(groups()).toEqual(["Files Network Screen*"]);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("tab", { name: "Screen" })));
});

it("offers all panels when the last one was closed", async () => {
  const user = userEvent.setup();
  show(PANELS.slice(0, 2));
  run("close-panel");
  run("close-panel");
  expect(screen.getByText("No panel is open")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Files" }));
  expect(groups()).toEqual(["Files*"]);
  await user.click(screen.getByRole("button", { name: "Panel menu of Files" }));
  await user.click(screen.getByRole("menuitem", { name: "Screen" }));
  expect(groups()).toEqual(["Files Screen*"]);
});

it("shows one thing at a time on a phone", async () => {
  isPhone = true;
  const user = userEvent.setup();
  show();
  const bar = screen.getByRole("navigation", { name: "Conversation and panels" });
  expect(screen.queryByRole("tablist")).toBeNull();
  expect(screen.queryByLabelText("Field of Screen")).toBeNull();
  await user.click(within(bar).getByRole("button", { name: "Screen" }));
  expect(await screen.findByLabelText("Field of Screen")).toBeTruthy();
  expect(screen.getByRole("region", { name: "Messages", hidden: true }).className).toContain("invisible");
  await user.click(within(bar).getByRole("button", { name: "Conversation Waiting for you" }));
  expect(screen.getByRole("region", { name: "Messages" }).className).not.toContain("invisible");
  expect(mounted.mock.calls.flat()).toEqual(["Screen begins"]);
});

it("keeps the page when one panel fails, and tries again", async () => {
  const user = userEvent.setup();
  vi.spyOn(console, "error").mockImplementation(() => {});
  const load = vi.fn(async () => {
    if (load.mock.calls.length === 1) throw new Error("could not load the file");
    return () => <p>All is well</p>;
  });
  show([{ id: "x", title: "Files", icon: Monitor, load }]);
  expect(await screen.findByText("could not load the file")).toBeTruthy();
  expect(screen.getByLabelText("Message")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByText("All is well")).toBeTruthy();
});
