import type { ApprovalRule, RuleTool } from "../../api/types";
import { visible } from "../../lib/text";

const TOOLS: Record<RuleTool, string> = {
  bash: "command",
  computer: "mouse and keyboard",
  browser: "browser",
  editor: "editor",
  fill_secret: "secret",
  http_secret: "secret of a program",
  mcp: "MCP tool",
  any: "anything",
};

const CLICK = /^click (\S+:\/\/\S+) (.+)$/s;

/** Returns what an exact rule allows, as the subject of a sentence. */
export function ruleWords({ tool, pattern = "*" }: ApprovalRule): string {
  const click = CLICK.exec(pattern);
  if ((tool === "computer" || tool === "browser") && click) {
    return `a click on “${visible(click[2] ?? "")}” at ${visible(click[1] ?? "")}`;
  }
  switch (tool) {
    case "bash":
      return "exactly this command";
    case "mcp":
      return `the tool ${visible(pattern)} with any input`;
    default:
      return `“${visible(pattern)}”`;
  }
}

/** Returns the kind of calls that a rule is about. */
export function toolWords({ tool, exact }: ApprovalRule): string {
  return exact ? `${TOOLS[tool]}, exactly` : TOOLS[tool];
}
