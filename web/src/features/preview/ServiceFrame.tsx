import { CloudOff } from "lucide-react";
import { useState } from "react";

import { useAddress, type Place } from "../../api/apps";
import { isCode, messageOf } from "../../api/client";
import { Button } from "../../components/Button";
import { Placeholder } from "../../components/Placeholder";
import { Skeleton } from "../../components/Skeleton";
import { cx } from "../../lib/cx";

interface ServiceFrameProps {
  sessionId: string;
  place: Place;
  /** Another number opens the program again. */
  visit: number;
  title: string;
  onRetry: () => void;
}

/**
 * The page's permissions. It has an origin of its own, so it may use that; it may neither lead the dashboard elsewhere
 * nor see it.
 */
const PERMISSIONS =
  "allow-downloads allow-forms allow-modals allow-pointer-lock allow-popups allow-popups-to-escape-sandbox allow-same-origin allow-scripts";

/** Shows a program of the desktop in a frame. */
export function ServiceFrame({ sessionId, place, visit, title, onRetry }: ServiceFrameProps) {
  const address = useAddress(sessionId, place, visit);
  const [loaded, setLoaded] = useState<string | null>(null);
  if (address.isPending) {
    return (
      <div role="status" aria-label={`Opening ${title}`} className="h-full p-4">
        <Skeleton className="h-full w-full rounded-lg" />
      </div>
    );
  }
  if (address.isError) {
    const isFinal = isCode(address.error, "no_apps_domain") || isCode(address.error, "not_allowed");
    return (
      <Placeholder
        icon={<CloudOff aria-hidden />}
        title={`${title} cannot be opened`}
        actions={!isFinal && <Button onClick={onRetry}>Try again</Button>}
      >
        {messageOf(address.error)}
      </Placeholder>
    );
  }
  return (
    <iframe
      key={address.data}
      src={address.data}
      title={title}
      sandbox={PERMISSIONS}
      allow="fullscreen; clipboard-read; clipboard-write"
      referrerPolicy="no-referrer"
      onLoad={() => setLoaded(address.data)}
      // Pages without a background of their own expect a white one. Before there is a page, it would flash.
      className={cx("size-full border-0", loaded === address.data ? "bg-white" : "bg-surface")}
    />
  );
}
