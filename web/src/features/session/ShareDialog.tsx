import * as Dialog from "@radix-ui/react-dialog";
import { UserPlus, X } from "lucide-react";
import { useState } from "react";

import { Button } from "../../components/Button";
import { RIGHTS_EXPLAINED } from "../../lib/rights";
import { useCommands } from "../commands/command";
import { HandOver } from "./HandOver";
import { SharedLinks } from "./SharedLinks";
import { SharedPeople } from "./SharedPeople";
import { WatchLinks } from "./WatchLinks";

/** Controls access to a session: people by name, and links for anyone who has them. */
export function ShareDialog({ sessionId }: { sessionId: string }) {
  const [isOpen, setIsOpen] = useState(false);
  useCommands([
    {
      id: "share",
      title: "Share…",
      group: "This session",
      icon: UserPlus,
      keywords: "people link owner",
      run: () => setIsOpen(true),
    },
  ]);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setIsOpen}>
      <Dialog.Trigger asChild>
        <Button aria-label="Share">
          <UserPlus aria-hidden className="size-4" />
          <span className="max-sm:hidden">Share</span>
        </Button>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-50 animate-appear bg-black/45" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-2rem)] w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 animate-appear flex-col gap-5 overflow-y-auto rounded-xl border border-line bg-raised p-5 shadow-over"
        >
          <div className="flex items-center">
            <Dialog.Title className="flex-1 text-base font-semibold">Share this session</Dialog.Title>
            <Dialog.Close asChild>
              <Button look="ghost" square aria-label="Close">
                <X aria-hidden className="size-4" />
              </Button>
            </Dialog.Close>
          </div>
          <p className="-mt-2 text-[13px] text-soft">{RIGHTS_EXPLAINED}</p>
          <SharedPeople sessionId={sessionId} />
          <SharedLinks sessionId={sessionId} />
          <WatchLinks sessionId={sessionId} />
          <HandOver sessionId={sessionId} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
