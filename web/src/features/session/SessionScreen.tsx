import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";

import { messageOf } from "../../api/client";
import { useHandBack, useTakeControl } from "../../api/lease";
import { sessionKeys } from "../../api/sessions";
import type { SandboxState, Session, SessionState } from "../../api/types";
import { lastScreenUrl, screenUrl } from "../../api/urls";
import { Notice } from "../../components/Notice";
import { includes } from "../../lib/rights";
import type { Timeline } from "../conversation/timeline";
import { type Control, lossWords } from "../screen/control";
import { ControlButtons, ControlOwner } from "../screen/ControlBar";
import { Screen } from "../screen/Screen";
import { screenMode } from "../screen/screenMode";

interface SessionScreenProps {
  session: Session;
  state: SessionState;
  sandbox: SandboxState;
  timeline: Timeline;
  control: Control;
  me: string | undefined;
}

/** The session's screen, with the controls for it. */
export function SessionScreen(props: SessionScreenProps) {
  const { session, state, sandbox, timeline, control, me } = props;
  const take = useTakeControl(session.id);
  const handBack = useHandBack(session.id);
  const client = useQueryClient();
  const onLost = useCallback(
    () => void client.invalidateQueries({ queryKey: sessionKeys.one(session.id) }),
    [client, session.id],
  );
  const onHandBack = () => handBack.mutate();
  const onTake = () => {
    handBack.reset();
    take.mutate({ force: control.holder === "other" });
  };
  const problem = take.error ?? handBack.error;

  return (
    <Screen
      state={state}
      sandbox={sandbox}
      control={control}
      owner={state !== "terminated" && <ControlOwner control={control} />}
      buttons={
        includes(session.right, "drive") && (
          <ControlButtons
            control={control}
            isLive={screenMode(state, sandbox) === "live"}
            mayForce={session.right === "owner"}
            isChanging={take.isPending || handBack.isPending}
            onTake={onTake}
            onHandBack={onHandBack}
          />
        )
      }
      onHandBack={onHandBack}
      notice={
        problem ? (
          <ScreenNotice
            text={messageOf(problem)}
            onDismiss={() => {
              take.reset();
              handBack.reset();
            }}
          />
        ) : (
          <LossNotice timeline={timeline} since={session.last_seq} me={me} />
        )
      }
      liveUrl={screenUrl(session.id)}
      lastPictureUrl={lastScreenUrl(session.id, timeline.shots.at(-1)?.id ?? 0)}
      onLost={onLost}
    />
  );
}

interface LossNoticeProps {
  timeline: Timeline;
  /** Changes older than this happened before the page was opened, and are not reported. */
  since: number;
  me: string | undefined;
}

/** Tells the user that they lost control, until they dismiss it. */
function LossNotice({ timeline, since, me }: LossNoticeProps) {
  const [closedAt, setClosedAt] = useState(since);
  const change = timeline.leaseChange;
  if (change === null || change.seq <= closedAt) return null;
  const words = lossWords(change.data, me);
  if (words === null) return null;
  return <ScreenNotice text={words} onDismiss={() => setClosedAt(change.seq)} />;
}

function ScreenNotice({ text, onDismiss }: { text: string; onDismiss: () => void }) {
  return (
    <div className="px-3 pb-2 lg:px-4">
      <Notice onDismiss={onDismiss}>{text}</Notice>
    </div>
  );
}
