import { formatAgo, formatMoment } from "../lib/time";
import { useNow } from "../lib/useNow";

const RENEW_MS = 20_000;

export function TimeAgo({ at }: { at: string }) {
  const now = useNow(RENEW_MS);
  return (
    <time dateTime={at} title={formatMoment(at)}>
      {formatAgo(at, now)}
    </time>
  );
}
