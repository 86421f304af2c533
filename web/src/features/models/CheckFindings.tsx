import { CircleCheck, CircleMinus, CircleX, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";

import type { CheckedPoint, CheckVerdict, Finding, ModelReport } from "../../api/types";
import { cx } from "../../lib/cx";
import { formatUsd } from "../../lib/money";
import { counted, sentence } from "../../lib/text";

const POINTS: Record<CheckedPoint, string> = {
  answer: "Answer",
  picture: "Picture",
  tools: "Tools",
  click: "Click",
  second_step: "Second step",
  cache: "Cache",
  price: "Price",
};

const VERDICTS: Record<CheckVerdict, { icon: typeof CircleCheck; word: string; colour: string }> = {
  passed: { icon: CircleCheck, word: "Works", colour: "text-good" },
  warned: { icon: TriangleAlert, word: "Needs attention", colour: "text-warn" },
  failed: { icon: CircleX, word: "Does not work", colour: "text-bad" },
  skipped: { icon: CircleMinus, word: "Not checked", colour: "text-faint" },
};

/** The result of a check of a model: each point with its verdict, and the way out where something is wrong. */
export function CheckFindings({ report }: { report: ModelReport }) {
  const nFailed = report.findings.filter(({ verdict }) => verdict === "failed").length;
  return (
    <div className="flex flex-col gap-2">
      <p role="status" className={cx("font-medium", nFailed > 0 ? "text-bad" : "text-good")}>
        {nFailed === 0 ? "This model works." : `${counted(nFailed, "point")} failed.`}
      </p>
      <ul
        aria-label="Findings"
        className="divide-y divide-line rounded-lg border border-line bg-surface"
      >
        {report.findings.map((finding) => (
          <FindingRow key={finding.point} finding={finding} />
        ))}
      </ul>
      <p className="text-xs text-faint">
        {counted(report.n_calls, "call")}
        {report.cost_usd === null ? ", price not known" : `, ${formatUsd(report.cost_usd)}`}
      </p>
    </div>
  );
}

function FindingRow({ finding }: { finding: Finding }) {
  const { icon: Icon, word, colour } = VERDICTS[finding.verdict];
  return (
    <li className="flex gap-2.5 px-3 py-2 text-[13px]">
      <Icon aria-hidden className={cx("mt-0.5 size-4 shrink-0", colour)} />
      <div className="flex min-w-0 flex-1 flex-col gap-x-3 sm:flex-row">
        <div className="shrink-0 font-medium sm:w-24">
          {POINTS[finding.point]}
          <span className="sr-only">: {word}.</span>
        </div>
        <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
          <p className="text-soft">{withCode(finding.text)}</p>
          {finding.remedy !== undefined && <p className="mt-0.5 text-ink">{withCode(finding.remedy)}</p>}
        </div>
      </div>
    </li>
  );
}

/** Writes a text as a sentence, with the parts in backticks as code. */
function withCode(text: string): ReactNode {
  const parts = sentence(text).split("`");
  return parts.map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // The parts of one text stay where they are.
      // oxlint-disable-next-line react/no-array-index-key
      <code key={index} className="font-mono text-xs">
        {part}
      </code>
    ),
  );
}
