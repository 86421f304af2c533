import { ChevronLeft, ChevronRight, Images } from "lucide-react";
import { useState } from "react";

import { blobUrl } from "../../api/urls";
import { Button } from "../../components/Button";
import { Placeholder } from "../../components/Placeholder";
import { formatMoment } from "../../lib/time";
import { describeCall } from "../conversation/describeCall";
import type { Item, Shot } from "../conversation/items";
import { useLiveSession } from "../session/LiveSession";

/** Every picture that the agent took, to go through like a film. It follows the newest until moved. */
export function ReplayPanel() {
  const { timeline } = useLiveSession();
  const { shots, items } = timeline;
  const [chosen, setChosen] = useState<number | null>(null);
  const found = chosen === null ? -1 : shots.findIndex(({ id }) => id === chosen);
  const at = found === -1 ? shots.length - 1 : found;
  const shot = shots[at];
  if (!shot) {
    return (
      <div className="grid h-full place-items-center overflow-auto">
        <Placeholder icon={<Images aria-hidden />} title="No screenshots yet">
          Each time the agent looks at the screen, the picture is added here.
        </Placeholder>
      </div>
    );
  }
  const go = (index: number) => {
    const next = shots[index];
    if (next) setChosen(index === shots.length - 1 ? null : next.id);
  };
  const words = captionOf(shot, items);
  return (
    <section aria-label="Replay" className="@container flex h-full min-h-0 flex-col bg-page">
      <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)] place-items-center p-2 @xl:p-3">
        <img
          src={blobUrl(shot.blob)}
          width={shot.width}
          height={shot.height}
          alt={words === null ? `Screenshot ${at + 1}` : `Screenshot ${at + 1}: ${words}`}
          className="h-auto max-h-full min-h-0 w-auto max-w-full rounded-lg border border-line-strong object-contain shadow-lift"
        />
      </div>
      <div className="flex shrink-0 flex-col gap-1 border-t border-line bg-surface px-3 py-2">
        <div className="flex min-w-0 items-baseline gap-2 text-[13px]">
          <span className="min-w-0 flex-1 truncate">{words ?? "Looked at the screen"}</span>
          <span className="shrink-0 text-xs text-faint tabular-nums">{formatMoment(shot.at)}</span>
        </div>
        <div className="flex items-center gap-1.5">
          <Button look="ghost" square aria-label="Previous screenshot" disabled={at === 0} onClick={() => go(at - 1)}>
            <ChevronLeft aria-hidden className="size-4" />
          </Button>
          <input
            type="range"
            aria-label="Screenshot"
            aria-valuetext={`${at + 1} of ${shots.length}`}
            min={0}
            max={shots.length - 1}
            value={at}
            onChange={(event) => go(Number(event.target.value))}
            className="h-8 min-w-0 flex-1 accent-(--color-accent)"
          />
          <Button
            look="ghost"
            square
            aria-label="Next screenshot"
            disabled={at === shots.length - 1}
            onClick={() => go(at + 1)}
          >
            <ChevronRight aria-hidden className="size-4" />
          </Button>
          <span className="min-w-14 text-right text-xs text-faint tabular-nums">
            {at + 1} of {shots.length}
          </span>
        </div>
      </div>
    </section>
  );
}

/** Returns the sentence of the call that a picture belongs to. */
function captionOf(shot: Shot, items: readonly Item[]): string | null {
  for (const item of items) {
    if (item.kind === "call" && item.shots.some(({ id }) => id === shot.id)) return describeCall(item);
  }
  return null;
}
