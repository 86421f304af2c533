import { memo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";

const PLUGINS = [remarkGfm];

const COMPONENTS: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  // A picture from elsewhere would tell its server that the text is being read, and whatever the
  // agent put into the URL. It becomes a link that a person may follow.
  img: ({ src, alt }) => (
    <a href={typeof src === "string" ? src : undefined} target="_blank" rel="noreferrer noopener">
      {alt || "picture"}
    </a>
  ),
  // Long lines are scrolled, with the keyboard too.
  pre: ({ children }) => (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre tabIndex={0} dir="ltr">
      {children}
    </pre>
  ),
};

/** Renders the agent's text. Nothing is loaded from elsewhere, and HTML stays text. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <div dir="auto" className="markdown">
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  );
});
