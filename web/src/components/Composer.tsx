import { ArrowUp, LoaderCircle } from "lucide-react";
import { type FormEvent, type KeyboardEvent, type ReactNode, useId } from "react";

import { cx } from "../lib/cx";
import { Button } from "./Button";
import { Notice } from "./Notice";

interface ComposerProps {
  draft: string;
  onDraft: (draft: string) => void;
  onSend: (text: string) => void;
  isSending: boolean;
  /** The reason why the last attempt failed. The draft is kept. */
  error?: string | undefined;
  /** The reason why nothing can be sent. */
  blockedBecause?: string | undefined;
  placeholder: string;
  /** Content beside the button. */
  choice?: ReactNode;
  /** Content below the text, at the left. The button then moves there too. */
  tools?: ReactNode;
  /** Starts with more lines. */
  isTall?: boolean;
  /** Lets a button elsewhere focus this field. */
  fieldId?: string;
}

/** The field for messages to the agent. Enter sends, Shift+Enter begins a new line. */
export function Composer(props: ComposerProps) {
  const { draft, onSend, isSending, error, blockedBecause } = props;
  const hintId = useId();
  const hasTools = props.tools !== undefined && props.tools !== false;
  const canSend = draft.trim() !== "" && !isSending && blockedBecause === undefined;

  const send = () => {
    if (canSend) onSend(draft.trim());
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes a character, Enter belongs to it.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };

  return (
    <form onSubmit={onSubmit} className="flex flex-col gap-2">
      {error !== undefined && <Notice>{error}</Notice>}
      <div
        className={cx(
          "flex items-end gap-x-2 gap-y-1 rounded-xl border border-line-strong bg-surface p-1.5 shadow-lift focus-within:border-accent focus-within:outline focus-within:outline-accent",
          hasTools ? "flex-wrap" : "pl-3.5",
          blockedBecause !== undefined && "bg-sunken shadow-none",
        )}
      >
        <textarea
          id={props.fieldId}
          aria-label="Message"
          aria-describedby={hintId}
          value={draft}
          rows={props.isTall ? 3 : 1}
          disabled={blockedBecause !== undefined}
          placeholder={blockedBecause ?? props.placeholder}
          onChange={(event) => props.onDraft(event.target.value)}
          onKeyDown={onKeyDown}
          className={cx(
            "field-sizing-content max-h-48 min-w-0 resize-none bg-transparent py-1.5 text-base outline-none placeholder:text-faint disabled:cursor-not-allowed sm:text-sm",
            hasTools ? "basis-full px-2" : "flex-1",
            props.isTall && "min-h-18",
          )}
        />
        {hasTools && <div className="flex min-w-0 flex-1 items-center gap-1">{props.tools}</div>}
        {props.choice}
        <Button
          type="submit"
          look="primary"
          square
          aria-label="Send"
          disabled={!canSend}
          className="rounded-lg!"
        >
          {isSending ? (
            <LoaderCircle aria-hidden className="size-4 animate-spin" />
          ) : (
            <ArrowUp aria-hidden className="size-4" />
          )}
        </Button>
      </div>
      <span id={hintId} className="sr-only">
        {blockedBecause ?? "Enter sends, Shift+Enter starts a new line."}
      </span>
    </form>
  );
}
