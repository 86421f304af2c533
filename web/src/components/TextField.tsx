interface TextFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Shows dots instead of what is typed, and is not offered for keeping. */
  isHidden?: boolean;
}

/** A line of text; the label stands in it while it is empty. */
export function TextField({ label, value, onChange, isHidden = false }: TextFieldProps) {
  return (
    <input
      type={isHidden ? "password" : "text"}
      aria-label={label}
      placeholder={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      spellCheck={false}
      autoComplete={isHidden ? "new-password" : "off"}
      className="h-8 min-w-32 flex-1 rounded-md border border-line-strong bg-surface px-2.5 text-base placeholder:text-faint sm:text-[13px]"
    />
  );
}
