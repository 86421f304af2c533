import { RotateCw } from "lucide-react";

import { messageOf } from "../../api/client";
import { useSendMessage } from "../../api/sessions";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";

/** Lets the agent go on after a failure, with a message that says no more than that. */
export function TryAgain({ sessionId }: { sessionId: string }) {
  const send = useSendMessage(sessionId);
  return (
    <div className="flex flex-col items-start gap-2">
      <Button disabled={send.isPending || send.isSuccess} onClick={() => send.mutate({ content: "Try again" })}>
        <RotateCw aria-hidden className="size-3.5" /> Try again
      </Button>
      {send.error && <Notice>{messageOf(send.error)}</Notice>}
    </div>
  );
}
