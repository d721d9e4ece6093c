import { useEffect, useState } from "preact/hooks";
import type { Block } from "#channels/text/markdown.ts";
import { Content } from "#web/shared/ui/content.tsx";
import { useResource } from "./resource.tsx";

const typingMs = 300;

/** A text as customers see it. `parse` asks the server for its blocks, when the agent pauses. */
export function MarkdownPreview(props: {
  readonly label: string;
  readonly text: string;
  readonly parse: (text: string) => Promise<readonly Block[]>;
}) {
  const { label, text, parse } = props;
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  const { data = [] } = useResource(() => parse(settled), [settled]);
  return (
    <div class="preview-box" role="region" aria-label={label} tabIndex={0}>
      {settled.trim() === "" ? (
        <p class="soft">Nothing to show yet.</p>
      ) : (
        <Content of={data} kind="prose" topHeading={2} />
      )}
    </div>
  );
}
