import type { Stream } from "../../api/types";
import { formatElapsed } from "../../lib/time";

/** Returns the host and path of a link, which tell streams apart better than its beginning does. */
export function shortLink(url: string): string {
  return url.replace(/^https?:\/\/(www\.)?/, "").replace(/\/$/, "");
}

/** Returns the place where a stream is watched: `Movie Night in Friends`. */
export function placeOf({ channel_name, guild_name }: Stream): string {
  return guild_name === null ? channel_name : `${channel_name} in ${guild_name}`;
}

/** Returns the time for which people could watch, or a dash if they never could. */
export function watchedFor({ started_at, ended_at }: Stream, now: number): string {
  if (started_at === null) return "–";
  const end = ended_at === null ? now : Date.parse(ended_at);
  return formatElapsed(end - Date.parse(started_at));
}

/** Says how many people watch by links, after a dot. Nothing is said of a stream that has no link. */
export function watchersOf({ watch_url, n_watchers }: Stream): string {
  if (watch_url === null) return "";
  return n_watchers === 1 ? " · 1 person watches" : ` · ${n_watchers} people watch`;
}
