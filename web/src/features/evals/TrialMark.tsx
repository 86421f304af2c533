import { Link } from "@tanstack/react-router";
import { Check, CircleDashed, LoaderCircle, Minus, TriangleAlert, X } from "lucide-react";

import type { Trial, TrialState } from "../../api/types";
import { cx } from "../../lib/cx";
import { TRIAL_WORDS, trialDetails } from "./evalWords";

const MARKS: Record<TrialState, { icon: typeof Check; look: string }> = {
  passed: { icon: Check, look: "bg-good-soft text-good" },
  failed: { icon: X, look: "bg-bad-soft text-bad" },
  error: { icon: TriangleAlert, look: "bg-warn-soft text-warn" },
  running: { icon: LoaderCircle, look: "bg-accent-soft text-accent [&_svg]:animate-spin" },
  waiting: { icon: CircleDashed, look: "text-faint" },
  skipped: { icon: Minus, look: "bg-hover text-faint" },
};

/** The mark of one trial, which leads to its session. */
export function TrialMark({ trial }: { trial: Trial }) {
  const { icon: Icon, look } = MARKS[trial.state];
  const title = [`Round ${trial.round}: ${TRIAL_WORDS[trial.state]}.`, trialDetails(trial)].filter(Boolean).join(" ");
  const label = `${trial.model}, round ${trial.round}: ${TRIAL_WORDS[trial.state]}`;
  const className = cx("grid size-6 shrink-0 place-items-center rounded-md [&_svg]:size-3.5", look);
  if (trial.session === null) {
    return (
      <span role="img" aria-label={label} title={title} className={className}>
        <Icon aria-hidden />
      </span>
    );
  }
  return (
    <Link
      to="/sessions/$sessionId"
      params={{ sessionId: trial.session }}
      aria-label={label}
      title={title}
      className={cx(className, "hover:ring-2 hover:ring-current")}
    >
      <Icon aria-hidden />
    </Link>
  );
}
