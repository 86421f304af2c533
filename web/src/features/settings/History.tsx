import { type ReactNode, useState } from "react";

import { messageOf } from "../../api/client";
import { useAudit, useHistory } from "../../api/settings";
import type { AuditEntry, AuditPage } from "../../api/types";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { Select } from "../../components/Select";
import { Skeleton } from "../../components/Skeleton";
import { TimeAgo } from "../../components/TimeAgo";

type Subject =
  | ""
  | "user"
  | "sign_in"
  | "token"
  | "secret"
  | "approvals"
  | "limits"
  | "budget"
  | "network"
  | "right"
  | "link"
  | "offer";
const SUBJECTS: readonly { value: Subject; label: string }[] = [
  { value: "", label: "All changes" },
  { value: "user", label: "Users" },
  { value: "sign_in", label: "Sign-ins" },
  { value: "token", label: "Tokens" },
  { value: "secret", label: "Secrets" },
  { value: "approvals", label: "Approvals" },
  { value: "limits", label: "Limits" },
  { value: "budget", label: "Budgets" },
  { value: "network", label: "Network" },
  { value: "right", label: "Rights" },
  { value: "link", label: "Links" },
  { value: "offer", label: "Offers" },
];

/** The changes that the user made, and those that others made to their account and rights. */
export function History() {
  return (
    <Changes id="history" title="Your history" changes={useHistory()}>
      What you changed, and what others changed about your account and your rights.
    </Changes>
  );
}

/** The changes that anybody made, for administrators. */
export function AuditLog() {
  const [subject, setSubject] = useState<Subject>("");
  return (
    <Changes
      id="audit"
      title="Changes by all users"
      changes={useAudit(subject)}
      action={<Select label="Show" value={subject} options={SUBJECTS} onChange={setSubject} />}
    >
      Who changed accounts, rights, tokens, secrets, approvals and limits. Nobody can change this list.
    </Changes>
  );
}

interface ChangesProps {
  id: string;
  title: string;
  children: ReactNode;
  /** A control beside the title. */
  action?: ReactNode;
  changes: {
    data: { pages: AuditPage[] } | undefined;
    error: Error | null;
    isPending: boolean;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage: () => unknown;
  };
}

function Changes({ id, title, children, action, changes }: ChangesProps) {
  const entries = changes.data?.pages.flatMap((page) => page.entries);
  return (
    <section aria-labelledby={`${id}-heading`} className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 id={`${id}-heading`} className="flex-1 text-base font-semibold">
          {title}
        </h2>
        {action}
      </div>
      <p className="text-soft">{children}</p>
      {changes.error && <Notice>{messageOf(changes.error)}</Notice>}
      {changes.isPending && <Skeleton className="h-12 w-full" />}
      {entries?.length === 0 && <p className="text-[13px] text-faint">Nothing yet.</p>}
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface empty:hidden">
        {entries?.map((entry) => (
          <ChangeRow key={entry.id} entry={entry} />
        ))}
      </ul>
      {changes.hasNextPage && (
        <Button
          className="self-center"
          disabled={changes.isFetchingNextPage}
          onClick={() => void changes.fetchNextPage()}
        >
          {changes.isFetchingNextPage ? "Loading…" : "Load more"}
        </Button>
      )}
    </section>
  );
}

export function ChangeRow({ entry }: { entry: AuditEntry }) {
  const { actor_name, summary, at, address, token_name } = entry;
  return (
    <li className="px-3 py-2">
      <div className="text-[13px] [overflow-wrap:anywhere]">
        <span className="font-medium">{actor_name ?? "The server"}</span> {summary}
      </div>
      <div className="text-xs text-faint">
        <TimeAgo at={at} />
        {address !== null && ` · from ${address}`}
        {token_name !== null && ` · with the token ${token_name}`}
      </div>
    </li>
  );
}
