import { ArrowDown, ArrowUp, X } from "lucide-react";
import { type KeyboardEvent, type RefObject, useState } from "react";

import { Button } from "../../components/Button";
import type { Emulator } from "./emulator";

interface TerminalSearchProps {
  emulator: RefObject<Emulator | null>;
  onClose: () => void;
}

/** Searches the output of a terminal. */
export function TerminalSearch({ emulator, onClose }: TerminalSearchProps) {
  const [text, setText] = useState("");
  const [isFound, setIsFound] = useState(true);

  const find = (wanted: string, isBackwards: boolean, incremental = false) => {
    const search = emulator.current?.search;
    if (!search || wanted === "") return setIsFound(true);
    setIsFound(isBackwards ? search.findPrevious(wanted, { incremental }) : search.findNext(wanted, { incremental }));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter") find(text, !event.shiftKey);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div
      role="search"
      className="absolute top-2 right-4 z-10 flex max-w-[calc(100%-2rem)] animate-appear items-center gap-0.5 rounded-lg border border-line bg-raised p-1 shadow-lift"
    >
      <input
        ref={(input) => input?.focus()}
        type="search"
        aria-label="Search the output"
        placeholder="Search"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          find(event.target.value, true, true);
        }}
        onKeyDown={onKeyDown}
        spellCheck={false}
        className="h-7 w-44 min-w-0 rounded-md bg-transparent px-2 text-base placeholder:text-faint sm:text-[13px]"
      />
      <span role="status" className="shrink-0 px-1 text-xs text-faint">
        {isFound ? "" : "Not found"}
      </span>
      <Button look="ghost" square className="size-7" aria-label="Find above" onClick={() => find(text, true)}>
        <ArrowUp aria-hidden className="size-4" />
      </Button>
      <Button look="ghost" square className="size-7" aria-label="Find below" onClick={() => find(text, false)}>
        <ArrowDown aria-hidden className="size-4" />
      </Button>
      <Button look="ghost" square className="size-7" aria-label="Close the search" onClick={onClose}>
        <X aria-hidden className="size-4" />
      </Button>
    </div>
  );
}
