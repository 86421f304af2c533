import { usePeople } from "../../api/people";
import { Avatar } from "../../components/Avatar";

const MOST_SHOWN = 4;

/** Shows the people who have the session open. Shows nothing if the user is alone. */
export function PeopleHere({ sessionId }: { sessionId: string }) {
  const people = usePeople(sessionId);
  const here = people.data?.filter((person) => person.here) ?? [];
  if (here.length < 2) return null;
  const n_more = here.length - MOST_SHOWN;
  return (
    <ul aria-label="Here now" className="flex items-center -space-x-1.5">
      {here.slice(0, MOST_SHOWN).map((person) => (
        <li key={person.id} className="flex">
          <Avatar name={person.name} className="ring-2 ring-surface" />
        </li>
      ))}
      {n_more > 0 && <li className="pl-3 text-xs text-faint">+{n_more}</li>}
    </ul>
  );
}
