import { useState } from "react";

import type { Subject } from "../../api/types";
import { lastScreenUrl } from "../../api/urls";
import { counted, visible } from "../../lib/text";
import { actionPoint, actionWords, type ScreenPoint, typedText } from "./actionWords";

interface WhatProps {
  sessionId: string;
  subject: Subject;
  /** True while the screen is as it would be for the action. */
  withScreen: boolean;
}

/** Shows exactly what would be done, all of it: whoever approves must not overlook the end. */
export function What({ sessionId, subject, withScreen }: WhatProps) {
  const { tool, input } = subject;
  const words = tool === "computer" ? actionWords(input) : null;
  if (words === null) return <Exact text={subjectText(subject)} />;
  const typed = typedText(input);
  return (
    <div className="flex flex-col gap-2">
      <p className="font-medium">{visible(words)}</p>
      {typed !== null && <Exact text={typed} />}
      {withScreen && <Spot sessionId={sessionId} point={actionPoint(input)} />}
      <details className="text-xs text-faint">
        <summary className="inline-block rounded">Details</summary>
        <div className="mt-1.5">
          <Exact text={subjectText(subject)} />
        </div>
      </details>
    </div>
  );
}

function Exact({ text }: { text: string }) {
  const shown = visible(text);
  const nLines = shown.trimEnd().split("\n").length;
  return (
    <div className="flex flex-col gap-1">
      <pre
        role="figure"
        aria-label="What the agent wants to do"
        className="rounded-md border border-line bg-sunken px-2.5 py-2 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere] text-ink"
      >
        {shown}
      </pre>
      {nLines > 1 && <p className="text-xs text-faint">{counted(nLines, "line")}</p>}
    </div>
  );
}

/** The screen as it is now, with the point of the action. */
function Spot({ sessionId, point }: { sessionId: string; point: ScreenPoint | null }) {
  const [asOf] = useState(() => Date.now());
  const [size, setSize] = useState<{ width: number; height: number } | null>(null);
  const [hasFailed, setHasFailed] = useState(false);
  if (hasFailed) return null;
  return (
    <div className="relative max-w-md overflow-hidden rounded-md border border-line">
      <img
        src={lastScreenUrl(sessionId, asOf)}
        alt={point === null ? "The screen now" : `The screen now, with (${point.x}, ${point.y}) marked`}
        onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) => setSize({ width, height })}
        onError={() => setHasFailed(true)}
        className="block w-full"
      />
      {size !== null && point !== null && (
        <span
          aria-hidden
          data-testid="spot"
          style={{ left: `${(100 * point.x) / size.width}%`, top: `${(100 * point.y) / size.height}%` }}
          className="absolute size-6 -translate-1/2 rounded-full border-2 border-[#e5484d] shadow-[0_0_0_2px_rgb(255_255_255/0.85)]"
        />
      )}
    </div>
  );
}

function subjectText({ tool, input }: Subject): string {
  const { command, shell } = (input ?? {}) as { command?: unknown; shell?: unknown };
  if (tool === "bash" && shell === "run" && typeof command === "string") return command;
  return `${tool} ${JSON.stringify(input, null, 2)}`;
}
