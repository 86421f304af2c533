import { useQueryClient } from "@tanstack/react-query";
import { Hand, MousePointerClick } from "lucide-react";
import { useCallback, useState } from "react";

import { messageOf } from "../../api/client";
import { readClipboard, setClipboard } from "../../api/clipboard";
import { useHandBack, useTakeControl } from "../../api/lease";
import { sessionKeys } from "../../api/sessions";
import { lastScreenUrl, screenUrl } from "../../api/urls";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { Notice } from "../../components/Notice";
import { includes } from "../../lib/rights";
import { useIsCodeOpen } from "../code/openCode";
import { type Command, useCommands } from "../commands/command";
import type { Timeline } from "../conversation/timeline";
import { type Control, lossWords } from "../screen/control";
import { ControlButtons, ControlOwner } from "../screen/ControlBar";
import { Screen } from "../screen/Screen";
import { screenMode } from "../screen/screenMode";
import type { PanelProps } from "../workplace/panel";
import { useShowPanel } from "../workplace/showPanel";
import { useLiveSession } from "./LiveSession";
import { PagePanel } from "./PagePanel";

/** The session's screen, or the page in its browser where there is none. */
export function ScreenPanel(props: PanelProps) {
  return props.session.computer === "browser" ? <PagePanel {...props} /> : <DesktopPanel {...props} />;
}

/** The screen of a desktop, with the controls for it. */
function DesktopPanel({ session, sandbox }: PanelProps) {
  const { state, timeline, control, me } = useLiveSession();
  const take = useTakeControl(session.id);
  const handBack = useHandBack(session.id);
  const isCodeOpen = useIsCodeOpen();
  const [isAsking, setIsAsking] = useState(false);
  const client = useQueryClient();
  const onLost = useCallback(
    () => void client.invalidateQueries({ queryKey: sessionKeys.one(session.id) }),
    [client, session.id],
  );
  const mayForce = session.right === "owner";
  const onHandBack = () => handBack.mutate();
  const takeNow = () => {
    setIsAsking(false);
    handBack.reset();
    take.mutate({ force: control.holder === "other" });
  };
  const onTake = () => {
    if (isCodeOpen && control.holder !== "me") setIsAsking(true);
    else takeNow();
  };
  const problem = take.error ?? handBack.error;
  const isLive = screenMode(state, sandbox) === "live";
  const showPanel = useShowPanel();
  const showAndTake = () => {
    showPanel("screen");
    onTake();
  };
  useCommands(
    includes(session.right, "drive")
      ? controlCommands({ control, isLive, mayForce, onTake: showAndTake, onHandBack })
      : [],
  );

  return (
    <>
      <Screen
        state={state}
        sandbox={sandbox}
        control={control}
        owner={state !== "terminated" && <ControlOwner control={control} />}
        buttons={
          includes(session.right, "drive") && (
            <ControlButtons
              control={control}
              isLive={isLive}
              mayForce={mayForce}
              isChanging={take.isPending || handBack.isPending}
              onTake={onTake}
              onHandBack={onHandBack}
            />
          )
        }
        onHandBack={onHandBack}
        clipboard={{
          read: () => readClipboard(session.id),
          set: (text) => setClipboard(session.id, text),
        }}
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
      <ConfirmDialog
        isOpen={isAsking}
        onOpenChange={setIsAsking}
        title="Take over while VS Code is open?"
        confirmLabel="Take over"
        isBusy={false}
        onConfirm={takeNow}
      >
        VS Code starts again when control changes hands. Saved files are kept, and programs in its terminals end.
      </ConfirmDialog>
    </>
  );
}

interface ControlState {
  control: Control;
  isLive: boolean;
  mayForce: boolean;
  onTake: () => void;
  onHandBack: () => void;
}

/** Returns the commands for mouse and keyboard that are possible now. */
function controlCommands({ control, isLive, mayForce, onTake, onHandBack }: ControlState): Command[] {
  const group = "This session";
  if (control.holder === "me") {
    return [{ id: "hand-back", title: "Hand back", group, icon: Hand, keywords: "control", rank: -2, run: onHandBack }];
  }
  if (!isLive || (control.holder === "other" && !mayForce)) return [];
  const title = control.holder === "other" ? `Take over from ${control.name}` : "Take over";
  const keywords = "control mouse keyboard";
  return [{ id: "take-over", title, group, icon: MousePointerClick, keywords, rank: -1, run: onTake }];
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
    <div className="px-3 pb-2">
      <Notice onDismiss={onDismiss}>{text}</Notice>
    </div>
  );
}
