import { useMutation, useQuery } from "@tanstack/react-query";
import { ClipboardCopy, Copy } from "lucide-react";
import { useId, useState } from "react";

import { messageOf } from "../../api/client";
import { Button } from "../../components/Button";
import { FormDialog } from "../../components/FormDialog";
import { copyText } from "../../lib/copyText";
import type { DesktopClipboard } from "./useClipboard";

/** Opens the clipboard of the desktop, to copy from it and to put a text on it. */
export function ClipboardButton({ clipboard }: { clipboard: DesktopClipboard }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button
        look="ghost"
        square
        aria-label="Clipboard"
        title="Clipboard of the desktop"
        onClick={() => setIsOpen(true)}
      >
        <ClipboardCopy aria-hidden className="size-4" />
      </Button>
      {isOpen && <ClipboardDialog clipboard={clipboard} onClose={() => setIsOpen(false)} />}
    </>
  );
}

interface ClipboardDialogProps {
  clipboard: DesktopClipboard;
  onClose: () => void;
}

function ClipboardDialog({ clipboard, onClose }: ClipboardDialogProps) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const [copied, setCopied] = useState<string | null>(null);
  const found = useQuery({
    queryKey: ["clipboard", id],
    queryFn: clipboard.read,
    gcTime: 0,
    retry: false,
  });
  const set = useMutation({ mutationFn: clipboard.set, onSuccess: onClose });
  const text = typed ?? found.data ?? "";
  const copy = async () => {
    const isCopied = await copyText(text);
    setCopied(isCopied ? "Copied" : "The browser does not allow it. Select the text and copy it.");
  };
  const problem = set.error ?? found.error;
  return (
    <FormDialog
      isOpen
      onOpenChange={onClose}
      title="Clipboard of the desktop"
      submitLabel="Put on the desktop"
      canSubmit={typed !== null && typed !== "" && !set.isPending}
      error={problem ? messageOf(problem) : undefined}
      onSubmit={() => set.mutate(text)}
    >
      <p className="text-[13px] text-soft">
        While you have control, Ctrl+V on the screen pastes your own clipboard, and Ctrl+C copies to
        it. It is emptied when you hand back.
      </p>
      <textarea
        aria-label="Text on the clipboard"
        value={text}
        rows={6}
        disabled={found.isPending}
        placeholder={found.isPending ? "Reading…" : "There is no text on it."}
        onChange={(event) => setTyped(event.target.value)}
        className="w-full resize-y rounded-md border border-line-strong bg-surface px-2.5 py-1.5 font-mono text-base sm:text-xs"
      />
      <div className="flex items-center gap-2 text-[13px] text-soft">
        <Button disabled={text === ""} onClick={() => void copy()}>
          <Copy aria-hidden className="size-4" /> Copy
        </Button>
        <span role="status">{copied}</span>
      </div>
    </FormDialog>
  );
}
