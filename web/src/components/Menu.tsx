import * as Dropdown from "@radix-ui/react-dropdown-menu";
import { Check } from "lucide-react";
import type { ReactNode } from "react";

import { cx } from "../lib/cx";

const ITEM =
  "flex h-8 items-center gap-2 rounded-md px-2 text-[13px] outline-none select-none data-highlighted:bg-hover [&_svg]:size-4 [&_svg]:text-faint";

interface MenuProps {
  trigger: ReactNode;
  children: ReactNode;
  /** The edge of the trigger to align with. */
  align?: "start" | "end";
  /** Called when the menu is closed, before the trigger gets the focus. `preventDefault` keeps it elsewhere. */
  onClosed?: (event: Event) => void;
}

/** A menu that opens from `trigger`, a button. */
export function Menu({ trigger, children, align = "end", onClosed }: MenuProps) {
  return (
    <Dropdown.Root>
      <Dropdown.Trigger asChild>{trigger}</Dropdown.Trigger>
      <Dropdown.Portal>
        <Dropdown.Content
          align={align}
          sideOffset={6}
          collisionPadding={8}
          onCloseAutoFocus={(event) => onClosed?.(event)}
          className="z-50 max-h-[min(28rem,var(--radix-dropdown-menu-content-available-height))] max-w-[calc(100vw-1rem)] min-w-44 animate-appear overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-over"
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

/** Stays visible below a list that is too long for the menu. */
export function MenuFoot({ children }: { children: ReactNode }) {
  return <div className="sticky -bottom-1 -mx-1 -mb-1 bg-raised px-1 pb-1">{children}</div>;
}

/** Information that cannot be selected. */
export function MenuNote({ children }: { children: ReactNode }) {
  return (
    <Dropdown.Item disabled className="max-w-80 px-2 pb-1 text-[13px] text-balance text-faint">
      {children}
    </Dropdown.Item>
  );
}

interface MenuTickProps {
  isTicked: boolean;
  onChange: (isTicked: boolean) => void;
  children: ReactNode;
}

/** An option that can be switched on and off. The menu stays open. */
export function MenuTick({ isTicked, onChange, children }: MenuTickProps) {
  return (
    <Dropdown.CheckboxItem
      checked={isTicked}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
      className={ITEM}
    >
      <span className="flex-1">{children}</span>
      <Dropdown.ItemIndicator>
        <Check aria-hidden />
      </Dropdown.ItemIndicator>
    </Dropdown.CheckboxItem>
  );
}

interface MenuRadiosProps {
  value: string;
  onChange: (value: string) => void;
  children: ReactNode;
}

/** Contains [`MenuRadio`]s, of which one is ticked. */
export function MenuRadios({ value, onChange, children }: MenuRadiosProps) {
  return (
    <Dropdown.RadioGroup value={value} onValueChange={onChange}>
      {children}
    </Dropdown.RadioGroup>
  );
}

interface MenuRadioProps {
  value: string;
  children: ReactNode;
  /** A short note at its end. */
  note?: string | undefined;
}

export function MenuRadio({ value, children, note }: MenuRadioProps) {
  return (
    <Dropdown.RadioItem value={value} className={ITEM}>
      <span className="flex size-4 shrink-0 items-center">
        <Dropdown.ItemIndicator>
          <Check aria-hidden />
        </Dropdown.ItemIndicator>
      </span>
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {note !== undefined && (
        <span className="shrink-0 pl-3 text-xs text-faint tabular-nums">{note}</span>
      )}
    </Dropdown.RadioItem>
  );
}

interface MenuChoiceProps<Value extends string> {
  value: Value;
  options: readonly { value: Value; label: string; icon: ReactNode }[];
  onChange: (value: Value) => void;
}

/** A choice of one option, with a tick at the current one. */
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
