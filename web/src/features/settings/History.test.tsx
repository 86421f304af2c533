import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";

import type { AuditEntry } from "../../api/types";
import { ChangeRow } from "./History";

afterEach(cleanup);

const entry: AuditEntry = {
  id: "1",
  at: "2026-01-01T00:00:00Z",
  action: "token.created",
  summary: "created the token ci with the scope write",
  actor: "u1",
  actor_name: "Ada",
  token_name: null,
  user: "u1",
  user_name: "Ada",
  session: null,
  address: "192.0.2.7",
  details: {},
};

it("says who did what, and from where", () => {
  render(<ChangeRow entry={entry} />);
  const row = screen.getByRole("listitem");
  expect(row.textContent).toContain("Ada created the token ci with the scope write");
  expect(row.textContent).toContain("from 192.0.2.7");
});

it("names the server, and the token of a program", () => {
  render(<ChangeRow entry={{ ...entry, actor_name: null, address: null, token_name: "ci" }} />);
  const row = screen.getByRole("listitem");
  expect(row.textContent).toContain("The server created");
  expect(row.textContent).toContain("with the token ci");
  expect(row.textContent).not.toContain("from");
});
