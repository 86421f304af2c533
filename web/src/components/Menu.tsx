import * as Dropdown from "@radix-ui/react-dropdown-menu";
import { Check } from "lucide-react";
import type { ReactNode } from "react";

import { cx } from "../lib/cx";

const ITEM =
  "flex h-8 items-center gap-2 rounded-md px-2 text-[13px] outline-none select-none data-highlighted:bg-hover [&_svg]:size-4 [&_svg]:text-faint";

/** A menu that opens from `trigger`, a button. */
export function Menu({ trigger, children }: { trigger: ReactNode; children: ReactNode }) {
  return (
    <Dropdown.Root>
      <Dropdown.Trigger asChild>{trigger}</Dropdown.Trigger>
      <Dropdown.Portal>
        <Dropdown.Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          className="z-50 min-w-44 animate-appear rounded-lg border border-line bg-raised p-1 shadow-over"
        >
          {children}
        </Dropdown.Content>
      </Dropdown.Portal>
    </Dropdown.Root>
  );
}

interface MenuItemProps {
  icon?: ReactNode;
  children: ReactNode;
  isDanger?: boolean;
  onSelect: () => void;
}

export function MenuItem({ icon, children, isDanger = false, onSelect }: MenuItemProps) {
  return (
    <Dropdown.Item
      onSelect={onSelect}
      className={cx(ITEM, isDanger && "text-bad [&_svg]:text-bad!")}
    >
      {icon}
      {children}
    </Dropdown.Item>
  );
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return (
    <Dropdown.Label className="truncate px-2 pt-1.5 pb-1 text-xs text-faint">
      {children}
    </Dropdown.Label>
  );
}

export function MenuSeparator() {
  return <Dropdown.Separator className="my-1 h-px bg-line" />;
}

interface MenuChoiceProps<Value extends string> {
  value: Value;
  options: readonly { value: Value; label: string; icon: ReactNode }[];
  onChange: (value: Value) => void;
}

/** One of several, with a tick at the one that holds. */
export function MenuChoice<Value extends string>({
  value,
  options,
  onChange,
}: MenuChoiceProps<Value>) {
  return (
    <Dropdown.RadioGroup value={value}>
      {options.map((option) => (
        <Dropdown.RadioItem
          key={option.value}
          value={option.value}
          onSelect={() => onChange(option.value)}
          className={ITEM}
        >
          {option.icon}
          <span className="flex-1">{option.label}</span>
          <Dropdown.ItemIndicator>
            <Check aria-hidden />
          </Dropdown.ItemIndicator>
        </Dropdown.RadioItem>
      ))}
    </Dropdown.RadioGroup>
  );
}
