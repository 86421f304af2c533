import { ArrowLeft, Download, X } from "lucide-react";
import { useState } from "react";

import { fileUrl } from "../../api/files";
import { Button } from "../../components/Button";
import { TimeAgo } from "../../components/TimeAgo";
import { FileContent, type FileContentProps } from "./FileContent";
import { lookOf, sizeWords } from "./fileKinds";
import { NoPreview } from "./NoPreview";

interface FileViewProps extends Omit<FileContentProps, "look"> {
  onClose: () => void;
}

/** The open file, as far as the page can show it. */
export function FileView({ onClose, ...rest }: FileViewProps) {
  const file = rest.opened.entry;
  const look = file.kind === "file" ? lookOf(file.name, file.size) : "none";
  const [isSource, setIsSource] = useState(false);
  const hasSource = look === "markdown" || look === "csv";
  return (
    <article aria-label={file.name} className="flex min-h-0 min-w-0 flex-2 flex-col">
      <header className="flex h-10 shrink-0 items-center gap-2 border-b border-line pr-1.5 pl-1.5 @2xl:pl-3">
        <Button look="ghost" square aria-label="Back" className="@2xl:hidden" onClick={onClose}>
          <ArrowLeft aria-hidden className="size-4" />
        </Button>
        <h3 className="min-w-0 truncate text-[13px] font-medium" title={file.path}>
          {file.name}
        </h3>
        <span className="min-w-0 flex-1 truncate text-xs text-faint">
          {sizeWords(file.size)} · <TimeAgo at={file.modified_at} />
        </span>
        {hasSource && (
          <Button look="ghost" aria-pressed={isSource} onClick={() => setIsSource(!isSource)}>
            {isSource ? "Preview" : "Source"}
          </Button>
        )}
        {file.kind === "file" && (
          <a
            href={fileUrl(rest.sessionId, file.path)}
            download={file.name}
            aria-label={`Download ${file.name}`}
            title="Download"
            className="grid size-8 place-items-center rounded-md text-soft hover:bg-hover hover:text-ink"
          >
            <Download aria-hidden className="size-4" />
          </a>
        )}
        <Button
          look="ghost"
          square
          aria-label="Close the file"
          className="@max-2xl:hidden"
          onClick={onClose}
        >
          <X aria-hidden className="size-4" />
        </Button>
      </header>
      <div className="min-h-0 flex-1 overflow-auto">
        {look === "none" ? (
          <NoPreview file={file} onOpenPath={rest.onOpenPath} />
        ) : (
          <FileContent {...rest} look={isSource ? "text" : look} />
        )}
      </div>
    </article>
  );
}
