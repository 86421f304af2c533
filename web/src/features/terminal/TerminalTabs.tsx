import { Bot, MoreVertical, Pencil, Plus, Search, SquareTerminal, Trash2 } from "lucide-react";
import { type KeyboardEvent, useRef } from "react";

import type { Terminal } from "../../api/types";
import { Button } from "../../components/Button";
import { Menu, MenuItem } from "../../components/Menu";
import { cx } from "../../lib/cx";

interface TerminalTabsProps {
  terminals: readonly Terminal[];
  current: number;
  onSelect: (number: number) => void;
  canChange: boolean;
  isOpening: boolean;
  onOpen: () => void;
  onRename: (terminal: Terminal) => void;
  onEnd: (terminal: Terminal) => void;
  onSearch: () => void;
}

/** The bar above a terminal: one tab for each, and what can be done with the current one. */
export function TerminalTabs(props: TerminalTabsProps) {
  const { terminals, current, onSelect, canChange, isOpening, onOpen, onRename, onEnd, onSearch } = props;
  const list = useRef<HTMLDivElement>(null);
  const chosen = terminals.find(({ number }) => number === current);

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const at = terminals.findIndex(({ number }) => number === current);
    const next = step === undefined ? undefined : terminals[at + step];
    if (!next) return;
    event.preventDefault();
    onSelect(next.number);
    list.current?.querySelector<HTMLElement>(`[data-number="${next.number}"]`)?.focus();
  };

  return (
    <div className="flex h-10 shrink-0 items-center gap-1 border-b border-line bg-page pr-1.5 pl-2">
      <div
        ref={list}
        role="tablist"
        aria-label="Terminals"
        tabIndex={-1}
        onKeyDown={onKeyDown}
        className="flex min-w-0 items-center gap-1 overflow-x-auto py-1"
      >
        {terminals.map((terminal) => (
          <TerminalTab
            key={terminal.id}
            terminal={terminal}
            isCurrent={terminal.number === current}
            onSelect={() => onSelect(terminal.number)}
          />
        ))}
      </div>
      {canChange && (
        <Button look="ghost" square aria-label="New terminal" disabled={isOpening} onClick={onOpen}>
          <Plus aria-hidden className="size-4" />
        </Button>
      )}
      <span className="flex-1" />
      <Button look="ghost" square aria-label="Search the output" onClick={onSearch}>
        <Search aria-hidden className="size-4" />
      </Button>
      {canChange && chosen && chosen.number > 0 && (
        <Menu
          trigger={
            <Button look="ghost" square aria-label="Terminal menu">
              <MoreVertical aria-hidden className="size-4" />
            </Button>
          }
        >
          <MenuItem icon={<Pencil aria-hidden />} onSelect={() => onRename(chosen)}>
            Rename
          </MenuItem>
          <MenuItem icon={<Trash2 aria-hidden />} isDanger onSelect={() => onEnd(chosen)}>
            {chosen.ended ? "Close" : "End terminal"}
          </MenuItem>
        </Menu>
      )}
    </div>
  );
}

interface TerminalTabProps {
  terminal: Terminal;
  isCurrent: boolean;
  onSelect: () => void;
}

function TerminalTab({ terminal, isCurrent, onSelect }: TerminalTabProps) {
  const Icon = terminal.number === 0 ? Bot : SquareTerminal;
  return (
    <button
      type="button"
      role="tab"
      aria-selected={isCurrent}
      tabIndex={isCurrent ? 0 : -1}
      data-number={terminal.number}
      onClick={onSelect}
      className={cx(
        "inline-flex h-7 max-w-44 shrink-0 items-center gap-1.5 rounded-md px-2.5 text-[13px]",
        isCurrent ? "bg-hover font-medium text-ink" : "text-soft hover:bg-hover",
        terminal.ended && "line-through decoration-faint",
      )}
    >
      <Icon aria-hidden className="size-3.5 shrink-0 text-faint" />
      <span className="truncate">{terminal.number === 0 ? "Agent" : terminal.name}</span>
      {terminal.ended && <span className="sr-only">, ended</span>}
    </button>
  );
}
