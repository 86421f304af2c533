import { ChevronDown, Clock, Route, Zap } from "lucide-react";

import type { Delivery } from "../../api/types";
import { Button } from "../../components/Button";
import { Menu, MenuChoice } from "../../components/Menu";

const OPTIONS = [
  { value: "queue", label: "When it is done", icon: <Clock aria-hidden /> },
  { value: "steer", label: "At its next step", icon: <Route aria-hidden /> },
  { value: "interrupt", label: "Now: interrupt it", icon: <Zap aria-hidden /> },
] as const;

const SHORT: Record<Delivery, string> = { queue: "Later", steer: "Steer", interrupt: "Interrupt" };

interface DeliveryChoiceProps {
  mayInterrupt: boolean;
  value: Delivery;
  onChange: (value: Delivery) => void;
}

/** Chooses when a working agent gets to see a message. */
export function DeliveryChoice({ mayInterrupt, value, onChange }: DeliveryChoiceProps) {
  const options = OPTIONS.filter((option) => mayInterrupt || option.value !== "interrupt");
  return (
    <Menu
      trigger={
        <Button look="ghost" aria-label={`When the agent sees it: ${SHORT[value]}`}>
          {SHORT[value]} <ChevronDown aria-hidden className="size-3.5 text-faint" />
        </Button>
      }
    >
      <MenuChoice value={value} options={options} onChange={onChange} />
    </Menu>
  );
}
