import { useState } from "react";

import type { PanelId } from "./layout";

/** New things in panels, by panel. Each thing has a name, such as the number of a port. */
export type PanelNews = Readonly<Record<PanelId, readonly string[]>>;

/** Returns the panels that have something which was not there when the panel was last visible. */
export function useMarks(news: PanelNews, visible: ReadonlySet<PanelId>): ReadonlySet<PanelId> {
  const [seen, setSeen] = useState<PanelNews>({});
  const next = Object.fromEntries(
    Object.entries(news).map(([panel, things]) => {
      const known = visible.has(panel) ? things : (seen[panel] ?? []).filter((thing) => things.includes(thing));
      return [panel, known];
    }),
  );
  const isSame = Object.entries(next).every(([panel, known]) => known.join() === (seen[panel] ?? []).join());
  if (!isSame) setSeen(next);
  const hasNew = (panel: PanelId) => news[panel]?.some((thing) => !next[panel]?.includes(thing));
  return new Set(Object.keys(news).filter(hasNew));
}
