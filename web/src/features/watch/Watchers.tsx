import { Users } from "lucide-react";
import { type FormEvent, useEffect, useId, useState } from "react";

import { Button } from "../../components/Button";
import { TextField } from "../../components/TextField";

interface WatchersProps {
  names: string[];
  /** The number of people who watch, which may be greater than the number of names. */
  n_watchers: number;
  ownName: string;
  onRename: (name: string) => void;
}

/** The number of people who watch, with a list of their names and a field for one's own. */
export function Watchers({ names, n_watchers, ownName, onRename }: WatchersProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [name, setName] = useState(ownName);
  const list = useId();
  const people = n_watchers === 1 ? "1 person watches" : `${n_watchers} people watch`;
  const rename = (event: FormEvent) => {
    event.preventDefault();
    onRename(name.trim());
    setIsOpen(false);
  };
  useEffect(() => {
    if (!isOpen) return;
    const closeOnEscape = (event: KeyboardEvent) => {
      if (event.key === "Escape") setIsOpen(false);
    };
    document.addEventListener("keydown", closeOnEscape);
    return () => document.removeEventListener("keydown", closeOnEscape);
  }, [isOpen]);
  // It stays inside the player, since nothing else is shown in full screen.
  return (
    <div className="relative">
      <Button
        look="ghost"
        aria-label={people}
        aria-expanded={isOpen}
        aria-controls={list}
        title={people}
        onClick={() => setIsOpen(!isOpen)}
        className="tabular-nums"
      >
        <Users aria-hidden className="size-4" /> {n_watchers}
      </Button>
      {isOpen && (
        <div
          id={list}
          className="absolute top-full right-0 z-20 mt-1.5 flex w-64 animate-appear flex-col gap-3 rounded-xl border border-line bg-raised p-3.5 text-[13px] shadow-over"
        >
          <p className="font-semibold">{people}</p>
          {names.length > 0 && (
            <ul className="flex max-h-48 flex-col gap-1 overflow-y-auto text-soft">
              {counted(names).map(([watcher, times]) => (
                <li key={watcher} className="truncate">
                  {watcher}
                  {times > 1 && <span className="text-faint"> × {times}</span>}
                </li>
              ))}
              {n_watchers > names.length && (
                <li className="text-faint">and {n_watchers - names.length} more</li>
              )}
            </ul>
          )}
          <form onSubmit={rename} className="flex gap-2">
            <TextField label="Your name" value={name} onChange={setName} />
            <Button type="submit">Set</Button>
          </form>
        </div>
      )}
    </div>
  );
}

/** Returns each name once, with the number of people who have it. */
function counted(names: string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts];
}
