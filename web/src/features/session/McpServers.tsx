import type { Session } from "../../api/types";
import { FormDialog } from "../../components/FormDialog";

interface McpServersProps {
  session: Session;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}

/** A dialog that lists the MCP servers that people gave to a session. */
export function McpServers({ session, isOpen, onOpenChange }: McpServersProps) {
  const servers = session.mcp_servers ?? [];
  return (
    <FormDialog
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      title="MCP servers"
      canSubmit={false}
      onSubmit={() => undefined}
    >
      <p className="text-soft">
        The agent may use the tools of these servers. Their tools are fixed when its first turn begins.
      </p>
      <ul aria-label="MCP servers" className="flex flex-col gap-3">
        {servers.map((server) => (
          <li key={server.name} className="min-w-0">
            <p className="font-medium">{server.name}</p>
            <p className="font-mono text-xs break-all text-soft">
              {server.transport.type === "http"
                ? server.transport.url
                : [server.transport.command, ...(server.transport.args ?? [])].join(" ")}
            </p>
          </li>
        ))}
      </ul>
    </FormDialog>
  );
}
