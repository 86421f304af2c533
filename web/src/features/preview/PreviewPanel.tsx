import { CloudOff, ExternalLink, Eye, MonitorOff, RotateCw, Users } from "lucide-react";
import { useState, type FormEvent } from "react";

import { useMe } from "../../api/account";
import { addressOf, usePorts, useSharePort, type Place } from "../../api/apps";
import { messageOf } from "../../api/client";
import { Button } from "../../components/Button";
import { Hint } from "../../components/Hint";
import { Notice } from "../../components/Notice";
import { Placeholder } from "../../components/Placeholder";
import { cx } from "../../lib/cx";
import { includes } from "../../lib/rights";
import { controlOf } from "../screen/control";
import type { PanelProps } from "../workplace/panel";
import { lastPort, rememberPort } from "./lastPort";
import { placeOf, portOf } from "./place";
import { ServiceFrame } from "./ServiceFrame";
import { usablePorts } from "./usablePorts";

/** Shows the web servers of the desktop: a list of their ports, and one of them in a frame. */
export function PreviewPanel({ session, lease }: PanelProps) {
  const me = useMe({ enabled: true });
  const ports = usePorts(session.id);
  const sharePort = useSharePort(session.id);
  const drives = includes(session.right, "drive");
  const shared = ports.data?.shared ?? [];
  const listening = usablePorts(session.right, ports.data);
  const [place, setPlace] = useState<Place | null>(null);
  const [visit, setVisit] = useState(0);
  const [problem, setProblem] = useState<string | null>(null);

  // The program that was shown last, or the first that listens, is shown by itself, and stays when it stops.
  const last = place === null ? lastPort(session.id) : null;
  const first = (listening.find(({ port }) => port === last) ?? listening[0])?.port;
  if (place === null && first !== undefined) setPlace({ service: `port-${first}`, path: "/" });

  if (session.state === "terminated") {
    return (
      <Placeholder icon={<MonitorOff aria-hidden />} title="This session has ended">
        Nothing runs on its desktop any more.
      </Placeholder>
    );
  }
  if (!drives && ports.isSuccess && listening.length === 0) {
    return (
      <Placeholder icon={<Eye aria-hidden />} title="No program is shared with you">
        People who may drive can open the programs of the desktop. The owner of the session can share
        single ones with everybody in it.
      </Placeholder>
    );
  }

  const show = (next: Place) => {
    setProblem(null);
    setPlace(next);
    const port = portOf(next);
    if (port !== null) rememberPort(session.id, port);
    setVisit((n) => n + 1);
  };
  const openTab = (shown: Place) => {
    addressOf(session.id, shown).then(
      (address) => window.open(address, "_blank", "noopener"),
      (error: unknown) => setProblem(messageOf(error)),
    );
  };
  const shownPort = place && portOf(place);
  const control = controlOf(lease, session.state, me.data?.id);
  const isSilent = ports.isSuccess && shownPort !== null && !listening.some(({ port }) => port === shownPort);

  return (
    <section aria-label="Preview" className="flex h-full min-h-0 flex-col bg-surface">
      <header className="flex flex-wrap items-center gap-1.5 border-b border-line px-2 py-1.5">
        <ul aria-label="Ports" className="flex max-w-full min-w-0 gap-1 overflow-x-auto">
          {listening.map(({ port, program }) => (
            <li key={port}>
              <button
                type="button"
                aria-pressed={port === shownPort}
                onClick={() => show({ service: `port-${port}`, path: "/" })}
                className={cx(
                  "flex h-8 items-center gap-1.5 rounded-md px-2.5 text-[13px] whitespace-nowrap",
                  port === shownPort ? "bg-accent-soft text-accent" : "text-soft hover:bg-hover hover:text-ink",
                )}
              >
                <span className="font-medium tabular-nums">{port}</span>
                {program && <span className="text-xs">{program}</span>}
              </button>
            </li>
          ))}
        </ul>
        {/* They stay together where there is no room beside the ports. */}
        <div className="flex min-w-64 flex-1 items-center gap-1.5">
          <AddressBar place={place} onOpen={show} onProblem={setProblem} />
          <div className="flex">
            {session.right === "owner" && typeof shownPort === "number" && (
              <ShareButton
                port={shownPort}
                isShared={shared.includes(shownPort)}
                onChange={(isShared) =>
                  sharePort.mutate(
                    { port: shownPort, isShared },
                    { onError: (error) => setProblem(messageOf(error)) },
                  )
                }
              />
            )}
            <Button look="ghost" square aria-label="Reload" disabled={!place} onClick={() => place && show(place)}>
              <RotateCw aria-hidden className="size-4" />
            </Button>
            <Button
              look="ghost"
              square
              aria-label="Open in a new tab"
              disabled={!place}
              onClick={() => place && openTab(place)}
            >
              <ExternalLink aria-hidden className="size-4" />
            </Button>
          </div>
        </div>
      </header>
      {problem !== null && (
        <div className="p-2">
          <Notice onDismiss={() => setProblem(null)}>{problem}</Notice>
        </div>
      )}
      {control.holder === "other" && <Hint>{control.name} has control, so only they can use the programs.</Hint>}
      {control.holder === "me" && (
        <Hint>Programs that the agent started are stopped until you hand back, so they may not answer.</Hint>
      )}
      {isSilent && <Hint>Nothing listens on port {shownPort} at the moment.</Hint>}
      <div className="min-h-0 flex-1">
        {place ? (
          <ServiceFrame
            sessionId={session.id}
            place={place}
            visit={visit}
            title={`Port ${shownPort ?? ""}`}
            onRetry={() => show(place)}
          />
        ) : (
          <NoProgram problem={ports.isError ? messageOf(ports.error) : null} isLoading={ports.isPending} />
        )}
      </div>
    </section>
  );
}

