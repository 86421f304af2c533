import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";

import { messageOf } from "../../api/client";
import { useRemoveSecret, useSecrets, useStoreSecret } from "../../api/settings";
import type { Secret } from "../../api/types";
import { Button } from "../../components/Button";
import { ConfirmButton } from "../../components/ConfirmButton";
import { Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { TextField } from "../../components/TextField";
import { TimeAgo } from "../../components/TimeAgo";

/** The user's secrets, which agents may use but never see. */
export function Secrets() {
  const secrets = useSecrets();
  const store = useStoreSecret();
  const remove = useRemoveSecret();
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const [places, setPlaces] = useState("");
  const [headers, setHeaders] = useState("");
  const [env, setEnv] = useState("");
  const origins = words(places).map(originOf);
  const http = { headers: words(headers), env: env.trim() };
  // Both or neither: a secret is either typed or sent.
  const isForApis = http.headers.length > 0 && http.env !== "";
  const isHalf = !isForApis && (http.headers.length > 0 || http.env !== "");
  const isWhole = name.trim() !== "" && value !== "" && origins.length > 0 && !isHalf;
  const clear = () => {
    for (const set of [setName, setValue, setPlaces, setHeaders, setEnv]) set("");
  };
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (!isWhole || store.isPending) return;
    const secret = { name: name.trim(), value, origins, ...(isForApis && { http }) };
    store.mutate(secret, { onSuccess: clear });
  };
  const error = secrets.error ?? store.error ?? remove.error;
  return (
    <section aria-labelledby="secrets-heading" className="flex flex-col gap-3">
      <h2 id="secrets-heading" className="text-base font-semibold">
        Secrets
      </h2>
      <p className="text-soft">
        Passwords that agents in your sessions can type on the sites you list, such as{" "}
        <code>example.com</code>, but never see. A secret with headers and a variable is a token for an HTTP
        API: programs on the desktop find a stand-in in the variable, and the server replaces it with the value in
        these headers of requests to the sites.
      </p>
      <form onSubmit={add} className="flex flex-wrap gap-2">
        <TextField label="Name of the secret" value={name} onChange={setName} />
        <TextField label="Value" value={value} onChange={setValue} isHidden />
        <TextField label="Sites" value={places} onChange={setPlaces} />
        <TextField label="Headers, for an HTTP API" value={headers} onChange={setHeaders} />
        <TextField label="Variable, for an HTTP API" value={env} onChange={setEnv} />
        <Button type="submit" look="primary" disabled={!isWhole || store.isPending}>
          Store the secret
        </Button>
      </form>
      {error && <Notice>{messageOf(error)}</Notice>}
      {secrets.isPending && <Skeleton className="h-12 w-full" />}
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface empty:hidden">
        {secrets.data?.map((secret) => (
          <SecretRow
            key={secret.name}
            secret={secret}
            onRemove={() => remove.mutate(secret.name)}
          />
        ))}
      </ul>
    </section>
  );
}

/** Takes a name alone for a site on https. */
function originOf(place: string): string {
  return place.includes("://") ? place : `https://${place}`;
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

function SecretRow({ secret, onRemove }: { secret: Secret; onRemove: () => void }) {
  return (
    <li className="flex items-center gap-3 px-3 py-2">
      <div className="min-w-0 flex-1">
        <div className="truncate font-medium">{secret.name}</div>
        <div className="text-xs break-words text-faint">
          {secret.origins.join(", ")} ·{" "}
          {secret.http && `$${secret.http.env} in ${secret.http.headers.join(", ")} · `}
          <LastUse secret={secret} />
        </div>
      </div>
      <ConfirmButton
        aria-label={`Remove ${secret.name}`}
        title={`Remove ${secret.name}?`}
        explanation="Agents can no longer use it. This cannot be undone."
        confirmLabel="Remove"
        onConfirm={onRemove}
      >
        Remove
      </ConfirmButton>
    </li>
  );
}

function LastUse({ secret: { last_used_at, last_used_in } }: { secret: Secret }) {
  if (last_used_at === null || last_used_in === null) return "never used";
  return (
    <>
      used <TimeAgo at={last_used_at} /> in{" "}
      <Link to="/sessions/$sessionId" params={{ sessionId: last_used_in }} className="underline">
        a session
      </Link>
    </>
  );
}
