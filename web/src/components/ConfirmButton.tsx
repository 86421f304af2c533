import { type ReactNode, useState } from "react";

import { Button, type ButtonProps } from "./Button";
import { ConfirmDialog } from "./ConfirmDialog";

interface ConfirmButtonProps extends Omit<ButtonProps, "onClick" | "title"> {
  /** The question. */
  title: string;
  /** The consequence. */
  explanation: ReactNode;
  confirmLabel: string;
  onConfirm: () => void;
}

/** A button for actions that cannot be undone: it asks first. The parent shows the result. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { title, explanation, confirmLabel, onConfirm, ...button } = props;
  const [isAsking, setIsAsking] = useState(false);
  const confirm = () => {
    setIsAsking(false);
    onConfirm();
  };
  return (
    <>
      <Button {...button} onClick={() => setIsAsking(true)} />
      <ConfirmDialog
        isOpen={isAsking}
        onOpenChange={setIsAsking}
        title={title}
        confirmLabel={confirmLabel}
        isBusy={false}
        onConfirm={confirm}
      >
        {explanation}
      </ConfirmDialog>
    </>
  );
}
