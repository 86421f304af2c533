import { readTable, separatorOf } from "./fileKinds";

const MOST_ROWS = 1000;

/** Comma-, semicolon- or tab-separated values as a table. */
export function Table({ text, name }: { text: string; name: string }) {
  const separator = separatorOf(name, text);
  const [head, ...rows] = readTable(text, separator, MOST_ROWS + 1).map(numbered);
  return (
    <div className="text-[13px]">
      <table className="border-collapse tabular-nums">
        <thead className="sticky top-0 bg-sunken">
          <tr>
            {head?.cells.map((cell) => (
              <th key={cell.id} className="border border-line px-2.5 py-1 text-left font-semibold">
                {cell.text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              {row.cells.map((cell) => (
                <td key={cell.id} className="max-w-md border border-line px-2.5 py-1 align-top">
                  {cell.text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === MOST_ROWS && (
        <p className="p-3 text-faint">Only the first {MOST_ROWS} rows are shown.</p>
      )}
    </div>
  );
}

/** Gives a row and its cells ids: they never move. */
function numbered(cells: string[], id: number) {
  return { id, cells: cells.map((text, at) => ({ id: at, text })) };
}
