import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import type { ApprovalRule } from "../../api/types";
import { RuleList } from "./RuleList";

afterEach(cleanup);

const RULES = JSON.parse(`[
  {"tool": "bash", "pattern": "scp * host:", "then": "allow", "exact": true},
  {"tool": "bash", "pattern": "git *", "then": "ask"}
]`) as ApprovalRule[];

it("shows every rule, and removes one of them", async () => {
  const onChange = vi.fn();
  render(<RuleList rules={RULES} isBusy={false} onChange={onChange} />);
  screen.getByText("Allow · command, exactly");
  screen.getByText("Ask · command");
  await userEvent.click(screen.getByRole("button", { name: "Remove the rule scp * host:" }));
  expect(onChange).toHaveBeenCalledWith([RULES[1]]);
});
