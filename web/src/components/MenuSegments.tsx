import * as Dropdown from "@radix-ui/react-dropdown-menu";

interface MenuSegmentsProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
}

/** A small choice in one row of a menu. The menu stays open. */
export function MenuSegments<Value extends string>(props: MenuSegmentsProps<Value>) {
  const { label, value, options, onChange } = props;
  return (
    <div className="flex items-center gap-2 px-2 py-1">
      <span aria-hidden className="flex-1 text-[13px]">
        {label}
      </span>
      <Dropdown.RadioGroup
        aria-label={label}
        value={value}
        className="flex rounded-md border border-line bg-sunken p-0.5"
      >
        {options.map((option) => (
          <Dropdown.RadioItem
            key={option.value}
            value={option.value}
            textValue={option.label}
            onSelect={(event) => {
              event.preventDefault();
              onChange(option.value);
            }}
            className="flex h-6 items-center rounded-[5px] px-1.5 text-xs text-soft outline-none select-none data-highlighted:bg-hover data-highlighted:text-ink data-[state=checked]:bg-knob data-[state=checked]:font-medium data-[state=checked]:text-ink data-[state=checked]:shadow-lift data-[state=checked]:data-highlighted:outline data-[state=checked]:data-highlighted:outline-accent"
          >
            {option.label}
          </Dropdown.RadioItem>
        ))}
      </Dropdown.RadioGroup>
    </div>
  );
}
