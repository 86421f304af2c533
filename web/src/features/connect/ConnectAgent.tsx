import { type ReactNode, useId, useState } from "react";

import { useMe } from "../../api/account";
import { useMakeToken } from "../../api/settings";
import { RadioCards } from "../../components/RadioCards";
import { CLIENTS, type ToolGroup, TOOL_GROUPS, type Way } from "./clients";
import { ClientToken } from "./ClientToken";
import { Snippet } from "./Snippet";
import { ToolChoice } from "./ToolChoice";

const WAYS: readonly { value: Way; label: string; about: string; isForAdmins?: boolean }[] = [
  { value: "http", label: "HTTP", about: "From any machine that reaches this server, with a token" },
  {
    value: "remote",
    label: "Command",
    about: "The client starts deskhand mcp, which connects to this server, with a token",
  },
  {
    value: "local",
    label: "Local command",
    about: "On the server's own machine: deskhand mcp acts as the administrator, without a token",
    isForAdmins: true,
  },
];

const EXAMPLE = "With deskhand, open https://example.com and tell me what the page says.";

interface ConnectAgentProps {
  /** The address of the server, such as `https://desk.example`. */
  server: string;
  /** A link to the list of the user's tokens. */
  tokenList: ReactNode;
}

/** Writes the configuration with which another agent uses this server. */
export function ConnectAgent({ server, tokenList }: ConnectAgentProps) {
  const role = useMe({ enabled: true }).data?.role;
  const make = useMakeToken();
  const [clientId, setClientId] = useState(CLIENTS[0].id);
  const [way, setWay] = useState<Way>("http");
  const [tools, setTools] = useState<readonly ToolGroup[]>([TOOL_GROUPS[0].id]);
  const [isTokenShown, setIsTokenShown] = useState(false);
  const client = CLIENTS.find(({ id }) => id === clientId) ?? CLIENTS[0];
  const ways = WAYS.filter(({ isForAdmins }) => !isForAdmins || role === "admin");
  const token = make.data?.token ?? null;
  const mask = `${make.data?.prefix ?? ""}${"•".repeat(12)}`;
  const connection = { way, server, token, tools };
  const text = client.configure(connection);
  const note = client.note?.(connection) ?? null;
  return (
    <>
      <Part title="Client">
        <RadioCards
          label="Client"
          value={client.id}
          options={CLIENTS.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={setClientId}
          className="grid grid-cols-2 sm:grid-cols-3"
        />
      </Part>
      <Part title="Connection">
        <RadioCards
          label="Connection"
          value={way}
          options={ways}
          onChange={setWay}
          className={ways.length === 3 ? "grid sm:grid-cols-3" : "grid sm:grid-cols-2"}
        />
      </Part>
      <Part title="Tools">
        <ToolChoice chosen={tools} onChange={setTools} />
      </Part>
      {way !== "local" && (
        <Part title="Token">
          <ClientToken
            clientName={client.name}
            make={make}
            mask={isTokenShown ? undefined : mask}
            tokenList={tokenList}
          />
        </Part>
      )}
      <Part title="Configuration">
        <Snippet
          key={text}
          place={client.file === null ? "Run this in a terminal" : <Place file={client.file} />}
          text={text}
          token={token}
          mask={mask}
          isTokenShown={isTokenShown}
          onShowToken={setIsTokenShown}
        />
        {note !== null && <p className="text-xs text-soft">{note}</p>}
        {way !== "local" && token === null && client.asksForToken !== true && (
          <p className="text-xs text-soft">
            Create a token above, and it is put in here.
            {text.includes("DESKHAND_TOKEN") && " Or keep one in the environment variable DESKHAND_TOKEN."}
          </p>
        )}
      </Part>
      <Part title="Try it">
        <p className="text-soft">Restart your client if it is running, and ask it for something:</p>
        <blockquote className="border-l-3 border-line-strong pl-3">{EXAMPLE}</blockquote>
      </Part>
    </>
  );
}

function Place({ file }: { file: string }) {
  return (
    <>
      Add this to{" "}
      {/^[~.]|\.json$/.test(file) ? <code className="font-mono text-xs text-ink">{file}</code> : file}
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="flex flex-col gap-3">
      <h2 id={id} className="text-base font-semibold">
        {title}
      </h2>
      {children}
    </section>
  );
}
