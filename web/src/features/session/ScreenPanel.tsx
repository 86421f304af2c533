import { useQueryClient } from "@tanstack/react-query";
import { Hand, MousePointerClick, Power, Volume2, VolumeX } from "lucide-react";
import { useCallback, useState } from "react";

import { messageOf } from "../../api/client";
import { readClipboard, setClipboard } from "../../api/clipboard";
import { useHandBack, useTakeControl } from "../../api/lease";
import { sessionKeys, useStartDesktop } from "../../api/sessions";
import { whyNoSound } from "../../api/sound";
import { lastScreenUrl, screenUrl, soundUrl } from "../../api/urls";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { includes } from "../../lib/rights";
import { useIsCodeOpen } from "../code/openCode";
import { type Command, useCommands } from "../commands/command";
import type { Timeline } from "../conversation/timeline";
import { type Control, lossWords } from "../screen/control";
import { ControlButtons, ControlOwner } from "../screen/ControlBar";
import { Screen } from "../screen/Screen";
import { screenMode } from "../screen/screenMode";
import { SoundControl } from "../sound/SoundControl";
import { type Sound, useSound } from "../sound/useSound";
import type { PanelProps } from "../workplace/panel";
import { useShowPanel } from "../workplace/showPanel";
import { useLiveSession } from "./LiveSession";
import { PagePanel } from "./PagePanel";
import { runningCommand, TakeOverDialog } from "./TakeOverDialog";

/** The session's screen, or the page in its browser where there is none. */
export function ScreenPanel(props: PanelProps) {
  return props.session.computer === "browser" ? <PagePanel {...props} /> : <DesktopPanel {...props} />;
}

/** The screen of a desktop, with the controls for it. */
function DesktopPanel({ session, sandbox }: PanelProps) {
  const { state, timeline, control, me } = useLiveSession();
  const take = useTakeControl(session.id);
  const handBack = useHandBack(session.id);
  const start = useStartDesktop(session.id);
  const isCodeOpen = useIsCodeOpen();
  const command = runningCommand(timeline);
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
    const ends = isCodeOpen || command !== null;
    if (ends && control.holder !== "me") setIsAsking(true);
    else takeNow();
  };
  const problem = start.error ?? take.error ?? handBack.error;
  const mode = screenMode(state, sandbox);
  const isLive = mode === "live";
  const mayDrive = includes(session.right, "drive");
  const canStart = mode === "off" && state !== "terminated" && includes(session.right, "suggest");
  const showPanel = useShowPanel();
  const showAndTake = () => {
    showPanel("screen");
    onTake();
  };
  const askWhy = useCallback(() => whyNoSound(session.id), [session.id]);
  const sound = useSound({ user: me ?? "", url: isLive ? soundUrl(session.id) : null, askWhy });
  useCommands([
    ...(isLive ? [soundCommand(sound)] : []),
    ...(mayDrive ? controlCommands({ control, isLive, mayForce, onTake: showAndTake, onHandBack }) : []),
    ...(canStart ? [startCommand(() => start.mutate())] : []),
  ]);

  return (
    <>
      <Screen
        state={state}
        sandbox={sandbox}
        control={control}
        owner={isLive && <ControlOwner control={control} />}
        buttons={
          mayDrive && (
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
        sound={<SoundControl sound={sound} />}
        start={
          canStart && (
            <StartButtons
              isStarting={start.isPending}
              onStart={() => start.mutate()}
              onStartAndTake={mayDrive ? () => start.mutate(undefined, { onSuccess: takeNow }) : null}
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
                start.reset();
                take.reset();
                handBack.reset();
              }}
            />
          ) : sound.problem ? (
            <ScreenNotice text={sound.problem} onDismiss={sound.toggle} />
          ) : (
            <LossNotice timeline={timeline} since={session.last_seq} me={me} />
          )
        }
        liveUrl={screenUrl(session.id)}
        lastPictureUrl={lastScreenUrl(session.id, timeline.shots.at(-1)?.id ?? 0)}
        onLost={onLost}
      />
      <TakeOverDialog
        isOpen={isAsking}
        onOpenChange={setIsAsking}
        loss={{ isCodeOpen, command }}
        onConfirm={takeNow}
      />
    </>
  );
}

interface StartButtonsProps {
  isStarting: boolean;
  onStart: () => void;
  /** `null` if the user may not take over. */
  onStartAndTake: (() => void) | null;
}

/** The buttons on the picture of a desktop that does not run. */
function StartButtons({ isStarting, onStart, onStartAndTake }: StartButtonsProps) {
  return (
    <>
      <Button disabled={isStarting} onClick={onStart}>
        Start it
      </Button>
      {onStartAndTake && (
        <Button disabled={isStarting} onClick={onStartAndTake}>
          Start and take over
        </Button>
      )}
    </>
  );
}

function startCommand(run: () => void): Command {
  const keywords = "wake desktop screen";
  return { id: "start-desktop", title: "Start the desktop", group: "This session", icon: Power, keywords, run };
}

function soundCommand(sound: Sound): Command {
  const isOn = sound.state !== "off";
  const title = isOn ? "Turn off the sound" : "Turn on the sound";
  const icon = isOn ? VolumeX : Volume2;
  return { id: "sound", title, group: "This session", icon, keywords: "audio mute speaker", run: sound.toggle };
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
