import { LoaderCircle } from "lucide-react";

import { messageOf } from "../../api/client";
import { useCheckEstimate, useCheckModel } from "../../api/models";
import type { ModelCheck } from "../../api/types";
import { FormDialog } from "../../components/FormDialog";
import { formatUsd } from "../../lib/money";
import { formatElapsed } from "../../lib/time";
import { useNow } from "../../lib/useNow";
import { CheckFindings } from "./CheckFindings";

interface CheckModelProps {
  /** `vendor/name`. */
  model: string;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}

/** A dialog in which an administrator checks a model with a few calls of its vendor. */
export function CheckModel({ model, isOpen, onOpenChange }: CheckModelProps) {
  const estimate = useCheckEstimate(model, { enabled: isOpen });
  const check = useCheckModel();
  const { data } = check;
  const close = (isStillOpen: boolean) => {
    if (!isStillOpen) check.reset();
    onOpenChange(isStillOpen);
  };
  const problem = check.error ?? estimate.error;
  return (
    <FormDialog
      isOpen={isOpen}
      onOpenChange={close}
      title="Check this model"
      submitLabel={check.isPending ? "Checking…" : data ? "Check again" : "Check"}
      closeLabel={data || check.isPending ? "Close" : undefined}
      canSubmit={!check.isPending && estimate.isSuccess}
      error={problem ? messageOf(problem) : undefined}
      onSubmit={() => check.mutate(model)}
    >
      <p className="text-soft [overflow-wrap:anywhere]">
        Calls <strong className="font-medium text-ink">{model}</strong> two to four times with a test card, to see if the
        vendor accepts its key and pictures, and if the model uses the computer and hits what it clicks on.
      </p>
      {!data && !estimate.error && (
        <p className="text-[13px] text-faint">{costWords(estimate.data)}</p>
      )}
      {check.isPending && <Progress since={check.submittedAt} />}
      {data?.report && !check.isPending && <CheckFindings report={data.report} />}
    </FormDialog>
  );
}

function costWords(estimate: ModelCheck | undefined): string {
  if (estimate === undefined) return "Working out the cost…";
  if (estimate.estimate_usd === null) return "The price of this model is not known.";
  return `Costs about ${formatUsd(estimate.estimate_usd)}. It counts towards no session and no budget.`;
}

function Progress({ since }: { since: number }) {
  const seconds = Math.max(0, useNow(1000) - since);
  return (
    <p role="status" className="flex items-center gap-2 text-[13px] text-soft">
      <LoaderCircle aria-hidden className="size-4 shrink-0 animate-spin text-accent" />
      <span>The model is being called. This takes up to two and a half minutes.</span>
      <span aria-hidden className="ml-auto shrink-0 text-faint tabular-nums">
        {formatElapsed(seconds)}
      </span>
    </p>
  );
}
