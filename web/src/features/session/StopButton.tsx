import { LoaderCircle, Square } from "lucide-react";

import { ApiError, messageOf } from "../../api/client";
import { useStopTurn } from "../../api/sessions";
import { Button } from "../../components/Button";
import { useCommands } from "../commands/command";

interface StopButtonProps {
  sessionId: string;
  onProblem: (problem: string) => void;
}

/** Stops the current turn. It shows "Stopping…" until the turn has ended and the button disappears. */
export function StopButton({ sessionId, onProblem }: StopButtonProps) {
  const stop = useStopTurn(sessionId);
  const isStopping = stop.isPending || stop.isSuccess;
  const onStop = () =>
    stop.mutate(undefined, {
      onError: (error) => {
        // The turn ended first, which is the desired result.
        const isOver = error instanceof ApiError && error.code === "not_running";
        if (!isOver) onProblem(messageOf(error));
      },
    });
  useCommands(
    isStopping ? [] : [{ id: "stop", title: "Stop", group: "This session", icon: Square, rank: -2, run: onStop }],
  );
  return (
    <Button onClick={onStop} disabled={isStopping} aria-label={isStopping ? "Stopping…" : "Stop"}>
      {isStopping ? (
        <LoaderCircle aria-hidden className="size-3.5 animate-spin" />
      ) : (
        <Square aria-hidden className="size-3 fill-current" />
      )}
      <span className="max-sm:hidden">{isStopping ? "Stopping…" : "Stop"}</span>
    </Button>
  );
}
