import { type FormEvent, useId, useState } from "react";

import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { codeFrom } from "../../lib/signInCode";

interface SignInFormProps {
  onCode: (code: string) => void;
  isBusy: boolean;
  error?: string | undefined;
}

export function SignInForm({ onCode, isBusy, error }: SignInFormProps) {
  const [pasted, setPasted] = useState("");
  const fieldId = useId();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const code = codeFrom(pasted);
    if (code !== "" && !isBusy) onCode(code);
  };
  return (
    <form onSubmit={onSubmit} className="flex flex-col gap-3">
      {error !== undefined && <Notice>{error}</Notice>}
      <label htmlFor={fieldId} className="text-[13px] font-medium">
        Sign-in link or code
      </label>
      <div className="-mt-1.5 flex gap-2">
        <input
          id={fieldId}
          value={pasted}
          onChange={(event) => setPasted(event.target.value)}
          autoComplete="one-time-code"
          spellCheck={false}
          placeholder="http://localhost:7878/#code=…"
          className="h-9 min-w-0 flex-1 rounded-md border border-line-strong bg-surface px-3 text-base placeholder:text-faint sm:text-sm"
        />
        <Button
          type="submit"
          look="primary"
          className="h-9"
          disabled={isBusy || pasted.trim() === ""}
        >
          {isBusy ? "Signing in…" : "Sign in"}
        </Button>
      </div>
    </form>
  );
}
