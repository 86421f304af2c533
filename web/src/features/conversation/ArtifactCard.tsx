import { useQuery } from "@tanstack/react-query";
import { Download, FileText } from "lucide-react";
import { lazy, Suspense } from "react";

import { requestRaw } from "../../api/client";
import { artifactUrl } from "../../api/urls";
import { BlobImage } from "../../components/BlobImage";
import { imageType, type Look, lookOf, sizeWords, textOf } from "../files/fileKinds";
import type { ArtifactItem } from "./items";

const PdfPages = lazy(() => import("../../components/PdfPages"));

/** Larger files are shown by their name only. */
const LARGEST_PREVIEW_BYTES = 5 * 1024 * 1024;
const MOST_CHARS = 600;

/** A file that the agent handed over: a preview if there is one, and a download. */
export function ArtifactCard({ item, sessionId }: { item: ArtifactItem; sessionId: string }) {
  const look = lookOf(item.name, item.size);
  const hasPreview = look !== "none" && item.size <= LARGEST_PREVIEW_BYTES;
  const url = artifactUrl(sessionId, item.id);
  return (
    <figure className="w-full max-w-md overflow-hidden rounded-lg border border-line bg-raised">
      {hasPreview && <Preview url={url} name={item.name} look={look} />}
      <figcaption className="flex items-center gap-2.5 px-3 py-2">
        <FileText aria-hidden className="size-5 shrink-0 text-accent" />
        <span className="min-w-0 flex-1">
          <span className="block truncate text-[13px] font-medium" title={item.name}>
            {item.name}
          </span>
          <span className="block text-xs text-faint">{sizeWords(item.size)}</span>
        </span>
        <a
          href={url}
          download={item.name}
          aria-label={`Download ${item.name}`}
          title="Download"
          className="grid size-8 shrink-0 place-items-center rounded-md text-soft hover:bg-hover hover:text-ink"
        >
          <Download aria-hidden className="size-4" />
        </a>
      </figcaption>
    </figure>
  );
}

interface PreviewProps {
  url: string;
  name: string;
  look: Look;
}

/** The picture, the first page, or the beginning of the text. Nothing in the file can run. */
function Preview({ url, name, look }: PreviewProps) {
  const isText = look !== "image" && look !== "pdf";
  const content = useQuery({
    queryKey: ["artifact", url],
    queryFn: async ({ signal }) => {
      const blob = await (await requestRaw(url, { signal })).blob();
      return { blob, text: isText ? await textOf(blob) : null };
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (content.data === undefined) return null;
  const { blob, text } = content.data;
  if (look === "pdf") {
    return (
      <Suspense fallback={null}>
        <div className="max-h-72 overflow-hidden border-b empty:hidden border-line bg-sunken px-6 pt-4">
          <PdfPages blob={blob} name={name} mostPages={1} busy={null} broken={null} />
        </div>
      </Suspense>
    );
  }
  if (look === "image") {
    return (
      <BlobImage
        blob={blob}
        type={imageType(name)}
        alt={`Preview of ${name}`}
        className="max-h-72 w-full border-b border-line bg-sunken object-contain"
      />
    );
  }
  if (text === null || text.trim() === "") return null;
  return (
    <pre className="max-h-48 overflow-hidden border-b border-line bg-sunken px-3 py-2 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
      {text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text}
    </pre>
  );
}
