import { FileText, LoaderCircle, RotateCcw, X } from "lucide-react";

import { cx } from "../../lib/cx";
import { sizeWords } from "../files/fileKinds";
import type { AttachedFile, Attachments } from "./useAttachments";

/** The files that go with the next message, and the reason why it has to wait for them. */
export function AttachmentChips({ attachments }: { attachments: Attachments }) {
  const { list, leftOut, waitsFor } = attachments;
  const hasFailed = list.some(({ state }) => state.kind === "failed");
  const hint = leftOut ?? (hasFailed ? waitsFor : null);
  if (list.length === 0 && hint === null) return null;
  return (
    <div className="basis-full px-1 pt-1">
      <ul aria-label="Attached files" className="flex flex-wrap gap-1.5">
        {list.map((one) => (
          <Chip
            key={one.key}
            attached={one}
            onRemove={() => attachments.remove(one.key)}
            onRetry={() => attachments.retry(one.key)}
          />
        ))}
      </ul>
      {hint !== null && (
        <p role="status" className="pt-1 text-xs text-soft">
          {hint}
        </p>
      )}
    </div>
  );
}

interface ChipProps {
  attached: AttachedFile;
  onRemove: () => void;
  onRetry: () => void;
}

const BUTTON =
  "grid size-6 shrink-0 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink";

function Chip({ attached, onRemove, onRetry }: ChipProps) {
  const { file, preview, state } = attached;
  const hasFailed = state.kind === "failed";
  return (
    <li
      className={cx(
        "flex max-w-64 items-center gap-2 rounded-lg border bg-raised py-1 pr-1 pl-1.5 text-[13px]",
        hasFailed ? "border-bad-line" : "border-line",
      )}
    >
      {preview === null ? (
        <FileText aria-hidden className="size-5 shrink-0 text-faint" />
      ) : (
        <img src={preview} alt="" className="size-8 shrink-0 rounded object-cover" />
      )}
      <span className="min-w-0">
        <span className="block truncate" title={file.name}>
          {file.name}
        </span>
        {hasFailed ? (
          <span role="alert" className="block text-xs text-bad">
            {state.problem}
          </span>
        ) : (
          <span className="flex items-center gap-1 text-xs text-faint">
            {state.kind === "sending" && (
              <LoaderCircle aria-hidden className="size-3 animate-spin" />
            )}
            {state.kind === "sending" ? `${Math.round(state.part * 100)} %` : sizeWords(file.size)}
          </span>
        )}
      </span>
      {hasFailed && state.canRetry && (
        <button
          type="button"
          aria-label={`Try ${file.name} again`}
          title="Try again"
          onClick={onRetry}
          className={BUTTON}
        >
          <RotateCcw aria-hidden className="size-3.5" />
        </button>
      )}
      <button
        type="button"
        aria-label={`Remove ${file.name}`}
        onClick={onRemove}
        className={BUTTON}
      >
        <X aria-hidden className="size-3.5" />
      </button>
    </li>
  );
}
