import { ArrowUp } from "lucide-react";
import { type FormEvent, useState } from "react";

import { Button } from "../../components/Button";

interface PathBarProps {
  /** The folder that is listed. */
  folder: string;
  /** The folder that it is in, unless there is none. */
  parent: string | null;
  /** The reason why the last path could not be opened. */
  problem: string | undefined;
  onOpen: (path: string) => void;
}

/** The path of the folder that is listed. Another one can be typed, and the folder above opened. */
export function PathBar({ folder, parent, problem, onOpen }: PathBarProps) {
  const [typed, setTyped] = useState(folder);
  // The same field shows the path of another folder, so that the keyboard stays in it.
  const [shown, setShown] = useState(folder);
  if (shown !== folder) {
    setShown(folder);
    setTyped(folder);
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed.trim() !== "") onOpen(typed.trim());
  };
  return (
    <div className="shrink-0 border-b border-line px-1.5 py-1">
      <form onSubmit={submit} className="flex items-center gap-1">
        <Button
          look="ghost"
          square
          aria-label="Folder above"
          title="Folder above"
          disabled={parent === null}
          onClick={() => parent !== null && onOpen(parent)}
        >
          <ArrowUp aria-hidden className="size-4" />
        </Button>
        <input
          aria-label="Path"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          className="h-7 min-w-0 flex-1 rounded-md border border-transparent bg-transparent px-1.5 font-mono text-base text-soft hover:border-line-strong focus:border-line-strong focus:text-ink sm:text-xs"
        />
      </form>
      {problem !== undefined && (
        <p role="alert" className="px-2 pb-1 text-[13px] text-bad">
          {problem}
        </p>
      )}
    </div>
  );
}
