import { Paperclip } from "lucide-react";
import { type FormEvent, type ReactNode, useId, useState } from "react";

import type { Choice, Form } from "../../api/types";
import { Button } from "../../components/Button";
import { ApprovalForm, type ApprovalFormProps } from "./ApprovalForm";
import { readFile } from "./readFile";

interface AnswerFormProps extends ApprovalFormProps {
  form: Form;
}

/** The controls for answering a decision. */
export function AnswerForm({ form, ...approval }: AnswerFormProps) {
  const { kind, isSending, onAnswer } = approval;
  const [isOther, setIsOther] = useState(false);
  if (isOther) {
    return <TextForm isSending={isSending} onAnswer={onAnswer} onBack={() => setIsOther(false)} />;
  }
  // What the agent offers may not fit. What programs and policies ask has no other answer.
  const other = kind === "question" && (
    <Button look="ghost" disabled={isSending} onClick={() => setIsOther(true)}>
      Other…
    </Button>
  );
  switch (form.type) {
    case "yes_no":
      return <ApprovalForm {...approval} other={other} />;
    case "text":
      return <TextForm isSending={isSending} onAnswer={onAnswer} />;
    case "choices":
      return form.several ? (
        <SeveralForm
          choices={form.choices}
          isSending={isSending}
          onAnswer={onAnswer}
          other={other}
        />
      ) : (
        <div className="flex flex-wrap gap-2">
          {form.choices.map((choice) => (
            <Button
              key={choice.value}
              className="h-auto! min-h-8 max-w-full py-1 whitespace-normal!"
              disabled={isSending}
              onClick={() => onAnswer({ choices: [choice.value] })}
            >
              {choice.label}
            </Button>
          ))}
          {other}
        </div>
      );
    case "file":
      return <FileForm isSending={isSending} onAnswer={onAnswer} />;
  }
}

type PartProps = Pick<AnswerFormProps, "isSending" | "onAnswer">;

interface FrameProps {
  canSend: boolean;
  onSend: () => void;
  /** A button beside that which sends. */
  beside?: ReactNode;
  children: ReactNode;
}

function Frame(props: FrameProps) {
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (props.canSend) props.onSend();
  };
  return (
    <form onSubmit={send} className="flex flex-col items-start gap-2">
      {props.children}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" disabled={!props.canSend}>
          Answer
        </Button>
        {props.beside}
      </div>
    </form>
  );
}

function TextForm({ isSending, onAnswer, onBack }: PartProps & { onBack?: () => void }) {
  const [text, setText] = useState("");
  return (
    <Frame
      canSend={text.trim() !== "" && !isSending}
      onSend={() => onAnswer({ text: text.trim() })}
      beside={
        onBack && (
          <Button look="ghost" onClick={onBack}>
            Back to the choices
          </Button>
        )
      }
    >
      <textarea
        // The person has just asked for it.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus={onBack !== undefined}
        aria-label="Your answer"
        placeholder="Your answer"
        value={text}
        rows={2}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          // As in the composer, Enter sends, and Shift+Enter begins a new line.
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }
        }}
        className="field-sizing-content max-h-48 w-full resize-none rounded-md border border-line-strong bg-surface px-2.5 py-1.5 text-base placeholder:text-faint sm:text-sm"
      />
    </Frame>
  );
}

function SeveralForm(props: PartProps & { choices: Choice[]; other: ReactNode }) {
  const { choices, isSending, onAnswer, other } = props;
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const toggle = (value: string) =>
    setChosen(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value]);
  return (
    <Frame
      canSend={chosen.length > 0 && !isSending}
      onSend={() => onAnswer({ choices: [...chosen] })}
      beside={other}
    >
      <div className="flex flex-col gap-1">
        {choices.map(({ value, label }) => (
          <label key={value} className="flex items-baseline gap-2 [overflow-wrap:anywhere]">
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={() => toggle(value)}
              className="translate-y-0.5 accent-accent"
            />
            {label}
          </label>
        ))}
      </div>
    </Frame>
  );
}

function FileForm({ isSending, onAnswer }: PartProps) {
  const [file, setFile] = useState<File | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const id = useId();
  const send = async (chosen: File) => {
    const read = await readFile(chosen);
    if ("problem" in read) setProblem(read.problem);
    else onAnswer({ file: read });
  };
  return (
    <Frame
      canSend={file !== null && !isSending}
      onSend={() => {
        if (file) void send(file);
      }}
    >
      <label
        htmlFor={id}
        className="flex max-w-full cursor-pointer items-center gap-2 rounded-md border border-dashed border-line-strong px-3 py-2 text-[13px] focus-within:outline-2 focus-within:outline-accent hover:bg-hover"
      >
        <Paperclip aria-hidden className="size-4 shrink-0 text-faint" />
        <span className="truncate">{file?.name ?? "Choose a file"}</span>
        <input
          id={id}
          type="file"
          aria-label="File"
          className="sr-only"
          onChange={(event) => {
            setFile(event.target.files?.[0] ?? null);
            setProblem(null);
          }}
        />
      </label>
      <p className={problem === null ? "text-xs text-faint" : "text-xs text-bad"}>
        {problem ?? "At most 700 KiB. The agent finds it on its desktop."}
      </p>
    </Frame>
  );
}
