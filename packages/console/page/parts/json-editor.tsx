import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import {
  bracketMatching,
  HighlightStyle,
  syntaxHighlighting,
  syntaxTree,
} from "@codemirror/language";
import { linter } from "@codemirror/lint";
import type { Diagnostic } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";
import { UNSEEN } from "./text.tsx";

/** What is wrong with the text, and where: `at` is a JSON pointer. */
export interface TextProblem {
  readonly at: string;
  readonly message: string;
}

interface JsonEditorProps {
  readonly label: string;
  readonly initial: string;
  readonly problemsOf: (text: string) => readonly TextProblem[];
  readonly change: (text: string) => void;
}

/** An editor for JSON. What is wrong is marked where it is. */
export function JsonEditor({ label, initial, problemsOf, change }: JsonEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef({ problemsOf, change });
  latest.current = { problemsOf, change };
  useEffect(() => {
    // The page's policy forbids style elements; in a shadow root the editor adopts style sheets.
    const root = place.current!.shadowRoot ?? place.current!.attachShadow({ mode: "open" });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: initial,
        extensions: [
          lineNumbers(),
          history(),
          // Tab leaves the editor, as it leaves every other field.
          keymap.of([...defaultKeymap, ...historyKeymap]),
          json(),
          bracketMatching(),
          highlightSpecialChars({ addSpecialChars: UNSEEN }),
          syntaxHighlighting(COLOURS),
          linter((shown) => diagnosticsOf(shown, latest.current.problemsOf)),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.change(update.state.doc.toString());
          }),
          THEME,
        ],
      }),
    });
    return () => view.destroy();
  }, [label, initial]);
  return <div class="json-editor" ref={place} />;
}

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
]);

const THEME = EditorView.theme({
  "&": {
    color: "var(--ink)",
    backgroundColor: "var(--card)",
    border: "1px solid var(--faint)",
    borderRadius: "8px",
    fontSize: "0.9em",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", maxHeight: "28rem", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", minHeight: "6rem" },
  ".cm-gutters": {
    color: "var(--faint)",
    backgroundColor: "var(--paper)",
    borderRight: "1px solid var(--line)",
    borderRadius: "8px 0 0 8px",
  },
  // By default an image of another origin, which the page's policy forbids.
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad)",
  },
  ".cm-tooltip": {
    color: "var(--ink)",
    backgroundColor: "var(--card)",
    border: "1px solid var(--line)",
  },
});

function diagnosticsOf(
  view: EditorView,
  problemsOf: (text: string) => readonly TextProblem[],
): readonly Diagnostic[] {
  return problemsOf(view.state.doc.toString()).map(({ at, message }) => ({
    ...rangeOf(view, at),
    severity: "error",
    message,
    renderMessage: () => document.createTextNode(message),
  }));
}

const VALUES: ReadonlySet<string> = new Set([
  "Object",
  "Array",
  "String",
  "Number",
  "True",
  "False",
  "Null",
]);

/** Where the value at a JSON pointer stands in the text; the nearest one around it if it is missing. */
function rangeOf(
  view: EditorView,
  pointer: string,
): { readonly from: number; readonly to: number } {
  const text = (from: number, to: number) => view.state.sliceDoc(from, to);
  const valueIn = (parent: ReturnType<typeof syntaxTree>["topNode"]) => {
    for (let child = parent.firstChild; child !== null; child = child.nextSibling) {
      if (VALUES.has(child.name)) return child;
    }
    return null;
  };
  let node = valueIn(syntaxTree(view.state).topNode);
  for (const step of pointer.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    let next: typeof node = null;
    let index = 0;
    for (let child = node?.firstChild ?? null; child !== null; child = child.nextSibling) {
      if (child.name === "Property") {
        const key = child.getChild("PropertyName");
        if (key !== null && text(key.from, key.to) === JSON.stringify(name)) next = valueIn(child);
      } else if (VALUES.has(child.name) && node?.name === "Array") {
        if (String(index++) === name) next = child;
      }
    }
    if (next === null) break;
    node = next;
  }
  return node === null ? { from: 0, to: view.state.doc.length } : { from: node.from, to: node.to };
}
