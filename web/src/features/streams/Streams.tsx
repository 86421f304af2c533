import { CloudOff, MonitorOff, ShieldAlert } from "lucide-react";

import { isCode, messageOf } from "../../api/client";
import { useStreamSetup } from "../../api/streams";
import { Button } from "../../components/Button";
import { Placeholder } from "../../components/Placeholder";
import { Skeleton } from "../../components/Skeleton";
import { ActiveStreams } from "./ActiveStreams";
import { SetupChecks } from "./SetupChecks";
import { StreamFigures } from "./StreamFigures";
import { StreamHistory } from "./StreamHistory";

/** Everything about the streams of this server, or the reason why there are none. */
export function Streams() {
  const setup = useStreamSetup();
  if (setup.isPending) {
    return (
      <div role="status" aria-label="Loading the streams" className="flex flex-col gap-3">
        <Skeleton className="h-20 w-full rounded-lg" />
        <Skeleton className="h-40 w-full rounded-lg" />
      </div>
    );
  }
  if (isCode(setup.error, "not_administrator")) {
    return (
      <Placeholder icon={<ShieldAlert aria-hidden />} title="Only administrators see the streams">
        Ask an administrator of this server.
      </Placeholder>
    );
  }
  if (!setup.data) {
    return (
      <Placeholder
        icon={<CloudOff aria-hidden />}
        title="The streams could not be loaded"
        actions={<Button onClick={() => void setup.refetch()}>Try again</Button>}
      >
        {messageOf(setup.error)}
      </Placeholder>
    );
  }
  if (!setup.data.is_on) return <StreamsOff />;
  return (
    <>
      <ActiveStreams />
      <StreamFigures />
      <StreamHistory />
      <SetupChecks />
    </>
  );
}

function StreamsOff() {
  return (
    <Placeholder icon={<MonitorOff aria-hidden />} title="This server runs no streams">
      <p>
        With a Discord bot, people in a voice channel send it a link and watch it together. Create a bot in Discord’s
        developer portal, give its token to the server, and restart it:
      </p>
      <pre className="my-3 overflow-x-auto rounded-md bg-sunken px-3 py-2 text-left font-mono text-xs text-ink">
        {"export DESKHAND_JAMIE_TOKEN='the token'\ndeskhand serve"}
      </pre>
      <p>
        For a bot that runs apart from the server, set <code className="font-mono text-xs">jamie.controller</code> to{" "}
        <code className="font-mono text-xs">true</code> instead. The guide docs/guide/jamie.md has all steps.
      </p>
    </Placeholder>
  );
}
