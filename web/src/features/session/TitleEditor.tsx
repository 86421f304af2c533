import { Pencil } from "lucide-react";
import { type KeyboardEvent, useRef, useState } from "react";

import { useCommands } from "../commands/command";

interface TitleEditorProps {
  title: string;
  /** The text shown if the session has no title. */
  fallback: string;
  onRename: (title: string) => void;
}

const LONGEST_TITLE = 200;

/** The session's title, edited in place. Enter and leaving the field save it, Escape does not. */
export function TitleEditor({ title, fallback, onRename }: TitleEditorProps) {
  const [draft, setDraft] = useState<string | null>(null);
  // Whoever ends the editing with a key finds the keyboard at the title again.
  const returns = useRef(false);
  const toTitle = (button: HTMLButtonElement | null) => {
    if (button === null || !returns.current) return;
    returns.current = false;
    button.focus();
  };
  const edit = () => setDraft(title);
  useCommands([
    { id: "rename", title: "Rename session", group: "This session", icon: Pencil, keywords: "title", run: edit },
  ]);

  if (draft === null) {
    return (
      <h1 className="flex min-w-0">
        <button
          type="button"
          ref={toTitle}
          onClick={edit}
          className="group -mx-1.5 flex max-w-full min-w-0 items-center gap-1.5 rounded px-1.5 text-left hover:bg-hover"
        >
          <span dir="auto" className="truncate text-[15px] leading-6 font-semibold">
            {title || fallback}
          </span>
          <span className="sr-only">, rename session</span>
          <Pencil
            aria-hidden
            className="hidden size-3.5 shrink-0 text-faint opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100 sm:block"
          />
        </button>
      </h1>
    );
  }

  const keep = () => {
    const next = draft.trim();
    if (next !== "" && next !== title) onRename(next);
    setDraft(null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    returns.current = event.key === "Enter" || event.key === "Escape";
    if (event.key === "Enter") keep();
    if (event.key === "Escape") setDraft(null);
  };
  return (
    <input
      aria-label="Title"
      value={draft}
      maxLength={LONGEST_TITLE}
      placeholder={fallback}
      // The person has just asked to write here.
      // oxlint-disable-next-line jsx-a11y/no-autofocus
      autoFocus
      onFocus={(event) => event.target.select()}
      onChange={(event) => setDraft(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={keep}
      className="-mx-1.5 block w-[calc(100%+0.75rem)] rounded bg-sunken px-1.5 text-[15px] leading-6 font-semibold outline outline-accent"
    />
  );
}
