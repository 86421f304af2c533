interface SelectProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
  isDisabled?: boolean;
}

/** A choice of one option, with the browser's own list. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  return (
    <select
      aria-label={props.label}
      value={props.value}
      disabled={props.isDisabled}
      onChange={(event) => {
        const chosen = props.options.find(({ value }) => value === event.target.value);
        if (chosen) props.onChange(chosen.value);
      }}
      className="h-8 min-w-0 rounded-md border border-line-strong bg-surface px-2 text-[13px] text-ink disabled:opacity-50"
    >
      {props.options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}