function NoProgram({ problem, isLoading }: { problem: string | null; isLoading: boolean }) {
  if (problem !== null) {
    return (
      <Placeholder icon={<CloudOff aria-hidden />} title="The programs cannot be listed">
        {problem}
      </Placeholder>
    );
  }
  if (isLoading) return <Placeholder icon={<Eye aria-hidden />} title="Looking for programs…" />;
  return (
    <Placeholder icon={<Eye aria-hidden />} title="No program listens yet">
      Start a web server on the desktop, or ask the agent to. It appears here by itself.
    </Placeholder>
  );
}

interface ShareButtonProps {
  port: number;
  isShared: boolean;
  onChange: (isShared: boolean) => void;
}

/** Lets everybody in the session use a port, or only people who may drive. */
function ShareButton({ port, isShared, onChange }: ShareButtonProps) {
  const words = isShared
    ? `Everybody in the session can use port ${port}`
    : `Let everybody in the session use port ${port}`;
  return (
    <Button
      look="ghost"
      square
      aria-label={words}
      title={words}
      aria-pressed={isShared}
      className={cx(isShared && "bg-accent-soft text-accent hover:text-accent")}
      onClick={() => onChange(!isShared)}
    >
      <Users aria-hidden className="size-4" />
    </Button>
  );
}

interface AddressBarProps {
  place: Place | null;
  onOpen: (place: Place) => void;
  onProblem: (problem: string) => void;
}

/** A line in which a person types a path, or a port with a path. */
function AddressBar({ place, onOpen, onProblem }: AddressBarProps) {
  const [typed, setTyped] = useState(place?.path ?? "");
  // The same field shows the path of another place, so that the keyboard stays in it.
  const [shown, setShown] = useState(place);
  if (shown !== place) {
    setShown(place);
    setTyped(place?.path ?? "");
  }
  const open = (event: FormEvent) => {
    event.preventDefault();
    const next = placeOf(typed, place);
    if (next) onOpen(next);
    else onProblem("Type a path such as /login, or a port such as 3000.");
  };
  return (
    <form onSubmit={open} className="flex min-w-0 flex-1">
      <input
        type="text"
        aria-label="Path or port"
        placeholder="A path, or a port such as 3000"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        spellCheck={false}
        autoComplete="off"
        className="h-8 min-w-0 flex-1 rounded-md border border-line-strong bg-surface px-2.5 font-mono text-base placeholder:font-sans placeholder:text-faint sm:text-[13px]"
      />
    </form>
  );
}
