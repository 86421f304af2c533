import * as Dialog from "@radix-ui/react-dialog";
import { X } from "lucide-react";

import { Button } from "../../components/Button";
import { Keys } from "../../components/Keys";
import { COMMAND_GROUPS, openDialog, useAllCommands } from "./command";
import { keyNames, setSingleKeys, singleKeys } from "./shortcut";

interface KeyLine {
  title: string;
  keys: readonly string[];
}

/** Keys that belong to one place of the page, which no command has. */
const PLACES: readonly { place: string; lines: readonly KeyLine[] }[] = [
  {
    place: "In the message",
    lines: [
      { title: "Send", keys: ["Enter"] },
      { title: "Start a new line", keys: ["Shift", "Enter"] },
    ],
  },
  {
    place: "On the screen, while you have control",
    lines: [{ title: "Hand back", keys: ["Ctrl", "Alt", "W"] }],
  },
  {
    place: "In a terminal",
    lines: [
      { title: "Leave it, for its tab", keys: ["Ctrl", "Shift", "↑"] },
      { title: "Search the output", keys: ["Ctrl", "Shift", "F"] },
      { title: "Copy the selection", keys: ["Ctrl", "Shift", "C"] },
    ],
  },
  {
    place: "In the editor of a file",
    lines: [
      { title: "Save", keys: keyNames("Mod+S") },
      { title: "Leave it, one after the other", keys: ["Esc", "Tab"] },
    ],
  },
  {
    place: "On the tab of a panel",
    lines: [
      { title: "Next or previous tab", keys: ["←", "→"] },
      { title: "Close the panel", keys: ["Delete"] },
    ],
  },
  {
    place: "On the line between two panels",
    lines: [{ title: "Move it", keys: ["←", "→", "↑", "↓"] }],
  },
];

/** The dialog that lists all shortcuts. */
export function ShortcutSheet() {
  const isOpen = openDialog.use() === "shortcuts";
  return (
    <Dialog.Root open={isOpen} onOpenChange={(opens) => !opens && openDialog.set(null)}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-50 animate-appear bg-black/45" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-2rem)] w-[min(44rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 animate-appear flex-col gap-4 overflow-y-auto rounded-xl border border-line bg-raised p-5 shadow-over"
        >
          <div className="flex items-center">
            <Dialog.Title className="flex-1 text-base font-semibold">Keyboard shortcuts</Dialog.Title>
            <Dialog.Close asChild>
              <Button look="ghost" square aria-label="Close">
                <X aria-hidden className="size-4" />
              </Button>
            </Dialog.Close>
          </div>
          <SheetContent />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function SheetContent() {
  const commands = useAllCommands();
  const hasSingleKeys = singleKeys.use();
  const groups = COMMAND_GROUPS.map((group) => ({
    place: group as string,
    lines: commands
      .filter((command) => command.group === group)
      .flatMap(({ title, shortcut }) =>
        shortcut === undefined ? [] : [{ title, keys: keyNames(shortcut) }],
      ),
  })).filter(({ lines }) => lines.length > 0);
  return (
    <>
      <div className="columns-1 gap-8 sm:columns-2">
        {[...groups, ...PLACES].map(({ place, lines }) => (
          <section key={place} aria-label={place} className="mb-4 break-inside-avoid">
            <h3 className="mb-1 text-xs text-faint">{place}</h3>
            <ul>
              {lines.map(({ title, keys }) => (
                <li key={title} className="flex min-h-8 items-center gap-3 text-[13px]">
                  <span className="min-w-0 flex-1">{title}</span>
                  <Keys names={keys} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
      <label className="flex items-start gap-2.5 border-t border-line pt-4 text-[13px]">
        <input
          type="checkbox"
          checked={hasSingleKeys}
          onChange={(event) => setSingleKeys(event.target.checked)}
          className="mt-0.5 size-4 accent-(--color-accent)"
        />
        <span>
          Shortcuts of a single key
          <span className="block text-faint">Switch them off if you use speech input.</span>
        </span>
      </label>
    </>
  );
}
