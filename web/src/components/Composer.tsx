import { ArrowUp, LoaderCircle, Paperclip } from "lucide-react";
import { type FormEvent, type KeyboardEvent, type ReactNode, useId, useRef } from "react";

import { cx } from "../lib/cx";
import { useMediaQuery } from "../lib/useMediaQuery";
import { Button } from "./Button";
import { Notice } from "./Notice";

interface ComposerProps {
  draft: string;
  onDraft: (draft: string) => void;
  onSend: (text: string) => void;
  isSending: boolean;
  /** The reason why the last attempt failed. The draft is kept. */
  error?: ReactNode;
  /** The reason why nothing can be sent. */
  blockedBecause?: string | undefined;
  placeholder: string;
  /** Content beside the button. */
  choice?: ReactNode;
  /** Content below the text, at the left. The button then moves there too. */
  tools?: ReactNode;
  /** Takes files that were chosen, dropped or pasted. Without it, none can be attached. */
  onFiles?: ((files: readonly File[]) => void) | undefined;
  /** Shows the attached files. */
  attachments?: ReactNode;
  /** True while attached files are on their way. */
  isAttaching?: boolean;
  /** True if there is something to send besides the text. */
  hasAttachments?: boolean;
  /** Starts with more lines. */
  isTall?: boolean;
  /** Lets a button elsewhere focus this field. */
  fieldId?: string;
}

/** Matches where people type on the screen, and have no Shift key to begin a new line with. */
const ON_SCREEN_KEYS = "(hover: none) and (pointer: coarse)";

/**
 * The field for messages to the agent. Enter sends and Shift+Enter begins a new line; on a phone, Enter begins one.
 */
export function Composer(props: ComposerProps) {
  const { draft, onSend, isSending, error, blockedBecause } = props;
  const hintId = useId();
  const hasTools = props.tools !== undefined && props.tools !== false;
  const picker = useRef<HTMLInputElement>(null);
  const onFiles = blockedBecause === undefined ? props.onFiles : undefined;
  const isOnScreen = useMediaQuery(ON_SCREEN_KEYS);
  const hasContent = draft.trim() !== "" || props.hasAttachments === true;
  const canSend =
    hasContent && !isSending && props.isAttaching !== true && blockedBecause === undefined;

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
    if (isOnScreen && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    send();
  };

  const take = (event: { preventDefault: () => void }, files: FileList) => {
    if (onFiles === undefined || files.length === 0) return;
    event.preventDefault();
    onFiles([...files]);
  };

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- files can be chosen with a button too
    <form
      onSubmit={onSubmit}
      onDragOver={(event) => {
        if (onFiles && event.dataTransfer.types.includes("Files")) event.preventDefault();
      }}
      onDrop={(event) => take(event, event.dataTransfer.files)}
      className="flex flex-col gap-2"
    >
      {error !== undefined && <Notice>{error}</Notice>}
      <div
        className={cx(
          "flex items-end gap-x-2 gap-y-1 rounded-xl border border-line-strong bg-surface p-1.5 shadow-lift focus-within:border-accent focus-within:outline focus-within:outline-accent",
          hasTools || props.hasAttachments ? "flex-wrap" : "pl-3.5",
          blockedBecause !== undefined && "bg-sunken shadow-none",
        )}
      >
        {props.attachments}
        <textarea
          id={props.fieldId}
          aria-label="Message"
          aria-describedby={hintId}
          value={draft}
          rows={props.isTall ? 3 : 1}
          enterKeyHint={isOnScreen ? "enter" : "send"}
          disabled={blockedBecause !== undefined}
          placeholder={blockedBecause ?? props.placeholder}
          onChange={(event) => props.onDraft(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={(event) => take(event, event.clipboardData.files)}
          className={cx(
            "field-sizing-content max-h-48 min-w-0 resize-none bg-transparent py-1.5 text-base outline-none placeholder:text-faint disabled:cursor-not-allowed sm:text-sm",
            hasTools ? "basis-full px-2" : "flex-1",
            props.isTall && "min-h-18",
          )}
        />
        {hasTools && <div className="flex min-w-0 flex-1 items-center gap-1">{props.tools}</div>}
        {onFiles && (
          <>
            <Button
              look="ghost"
              square
              aria-label="Attach files"
              title="Attach files"
              onClick={() => picker.current?.click()}
            >
              <Paperclip aria-hidden className="size-4" />
            </Button>
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              aria-label="Files to attach"
              onChange={(event) => {
                onFiles([...(event.target.files ?? [])]);
                event.target.value = "";
              }}
            />
          </>
        )}
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
        {blockedBecause ??
          (isOnScreen ? "The button sends." : "Enter sends, Shift+Enter starts a new line.")}
      </span>
    </form>
  );
}
