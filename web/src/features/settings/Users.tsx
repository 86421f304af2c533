import { type FormEvent, useState } from "react";

import { isCode, messageOf } from "../../api/client";
import { useAddUser, useChangeUser, useNewLink, useUsers } from "../../api/settings";
import type { User } from "../../api/types";
import { Avatar } from "../../components/Avatar";
import { Button } from "../../components/Button";
import { ConfirmButton } from "../../components/ConfirmButton";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { CopyField } from "../../components/CopyField";
import { Notice } from "../../components/Notice";
import { Select } from "../../components/Select";
import { Skeleton } from "../../components/Skeleton";
import { TextField } from "../../components/TextField";

const ROLES: readonly { value: User["role"]; label: string }[] = [
  { value: "member", label: "Member" },
  { value: "admin", label: "Administrator" },
];

/** Lists everyone who may sign in, for administrators. */
export function Users({ myId }: { myId: string }) {
  const users = useUsers();
  const add = useAddUser();
  const change = useChangeUser();
  const newLink = useNewLink();
  const [name, setName] = useState("");
  const onAdd = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "" || add.isPending) return;
    newLink.reset();
    add.mutate(name.trim(), { onSuccess: () => setName("") });
  };
  // A link for somebody who has signed in before ends their sign-ins, so it needs another look.
  const toReset = isCode(newLink.error, "has_signed_in") ? newLink.variables?.user : undefined;
  const linkError = toReset ? null : newLink.error;
  const error = users.error ?? add.error ?? change.error ?? linkError;
  const made = newLink.data ?? add.data;
  return (
    <section aria-labelledby="users-heading" className="flex flex-col gap-3">
      <h2 id="users-heading" className="text-base font-semibold">
        Users
      </h2>
      <p className="text-soft">Users see their own sessions, and other sessions that are shared with them.</p>
      <form onSubmit={onAdd} className="flex flex-wrap gap-2">
        <TextField label="Name" value={name} onChange={setName} />
        <Button type="submit" look="primary" disabled={name.trim() === "" || add.isPending}>
          Add a user
        </Button>
      </form>
      {error && <Notice>{messageOf(error)}</Notice>}
      {made && (
        <div className="flex flex-col gap-1.5 rounded-lg border border-line bg-surface p-3">
          <p className="text-[13px]">
            Send this sign-in link to {made.user.name}. It works once, within a day.
          </p>
          <CopyField key={made.link.url} label="Sign-in link" text={made.link.url} />
        </div>
      )}
      {users.isPending && <Skeleton className="h-12 w-full" />}
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface empty:hidden">
        {users.data?.pages
          .flatMap((page) => page.users)
          .map((user) => (
            <UserRow
              key={user.id}
              user={user}
              isMe={user.id === myId}
              onRole={(role) => change.mutate({ id: user.id, role })}
              onActive={(active) => change.mutate({ id: user.id, active })}
              onLink={() => newLink.mutate({ user, reset: false })}
            />
          ))}
      </ul>
      <ConfirmDialog
        isOpen={toReset !== undefined}
        onOpenChange={() => newLink.reset()}
        title={`Reset the sign-in of ${toReset?.name ?? ""}?`}
        confirmLabel="Reset"
        isBusy={false}
        onConfirm={() => toReset && newLink.mutate({ user: toReset, reset: true })}
      >
        They have signed in before. A new link signs them out everywhere, and their history shows that you made it.
      </ConfirmDialog>
      {users.hasNextPage && (
        <Button className="self-center" onClick={() => void users.fetchNextPage()}>
          Load more
        </Button>
      )}
    </section>
  );
}

interface UserRowProps {
  user: User;
  isMe: boolean;
  onRole: (role: User["role"]) => void;
  onActive: (active: boolean) => void;
  onLink: () => void;
}

function UserRow({ user, isMe, onRole, onActive, onLink }: UserRowProps) {
  return (
    <li className="flex flex-wrap items-center gap-2.5 px-3 py-2">
      <Avatar name={user.name} className={user.active ? undefined : "opacity-40"} />
      <span className="min-w-24 flex-1 truncate font-medium">
        {user.name}
        {isMe && <span className="ml-2 text-xs font-normal text-faint">you</span>}
        {!user.active && <span className="ml-2 text-xs font-normal text-faint">disabled</span>}
      </span>
      {/* Users who lock themselves out could not let themselves in again. */}
      {!isMe && (
        <>
          <Select label={`Role of ${user.name}`} value={user.role} options={ROLES} onChange={onRole} />
          {user.active && (
            <Button aria-label={`Sign-in link for ${user.name}`} onClick={onLink}>
              Sign-in link
            </Button>
          )}
          {user.active ? (
            <ConfirmButton
              aria-label={`Disable ${user.name}`}
              title={`Disable ${user.name}?`}
              explanation="They are signed out everywhere at once and cannot sign in until you enable them again. Their sessions stay."
              confirmLabel="Disable"
              onConfirm={() => onActive(false)}
            >
              Disable
            </ConfirmButton>
          ) : (
            <Button aria-label={`Enable ${user.name}`} onClick={() => onActive(true)}>
              Enable
            </Button>
          )}
        </>
      )}
    </li>
  );
}
