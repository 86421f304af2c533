import { useNavigate } from "@tanstack/react-router";

import { useMe } from "../../api/account";
import { messageOf } from "../../api/client";
import { useRemovePerson } from "../../api/people";
import { ConfirmDialog } from "../../components/ConfirmDialog";

interface LeaveDialogProps {
  sessionId: string;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}

/** Asks before the user leaves a session that was shared with them. */
export function LeaveDialog({ sessionId, isOpen, onOpenChange }: LeaveDialogProps) {
  const me = useMe({ enabled: true }).data;
  const leave = useRemovePerson(sessionId);
  const navigate = useNavigate();
  const confirm = () => {
    if (!me) return;
    leave.mutate(me.id, { onSuccess: () => void navigate({ to: "/" }) });
  };
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      title="Leave this session?"
      confirmLabel={leave.isPending ? "Leaving…" : "Leave"}
      isBusy={leave.isPending}
      error={leave.error ? messageOf(leave.error) : undefined}
      onConfirm={confirm}
    >
      You no longer see it, and nobody can add you again. You can come back with a link.
    </ConfirmDialog>
  );
}
