import { useMemo } from "react";

import { usePorts } from "../../api/apps";
import type { SandboxState, Session } from "../../api/types";
import { usablePorts } from "./usablePorts";

/** The interval at which the ports are read while nobody looks at them, in milliseconds. */
const QUIET_INTERVAL = 5_000;

/** Returns the ports that the user could open, as text, also while no panel shows them. */
export function useNewPorts(session: Session, sandbox: SandboxState): readonly string[] {
  const ports = usePorts(session.id, { isEnabled: sandbox === "ready", interval: QUIET_INTERVAL });
  const names = sandbox === "ready" ? usablePorts(session.right, ports.data).map(({ port }) => String(port)) : [];
  const joined = names.join();
  return useMemo(() => (joined === "" ? [] : joined.split(",")), [joined]);
}
