/** Formats times and durations for people. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats a duration: `84 ms`, `6.2 s`, `1 min 20 s`, `2 h 5 min`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE - 50) return `${(ms / SECOND).toFixed(1)} s`;
  return formatElapsed(ms);
}

/** Formats a duration for a clock that ticks once a second: `6 s`, `1 min 20 s`, `2 h 5 min`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / SECOND));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return joinUnits(minutes, "min", seconds % 60, "s");
  return joinUnits(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

function joinUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

/**
 * Formats a time in the past: `just now`, `5 min ago`, `3 h ago`, `2 days ago`, and the date after
 * a week.
 */
export function formatAgo(at: string, now: number): string {
  const then = Date.parse(at);
  const ms = now - then;
  if (ms < MINUTE) return "just now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`;
  if (ms < 2 * DAY) return "yesterday";
  if (ms < 7 * DAY) return `${Math.floor(ms / DAY)} days ago`;
  return new Date(then).toLocaleDateString(undefined, { dateStyle: "medium" });
}

/** Formats a time in the future: `at 14:05` on the same day, with the date on another. */
export function formatSoon(at: string, now = Date.now()): string {
  const then = new Date(at);
  const isToday = then.toDateString() === new Date(now).toDateString();
  const time = then.toLocaleTimeString(undefined, { timeStyle: "short" });
  if (isToday) return `at ${time}`;
  return `on ${then.toLocaleDateString(undefined, { dateStyle: "medium" })} at ${time}`;
}

/** Formats the full date and time, for tooltips. */
export function formatMoment(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
