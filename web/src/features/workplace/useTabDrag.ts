import { type PointerEvent, type RefObject, useCallback, useEffect, useRef, useState } from "react";

import { type Drop, dropAt, placed } from "./geometry";
import { type Layout, movePanel, type PanelId, type Place } from "./layout";

interface TabDragOptions {
  area: RefObject<HTMLElement | null>;
  layout: Layout;
  onDrop: (panel: PanelId, place: Place) => void;
}

export interface TabDrag {
  /** The panel whose tab is being moved. */
  moved: PanelId | null;
  /** The place under the pointer. */
  drop: Drop | null;
  /** Returns the handlers of a panel's tab. */
  handlers: (panel: PanelId) => {
    onPointerDown: (event: PointerEvent) => void;
    onPointerMove: (event: PointerEvent) => void;
    onPointerUp: (event: PointerEvent) => void;
    onPointerCancel: () => void;
  };
}

/** A pointer that moves less than this, in pixels, clicks. */
const CLICK = 6;

/** Lets people drag tabs to other groups and sides with a mouse or a pen. */
export function useTabDrag({ area, layout, onDrop }: TabDragOptions): TabDrag {
  const start = useRef<{ panel: PanelId; x: number; y: number } | null>(null);
  const [moved, setMoved] = useState<PanelId | null>(null);
  const [drop, setDrop] = useState<Drop | null>(null);
  const end = useCallback(() => {
    start.current = null;
    setMoved(null);
    setDrop(null);
  }, []);

  useEffect(() => {
    if (moved === null) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      end();
    };
    window.addEventListener("keydown", onKeyDown, { capture: true });
    return () => window.removeEventListener("keydown", onKeyDown, { capture: true });
  }, [moved, end]);

  const handlers = (panel: PanelId) => ({
    onPointerDown: (event: PointerEvent) => {
      // With a finger, tabs are scrolled. The menu moves panels too. A maximised group hides all
      // other places.
      if (event.button !== 0 || event.pointerType === "touch" || layout.maximised !== null) return;
      start.current = { panel, x: event.clientX, y: event.clientY };
      // A quick pointer leaves the tab with its first move.
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent) => {
      const from = start.current;
      if (from === null || from.panel !== panel) return;
      const distance = Math.hypot(event.clientX - from.x, event.clientY - from.y);
      if (moved === null && distance < CLICK) return;
      setMoved(panel);
      const next = dropUnder(event, area.current, layout);
      const isChange = next !== null && movePanel(layout, panel, next.place) !== layout;
      setDrop(isChange ? next : null);
    },
    onPointerUp: () => {
      if (moved !== null && drop !== null) onDrop(moved, drop.place);
      end();
    },
    onPointerCancel: end,
  });
  return { moved, drop, handlers };
}

/** Returns the place under the pointer: between tabs, or in the area. */
function dropUnder(
  { clientX, clientY }: PointerEvent,
  area: HTMLElement | null,
  layout: Layout,
): Drop | null {
  if (area === null) return null;
  const box = area.getBoundingClientRect();
  const list = [...area.querySelectorAll<HTMLElement>("[data-group]")].find((bar) =>
    isWithin(bar.getBoundingClientRect(), clientX, clientY),
  );
  const group = list?.dataset["group"];
  const under = placed(layout).groups.find((one) => one.group.id === group);
  if (list && under) {
    const tabs = [...list.querySelectorAll('[role="tab"]')].map((tab) => tab.getBoundingClientRect());
    const index = tabs.filter((tab) => clientX > tab.left + tab.width / 2).length;
    const x = tabs[index]?.left ?? tabs.at(-1)?.right ?? 0;
    const bar = list.getBoundingClientRect();
    // The line between two tabs.
    const rect = {
      left: (x - 2 - box.left) / box.width,
      top: under.rect.top,
      width: 4 / box.width,
      height: bar.height / box.height,
    };
    return { place: { kind: "tab", group: under.group.id, index }, rect };
  }
  return dropAt(layout, { x: clientX - box.left, y: clientY - box.top }, box);
}

function isWithin({ left, top, right, bottom }: DOMRect, x: number, y: number): boolean {
  return x >= left && x <= right && y >= top && y <= bottom;
}
