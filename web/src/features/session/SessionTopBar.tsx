import { useState } from "react";

import { messageOf } from "../../api/client";
import { useChangeSession } from "../../api/sessions";
import type { SandboxState, Session, SessionState } from "../../api/types";
import { Notice } from "../../components/Notice";
import { StateBadge } from "../../components/StateBadge";
import { TopBar } from "../../components/TopBar";
import type { Spent } from "../../lib/money";
import { includes, RIGHT_WORDS } from "../../lib/rights";
import { AccountMenu } from "../account/AccountMenu";
import { HomeLink, NewSessionButton } from "../account/Navigation";
import { CommandsButton } from "../commands/CommandsButton";
import { InboxLink } from "../decisions/InboxLink";
import { Elapsed } from "./Elapsed";
import { PeopleHere } from "./PeopleHere";
import { SessionMenu } from "./SessionMenu";
import { SessionSpent } from "./SessionSpent";
import { ShareDialog } from "./ShareDialog";
import { StopButton } from "./StopButton";
import { TitleEditor } from "./TitleEditor";

const FALLBACK_TITLE = "Untitled session";

interface SessionTopBarProps {
  session: Session;
  state: SessionState;
  sandbox: SandboxState;
  turnStartedAt: string | null;
  /** The usage of the session's models. */
  spent: Spent;
  /** The part of it that programs on the desktop have used. */
  programs: Spent;
}

/** The bar with the session's title, state and actions. */
export function SessionTopBar(props: SessionTopBarProps) {
  const { session, state, sandbox, turnStartedAt } = props;
  const change = useChangeSession(session.id);
  const isOwner = session.right === "owner";
  const isRunning = state === "running" || state === "waiting";
  const [problem, setProblem] = useState<string | null>(null);

  return (
    <>
      <TopBar
        home={<HomeLink />}
        actions={
          <>
            <PeopleHere sessionId={session.id} />
            {isRunning && includes(session.right, "drive") && (
              // The next turn gets a new button, which is not in the state of stopping.
              <StopButton key={turnStartedAt} sessionId={session.id} onProblem={setProblem} />
            )}
            {isOwner && <ShareDialog sessionId={session.id} />}
            <CommandsButton />
            <InboxLink />
            <NewSessionButton className="max-md:hidden" />
            <SessionMenu session={session} state={state} />
            <AccountMenu />
          </>
        }
      >
        {isOwner ? (
          <TitleEditor
            title={session.title}
            fallback={FALLBACK_TITLE}
            onRename={(title) =>
              change.mutate({ title }, { onError: (error) => setProblem(messageOf(error)) })
            }
          />
        ) : (
          <h1 dir="auto" className="truncate text-[15px] leading-6 font-semibold">
            {session.title || FALLBACK_TITLE}
          </h1>
        )}
        <div className="mt-0.5 flex min-w-0 items-center gap-2 overflow-hidden text-xs whitespace-nowrap text-faint">
          <StateBadge state={state} sandbox={sandbox} right={session.right} />
          {isRunning && turnStartedAt !== null && <Elapsed since={turnStartedAt} />}
          {!isOwner && <span>You {RIGHT_WORDS[session.right].toLowerCase()}</span>}
          <SessionSpent
            session={session}
            spent={props.spent}
            programs={props.programs}
            // On narrow displays there is no room for it here, so it is shown beside the model.
            className="max-sm:hidden"
          />
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
