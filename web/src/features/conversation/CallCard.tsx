import {
  ChevronRight,
  CircleHelp,
  CircleSlash,
  CircleX,
  Clock,
  Eye,
  FilePenLine,
  FileText,
  Globe,
  Keyboard,
  KeyRound,
  LoaderCircle,
  type LucideIcon,
  MousePointer2,
  MoveVertical,
  SquareTerminal,
  Wrench,
} from "lucide-react";
import { memo, useId, useState } from "react";

import { cx } from "../../lib/cx";
import { formatDuration } from "../../lib/time";
import { notDoneWords } from "./callResult";
import { type CallIcon, callIcon, describeCall, describeOpenCall } from "./describeCall";
import type { CallItem } from "./items";
import { ShotThumb } from "./ShotThumb";

const ICONS: Record<CallIcon, LucideIcon> = {
  look: Eye,
  pointer: MousePointer2,
  scroll: MoveVertical,
  keyboard: Keyboard,
  wait: Clock,
  page: Globe,
  shell: SquareTerminal,
  file: FileText,
  edit: FilePenLine,
  ask: CircleHelp,
  secret: KeyRound,
  tool: Wrench,
};

/** The number of lines of a running command's output that are shown while the card is closed. */
const LIVE_LINES = 6;

interface CallCardProps {
  item: CallItem;
  /** The person who refused it: a name, or `you`. */
  refusedBy?: string | undefined;
  onOpenShot: (id: number) => void;
}

/** Shows one tool call: the tool's description of it, and on request its input and output. */
export const CallCard = memo(function CallCard({ item, refusedBy, onOpenShot }: CallCardProps) {
  const [isOpen, setIsOpen] = useState(false);
  const detailsId = useId();
  const isLook = callIcon(item) === "look";
  const preview = isOpen ? "" : livePreview(item);

  return (
    <div className="overflow-hidden rounded-lg border border-line bg-surface">
      <div className="flex items-stretch">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={detailsId}
          onClick={() => setIsOpen(!isOpen)}
          className="flex min-w-0 flex-1 items-center gap-2.5 px-3 py-2 text-left -outline-offset-2 hover:bg-hover"
        >
          <CallSymbol item={item} />
          <CallSentence item={item} />
          <CallOutcome item={item} refusedBy={refusedBy} />
          <ChevronRight
            aria-hidden
            className={cx(
              "size-3.5 shrink-0 text-faint transition-transform",
              isOpen && "rotate-90",
            )}
          />
        </button>
        {!isLook &&
          item.shots.map((shot) => (
            <ShotThumb
              key={shot.id}
              shot={shot}
              words={describeCall(item)}
              onOpen={onOpenShot}
              className="w-16 shrink-0 border-l border-line"
            />
          ))}
      </div>
      {preview !== "" && (
        <pre
          className={cx(
            "overflow-hidden border-t border-line px-3 py-2 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]",
            item.state === "failed" ? "bg-bad-soft text-bad" : "bg-sunken text-soft",
          )}
        >
          {preview}
        </pre>
      )}
      <div id={detailsId} hidden={!isOpen}>
        {isOpen && <CallDetails item={item} />}
      </div>
      {isLook &&
        item.shots.map((shot) => (
          <div key={shot.id} className="px-3 pb-3 pl-9.5">
            <ShotThumb
              shot={shot}
              words={describeCall(item)}
              onOpen={onOpenShot}
              className="w-56 max-w-full rounded-md border border-line"
            />
          </div>
        ))}
    </div>
  );
});

function CallSymbol({ item }: { item: CallItem }) {
  if (item.state === "running") {
    return <LoaderCircle aria-hidden className="size-4 shrink-0 animate-spin text-accent" />;
  }
  if (item.state === "waiting") {
    return <Clock aria-hidden className="size-4 shrink-0 text-faint" />;
  }
  if (item.state === "failed") return <CircleX aria-hidden className="size-4 shrink-0 text-bad" />;
  if (item.state === "not_done") {
    return <CircleSlash aria-hidden className="size-4 shrink-0 text-faint" />;
  }
  if (item.state === "cut") {
    return <CircleSlash aria-hidden className="size-4 shrink-0 text-warn" />;
  }
  const Icon = ICONS[callIcon(item)];
  return <Icon aria-hidden className="size-4 shrink-0 text-faint" />;
}

function CallSentence({ item }: { item: CallItem }) {
  const isOpen = ["running", "waiting", "not_done"].includes(item.state);
  return (
    <span className="line-clamp-2 min-w-0 flex-1 text-[13px] [overflow-wrap:anywhere]">
      {isOpen ? describeOpenCall(item) : describeCall(item)}
      {item.byHand && <span className="text-faint"> · by hand</span>}
    </span>
  );
}

function CallOutcome({ item, refusedBy }: Pick<CallCardProps, "item" | "refusedBy">) {
  const took = item.durationMs === undefined ? "" : formatDuration(item.durationMs);
  if (item.state === "running") return <span className="sr-only">running</span>;
  if (item.state === "waiting") {
    return <span className="shrink-0 text-xs text-faint">not started</span>;
  }
  if (item.notDone !== undefined) {
    return (
      <span className="max-w-1/2 text-right text-xs text-faint">
        {notDoneWords(item.notDone, refusedBy)}
      </span>
    );
  }
  if (item.state === "cut") return <span className="shrink-0 text-xs text-warn">interrupted</span>;
  if (item.state === "failed") {
    return <span className="shrink-0 text-xs font-medium text-bad">failed · {took}</span>;
  }
  // For many commands this is an answer, and no failure: `grep` has found nothing.
  if (item.exitCode !== undefined && item.exitCode !== 0) {
    return (
      <span className="shrink-0 text-xs text-warn tabular-nums">
        exit {item.exitCode} · {took}
      </span>
    );
  }
  return (
    <span className="shrink-0 text-xs text-faint tabular-nums">
      <span className="sr-only">ok, </span>
      {took}
    </span>
  );
}

/** Returns the newest lines of a running or failed call. */
function livePreview(item: CallItem): string {
  if (item.state !== "running" && item.state !== "failed") return "";
  return item.output.trimEnd().split("\n").slice(-LIVE_LINES).join("\n");
}

function CallDetails({ item }: { item: CallItem }) {
  return (
    <div className="flex flex-col gap-2 border-t border-line bg-sunken px-3 py-2.5">
      <Block label="Input" text={inputText(item)} />
      <Block
        label="Output"
        text={item.output.trimEnd()}
        empty={item.state === "running" || item.state === "waiting" ? "Nothing yet" : "None"}
      />
    </div>
  );
}

function inputText(item: CallItem): string {
  const { command, shell } = (item.input ?? {}) as { command?: unknown; shell?: unknown };
  if (shell === "run" && typeof command === "string") return command;
  return JSON.stringify(item.input, null, 2);
}

function Block({ label, text, empty = "" }: { label: string; text: string; empty?: string }) {
  return (
    <div>
      <div className="mb-1 text-xs font-medium text-faint">{label}</div>
      {text === "" ? (
        <div className="text-xs text-faint">{empty}</div>
      ) : (
        <pre
          // A long text can be scrolled with the keyboard too.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          className="max-h-72 overflow-auto font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]"
        >
          {text}
        </pre>
      )}
    </div>
  );
}
