import { CircleCheck } from "lucide-react";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";

import { messageOf } from "../../api/client";
import { useFirstUse, type useMakeToken } from "../../api/settings";
import type { MadeToken } from "../../api/types";
import { Button } from "../../components/Button";
import { CopyField } from "../../components/CopyField";
import { Notice } from "../../components/Notice";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { cx } from "../../lib/cx";
import { expiryOf, scopeOptions, SCOPE_WORDS, TOKEN_LIVES, type TokenLife } from "../settings/tokenChoices";

/** The scopes with which a client can do something. */
const SCOPES = scopeOptions(["write", "read"]);
const SCOPE_EFFECTS = {
  write: "The client can start agents and answer for you in your sessions.",
  read: "The client can only look at your sessions.",
};

interface ClientTokenProps {
  clientName: string;
  make: ReturnType<typeof useMakeToken>;
  /** Shown in place of the token, or undefined if a person wants to see it. */
  mask: string | undefined;
  /** A link to the list in which tokens are revoked. */
  tokenList: ReactNode;
}

/** Creates the token of a client, and shows it once. */
export function ClientToken({ clientName, make, mask, tokenList }: ClientTokenProps) {
  return make.data ? (
    <Made made={make.data} mask={mask} tokenList={tokenList} onAnother={() => make.reset()} />
  ) : (
    <NewToken clientName={clientName} make={make} tokenList={tokenList} />
  );
}

function NewToken({ clientName, make, tokenList }: Omit<ClientTokenProps, "mask">) {
  const [typed, setTyped] = useState<string | null>(null);
  const [scope, setScope] = useState<"read" | "write">("write");
  const [life, setLife] = useState<TokenLife>("30");
  const name = typed ?? clientName;
  const canMake = name.trim() !== "" && !make.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (canMake) make.mutate({ name: name.trim(), scope, expires_at: expiryOf(life) });
  };
  return (
    <>
      <form onSubmit={submit} className="flex flex-wrap items-end gap-2">
        <Labelled label="Purpose" className="flex-1 basis-48">
          <TextField label="Purpose" value={name} onChange={setTyped} />
        </Labelled>
        <Labelled label="Scope">
          <Select label="Scope" value={scope} options={SCOPES} onChange={setScope} />
        </Labelled>
        <Labelled label="Expires after">
          <Select label="Expires after" value={life} options={TOKEN_LIVES} onChange={setLife} />
        </Labelled>
        <Button type="submit" look="primary" disabled={!canMake}>
          {make.isPending ? "Creating…" : "Create a token"}
        </Button>
      </form>
      <p className="text-xs text-faint">
        {SCOPE_EFFECTS[scope]} You can revoke it at any time, among {tokenList}.
      </p>
      {make.error && <Notice>{messageOf(make.error)}</Notice>}
    </>
  );
}

/** Shows the label of a field, which names itself to screen readers. */
function Labelled(props: { label: string; className?: string; children: ReactNode }) {
  return (
    <div className={cx("flex flex-col gap-1", props.className)}>
      <span aria-hidden className="text-xs text-soft">
        {props.label}
      </span>
      <div className="flex">{props.children}</div>
    </div>
  );
}

interface MadeProps {
  made: MadeToken;
  mask: string | undefined;
  tokenList: ReactNode;
  onAnother: () => void;
}

function Made({ made, mask, tokenList, onAnother }: MadeProps) {
  const at = useRef<HTMLDivElement>(null);
  // The button that had the focus is gone.
  useEffect(() => at.current?.focus(), []);
  return (
    <div
      ref={at}
      tabIndex={-1}
      role="group"
      aria-label={`The token ${made.name}`}
      className="flex flex-col gap-2 rounded-lg border border-line bg-surface p-3 outline-none"
    >
      <p className="text-[13px]">
        The token <span className="font-medium">{made.name}</span> is shown only this once. Copy the configuration now.
      </p>
      <CopyField label="New token" text={made.token} mask={mask} />
      <FirstUse tokenId={made.id} />
      <div className="flex flex-wrap items-center justify-between gap-2 text-xs text-faint">
        <span>
          {SCOPE_WORDS[made.scope]}. Revoke it among {tokenList}.
        </span>
        <Button look="ghost" onClick={onAnother}>
          Create another
        </Button>
      </div>
    </div>
  );
}

function FirstUse({ tokenId }: { tokenId: string }) {
  const isUsed = useFirstUse(tokenId).data ?? false;
  return (
    <p role="status" className="flex items-center gap-1.5 text-[13px] text-soft">
      {isUsed ? (
        <>
          <CircleCheck aria-hidden className="size-4 text-good" /> Your client has connected.
        </>
      ) : (
        <>
          <span aria-hidden className="mx-1 size-2 animate-pulse-dot rounded-full bg-faint" /> No client has used it yet.
        </>
      )}
    </p>
  );
}
