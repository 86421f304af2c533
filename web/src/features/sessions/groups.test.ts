import { expect, it } from "vitest";

import type { Session, SessionState } from "../../api/types";
import { groupsOf } from "./groups";

const session = (id: string, state: SessionState) => ({ id, state }) as Session;

it("shows first what waits for a person, then what is at work", () => {
  const sessions = [
    session("a", "terminated"),
    session("b", "running"),
    session("c", "idle"),
    session("d", "waiting"),
  ];
  const shown = groupsOf(sessions).map((group) => [group.title, group.sessions.map(({ id }) => id).join()]);
  expect(shown).toEqual([
    ["Waiting for an answer", "d"],
    ["Working", "b"],
    ["Others", "a,c"],
  ]);
  expect(groupsOf([session("c", "idle")])).toHaveLength(1);
});
