import { Link2Off } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";

import { messageOf } from "../../api/client";
import { useJoin } from "../../api/people";
import { Button } from "../../components/Button";
import { Placeholder } from "../../components/Placeholder";
import { router } from "../../router";

interface JoinProps {
  /** The code of the shared link the page was opened with. */
  shareCode: string | null;
  children: ReactNode;
}

/** Follows a shared link, then shows the session it leads to. */
export function Join({ shareCode, children }: JoinProps) {
  const join = useJoin(shareCode);
  const sessionId = join.data?.id;
  const [isDone, setIsDone] = useState(shareCode === null);
  useEffect(() => {
    if (sessionId === undefined) return;
    const go = router.navigate({ to: "/sessions/$sessionId", params: { sessionId } });
    void go.then(() => setIsDone(true));
  }, [sessionId]);

  if (isDone) return children;
  if (join.error) {
    return (
      <main className="grid min-h-full place-items-center">
        <Placeholder
          icon={<Link2Off aria-hidden />}
          title="This link does not work"
          actions={<Button onClick={() => setIsDone(true)}>Show my sessions</Button>}
        >
          {messageOf(join.error)}
        </Placeholder>
      </main>
    );
  }
  return (
    <main aria-busy className="grid min-h-full place-items-center text-faint">
      <div role="status">Joining the session…</div>
    </main>
  );
}
