/**
 * The arrangement of panels: groups of tabs in a tree of splits.
 *
 * All functions return a new layout, or the same one if nothing changes. A panel is in at most one
 * group, no group is empty, and a maximised group exists.
 */

export type PanelId = string;
export type Side = "left" | "right" | "top" | "bottom";

/** Panels in one place, of which one is visible. */
export interface TabGroup {
  kind: "group";
  id: string;
  tabs: readonly PanelId[];
  active: PanelId;
}

/** Two parts beside each other (`row`), or one above the other (`column`). */
export interface PanelSplit {
  kind: "split";
  direction: "row" | "column";
  /** The share of the first part, between 0 and 1. */
  share: number;
  first: PanelTree;
  second: PanelTree;
}

export type PanelTree = TabGroup | PanelSplit;

export interface Layout {
  /** `null` if no panel is open. */
  root: PanelTree | null;
  /** The group that covers all others. */
  maximised: string | null;
}

/** The way from the root to a split. */
export type SplitPath = readonly ("first" | "second")[];

/** A place for a panel: a tab of a group, or a new group at a side of a group or of the whole area. */
export type Place =
  | { kind: "tab"; group: string; index?: number }
  | { kind: "side"; group: string | null; side: Side };

export const MIN_SHARE = 0.15;

export function singleGroup(tabs: readonly PanelId[]): Layout {
  const [active] = tabs;
  if (active === undefined) return { root: null, maximised: null };
  return { root: { kind: "group", id: "g1", tabs, active }, maximised: null };
}

export function groupsIn(tree: PanelTree | null): TabGroup[] {
  if (tree === null) return [];
  if (tree.kind === "group") return [tree];
  return [...groupsIn(tree.first), ...groupsIn(tree.second)];
}

/** Returns all open panels. */
export function panelsIn(layout: Layout): PanelId[] {
  return groupsIn(layout.root).flatMap(({ tabs }) => tabs);
}

export function groupOf(layout: Layout, panel: PanelId): TabGroup | undefined {
  return groupsIn(layout.root).find(({ tabs }) => tabs.includes(panel));
}

/** Makes a panel visible. One that is not open joins the group of `near`, or the first group. */
export function showPanel(layout: Layout, panel: PanelId, near: PanelId | null = null): Layout {
  const own = groupOf(layout, panel);
  if (own) {
    const isVisible = own.active === panel && [null, own.id].includes(layout.maximised);
    if (isVisible) return layout;
    return {
      root: changeGroup(layout.root, own.id, (group) => ({ ...group, active: panel })),
      maximised: layout.maximised === own.id ? own.id : null,
    };
  }
  const target = (near !== null && groupOf(layout, near)) || groupsIn(layout.root)[0];
  if (!target) return singleGroup([panel]);
  return insert(layout, panel, { kind: "tab", group: target.id });
}

export function closePanel(layout: Layout, panel: PanelId): Layout {
  const own = groupOf(layout, panel);
  if (!own) return layout;
  const root = changeGroup(layout.root, own.id, (group) => without(group, panel));
  const isStillThere = groupsIn(root).some(({ id }) => id === layout.maximised);
  return { root, maximised: isStillThere ? layout.maximised : null };
}

/** Moves an open panel. */
export function movePanel(layout: Layout, panel: PanelId, place: Place): Layout {
  const own = groupOf(layout, panel);
  if (!own) return layout;
  const isAlone = own.tabs.length === 1;
  // The group would end before the panel could be put back.
  if (isAlone && (place.group === own.id || groupsIn(layout.root).length === 1)) return layout;
  if (place.kind === "tab" && place.group === own.id) {
    return { ...layout, root: changeGroup(layout.root, own.id, (group) => reordered(group, panel, place.index)) };
  }
  return insert({ ...closePanel(layout, panel), maximised: null }, panel, place);
}

export function resize(layout: Layout, path: SplitPath, share: number): Layout {
  const kept = Math.min(1 - MIN_SHARE, Math.max(MIN_SHARE, share));
  return { ...layout, root: layout.root && withShare(layout.root, path, kept) };
}

/** Lets a group cover all others, or ends that. */
export function toggleMaximised(layout: Layout, group: string): Layout {
  return { ...layout, maximised: layout.maximised === group ? null : group };
}

function insert(layout: Layout, panel: PanelId, place: Place): Layout {
  const { root } = layout;
  if (root === null) return singleGroup([panel]);
  if (place.kind === "tab") {
    const join = (group: TabGroup): TabGroup => {
      const tabs = group.tabs.toSpliced(place.index ?? group.tabs.length, 0, panel);
      return { ...group, tabs, active: panel };
    };
    const maximised = layout.maximised === place.group ? place.group : null;
    return { root: changeGroup(root, place.group, join), maximised };
  }
  const added: TabGroup = { kind: "group", id: newGroupId(root), tabs: [panel], active: panel };
  const beside = (tree: PanelTree): PanelSplit => {
    const isFirst = place.side === "left" || place.side === "top";
    return {
      kind: "split",
      direction: place.side === "left" || place.side === "right" ? "row" : "column",
      share: 0.5,
      first: isFirst ? added : tree,
      second: isFirst ? tree : added,
    };
  };
  const next = place.group === null ? beside(root) : changeGroup(root, place.group, beside);
  return { root: next, maximised: null };
}

function newGroupId(root: PanelTree): string {
  const taken = new Set(groupsIn(root).map(({ id }) => id));
  let n = 1;
  while (taken.has(`g${n}`)) n += 1;
  return `g${n}`;
}

/** Replaces a group. If nothing replaces it, the other part of its split takes the room. */
function changeGroup(
  tree: PanelTree | null,
  id: string,
  change: (group: TabGroup) => PanelTree | null,
): PanelTree | null {
  if (tree === null) return null;
  if (tree.kind === "group") return tree.id === id ? change(tree) : tree;
  const first = changeGroup(tree.first, id, change);
  const second = changeGroup(tree.second, id, change);
  if (first === null || second === null) return first ?? second;
  return first === tree.first && second === tree.second ? tree : { ...tree, first, second };
}

function without(group: TabGroup, panel: PanelId): TabGroup | null {
  const at = group.tabs.indexOf(panel);
  const tabs = group.tabs.toSpliced(at, 1);
  const neighbour = tabs[Math.max(at - 1, 0)];
  if (neighbour === undefined) return null;
  return { ...group, tabs, active: group.active === panel ? neighbour : group.active };
}

/** Moves a tab within its group. `index` counts the tabs as they are before the move. */
function reordered(group: TabGroup, panel: PanelId, index = group.tabs.length): TabGroup {
  const at = group.tabs.indexOf(panel);
  const to = index > at ? index - 1 : index;
  return { ...group, tabs: group.tabs.toSpliced(at, 1).toSpliced(to, 0, panel), active: panel };
}

function withShare(tree: PanelTree, path: SplitPath, share: number): PanelTree {
  if (tree.kind === "group") return tree;
  const [step, ...rest] = path;
  if (step === undefined) return { ...tree, share };
  return { ...tree, [step]: withShare(tree[step], rest, share) };
}
