import { ChevronDown, CircleHelp, Clock, Route, Zap } from "lucide-react";

import type { Delivery } from "../../api/types";
import { Button } from "../../components/Button";
import { Menu, MenuChoice } from "../../components/Menu";

/** The fate of a message: a delivery, or that it answers the agent's question. */
export type MessageUse = Delivery | "answer";

const OPTIONS = [
  { value: "answer", label: "It answers the question", icon: <CircleHelp aria-hidden /> },
  { value: "queue", label: "When it is done", icon: <Clock aria-hidden /> },
  { value: "steer", label: "At its next step", icon: <Route aria-hidden /> },
  { value: "interrupt", label: "Now: interrupt it", icon: <Zap aria-hidden /> },
] as const;

const SHORT: Record<MessageUse, string> = { answer: "Answer", queue: "Later", steer: "Steer", interrupt: "Interrupt" };

interface DeliveryChoiceProps {
  mayInterrupt: boolean;
  /** True if the agent waits for an answer. */
  mayAnswer: boolean;
  value: MessageUse;
  onChange: (value: MessageUse) => void;
}

/** Chooses when a working agent gets to see a message. */
export function DeliveryChoice({ mayInterrupt, mayAnswer, value, onChange }: DeliveryChoiceProps) {
  const options = OPTIONS.filter(
    (option) =>
      (mayInterrupt || option.value !== "interrupt") && (mayAnswer || option.value !== "answer"),
  );
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
