import { messageOf } from "../../api/client";
import { useCheckEstimate, useCheckModel } from "../../api/models";
import type { Finding } from "../../api/types";
import { FormDialog } from "../../components/FormDialog";
import { cx } from "../../lib/cx";

interface CheckModelProps {
  /** The model to check, as `vendor/name`. */
  model: string;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}

const VERDICTS: Record<Finding["verdict"], { word: string; tone: string }> = {
  passed: { word: "OK", tone: "text-soft" },
  warned: { word: "Warning", tone: "text-warn" },
  failed: { word: "Failed", tone: "text-bad" },
  skipped: { word: "Not checked", tone: "text-faint" },
};

/** Checks a model with a few calls of its vendor, after saying what that costs. */
export function CheckModel({ model, isOpen, onOpenChange }: CheckModelProps) {
  const estimate = useCheckEstimate(model, { enabled: isOpen });
  const check = useCheckModel();
  const error = check.error ?? estimate.error;
  const close = (open: boolean) => {
    if (!open) check.reset();
    onOpenChange(open);
  };
  return (
    <FormDialog
      isOpen={isOpen}
      onOpenChange={close}
      title={`Check ${model}`}
      submitLabel={check.isPending ? "Checking…" : check.data ? "Check again" : "Check"}
      canSubmit={estimate.data !== undefined && !check.isPending}
      onSubmit={() => check.mutate(model)}
      error={error ? messageOf(error) : undefined}
    >
      <p className="text-soft">
        Shows the model a test card, lets it click, and looks at key, tools, signatures, cache and price.{" "}
        {estimate.data && costWords(estimate.data.estimate_usd)}
      </p>
      {check.data?.report && (
        <ul aria-label="Report" className="flex flex-col gap-2">
          {check.data.report.findings.map((finding) => (
            <FindingView key={finding.point} finding={finding} />
          ))}
        </ul>
      )}
    </FormDialog>
  );
}

function FindingView({ finding }: { finding: Finding }) {
  const { word, tone } = VERDICTS[finding.verdict];
  return (
    <li>
      <span className={cx("font-medium", tone)}>{word}:</span> {finding.text}
      {finding.remedy !== undefined && <p className="text-soft">{finding.remedy}</p>}
    </li>
  );
}

function costWords(usd: number | null): string {
  return usd === null
    ? "That is two to four calls, whose price is not known."
    : `That costs about $${usd.toFixed(3)}.`;
}
