import { useId } from "react";

import { TOOL_GROUPS, type ToolGroup } from "./clients";

interface ToolChoiceProps {
  chosen: readonly ToolGroup[];
  onChange: (chosen: ToolGroup[]) => void;
}

/** The groups of tools that a client is offered. One is always chosen. */
export function ToolChoice({ chosen, onChange }: ToolChoiceProps) {
  const prefix = useId();
  return (
    <div role="group" aria-label="Tools" className="grid gap-x-6 gap-y-2 sm:grid-cols-2">
      {TOOL_GROUPS.map(({ id, name, about }) => {
        const isChosen = chosen.includes(id);
        return (
          <div key={id} className="flex items-start gap-2.5">
            <input
              id={`${prefix}-${id}`}
              aria-describedby={`${prefix}-${id}-about`}
              type="checkbox"
              checked={isChosen}
              disabled={isChosen && chosen.length === 1}
              onChange={() => onChange(isChosen ? chosen.filter((other) => other !== id) : [...chosen, id])}
              className="mt-0.5 size-4 shrink-0 accent-accent"
            />
            <label htmlFor={`${prefix}-${id}`} className="flex flex-col">
              <span className="text-[13px] font-medium">{name}</span>
              <span id={`${prefix}-${id}-about`} aria-hidden className="text-xs text-soft">
                {about}
              </span>
            </label>
          </div>
        );
      })}
    </div>
  );
}
