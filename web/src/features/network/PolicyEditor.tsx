import { type FormEvent, useState } from "react";

import { messageOf } from "../../api/client";
import { useChangeSession } from "../../api/sessions";
import type { NetworkMode, NetworkPolicy, Session } from "../../api/types";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { Select } from "../../components/Select";
import { mergedDraft, modesUpTo, modeWords, privateRules, rulesOf } from "./networkWords";

interface PolicyEditorProps {
  session: Session;
  policy: NetworkPolicy;
  inForce: NetworkMode;
  ceiling: NetworkMode;
}

/** Shows the policy of a session, and lets its owner change it. */
export function PolicyEditor({ session, policy, inForce, ceiling }: PolicyEditorProps) {
  const change = useChangeSession(session.id);
  const mayChange = session.right === "owner" && session.state !== "terminated";
  const hasList = policy.mode === "allow" && ceiling !== "allow";
  return (
    <div className="flex flex-col gap-2 border-b border-line px-3 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        {mayChange ? (
          <Select
            label="Network"
            value={inForce}
            options={modesUpTo(ceiling)}
            isDisabled={change.isPending}
            onChange={(mode) => change.mutate({ network: { ...policy, mode } })}
          />
        ) : (
          <span className="text-[13px] font-medium">
            {modesUpTo("open").find(({ value }) => value === inForce)?.label}
          </span>
        )}
        <p className="min-w-0 flex-1 basis-48 text-xs text-soft">{modeWords(inForce, ceiling)}</p>
      </div>
      {hasList && (
        <Rules
          rules={policy.allow ?? []}
          mayChange={mayChange}
          isSaving={change.isPending}
          onSave={(allow) => change.mutate({ network: { mode: "allow", allow } })}
        />
      )}
      {change.error && <Notice onDismiss={() => change.reset()}>{messageOf(change.error)}</Notice>}
    </div>
  );
}

interface RulesProps {
  rules: readonly string[];
  mayChange: boolean;
  isSaving: boolean;
  onSave: (rules: string[]) => void;
}

function Rules({ rules, mayChange, isSaving, onSave }: RulesProps) {
  const [shown, setShown] = useState(rules);
  const [text, setText] = useState(rules.join("\n"));
  // An answer to a question may add a host while somebody types.
  if (shown.join() !== rules.join()) {
    setShown(rules);
    setText(mergedDraft(text, shown, rules));
  }
  if (!mayChange) {
    return (
      <p className="font-mono text-xs [overflow-wrap:anywhere] text-soft">
        {rules.length === 0 ? "No hosts yet" : rules.join(", ")}
      </p>
    );
  }
  const isChanged = rulesOf(text).join() !== rules.join();
  const useless = privateRules(rulesOf(text));
  const save = (event: FormEvent) => {
    event.preventDefault();
    onSave(rulesOf(text));
  };
  return (
    <form onSubmit={save} className="flex flex-col items-start gap-2">
      <textarea
        aria-label="Listed hosts"
        placeholder={"pypi.org\n*.example.com:443"}
        value={text}
        rows={2}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        className="field-sizing-content max-h-40 min-h-14 w-full resize-none rounded-md border border-line-strong bg-surface px-2.5 py-1.5 font-mono text-base placeholder:text-faint sm:text-xs"
      />
      {useless.length > 0 && (
        <p className="text-xs text-soft">
          {useless.join(", ")}: only an administrator can open addresses that are not on the public internet.
        </p>
      )}
      {isChanged && (
        <Button type="submit" look="primary" disabled={isSaving}>
          Save the list
        </Button>
      )}
    </form>
  );
}
