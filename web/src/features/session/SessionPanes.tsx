import { useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";

import { useMe } from "../../api/account";
import { useSavedLayout, useSaveLayout } from "../../api/layout";
import { useNames } from "../../api/people";
import type { Connection } from "../../api/stream";
import type { SandboxState, Session, SessionState } from "../../api/types";
import type { Spent } from "../../lib/money";
import { Conversation } from "../conversation/Conversation";
import { openQuestion } from "../conversation/decisionItems";
import type { Timeline } from "../conversation/timeline";
import { useNewPorts } from "../preview/useNewPorts";
import { controlOf, type HeldLease, waitingWords } from "../screen/control";
import { PANELS } from "../workplace/panels";
import { Workplace } from "../workplace/Workplace";
import { LiveSessionContext } from "./LiveSession";
import { MESSAGE_FIELD, SessionComposer } from "./SessionComposer";

interface SessionPanesProps {
  /** The bar above everything. */
  header: ReactNode;
  session: Session;
  state: SessionState;
  sandbox: SandboxState;
  timeline: Timeline;
  /** The person who has control, if any. */
  lease: HeldLease | null;
  connection: Connection;
  /** The usage of the session's models. */
  spent: Spent;
  isLoading: boolean;
}

/** The conversation beside the panels. */
export function SessionPanes(props: SessionPanesProps) {
  const { session, state, sandbox, timeline, lease } = props;
  const names = useNames(session.id);
  const { data: me } = useMe({ enabled: true });
  const control = controlOf(lease, state, me?.id);
  const { panel: wanted } = useSearch({ from: "/sessions/$sessionId" });
  const { data: saved } = useSavedLayout();
  const { mutate: save } = useSaveLayout();
  const remote = useMemo(() => ({ saved, save }), [saved, save]);
  const question = useMemo(() => openQuestion(timeline.items), [timeline.items]);
  const ports = useNewPorts(session, sandbox);
  const news = useMemo(() => ({ preview: ports }), [ports]);
  const live = useMemo(
    () => ({ state, timeline, control: controlOf(lease, state, me?.id), me: me?.id }),
    [state, timeline, lease, me?.id],
  );

  return (
    <LiveSessionContext value={live}>
      <Workplace
        user={me?.id ?? ""}
        remote={remote}
        panels={PANELS}
        panelProps={{ session, sandbox, lease }}
        header={props.header}
        news={news}
        wanted={wanted}
        messageField={MESSAGE_FIELD}
        needsAnswer={state === "waiting"}
        conversation={
          <>
            <Conversation
              sessionId={session.id}
              timeline={timeline}
              state={state}
              model={session.model}
              connection={props.connection}
              isLoading={props.isLoading}
              names={names}
              waitingNote={waitingWords(control)}
              right={session.right}
              me={me?.id}
            />
            <SessionComposer
              session={session}
              state={state}
              spent={props.spent}
              programs={timeline.programsSpent}
              question={question}
            />
          </>
        }
      />
    </LiveSessionContext>
  );
}
