import { useNavigate } from "@tanstack/react-router";

import { messageOf } from "../../api/client";
import { useDeleteSession } from "../../api/sessions";
import { ConfirmDialog } from "../../components/ConfirmDialog";

/** Asks before an ended session is deleted, and then returns to the list. */
export function DeleteSession({
  id,
  isOpen,
  onOpenChange,
}: {
  id: string;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}) {
  const remove = useDeleteSession(id);
  const navigate = useNavigate();
  const change = (opens: boolean) => {
    remove.reset();
    onOpenChange(opens);
  };
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onOpenChange={change}
      title="Delete this session?"
      confirmLabel={remove.isPending ? "Deleting…" : "Delete session"}
      isBusy={remove.isPending}
      error={remove.error ? messageOf(remove.error) : undefined}
      onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate({ to: "/" }) })}
    >
      The conversation and its pictures are deleted for everybody. This cannot be undone.
    </ConfirmDialog>
  );
}
