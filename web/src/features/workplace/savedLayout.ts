import { readStored, writeStored } from "../../lib/stored";
import {
  groupsIn,
  type Layout,
  MIN_SHARE,
  type PanelId,
  type PanelTree,
  panelsIn,
  showPanel,
  singleGroup,
  type TabGroup,
} from "./layout";

/** A person's arrangement of the session page. */
export interface Arrangement {
  layout: Layout;
  /** The width of the conversation, in percent. */
  conversation: number;
  isConversationHidden: boolean;
}

export const CONVERSATION_WIDTH = { usual: 36, min: 20, max: 70 };

const VERSION = 1;
/** Deeper trees are not made by hand. */
const MAX_DEPTH = 16;

function keyOf(user: string): string {
  return `deskhand.workplace.${user}`;
}

export function usualArrangement(panels: readonly PanelId[]): Arrangement {
  return {
    layout: singleGroup(panels),
    conversation: CONVERSATION_WIDTH.usual,
    isConversationHidden: false,
  };
}

/** An arrangement as it is stored, in this browser and on the server. Other versions of the page may have written it. */
export type SavedArrangement = Record<string, unknown>;

/** Stores the arrangement of a user in this browser, with the panels that they could choose from. Returns it. */
export function saveArrangement(user: string, arrangement: Arrangement, panels: readonly PanelId[]): SavedArrangement {
  const saved = { version: VERSION, ...arrangement, panels, at: Date.now() };
  keepArrangement(user, saved);
  return saved;
}

/** Stores an arrangement that was saved elsewhere in this browser. */
export function keepArrangement(user: string, saved: SavedArrangement): void {
  writeStored(keyOf(user), JSON.stringify(saved));
}

/** Returns the arrangement of a user that is stored in this browser, if there is one. */
export function keptArrangement(user: string): SavedArrangement | null {
  const saved = parsed(readStored(keyOf(user)));
  return isRecord(saved) ? saved : null;
}

/** Returns the time at which an arrangement was saved, in milliseconds. */
export function savedAt(saved: SavedArrangement | null): number {
  const at = saved?.["at"];
  return typeof at === "number" ? at : 0;
}

/** Reads the arrangement of a user that is stored in this browser. */
export function loadArrangement(user: string, panels: readonly PanelId[]): Arrangement {
  return readArrangement(keptArrangement(user), panels);
}

/** Reads an arrangement. Anything that cannot be used is replaced by the usual one. */
export function readArrangement(saved: SavedArrangement | null, panels: readonly PanelId[]): Arrangement {
  const usual = usualArrangement(panels);
  if (saved === null || saved["version"] !== VERSION || !isRecord(saved["layout"])) return usual;
  const used = new Set<string>();
  const ids = new Set<string>();
  const tree = readTree(saved["layout"]["root"], { panels, used, ids }, 0);
  if (tree === BROKEN) return usual;
  const { maximised } = saved["layout"];
  const isMaximised = groupsIn(tree).some(({ id }) => id === maximised);
  const layout: Layout = { root: tree, maximised: isMaximised ? String(maximised) : null };
  return {
    layout: withNewPanels(layout, panels, saved["panels"]),
    conversation: readWidth(saved["conversation"]),
    isConversationHidden: saved["isConversationHidden"] === true,
  };
}

/** Adds the panels that did not exist when the arrangement was stored. Those closed by hand stay closed. */
function withNewPanels(layout: Layout, panels: readonly PanelId[], known: unknown): Layout {
  const before = new Set(Array.isArray(known) ? known : panelsIn(layout));
  let next = layout;
  for (const panel of panels) {
    if (before.has(panel)) continue;
    const first = groupsIn(next.root)[0];
    next = showPanel(next, panel);
    // A new panel does not take the place of the visible one.
    if (first) next = showPanel(next, first.active);
  }
  return { ...next, maximised: layout.maximised };
}

const BROKEN = Symbol("broken");

interface Reading {
  panels: readonly PanelId[];
  /** The panels and groups met so far. Each is there once. */
  used: Set<string>;
  ids: Set<string>;
}

/** Reads a tree. Panels that no longer exist are left out. */
function readTree(value: unknown, reading: Reading, depth: number): PanelTree | null | typeof BROKEN {
  if (value === null) return null;
  if (!isRecord(value) || depth > MAX_DEPTH) return BROKEN;
  if (value["kind"] === "group") return readGroup(value, reading);
  const { kind, direction, share } = value;
  if (kind !== "split" || (direction !== "row" && direction !== "column")) return BROKEN;
  if (typeof share !== "number" || !(share >= MIN_SHARE && share <= 1 - MIN_SHARE)) return BROKEN;
  const first = readTree(value["first"], reading, depth + 1);
  const second = readTree(value["second"], reading, depth + 1);
  if (first === BROKEN || second === BROKEN) return BROKEN;
  if (first === null || second === null) return first ?? second;
  return { kind, direction, share, first, second };
}

function readGroup(value: Record<string, unknown>, reading: Reading): TabGroup | null | typeof BROKEN {
  const { id, tabs, active } = value;
  if (typeof id !== "string" || !Array.isArray(tabs) || reading.ids.has(id)) return BROKEN;
  reading.ids.add(id);
  const kept: PanelId[] = [];
  for (const tab of tabs) {
    if (typeof tab !== "string" || reading.used.has(tab)) return BROKEN;
    reading.used.add(tab);
    if (reading.panels.includes(tab)) kept.push(tab);
  }
  const [first] = kept;
  if (first === undefined) return null;
  const visible = kept.find((tab) => tab === active) ?? first;
  return { kind: "group", id, tabs: kept, active: visible };
}

function readWidth(value: unknown): number {
  const { usual, min, max } = CONVERSATION_WIDTH;
  return typeof value === "number" && value >= min && value <= max ? value : usual;
}

function parsed(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
