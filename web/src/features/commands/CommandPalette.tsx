import * as Dialog from "@radix-ui/react-dialog";
import { Search } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";

import { Keys } from "../../components/Keys";
import { cx } from "../../lib/cx";
import { type Command, openDialog, useAllCommands } from "./command";
import { findCommands } from "./search";
import { keyNames } from "./shortcut";

function close() {
  openDialog.set(null);
}

/** The dialog that finds and runs commands. */
export function CommandPalette() {
  const isOpen = openDialog.use() === "palette";
  const opener = useRef<Element | null>(null);
  const chosen = useRef<Command | null>(null);
  const onCloseAutoFocus = (event: Event) => {
    event.preventDefault();
    // The command may move the focus further, for example into a dialog of its own.
    if (opener.current instanceof HTMLElement) opener.current.focus({ preventScroll: true });
    const command = chosen.current;
    chosen.current = null;
    command?.run();
  };
  return (
    <Dialog.Root open={isOpen} onOpenChange={(opens) => !opens && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-50 animate-appear bg-black/45" />
        <Dialog.Content
          aria-describedby={undefined}
          onOpenAutoFocus={() => {
            opener.current = document.activeElement;
          }}
          onCloseAutoFocus={onCloseAutoFocus}
          className="fixed top-[max(0.75rem,10dvh)] left-1/2 z-50 flex max-h-[min(32rem,80dvh)] w-[min(36rem,calc(100vw-1.5rem))] -translate-x-1/2 animate-appear flex-col overflow-hidden rounded-xl border border-line bg-raised shadow-over"
        >
          <Dialog.Title className="sr-only">Commands</Dialog.Title>
          <PaletteContent
            onChoose={(command) => {
              chosen.current = command;
              close();
            }}
          />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function PaletteContent({ onChoose }: { onChoose: (command: Command) => void }) {
  const [query, setQuery] = useState("");
  const [selected, setSelected] = useState(0);
  const sections = findCommands(useAllCommands(), query);
  const found = sections.flatMap(({ commands }) => commands);
  const at = Math.min(selected, found.length - 1);
  const listId = useId();
  const optionId = (index: number) => `${listId}-${index}`;

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || found.length === 0) return;
    const moves: Record<string, number> = {
      ArrowDown: (at + 1) % found.length,
      ArrowUp: (at - 1 + found.length) % found.length,
      PageDown: Math.min(at + 8, found.length - 1),
      PageUp: Math.max(at - 8, 0),
    };
    const next = moves[event.key];
    if (next !== undefined) setSelected(next);
    const command = found[at];
    if (event.key === "Enter" && command) onChoose(command);
    if (next !== undefined || event.key === "Enter") event.preventDefault();
  };

  return (
    <>
      <div className="flex h-12 shrink-0 items-center gap-2.5 border-b border-line px-4">
        <Search aria-hidden className="size-4 shrink-0 text-faint" />
        <input
          role="combobox"
          aria-label="Command or session"
          aria-expanded
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={found.length > 0 ? optionId(at) : undefined}
          autoComplete="off"
          spellCheck={false}
          placeholder="Find a command or a session…"
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setSelected(0);
          }}
          onKeyDown={onKeyDown}
          className="min-w-0 flex-1 bg-transparent text-base outline-none placeholder:text-faint sm:text-sm"
        />
      </div>
      <div id={listId} role="listbox" aria-label="Commands" className="min-h-0 flex-1 overflow-y-auto p-1.5">
        {sections.map(({ group, commands }) => (
          <div key={group} role="group" aria-label={group} className="pb-1">
            <div aria-hidden className="px-2.5 pt-2 pb-1 text-xs text-faint">
              {group}
            </div>
            {commands.map((command) => {
              const index = found.indexOf(command);
              return (
                <CommandOption
                  key={command.id}
                  id={optionId(index)}
                  command={command}
                  isSelected={index === at}
                  onSelect={() => setSelected(index)}
                  onChoose={() => onChoose(command)}
                />
              );
            })}
          </div>
        ))}
      </div>
      <div role="status" className={cx(found.length === 0 && "px-4 pt-2 pb-8 text-center text-[13px] text-soft")}>
        {found.length === 0 ? (
          `Nothing matches “${query.trim()}”.`
        ) : (
          <span className="sr-only">{found.length} found</span>
        )}
      </div>
    </>
  );
}

interface CommandOptionProps {
  id: string;
  command: Command;
  isSelected: boolean;
  onSelect: () => void;
  onChoose: () => void;
}

function CommandOption({ id, command, isSelected, onSelect, onChoose }: CommandOptionProps) {
  const { icon: Icon, title, note, shortcut } = command;
  const option = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isSelected) option.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  return (
    // The keyboard stays in the field, which names the selected option.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      ref={option}
      id={id}
      role="option"
      aria-selected={isSelected}
      onPointerMove={onSelect}
      onClick={onChoose}
      className={cx(
        "flex min-h-9 scroll-my-8 items-center gap-2.5 rounded-md px-2.5 py-1 text-[13px] select-none",
        isSelected && "bg-hover",
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0 text-faint" />
      <span className="min-w-0 flex-1 truncate">{title}</span>
      {note !== undefined && <span className="shrink-0 text-xs text-faint">{note}</span>}
      {shortcut !== undefined && <Keys names={keyNames(shortcut)} className="max-sm:hidden" />}
    </div>
  );
}
