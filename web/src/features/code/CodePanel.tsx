import { Code, CloudOff, ExternalLink, FolderTree, MonitorOff } from "lucide-react";
import { useState } from "react";

import { useMe } from "../../api/account";
import { addressOf, type Place, usePorts } from "../../api/apps";
import { messageOf } from "../../api/client";
import { Button } from "../../components/Button";
import { Hint } from "../../components/Hint";
import { Notice } from "../../components/Notice";
import { Placeholder } from "../../components/Placeholder";
import { Skeleton } from "../../components/Skeleton";
import { includes } from "../../lib/rights";
import { ServiceFrame } from "../preview/ServiceFrame";
import { controlOf } from "../screen/control";
import type { PanelProps } from "../workplace/panel";
import { useShowPanel } from "../workplace/showPanel";
import { useCountCode } from "./openCode";

const CODE: Place = { service: "vscode", path: "/" };

/** Shows VS Code on the files of the desktop, or says how to get it. */
export function CodePanel({ session, lease }: PanelProps) {
  const me = useMe({ enabled: true });
  const ports = usePorts(session.id);
  const showPanel = useShowPanel();
  const control = controlOf(lease, session.state, me.data?.id);
  const mayOpen = session.state !== "terminated" && includes(session.right, "drive") && control.holder !== "other";
  useCountCode(mayOpen && ports.data?.vscode === true);
  // VS Code ends whenever control changes hands, so it is opened again.
  const holder = lease?.user ?? null;
  const [opened, setOpened] = useState({ holder, visit: 0 });
  if (opened.holder !== holder) setOpened({ holder, visit: opened.visit + 1 });
  const [problem, setProblem] = useState<string | null>(null);
  const openTab = () => {
    addressOf(session.id, CODE).then(
      (address) => window.open(address, "_blank", "noopener"),
      (error: unknown) => setProblem(messageOf(error)),
    );
  };
  const openAgain = () => setOpened(({ visit }) => ({ holder, visit: visit + 1 }));
  if (session.state === "terminated") {
    return (
      <Placeholder icon={<MonitorOff aria-hidden />} title="This session has ended">
        Its files are gone.
      </Placeholder>
    );
  }
  if (!includes(session.right, "drive")) {
    return (
      <Placeholder icon={<Code aria-hidden />} title="Only people who may drive can open VS Code">
        Whoever uses it can change everything on the desktop. Ask the owner of the session.
      </Placeholder>
    );
  }
  if (ports.isPending) {
    return (
      <div role="status" aria-label="Loading" className="h-full p-4">
        <Skeleton className="h-full w-full rounded-lg" />
      </div>
    );
  }
  if (ports.isError && !ports.data) {
    return (
      <Placeholder
        icon={<CloudOff aria-hidden />}
        title="VS Code cannot be opened"
        actions={<Button onClick={() => void ports.refetch()}>Try again</Button>}
      >
        {messageOf(ports.error)}
      </Placeholder>
    );
  }
  if (!ports.data?.vscode) {
    return (
      <Placeholder
        icon={<Code aria-hidden />}
        title="VS Code is not installed on this server"
        actions={
          <Button onClick={() => showPanel("files")}>
            <FolderTree aria-hidden className="size-3.5" /> Open Files
          </Button>
        }
      >
        An administrator can install it with <code className="font-mono text-ink">scripts/setup code</code> and start
        the server again. The panel Files has an editor of its own.
      </Placeholder>
    );
  }
  if (control.holder === "other") {
    return (
      <Placeholder icon={<Code aria-hidden />} title={`${control.name} has control`}>
        Only they can use VS Code meanwhile. It opens here by itself when control is handed back.
      </Placeholder>
    );
  }
  return (
    <section aria-label="Code" className="flex h-full min-h-0 flex-col bg-surface">
      <header className="flex items-center justify-between gap-2 border-b border-line py-1 pr-2 pl-3">
        <h2 className="text-[13px] text-soft">VS Code</h2>
        <Button look="ghost" square aria-label="Open in a new tab" onClick={openTab}>
          <ExternalLink aria-hidden className="size-4" />
        </Button>
      </header>
      {problem !== null && (
        <div className="p-2">
          <Notice onDismiss={() => setProblem(null)}>{problem}</Notice>
        </div>
      )}
      {control.holder === "me" && (
        <Hint>VS Code starts again when you hand back: programs in its terminals end then.</Hint>
      )}
      <div className="min-h-0 flex-1">
        <ServiceFrame
          sessionId={session.id}
          place={CODE}
          visit={opened.visit}
          title="VS Code"
          onRetry={openAgain}
        />
      </div>
    </section>
  );
}
