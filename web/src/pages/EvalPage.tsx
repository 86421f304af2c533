import { Link, useParams } from "@tanstack/react-router";

import { EvalFrame } from "../features/evals/EvalFrame";
import { EvalView } from "../features/evals/EvalView";

export function EvalPage() {
  const { evalId } = useParams({ from: "/evals/$evalId" });
  return (
    <EvalFrame
      location={
        <Link to="/evals" className="rounded-md px-1.5 py-1 text-[13px] font-medium text-soft hover:bg-hover hover:text-ink">
          Evals
        </Link>
      }
    >
      <EvalView key={evalId} id={evalId} />
    </EvalFrame>
  );
}
