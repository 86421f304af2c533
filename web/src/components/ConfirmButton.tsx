import { type ReactNode, useState } from "react";

import { Button, type ButtonProps } from "./Button";
import { ConfirmDialog } from "./ConfirmDialog";

interface ConfirmButtonProps extends Omit<ButtonProps, "onClick" | "title"> {
  /** The question. */
  title: string;
  /** What will happen. */
  explanation: ReactNode;
  confirmLabel: string;
  onConfirm: () => void;
}

/** A button for what cannot be taken back: it asks first. What came of it is told where it stands. */
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
