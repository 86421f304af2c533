import { useState } from "react";

import { useChangeSession } from "../../api/sessions";
import type { Session } from "../../api/types";

/** The choice of a model for a session's messages: the session's own, or another one for the next message. */
export function useModelChoice(session: Session) {
  const [isOnce, setIsOnce] = useState(false);
  const [forMessage, setForMessage] = useState<string | null>(null);
  const change = useChangeSession(session.id);
  const forget = () => {
    setIsOnce(false);
    setForMessage(null);
  };
  const choose = (model: string) => {
    if (isOnce) setForMessage(model);
    else change.mutate({ model });
  };
  return {
    /** The model of the next message, if it is not the session's. */
    forMessage,
    /** Call this when the message was sent. */
    sent: forget,
    /** The reason why the session's model could not be changed. */
    error: change.error,
    picker: {
      // The new choice is shown while the request is pending.
      value: forMessage ?? (change.isPending ? change.variables.model : null) ?? session.model,
      onChange: choose,
      once: {
        isOnce,
        onChange: (is: boolean) => (is ? setIsOnce(true) : forget()),
      },
    },
  };
}
