import { ArrowDown, ArrowUp, Ellipsis, Pencil, Route, Send, Trash2, Zap } from "lucide-react";
import { useState } from "react";

import { messageOf } from "../../api/client";
import { useChangeMessage, useRemoveMessage } from "../../api/sessions";
import type { Right, SessionState } from "../../api/types";
import { Button } from "../../components/Button";
import { Menu, MenuItem, MenuSeparator } from "../../components/Menu";
import { Notice } from "../../components/Notice";
import { includes } from "../../lib/rights";
import { AttachmentCards } from "../attachments/AttachmentCards";
import { ModelPicker } from "../models/ModelPicker";
import { shortName } from "../models/modelWords";
import type { PromptItem } from "./items";
import { Prompt } from "./ItemView";
import { inOrder } from "./waitingItems";

interface WaitingProps {
  sessionId: string;
  waiting: readonly PromptItem[];
  state: SessionState;
  /** The session's model. */
  model: string;
  /** The user's right in the session. */
  right: Right;
  /** The user's id. */
  me: string | undefined;
  /** Returns the author of a message, if that should be shown. */
  authorOf: (item: PromptItem) => string | undefined;
}

/** Shows the messages that wait for the agent, and the ways to change them. */
export function Waiting(props: WaitingProps) {
  const { sessionId, waiting, state, model, right, me, authorOf } = props;
  const mayChange = ({ author }: PromptItem) =>
    includes(right, "drive") || (includes(right, "suggest") && author === me);
  const ordered = inOrder(waiting);
  return ordered.map((item, index) => (
    <WaitingPrompt
      key={item.message}
      sessionId={sessionId}
      item={item}
      state={state}
      author={authorOf(item)}
      mayChange={state !== "terminated" && mayChange(item)}
      sessionsModel={model}
      mayDrive={includes(right, "drive")}
      // The position matters only among equally urgent messages.
      previous={alike(item, ordered[index - 1])}
      afterNext={alike(item, ordered[index + 1]) && (alike(item, ordered[index + 2]) ?? null)}
    />
  ));
}

/** Returns the message's id, if it is equally urgent. */
function alike(item: PromptItem, other: PromptItem | undefined): string | undefined {
  return other?.delivery === item.delivery ? other.message : undefined;
}

interface WaitingPromptProps {
  sessionId: string;
  item: PromptItem;
  state: SessionState;
  author: string | undefined;
  mayChange: boolean;
  /** The session's model, which applies unless the message has its own. */
  sessionsModel: string;
  mayDrive: boolean;
  /** The message before this one, if it can move up. */
  previous: string | undefined;
  /** The message it would precede after moving down: null at the end, undefined if it cannot move down. */
  afterNext: string | null | undefined;
}

