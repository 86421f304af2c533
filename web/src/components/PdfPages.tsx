import { getDocument, GlobalWorkerOptions, type PDFDocumentProxy } from "pdfjs-dist";
import { type ReactNode, useEffect, useRef, useState } from "react";

import { cx } from "../lib/cx";

const worker = new URL("pdfjs-dist/build/pdf.worker.min.mjs", import.meta.url);
GlobalWorkerOptions.workerSrc = worker.href;

/** The most pixels of a picture in a document, and of the width of a page. Larger ones would use up the memory. */
const MOST_IMAGE_PIXELS = 64_000_000;
const MOST_PAGE_WIDTH = 2000;
/** The width over the height of a page that is not loaded yet: A4. */
const USUAL_RATIO = 210 / 297;

interface PdfPagesProps {
  blob: Blob;
  name: string;
  /** Shows only the first pages. */
  mostPages?: number;
  className?: string;
  /** Shown while the document is read. */
  busy: ReactNode;
  /** Shown instead of a document that cannot be read. */
  broken: ReactNode;
}

/**
 * The pages of a PDF document, painted by pdf.js. Nothing in the document can run, be clicked or load anything: there
 * is no form, no link and no script, only a picture of each page and its text.
 */
export default function PdfPages({ blob, name, mostPages, className, busy, broken }: PdfPagesProps) {
  const [document, setDocument] = useState<PDFDocumentProxy | "broken" | null>(null);
  useEffect(() => {
    let isWanted = true;
    let stop = () => {};
    const load = async () => {
      const data = await blob.arrayBuffer();
      if (!isWanted) return;
      const task = getDocument({
        data,
        maxImageSize: MOST_IMAGE_PIXELS,
        enableXfa: false,
        // The page's policy allows no WebAssembly.
        useWasm: false,
      });
      stop = () => void task.destroy();
      const loaded = await task.promise;
      if (isWanted) setDocument(loaded);
    };
    load().catch(() => {
      if (isWanted) setDocument("broken");
    });
    return () => {
      isWanted = false;
      stop();
    };
  }, [blob]);
  if (document === null) return busy;
  if (document === "broken") return broken;
  const nShown = Math.min(document.numPages, mostPages ?? document.numPages);
  const numbers = Array.from({ length: nShown }, (_, index) => index + 1);
  return (
    <ol aria-label={`Pages of ${name}`} className={cx("flex flex-col gap-3", className)}>
      {numbers.map((number) => (
        <Page key={number} document={document} number={number} />
      ))}
    </ol>
  );
}

interface PageProps {
  document: PDFDocumentProxy;
  number: number;
}

/** One page. It is painted when it comes near the visible part. */
function Page({ document, number }: PageProps) {
  const place = useRef<HTMLLIElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isNear, setIsNear] = useState(false);
  const [ratio, setRatio] = useState(USUAL_RATIO);
  const [text, setText] = useState("");
  useEffect(() => {
    if (place.current === null) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) setIsNear(true);
      },
      { rootMargin: "100% 0px" },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (!isNear) return;
    let stop = () => {};
    let isWanted = true;
    const paint = async () => {
      const page = await document.getPage(number);
      const target = canvas.current;
      if (!isWanted || target === null) return;
      const size = page.getViewport({ scale: 1 });
      setRatio(size.width / size.height);
      const width = Math.min(target.clientWidth * window.devicePixelRatio, MOST_PAGE_WIDTH);
      const viewport = page.getViewport({ scale: width / size.width });
      target.width = Math.ceil(viewport.width);
      target.height = Math.ceil(viewport.height);
      const task = page.render({ canvas: target, viewport });
      stop = () => task.cancel();
      await task.promise;
      const { items } = await page.getTextContent();
      if (isWanted) setText(items.map((item) => ("str" in item ? item.str : "")).join(" "));
    };
    // A page that cannot be painted stays empty, as in other viewers.
    paint().catch(() => {});
    return () => {
      isWanted = false;
      stop();
    };
  }, [document, number, isNear]);
  return (
    <li ref={place} className="list-none">
      <canvas
        ref={canvas}
        role="img"
        aria-label={`Page ${number} of ${document.numPages}`}
        style={{ aspectRatio: ratio }}
        className="block w-full bg-white shadow-lift"
      />
      <p className="sr-only">{text}</p>
    </li>
  );
}
