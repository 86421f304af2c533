import { CircleAlert, LoaderCircle, MonitorPlay } from "lucide-react";

import { useActivity } from "../api/activity";
import { isCode, messageOf } from "../api/client";
import { Button } from "../components/Button";
import { WatchNote } from "../features/watch/WatchNote";
import type { ActivityPlace } from "../lib/discordFrame";
import { useDarkTheme } from "../lib/theme";
import { WatchPage } from "./WatchPage";

/** The page of the Discord Activity: the stream of the voice channel that its viewer is in. */
export function ActivityPage({ place }: { place: ActivityPlace }) {
  const activity = useActivity(place);
  useDarkTheme();
  const lookAgain = () => void activity.refetch();
  if (activity.data !== undefined && !activity.isFetching && !activity.isError) {
    return <WatchPage token={activity.data} onLookAgain={lookAgain} />;
  }
  return (
    <main className="fixed inset-0 overflow-hidden bg-black text-ink">
      <title>Watch · Deskhand</title>
      {activity.isFetching ? (
        <WatchNote icon={<LoaderCircle aria-hidden className="animate-spin" />} title="Connecting…" />
      ) : isCode(activity.error, "no_stream") ? (
        <WatchNote icon={<MonitorPlay aria-hidden />} title="Nothing is streaming here">
          Send the bot a link while you are in this voice channel, and look again when it says that it streams.
        </WatchNote>
      ) : (
        <WatchNote icon={<CircleAlert aria-hidden />} title="You cannot watch yet">
          {messageOf(activity.error)}
        </WatchNote>
      )}
      {activity.isError && !activity.isFetching && (
        <div className="absolute inset-x-0 bottom-[20%] flex justify-center">
          <Button onClick={lookAgain}>Look again</Button>
        </div>
      )}
    </main>
  );
}