function WaitingPrompt(props: WaitingPromptProps) {
  const { sessionId, item, state, author, mayChange, mayDrive, previous, afterNext } = props;
  const [isEditing, setIsEditing] = useState(false);
  const change = useChangeMessage(sessionId, item.message);
  const remove = useRemoveMessage(sessionId, item.message);
  const problem = change.error ?? remove.error;
  const isWorking = state === "running" || state === "waiting";
  // A message that steers a turn uses the model of that turn.
  const mayChooseModel = mayChange && mayDrive && !(isWorking && item.delivery === "steer");

  if (isEditing && mayChange) {
    return (
      <Editor
        text={item.text}
        isSaving={change.isPending}
        problem={change.error ? messageOf(change.error) : undefined}
        onCancel={() => setIsEditing(false)}
        onSave={(content) => change.mutate({ content }, { onSuccess: () => setIsEditing(false) })}
      />
    );
  }
  return (
    <>
      <Prompt
        text={item.text}
        at={item.at}
        author={author}
        isWaiting
        files={<AttachmentCards sessionId={sessionId} files={item.files} />}
        footer={
          <>
            <span>
              {waitingNote(item, state)}
              {!mayChooseModel && item.model !== undefined && `, with ${shortName(item.model)}`}
              {!mayChooseModel && item.effort !== undefined && `, ${item.effort} effort`}
            </span>
            {mayChooseModel && (
              <ModelPicker
                isSmall
                value={item.model ?? null}
                onChange={(model) => change.mutate({ model })}
                effort={{
                  value: item.effort ?? null,
                  onChange: (effort) => change.mutate({ effort }),
                }}
                sessions={{
                  model: props.sessionsModel,
                  onChoose: () => change.mutate({ model: null }),
                }}
              />
            )}
            {mayChange && (
              <Menu
                trigger={
                  <Button look="ghost" square aria-label="Change this message" className="size-6!">
                    <Ellipsis aria-hidden className="size-3.5" />
                  </Button>
                }
              >
                {item.isHeld && (
                  <MenuItem
                    icon={<Send aria-hidden />}
                    onSelect={() => change.mutate({ held: false })}
                  >
                    Send
                  </MenuItem>
                )}
                <MenuItem icon={<Pencil aria-hidden />} onSelect={() => setIsEditing(true)}>
                  Edit
                </MenuItem>
                {previous !== undefined && (
                  <MenuItem
                    icon={<ArrowUp aria-hidden />}
                    onSelect={() => change.mutate({ before: previous })}
                  >
                    Move up
                  </MenuItem>
                )}
                {afterNext !== undefined && (
                  <MenuItem
                    icon={<ArrowDown aria-hidden />}
                    onSelect={() => change.mutate({ before: afterNext })}
                  >
                    Move down
                  </MenuItem>
                )}
                {isWorking && item.delivery === "queue" && (
                  <MenuItem
                    icon={<Route aria-hidden />}
                    onSelect={() => change.mutate({ delivery: "steer", held: false })}
                  >
                    Show at its next step
                  </MenuItem>
                )}
                {isWorking && mayDrive && item.delivery !== "interrupt" && (
                  <MenuItem
                    icon={<Zap aria-hidden />}
                    onSelect={() => change.mutate({ delivery: "interrupt", held: false })}
                  >
                    Interrupt with this
                  </MenuItem>
                )}
                <MenuSeparator />
                <MenuItem isDanger icon={<Trash2 aria-hidden />} onSelect={() => remove.mutate()}>
                  Remove
                </MenuItem>
              </Menu>
            )}
          </>
        }
      />
      {problem && <Notice>{messageOf(problem)}</Notice>}
    </>
  );
}

interface EditorProps {
  text: string;
  isSaving: boolean;
  problem: string | undefined;
  onCancel: () => void;
  onSave: (text: string) => void;
}

function Editor({ text, isSaving, problem, onCancel, onSave }: EditorProps) {
  const [draft, setDraft] = useState(text);
  const canSave = draft.trim() !== "" && !isSaving;
  return (
    <form
      className="flex flex-col items-end gap-2 pt-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSave) onSave(draft.trim());
      }}
    >
      <textarea
        aria-label="Waiting message"
        // The person has just asked to edit it.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
        }}
        className="field-sizing-content max-h-48 w-[88%] resize-none rounded-2xl rounded-br-md border border-line-strong bg-surface px-3.5 py-2 text-base sm:text-sm"
      />
      {problem !== undefined && <Notice>{problem}</Notice>}
      <div className="flex gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" look="primary" disabled={!canSave}>
          Save
        </Button>
      </div>
    </form>
  );
}

function waitingNote(item: PromptItem, state: SessionState): string {
  if (state === "initializing") return "Waiting for the desktop";
  if (state === "terminated") return "Never started: the session ended";
  if (item.isHeld) return "Waiting until somebody sends it";
  if (state !== "running" && state !== "waiting") return "Waiting";
  if (item.delivery === "steer") return "Will be shown at the next step";
  if (item.delivery === "interrupt") return "Interrupting the agent";
  return "Waiting for the agent to finish";
}
