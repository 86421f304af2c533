interface TextFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** A line of text; the label stands in it while it is empty. */
export function TextField({ label, value, onChange }: TextFieldProps) {
  return (
    <input
      aria-label={label}
      placeholder={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      spellCheck={false}
      autoComplete="off"
      className="h-8 min-w-32 flex-1 rounded-md border border-line-strong bg-surface px-2.5 text-base placeholder:text-faint sm:text-[13px]"
    />
  );
}
