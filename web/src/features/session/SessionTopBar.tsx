import { useState } from "react";

import { messageOf } from "../../api/client";
import { useRenameSession } from "../../api/sessions";
import type { Session, SessionState } from "../../api/types";
import { Notice } from "../../components/Notice";
import { StateBadge } from "../../components/StateBadge";
import { TopBar } from "../../components/TopBar";
import { AccountMenu } from "../account/AccountMenu";
import { HomeLink, NewSessionButton } from "../account/Navigation";
import { Elapsed } from "./Elapsed";
import { SessionMenu } from "./SessionMenu";
import { StopButton } from "./StopButton";
import { TitleEditor } from "./TitleEditor";

interface SessionTopBarProps {
  session: Session;
  state: SessionState;
  turnStartedAt: string | null;
}

/** Which session this is, how it is doing, and what can be done about it. */
export function SessionTopBar({ session, state, turnStartedAt }: SessionTopBarProps) {
  const rename = useRenameSession(session.id);
  const isRunning = state === "running" || state === "waiting";
  const [problem, setProblem] = useState<string | null>(null);

  return (
    <>
      <TopBar
        home={<HomeLink />}
        actions={
          <>
            {isRunning && (
              // The next turn gets a button of its own, which is not stopping yet.
              <StopButton key={turnStartedAt} sessionId={session.id} onProblem={setProblem} />
            )}
            <NewSessionButton className="max-sm:hidden" />
            {state !== "terminated" && <SessionMenu sessionId={session.id} />}
            <AccountMenu />
          </>
        }
      >
        <TitleEditor
          title={session.title}
          fallback="Untitled session"
          onRename={(title) =>
            rename.mutate(title, { onError: (error) => setProblem(messageOf(error)) })
          }
        />
        <div className="mt-0.5 flex min-w-0 items-center gap-2 text-xs text-faint">
          <StateBadge state={state} />
          {isRunning && turnStartedAt !== null && <Elapsed since={turnStartedAt} />}
          <span className="hidden truncate sm:inline">{session.model}</span>
        </div>
      </TopBar>
      {problem !== null && (
        <div className="border-b border-line px-4 py-2">
          <Notice onDismiss={() => setProblem(null)}>{problem}</Notice>
        </div>
      )}
    </>
  );
}
