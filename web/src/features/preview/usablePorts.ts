import type { ListeningPort, Ports, Right } from "../../api/types";
import { includes } from "../../lib/rights";

/** Returns the listening ports that somebody with this right may open. */
export function usablePorts(right: Right, ports: Ports | undefined): readonly ListeningPort[] {
  const { ports: listening = [], shared = [] } = ports ?? {};
  return includes(right, "drive") ? listening : listening.filter(({ port }) => shared.includes(port));
}
