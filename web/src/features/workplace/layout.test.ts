import { describe, expect, it } from "vitest";

import { dropAt, moveTowards, placed, splitOff } from "./geometry";
import {
  closePanel,
  groupsIn,
  type Layout,
  movePanel,
  type PanelTree,
  panelsIn,
  resize,
  showPanel,
  type Side,
  singleGroup,
  toggleMaximised,
} from "./layout";

/** Writes a layout on one line: `[a b*]` is a group, `(x | y)` a row and `(x / y)` a column. */
function drawn({ root, maximised }: Layout): string {
  const draw = (tree: PanelTree): string => {
    if (tree.kind === "group") {
      const tabs = tree.tabs.map((tab) => (tab === tree.active ? `${tab}*` : tab));
      return `[${tabs.join(" ")}]${tree.id === maximised ? "!" : ""}`;
    }
    return `(${draw(tree.first)} ${tree.direction === "row" ? "|" : "/"} ${draw(tree.second)})`;
  };
  return root ? draw(root) : "nothing";
}

const abc = singleGroup(["a", "b", "c"]);
const split = splitOff(abc, "b", "right");
const three = splitOff(split, "c", "bottom");

describe("a layout", () => {
  it("begins with all panels in one group", () => {
    expect(drawn(abc)).toBe("[a* b c]");
    expect(drawn(singleGroup([]))).toBe("nothing");
  });

  it("shows one panel of a group", () => {
    expect(drawn(showPanel(abc, "c"))).toBe("[a b c*]");
    expect(showPanel(abc, "a")).toBe(abc);
  });

  it("splits a group", () => {
    expect(drawn(split)).toBe("([a* c] | [b*])");
    expect(drawn(three)).toBe("(([a*] / [c*]) | [b*])");
    expect(drawn(splitOff(abc, "c", "top"))).toBe("([c*] / [a* b])");
    expect(drawn(splitOff(abc, "c", "left"))).toBe("([c*] | [a* b])");
  });

  it("does not split a single panel from itself", () => {
    const one = singleGroup(["a"]);
    expect(splitOff(one, "a", "right")).toBe(one);
    expect(movePanel(one, "a", { kind: "side", group: null, side: "top" })).toBe(one);
  });

  it("gives the room of an empty group to its neighbour", () => {
    expect(drawn(closePanel(split, "b"))).toBe("[a* c]");
    expect(drawn(closePanel(three, "a"))).toBe("([c*] | [b*])");
    expect(drawn(closePanel(singleGroup(["a"]), "a"))).toBe("nothing");
  });

  it("shows the neighbour of a closed tab", () => {
    expect(drawn(closePanel(abc, "a"))).toBe("[b* c]");
    expect(drawn(closePanel(showPanel(abc, "c"), "c"))).toBe("[a b*]");
    expect(drawn(closePanel(showPanel(abc, "b"), "b"))).toBe("[a* c]");
    expect(drawn(closePanel(abc, "b"))).toBe("[a* c]");
  });

  it("opens a closed panel beside the one that was used", () => {
    const closed = closePanel(split, "c");
    expect(drawn(showPanel(closed, "c", "b"))).toBe("([a*] | [b c*])");
    expect(drawn(showPanel(closed, "c"))).toBe("([a c*] | [b*])");
    expect(drawn(showPanel(singleGroup([]), "c"))).toBe("[c*]");
  });

  it("reorders tabs", () => {
    const at = (index: number) => drawn(movePanel(abc, "a", { kind: "tab", group: "g1", index }));
    expect([0, 1, 2, 3].map(at)).toEqual(["[a* b c]", "[a* b c]", "[b a* c]", "[b c a*]"]);
    expect(drawn(movePanel(abc, "c", { kind: "tab", group: "g1", index: 0 }))).toBe("[c* a b]");
  });

  it("moves a tab into another group, at a position", () => {
    const g2 = groupsIn(split.root)[1]?.id ?? "";
    expect(drawn(movePanel(split, "c", { kind: "tab", group: g2, index: 0 }))).toBe("([a*] | [c* b])");
    expect(drawn(movePanel(split, "b", { kind: "tab", group: "g1" }))).toBe("[a c b*]");
  });

  it("maximises a group until another one is needed", () => {
    const large = toggleMaximised(split, "g1");
    expect(drawn(large)).toBe("([a* c]! | [b*])");
    expect(drawn(showPanel(large, "c"))).toBe("([a c*]! | [b*])");
    expect(drawn(showPanel(large, "b"))).toBe("([a* c] | [b*])");
    expect(drawn(toggleMaximised(large, "g1"))).toBe("([a* c] | [b*])");
    expect(drawn(splitOff(large, "c", "bottom"))).toBe("(([a*] / [c*]) | [b*])");
    expect(drawn(closePanel(toggleMaximised(split, "g2"), "b"))).toBe("[a* c]");
  });

  it("keeps both parts of a split wide enough", () => {
    const shares = [0.01, 0.4, 2].map((share) => placed(resize(three, ["first"], share)).splits[1]?.split.share);
    expect(shares).toEqual([0.15, 0.4, 0.85]);
    expect(placed(resize(three, ["first"], 0.4)).splits[0]?.split.share).toBe(0.5);
  });
});

