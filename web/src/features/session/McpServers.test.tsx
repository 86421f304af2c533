import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import type { Session } from "../../api/types";
import { McpServers } from "./McpServers";

afterEach(cleanup);

test("servers are listed by name with their address or command", () => {
  const session = {
    mcp_servers: [
      { name: "docs", transport: { type: "http", url: "https://mcp.example/mcp" } },
      { name: "files", transport: { type: "stdio", command: "npx", args: ["-y", "server"] } },
    ],
  } as unknown as Session;
  render(<McpServers session={session} isOpen onOpenChange={() => undefined} />);
  const items = screen.getAllByRole("listitem").map((item) => item.textContent);
  expect(items).toEqual(["docshttps://mcp.example/mcp", "filesnpx -y server"]);
});
