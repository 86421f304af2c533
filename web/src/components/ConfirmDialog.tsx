import * as Alert from "@radix-ui/react-alert-dialog";
import type { ReactNode } from "react";

import { Button } from "./Button";
import { Notice } from "./Notice";

interface ConfirmDialogProps {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  title: string;
  children: ReactNode;
  confirmLabel: string;
  onConfirm: () => void;
  isBusy: boolean;
  error?: string | undefined;
}

/** Asks before an action that cannot be undone. It stays open until the action has succeeded. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  return (
    <Alert.Root open={props.isOpen} onOpenChange={props.onOpenChange}>
      <Alert.Portal>
        <Alert.Overlay className="fixed inset-0 z-50 animate-appear bg-black/45" />
        <Alert.Content className="fixed top-1/2 left-1/2 z-50 w-[min(26rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 animate-appear rounded-xl border border-line bg-raised p-5 shadow-over">
          <Alert.Title className="text-base font-semibold">{props.title}</Alert.Title>
          <Alert.Description className="mt-1.5 mb-4 text-soft">{props.children}</Alert.Description>
          {props.error !== undefined && <Notice>{props.error}</Notice>}
          <div className="mt-4 flex justify-end gap-2">
            <Alert.Cancel asChild>
              <Button>Cancel</Button>
            </Alert.Cancel>
            <Button look="danger" disabled={props.isBusy} onClick={props.onConfirm}>
              {props.confirmLabel}
            </Button>
          </div>
        </Alert.Content>
      </Alert.Portal>
    </Alert.Root>
  );
}
