import { ConfirmDialog } from "../../components/ConfirmDialog";
import type { Timeline } from "../conversation/timeline";

/** What is lost when somebody takes over now. */
export interface TakeOverLoss {
  isCodeOpen: boolean;
  /** The description of the agent's command that runs now. */
  command: string | null;
}

/** Returns the description of the agent's command that runs now, if one does. */
export function runningCommand({ items }: Pick<Timeline, "items">): string | null {
  const call = items.findLast((item) => item.kind === "call" && item.tool === "bash" && item.state === "running");
  if (call?.kind !== "call" || call.byHand) return null;
  const { command } = (call.input ?? {}) as { command?: unknown };
  return typeof command === "string" ? command : "its command";
}

interface TakeOverDialogProps {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  loss: TakeOverLoss;
  onConfirm: () => void;
}

/** Asks before a takeover that ends something. */
export function TakeOverDialog({ isOpen, onOpenChange, loss, onConfirm }: TakeOverDialogProps) {
  const { isCodeOpen, command } = loss;
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      title={isCodeOpen ? "Take over while VS Code is open?" : "Take over and end a running command?"}
      confirmLabel="Take over"
      isBusy={false}
      onConfirm={onConfirm}
    >
      {isCodeOpen && (
        <span className="block">
          VS Code starts again when control changes hands. Saved files are kept, and programs in its terminals end.
        </span>
      )}
      {command !== null && (
        <span className="block [overflow-wrap:anywhere]">
          The agent is running <code className="line-clamp-3 font-mono text-xs text-ink">{command}</code> It ends when
          you take over, and the agent is told.
        </span>
      )}
    </ConfirmDialog>
  );
}
