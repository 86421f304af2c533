import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { messageOf } from "../../api/client";
import { useDeleteEval } from "../../api/evals";
import { ConfirmDialog } from "../../components/ConfirmDialog";

interface DeleteEvalProps {
  id: string;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}

/** Asks before an eval that has ended is deleted, and then returns to the list. */
export function DeleteEval({ id, isOpen, onOpenChange }: DeleteEvalProps) {
  const remove = useDeleteEval(id);
  const navigate = useNavigate();
  const [withSessions, setWithSessions] = useState(false);
  const change = (opens: boolean) => {
    remove.reset();
    onOpenChange(opens);
  };
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onOpenChange={change}
      title="Delete this eval?"
      confirmLabel={remove.isPending ? "Deleting…" : "Delete eval"}
      isBusy={remove.isPending}
      error={remove.error ? messageOf(remove.error) : undefined}
      onConfirm={() => remove.mutate(withSessions, { onSuccess: () => navigate({ to: "/evals" }) })}
    >
      Its results are deleted. This cannot be undone.
      <label className="mt-3 flex items-baseline gap-2 text-ink">
        <input
          type="checkbox"
          checked={withSessions}
          onChange={(event) => setWithSessions(event.target.checked)}
          className="translate-y-0.5 accent-accent"
        />
        Delete the sessions of its trials, too
      </label>
    </ConfirmDialog>
  );
}
