import { X } from "lucide-react";
import { type FormEvent, useState } from "react";

import { messageOf } from "../../api/client";
import { useGrant, usePeople, useRemovePerson } from "../../api/people";
import type { GivenRight, Person } from "../../api/types";
import { Avatar } from "../../components/Avatar";
import { Button } from "../../components/Button";
import { ConfirmButton } from "../../components/ConfirmButton";
import { Notice } from "../../components/Notice";
import { Select } from "../../components/Select";
import { Skeleton } from "../../components/Skeleton";
import { TextField } from "../../components/TextField";
import { RIGHT_WORDS, SHORT_RIGHTS } from "../../lib/rights";

/** The people of a session, and a field to add one by name. */
export function SharedPeople({ sessionId }: { sessionId: string }) {
  const people = usePeople(sessionId);
  const grant = useGrant(sessionId);
  const remove = useRemovePerson(sessionId);
  const [name, setName] = useState("");
  const [right, setRight] = useState<GivenRight>("suggest");
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "" || grant.isPending) return;
    grant.mutate({ who: name.trim(), right }, { onSuccess: () => setName("") });
  };
  const error = people.error ?? grant.error ?? remove.error;
  return (
    <section aria-label="People" className="flex flex-col gap-2.5">
      <form onSubmit={add} className="flex flex-wrap gap-2">
        <TextField label="Name of a user" value={name} onChange={setName} />
        <Select label="Right" value={right} options={SHORT_RIGHTS} onChange={setRight} />
        <Button type="submit" look="primary" disabled={name.trim() === "" || grant.isPending}>
          Add
        </Button>
      </form>
      {error && <Notice>{messageOf(error)}</Notice>}
      {people.isPending && <Skeleton className="h-8 w-full" />}
      <ul className="flex flex-col">
        {people.data?.map((person) => (
          <PersonRow
            key={person.id}
            person={person}
            onRight={(next) => grant.mutate({ who: person.id, right: next })}
            onRemove={() => remove.mutate(person.id)}
          />
        ))}
      </ul>
    </section>
  );
}

interface PersonRowProps {
  person: Person;
  onRight: (right: GivenRight) => void;
  onRemove: () => void;
}

function PersonRow({ person, onRight, onRemove }: PersonRowProps) {
  return (
    <li className="flex h-10 items-center gap-2.5">
      <Avatar name={person.name} />
      <span className="min-w-0 flex-1 truncate text-[13px]">
        {person.name}
        {person.here && <span className="ml-2 text-xs text-good">here now</span>}
      </span>
      {person.right === "owner" ? (
        <span className="pr-10 text-[13px] text-faint">{RIGHT_WORDS.owner}</span>
      ) : (
        <>
          <Select
            label={`Right of ${person.name}`}
            value={person.right}
            options={SHORT_RIGHTS}
            onChange={onRight}
          />
          <ConfirmButton
            look="ghost"
            square
            aria-label={`Remove ${person.name}`}
            title={`Remove ${person.name}?`}
            explanation="They can no longer see this session, and no link lets them in again. You can add them again here."
            confirmLabel="Remove"
            onConfirm={onRemove}
          >
            <X aria-hidden className="size-4" />
          </ConfirmButton>
        </>
      )}
    </li>
  );
}
