interface TextFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Shows dots instead of the typed text, and keeps the browser from storing it. */
  isHidden?: boolean;
}

/** A line of text. Its label is shown inside while it is empty. */
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
