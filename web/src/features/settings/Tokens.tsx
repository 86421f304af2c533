import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";

import { messageOf } from "../../api/client";
import { useMakeToken, useRevokeToken, useTokens } from "../../api/settings";
import type { Scope, Token } from "../../api/types";
import { Button } from "../../components/Button";
import { ConfirmButton } from "../../components/ConfirmButton";
import { CopyField } from "../../components/CopyField";
import { Notice } from "../../components/Notice";
import { Select } from "../../components/Select";
import { Skeleton } from "../../components/Skeleton";
import { TextField } from "../../components/TextField";
import { TimeAgo } from "../../components/TimeAgo";
import { expiryOf, SCOPE_WORDS, scopeOptions, TOKEN_LIVES, type TokenLife } from "./tokenChoices";

const SCOPES = scopeOptions(["read", "write", "admin", "metrics"]);
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

/** The tokens with which the user's programs sign in. */
export function Tokens() {
  const tokens = useTokens();
  const make = useMakeToken();
  const revoke = useRevokeToken();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>("write");
  const [life, setLife] = useState<TokenLife>("30");
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "" || make.isPending) return;
    const token = { name: name.trim(), scope, expires_at: expiryOf(life) };
    make.mutate(token, { onSuccess: () => setName("") });
  };
  const error = tokens.error ?? make.error ?? revoke.error;
  const made = tokens.data?.some(({ id }) => id === make.data?.id) ? make.data : undefined;
  return (
    <section aria-labelledby="tokens-heading" className="flex flex-col gap-3">
      <h2 id="tokens-heading" className="text-base font-semibold">
        Tokens
      </h2>
      <p className="text-soft">
        With a token, your programs can do what you can, within its scope.{" "}
        <Link to="/connect" className="underline underline-offset-2 hover:text-ink">
          Connect your agent
        </Link>{" "}
        makes one for a coding agent.
      </p>
      <form onSubmit={add} className="flex flex-wrap gap-2">
        <TextField label="Purpose" value={name} onChange={setName} />
        <Select label="Scope" value={scope} options={SCOPES} onChange={setScope} />
        <Select label="Expires after" value={life} options={TOKEN_LIVES} onChange={setLife} />
        <Button type="submit" look="primary" disabled={name.trim() === "" || make.isPending}>
          Create a token
        </Button>
      </form>
      {error && <Notice>{messageOf(error)}</Notice>}
      {made && (
        <div className="flex flex-col gap-1.5 rounded-lg border border-line bg-surface p-3">
          <p className="text-[13px]">This is {made.name}. It is shown only this once.</p>
          <CopyField key={made.id} label="New token" text={made.token} />
        </div>
      )}
      {tokens.isPending && <Skeleton className="h-12 w-full" />}
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface empty:hidden">
        {tokens.data?.map((token) => (
          <TokenRow key={token.id} token={token} onRevoke={() => revoke.mutate(token.id)} />
        ))}
      </ul>
    </section>
  );
}

function TokenRow({ token, onRevoke }: { token: Token; onRevoke: () => void }) {
  return (
    <li className="flex items-center gap-3 px-3 py-2">
      <div className="min-w-0 flex-1">
        <div className="truncate font-medium">
          {token.name} <code className="ml-1 text-xs text-faint">{token.prefix}…</code>
        </div>
        <div className="text-xs text-faint">
          {SCOPE_WORDS[token.scope]} · {endWords(token)} ·{" "}
          {token.last_used_at === null ? (
            "never used"
          ) : (
            <>
              used <TimeAgo at={token.last_used_at} />
            </>
          )}
        </div>
      </div>
      <ConfirmButton
        aria-label={`Revoke ${token.name}`}
        title={`Revoke ${token.name}?`}
        explanation="Programs that use it are refused at once. This cannot be undone."
        confirmLabel="Revoke"
        onConfirm={onRevoke}
      >
        Revoke
      </ConfirmButton>
    </li>
  );
}

function endWords({ expires_at }: Token): string {
  return expires_at === null ? "no expiry" : `until ${DATE.format(new Date(expires_at))}`;
}
