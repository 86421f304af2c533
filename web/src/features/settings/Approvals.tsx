import { messageOf } from "../../api/client";
import { useChangeSettings, useSettings } from "../../api/settings";
import type { ApprovalMode } from "../../api/types";
import { Notice } from "../../components/Notice";
import { Select } from "../../components/Select";
import { Skeleton } from "../../components/Skeleton";
import { RuleList } from "../approvals/RuleList";

export const APPROVAL_MODES: readonly { value: ApprovalMode; label: string }[] = [
  { value: "risky", label: "Ask about risky actions" },
  { value: "always", label: "Ask about all actions except looking" },
  { value: "never", label: "Never ask" },
];

/** The actions for which the agent needs approval in new sessions. */
export function Approvals() {
  const settings = useSettings();
  const change = useChangeSettings();
  const error = settings.error ?? change.error;
  const approvals = settings.data?.approvals;
  const rules = approvals?.rules ?? [];
  return (
    <section aria-labelledby="approvals-heading" className="flex flex-col gap-3">
      <h2 id="approvals-heading" className="text-base font-semibold">
        Approvals
      </h2>
      <p className="text-soft">
        Actions that the agent asks you about first, in sessions that you start from now on.
      </p>
      {settings.isPending && <Skeleton className="h-8 w-64" />}
      {approvals && (
        <div className="flex flex-wrap items-center gap-3">
          <Select
            label="When the agent asks"
            value={approvals.mode ?? "risky"}
            options={APPROVAL_MODES}
            isDisabled={change.isPending}
            onChange={(mode) => change.mutate({ approvals: { ...approvals, mode } })}
          />
        </div>
      )}
      {approvals && rules.length > 0 && (
        <>
          <p className="text-soft">These rules come first. Your answers “Always” add to them.</p>
          <RuleList
            rules={rules}
            isBusy={change.isPending}
            onChange={(left) => change.mutate({ approvals: { ...approvals, rules: left } })}
          />
        </>
      )}
      {error && <Notice>{messageOf(error)}</Notice>}
    </section>
  );
}
