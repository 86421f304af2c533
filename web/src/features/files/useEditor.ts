import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { Compartment, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { type RefObject, useEffect, useRef, useState } from "react";

import { languageOf } from "./languages";

const THEME = EditorView.theme({
  "&": { height: "100%", backgroundColor: "transparent", color: "var(--color-ink)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", fontSize: "0.8125rem", lineHeight: "1.55" },
  ".cm-gutters": {
    backgroundColor: "transparent",
    color: "var(--color-faint)",
    border: "none",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "var(--color-hover)" },
  ".cm-cursor": { borderLeftColor: "var(--color-ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "light-dark(#cdd9ff, #2d407a) !important",
  },
  ".cm-matchingBracket": { backgroundColor: "var(--color-accent-soft)" },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "light-dark(#8b2fb8, #d6a2f5)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--color-good)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "light-dark(#a04a00, #f0a868)" },
  { tag: [tags.comment, tags.meta], color: "var(--color-faint)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.tagName, tags.heading], color: "var(--color-accent)" },
  { tag: [tags.typeName, tags.className, tags.attributeName], color: "light-dark(#0b6f7c, #6fd0dc)" },
  { tag: tags.invalid, color: "var(--color-bad)" },
]);

interface EditorOptions {
  name: string;
  /** The text that the editor begins with. Later ones are its own. */
  text: string;
  /** The end of every line of the text. It is the same for as long as the editor lives. */
  lineEnd: "\n" | "\r\n";
  isReadOnly: boolean;
  onChange: (text: string) => void;
  onSave: () => void;
}

/** Puts an editor into an element, and keeps it there: its text, its cursor and what can be undone. */
export function useEditor(place: RefObject<HTMLDivElement | null>, options: EditorOptions) {
  const { name, isReadOnly } = options;
  const [view, setView] = useState<EditorView | null>(null);
  const [language] = useState(() => new Compartment());
  const [access] = useState(() => new Compartment());
  // The editor calls the newest functions, and is not made anew for them.
  const newest = useRef(options);
  useEffect(() => {
    newest.current = options;
  });
  useEffect(() => {
    if (place.current === null) return;
    const { text, lineEnd } = newest.current;
    const save = () => {
      newest.current.onSave();
      return true;
    };
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          syntaxHighlighting(COLOURS),
          THEME,
          keymap.of([{ key: "Mod-s", run: save, preventDefault: true }, indentWithTab]),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          language.of([]),
          access.of([]),
          EditorState.lineSeparator.of(lineEnd),
          EditorView.updateListener.of((update) => {
            // The text of the document itself has the ends of lines of Unix.
            if (update.docChanged) newest.current.onChange(update.state.sliceDoc());
          }),
        ],
      }),
    });
    setView(made);
    return () => {
      setView(null);
      made.destroy();
    };
  }, [place, language, access]);
  useEffect(() => {
    const label = EditorView.contentAttributes.of({ "aria-label": `Text of ${name}` });
    const extensions = [EditorState.readOnly.of(isReadOnly), label];
    view?.dispatch({ effects: access.reconfigure(extensions) });
  }, [view, access, name, isReadOnly]);
  useEffect(() => {
    if (view === null) return;
    let isThere = true;
    void languageOf(name).then((found) => {
      if (isThere) view.dispatch({ effects: language.reconfigure(found ?? []) });
    });
    return () => {
      isThere = false;
    };
  }, [view, language, name]);
}
