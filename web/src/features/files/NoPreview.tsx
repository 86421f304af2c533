import { FileQuestion } from "lucide-react";

import type { File as FileEntry } from "../../api/types";
import { Button } from "../../components/Button";
import { Placeholder } from "../../components/Placeholder";
import { targetOf } from "./fileKinds";

interface NoPreviewProps {
  file: FileEntry;
  onOpenPath: (path: string) => void;
}

/** The words for a file that the page cannot show. */
export function NoPreview({ file, onOpenPath }: NoPreviewProps) {
  const { kind, target } = file;
  if (kind === "link") {
    return (
      <Placeholder
        icon={<FileQuestion aria-hidden />}
        title="This is a link"
        actions={
          target != null && (
            <Button onClick={() => onOpenPath(targetOf(file.path, target))}>Open its target</Button>
          )
        }
      >
        It leads to <code>{target}</code>.
      </Placeholder>
    );
  }
  return (
    <Placeholder icon={<FileQuestion aria-hidden />} title="There is no preview of this file">
      {kind === "file"
        ? "Download it to open it on your own computer."
        : "It is a device, a pipe or a socket."}
    </Placeholder>
  );
}
