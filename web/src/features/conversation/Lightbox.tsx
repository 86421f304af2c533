import * as Dialog from "@radix-ui/react-dialog";
import { ChevronLeft, ChevronRight, X } from "lucide-react";
import type { KeyboardEvent } from "react";

import { blobUrl } from "../../api/urls";
import { Button } from "../../components/Button";
import { formatMoment } from "../../lib/time";
import type { Shot } from "./items";

interface LightboxProps {
  shots: readonly Shot[];
  /** The screenshot that is shown, or `null` for none. */
  openId: number | null;
  onOpen: (id: number | null) => void;
}

const ON_DARK = "text-white/85 hover:bg-white/15 hover:text-white focus-visible:outline-white";

/** Shows the session's screenshots at full size, one at a time. */
export function Lightbox({ shots, openId, onOpen }: LightboxProps) {
  const index = shots.findIndex(({ id }) => id === openId);
  const shot = shots[index];
  const step = (by: number) => {
    const next = shots[index + by];
    if (next) onOpen(next.id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowLeft") step(-1);
    if (event.key === "ArrowRight") step(1);
  };

  return (
    <Dialog.Root open={shot !== undefined} onOpenChange={(isOpen) => !isOpen && onOpen(null)}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-50 animate-appear bg-black/85" />
        <Dialog.Content
          aria-describedby={undefined}
          onKeyDown={onKeyDown}
          className="fixed inset-0 z-50 flex flex-col outline-none"
        >
          <div className="flex h-14 shrink-0 items-center gap-3 px-4 text-white">
            <Dialog.Title className="text-sm font-medium tabular-nums">
              Screenshot {index + 1} of {shots.length}
            </Dialog.Title>
            {shot && (
              <span className="truncate text-[13px] text-white/65">{formatMoment(shot.at)}</span>
            )}
            <Dialog.Close asChild>
              <Button look="ghost" square aria-label="Close" className={`ml-auto ${ON_DARK}`}>
                <X aria-hidden className="size-5" />
              </Button>
            </Dialog.Close>
          </div>
          {/* A click beside the picture closes it, as everywhere. The keyboard has Escape. */}
          {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions */}
          <div
            className="grid min-h-0 flex-1 place-items-center px-2 sm:px-4"
            onClick={(event) => event.target === event.currentTarget && onOpen(null)}
          >
            {shot && (
              <img
                src={blobUrl(shot.blob)}
                width={shot.width}
                height={shot.height}
                alt={`Screenshot ${index + 1} of the agent's desktop`}
                className="h-auto max-h-full w-auto max-w-full rounded-md object-contain shadow-over"
              />
            )}
          </div>
          <div className="flex h-16 shrink-0 items-center justify-center gap-2">
            <Button look="ghost" className={ON_DARK} disabled={index <= 0} onClick={() => step(-1)}>
              <ChevronLeft aria-hidden className="size-4" /> Previous
            </Button>
            <Button
              look="ghost"
              className={ON_DARK}
              disabled={index >= shots.length - 1}
              onClick={() => step(1)}
            >
              Next <ChevronRight aria-hidden className="size-4" />
            </Button>
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
