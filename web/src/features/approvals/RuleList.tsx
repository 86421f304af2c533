import type { ApprovalRule, Then } from "../../api/types";
import { Button } from "../../components/Button";
import { visible } from "../../lib/text";
import { toolWords } from "./ruleWords";

const THEN: Record<Then, string> = { allow: "Allow", ask: "Ask", refuse: "Refuse" };

interface RuleListProps {
  rules: readonly ApprovalRule[];
  isBusy: boolean;
  /** Called with the rules that are left. */
  onChange: (rules: ApprovalRule[]) => void;
}

/** The rules of an approval policy, in the order in which they count. */
export function RuleList({ rules, isBusy, onChange }: RuleListProps) {
  return (
    <ol
      aria-label="Approval rules"
      className="divide-y divide-line rounded-lg border border-line bg-surface empty:hidden"
    >
      {rules.map((rule) => {
        const pattern = visible(rule.pattern ?? "*");
        return (
          <li key={`${rule.tool} ${rule.then} ${rule.exact} ${pattern}`} className="flex items-center gap-3 px-3 py-2">
            <div className="min-w-0 flex-1">
              <p className="text-xs text-faint">
                {THEN[rule.then]} · {toolWords(rule)}
              </p>
              <p className="line-clamp-4 font-mono text-[13px] whitespace-pre-wrap [overflow-wrap:anywhere]">
                {pattern}
              </p>
            </div>
            <Button
              aria-label={`Remove the rule ${pattern}`}
              disabled={isBusy}
              onClick={() => onChange(rules.filter((other) => other !== rule))}
            >
              Remove
            </Button>
          </li>
        );
      })}
    </ol>
  );
}
