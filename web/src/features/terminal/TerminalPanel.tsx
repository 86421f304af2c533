import { SquareTerminal } from "lucide-react";
import { useState } from "react";

import { messageOf } from "../../api/client";
import { useTakeControl } from "../../api/lease";
import {
  useEndTerminal,
  useOpenTerminal,
  useRefetchTerminals,
  useRenameTerminal,
  useTerminals,
} from "../../api/terminals";
import type { Terminal } from "../../api/types";
import { Button } from "../../components/Button";
import { FormDialog } from "../../components/FormDialog";
import { Notice } from "../../components/Notice";
import { Placeholder } from "../../components/Placeholder";
import { TextField } from "../../components/TextField";
import { includes } from "../../lib/rights";
import type { PanelProps } from "../workplace/panel";
import { TerminalTabs } from "./TerminalTabs";
import { TerminalView } from "./TerminalView";

/** The terminals of a session's desktop, shared by everybody who sees the session. */
export function TerminalPanel({ session, sandbox, lease }: PanelProps) {
  const isRunning = sandbox === "ready";
  const list = useTerminals(session.id, isRunning);
  const refetch = useRefetchTerminals(session.id);
  const open = useOpenTerminal(session.id);
  const rename = useRenameTerminal(session.id);
  const end = useEndTerminal(session.id);
  const takeControl = useTakeControl(session.id);
  const [wanted, setWanted] = useState<number | null>(null);
  const [isSearching, setIsSearching] = useState(false);
  const [renamed, setRenamed] = useState<Terminal | null>(null);
  const terminals = (isRunning && list.data) || [];
  const newest = terminals.findLast(({ ended }) => !ended) ?? terminals.at(-1);
  const current = terminals.find(({ number }) => number === wanted) ?? newest;
  // The tab that was shown first stays: nobody is taken to another one when its program ends.
  if (current && wanted === null) setWanted(current.number);
  const visited = useVisited(current?.id, terminals);
  const [hadTerminals, setHadTerminals] = useState(false);
  if (current && !hadTerminals) setHadTerminals(true);
  const mayDrive = includes(session.right, "drive") && session.state !== "terminated";

  const openOne = () => {
    open.mutate({}, { onSuccess: ({ number }) => setWanted(number) });
  };
  const problem = open.error ?? end.error ?? takeControl.error ?? (isRunning ? list.error : null);
  const dismiss = () => {
    for (const action of [open, end, takeControl]) action.reset();
  };
  const remedies = {
    control: session.right === "owner" && (
      <Button className="h-6 px-2" onClick={() => takeControl.mutate({ force: true })}>
        Take over
      </Button>
    ),
    paused: (
      <Button className="h-6 px-2" disabled={open.isPending} onClick={openOne}>
        New terminal
      </Button>
    ),
  };

  return (
    <section aria-label="Terminal" className="flex h-full min-h-0 flex-col bg-page">
      {current && (
        <TerminalTabs
          terminals={terminals}
          current={current.number}
          onSelect={setWanted}
          canChange={mayDrive}
          isOpening={open.isPending}
          onOpen={openOne}
          onRename={setRenamed}
          onEnd={({ number }) => end.mutate(number)}
          onSearch={() => setIsSearching((is) => !is)}
        />
      )}
      {problem && (
        <div className="p-2">
          <Notice onDismiss={dismiss}>{messageOf(problem)}</Notice>
        </div>
      )}
      {current ? (
        <div className="relative min-h-0 flex-1">
          {terminals
            .filter(({ id }) => visited.has(id) || id === current.id)
            .map(({ id, number, name }) => (
              <TerminalView
                key={id}
                sessionId={session.id}
                number={number}
                name={name}
                isShown={id === current.id}
                isSearching={isSearching}
                onSearching={setIsSearching}
                holder={lease?.name ?? null}
                remedies={remedies}
                onLost={refetch}
              />
            ))}
        </div>
      ) : (
        <NoTerminals
          isLoading={isRunning && list.isPending}
          isStarting={sandbox === "starting" || open.isPending}
          haveEnded={hadTerminals}
          canOpen={mayDrive}
          onOpen={openOne}
        />
      )}
      {renamed && (
        <RenameDialog
          terminal={renamed}
          onClose={() => {
            setRenamed(null);
            rename.reset();
          }}
          onRename={(name) =>
            rename.mutate({ number: renamed.number, name }, { onSuccess: () => setRenamed(null) })
          }
          isBusy={rename.isPending}
          error={rename.error ? messageOf(rename.error) : undefined}
        />
      )}
    </section>
  );
}

/** Returns the terminals that were shown before and still exist. They stay connected. */
function useVisited(current: string | undefined, terminals: readonly Terminal[]): ReadonlySet<string> {
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set());
  if (current !== undefined && !visited.has(current)) setVisited(new Set(visited).add(current));
  return new Set(terminals.map(({ id }) => id).filter((id) => visited.has(id)));
}

interface NoTerminalsProps {
  isLoading: boolean;
  isStarting: boolean;
  /** True if there were terminals before. */
  haveEnded: boolean;
  canOpen: boolean;
  onOpen: () => void;
}

function NoTerminals({ isLoading, isStarting, haveEnded, canOpen, onOpen }: NoTerminalsProps) {
  if (isStarting) return <Placeholder icon={<SquareTerminal aria-hidden />} title="The computer is starting…" />;
  if (isLoading) return <Placeholder icon={<SquareTerminal aria-hidden />} title="Loading the terminals…" />;
  return (
    <Placeholder
      icon={<SquareTerminal aria-hidden />}
      title={haveEnded ? "The terminals ended with the desktop" : "No terminal"}
      actions={
        canOpen && (
          <Button look="primary" onClick={onOpen}>
            Open a terminal
          </Button>
        )
      }
    >
      {canOpen
        ? "A terminal on the agent's desktop. It starts the desktop if that is asleep."
        : "The computer is asleep. Terminals are shown here once somebody opens one."}
    </Placeholder>
  );
}

interface RenameDialogProps {
  terminal: Terminal;
  onClose: () => void;
  onRename: (name: string) => void;
  isBusy: boolean;
  error: string | undefined;
}

function RenameDialog({ terminal, onClose, onRename, isBusy, error }: RenameDialogProps) {
  const [name, setName] = useState(terminal.name);
  return (
    <FormDialog
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
      title="Rename the terminal"
      onSubmit={() => onRename(name.trim())}
      submitLabel="Rename"
      canSubmit={name.trim() !== "" && !isBusy}
      error={error}
    >
      <TextField label="Name" value={name} onChange={setName} />
    </FormDialog>
  );
}
