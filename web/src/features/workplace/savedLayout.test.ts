import { afterEach, describe, expect, it, vi } from "vitest";

import { splitOff } from "./geometry";
import { closePanel, panelsIn, singleGroup, toggleMaximised } from "./layout";
import { type Arrangement, loadArrangement, saveArrangement, usualArrangement } from "./savedLayout";

const PANELS = ["a", "b", "c"];
const KEY = "deskhand.workplace.ada";
const arranged: Arrangement = {
  layout: toggleMaximised(splitOff(singleGroup(PANELS), "b", "right"), "g2"),
  conversation: 50,
  isConversationHidden: true,
};

afterEach(() => localStorage.clear());

describe("a stored arrangement", () => {
  it("comes back for the same user only", () => {
    saveArrangement("ada", arranged, PANELS);
    expect(loadArrangement("ada", PANELS)).toEqual(arranged);
    expect(loadArrangement("bob", PANELS)).toEqual(usualArrangement(PANELS));
  });

  it("keeps closed panels closed, and adds new ones without showing them", () => {
    const layout = closePanel(arranged.layout, "c");
    saveArrangement("ada", { ...arranged, layout }, PANELS);
    expect(panelsIn(loadArrangement("ada", PANELS).layout)).toEqual(["a", "b"]);
    const later = loadArrangement("ada", [...PANELS, "d"]).layout;
    expect(later.root).toMatchObject({ first: { tabs: ["a", "d"], active: "a" }, second: { tabs: ["b"] } });
  });

  it("leaves out panels that no longer exist", () => {
    saveArrangement("ada", arranged, PANELS);
    expect(loadArrangement("ada", ["a", "c"]).layout).toEqual({ ...singleGroup(["a", "c"]), maximised: null });
  });

  it.each([
    ["not JSON", "{"],
    ["nothing", "null"],
    ["another version", JSON.stringify({ version: 2, ...arranged, panels: PANELS })],
    ["no layout", JSON.stringify({ version: 1 })],
    ["an unknown kind", saved({ kind: "heap" })],
    ["a panel twice", saved({ kind: "group", id: "g1", tabs: ["a", "a"], active: "a" })],
    ["a group twice", saved(splitOf(0.5, group("g1", "a"), group("g1", "b")))],
    ["a share of nothing", saved(splitOf(0, group("g1", "a"), group("g2", "b")))],
    ["a share that is no number", saved(splitOf("half", group("g1", "a"), group("g2", "b")))],
    ["a very deep tree", saved(deep(40))],
  ])("is replaced by the usual one if it is %s", (_, text) => {
    localStorage.setItem(KEY, text);
    expect(loadArrangement("ada", PANELS)).toEqual(usualArrangement(PANELS));
  });

  it("replaces only what is wrong with the conversation's width", () => {
    const wrong = { version: 1, ...arranged, conversation: "wide", panels: PANELS };
    localStorage.setItem(KEY, JSON.stringify(wrong));
    expect(loadArrangement("ada", PANELS)).toEqual({ ...arranged, conversation: 36 });
  });

  it("is not needed: a browser without storage works", () => {
    vi.spyOn(Storage.prototype, "getItem").mockImplementation(() => {
      throw new Error("denied");
    });
    expect(loadArrangement("ada", PANELS)).toEqual(usualArrangement(PANELS));
  });
});

function saved(root: unknown): string {
  return JSON.stringify({ version: 1, layout: { root, maximised: null }, panels: PANELS });
}

function group(id: string, panel: string) {
  return { kind: "group", id, tabs: [panel], active: panel };
}

function splitOf(share: unknown, first: unknown, second: unknown) {
  return { kind: "split", direction: "row", share, first, second };
}

function deep(depth: number): unknown {
  return depth === 0 ? group("g0", "a") : splitOf(0.5, deep(depth - 1), group(`g${depth}`, `p${depth}`));
}
