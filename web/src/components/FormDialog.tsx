import * as Dialog from "@radix-ui/react-dialog";
import type { FormEvent, ReactNode } from "react";

import { Button } from "./Button";
import { Notice } from "./Notice";

interface FormDialogProps {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  title: string;
  children: ReactNode;
  onSubmit: () => void;
  /** The label of the submit button. Without it there is nothing to submit. */
  submitLabel?: string | undefined;
  canSubmit: boolean;
  /** The label of the button that closes it, if that is no way to give up. */
  closeLabel?: string | undefined;
  error?: string | undefined;
}

/** A dialog with a form. */
export function FormDialog(props: FormDialogProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // The dialog may have been opened from within another form.
    event.stopPropagation();
    if (props.canSubmit) props.onSubmit();
  };
  return (
    <Dialog.Root open={props.isOpen} onOpenChange={props.onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-50 animate-appear bg-black/45" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-50 max-h-[calc(100dvh-2rem)] w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 animate-appear overflow-y-auto rounded-xl border border-line bg-raised p-5 shadow-over"
        >
          <form onSubmit={submit} className="flex flex-col gap-3">
            <Dialog.Title className="text-base font-semibold">{props.title}</Dialog.Title>
            {props.children}
            {props.error !== undefined && <Notice>{props.error}</Notice>}
            <div className="mt-1 flex justify-end gap-2">
              <Dialog.Close asChild>
                <Button>{props.closeLabel ?? (props.submitLabel === undefined ? "Close" : "Cancel")}</Button>
              </Dialog.Close>
              {props.submitLabel !== undefined && (
                <Button type="submit" look="primary" disabled={!props.canSubmit}>
                  {props.submitLabel}
                </Button>
              )}
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
