import { type FormEvent, useState } from "react";

import { messageOf } from "../../api/client";
import { useChangeOwnNetwork, useOwnNetwork } from "../../api/settings";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { TextField } from "../../components/TextField";

/** The hosts that all sessions of the user may contact, with those that were always allowed. */
export function OwnHosts() {
  const network = useOwnNetwork();
  const change = useChangeOwnNetwork();
  const [host, setHost] = useState("");
  const allow = network.data?.allow;
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (allow === undefined || host.trim() === "") return;
    change.mutate({ allow: [...allow, host.trim()] }, { onSuccess: () => setHost("") });
  };
  const error = network.error ?? change.error;
  return (
    <section aria-labelledby="hosts-heading" className="flex flex-col gap-3">
      <h2 id="hosts-heading" className="text-base font-semibold">
        Allowed hosts
      </h2>
      <p className="text-soft">
        Hosts that all your sessions may contact while their network is <em>Listed hosts</em>, such as{" "}
        <code>pypi.org:443</code>. Those that you always allowed are here.
      </p>
      <form onSubmit={add} className="flex flex-wrap gap-2">
        <TextField label="Host" value={host} onChange={setHost} />
        <Button
          type="submit"
          look="primary"
          disabled={allow === undefined || host.trim() === "" || change.isPending}
        >
          Allow the host
        </Button>
      </form>
      {error && <Notice>{messageOf(error)}</Notice>}
      {network.isPending && <Skeleton className="h-12 w-full" />}
      <ul
        aria-label="Allowed hosts"
        className="divide-y divide-line rounded-lg border border-line bg-surface empty:hidden"
      >
        {allow?.map((rule) => (
          <li key={rule} className="flex items-center gap-3 px-3 py-2">
            <span className="min-w-0 flex-1 font-mono text-[13px] [overflow-wrap:anywhere]">
              {rule}
            </span>
            <Button
              aria-label={`Remove ${rule}`}
              disabled={change.isPending}
              onClick={() => change.mutate({ allow: allow.filter((other) => other !== rule) })}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
