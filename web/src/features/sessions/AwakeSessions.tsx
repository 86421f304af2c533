import { Link } from "@tanstack/react-router";

import { useSessions } from "../../api/sessions";
import type { SandboxState } from "../../api/types";

const AWAKE: ReadonlySet<SandboxState> = new Set(["starting", "ready", "paused"]);

/** Links to the sessions whose desktops are awake, for when there is no room for another. */
export function AwakeSessions() {
  const sessions = useSessions().data?.pages.flatMap((page) => page.sessions) ?? [];
  const awake = sessions.filter(({ sandbox, right }) => right === "owner" && AWAKE.has(sandbox));
  if (awake.length === 0) return null;
  return (
    <div className="mt-1">
      Awake now:
      <ul className="list-disc pl-5">
        {awake.map(({ id, title }) => (
          <li key={id}>
            <Link to="/sessions/$sessionId" params={{ sessionId: id }} className="underline underline-offset-2">
              {title || "Untitled session"}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