describe("moving towards a side", () => {
  it("joins the group that is there", () => {
    expect(drawn(moveTowards(split, "c", "right"))).toBe("([a*] | [b c*])");
    expect(drawn(moveTowards(three, "b", "left"))).toMatch(/\[(a|c) b\*\]/);
    expect(drawn(moveTowards(three, "c", "top"))).toBe("([a c*] | [b*])");
  });

  it("makes a group at the edge of everything", () => {
    expect(drawn(moveTowards(abc, "b", "bottom"))).toBe("([a* c] / [b*])");
    expect(drawn(moveTowards(three, "c", "left"))).toBe("([c*] | ([a*] | [b*]))");
    expect(drawn(moveTowards(three, "b", "bottom"))).toBe("(([a*] / [c*]) / [b*])");
  });

  it("changes nothing if the panel is already there", () => {
    expect(moveTowards(split, "b", "right")).toBe(split);
    expect(moveTowards(singleGroup(["a"]), "a", "left")).toMatchObject(singleGroup(["a"]));
  });
});

describe("rectangles", () => {
  it("cover the area without gaps", () => {
    const layout = resize(resize(three, [], 0.25), ["first"], 0.75);
    const rects = placed(layout).groups.map(({ group, rect }) => [group.active, rect]);
    expect(rects).toEqual([
      ["a", { left: 0, top: 0, width: 0.25, height: 0.75 }],
      ["c", { left: 0, top: 0.75, width: 0.25, height: 0.25 }],
      ["b", { left: 0.25, top: 0, width: 0.75, height: 1 }],
    ]);
  });

  it("keep every panel once, whatever is moved", () => {
    const sides: Side[] = ["left", "right", "top", "bottom"];
    // Park and Miller's generator, so that a failure can be repeated.
    let seed = 42;
    const pick = <Value>(from: readonly Value[]): Value => {
      seed = (seed * 48_271) % 2_147_483_647;
      return from[seed % from.length] as Value;
    };
    let layout = singleGroup(["a", "b", "c", "d", "e", "f"]);
    for (let n = 0; n < 500; n += 1) {
      const panel = pick(panelsIn(layout));
      const group = pick(groupsIn(layout.root)).id;
      layout = pick([
        () => moveTowards(layout, panel, pick(sides)),
        () => splitOff(layout, panel, pick(sides)),
        () => movePanel(layout, panel, { kind: "tab", group, index: 0 }),
        () => movePanel(layout, panel, { kind: "side", group: pick([null, group]), side: pick(sides) }),
        () => showPanel(layout, panel),
        () => showPanel(closePanel(layout, panel), panel),
        () => toggleMaximised(layout, group),
      ])();
      const { groups } = placed(layout);
      expect(panelsIn(layout).toSorted()).toEqual(["a", "b", "c", "d", "e", "f"]);
      expect(new Set(groups.map((one) => one.group.id)).size).toBe(groups.length);
      expect(groups.every((one) => one.group.tabs.includes(one.group.active))).toBe(true);
      expect(layout.maximised === null || groups.some((one) => one.group.id === layout.maximised)).toBe(true);
      const surface = groups.reduce((sum, { rect }) => sum + rect.width * rect.height, 0);
      expect(surface).toBeCloseTo(1);
    }
  });
});

describe("dropping", () => {
  const area = { width: 1000, height: 800 };
  const at = (x: number, y: number) => dropAt(split, { x, y }, area);

  it("joins a group in its middle", () => {
    expect(at(250, 400)?.place).toEqual({ kind: "tab", group: "g1" });
    expect(at(750, 400)).toEqual({
      place: { kind: "tab", group: "g2" },
      rect: { left: 0.5, top: 0, width: 0.5, height: 1 },
    });
  });

  it("makes a new group near a side", () => {
    expect(at(750, 700)).toEqual({
      place: { kind: "side", group: "g2", side: "bottom" },
      rect: { left: 0.5, top: 0.5, width: 0.5, height: 0.5 },
    });
    expect(at(450, 400)?.place).toEqual({ kind: "side", group: "g1", side: "right" });
  });

  it("goes to the side of everything at the edge", () => {
    expect(at(750, 795)).toEqual({
      place: { kind: "side", group: null, side: "bottom" },
      rect: { left: 0, top: 0.5, width: 1, height: 0.5 },
    });
  });

  it("goes nowhere outside", () => {
    expect(at(-5, 400)).toBeNull();
    expect(at(500, 900)).toBeNull();
  });
});
