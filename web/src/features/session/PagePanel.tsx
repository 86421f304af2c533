import { lastScreenUrl } from "../../api/urls";
import type { Timeline } from "../conversation/timeline";
import { PageView } from "../screen/PageView";
import type { PanelProps } from "../workplace/panel";
import { useLiveSession } from "./LiveSession";

/** The screen panel of a session whose computer has no screen. */
export function PagePanel({ session, sandbox }: PanelProps) {
  const { state, timeline } = useLiveSession();
  return (
    <PageView
      state={state}
      sandbox={sandbox}
      pictureUrl={lastScreenUrl(session.id, pictureNumber(timeline))}
    />
  );
}

/** Returns a number that grows whenever the page may look different: with each picture, and with each step in the browser. */
export function pictureNumber({ shots, items }: Pick<Timeline, "shots" | "items">): number {
  const isDone = (item: Timeline["items"][number]) =>
    item.kind === "call" && item.tool === "browser" && item.state !== "running" && item.state !== "waiting";
  return (shots.at(-1)?.id ?? 0) + items.filter(isDone).length;
}
