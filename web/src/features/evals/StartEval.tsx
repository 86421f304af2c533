import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";

import { messageOf } from "../../api/client";
import { useEvalSuites, useStartEval } from "../../api/evals";
import { useModels } from "../../api/models";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { RadioCards } from "../../components/RadioCards";
import { Skeleton } from "../../components/Skeleton";
import { counted, sentence } from "../../lib/text";
import { EvalModels } from "./EvalModels";
import { type EvalDraft, readDraft } from "./evalWords";

/** Stands for a suite of one's own among the names. No built-in suite has this name. */
const OWN = "";

const EXAMPLE = `name: my-suite
tasks:
  - name: clock
    task: Write the time into ~/time.txt.
    check: test -s ~/time.txt`;

/** The form that starts an eval. */
export function StartEval() {
  const suites = useEvalSuites();
  const models = useModels();
  const start = useStartEval();
  const navigate = useNavigate();
  const [suite, setSuite] = useState<string | null>(null);
  const [yaml, setYaml] = useState("");
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const [runs, setRuns] = useState("1");
  const [budget, setBudget] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const usual = models.data === undefined ? [] : [models.data.default];
  const named = suite ?? suites.data?.[0]?.name ?? OWN;
  const picked = chosen ?? usual;
  const builtIn = suites.data?.find(({ name }) => name === named);

  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const draft: EvalDraft = { builtIn: named === OWN ? null : named, yaml, models: picked, runs, budget };
    const read = readDraft(draft);
    if ("problem" in read) {
      setProblem(read.problem);
      return;
    }
    setProblem(null);
    start.mutate(read.wanted, {
      onSuccess: (run) => void navigate({ to: "/evals/$evalId", params: { evalId: run.id } }),
    });
  };

  const failed = start.error ?? suites.error;
  return (
    <form
      aria-label="Start an eval"
      onSubmit={onSubmit}
      className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4"
    >
      {suites.isPending && <Skeleton className="h-16 w-full rounded-lg" />}
      {!suites.isPending && (
        <RadioCards
          label="Suite"
          value={named}
          className="grid sm:grid-cols-2"
          options={[
            ...(suites.data ?? []).map(({ name, description, n_tasks }) => ({
              value: name,
              label: name,
              about: `${counted(n_tasks, "task")}. ${sentence(description)}`,
            })),
            { value: OWN, label: "Your own", about: "Tasks with checks, as YAML." },
          ]}
          onChange={setSuite}
        />
      )}
      {!suites.isPending && named === OWN && (
        <textarea
          aria-label="Suite as YAML"
          value={yaml}
          onChange={(event) => setYaml(event.target.value)}
          placeholder={EXAMPLE}
          rows={8}
          spellCheck={false}
          className="w-full resize-y rounded-md border border-line-strong bg-surface px-3 py-2 font-mono text-base placeholder:text-faint sm:text-xs"
        />
      )}
      <EvalModels chosen={picked} onChange={setChosen} />
      <div className="flex flex-wrap gap-x-6 gap-y-3">
        <NumberField label="Trials of each task" value={runs} onChange={setRuns} min="1" step="1" />
        <NumberField label="Budget in US dollars" value={budget} onChange={setBudget} min="0" step="any">
          No limit
        </NumberField>
      </div>
      {problem !== null && <Notice>{problem}</Notice>}
      {failed && <Notice>{messageOf(failed)}</Notice>}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" look="primary" disabled={start.isPending}>
          {start.isPending ? "Starting…" : "Start"}
        </Button>
        {builtIn && (
          <p className="text-[13px] text-faint tabular-nums">
            {counted(builtIn.n_tasks * picked.length * (Number(runs) || 0), "trial")}, each in a session of its own
          </p>
        )}
      </div>
    </form>
  );
}

interface NumberFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  min: string;
  step: string;
  /** The meaning of an empty field. */
  children?: string;
}

function NumberField({ label, value, onChange, min, step, children }: NumberFieldProps): ReactNode {
  return (
    <label className="flex flex-col gap-1.5 text-[13px] font-medium">
      {label}
      <input
        type="number"
        inputMode="decimal"
        value={value}
        min={min}
        step={step}
        placeholder={children}
        onChange={(event) => onChange(event.target.value)}
        className="h-8 w-36 rounded-md border border-line-strong bg-surface px-2.5 text-base font-normal tabular-nums placeholder:text-faint sm:text-[13px]"
      />
    </label>
  );
}
