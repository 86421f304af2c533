import { useState } from "react";

import { useChangeSession } from "../../api/sessions";
import type { Session } from "../../api/types";

/** Which model works on a session's messages: its own, or another one for the next message. */
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
    /** The model of the next message, when it is not the session's. */
    forMessage,
    /** The message went out. */
    sent: forget,
    /** Why the session did not get another model. */
    error: change.error,
    picker: {
      // What was just chosen is shown while the server still thinks about it.
      value: forMessage ?? (change.isPending ? change.variables.model : null) ?? session.model,
      onChange: choose,
      once: {
        isOnce,
        onChange: (is: boolean) => (is ? setIsOnce(true) : forget()),
      },
    },
  };
}
