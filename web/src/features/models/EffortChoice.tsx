import type { Effort } from "../../api/types";
import { MenuSegments } from "../../components/MenuSegments";

/** The choice of an effort. Null stands for that of the session, or of the server. */
export interface EffortPick {
  value: Effort | null;
  onChange: (effort: Effort | null) => void;
}

const USUAL = "usual";

const EFFORTS = [
  { value: "low", label: "Low" },
  { value: "medium", label: "Medium" },
  { value: "high", label: "High" },
] as const;

interface EffortChoiceProps extends EffortPick {
  /** The word for null. */
  usual: string;
}

/** Chooses how much the model thinks, in one row of a menu. */
export function EffortChoice({ value, onChange, usual }: EffortChoiceProps) {
  return (
    <MenuSegments
      label="Effort"
      value={value ?? USUAL}
      options={[{ value: USUAL, label: usual }, ...EFFORTS]}
      onChange={(chosen) => onChange(chosen === USUAL ? null : chosen)}
    />
  );
}
