import { useCallback } from "react";

interface BlobImageProps {
  blob: Blob;
  /** The media type, which must be one that runs nothing. */
  type: string;
  alt: string;
  className?: string;
  onError?: () => void;
}

/** A picture from bytes that the page has already. */
export function BlobImage({ blob, type, alt, className, onError }: BlobImageProps) {
  const show = useCallback(
    (image: HTMLImageElement | null) => {
      if (image === null) return undefined;
      const url = URL.createObjectURL(new Blob([blob], { type }));
      image.src = url;
      return () => URL.revokeObjectURL(url);
    },
    [blob, type],
  );
  return <img ref={show} alt={alt} onError={onError} className={className} />;
}
