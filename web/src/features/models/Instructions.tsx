import { useState } from "react";

import { messageOf } from "../../api/client";
import { useChangeSession } from "../../api/sessions";
import type { Session } from "../../api/types";
import { FormDialog } from "../../components/FormDialog";

interface InstructionsProps {
  session: Session;
  mayChange: boolean;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}

/** A dialog for a session's own instructions to its agent. */
export function Instructions({ session, mayChange, isOpen, onOpenChange }: InstructionsProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const change = useChangeSession(session.id);
  const text = draft ?? session.instructions;
  const close = (isStillOpen: boolean) => {
    if (!isStillOpen) setDraft(null);
    change.reset();
    onOpenChange(isStillOpen);
  };
  return (
    <FormDialog
      isOpen={isOpen}
      onOpenChange={close}
      title="Instructions"
      submitLabel={mayChange ? "Save" : undefined}
      canSubmit={mayChange && !change.isPending}
      error={change.error ? messageOf(change.error) : undefined}
      onSubmit={() =>
        change.mutate({ instructions: text.trim() }, { onSuccess: () => close(false) })
      }
    >
      <p className="text-soft">
        {mayChange
          ? "Rules that the agent follows throughout this session, from its next turn on."
          : text === ""
            ? "This session has no instructions."
            : "Rules that the agent follows throughout this session."}
      </p>
      {(mayChange || text !== "") && (
        <InstructionsField value={text} onChange={setDraft} isReadOnly={!mayChange} />
      )}
    </FormDialog>
  );
}

interface InstructionsFieldProps {
  value: string;
  onChange: (value: string) => void;
  isReadOnly?: boolean;
}

/** The field for instructions. */
export function InstructionsField({ value, onChange, isReadOnly }: InstructionsFieldProps) {
  return (
    <textarea
      aria-label="Instructions"
      value={value}
      rows={4}
      readOnly={isReadOnly}
      placeholder="Answer in Dutch. Ask before you open anything outside our shop."
      onChange={(event) => onChange(event.target.value)}
      className="field-sizing-content max-h-72 min-h-24 w-full resize-none rounded-lg border border-line-strong bg-surface px-3 py-2 text-base placeholder:text-faint sm:text-sm"
    />
  );
}
