import { type ReactNode, useId } from "react";

import { cx } from "../lib/cx";

interface RadioCardsProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string; about?: ReactNode }[];
  onChange: (value: Value) => void;
  /** The arrangement of the cards. */
  className?: string;
}

/** A choice of one option, all of which are in view. */
export function RadioCards<Value extends string>(props: RadioCardsProps<Value>) {
  const name = useId();
  return (
    <div role="radiogroup" aria-label={props.label} className={cx("gap-2", props.className)}>
      {props.options.map(({ value, label, about }) => (
        <label
          key={value}
          className="relative flex cursor-pointer flex-col rounded-lg border border-line-strong bg-surface px-3 py-2 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-checked:ring-1 has-checked:ring-accent has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name={name}
            value={value}
            checked={value === props.value}
            onChange={() => props.onChange(value)}
            aria-labelledby={`${name}-${value}`}
            aria-describedby={about === undefined ? undefined : `${name}-${value}-about`}
            className="absolute opacity-0"
          />
          <span id={`${name}-${value}`} className="text-[13px] font-medium">
            {label}
          </span>
          {about !== undefined && (
            <span id={`${name}-${value}-about`} className="text-xs text-soft">
              {about}
            </span>
          )}
        </label>
      ))}
    </div>
  );
}
