import { messageOf } from "../../api/client";
import { useChangeSession } from "../../api/sessions";
import type { Session } from "../../api/types";
import { FormDialog } from "../../components/FormDialog";
import { RuleList } from "../approvals/RuleList";

interface ApprovalRulesProps {
  session: Session;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}

/** A dialog with the rules by which the agent may act in a session without asking, or may not. */
export function ApprovalRules({ session, isOpen, onOpenChange }: ApprovalRulesProps) {
  const change = useChangeSession(session.id);
  const { approvals } = session;
  const rules = approvals.rules ?? [];
  return (
    <FormDialog
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      title="Approval rules"
      canSubmit={false}
      onSubmit={() => undefined}
      error={change.error ? messageOf(change.error) : undefined}
    >
      <p className="text-soft">
        {rules.length === 0
          ? "This session has no rules. Answers for this session add them."
          : "The first rule that fits an action decides. Answers for this session add rules at the top."}
      </p>
      <RuleList
        rules={rules}
        isBusy={change.isPending}
        onChange={(left) => change.mutate({ approvals: { ...approvals, rules: left } })}
      />
    </FormDialog>
  );
}
