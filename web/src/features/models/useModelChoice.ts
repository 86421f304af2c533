import { useState } from "react";

import { useChangeSession } from "../../api/sessions";
import type { Effort, SendMessage, Session } from "../../api/types";

/** The model and the effort of the next message, where they are not the session's. */
type ForMessage = Pick<SendMessage, "model" | "effort">;

/** The choice of a model and its effort: the session's own, or another one for the next message. */
export function useModelChoice(session: Session) {
  const [isOnce, setIsOnce] = useState(false);
  const [forMessage, setForMessage] = useState<ForMessage>({});
  const change = useChangeSession(session.id);
  const forget = () => {
    setIsOnce(false);
    setForMessage({});
  };
  // A new choice is shown while the request is pending.
  const shown = { ...session, ...(change.isPending ? change.variables : {}) };
  const chooseEffort = (effort: Effort | null) => {
    if (!isOnce) change.mutate({ effort });
    else {
      const { effort: _before, ...rest } = forMessage;
      setForMessage(effort === null ? rest : { ...rest, effort });
    }
  };
  return {
    forMessage,
    /** Call this when the message was sent. */
    sent: forget,
    /** The reason why the session's choice could not be changed. */
    error: change.error,
    picker: {
      value: forMessage.model ?? shown.model,
      onChange: (model: string) =>
        isOnce ? setForMessage({ ...forMessage, model }) : change.mutate({ model }),
      effort: { value: forMessage.effort ?? shown.effort, onChange: chooseEffort },
      once: {
        isOnce,
        onChange: (is: boolean) => (is ? setIsOnce(true) : forget()),
      },
    },
  };
}
