import {
  type Layout,
  groupOf,
  movePanel,
  type PanelId,
  type PanelSplit,
  type PanelTree,
  type Place,
  type Side,
  type SplitPath,
  type TabGroup,
} from "./layout";

/** A rectangle. Fractions of the area between 0 and 1, or pixels where a function says so. */
export interface Rect {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface PlacedGroup {
  group: TabGroup;
  rect: Rect;
}

export interface PlacedSplit {
  split: PanelSplit;
  path: SplitPath;
  /** Both parts together. */
  rect: Rect;
}

export const WHOLE: Rect = { left: 0, top: 0, width: 1, height: 1 };

/** Returns the rectangles of all groups and splits, as if nothing were maximised. */
export function placed(layout: Layout): { groups: PlacedGroup[]; splits: PlacedSplit[] } {
  const groups: PlacedGroup[] = [];
  const splits: PlacedSplit[] = [];
  const walk = (tree: PanelTree, rect: Rect, path: SplitPath) => {
    if (tree.kind === "group") {
      groups.push({ group: tree, rect });
      return;
    }
    splits.push({ split: tree, path, rect });
    const [first, second] = parts(rect, tree.direction, tree.share);
    walk(tree.first, first, [...path, "first"]);
    walk(tree.second, second, [...path, "second"]);
  };
  if (layout.root) walk(layout.root, WHOLE, []);
  return { groups, splits };
}

function parts(rect: Rect, direction: PanelSplit["direction"], share: number): [Rect, Rect] {
  const { left, top, width, height } = rect;
  if (direction === "row") {
    const border = width * share;
    return [
      { ...rect, width: border },
      { ...rect, left: left + border, width: width - border },
    ];
  }
  const border = height * share;
  return [
    { ...rect, height: border },
    { ...rect, top: top + border, height: height - border },
  ];
}

/** Rounding moves borders by less than this. */
const NEAR = 1e-6;

/** Returns the group that shares the longest border with a group at one side. */
function neighbour(groups: readonly PlacedGroup[], from: PlacedGroup, side: Side): TabGroup | undefined {
  let best: TabGroup | undefined;
  let longest = NEAR;
  for (const { group, rect } of groups) {
    const length = sharedBorder(from.rect, rect, side);
    if (group.id !== from.group.id && length > longest) {
      best = group;
      longest = length;
    }
  }
  return best;
}

function sharedBorder(from: Rect, to: Rect, side: Side): number {
  const gaps: Record<Side, number> = {
    left: from.left - (to.left + to.width),
    right: to.left - (from.left + from.width),
    top: from.top - (to.top + to.height),
    bottom: to.top - (from.top + from.height),
  };
  if (Math.abs(gaps[side]) > NEAR) return 0;
  return side === "left" || side === "right"
    ? overlap(from.top, from.height, to.top, to.height)
    : overlap(from.left, from.width, to.left, to.width);
}

function overlap(a: number, aSize: number, b: number, bSize: number): number {
  return Math.min(a + aSize, b + bSize) - Math.max(a, b);
}

/**
 * Moves a panel to the next group at a side. At the edge of the area it becomes a group of its own
 * there.
 */
export function moveTowards(layout: Layout, panel: PanelId, side: Side): Layout {
  const { groups } = placed(layout);
  const own = groups.find(({ group }) => group.tabs.includes(panel));
  if (!own) return layout;
  const next = neighbour(groups, own, side);
  if (next) return movePanel(layout, panel, { kind: "tab", group: next.id });
  const { width, height } = own.rect;
  const isWholeEdge = (side === "left" || side === "right" ? height : width) > 1 - NEAR;
  if (own.group.tabs.length === 1 && isWholeEdge) return layout;
  return movePanel(layout, panel, { kind: "side", group: null, side });
}

/** Moves a panel out of its group, into a new one beside it. */
export function splitOff(layout: Layout, panel: PanelId, side: Side): Layout {
  const own = groupOf(layout, panel);
  return own ? movePanel(layout, panel, { kind: "side", group: own.id, side }) : layout;
}

/** This close to the edge of the whole area, in pixels, a panel goes to the side of everything. */
const OUTER_EDGE = 20;
/** The share of a group at each side that makes a new group. The middle makes a tab. */
const INNER_EDGE = 0.25;

export interface Drop {
  place: Place;
  /** The place to highlight, in fractions of the area. */
  rect: Rect;
}

/** Returns the place for a panel that is dropped at a point, in pixels of an area of this size. */
export function dropAt(
  layout: Layout,
  point: { x: number; y: number },
  area: { width: number; height: number },
): Drop | null {
  const { x, y } = point;
  if (x < 0 || y < 0 || x > area.width || y > area.height) return null;
  const at = { x: x / area.width, y: y / area.height };
  const outer = nearestSide({ x, y }, { left: 0, top: 0, ...area });
  if (outer.distance < OUTER_EDGE) {
    return { place: { kind: "side", group: null, side: outer.side }, rect: half(WHOLE, outer.side) };
  }
  const under = placed(layout).groups.find(({ rect }) => contains(rect, at));
  if (!under) return null;
  const { group, rect } = under;
  const inside = { x: (at.x - rect.left) / rect.width, y: (at.y - rect.top) / rect.height };
  const inner = nearestSide(inside, WHOLE);
  if (inner.distance < INNER_EDGE) {
    return { place: { kind: "side", group: group.id, side: inner.side }, rect: half(rect, inner.side) };
  }
  return { place: { kind: "tab", group: group.id }, rect };
}

function contains(rect: Rect, { x, y }: { x: number; y: number }): boolean {
  return (
    x >= rect.left && y >= rect.top && x <= rect.left + rect.width && y <= rect.top + rect.height
  );
}

function nearestSide({ x, y }: { x: number; y: number }, rect: Rect): { side: Side; distance: number } {
  const distances: [Side, number][] = [
    ["left", x - rect.left],
    ["right", rect.left + rect.width - x],
    ["top", y - rect.top],
    ["bottom", rect.top + rect.height - y],
  ];
  const [side, distance] = distances.reduce((least, other) => (other[1] < least[1] ? other : least));
  return { side, distance };
}

function half(rect: Rect, side: Side): Rect {
  const [first, second] = parts(rect, side === "left" || side === "right" ? "row" : "column", 0.5);
  return side === "left" || side === "top" ? first : second;
}
