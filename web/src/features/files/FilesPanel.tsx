import { Files, Lock, Moon } from "lucide-react";
import { useState } from "react";

import { useMe } from "../../api/account";
import { Button } from "../../components/Button";
import { Placeholder } from "../../components/Placeholder";
import { includes } from "../../lib/rights";
import type { PanelProps } from "../workplace/panel";
import { isUnsaved, useOpenedFile } from "./openedFile";
import { OpenFiles } from "./OpenFiles";

/** The desktop's files: a tree, a view of one of them, and everything to change them. */
export function FilesPanel({ session, sandbox, lease }: PanelProps) {
  const { data: me } = useMe({ enabled: true });
  const [isWanted, setIsWanted] = useState(false);
  // Text that is not saved stays while the files cannot be seen.
  const [opened, setOpened] = useOpenedFile(session.id);
  const isRunning = sandbox === "ready" || sandbox === "starting";
  const mayWake = includes(session.right, "suggest");
  // A desktop that stops later is not started again by itself.
  if (isRunning && isWanted) setIsWanted(false);
  const kept = isUnsaved(opened) && (
    <> Your changes to {opened?.entry.name} are not saved yet, and are kept here until then.</>
  );

  if (session.state === "terminated") {
    // There is nothing to save them to any more.
    if (opened !== null) setOpened(null);
    return (
      <Shell>
        <Placeholder icon={<Files aria-hidden />} title="The files are gone">
          They were deleted when this session ended. What the agent shared is in the conversation.
        </Placeholder>
      </Shell>
    );
  }
  if (lease !== null && lease.user !== me?.id) {
    return (
      <Shell>
        <Placeholder icon={<Lock aria-hidden />} title={`${lease.name} has control`}>
          Files can be seen and changed again when they hand back.{kept}
        </Placeholder>
      </Shell>
    );
  }
  if (!isRunning && !isWanted) {
    return (
      <Shell>
        <Placeholder
          icon={<Moon aria-hidden />}
          title="The computer is not running"
          actions={mayWake && <Button onClick={() => setIsWanted(true)}>Start it</Button>}
        >
          {mayWake
            ? "Its files are kept. Start it to see them."
            : "Its files are kept. You can see them while the desktop runs."}
          {kept}
        </Placeholder>
      </Shell>
    );
  }
  return (
    <OpenFiles
      sessionId={session.id}
      isRunning={isRunning}
      mayWrite={includes(session.right, "drive")}
      opened={opened}
      setOpened={setOpened}
    />
  );
}

function Shell({ children }: { children: React.ReactNode }) {
  return (
    <section aria-label="Files" className="h-full min-h-0 overflow-auto bg-surface">
      {children}
    </section>
  );
}
