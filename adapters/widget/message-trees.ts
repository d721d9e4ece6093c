import type { ThreadMessage } from "#channels/contract.ts";
import type { Block } from "#channels/text/markdown.ts";
import { plainBlocks, safeTree } from "#channels/text/markdown.ts";

export interface Contents {
  of(message: ThreadMessage): readonly Block[];
}

const keptMax = 200;

/**
 * What browsers are to show of messages. Customers write plain text; what the assistant and agents write is Markdown,
 * and parsed once for all the browsers and tabs that it goes to: a history that is read again costs no parsing.
 */
export function createContents(): Contents {
  const kept = new Map<string, { readonly markdown: string; readonly tree: readonly Block[] }>();
  return {
    of({ id, role, markdown }) {
      if (role === "user") return plainBlocks(markdown);
      const known = kept.get(id);
      const tree = known?.markdown === markdown ? known.tree : safeTree(markdown);
      // The one used last is the last to go.
      kept.delete(id);
      kept.set(id, { markdown, tree });
      if (kept.size > keptMax) for (const oldest of kept.keys()) if (kept.size > keptMax) kept.delete(oldest);
      return tree;
    },
  };
}
