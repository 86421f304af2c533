import { Plus } from "lucide-react";
import { useState } from "react";

import { Button } from "../components/Button";
import { EvalFrame } from "../features/evals/EvalFrame";
import { EvalList } from "../features/evals/EvalList";
import { StartEval } from "../features/evals/StartEval";

export function EvalsPage() {
  const [isStarting, setIsStarting] = useState(false);
  return (
    <EvalFrame>
      <title>Evals · Deskhand</title>
      <div className="flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="flex min-w-60 flex-1 flex-col gap-1.5">
          <h1 className="text-xl font-semibold">Evals</h1>
          <p className="text-soft">Give models the same tasks, and compare how many each of them completes.</p>
        </div>
        <Button aria-expanded={isStarting} onClick={() => setIsStarting(!isStarting)}>
          <Plus aria-hidden className="size-4" /> New eval
        </Button>
      </div>
      {isStarting && <StartEval />}
      <EvalList />
    </EvalFrame>
  );
}
