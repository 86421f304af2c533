import { useQuery } from "@tanstack/react-query";

import { type ActivityPlace, askForCode } from "../lib/discordFrame";
import { request } from "./client";

/** Learns from Discord who opened the Activity, and from the server which stream they may watch. */
export function useActivity(place: ActivityPlace) {
  return useQuery({
    queryKey: ["activity", place.frameId],
    retry: false,
    staleTime: Infinity,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
    queryFn: async ({ signal }) => {
      const { client_id: clientId, hosts } = await request("GET /api/activity", { signal });
      const code = await askForCode({ place, clientId, hosts, parent: window.parent, signal });
      const body = { code, guild_id: place.guildId };
      const { token } = await request("POST /api/activity", { body, signal });
      return token;
    },
  });
}
