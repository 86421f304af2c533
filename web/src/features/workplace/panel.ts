import type { SandboxState, Session } from "../../api/types";
import type { HeldLease } from "../screen/control";

/** The properties of every panel. A panel fills its parent, and keeps its connections while it is hidden. */
export interface PanelProps {
  session: Session;
  sandbox: SandboxState;
  /** The person who has control, if any. */
  lease: HeldLease | null;
}
